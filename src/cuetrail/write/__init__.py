"""Writing: links, facts, edits, quarantine, forgetting.

May import: dream, errors, extract, facts, formulas, mirror, model, recall, session, store, text, validation.
"""
