"""Embedders, which turn texts into vectors, and the vectors of an open memory.

May import: errors, model, store, text.
"""
