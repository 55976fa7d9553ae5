"""Relationships by their words: a stated edge, and a note on an edge, have theirs in `words`, which is indexed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from typing import Any

from cuetrail.model import Edge
from cuetrail.store.neo4j.connection import chunks, rows
from cuetrail.store.neo4j.read import ENDS, Reader
from cuetrail.store.relations import MOST_READ, RelationQuery, best, wanted_words

_EDGES = """UNWIND $words AS word CALL (word) {
  CALL db.index.fulltext.queryRelationships('cue_relations', word) YIELD relationship AS e
  WITH e WHERE e.part = $part RETURN e.uid AS edge ORDER BY e.updated DESC, e.id LIMIT $most
} RETURN word, edge"""
_NOTES = """UNWIND $words AS word CALL (word) {
  CALL db.index.fulltext.queryNodes('cue_relation_notes', word) YIELD node AS o
  WITH o WHERE o.part = $part RETURN o.edge AS edge, o.expires AS expires ORDER BY o.created DESC, o.id LIMIT $most
} WITH word, edge, expires WHERE expires IS NULL OR expires > $now RETURN word, edge"""
_FOUND = f"""UNWIND $uids AS uid MATCH (a:CueNode)-[e:CUE_EDGE {{uid: uid}}]->(b:CueNode)
WHERE e.via IS NULL AND e.part IN $parts AND a.part IN $parts AND b.part IN $parts RETURN properties(e), {ENDS}"""


def related(reader: Reader, query: RelationQuery) -> list[Edge]:
    """The relationships in sight that have most of the words; see `store.relations`."""
    words = wanted_words(query.words)
    sharing: dict[str, set[str]] = defaultdict(set)
    for part in reader.parts if words else ():
        given: dict[str, Any] = {"words": words, "part": part, "most": MOST_READ}
        for word, edge in [*rows(reader.tx, _EDGES, **given), *rows(reader.tx, _NOTES, now=query.now, **given)]:
            sharing[edge].add(word)
    return best(sharing, partial(_edges, reader), query)


def _edges(reader: Reader, uids: Sequence[str]) -> list[Edge]:
    found = [row for some in chunks(uids) for row in rows(reader.tx, _FOUND, uids=some, parts=reader.parts)]
    return reader.made_edges(found)
