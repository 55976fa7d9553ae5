"""Tables that are computed from others: their right content, which of them differ from it, and how they are rebuilt.

Rows of these tables have no checksum. The nodes, edges and notes they are computed from have one.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from cuetrail.model import UNKNOWN_WEIGHT
from cuetrail.model.reports import REPAIR
from cuetrail.store.sqlite.schema import true_given, true_labels, true_name_words, true_relation_words, true_topics
from cuetrail.text.normalise import names_of

Difference = tuple[str, str, str]
"""A difference found: the group of tables, the problem, and what to do."""


def labels(db: sqlite3.Connection) -> Iterator[Difference]:
    """Yields how the tables that lead from tags and buckets to nodes differ from what the nodes say."""
    ids = {(what, name): label for label, what, name in db.execute("SELECT label, what, name FROM labels")}
    true = ((ids.get((what, name), -1), key, int(by_rule)) for what, name, key, by_rule in true_labels(db))
    if _sum(db.execute("SELECT label, key, automatic FROM node_labels")) != _sum(true):
        yield "labels", "the table of tags and buckets differs from the nodes", REPAIR
    if _sum(db.execute("SELECT part, name, nodes FROM given_tags")) != _sum(true_given(db)):
        yield "labels", "the count of given tags differs from the nodes", REPAIR


def names(db: sqlite3.Connection) -> Iterator[Difference]:
    """Yields how the tables of names, topics and words in names differ from what the nodes say."""
    if _sum(db.execute("SELECT norm, key FROM names")) != _sum(_true_names(db)):
        yield "names", "the table of names differs from the nodes", REPAIR
    if _sum(db.execute("SELECT norm, key FROM topics")) != _sum(true_topics(db)):
        yield "names", "the table of what texts are about differs from the nodes", REPAIR
    if _sum(db.execute("SELECT part, word, key FROM name_words")) != _sum(true_name_words(db)):
        yield "names", "the table of the words of names differs from the nodes", REPAIR


def relations(db: sqlite3.Connection) -> Iterator[Difference]:
    """Yields how the table of words of relationships differs from what the edges and notes say."""
    if _sum(db.execute("SELECT part, word, time, key FROM relation_words")) != _sum(true_relation_words(db)):
        yield "relationships", "the table of their words differs from the edges and notes", REPAIR


def adjacency(db: sqlite3.Connection) -> Iterator[Difference]:
    """Yields how the tables that lead from nodes to edges differ from what the edges say."""
    stored = db.execute("SELECT node, rank, other_id, edge, other, outgoing, part FROM adjacency")
    if _sum(stored) != _sum(_true_adjacency(db)):
        yield "edges", "the adjacency table differs from the edges", REPAIR
    degrees = Counter((row[0], row[6]) for row in _true_adjacency(db))
    if {(node, part): n for node, part, n in db.execute("SELECT node, part, degree FROM degrees")} != degrees:
        yield "edges", "the degrees differ from the edges", REPAIR
    tagged = db.execute(
        "SELECT l.name, t.node, t.size, t.rank, t.other_id, t.edge FROM adjacency_tags t"
        " JOIN labels l ON l.label = t.label"
    )
    if _sum(tagged) != _sum(_true_edge_tags(db)):
        yield "edges", "the table of edge tags differs from the edges", REPAIR


CHECKS = (labels, names, relations, adjacency)


def differences(db: sqlite3.Connection) -> Iterator[Difference]:
    """Yields how any of the computed tables differs from what it should contain."""
    for check in CHECKS:
        yield from check(db)


def _sum(table: Iterable[tuple[Any, ...]]) -> tuple[int, int]:
    """Returns the number of rows and the sum of their hashes, which are equal for equal tables in any order."""
    count, total = 0, 0
    for row in table:
        count += 1
        total = (total + hash(row)) & 0xFFFFFFFFFFFFFFFF
    return count, total


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


def rebuild(db: sqlite3.Connection) -> None:
    """Empties all computed tables and fills them again from nodes, edges and notes. Needs a write transaction."""
    for table in (
        "adjacency", "adjacency_tags", "degrees", "given_tags", "node_labels", "names", "name_words", "relation_words",
        "topics",
    ):  # fmt: skip
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
    carried, tagged = list(true_labels(db)), list(_true_edge_tags(db))
    wanted = {(what, name) for what, name, *_ in carried} | {("t", row[0]) for row in tagged}
    db.executemany("INSERT OR IGNORE INTO labels (what, name) VALUES (?, ?)", sorted(wanted))
    ids = {(what, name): label for label, what, name in db.execute("SELECT label, what, name FROM labels")}
    put = [(ids[what, name], key, by_rule) for what, name, key, by_rule in carried]
    db.executemany("INSERT INTO node_labels VALUES (?, ?, ?)", put)
    db.executemany("INSERT INTO adjacency_tags VALUES (?,?,?,?,?,?)", [(ids["t", row[0]], *row[1:]) for row in tagged])
