"""Usage of nodes and facts: counting accesses, and decay. A node has a row only once its usage differs from that of a
new node.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

from cuetrail.model import NEW_LIFE, Life
from cuetrail.model.records import accessed
from cuetrail.store.dream import Living
from cuetrail.store.sqlite import rows
from cuetrail.store.sqlite.changelog import log_changes
from cuetrail.store.sqlite.connection import chunks, marks

LIFE = "salience, state, confidence, accesses, last_access, last_decay, interval, gradient, retention"
_PUT = f"INSERT OR REPLACE INTO life VALUES ({marks(10)})"


def touch(db: sqlite3.Connection, keys: Sequence[int], now: int, wake: bool = False) -> list[int]:
    """Counts one access of each node; returns the keys of archived nodes.

    Archived nodes are counted, and so leave the archive, only with `wake`; the caller then logs the change.
    """
    old = dict.fromkeys(keys, NEW_LIFE)
    for some in chunks(keys):
        found = db.execute(f"SELECT key, {LIFE} FROM life WHERE key IN ({marks(len(some))})", some)
        old.update((row[0], Life(*row[1:])) for row in found)
    archived = sorted(key for key, life in old.items() if life.state == "archived")
    counted = old if wake else {key: life for key, life in old.items() if life.state != "archived"}
    db.executemany(_PUT, [rows.life_row(key, accessed(life, now)) for key, life in counted.items()])
    count_use(db, "nodes", list(counted))
    return archived


def touch_facts(db: sqlite3.Connection, keys: Iterable[int], now: int) -> None:
    """Counts one use of each fact."""
    query = (
        "UPDATE facts SET access_count = access_count + 1,"
        " last_accessed = max(coalesce(last_accessed, ?1), ?1) WHERE key = ?2"
    )
    touched = list(keys)
    db.executemany(query, [(now, key) for key in touched])
    count_use(db, "facts", touched)


def count_use(db: sqlite3.Connection, table: str, keys: Sequence[int]) -> None:
    """Counts a use of the partitions of these rows; see `read.facts.uses`."""
    for some in chunks(keys):
        partitions = f"SELECT DISTINCT part, 1 FROM {table} WHERE key IN ({marks(len(some))})"
        db.execute(f"INSERT INTO uses {partitions} ON CONFLICT (part) DO UPDATE SET count = count + 1", some)


def settle(db: sqlite3.Connection, lives: Iterable[tuple[Living, Life]], name: str) -> None:
    """Stores the decayed usage of nodes. A node that was used or corrected since it was read is left alone.

    `name` is the pass of dreaming that decayed them.
    """
    for some in chunks(list(lives)):
        query = f"SELECT key, {LIFE} FROM life WHERE key IN ({marks(len(some))})"
        there = {row[0]: Life(*row[1:]) for row in db.execute(query, [was.key for was, _ in some])}
        same = [(was, life) for was, life in some if there.get(was.key) == was.life]
        db.executemany(_PUT, [rows.life_row(was.key, life) for was, life in same])
        moved = [was.key for was, life in same if (was.life.state == "archived") != (life.state == "archived")]
        log_changes(db, moved, dreamt=name)
