"""Dreaming: what a memory makes of itself while nobody asks. One file per pass; `run` lists them and runs them.

- `night` is what every pass is given, `labels` says which tags a pass may change.
- `dictionary` finds known words in texts, `moments` names times, `tagging` proposes tags.
"""

from cuetrail.dream.moments import zone_of
from cuetrail.dream.night import Night
from cuetrail.dream.run import PASSES, dream
from cuetrail.dream.tagging import RULE, AutoTagger
from cuetrail.dream.telling import Teller, extract

__all__ = ["PASSES", "RULE", "AutoTagger", "Night", "Teller", "dream", "extract", "zone_of"]
