"""Savings: how many tokens answers had, and how many their notes have as a whole.

May import: errors, files, formulas, model, store, text.
"""
