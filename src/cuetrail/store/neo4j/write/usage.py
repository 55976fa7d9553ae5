"""Usage of nodes and facts: counts accesses, and stores decay. A node that was never used has no usage properties."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from cuetrail.model import NEW_LIFE, Life, Scope
from cuetrail.model.salience import accessed
from cuetrail.store.dream import Living
from cuetrail.store.neo4j import rows as made
from cuetrail.store.neo4j.changelog import log
from cuetrail.store.neo4j.connection import Connection, Tx, chunks, rows
from cuetrail.store.neo4j.ids import Ids
from cuetrail.store.neo4j.reader import Reader

LIFE_COLUMNS = ", ".join(f"n.{name}" for name in made.LIFE)
_LIVES = f"UNWIND $keys AS key MATCH (n:CueNode {{key: key}}) RETURN key, {LIFE_COLUMNS}"
_PARTITIONS_OF = "UNWIND $keys AS key MATCH (n:CueNode {key: key}) RETURN DISTINCT n.part"
_LOCK_NODES = "UNWIND $keys AS key MATCH (n:CueNode {key: key}) SET n.held = true"
# Searches leave out archived nodes by a mark, which follows the state.
_PUT_LIVES = """UNWIND $rows AS row MATCH (n:CueNode {key: row.key})
SET n += row.life, n.marks = replace(n.marks, ' xarchived', '')
  + CASE row.life.state WHEN 'archived' THEN ' xarchived' ELSE '' END"""
# Apart from the partition itself, which writers lock. Locked before it is counted, as all counters are.
_COUNT_USE = """UNWIND $parts AS part MERGE (u:CueUses {part: part}) SET u.held = true
SET u.count = coalesce(u.count, 0) + 1"""
_COUNT_FACT_USE = """UNWIND $uids AS uid MATCH (f:CueFact {uid: uid}) SET f.access_count = f.access_count + 1,
  f.last_accessed = CASE WHEN f.last_accessed > $now THEN f.last_accessed ELSE $now END"""


def _life(values: Sequence[Any]) -> Life:
    return NEW_LIFE if values[1] is None else Life(*values)


def _put_lives(tx: Tx, lives: Iterable[tuple[int, Life]]) -> None:
    given = [{"key": key, "life": made.life_props(life)} for key, life in lives]
    for some in chunks(given):
        rows(tx, _PUT_LIVES, rows=some)


def touch(tx: Tx, keys: Sequence[int], now: int) -> None:
    """Counts one access of each node at the time `now`. Archived nodes thereby leave the archive."""
    keys = sorted(keys)
    for some in chunks(keys):
        # Locked in order and before they are read: so no two count at once, and there is no deadlock.
        rows(tx, _LOCK_NODES, keys=some)
    old = {row[0]: _life(row[1:]) for some in chunks(keys) for row in rows(tx, _LIVES, keys=some)}
    _put_lives(tx, ((key, accessed(life, now)) for key, life in old.items()))
    _count_use(tx, {part for some in chunks(keys) for (part,) in rows(tx, _PARTITIONS_OF, keys=some)})
    log(tx, [key for key, life in old.items() if life.state == "archived"])


class Accesses:
    """Counts accesses of nodes: at once if the server accepts that, else together with later ones."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._waiting: deque[tuple[Scope, tuple[str, ...], int]] = deque()

    def add(self, scope: Scope, ids: Sequence[str], now: int) -> None:
        """Counts one access of each node. Raises Busy or Unreachable if that failed; it is then counted later."""
        if ids:
            self._waiting.append((scope, tuple(ids), now))
            self.count()

    def count(self) -> None:
        """Counts the accesses not counted yet. Raises Busy or Unreachable if that failed; they are kept for later."""
        # Each access is taken by one thread, which puts it back if the server does not take it.
        taken: list[tuple[Scope, tuple[str, ...], int]] = []
        with contextlib.suppress(IndexError):
            while True:
                taken.append(self._waiting.popleft())
        if not taken:
            return

        def work(tx: Tx) -> None:
            for scope, ids, now in taken:
                touch(tx, list(Ids(tx, scope).keys(ids).values()), now)

        try:
            self._connection.writing(work, quick=True)
        except BaseException:
            self._waiting.extendleft(reversed(taken))
            raise


def touch_facts(reader: Reader, ids: Sequence[str], now: int) -> None:
    """Counts one use of each visible fact with one of these ids, at the time `now`."""
    found = reader.ids.seek(ids, "fact").values()
    rows(reader.tx, _COUNT_FACT_USE, uids=[one.handle for one in found], now=now)
    _count_use(reader.tx, {one.part for one in found})


def _count_use(tx: Tx, partitions: Collection[int]) -> None:
    """Counts one use in each of these partitions; `read.facts.version` returns the counts."""
    if partitions:
        rows(tx, _COUNT_USE, parts=sorted(partitions))


def store_decay(tx: Tx, lives: Iterable[tuple[Living, Life]]) -> set[int]:
    """Stores the usage records of nodes after decay; returns the keys of nodes that entered or left the archive.

    A node that was used or corrected since it was read is skipped.
    """
    wanted = {was.key: (was, life) for was, life in lives}
    there = {row[0]: _life(row[1:]) for some in chunks(sorted(wanted)) for row in rows(tx, _LIVES, keys=some)}
    same = [key for key, life in there.items() if life == wanted[key][0].life]
    _put_lives(tx, ((key, wanted[key][1]) for key in same))
    states = {key: (wanted[key][0].life.state, wanted[key][1].state) for key in same}
    return {key for key, (was, now) in states.items() if (was == "archived") != (now == "archived")}
