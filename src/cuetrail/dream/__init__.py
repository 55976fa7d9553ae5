"""Dreaming: what a memory makes of itself while nobody asks. One file per pass; `run` lists them and runs them.

- `night` is what every pass is given, `labels` says which tags a pass may change.
- `dictionary` finds known words in texts, `moments` names times, `tagging` proposes tags.

May import: embed, errors, formulas, mirror, model, session, store, text.
"""

from cuetrail.dream.calendar_labels import zone_of
from cuetrail.dream.context import Night
from cuetrail.dream.run import PASSES, dream
from cuetrail.dream.summaries import Teller, extract
from cuetrail.dream.tagger import RULE, AutoTagger

__all__ = ["PASSES", "RULE", "AutoTagger", "Night", "Teller", "dream", "extract", "zone_of"]
