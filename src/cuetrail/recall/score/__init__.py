"""Stage 3: one score per candidate, with its reasons.

May import: errors, formulas, model, recall.anchor, recall.spread, recall.weights, store, text.
"""
