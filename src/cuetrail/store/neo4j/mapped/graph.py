"""A mapped graph: activation, steps, nodes and full-text search in place, each by one query in a read transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from cuetrail.errors import InputError, MemoryError_
from cuetrail.model import UNKNOWN_WEIGHT, Edge, Node, Scope
from cuetrail.model.graph_mapping import GraphMapping
from cuetrail.store.graph import Candidate, Expanded, Frontier, Step, StepQuery, share_out
from cuetrail.store.neo4j.connection import Address, Connection, Tx, rows
from cuetrail.store.neo4j.mapped.cypher import (
    found_by_id,
    has_label,
    tags_of,
    weight_of,
)
from cuetrail.text.cypher import id_of, one_of
from cuetrail.text.normalise import sanitize_query, storable
from cuetrail.text.timestamps import milliseconds, since_epoch

LONGEST_PROPERTY = 100
"""Properties that are longer lists, such as vectors, are left out of nodes."""


class ReadOnlyConnection(Connection):
    """A connection whose sessions may only read: the server refuses a write."""

    def session(self) -> Any:
        """Returns a session in READ access mode."""
        self._check_open()
        return self._driver.session(
            database=self.address.database, bookmark_manager=self._bookmarks, default_access_mode="READ"
        )


class MappedGraph:
    """A graph on a Neo4j server, seen through a mapping. Threads may share it."""

    def __init__(self, address: Address, mapping: GraphMapping) -> None:
        self.mapping = mapping
        self.connection = ReadOnlyConnection(address)
        self._constants = {
            "scale": mapping.weight_scale, "separator": mapping.tag_separator, "missing": mapping.missing_weight
        }  # fmt: skip

    def close(self) -> None:
        """Closes the connection."""
        self.connection.close()

    def expand(self, _scope: Scope, /, level: Frontier) -> Expanded:
        """Returns the nodes energy can flow to next, computed by the server in one query; see `store.graph`."""
        wanted = level.wanted()
        nodes = [
            {"number": number, "id": id_, "energy": float(node.energy), "seed": node.seed, "most": most}
            for number, (node, most) in enumerate(zip(level.nodes, wanted, strict=True))
            if (id_ := self._stored(node.id)) is not None
        ]
        given = {
            "nodes": nodes, "visited": [[id_ for id_ in seen if storable(id_)] for seen in level.visited],
            "tags": sorted(level.tags), "floor": float(level.tag_sim_floor), "least": float(level.min_activation),
        }  # fmt: skip
        found = dict(self._rows(_expand(self.mapping), level=given))
        offered = [[_candidate(*step) for step in found.get(number, [])] for number in range(len(wanted))]
        for steps in offered:
            steps.sort(key=lambda one: (-one.energy, one.id, one.edge))
        there = {level.nodes[number].id for number in found}
        missing = frozenset(node.id for node in level.nodes) - there
        return Expanded(tuple(map(tuple, share_out(offered, level))), missing)

    def steps(self, _scope: Scope, /, query: StepQuery) -> dict[str, list[Step]]:
        """Returns the edges of each node that pass the filters, the strongest first, by one query."""
        asked = {id_: stored for id_ in dict.fromkeys(query.ids) if (stored := self._stored(id_)) is not None}
        given = {
            "asked": [[id_, stored] for id_, stored in asked.items()], "each": query.each,
            "types": list(query.ties.types), "without": list(query.ties.exclude_types),
        }  # fmt: skip
        found = dict(self._rows(_steps(self.mapping, query.direction), level=given))
        return {id_: [_step(id_, row) for row in found.get(id_, [])] for id_ in query.ids}

    def get(self, _scope: Scope, /, ids: Sequence[str]) -> dict[str, Node]:
        """Returns the nodes with these ids that exist, in this order, with their properties."""
        asked = {id_: stored for id_ in dict.fromkeys(ids) if (stored := self._stored(id_)) is not None}
        found = dict(self._rows(_nodes(self.mapping), level={"asked": [[id_, one] for id_, one in asked.items()]}))
        return {id_: _node(id_, found[id_], self.mapping) for id_ in asked if id_ in found}

    def search(self, words: str, limit: int, /) -> list[tuple[str, float]]:
        """Returns the ids of the nodes that the full-text index finds for these words, with their BM25.

        Raises InputError if the mapping names no index, or one that is not there.
        """
        if self.mapping.fulltext is None:
            raise InputError(
                "this graph cannot be searched: name a full-text index in the mapping (fulltext), or give ids to start "
                'from, such as [("A0", 0.9)]'
            )
        query = sanitize_query(words)
        if not query or limit < 1:
            return []
        try:
            found = self._rows(_search(self.mapping), index=self.mapping.fulltext, words=query, limit=limit)
        except MemoryError_ as error:
            if "no such fulltext schema index" not in str(error.__cause__):
                raise
            raise InputError(
                f"there is no full-text index {self.mapping.fulltext!r:.60} in this database: `cuetrail graph check` "
                "says which there are"
            ) from error
        return [(id_, score) for id_, score in found]

    def rows(self, query: str, /, **given: Any) -> list[Any]:
        """Returns the rows of a query of this package, run in a read transaction."""
        return self._rows(query, **given)

    def _rows(self, query: str, /, **given: Any) -> list[Any]:
        def work(tx: Tx) -> list[Any]:
            return rows(tx, query, map=self._constants, **given)

        return self.connection.reading(work, quick=True)

    def _stored(self, id_: str) -> str | int | None:
        return self.mapping.stored_id(id_) if storable(id_) else None


def _expand(mapping: GraphMapping) -> str:
    """Returns the query of one level. Every expression is computed from left to right, as `formulas` does."""
    types = one_of(mapping.types)
    return f"""UNWIND $level.nodes AS s
{found_by_id("s.id", "s", mapping)}
WITH s, o, COUNT {{ (o)-[{types}]-() }} AS degree
CALL (s, o, degree) {{
  MATCH (o)-[e{types}]-(n) WHERE s.most > 0 AND {has_label("n", mapping)}
  WITH s, degree, e, {id_of("n", mapping.id)} AS other, startNode(e) = o AS outgoing
  WHERE NOT other IN $level.visited[s.seed]
  WITH s, degree, e, other, outgoing, {weight_of("e", mapping)} AS weight, {tags_of("e", mapping)} AS tags
  WITH s, degree, e, other, outgoing, weight, tags, size([tag IN tags WHERE tag IN $level.tags]) AS shared
  WITH s, e, other, outgoing, weight, tags, s.energy * coalesce(weight, {UNKNOWN_WEIGHT}) / sqrt(degree)
    * CASE WHEN size($level.tags) = 0 THEN 1.0 WHEN size(tags) = 0 THEN $level.floor
      ELSE $level.floor + (1.0 - $level.floor) * shared / (size(tags) + size($level.tags) - shared) END AS energy
  WHERE energy > $level.least
  WITH s, other, energy, {id_of("e", mapping.edge_id)} AS edge, type(e) AS kind, weight, tags, outgoing
    ORDER BY energy DESC, edge
  WITH s, other, head(collect([other, energy, edge, kind, weight, tags, outgoing])) AS best
  WITH s, best ORDER BY best[1] DESC, best[0]
  RETURN collect(best) AS steps
}}
RETURN s.number, steps[..s.most]"""


def _steps(mapping: GraphMapping, direction: str) -> str:
    left, right = {"out": ("-", "->"), "in": ("<-", "-"), "both": ("-", "-")}[direction]
    return f"""UNWIND $level.asked AS s
{found_by_id("s[1]", "s", mapping)}
CALL (s, o) {{
  MATCH (o){left}[e{one_of(mapping.types)}]{right}(n) WHERE {has_label("n", mapping)}
    AND (size($level.types) = 0 OR toLower(type(e)) IN $level.types) AND NOT toLower(type(e)) IN $level.without
  WITH {id_of("n", mapping.id)} AS other, {weight_of("e", mapping)} AS weight, {tags_of("e", mapping)} AS tags,
    {id_of("e", mapping.edge_id)} AS edge, type(e) AS kind, startNode(e) = o AS outgoing
  WHERE coalesce(weight, 1.0) > 0.0
  WITH * ORDER BY coalesce(weight, {UNKNOWN_WEIGHT}) DESC, other, edge LIMIT $level.each
  RETURN collect([other, edge, kind, weight, tags, outgoing]) AS steps
}}
RETURN s[0], steps"""


def _nodes(mapping: GraphMapping) -> str:
    return f"""UNWIND $level.asked AS s
{found_by_id("s[1]", "s", mapping)}
RETURN s[0], [labels(o), properties(o)]"""


def _search(mapping: GraphMapping) -> str:
    return f"""CALL db.index.fulltext.queryNodes($index, $words) YIELD node, score
