"""Search for relationships by words, in the indexed property `words` of stated edges and of notes on edges, or by
vectors.

The nearest vectors are found as those of nodes: one by one if they are few, by the server's index if they are many.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from cuetrail.model import Edge
from cuetrail.store.neo4j import rows as made
from cuetrail.store.neo4j.connection import Row, chunks, rows
from cuetrail.store.neo4j.index import vector_spaces
from cuetrail.store.neo4j.index.vector_search import FEW, widen_until_enough
from cuetrail.store.neo4j.reader import ENDS, Reader, edge_filter, node_filter
from cuetrail.store.search import RelationQuery
from cuetrail.store.shared.relationship_ranking import MOST_READ, best, nearest
from cuetrail.store.vector_space import NO_VECTORS, VectorSpace, mismatch
from cuetrail.text.normalise import unique_terms

_EDGES = """UNWIND $words AS word CALL (word) {
  CALL db.index.fulltext.queryRelationships('cue_relations', word) YIELD relationship AS e
  WITH e WHERE e.part = $part RETURN e.uid AS edge ORDER BY e.updated DESC, e.id LIMIT $most
} RETURN word, edge"""
_NOTES = """UNWIND $words AS word CALL (word) {
  CALL db.index.fulltext.queryNodes('cue_relation_notes', word) YIELD node AS o
  WITH o WHERE o.part = $part RETURN o.edge AS edge, o.expires AS expires ORDER BY o.created DESC, o.id LIMIT $most
} WITH word, edge, expires WHERE expires IS NULL OR expires > $now RETURN word, edge"""
_ENDS = "all(n IN [a, b] WHERE n.part IN $parts{ends})"
_STATED = "e.via IS NULL AND e.part IN $parts"
_FOUND = f"""UNWIND $uids AS uid MATCH (a)-[e:CUE_EDGE {{uid: uid}}]->(b) USING INDEX SEEK e:CUE_EDGE(uid)
WHERE {_STATED} AND {_ENDS}{{ties}} RETURN {made.EDGE_MAP}, {ENDS}"""
# The nearest descriptions of edges, and notes on them: by comparing all, or by the server's index. Notes are matched
# before their edges: planned together, the server may find no plan that uses the named index, and refuse.
_DESCRIBED = f"""MATCH (a)-[e:CUE_EDGE]->(b)
WHERE e.described IN $parts AND e.{{slot}} IS NOT NULL AND {_ENDS}{{ties}}
WITH e, vector.similarity.cosine(e.{{slot}}, $query) AS score ORDER BY score DESC, e.updated DESC, e.id LIMIT $limit
RETURN e.uid, score"""
_NOTED = f"""MATCH (o:CueNote) WHERE o.part IN $parts AND o.edge IS NOT NULL AND o.{{slot}} IS NOT NULL
AND (o.expires IS NULL OR o.expires > $now)
WITH o, o.edge AS edge MATCH (a)-[e:CUE_EDGE {{uid: edge}}]->(b) USING INDEX SEEK e:CUE_EDGE(uid)
WHERE {_STATED} AND {_ENDS}{{ties}}
WITH e, max(vector.similarity.cosine(o.{{slot}}, $query)) AS score
ORDER BY score DESC, e.updated DESC, e.id LIMIT $limit RETURN e.uid, score"""
_DESCRIBED_BY_INDEX = f"""CALL db.index.vector.queryRelationships('cue_edges_{{slot}}', $wanted, $query)
YIELD relationship AS e WITH e, startNode(e) AS a, endNode(e) AS b,
  vector.similarity.cosine(e.{{slot}}, $query) AS score ORDER BY score DESC
