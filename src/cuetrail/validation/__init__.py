"""Validation of arguments: one table of rules, and the records, queries and filters made from arguments.

May import: errors, explore, formulas, model, recall, store, text.
"""
