"""What is stated of a node passes to its successor: facts, notes, and the edges that callers made.

A row stays whose it is: what a teammate said of a shared node is still the teammate's, what was private is private.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from cuetrail.model import UNKNOWN_WEIGHT, Scope
from cuetrail.model.ids import fact_id, past_fact_id, stated_edge_id
from cuetrail.store.sqlite import facts
from cuetrail.store.sqlite.connection import chunks, marks
from cuetrail.store.sqlite.write import writer
from cuetrail.store.write import Batch, Written


class _End(NamedTuple):
    """A node as the rows that lead to it have it."""

    key: int
    id: str


Heirs = Mapping[int, _End]


def write_batch(db: sqlite3.Connection, scope: Scope, batch: Batch) -> Written:
    """Carry out a batch inside the caller's transaction; what is stated of old nodes passes to their successors."""
    written = writer.write_batch(db, scope, batch)
    if batch.heirs:
        w = writer.Write(db, scope)
        heirs = _heirs(w, batch.heirs)
        for keys in chunks(list(heirs)):
            _pass_facts(w, keys, heirs)
    if not batch.successors:
        return written
    _pass_on(db, scope, batch.successors)
    # Only now is the file empty that the old nodes were of.
    old = Batch(remove_nodes=list(batch.successors), remove_sources=batch.remove_sources)
    return replace(written, removed=written.removed + writer.write_batch(db, scope, old).removed)


def _pass_on(db: sqlite3.Connection, scope: Scope, successors: Mapping[str, str]) -> None:
    """Let all that is stated of the user's own old nodes lead to their successors. Both must be there.

    An edge that the successor has already, or whose two ends become one, stays with the old node.
    """
    w = writer.Write(db, scope)
    heirs = _heirs(w, successors)
    for keys in chunks(list(heirs)):
        _pass_facts(w, keys, heirs)
        _pass_edges(db, keys, heirs)
        db.executemany(
            "UPDATE notes SET target = ? WHERE target_on = 'node' AND target = ?",
            [(heirs[key].key, key) for key in keys],
        )


def _heirs(w: writer.Write, pairs: Mapping[str, str]) -> Heirs:
    """The successors of the user's own nodes, by the keys of these."""
    old, new = w.own_keys(pairs), w.own_keys(pairs.values())
    return {old[a]: _End(new[b], b) for a, b in pairs.items() if a in old and b in new}


def _pass_facts(w: writer.Write, keys: Sequence[int], heirs: Heirs) -> None:
    db = w.db
    among = f"IN ({marks(len(keys))})"
    found = db.execute(
        "SELECT f.key, f.part, f.id, f.predicate, f.value, f.subject, a.id, f.object, b.id FROM facts f"
        " JOIN nodes a ON a.key = f.subject LEFT JOIN nodes b ON b.key = f.object"
        f" WHERE f.subject {among} OR f.object {among} ORDER BY f.created, f.key",
        (*keys, *keys),
    ).fetchall()
    renamed = []
    topics: dict[facts.Topic, None] = {}
    for key, part, id_, predicate, value, subject_key, subject_id, object_key, object_id in found:
        subject = heirs.get(subject_key, _End(subject_key, subject_id))
        object_ = _End(object_key, object_id) if object_key not in heirs else heirs[object_key]
        made = id_ == fact_id(subject_id, predicate, object_id, value)
        new_id = fact_id(subject.id, predicate, object_.id, value) if made else id_
        if not _is_free(db, "facts", part, new_id, key):
            # The successor has it already: here it is stated once more.
            new_id = past_fact_id(new_id, id_)
        topics[part, subject.key, predicate] = None
        update = "UPDATE facts SET id = ?, subject = ?, object = ? WHERE key = ?"
        db.execute(update, (new_id, subject.key, object_.key, key))
        renamed.append((new_id, subject.key, part, id_))
    db.executemany("UPDATE facts SET superseded_by = ? WHERE subject = ? AND part = ? AND superseded_by = ?", renamed)
    facts.refit(w, topics)


def _pass_edges(db: sqlite3.Connection, keys: Sequence[int], heirs: Heirs) -> None:
    found = db.execute(
        "SELECT DISTINCT e.key, e.part, e.id, e.kind, e.weight, e.tags, e.src, a.id, e.dst, b.id FROM adjacency x"
        " JOIN edges e ON e.key = x.edge JOIN nodes a ON a.key = e.src JOIN nodes b ON b.key = e.dst"
        f" WHERE x.node IN ({marks(len(keys))}) AND e.via IS NULL ORDER BY e.created, e.key",
        keys,
    ).fetchall()
    degrees = Counter[tuple[int, int]]()
    for key, part, id_, kind, weight, tags, *ends in found:
        src, dst = _End(*ends[:2]), _End(*ends[2:])
        new_src, new_dst = heirs.get(src.key, src), heirs.get(dst.key, dst)
        made = id_ == stated_edge_id(src.id, dst.id, kind)
        new_id = stated_edge_id(new_src.id, new_dst.id, kind) if made else id_
        if (new_src == new_dst and src != dst) or not _is_free(db, "edges", part, new_id, key):
            continue
        db.execute("UPDATE edges SET id = ?, src = ?, dst = ? WHERE key = ?", (new_id, new_src.key, new_dst.key, key))
        rank = -(UNKNOWN_WEIGHT if weight is None else weight)
        sides = {(src, dst, new_src, new_dst), (dst, src, new_dst, new_src)}
        for node, other, new_node, new_other in sides:
            _move_side(db, (node, other, new_node, new_other), rank, key, json.loads(tags) if tags else [])
            degrees[node.key, part] -= 1
            degrees[new_node.key, part] += 1
    _add_degrees(db, degrees)


def _move_side(
    db: sqlite3.Connection, ends: tuple[_End, _End, _End, _End], rank: float, edge: int, tags: Sequence[str]
) -> None:
    node, other, new_node, new_other = ends
    at = "node = ? AND rank = ? AND other_id = ? AND edge = ?"
    was = (node.key, rank, other.id, edge)
    db.execute(
        f"UPDATE adjacency SET node = ?, other_id = ?, other = ? WHERE {at}",
        (new_node.key, new_other.id, new_other.key, *was),
    )
    db.executemany(
        f"UPDATE adjacency_tags SET node = ?, other_id = ? WHERE {at}"
        " AND size = ? AND label = (SELECT label FROM labels WHERE what = 't' AND name = ?)",
        [(new_node.key, new_other.id, *was, len(set(tags)), tag) for tag in tags],
    )


def _add_degrees(db: sqlite3.Connection, degrees: Mapping[tuple[int, int], int]) -> None:
    changed = [(node, part, n) for (node, part), n in degrees.items() if n]
    db.executemany(
        "INSERT INTO degrees VALUES (?, ?, ?) ON CONFLICT (node, part) DO UPDATE SET degree = degree + excluded.degree",
        changed,
    )
    db.executemany(
        "DELETE FROM degrees WHERE node = ? AND part = ? AND degree <= 0", [(node, part) for node, part, _ in changed]
    )


def _is_free(db: sqlite3.Connection, table: str, part: int, id_: str, key: int) -> bool:
    """Whether no other row has this id."""
    found = db.execute(f"SELECT 1 FROM {table} WHERE id = ? AND part = ? AND key <> ?", (id_, part, key))
    return found.fetchone() is None
