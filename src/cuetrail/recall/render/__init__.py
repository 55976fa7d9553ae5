"""Stage 4, render: text within a budget, and graphs of activations.


May import: errors, formulas, model, recall.spread, recall.stage_types, store, text.
"""
