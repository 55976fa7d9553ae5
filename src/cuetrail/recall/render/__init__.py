"""Stage 4: text within a budget, and graphs.

May import: errors, formulas, model, recall.anchor, recall.score, recall.spread, text.
"""
