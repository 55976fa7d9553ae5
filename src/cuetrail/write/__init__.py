"""Writing: links, facts, edits, quarantine, forgetting.

May import: dream, errors, extract, facts, formulas, mirror, model, session, store, text, validation.
"""
