"""Which facts of an entity hold, read in the order of their certainty: of an entity with many no more than are wanted.

`ranks` has the words they are ordered by.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from cuetrail.model import Direction, Fact
from cuetrail.store.neo4j import rows as made
from cuetrail.store.neo4j.connection import chunks, rows
from cuetrail.store.neo4j.ids import Found
from cuetrail.store.neo4j.read.reader import ENDS, Reader

SIDES = {"out": ("subject",), "in": ("object",), "both": ("subject", "object")}
# Hidden ends are passed over before the limit: what is hidden takes nobody's place.
_SEEN = """f.part IN $parts AND coalesce(f.valid_from, f.created) <= $at
    AND EXISTS { MATCH (f)-[:CUE_SUBJECT]->(s) WHERE s.part IN $parts }
    AND NOT EXISTS { MATCH (f)-[:CUE_OBJECT]->(o) WHERE NOT o.part IN $parts }"""
# An OR would be planned as two reads and a sort. The index is named because a plan made while it was empty would stay a
# scan of all.
_ACTIVE = f"""MATCH (f:CueFact) USING INDEX SEEK f:CueFact(by_SIDE) WHERE f.by_SIDE STARTS WITH toString(key) + ':'
    AND coalesce(f.valid_until, $at + 1) > $at AND {_SEEN}
  RETURN f ORDER BY f.by_SIDE LIMIT $limit"""
# Behind the colon stands when it ended, as a word; the semicolon follows the colon.
_PAST = f"""MATCH (f:CueFact) USING INDEX SEEK f:CueFact(past_SIDE)
  WHERE f.past_SIDE > toString(key) + ':' + $moment AND f.past_SIDE < toString(key) + ';' AND {_SEEN}
  RETURN f ORDER BY f.confidence DESC, f.created DESC, f.id LIMIT $limit"""


def query(direction: Direction) -> str:
    """The facts of each of several entities that hold at a time, those of each side of a fact apart."""
    ways = [way.replace("SIDE", side) for side in SIDES[direction] for way in (_ACTIVE, _PAST)]
    union = "\n  UNION\n  ".join(ways)
    return f"""UNWIND $keys AS key CALL (key) {{
  {union}
}}
MATCH (f)-[:CUE_SUBJECT]->(a:CueNode) OPTIONAL MATCH (f)-[:CUE_OBJECT]->(b:CueNode)
RETURN key, properties(f), {ENDS}"""


def to_facts(reader: Reader, found: Sequence[list[Any]]) -> list[Fact]:
    """Rows of (properties, ENDS) as facts, under the ids they and their ends have in this scope."""
    names = reader.ends(found)
    own = reader.ids.names((Found(f["uid"], f["id"], f["part"]) for f, *_ in found), "fact")
    return [
        replace(made.to_fact(f, names[a], None if b is None else names[b]), id=own[f["uid"]])
        for f, a, _, _, b, _, _ in found
    ]


def beliefs(reader: Reader, ids: Sequence[str], at: int, limit: int, direction: Direction) -> dict[str, list[Fact]]:
    """The facts of each node that hold at a time: the `limit` most certain, then newer, then by id. No more is read."""
    keys = reader.ids.keys(ids)
    most = min(max(limit, 0), 2**31)
    given = {"parts": reader.parts, "at": at, "limit": most, "moment": made.moment(at)}
    asked = query(direction)
    found = [row for some in chunks(list(keys.values())) for row in rows(reader.tx, asked, keys=some, **given)]
    by_key: dict[int, list[tuple[Fact, str]]] = {}
    for (key, fact, *_), one in zip(found, to_facts(reader, [row[1:] for row in found]), strict=True):
        by_key.setdefault(key, []).append((one, fact["id"]))
    order = {
        key: [f for f, _ in sorted(some, key=lambda pair: (-pair[0].confidence, -pair[0].created, pair[1]))][:most]
        for key, some in by_key.items()
    }
    return {id_: order[key] for id_, key in keys.items() if key in order}
