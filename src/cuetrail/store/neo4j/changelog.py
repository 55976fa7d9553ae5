"""The change log, which lists the keys of changed nodes, and the counter of keys.

A change gets its number at the very end of a transaction, under a lock of its own. So the numbers have the order in
which transactions become visible, and writers of different partitions hardly wait for each other.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable

from cuetrail.store.dream import joined
from cuetrail.store.neo4j.connection import Tx, rows

# A counter is locked, by setting a constant, before it is increased by `x = x + 1`. Otherwise the server takes a lock
# by which two such statements of one transaction and one of another may deadlock.
_KEYS = """MERGE (m:CueMeta {name: 'keys'}) SET m.held = true
SET m.value = coalesce(m.value, 0) + $count RETURN m.value"""
_LOG = """MERGE (m:CueMeta {name: 'log'}) SET m.held = true
SET m.value = coalesce(m.value, 0) + 1, m.dead = coalesce(m.dead, 0) + $dead
CREATE (c:CueChange {seq: m.value, lows: $lows, highs: $highs, dreamt: $dreamt, mark: $mark})"""
HEAD = "MATCH (m:CueMeta {name: 'log'}) OPTIONAL MATCH (c:CueChange {seq: m.value}) RETURN m.value, c.mark"


def log(tx: Tx, keys: Iterable[int], dreamed_by: str | None = None, new: int = 0) -> None:
    """Appends changed keys of nodes to the log. All but the number `new` of them leave a dead entry in the text index,
    which is counted. `dreamed_by` names the dream pass that made the change.
    """
    changed = sorted(set(keys))
    runs = joined((key, key) for key in changed)
    if runs:
        lows, highs = [low for low, _ in runs], [high for _, high in runs]
        rows(tx, _LOG, lows=lows, highs=highs, dreamt=dreamed_by, mark=secrets.randbits(62), dead=len(changed) - new)


def head(tx: Tx) -> tuple[int, int]:
    """Returns the number of the last change and its random mark, by which two histories of a memory differ."""
    found = rows(tx, HEAD)
    return (found[0][0], found[0][1] or 0) if found else (0, 0)


def take_keys(tx: Tx, count: int) -> range:
    """Reserves `count` keys that were never used before, and returns them."""
    last = rows(tx, _KEYS, count=count)[0][0]
    return range(last - count + 1, last + 1)