RETURN e.uid, score, {_STATED} AND {_ENDS}{{ties}}"""
_NOTED_BY_INDEX = f"""CALL db.index.vector.queryNodes('cue_notes_{{slot}}', $wanted, $query) YIELD node AS o
WITH o, vector.similarity.cosine(o.{{slot}}, $query) AS score
MATCH (a)-[e:CUE_EDGE {{uid: o.edge}}]->(b) USING INDEX SEEK e:CUE_EDGE(uid) WITH o, e, a, b, score ORDER BY score DESC
RETURN e.uid, score, o.part IN $parts AND (o.expires IS NULL OR o.expires > $now) AND {_STATED} AND {_ENDS}{{ties}}"""
_COUNT_DESCRIBED = "MATCH ()-[e:CUE_EDGE]->() WHERE e.described IN $parts WITH e LIMIT $most RETURN count(e)"
_COUNT_NOTED = """MATCH (o:CueNote) WHERE o.part IN $parts AND o.edge IS NOT NULL
WITH o LIMIT $most RETURN count(o)"""
_BY_MEANING = ((_COUNT_DESCRIBED, _DESCRIBED, _DESCRIBED_BY_INDEX), (_COUNT_NOTED, _NOTED, _NOTED_BY_INDEX))


def relationships(reader: Reader, query: RelationQuery) -> list[Edge]:
    found = _by_words(reader, query)
    for vector in query.vectors:
        found += _by_vector(reader, vector, query)
    return found


def _by_words(reader: Reader, query: RelationQuery) -> list[Edge]:
    words = unique_terms(" ".join(query.words))
    sharing: dict[str, set[str]] = defaultdict(set)
    for part in reader.parts if words else ():
        given: dict[str, Any] = {"words": words, "part": part, "most": MOST_READ}
        for word, edge in [*rows(reader.tx, _EDGES, **given), *rows(reader.tx, _NOTES, now=query.now, **given)]:
            sharing[edge].add(word)
    return best(sharing, partial(_passing, reader, query), query.limit)


def _by_vector(reader: Reader, near_to: bytes, query: RelationQuery) -> list[Edge]:
    held = vector_spaces.held(reader.tx)
    if held is None or held == NO_VECTORS:
        return []
    if query.space not in (None, held):
        raise mismatch(held, str(query.space))
    vector = vector_spaces.floats(near_to)
    if query.limit <= 0 or not reader.parts or not any(vector):
        return []
    scores: dict[str, float] = {}
    for queries in _BY_MEANING:
        for uid, score in _near(reader, queries, query, held, vector):
            scores[uid] = max(score, scores.get(uid, 0.0))
    edges = _passing(reader, query, list(scores))
    return [edges[key] for key in nearest(edges, scores, query.limit)]


def _near(
    reader: Reader, queries: Sequence[str], query: RelationQuery, held: VectorSpace, vector: list[float]
) -> list[Row]:
    """Returns (uid, score) of the nearest edges, by their descriptions or by the notes on them. `queries` are for one
    of these two: to count them, to compare all, and to ask the index.
    """
    count, all_of_them, by_index = queries
    ends, ties, given = _filters(query)
    given |= {"parts": reader.parts, "query": vector, "now": query.now}
    parts: dict[str, str] = {"slot": vector_spaces.slot(held), "ends": ends, "ties": ties}
    many = (
        rows(reader.tx, count, parts=reader.parts, most=FEW + 1)[0][0] > FEW and held.dim <= vector_spaces.MOST_INDEXED
    )
    found = (
        widen_until_enough(partial(rows, reader.tx, _filled(by_index, parts), **given), query.limit) if many else None
    )
    if found is None:
        # A limit may exceed the server's largest integer.
        found = rows(reader.tx, _filled(all_of_them, parts), limit=min(query.limit, 2**31), **given)
    return found


def _filters(query: RelationQuery) -> tuple[str, str, dict[str, Any]]:
    """Returns Cypher conditions on both nodes of an edge and on the edge, and their parameters."""
    ends, given = node_filter(query.where)
    ties, bounds = edge_filter(query.ties)
    return ends, ties, given | bounds


def _filled(cypher: str, parts: Mapping[str, str]) -> str:
    """Returns the query with the placeholders `{name}` replaced; `str.format` would replace Cypher's own braces."""
    for name, value in parts.items():
        cypher = cypher.replace(f"{{{name}}}", value)
    return cypher


def _passing(reader: Reader, query: RelationQuery, uids: Sequence[str]) -> dict[str, Edge]:
    """Returns the edges with these uids that are visible relationships and pass all filters, by uid."""
    ends, ties, given = _filters(query)
    cypher = _filled(_FOUND, {"ends": ends, "ties": ties})
    found = [row for some in chunks(uids) for row in rows(reader.tx, cypher, uids=some, parts=reader.parts, **given)]
    return dict(zip((row[0]["uid"] for row in found), reader.made_edges(found), strict=True))
