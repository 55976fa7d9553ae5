"""Dreaming: background passes that add tags, edges, episodes, summaries and storylines, and let memories decay.

`run` lists and runs the passes, which are in `passes`. `context` holds the arguments and counters of a pass.
`dry_run` describes what a dry run would change, `report_log` stores the reports of dreams.
`vocabulary` lists the known names and tags, `word_matcher` finds them in texts. `tags` decides which tags a pass may
change, `taggers` proposes some. `summaries` writes summaries. `reconcile` adapts dream output to imports and removals.

May import: embed, errors, formulas, mirror, model, session, store, text.
"""

from cuetrail.dream.context import DreamContext
from cuetrail.dream.passes.temporal_tags import zone_of
from cuetrail.dream.run import PASSES, dream
from cuetrail.dream.summaries import Teller, extract
from cuetrail.dream.taggers import RULE, AutoTagger

__all__ = ["PASSES", "RULE", "AutoTagger", "DreamContext", "Teller", "dream", "extract", "zone_of"]
