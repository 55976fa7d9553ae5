"""Validation of arguments: one table of rules, and the records, queries and filters made from arguments.

May import: config, errors, explore, formulas, model, recall, store, text.
"""
