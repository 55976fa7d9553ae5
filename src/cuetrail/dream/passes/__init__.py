"""The passes of a dream, one module each, named as the pass. `tag_propagation` is the pass `infection`, `temporal_tags`
the pass `temporal`.

May import: dream.context, dream.summaries, dream.taggers, dream.tags, dream.vocabulary, dream.word_matcher, embed,
errors, formulas, model, store, text.
"""
