"""Stage 4, render: text within a budget, sections of a narrative, and graphs of activations.

May import: errors, formulas, model, recall.score, recall.spread, recall.stages, text.
"""
