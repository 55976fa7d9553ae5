"""Stage 3, score: one score per node, with the reasons for it.

`trail.py` is the default: `signals.py` measures, `ranker.py` weighs.

May import: formulas, model, recall.anchor, recall.spread, recall.stage_types, recall.trail_constants, text.
"""
