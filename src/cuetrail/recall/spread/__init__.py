"""Stage 2, spread: the nodes that the anchors lead to.

`trail.py` is the default, with a follow-up search in `second_hop.py`. `tag_walk.py` follows tags and buckets,
`activation.py` and `traversal.py` follow edges, `facts.py` follows facts.

May import: errors, facts, formulas, model, recall.anchor, recall.names, recall.relevance, recall.stages,
recall.weights, store.
"""
