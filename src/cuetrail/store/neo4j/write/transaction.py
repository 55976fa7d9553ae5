"""The state of one write transaction: whose it is, what it changed, and the log in which that is noted.

Writers of one place wait for each other. The log is numbered at the very end, under a lock of its own: so its numbers
have the order in which transactions become visible, and writers of different places hardly meet.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from cuetrail.model import Scope
from cuetrail.store.neo4j.connection import rows
from cuetrail.store.neo4j.ids import Ids, place_uid

if TYPE_CHECKING:
    from cuetrail.store.neo4j.connection import Tx

Runs = list[tuple[int, int]]

# What is counted on, by `x = x + 1`, is held before, by setting a constant. Otherwise the server takes a lock that two
# such statements of one transaction and one of another may wait for crosswise.
_PLACE = """MERGE (p:CuePlace {uid: $uid}) ON CREATE SET p.tenant = $tenant, p.owner = $owner, p.team = $team
SET p.held = true SET p.writes = coalesce(p.writes, 0) + 1 RETURN p.part"""
_NUMBER = """MERGE (m:CueMeta {name: 'parts'}) SET m.held = true SET m.value = coalesce(m.value, 0) + 1
WITH m MATCH (p:CuePlace {uid: $uid}) SET p.part = m.value RETURN p.part"""
_LOCK = """UNWIND $parts AS part MATCH (p:CuePlace {part: part})
SET p.held = true SET p.writes = coalesce(p.writes, 0) + 1"""
_KEYS = """MERGE (m:CueMeta {name: 'keys'}) SET m.held = true
SET m.value = coalesce(m.value, 0) + $count RETURN m.value"""
_LOG = """MERGE (m:CueMeta {name: 'log'}) SET m.held = true
SET m.value = coalesce(m.value, 0) + 1, m.dead = coalesce(m.dead, 0) + $dead
CREATE (c:CueChange {seq: m.value, lows: $lows, highs: $highs, dreamt: $dreamt, mark: $mark})"""
_LABELLED = """UNWIND $rows AS row MATCH (p:CuePlace {part: row[0]})
SET p.labelled = coalesce(p.labelled, 0) + row[1]"""


class Write:
    """One transaction that writes to the place of a scope. The place is made on first use, and held to the end."""

    def __init__(self, tx: Tx, scope: Scope) -> None:
        self.tx = tx
        self.scope = scope
        name = place_uid(scope)
        given = {"tenant": scope.tenant, "owner": scope.user, "team": scope.share or ""}
        found = rows(tx, _PLACE, uid=name, **given)[0][0]
        self.part: int = rows(tx, _NUMBER, uid=name)[0][0] if found is None else found
        self.ids = Ids(tx, scope)
        self.changed: set[int] = set()
        self.new = 0
        self.labelled = Counter[int]()

    def hold(self, parts: Iterable[int]) -> None:
        """Keep others from writing to more places of this user. In order, so that two do not wait for each other."""
        others = sorted(set(parts) - {self.part})
        if others:
            rows(self.tx, _LOCK, parts=others)

    def finish(self, dreamt: str | None = None) -> None:
        """Note what was changed. The last thing a transaction does; `dreamt` names the pass that did it."""
        counts = [[part, n] for part, n in sorted(self.labelled.items()) if n]
        if counts:
            rows(self.tx, _LABELLED, rows=counts)
        self.labelled.clear()
        log(self.tx, self.changed, dreamt, self.new)
        self.changed.clear()
        self.new = 0


def log(tx: Tx, keys: Iterable[int], dreamt: str | None = None, new: int = 0) -> None:
    """Append changed keys of nodes to the log. Those that are not `new` leave a dead entry in the text index."""
    changed = sorted(set(keys))
    runs = joined((key, key) for key in changed)
    if runs:
        lows, highs = [low for low, _ in runs], [high for _, high in runs]
        rows(tx, _LOG, lows=lows, highs=highs, dreamt=dreamt, mark=secrets.randbits(62), dead=len(changed) - new)


def head(tx: Tx) -> tuple[int, int]:
    """The number of the last change and its mark, which tells two histories with the same numbers apart."""
    query = "MATCH (m:CueMeta {name: 'log'}) OPTIONAL MATCH (c:CueChange {seq: m.value}) RETURN m.value, c.mark"
    found = rows(tx, query)
    return (found[0][0], found[0][1] or 0) if found else (0, 0)


def take_keys(tx: Tx, count: int) -> range:
    """So many keys that nobody else has or had."""
    last = rows(tx, _KEYS, count=count)[0][0]
    return range(last - count + 1, last + 1)


def joined(runs: Iterable[tuple[int, int]]) -> Runs:
    """Runs in order, with those that touch made one."""
    found: Runs = []
    for low, high in runs:
        if found and low <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(high, found[-1][1]))
        else:
            found.append((low, high))
    return found
