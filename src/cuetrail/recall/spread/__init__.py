"""Stage 2: what the anchors lead to.

May import: errors, formulas, model, recall.anchor, recall.score, store.
"""
