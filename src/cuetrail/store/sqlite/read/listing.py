"""Lists of nodes by time, of labels by how many nodes have them, and counts, for one scope."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from cuetrail.model import STORYLINE_KINDS, Stats
from cuetrail.store.read import LabelKind, Labelled, Listed, PageRequest
from cuetrail.store.shared import listing
from cuetrail.store.sqlite.connection import marks, meta
from cuetrail.store.sqlite.read.facts import most_used
from cuetrail.store.sqlite.reader import Reader, content_filter
from cuetrail.store.sqlite.schema import VERSION
from cuetrail.text.normalise import storable

FEW = 5_000
"""If at most so many nodes have a label, each is tested; otherwise the newest nodes are read until enough have it."""


def page(reader: Reader, query: PageRequest) -> list[Listed]:
    newest, core, used = partial(_newest, reader), partial(_core, reader), partial(most_used, reader)
    return listing.page(query, newest, core, used, reader.nodes_by_key)


def _newest(reader: Reader, query: PageRequest, limit: int) -> Iterator[tuple[int, int]]:
    """Yields (time, key) of the next nodes that pass the filters, newest first, at most `limit` of each partition."""
    tests, values = _tests(query)
    source = _source(reader, query)
    for part in reader.parts:
        select = (
            f"SELECT n.at, n.key FROM {source} WHERE n.part + 0 = ? AND {' AND '.join(tests)}"
            " ORDER BY n.at DESC, n.key DESC LIMIT ?"
        )
        yield from reader.db.execute(select, (part, *values, limit))


def _core(reader: Reader, kinds: Sequence[str], limit: int) -> list[int]:
    """Returns the keys of nodes of these kinds in the state core, by salience, then newer, then by id."""
    query = (
        "SELECT l.key FROM life l INDEXED BY life_core CROSS JOIN nodes n ON n.key = l.key WHERE l.state = 'core'"
        f" AND n.kind IN ({marks(len(kinds))}) AND n.provenance <> 'quarantine' AND {reader.among('n.part')}"
        " ORDER BY l.salience DESC, n.at DESC, n.id LIMIT ?"
    )
    return [key for (key,) in reader.db.execute(query, (*kinds, limit))]


def _source(reader: Reader, query: PageRequest) -> str:
    """Returns the table, as SQL, that a listing reads: quarantined nodes, nodes with a rare label, or all by time."""
    if query.provenance == "quarantine":
        return "nodes n INDEXED BY nodes_in_quarantine"
    labels = [("t", tag) for tag in query.where.tags] + [("b", bucket) for bucket in query.where.buckets]
    if len(query.where.buckets) > 1 or not labels:
        return "nodes n INDEXED BY nodes_in_time"
    ids = [
        row[0] for label in labels if storable(label[1])
        for row in reader.db.execute("SELECT label FROM labels WHERE what = ? AND name = ?", label)
    ]  # fmt: skip
    counted = "SELECT count(*) FROM (SELECT 1 FROM node_labels WHERE label = ? LIMIT ?)"
    sizes = {id_: reader.db.execute(counted, (id_, FEW + 1)).fetchone()[0] for id_ in ids}
    rarest = min(sizes, key=sizes.__getitem__, default=None)
    if rarest is None or sizes[rarest] > FEW:
        return "nodes n INDEXED BY nodes_in_time"
    return f"(SELECT key AS one FROM node_labels WHERE label = {rarest}) CROSS JOIN nodes n ON n.key = one"


def _tests(query: PageRequest) -> tuple[list[str], list[Any]]:
    """Returns the SQL conditions of a listing and their values."""
    tests, values = content_filter(query.where, "n.key")
    tests += _unhidden(query)
    if query.provenance == "quarantine":
        # Written as a literal: only then does SQLite know that the partial index of quarantined nodes applies.
        tests.append("n.provenance = 'quarantine'")
    elif query.provenance is not None:
        tests.append("n.provenance = ?")
        values.append(query.provenance)
    if not query.where.kinds:
        tests.append(f"n.kind NOT IN ({marks(len(STORYLINE_KINDS))})")
        values += STORYLINE_KINDS
    if query.after is not None:
        tests.append("(n.at, n.key) < (?, ?)")
        values += query.after
    return tests, values


def _unhidden(query: PageRequest) -> list[str]:
    tests = []
    if not query.where.quarantined and query.provenance is None:
        tests.append("n.provenance <> 'quarantine'")
    if not query.where.archived:
        tests.append("NOT EXISTS (SELECT 1 FROM life l WHERE l.key = n.key AND l.state = 'archived')")
    return tests


def labels(reader: Reader, what: LabelKind, prefix: str, limit: int) -> list[Labelled]:
    if not storable(prefix):
        return []
    seen = "" if reader.all else f" JOIN nodes n ON n.key = x.key AND {reader.among('n.part')}"
    query = (
        f"SELECT l.name, count(*) AS nodes FROM labels l JOIN node_labels x ON x.label = l.label{seen}"
        " WHERE l.what = ? AND x.automatic = ? AND l.name >= ? AND l.name < ?"
        " GROUP BY l.label ORDER BY nodes DESC, l.name LIMIT ?"
    )
    kind = "b" if what == "bucket" else "t"
    given = (kind, what == "automatic", prefix, prefix + "\U0010ffff", max(limit, 0))
    return [Labelled(*row) for row in reader.db.execute(query, given)]


def stats(reader: Reader) -> Stats:

    def count(table: str) -> int:
        return int(reader.db.execute(f"SELECT count(*) FROM {table} WHERE {reader.among()}").fetchone()[0])

    def groups(query: str) -> dict[str, int]:
        return dict(reader.db.execute(query).fetchall())

    seen = reader.among("n.part")
    space = meta(reader.db, "vector_space")
    labels = "FROM labels l JOIN node_labels x ON x.label = l.label JOIN nodes n ON n.key = x.key"
    vectors = f"SELECT count(*) FROM vectors v JOIN nodes n ON n.key = v.key WHERE {seen}"
    tags = f"SELECT count(DISTINCT l.label) {labels} WHERE l.what = 't' AND x.automatic = ? AND {seen}"
    return Stats(
        nodes=count("nodes"),
        edges=count("edges"),
        facts=count("facts"),
        notes=count("notes"),
        mentions=count("mentions"),
        vectors=reader.db.execute(vectors).fetchone()[0],
        tombstones=count("tombstones"),
        kinds=groups(f"SELECT kind, count(*) FROM nodes WHERE {reader.among()} GROUP BY kind ORDER BY kind"),
        tags=reader.db.execute(tags, (False,)).fetchone()[0],
        automatic_tags=reader.db.execute(tags, (True,)).fetchone()[0],
        buckets=groups(
            f"SELECT l.name, count(*) {labels} WHERE l.what = 'b' AND {seen} GROUP BY l.name ORDER BY l.name"
        ),
        embedder=json.loads(space)["model"] if space else None,
        schema=VERSION,
    )
