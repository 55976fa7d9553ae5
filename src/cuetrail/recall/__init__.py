"""Recall: anchor -> spread -> score -> render, a folder for each stage.

Read `pipeline.py` first, then `recipes.py`. `query.py` parses the cue; `stages.py` has the values that pass from stage
to stage; `names.py`, `relevance.py`, `weights.py` and `dedupe.py` serve several stages.

May import: errors, facts, formulas, model, session, store, text.
"""
