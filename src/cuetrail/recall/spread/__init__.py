"""Stage 2, spread: the nodes that the anchors lead to.

`trail.py` is the default. `tag_walk.py` follows tags and buckets, `activation.py` and `traversal_pagerank.py`
follow edges.


May import: errors, facts, formulas, model, recall.anchor, recall.query, recall.stage_types, recall.trail_constants,
session, store, text.
"""
