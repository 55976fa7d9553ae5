"""Stage 1, anchor: the nodes that the query finds directly.

`hybrid_search.py` is the default: text and vectors, names (`names_in_cue.py`) and dates. `text_attempts.py` searches
text alone, in several attempts, `activation_seeds.py` the seeds of an activation. `term_coverage.py` says which words
of the query a text contains.

May import: errors, formulas, model, recall.dates_in_query, recall.query, recall.stage_types, recall.trail_constants,
store, text.
"""
