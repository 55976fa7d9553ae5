"""Edges of many nodes with their content, notes, and mentions, for one scope."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

from cuetrail.model import Mention, Note
from cuetrail.store.graph import Step, StepQuery
from cuetrail.store.read import Side
from cuetrail.store.sqlite import rows
from cuetrail.store.sqlite.connection import chunks, marks
from cuetrail.store.sqlite.filters import passing
from cuetrail.store.sqlite.reader import Reader

_SIDES = {"out": " AND x.outgoing = 1", "in": " AND x.outgoing = 0", "both": ""}
# The columns of an edge, then those that determine its order.
_EDGE = rows.EDGE.partition("FROM")[0].replace("SELECT ", "")
_RANK, _OTHER_ID, _OUTGOING = -3, -2, -1


def steps(reader: Reader, query: StepQuery) -> dict[str, list[Step]]:
    """Returns the strongest edges of each node that pass the filters: by weight, then by the plain ids of the other end
    and of the edge.
    """
    tests, values = _tests(reader, query)
    select = (
        f"SELECT {_EDGE}, x.rank, x.other_id, x.outgoing FROM adjacency x CROSS JOIN edges e ON e.key = x.edge"
        " CROSS JOIN nodes n ON n.key = x.other JOIN nodes a ON a.key = e.src JOIN nodes b ON b.key = e.dst"
        f" WHERE x.node = ?{_SIDES[query.direction]} AND {tests} ORDER BY x.rank, x.other_id, x.edge"
    )
    found: dict[str, list[tuple[Any, ...]]] = {}
    for id_, key in reader.keys(query.ids).items():
        with contextlib.closing(reader.db.execute(select, (key, *values))) as cursor:
            found[id_] = _strongest(cursor, query)
    every = [row[:_RANK] for some in found.values() for row in some]
    edges = iter(reader.made_edges(every))
    return {id_: [_step(next(edges), bool(row[_OUTGOING])) for row in some] for id_, some in found.items()}


def _strongest(cursor: Any, query: StepQuery) -> list[tuple[Any, ...]]:
    """Returns the first rows whose edges pass. Parallel edges of equal weight are read together and ordered by id."""
    read: list[tuple[Any, ...]] = []
    for row in cursor:
        if len(read) >= query.each and (query.each <= 0 or row[_RANK:_OUTGOING] != read[-1][_RANK:_OUTGOING]):
            break
        if query.ties.are_any or query.ties.passes(rows.to_edge(row[:_RANK])):
            read.append(row)
    return sorted(read, key=lambda row: (row[_RANK], row[_OTHER_ID], row[2]))[: max(query.each, 0)]


def _step(edge: Any, outgoing: bool) -> Step:
    return Step(edge, edge.dst if outgoing else edge.src, outgoing)


def _tests(reader: Reader, query: StepQuery) -> tuple[str, list[Any]]:
    """Returns the conditions on an edge and on the node it leads to, and their values."""
    tests, values = passing(query.where, "x.other")
    if query.ties.kinds:
        tests.append(f"e.kind IN ({marks(len(query.ties.kinds))})")
        values += query.ties.kinds
    return " AND ".join([*tests, reader.among("x.part"), reader.among("n.part")]), values


def notes(reader: Reader, targets: Sequence[str], on: str, now: int, each: int) -> dict[str, list[Note]]:
    """Returns the newest unexpired notes on nodes or edges, at most `each` per target."""
    keys = reader.ids.keys(targets, "nodes" if on == "node" else "edges")
    query = (
        "SELECT id, text, created, expires FROM notes WHERE target_on = ? AND target = ?"
        f" AND (expires IS NULL OR expires > ?) AND {reader.among()} ORDER BY created DESC, id LIMIT ?"
    )
    found: dict[str, list[Note]] = {}
    for target, key in keys.items():
        some = reader.db.execute(query, (on, key, now, max(each, 0))).fetchall()
        if some:
            found[target] = [
                Note(id_, target, text, "node" if on == "node" else "edge", created, expires)
                for id_, text, created, expires in some
            ]
    return found


def mentions(reader: Reader, ids: Sequence[str], by: Side, each: int) -> dict[str, list[Mention]]:
    """Returns the newest mentions made by sources, or of nodes, at most `each` per id."""
    keys = {key: id_ for id_, key in reader.keys(ids).items()}
    other = "node" if by == "source" else "source"
    pairs: list[tuple[int, int, int]] = []
    for key in keys:
        query = f"SELECT {by}, {other}, at FROM mentions WHERE {by} = ? AND {reader.among()} ORDER BY at DESC LIMIT ?"
        pairs += reader.db.execute(query, (key, max(each, 0)))
    names = {
        key: id_ for some in chunks(sorted({pair[1] for pair in pairs})) for key, id_ in reader.names(some).items()
    }
    found: dict[str, list[Mention]] = {}
    for key, second, at in pairs:
        if second in names:
            ends = (keys[key], names[second]) if by == "source" else (names[second], keys[key])
            found.setdefault(keys[key], []).append(Mention(*ends, at))
    return {id_: sorted(some, key=lambda m: (-m.at, m.source, m.node)) for id_, some in found.items()}
