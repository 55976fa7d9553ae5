"""Stage 1: what the query finds directly.

May import: errors, formulas, model, recall.query, recall.weights, store, text.
"""