WITH node, score WHERE {has_label("node", mapping)}
RETURN {id_of("node", mapping.id)} AS id, score ORDER BY score DESC, id LIMIT $limit"""


def _candidate(
    other: str, energy: float, edge: str, kind: str, weight: float | None, tags: Sequence[str], outgoing: bool
) -> Candidate:
    return Candidate(other, energy, edge, kind, weight, tuple(tags), outgoing)


def _step(id_: str, row: Sequence[Any]) -> Step:
    other, edge, kind, weight, tags, outgoing = row
    src, dst = (id_, other) if outgoing else (other, id_)
    return Step(Edge(edge, src, dst, kind=kind, weight=weight, tags=tuple(tags), type=kind), other, outgoing)


# --- nodes


def _node(id_: str, row: tuple[Sequence[str], Mapping[str, Any]], mapping: GraphMapping) -> Node:
    """Returns a node with name, text and time as the mapping says, and all other properties that are not too long."""
    labels, found = row
    taken = {mapping.name, mapping.text, mapping.time, mapping.id}
    kind = next((label for label in mapping.labels if label in labels), min(labels, default="node"))
    name = found.get(mapping.name) if mapping.name else None
    text = found.get(mapping.text) if mapping.text else None
    return Node(
        id_, kind, None if name is None else _as_text(name), "" if text is None else _as_text(text),
        at=_time(found.get(mapping.time)) if mapping.time else 0,
        props={key: _plain(value) for key, value in sorted(found.items()) if key not in taken and _is_short(value)},
    )  # fmt: skip


def _is_short(value: Any) -> bool:
    return not isinstance(value, list | bytes | bytearray) or len(value) <= LONGEST_PROPERTY


def _plain(value: Any) -> Any:
    """Returns a value of a property as JSON has it."""
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return value if value is None or isinstance(value, bool | int | float | str) else _as_text(value)


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else value.iso_format() if hasattr(value, "iso_format") else str(value)


def _time(value: Any) -> int:
    """Returns a time in UTC milliseconds, 0 for a value that is none."""
    try:
        native = value.to_native() if hasattr(value, "to_native") else value
        if isinstance(native, datetime):
            return since_epoch(native)
        if hasattr(native, "isoformat"):
            return milliseconds(native.isoformat())
        if isinstance(native, bool | float) or native is None:
            return 0
        return int(native) if isinstance(native, int) else milliseconds(str(native))
    except (InputError, ValueError, OverflowError):
        return 0
