"""Writes of dreams: tags of many atoms at once, the ledger and the marks, in one transaction."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

from cuetrail.errors import InputError
from cuetrail.model import Scope, Tag
from cuetrail.store.dream import Atom, Book, Mark, Row, Saved, Writes
from cuetrail.store.shared.write_order import write_batch
from cuetrail.store.sqlite import rows
from cuetrail.store.sqlite.changelog import log_changes
from cuetrail.store.sqlite.connection import another_version, damaged
from cuetrail.store.sqlite.index.labels.tables import collect_labels, count_given, label_ids, put_carriers
from cuetrail.store.sqlite.write import usage
from cuetrail.store.sqlite.write.transaction import SqliteTransaction
from cuetrail.store.write import Batch

Relabelled = Sequence[tuple[Atom, tuple[Tag, ...]]]


def save(db: sqlite3.Connection, path: Path, scope: Scope, part: int, name: str, writes: Writes) -> Saved:
    """Makes the changes of a pass, inside the caller's transaction."""
    written = _relabel(db, path, writes.relabelled) if writes.relabelled else []
    log_changes(db, [atom.key for atom, _ in written], labels_only=True, dreamt=name)
    added, dropped = _invert(db, part, written)
    if any(getattr(writes.batch, field.name) for field in fields(Batch)):
        tx = SqliteTransaction(db, path, scope)
        write_batch(tx, writes.batch)
        tx.log(name)
    _remove_mentions(db, part, writes.remove_mentions)
    usage.settle(db, writes.lives, name)
    another_version(db, part)
    _keep_books(db, part, writes.drop, writes.put)
    if writes.mark is not None:
        put_mark(db, part, name, writes.mark)
    return Saved(len(written), added, dropped)


def put_mark(db: sqlite3.Connection, part: int, name: str, mark: Mark) -> None:
    """Saves the progress of a pass."""
    db.execute("INSERT OR REPLACE INTO dreams VALUES (?,?,?,?,?,?,?,?)", (part, name, *mark))


def _relabel(db: sqlite3.Connection, path: Path, relabelled: Relabelled) -> Relabelled:
    """Changes the tags of atoms and nothing else, except of atoms that changed since they were read."""
    changes = []
    for atom, tags in relabelled:
        row = atom.row
        labels = rows.repacked(row[8], tags)
        was, now = rows.relabelled_sums(row, labels)
        if was != row[6]:
            raise damaged(path, f"{row[2]!r} changed on disk")
        changes.append((labels, now, row[0], was))
    before = db.total_changes
    db.executemany("UPDATE nodes SET labels = ?, check_sum = ? WHERE key = ? AND check_sum = ?", changes)
    if db.total_changes - before == len(changes):
        return relabelled
    query = "SELECT 1 FROM nodes WHERE key = ? AND check_sum = ?"
    there = [db.execute(query, (key, now)).fetchone() is not None for _, now, key, _ in changes]
    return [one for one, is_there in zip(relabelled, there, strict=True) if is_there]


def _invert(db: sqlite3.Connection, part: int, written: Relabelled) -> tuple[int, int]:
    """Updates the inverted tables of tags, and returns how many tags were added and dropped.

    Raises InputError if one of them was a user's.
    """
    added: dict[str, list[int]] = {}
    dropped: dict[str, list[int]] = {}
    given = Counter[tuple[int, str]]()
    for atom, tags in written:
        come, gone = _difference(atom.tags, tags)
        for names, some, others, step in ((added, come, gone, 1), (dropped, gone, come, -1)):
            # A tag with the same name has changed its origin.
            staying = {tag.name for tag in others}
            for tag in some:
                if tag.origin == "user":
                    raise InputError(f"a dream may not touch the tag {tag.name!r} of {atom.id!r}: a user gave it")
                if tag.origin == "auto":
                    given[part, tag.name] += step
                if tag.name not in staying:
                    names.setdefault(tag.name, []).append(atom.key)
    ids = label_ids(db, {("t", name) for name in added}, create=True)
    put_carriers(db, {ids["t", name]: keys for name, keys in added.items()})
    ids = label_ids(db, {("t", name) for name in dropped})
    loose = [(label, key) for (_, name), label in ids.items() for key in dropped[name]]
    db.executemany("DELETE FROM node_labels WHERE label = ? AND key = ?", loose)
    collect_labels(db, ids.values())
    count_given(db, given)
    return sum(map(len, added.values())), len(loose)


def _difference(had: Sequence[Tag], tags: Sequence[Tag]) -> tuple[Sequence[Tag], Sequence[Tag]]:
    """Returns the tags that are added and those that are dropped."""
    # Usually tags are appended.
    if tags[: len(had)] == had:
        return tags[len(had) :], ()
    was, now = {tag.name: tag for tag in had}, {tag.name: tag for tag in tags}
    # Usually an unchanged tag is the same object; comparing two others takes long.
    come = [tag for tag in tags if tag is not (old := was.get(tag.name)) and tag != old]
    gone = [tag for tag in had if tag is not (new := now.get(tag.name)) and tag != new]
    return come, gone


def _remove_mentions(db: sqlite3.Connection, part: int, pairs: Sequence[tuple[str, str]]) -> None:
    """Deletes mentions that the user's own nodes no longer make."""
    node = "(SELECT key FROM nodes WHERE id = ? AND part = ?)"
    query = f"DELETE FROM mentions WHERE source = {node} AND node = {node} AND part = ?"
    db.executemany(query, [(source, part, other, part, part) for source, other in pairs])


def _keep_books(
    db: sqlite3.Connection, part: int, drop: Sequence[tuple[Book, Row]], put: Sequence[tuple[Book, Row]]
) -> None:
    gone = [(part, book, row.first, row.second) for book, row in drop]
    db.executemany("DELETE FROM ledger WHERE part = ? AND book = ? AND first = ? AND second = ?", gone)
    # An existing row is changed in place: the index of second numbers does not contain the changed columns.
    query = (
        "INSERT INTO ledger VALUES (?,?,?,?,?,?) ON CONFLICT (part, book, first, second)"
        " DO UPDATE SET third = excluded.third, fourth = excluded.fourth"
    )
    db.executemany(query, [(part, book, *row) for book, row in put])
