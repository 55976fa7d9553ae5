"""Lists of nodes by time, of labels by how many nodes have them, and counts, for one scope."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from cuetrail.model import Stats
from cuetrail.store.neo4j.connection import rows
from cuetrail.store.neo4j.index import vector_spaces
from cuetrail.store.neo4j.read.facts import most_used
from cuetrail.store.neo4j.reader import BY_KIND, HAS_KEY, Reader, search_filter
from cuetrail.store.neo4j.schema import VERSION
from cuetrail.store.read import LabelKind, Labelled, Listed, PageRequest
from cuetrail.store.shared import listing
from cuetrail.text.normalise import storable

_LABELS: dict[LabelKind, str] = {
    "tag": "(t:CueTag)<-[r:CUE_TAGGED]-(:CueNode) WHERE r.own",
    "automatic": "(t:CueTag)<-[r:CUE_TAGGED|CUE_TIMED]-(:CueNode) WHERE NOT r.own",
    "bucket": "(t:CueBucket)<-[:CUE_FILED]-(:CueNode) WHERE true",
}


def page(reader: Reader, query: PageRequest) -> list[Listed]:
    newest, core, used = partial(_newest, reader), partial(_core, reader), partial(most_used, reader)
    return listing.page(query, newest, core, used, reader.nodes_by_key)


def _newest(reader: Reader, query: PageRequest, limit: int) -> Iterator[list[int]]:
    """Yields [time, key] of the next nodes that pass the filters, newest first, at most `limit` of each partition."""
    passing, given = _passing(query)
    # One partition at a time: the index has its nodes in order already.
    cypher = (
        f"MATCH (n:CueNode) WHERE n.part = $part AND n.at IS NOT NULL{passing}"
        " RETURN n.at, n.key ORDER BY n.at DESC, n.key DESC LIMIT $limit"
    )
    for part in reader.parts:
        yield from rows(reader.tx, cypher, part=part, limit=limit, **given)


def _core(reader: Reader, kinds: Sequence[str], limit: int) -> list[int]:
    """Returns the keys of nodes of these kinds in the state core, by salience, then newer, then by id."""
    query = (
        f"MATCH (n:CueNode) {BY_KIND} WHERE n.part IN $parts AND n.kind IN $kinds AND {HAS_KEY}"
        " AND n.state = 'core' AND n.provenance <> 'quarantine'"
        " RETURN n.key ORDER BY n.salience DESC, n.at DESC, n.id LIMIT $limit"
    )
    return [key for (key,) in rows(reader.tx, query, parts=reader.parts, kinds=list(kinds), limit=limit)]


def _passing(query: PageRequest) -> tuple[str, dict[str, Any]]:
    """Returns the filters of a listing as a Cypher condition that begins with AND or is empty, and its parameters."""
    passing, given = search_filter(query.where)
    if query.provenance is not None:
        passing = passing.replace(" AND n.provenance <> 'quarantine'", "") + " AND n.provenance = $provenance"
        given["provenance"] = query.provenance
    if query.after is not None:
        passing += " AND n.at <= $at AND (n.at < $at OR n.key < $key)"
        given |= {"at": query.after.at, "key": query.after.key}
    return passing, given


def labels(reader: Reader, what: LabelKind, prefix: str, limit: int) -> list[Labelled]:
    if not storable(prefix):
        return []
    cypher = (
        f"MATCH {_LABELS[what]} AND t.part IN $parts AND t.name STARTS WITH $prefix"
        " RETURN t.name, count(*) AS nodes ORDER BY nodes DESC, t.name LIMIT $limit"
    )
    found = rows(reader.tx, cypher, parts=reader.parts, prefix=prefix, limit=max(limit, 0))
    return [Labelled(*row) for row in found]


def stats(reader: Reader) -> Stats:
    held = vector_spaces.held(reader.tx)

    def count(pattern: str, what: str = "count(*)") -> int:
        return int(rows(reader.tx, f"MATCH {pattern} RETURN {what}", parts=reader.parts)[0][0])

    def groups(pattern: str, by: str) -> dict[str, int]:
        return dict(sorted(rows(reader.tx, f"MATCH {pattern} RETURN {by}, count(*)", parts=reader.parts)))

    nodes = "(n:CueNode) WHERE n.part IN $parts"
    return Stats(
        nodes=count(nodes),
        edges=count("()-[e:CUE_EDGE]->() WHERE e.part IN $parts"),
        facts=count("(n:CueFact) WHERE n.part IN $parts"),
        notes=count("(n:CueNote) WHERE n.part IN $parts"),
        mentions=count("()-[e:CUE_MENTIONS]->() WHERE e.part IN $parts"),
        vectors=count(f"{nodes} AND n.{vector_spaces.slot(held)} IS NOT NULL") if held else 0,
        tombstones=count("(n:CueTombstone) WHERE n.part IN $parts"),
        kinds=groups(nodes, "n.kind"),
        tags=count(f"{_LABELS['tag']} AND t.part IN $parts", "count(DISTINCT t.name)"),
        automatic_tags=count(f"{_LABELS['automatic']} AND t.part IN $parts", "count(DISTINCT t.name)"),
        buckets=groups("(b:CueBucket)<-[:CUE_FILED]-() WHERE b.part IN $parts", "b.name"),
        embedder=held.model if held else None,
        schema=VERSION,
    )
