"""The passes of a dream, one module each. `tag_propagation` is the pass `infection`.

May import: dream.context, dream.summaries, dream.tags, dream.vocabulary, dream.word_matcher, embed, errors, formulas,
model, store, text.
"""
