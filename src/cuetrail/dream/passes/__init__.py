"""The passes of a dream, one module each.

May import: dream.calendar_labels, dream.context, dream.names, dream.summaries, dream.tag_origin, dream.tagger,
dream.word_matcher, embed, errors, formulas, model, store.
"""
