"""Usage of nodes and facts: counts accesses, and stores decay. A node that was never used has no row."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

from cuetrail.model import NEW_LIFE, Life
from cuetrail.model.salience import accessed
from cuetrail.store.dream import Living
from cuetrail.store.sqlite import rows
from cuetrail.store.sqlite.changelog import log_changes
from cuetrail.store.sqlite.connection import chunks, marks
from cuetrail.store.sqlite.write.state import renew_sums


def count_accesses(db: sqlite3.Connection, keys: Sequence[int], now: int, wake: bool = False) -> list[int]:
    """Counts one access of each node; returns the keys of archived nodes.

    Archived nodes are counted, and thereby leave the archive, only with `wake`; the caller then logs the change.
    """
    old = dict.fromkeys(keys, NEW_LIFE)
    for some in chunks(keys):
        found = db.execute(f"SELECT key, {rows.LIFE} FROM life WHERE key IN ({marks(len(some))})", some)
        old.update((row[0], Life(*row[1:])) for row in found)
    archived = sorted(key for key, life in old.items() if life.state == "archived")
    counted = old if wake else {key: life for key, life in old.items() if life.state != "archived"}
    db.executemany(rows.PUT_LIFE, [rows.life_row(key, accessed(life, now)) for key, life in counted.items()])
    _count_use(db, "nodes", list(counted))
    return archived


def count_fact_uses(db: sqlite3.Connection, keys: Iterable[int], now: int) -> None:
    """Counts one use of each fact with one of these keys, at the time `now`."""
    query = (
        "UPDATE facts SET access_count = access_count + 1,"
        " last_accessed = max(coalesce(last_accessed, ?1), ?1) WHERE key = ?2"
    )
    touched = list(keys)
    for some in chunks(touched):
        for row in db.execute(f"SELECT * FROM facts WHERE key IN ({marks(len(some))})", some):
            rows.verify("facts", row[:-1], row[-1])
    db.executemany(query, [(now, key) for key in touched])
    renew_sums(db, "facts", touched)
    _count_use(db, "facts", touched)


def _count_use(db: sqlite3.Connection, table: str, keys: Sequence[int]) -> None:
    """Counts one use in each partition that has one of these rows; `read.facts.uses` returns the counts."""
    for some in chunks(keys):
        partitions = f"SELECT DISTINCT part, 1 FROM {table} WHERE key IN ({marks(len(some))})"
        db.execute(f"INSERT INTO uses {partitions} ON CONFLICT (part) DO UPDATE SET count = count + 1", some)


def store_decay(db: sqlite3.Connection, lives: Iterable[tuple[Living, Life]], name: str) -> None:
    """Stores the usage records of nodes after decay. A node that was used or corrected since it was read is skipped.

    `name` is the dream pass that made the change.
    """
    for some in chunks(list(lives)):
        query = f"SELECT key, {rows.LIFE} FROM life WHERE key IN ({marks(len(some))})"
        there = {row[0]: Life(*row[1:]) for row in db.execute(query, [was.key for was, _ in some])}
        same = [(was, life) for was, life in some if there.get(was.key) == was.life]
        db.executemany(rows.PUT_LIFE, [rows.life_row(was.key, life) for was, life in same])
        moved = [was.key for was, life in same if (was.life.state == "archived") != (life.state == "archived")]
        log_changes(db, moved, dreamt=name)
