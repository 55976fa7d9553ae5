"""What callers may pass: checks of arguments, and records made from them.

May import: errors, explore, formulas, model, recall, store, text.
"""
