"""Examination of a memory: whether `memory.db` is intact, its tables agree, and the indexes equal a full scan."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from cuetrail.errors import CorruptMemory
from cuetrail.model import UNKNOWN_WEIGHT, Finding
from cuetrail.store.sqlite import rows
from cuetrail.store.sqlite.connection import Database
from cuetrail.store.sqlite.index import vector_spaces
from cuetrail.store.sqlite.index.label_index import LabelIndex
from cuetrail.store.sqlite.index.text_index import TextIndex
from cuetrail.store.sqlite.index.vector_index import VectorIndex
from cuetrail.store.sqlite.reader import NEXT, NOW
from cuetrail.store.sqlite.schema import true_given, true_name_words, true_relation_words, true_topics
from cuetrail.store.write import Progress
from cuetrail.text.normalise import names_of

RESTORE = "put back a backup with `cuetrail restore`"
REPAIR = "run `cuetrail doctor --repair`"

Check = Callable[[sqlite3.Connection], Iterator[Finding]]


def examine(
    db: Database, indexes: Mapping[str, TextIndex | VectorIndex | LabelIndex], repair: bool, progress: Progress | None
) -> list[Finding]:
    """Returns everything that is wrong. With `repair`, derived tables and indexes are rebuilt and so reported."""
    try:
        found = _tables(db, progress)
        if any(f.check == "truth" for f in found):
            return found
        if repair and found:
            with db.writing() as writer:
                _mend(writer)
            found = [Finding(f.check, f.problem, "mended") for f in found]
        if progress:
            progress("checking indexes", 7, 8)
        for name, index in indexes.items():
            if index.differs():
                if repair:
                    index.rebuild()
                found.append(Finding(name, "it differs from the memories", "mended" if repair else REPAIR))
            if isinstance(index, TextIndex) and index.has_traces():
                if repair:
                    index.purge()
                found.append(Finding(name, "it has words of forgotten memories", "mended" if repair else REPAIR))
    except CorruptMemory as error:
        return [Finding("truth", str(error), RESTORE)]
    if progress:
        progress("done", 8, 8)
    return found


def _tables(db: Database, progress: Progress | None) -> list[Finding]:
    found: list[Finding] = []
    checks: tuple[Check, ...] = (whole, _labels, _names, _relations, _adjacency, _ends)
    for step, check in enumerate(checks, 1):
        if progress:
            progress(f"checking {check.__name__.strip('_')}", step, 8)
        with db.reading() as view:
            found += check(view)
        if any(f.check == "truth" for f in found):
            break
    return found


def whole(db: sqlite3.Connection) -> Iterator[Finding]:
    """Returns damage of the file itself and of the memories in it, which cannot be repaired."""
    for (message,) in db.execute("PRAGMA integrity_check(20)"):
        if message != "ok":
            yield Finding("truth", message, RESTORE)
            return
    for row in db.execute("SELECT * FROM nodes"):
        if rows.check_sum(row) != row[6]:
            yield Finding("truth", f"{row[2]!r} is not what was written", RESTORE)


def _sum(table: Iterable[tuple[Any, ...]]) -> tuple[int, int]:
    """Returns the number of rows and the sum of their hashes, which are equal for equal tables in any order."""
    count, total = 0, 0
    for row in table:
        count += 1
        total = (total + hash(row)) & 0xFFFFFFFFFFFFFFFF
    return count, total


def _labels(db: sqlite3.Connection) -> Iterator[Finding]:
    stored = db.execute("SELECT l.what, l.name, x.key FROM node_labels x JOIN labels l ON l.label = x.label")
    if _sum(stored) != _sum(_true_labels(db)):
        yield Finding("labels", "the table of tags and buckets differs from the nodes", REPAIR)
    if _sum(db.execute("SELECT part, name, nodes FROM given_tags")) != _sum(true_given(db)):
        yield Finding("labels", "the count of given tags differs from the nodes", REPAIR)


def _true_labels(db: sqlite3.Connection) -> Iterator[tuple[str, str, int]]:
    for key, packed in db.execute("SELECT key, labels FROM nodes WHERE labels IS NOT NULL"):
        tags, buckets = rows.label_names(packed)
        yield from (("t", tag, key) for tag in dict.fromkeys(tags))
        yield from (("b", bucket, key) for bucket in dict.fromkeys(buckets))


def _names(db: sqlite3.Connection) -> Iterator[Finding]:
    if _sum(db.execute("SELECT norm, key FROM names")) != _sum(_true_names(db)):
        yield Finding("names", "the table of names differs from the nodes", REPAIR)
    if _sum(db.execute("SELECT norm, key FROM topics")) != _sum(true_topics(db)):
        yield Finding("names", "the table of what texts are about differs from the nodes", REPAIR)
    if _sum(db.execute("SELECT part, word, key FROM name_words")) != _sum(true_name_words(db)):
        yield Finding("names", "the table of the words of names differs from the nodes", REPAIR)


def _relations(db: sqlite3.Connection) -> Iterator[Finding]:
    if _sum(db.execute("SELECT part, word, time, key FROM relation_words")) != _sum(true_relation_words(db)):
        yield Finding("relationships", "the table of their words differs from the edges and notes", REPAIR)


def _true_names(db: sqlite3.Connection) -> Iterator[tuple[str, int]]:
    query = "SELECT key, name, aliases FROM nodes WHERE name IS NOT NULL OR aliases IS NOT NULL"
    for key, name, aliases in db.execute(query):
        yield from ((norm, key) for norm in names_of(name, json.loads(aliases) if aliases else ()))


def _true_adjacency(db: sqlite3.Connection) -> Iterator[tuple[int, float, str, int, int, int, int]]:
    for key, part, src, dst, weight, src_id, dst_id in db.execute(
        "SELECT e.key, e.part, e.src, e.dst, e.weight, a.id, b.id FROM edges e JOIN nodes a ON a.key = e.src"
        " JOIN nodes b ON b.key = e.dst"
    ):
        rank = -(UNKNOWN_WEIGHT if weight is None else weight)
        yield (src, rank, dst_id, key, dst, 1, part)
        if src != dst:
            yield (dst, rank, src_id, key, src, 0, part)


def _true_edge_tags(db: sqlite3.Connection) -> Iterator[tuple[str, int, int, float, str, int]]:
    packed = db.execute("SELECT key, tags FROM edges WHERE tags IS NOT NULL")
    tags = {key: list(dict.fromkeys(json.loads(some))) for key, some in packed}
    for node, rank, other_id, edge, *_ in _true_adjacency(db):
        own = tags.get(edge, [])
        yield from ((tag, node, len(own), rank, other_id, edge) for tag in own)


def _adjacency(db: sqlite3.Connection) -> Iterator[Finding]:
    stored = db.execute("SELECT node, rank, other_id, edge, other, outgoing, part FROM adjacency")
    if _sum(stored) != _sum(_true_adjacency(db)):
        yield Finding("edges", "the adjacency table differs from the edges", REPAIR)
    degrees = Counter((row[0], row[6]) for row in _true_adjacency(db))
    if {(node, part): n for node, part, n in db.execute("SELECT node, part, degree FROM degrees")} != degrees:
        yield Finding("edges", "the degrees differ from the edges", REPAIR)
    tagged = db.execute(
        "SELECT l.name, t.node, t.size, t.rank, t.other_id, t.edge FROM adjacency_tags t"
        " JOIN labels l ON l.label = t.label"
    )
    if _sum(tagged) != _sum(_true_edge_tags(db)):
        yield Finding("edges", "the table of edge tags differs from the edges", REPAIR)


# Tables whose rows belong to a node, and the column with the node's key.
_OF_NODES = (
    ("edges", "src"),
    ("edges", "dst"),
    ("facts", "subject"),
    ("facts", "object"),
    ("mentions", "source"),
    ("mentions", "node"),
    ("links", "src"),
    ("life", "key"),
)
# A vector belongs to a record with text, or at least to a node.
_VECTORLESS = "{0} WHERE " + " AND ".join(
    f"NOT EXISTS (SELECT 1 FROM {table} n WHERE n.key = {{0}}.key AND {'1' if table == 'nodes' else saying})"
    for table, saying in vector_spaces.SAYING.items()
)


def _ends(db: sqlite3.Connection) -> Iterator[Finding]:
    for table, column in _OF_NODES:
        lost = db.execute(f"SELECT count(*) FROM {table} WHERE {column} NOT IN (SELECT key FROM nodes)").fetchone()[0]
        if lost:
            yield Finding(table, f"{lost} {table} belong to nodes that are not there", REPAIR)
    for table in (NOW, NEXT):
        lost = db.execute(f"SELECT count(*) FROM {_VECTORLESS.format(table)}").fetchone()[0]
        if lost:
            yield Finding(table, f"{lost} {table} belong to nothing that is there", REPAIR)


def _mend(db: sqlite3.Connection) -> None:
    """Rebuilds every derived table from nodes and edges, and deletes rows that belong to nothing."""
    for table, column in _OF_NODES:
        db.execute(f"DELETE FROM {table} WHERE {column} NOT IN (SELECT key FROM nodes)")
    for table in (NOW, NEXT):
        db.execute(f"DELETE FROM {_VECTORLESS.format(table)}")
    for table in (
        "adjacency",
        "adjacency_tags",
        "degrees",
        "given_tags",
        "node_labels",
        "names",
        "name_words",
        "relation_words",
        "topics",
    ):
        db.execute(f"DELETE FROM {table}")
    db.executemany("INSERT INTO given_tags VALUES (?, ?, ?)", list(true_given(db)))
    db.executemany("INSERT INTO names VALUES (?, ?)", _true_names(db))
    db.executemany("INSERT INTO name_words VALUES (?, ?, ?)", true_name_words(db))
    db.executemany("INSERT INTO topics VALUES (?, ?)", list(true_topics(db)))
    db.executemany("INSERT INTO relation_words VALUES (?, ?, ?, ?)", list(true_relation_words(db)))
    true = list(_true_adjacency(db))
    db.executemany("INSERT INTO adjacency VALUES (?,?,?,?,?,?,?)", true)
    degrees = Counter((row[0], row[6]) for row in true)
    db.executemany("INSERT INTO degrees VALUES (?, ?, ?)", [(*place, n) for place, n in degrees.items()])
    labels, tagged = list(_true_labels(db)), list(_true_edge_tags(db))
    names = {(what, name) for what, name, _ in labels} | {("t", row[0]) for row in tagged}
    db.executemany("INSERT OR IGNORE INTO labels (what, name) VALUES (?, ?)", sorted(names))
    ids = {(what, name): label for label, what, name in db.execute("SELECT label, what, name FROM labels")}
    db.executemany("INSERT INTO node_labels VALUES (?, ?)", [(ids[what, name], key) for what, name, key in labels])
    db.executemany("INSERT INTO adjacency_tags VALUES (?,?,?,?,?,?)", [(ids["t", row[0]], *row[1:]) for row in tagged])
