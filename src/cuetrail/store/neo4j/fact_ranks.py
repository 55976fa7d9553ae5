"""Sort keys by which the facts of an entity are read in the order of their certainty.

A fact has its rank, a word that orders facts of one entity, behind the key of that entity: `by_subject` and `by_object`
while it is active, `past_subject` and `past_object` once it has ended. An index on each gives them in order. `topic` is
its subject with its predicate, and `said` that with its value.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from cuetrail.store.neo4j import rows as made
from cuetrail.store.neo4j.connection import chunks, rows
from cuetrail.store.shared.fact_validity import ACTIVE

if TYPE_CHECKING:
    from cuetrail.store.neo4j.connection import Connection, Tx

# The index is named because a plan made while it was empty may be a scan of all facts.
_RANK = """UNWIND $uids AS uid MATCH (f:CueFact {uid: uid})-[:CUE_SUBJECT]->(a) USING INDEX SEEK f:CueFact(uid)
OPTIONAL MATCH (f)-[:CUE_OBJECT]->(b:CueNode) WITH f, toString(a.key) + ':' AS a, toString(b.key) + ':' AS b,
  CASE WHEN f.status IN $active THEN f.rank END AS now, CASE WHEN NOT f.status IN $active THEN f.rank END AS past
SET f.by_subject = a + now, f.by_object = b + now, f.past_subject = a + past, f.past_object = b + past,
  f.topic = a + left(f.predicate, $most),
  f.said = a + left(f.predicate, $most) + ':' + coalesce(b, left(f.value, $most))"""
_PAGE = "MATCH (f:CueFact) WHERE f.uid > $after RETURN properties(f) ORDER BY f.uid LIMIT 1000"
_SET_RANK = "UNWIND $rows AS row MATCH (f:CueFact {uid: row[0]}) SET f.rank = row[1]"
# A predicate, or a value, is cut where it would be too long for an index.
LONGEST_TOPIC = 200
INDEXES = tuple(
    f"CREATE INDEX cue_by_fact_{field} IF NOT EXISTS FOR (n:CueFact) ON (n.{field})"
    for field in ("by_subject", "by_object", "past_subject", "past_object", "topic")
)
BY_VALUE = ("CREATE INDEX cue_by_fact_said IF NOT EXISTS FOR (n:CueFact) ON (n.said)",)


def ranked(tx: Tx, uids: Sequence[str]) -> None:
    """Sets the sort keys by which `beliefs` finds these facts."""
    for some in chunks(uids):
        rows(tx, _RANK, uids=some, active=list(ACTIVE), most=LONGEST_TOPIC)


def rank_all(connection: Connection) -> None:
    """Sets the sort keys of all facts, in a database that was written before they existed."""

    def page(tx: Tx, after: str) -> str | None:
        found = [row[0] for row in rows(tx, _PAGE, after=after)]
        rows(tx, _SET_RANK, rows=[[f["uid"], made.rank(made.to_fact(f, "", None))] for f in found])
        ranked(tx, [f["uid"] for f in found])
        return found[-1]["uid"] if found else None

    last: str | None = ""
    while last is not None:
        last = connection.writing(partial(page, after=last))
