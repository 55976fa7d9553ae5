"""Stage 1, anchor: the nodes that the query finds directly.

`trail.py` is the default. `hybrid_search.py` searches text and vectors, `attempts.py` text alone in several attempts,
`seeds.py` for seeds of activation, `entities.py` for entities. `query_dates.py` reads the dates in a question.

May import: errors, formulas, model, recall.dedupe, recall.names, recall.query, recall.stages, recall.weights, store,
text.
"""
