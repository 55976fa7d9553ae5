"""Writing: links, facts, edits, quarantine, forgetting.

May import: dream, embed, errors, extract, facts, formulas, mirror, model, recall, store, text.
"""
