"""Fills in search words and description marks of relationships in a database written before these existed."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from cuetrail.store.neo4j.connection import Connection, rows
from cuetrail.text.normalise import unique_terms

if TYPE_CHECKING:
    from cuetrail.store.neo4j.connection import Tx

_SILENT_EDGES = """MATCH ()-[e:CUE_EDGE]->() WHERE e.via IS NULL AND e.words IS NULL AND e.uid > $after
RETURN e.uid, e.type, e.text ORDER BY e.uid LIMIT 1000"""
_SILENT_NOTES = """MATCH (o:CueNote) WHERE o.on = 'edge' AND o.words IS NULL AND o.uid > $after
RETURN o.uid, o.text ORDER BY o.uid LIMIT 1000"""
_SET_EDGES = """UNWIND $rows AS row MATCH ()-[e:CUE_EDGE {uid: row[0]}]->() USING INDEX SEEK e:CUE_EDGE(uid)
SET e.words = row[1]"""
_SET_NOTES = "UNWIND $rows AS row MATCH (o:CueNote {uid: row[0]}) SET o.words = row[1]"
_DESCRIBE = """MATCH ()-[e:CUE_EDGE]->() WHERE e.via IS NULL AND e.text <> '' AND e.described IS NULL
WITH e LIMIT 1000 SET e.described = e.part RETURN count(e)"""


def describe_all(connection: Connection) -> None:
    """Marks every relationship that has a description; `reembed` then makes its vector."""
    while connection.writing(lambda tx: rows(tx, _DESCRIBE))[0][0]:
        pass


def enter_all(connection: Connection) -> None:
    """Fills in the search words of every stated edge and every note on an edge."""

    def edges(tx: Tx, after: str) -> str | None:
        found = rows(tx, _SILENT_EDGES, after=after)
        rows(tx, _SET_EDGES, rows=[[uid, " ".join(unique_terms(kind or "", text))] for uid, kind, text in found])
        return found[-1][0] if found else None

    def notes(tx: Tx, after: str) -> str | None:
        found = rows(tx, _SILENT_NOTES, after=after)
        rows(tx, _SET_NOTES, rows=[[uid, " ".join(unique_terms(text))] for uid, text in found])
        return found[-1][0] if found else None

    for page in (edges, notes):
        last: str | None = ""
        while last is not None:
            last = connection.writing(partial(page, after=last))
