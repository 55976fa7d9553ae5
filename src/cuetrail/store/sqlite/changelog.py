"""The change log of `memory.db`: every write appends the keys it changed; indexes and dreams catch up from it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from cuetrail.store.sqlite.rows import summed

# The epoch and the number of the last change, as two columns of any query.
POSITION = "(SELECT value FROM meta WHERE name = 'epoch'), (SELECT seq FROM sqlite_sequence WHERE name = 'changes')"

# The meta entry with the number of the last change that forgot something.
FORGOTTEN = "last_forgotten"


def head(db: sqlite3.Connection) -> int:
    """Returns the number of the last logged change, 0 if there was none."""
    row = db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'changes'").fetchone()
    return int(row[0]) if row else 0


def position(db: sqlite3.Connection) -> tuple[str, int]:
    """Returns the memory's epoch (its random name) and the number of the last change, which an index must contain."""
    epoch, seq = db.execute(f"SELECT {POSITION}").fetchone()
    return str(epoch), int(seq or 0)


def changes_since(db: sqlite3.Connection, seq: int, mark: int, vectors: bool = True) -> list[tuple[int, int]] | None:
    """Returns the ranges of keys changed after `seq`, merged and in order; None if the log cannot tell.

    It cannot tell if it was shortened beyond `seq`, or if the change `seq` has another random mark than `mark`, as in
    another history of the memory. With `vectors`, changes of labels alone are left out; without, changes of vectors
    alone.
    """
    last = head(db)
    oldest = db.execute("SELECT min(seq) FROM changes").fetchone()[0]
    if seq > last or (seq < last and (oldest is None or oldest > seq + 1)):
        return None
    if mark_of(db, seq) not in (None, mark):
        return None
    other = "labels_only" if vectors else "vectors_only"
    return joined(db.execute(f"SELECT low, high FROM changes WHERE seq > ? AND {other} = 0 ORDER BY low", (seq,)))


def joined(runs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Returns ranges of keys with adjacent and overlapping ones merged. They must be in order."""
    found: list[tuple[int, int]] = []
    for low, high in runs:
        if found and low <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(high, found[-1][1]))
        else:
            found.append((low, high))
    return found


def mark_of(db: sqlite3.Connection, seq: int) -> int | None:
    """Returns the random mark of the change with this number, None if it is no longer in the log."""
    row = db.execute("SELECT mark FROM changes WHERE seq = ?", (seq,)).fetchone()
    return row[0] if row else None


def log_changes(
    db: sqlite3.Connection,
    keys: Iterable[int],
    vectors_only: bool = False,
    labels_only: bool = False,
    dreamt: str | None = None,
) -> None:
    """Appends changed node keys to the log, as ranges of consecutive keys.

    `vectors_only` and `labels_only` say that nothing but vectors or labels changed; `dreamt` names the dream pass that
    made the change.
    """
    runs: list[tuple[int, int]] = []
    for key in sorted(set(keys)):
        if runs and runs[-1][1] == key - 1:
            runs[-1] = (runs[-1][0], key)
        else:
            runs.append((key, key))
    log_runs(db, runs, vectors_only, labels_only, dreamt)


def log_runs(
    db: sqlite3.Connection,
    runs: Iterable[tuple[int, int]],
    vectors_only: bool = False,
    labels_only: bool = False,
    dreamt: str | None = None,
) -> None:
    """Appends ranges of changed keys to the log. The options are those of `log_changes`."""
    kind = (int(vectors_only), int(labels_only), dreamt)
    changes = [summed((low, high, *kind)) for low, high in runs]
    columns = "low, high, vectors_only, labels_only, dreamt, check_sum"
    db.executemany(f"INSERT INTO changes ({columns}) VALUES (?, ?, ?, ?, ?, ?)", changes)
