"""Dreaming: background passes that add tags, edges, episodes, summaries and storylines, and let memories decay.

`run` lists and runs the passes, one module each in `passes`. `context` holds the arguments and counters of a pass.
`names` and `word_matcher` find known names in texts. `tagger` and `calendar_labels` propose tags, `tag_origin` decides
which tags a pass may change. `reconcile` registers imported dream output, `invalidate` removes outdated summaries.

May import: embed, errors, formulas, mirror, model, session, store, text.
"""

from cuetrail.dream.calendar_labels import zone_of
from cuetrail.dream.context import DreamContext
from cuetrail.dream.run import PASSES, dream
from cuetrail.dream.summaries import Teller, extract
from cuetrail.dream.tagger import RULE, AutoTagger

__all__ = ["PASSES", "RULE", "AutoTagger", "DreamContext", "Teller", "dream", "extract", "zone_of"]
