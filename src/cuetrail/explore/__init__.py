"""Explore and brief: what a memory holds on a topic, seen from every side.

May import: embed, errors, formulas, model, recall, session, store, text.
"""
