"""How dreaming writes: tags of many atoms at once, its ledger and its marks, in one transaction with what they say."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from cuetrail.errors import InputError
from cuetrail.model import Scope, Tag
from cuetrail.store.base import Batch
from cuetrail.store.dreams import Atom, Book, Mark, Row, Writes
from cuetrail.store.local import rows, write
from cuetrail.store.local.db import damaged, log_changes
from cuetrail.store.local.labels import collect_labels, count_given, label_ids


def save(db: sqlite3.Connection, path: Path, scope: Scope, part: int, name: str, writes: Writes) -> int:
    """Carry out what a pass wants, inside the caller's transaction; how many atoms have other tags now."""
    changed = _relabel(db, path, part, writes.relabelled) if writes.relabelled else []
    log_changes(db, changed, labels_only=True, dreamt=name)
    if any(getattr(writes.batch, field.name) for field in fields(Batch)):
        write.write_batch(db, scope, writes.batch, dreamt=name)
    _remove_mentions(db, part, writes.remove_mentions)
    _keep_books(db, part, writes.drop, writes.put)
    if writes.mark is not None:
        put_mark(db, part, name, writes.mark)
    return len(changed)


def put_mark(db: sqlite3.Connection, part: int, name: str, mark: Mark) -> None:
    """Say how far a pass is."""
    db.execute("INSERT OR REPLACE INTO dreams VALUES (?,?,?,?,?,?,?,?)", (part, name, *mark))


def _relabel(
    db: sqlite3.Connection, path: Path, part: int, relabelled: Sequence[tuple[Atom, tuple[Tag, ...]]]
) -> list[int]:
    """Give atoms other tags and nothing else; the keys of those that nobody changed since they were read."""
    changes = []
    for atom, tags in relabelled:
        row = atom.row
        if [tag for tag in atom.tags if tag.origin == "user"] != [tag for tag in tags if tag.origin == "user"]:
            raise InputError(f"a dream may not touch the tags that a user gave {atom.id!r}")
        labels = rows.pack_labels(tags, rows.packed_buckets(row[8]))
        was, now = rows.relabelled_sums(row, labels)
        if was != row[6]:
            raise damaged(path, f"{row[2]!r} changed on disk")
        changes.append((labels, now, atom.key, was))
    query = "UPDATE nodes SET labels = ?, check_sum = ? WHERE key = ? AND check_sum = ?"
    before = db.total_changes
    db.executemany(query, changes)
    if db.total_changes - before < len(relabelled):
        relabelled = _still_there(db, relabelled, changes)
    _invert(db, part, relabelled)
    return [atom.key for atom, _ in relabelled]


def _still_there(
    db: sqlite3.Connection, relabelled: Sequence[tuple[Atom, tuple[Tag, ...]]], changes: Sequence[tuple[Any, ...]]
) -> list[tuple[Atom, tuple[Tag, ...]]]:
    """Those whose row is now the one that was meant."""
    query = "SELECT 1 FROM nodes WHERE key = ? AND check_sum = ?"
    return [
        one
        for one, (_, check_sum, key, _) in zip(relabelled, changes, strict=True)
        if db.execute(query, (key, check_sum)).fetchone()
    ]


def _invert(db: sqlite3.Connection, part: int, relabelled: Sequence[tuple[Atom, tuple[Tag, ...]]]) -> None:
    """Bring the inverted tables of tags in step."""
    added: dict[str, list[int]] = {}
    dropped: dict[str, list[int]] = {}
    given = Counter[tuple[int, str]]()
    for atom, tags in relabelled:
        old, new = {tag.name for tag in atom.tags}, {tag.name for tag in tags}
        for name in new - old:
            added.setdefault(name, []).append(atom.key)
        for name in old - new:
            dropped.setdefault(name, []).append(atom.key)
        # A user's tags stay, so only these may be given or taken.
        given.update([(part, tag.name) for tag in tags if tag.origin == "auto"])
        given.subtract([(part, tag.name) for tag in atom.tags if tag.origin == "auto"])
    ids = label_ids(db, {("t", name) for name in added}, create=True)
    pairs = sorted((ids["t", name], key) for name, keys in added.items() for key in keys)
    db.executemany("INSERT OR IGNORE INTO node_labels VALUES (?, ?)", pairs)
    ids = label_ids(db, {("t", name) for name in dropped})
    loose = [(label, key) for (_, name), label in ids.items() for key in dropped[name]]
    db.executemany("DELETE FROM node_labels WHERE label = ? AND key = ?", loose)
    collect_labels(db, ids.values())
    count_given(db, given)


def _remove_mentions(db: sqlite3.Connection, part: int, pairs: Sequence[tuple[str, str]]) -> None:
    """Delete mentions that the user's own nodes no longer make."""
    node = "(SELECT key FROM nodes WHERE id = ? AND part = ?)"
    query = f"DELETE FROM mentions WHERE source = {node} AND node = {node} AND part = ?"
    db.executemany(query, [(source, part, other, part, part) for source, other in pairs])


def _keep_books(
    db: sqlite3.Connection, part: int, drop: Sequence[tuple[Book, Row]], put: Sequence[tuple[Book, Row]]
) -> None:
    gone = [(part, book, row.first, row.second) for book, row in drop]
    db.executemany("DELETE FROM ledger WHERE part = ? AND book = ? AND first = ? AND second = ?", gone)
    db.executemany("INSERT OR REPLACE INTO ledger VALUES (?,?,?,?,?,?)", [(part, book, *row) for book, row in put])
