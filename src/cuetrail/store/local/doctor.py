"""Examining a memory: is the truth whole, do its tables agree, do the indexes equal a full scan."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections import Counter
from collections.abc import Iterator

from cuetrail.model import Finding
from cuetrail.store.base import Progress
from cuetrail.store.local import rows
from cuetrail.store.local.db import Database
from cuetrail.store.local.textindex import TextIndex
from cuetrail.store.local.vectorindex import VectorIndex
from cuetrail.store.local.write import UNKNOWN_WEIGHT

RESTORE = "put back a backup with `cuetrail restore`"
REPAIR = "run `cuetrail doctor --repair`"


def examine(
    db: Database, text: TextIndex, vectors: VectorIndex, repair: bool, progress: Progress | None
) -> list[Finding]:
    """Everything that is wrong. With `repair`, derived tables and indexes are made anew and reported as mended."""
    found: list[Finding] = []
    for step, check in enumerate((_whole, _texts, _labels, _adjacency), 1):
        if progress:
            progress(f"checking {check.__name__.strip('_')}", step, 6)
        with db.reading() as view:
            found += check(view)
    if any(f.check == "truth" for f in found):
        return found
    if repair and found:
        with db.writing() as writer:
            _mend(writer)
        found = [Finding(f.check, f.problem, "mended") for f in found]
    if progress:
        progress("checking indexes", 5, 6)
    found += [*_text_index(db, text, repair), *_vector_index(db, vectors, repair)]
    if progress:
        progress("done", 6, 6)
    return found


def _whole(db: sqlite3.Connection) -> Iterator[Finding]:
    for (message,) in db.execute("PRAGMA integrity_check(20)"):
        if message != "ok":
            yield Finding("truth", message, RESTORE)


def _texts(db: sqlite3.Connection) -> Iterator[Finding]:
    for id_, text, check_sum in db.execute("SELECT id, text, check_sum FROM nodes"):
        if rows.check_sum(text) != check_sum:
            yield Finding("truth", f"the text of {id_!r} is not what was written", RESTORE)


def _labels(db: sqlite3.Connection) -> Iterator[Finding]:
    stored = set(db.execute("SELECT l.what, l.name, x.key FROM node_labels x JOIN labels l ON l.label = x.label"))
    if stored != set(_true_labels(db)):
        yield Finding("labels", "the table of tags and buckets differs from the nodes", REPAIR)


def _true_labels(db: sqlite3.Connection) -> Iterator[tuple[str, str, int]]:
    for key, packed in db.execute("SELECT key, labels FROM nodes WHERE labels IS NOT NULL"):
        tags, buckets = rows.label_names(packed)
        yield from (("t", tag, key) for tag in tags)
        yield from (("b", bucket, key) for bucket in buckets)


def _true_adjacency(db: sqlite3.Connection) -> Iterator[tuple[int, float, str, int, int, int, int]]:
    for key, part, src, dst, weight, src_id, dst_id in db.execute(
        "SELECT e.key, e.part, e.src, e.dst, e.weight, a.id, b.id FROM edges e JOIN nodes a ON a.key = e.src"
        " JOIN nodes b ON b.key = e.dst"
    ):
        rank = -(UNKNOWN_WEIGHT if weight is None else weight)
        yield (src, rank, dst_id, key, dst, 1, part)
        if src != dst:
            yield (dst, rank, src_id, key, src, 0, part)


def _adjacency(db: sqlite3.Connection) -> Iterator[Finding]:
    true = set(_true_adjacency(db))
    lost = db.execute("SELECT count(*) FROM edges").fetchone()[0] - len({row[3] for row in true})
    if lost:
        yield Finding("edges", f"{lost} edges lead to nodes that are not there", REPAIR)
    if set(db.execute("SELECT node, rank, other_id, edge, other, outgoing, part FROM adjacency")) != true:
        yield Finding("edges", "the adjacency table differs from the edges", REPAIR)
    degrees = Counter((row[0], row[6]) for row in true)
    if {(node, part): n for node, part, n in db.execute("SELECT node, part, degree FROM degrees")} != degrees:
        yield Finding("edges", "the degrees differ from the edges", REPAIR)


def _mend(db: sqlite3.Connection) -> None:
    """Make every derived table anew from nodes and edges."""
    db.execute("DELETE FROM edges WHERE src NOT IN (SELECT key FROM nodes) OR dst NOT IN (SELECT key FROM nodes)")
    for table in ("adjacency", "adjacency_tags", "degrees", "node_labels"):
        db.execute(f"DELETE FROM {table}")
    true = list(_true_adjacency(db))
    db.executemany("INSERT INTO adjacency VALUES (?,?,?,?,?,?,?)", true)
    degrees = Counter((row[0], row[6]) for row in true)
    db.executemany("INSERT INTO degrees VALUES (?, ?, ?)", [(*place, n) for place, n in degrees.items()])
    labels = list(_true_labels(db))
    tags = {key: json.loads(packed) for key, packed in db.execute("SELECT key, tags FROM edges WHERE tags IS NOT NULL")}
    names = {(what, name) for what, name, _ in labels} | {("t", tag) for some in tags.values() for tag in some}
    db.executemany("INSERT OR IGNORE INTO labels (what, name) VALUES (?, ?)", sorted(names))
    ids = {(what, name): label for label, what, name in db.execute("SELECT label, what, name FROM labels")}
    db.executemany("INSERT INTO node_labels VALUES (?, ?)", [(ids[what, name], key) for what, name, key in labels])
    tagged = [
        (ids["t", tag], node, rank, other_id, edge)
        for node, rank, other_id, edge, *_ in true
        for tag in tags.get(edge, ())
    ]
    db.executemany("INSERT INTO adjacency_tags VALUES (?,?,?,?,?)", tagged)


def _text_index(db: Database, text: TextIndex, repair: bool) -> Iterator[Finding]:
    state = text.view().state
    with db.reading() as view:
        true = {row[0] for row in view.execute("SELECT key FROM nodes")}
    with contextlib.suppress(ValueError, OSError):
        if text.dir.intact(state, thorough=True) and text.keys() == true:
            return
    if repair:
        text.rebuild()
    yield Finding("text index", "it differs from the memories", "mended" if repair else REPAIR)


def _vector_index(db: Database, vectors: VectorIndex, repair: bool) -> Iterator[Finding]:
    found = vectors.view()
    if found is None:
        return
    with db.reading() as view:
        true = {row[0] for row in view.execute("SELECT key FROM vectors")}
    if vectors.dir.intact(found.state, thorough=True) and vectors.keys() == true:
        return
    if repair:
        vectors.rebuild()
    yield Finding("vector index", "it differs from the memories' vectors", "mended" if repair else REPAIR)
