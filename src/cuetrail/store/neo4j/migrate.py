"""Migrations of a database to the present schema: missing indexes, and data that earlier versions did not store."""

from __future__ import annotations

from cuetrail.errors import WrongVersion
from cuetrail.store.neo4j.connection import Connection, rows
from cuetrail.store.neo4j.fact_ranks import BY_VALUE, rank_all
from cuetrail.store.neo4j.index.vector import spaces
from cuetrail.store.neo4j.relationship_words import describe_all, enter_all
from cuetrail.store.neo4j.schema import DESCRIBED, MIGRATIONS, RELATIONSHIPS, TEXT_INDEXES, VERSION, statements

_RANKED = MIGRATIONS.index(BY_VALUE) + 1
_WORDED = MIGRATIONS.index(RELATIONSHIPS) + 1
_DESCRIBED = MIGRATIONS.index(DESCRIBED) + 1
BARE_MARKED = _DESCRIBED + 1
# Indexes of earlier versions.
_OLD_INDEXES = ("cue_by_edge_lower_type",)
_MARK_BARE = """MATCH (n:CueNode) WHERE n.text = '' AND n.kind <> 'source' AND NOT n.marks CONTAINS ' xbare'
WITH n LIMIT 5000 SET n.marks = n.marks + ' xbare' RETURN count(n)"""
_STATE = """OPTIONAL MATCH (s:CueSchema {name: 'schema'}) OPTIONAL MATCH (m:CueMeta {name: 'log'})
RETURN coalesce(s.version, 0), coalesce(m.text, $first)"""


def migrate(connection: Connection) -> None:
    """Migrates the database to VERSION, with all its indexes. Raises WrongVersion if a newer cuetrail wrote it."""
    version, text = connection.reading(lambda tx: rows(tx, _STATE, first=TEXT_INDEXES[0]))[0]
    if version > VERSION:
        raise WrongVersion(
            f"the memory at {connection.address} has schema {version}, this cuetrail knows up to {VERSION}: upgrade "
            "with `pip install --upgrade cuetrail`"
        )
    there = {name for (name,) in connection.reading(lambda tx: rows(tx, "SHOW INDEXES YIELD name RETURN name"))}
    missing = [made for name, made in statements(text).items() if name not in there]
    if missing:
        # Every statement may run twice: another process may do the same at this moment.
        connection.schema([*missing, "CALL db.awaitIndexes(300)"])
    if there.intersection(_OLD_INDEXES):
        connection.schema([f"DROP INDEX {name} IF EXISTS" for name in _OLD_INDEXES])
    if 0 < version < _RANKED:
        rank_all(connection)
    if 0 < version < _WORDED:
        enter_all(connection)
    if 0 < version < _DESCRIBED:
        describe_all(connection)
        held = connection.reading(spaces.held)
        if held is not None:
            spaces.make_index(connection, held)
    if 0 < version < BARE_MARKED:
        mark_bare(connection)
    if version < VERSION:
        _reached(connection, VERSION)


def mark_bare(connection: Connection) -> None:
    """Marks nodes that have a name but no text, in a database that was written before searches told them apart."""
    while connection.writing(lambda tx: rows(tx, _MARK_BARE))[0][0]:
        pass


def _reached(connection: Connection, number: int) -> None:
    query = "MERGE (s:CueSchema {name: 'schema'}) SET s.version = $number"
    connection.writing(lambda tx: rows(tx, query, number=number))
