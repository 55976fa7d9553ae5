"""What callers may pass: one table of argument rules; records, queries and filters made from arguments.

May import: errors, explore, formulas, model, recall, store, text.
"""
