"""Explore and brief: all that a memory holds on a topic, and a summary to start with; `browse.py` lists by time.

May import: embed, errors, formulas, model, recall, session, store, text.
"""
