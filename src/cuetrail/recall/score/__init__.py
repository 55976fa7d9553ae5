"""Stage 3, score: one score per node, with the reasons for it.

`trail.py` is the default: signals, weighted by `recall/weights.py`.

May import: formulas, model, recall.anchor, recall.dedupe, recall.names, recall.relevance, recall.spread, recall.stages,
recall.weights, text.
"""
