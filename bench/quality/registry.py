"""Every set by name, in the order of the tables."""

from __future__ import annotations

from bench.quality import conversation, multihop, vaults
from bench.quality.sets import QualitySet

SETS: dict[str, QualitySet] = {one.name: one for one in (*multihop.SETS, *conversation.SETS, *vaults.SETS)}
