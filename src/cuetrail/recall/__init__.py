"""Recall: anchor -> spread -> score -> render, a folder for each stage.

Read `pipeline.py` first, then `recipes.py`. `query.py` parses the cue, `dates_in_query.py` reads the dates in it.
`stage_types.py` has the values that pass from stage to stage, `trail_constants.py` the limits of the default recipe.
`narrative.py` is a recipe of its own. `current_facts.py` puts current facts before the hits of the default recipe.

May import: errors, facts, formulas, model, rerank, session, store, text.
"""
