"""Maintenance: the memory's epoch, the change log, and traces of forgotten words."""

from __future__ import annotations

import secrets

from cuetrail.store.neo4j.connection import Connection, Tx, rows
from cuetrail.store.neo4j.index.text_index import rebuild
from cuetrail.store.write import Progress

TRACES = "traces"
KEEP_CHANGES, MOST_CHANGES = 10_000, 200_000

_SHORTEN = """MATCH (m:CueMeta {name: 'log'}) WITH m.value AS head
OPTIONAL MATCH (d:CueMark) WHERE d.done > head - $most
WITH head, coalesce(min(d.done), head) AS needed
MATCH (c:CueChange) WHERE c.seq < head - $keep AND c.seq <= needed DELETE c"""


def start_epoch(connection: Connection) -> None:
    """Gives a new memory its epoch, a random name that no other memory has. One that has an epoch keeps it."""
    query = "MERGE (m:CueMeta {name: 'epoch'}) ON CREATE SET m.value = $epoch"
    if not connection.reading(lambda tx: rows(tx, "MATCH (m:CueMeta {name: 'epoch'}) RETURN 1")):
        connection.writing(lambda tx: rows(tx, query, epoch=secrets.token_hex(8)))


def shorten_log(connection: Connection, progress: Progress | None) -> None:
    """Deletes old changes from the log, except those that a dream pass not too far behind still needs.

    This is all that `refresh` does here: the server updates the indexes itself.
    """
    del progress
    connection.writing(lambda tx: rows(tx, _SHORTEN, keep=KEEP_CHANGES, most=MOST_CHANGES))


# --- forgetting


def note_traces(tx: Tx) -> None:
    """Records that the text index may contain words of forgotten texts."""
    rows(tx, "MERGE (m:CueMeta {name: $name}) SET m.value = true", name=TRACES)


def has_traces(connection: Connection) -> bool:
    """True if the text index may contain words of forgotten texts."""
    query = "MATCH (m:CueMeta {name: $name}) RETURN 1"
    return bool(connection.reading(lambda tx: rows(tx, query, name=TRACES)))


def purge(connection: Connection, progress: Progress | None) -> None:
    """Rebuilds the text index, so that no word of a forgotten text is left in it. The old index answers until then."""
    if progress:
        progress("making the text index anew", 0, 0)
    rebuild(connection)
    connection.writing(lambda tx: rows(tx, "MATCH (m:CueMeta {name: $name}) DELETE m", name=TRACES))
