"""Recall: anchor -> spread -> score -> render. Read `pipeline.py` first, then `recipes.py`.

May import: errors, facts, formulas, model, session, store, text.
"""
