"""Explore and brief: what a memory holds on a topic, seen from every side.

May import: formulas, model, recall, store, text.
"""
