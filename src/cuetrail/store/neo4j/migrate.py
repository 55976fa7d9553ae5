"""Migrations of a database to the present schema: missing indexes, and data that earlier versions did not store."""

from __future__ import annotations

from functools import partial

from cuetrail.errors import WrongVersion
from cuetrail.store.neo4j import rows as made
from cuetrail.store.neo4j.connection import Connection, Tx, rows
from cuetrail.store.neo4j.index import vector_spaces
from cuetrail.store.neo4j.schema import (
    BY_VALUE,
    DESCRIBED,
    MIGRATIONS,
    RELATIONSHIPS,
    TEXT_INDEXES,
    TITLES,
    TOPICS,
    VERSION,
    statements,
)
from cuetrail.store.neo4j.write.facts import set_sort_keys
from cuetrail.text.normalise import unique_terms

_RANKED = MIGRATIONS.index(BY_VALUE) + 1
_WORDED = MIGRATIONS.index(RELATIONSHIPS) + 1
_DESCRIBED = MIGRATIONS.index(DESCRIBED) + 1
BARE_MARKED = _DESCRIBED + 1
TITLED = MIGRATIONS.index(TITLES) + 1
OWNED = MIGRATIONS.index(TOPICS) + 2
# Indexes of earlier versions.
_OLD_INDEXES = ("cue_by_edge_lower_type", "cue_text", "cue_text_again")
_MARK_BARE = """MATCH (n:CueNode) WHERE n.text = '' AND n.kind <> 'source' AND NOT n.marks CONTAINS ' xbare'
WITH n LIMIT 5000 SET n.marks = n.marks + ' xbare' RETURN count(n)"""
_MARK_OWN = """MATCH (n:CueNode)-[r:CUE_TAGGED|CUE_TIMED]->(t:CueTag) WHERE r.own IS NULL WITH n, r, t LIMIT 5000
SET r.own = any(i IN range(0, size(n.tags) - 1) WHERE n.tags[i] = t.name AND n.tag_origins[i] = 'user')
RETURN count(r)"""
_UNTITLED = """MATCH (n:CueNode) WHERE n.key > $after AND n.title IS NULL
RETURN n.key, n.name, n.aliases, n.props ORDER BY n.key LIMIT 1000"""
_SET_TITLES = "UNWIND $rows AS row MATCH (n:CueNode {key: row[0]}) SET n += row[1]"
_FORGET_INDEX = "MATCH (m:CueMeta {name: 'log'}) REMOVE m.text"
_STATE = """OPTIONAL MATCH (s:CueSchema {name: 'schema'}) OPTIONAL MATCH (m:CueMeta {name: 'log'})
RETURN coalesce(s.version, 0), coalesce(m.text, $first)"""
_FACTS = "MATCH (f:CueFact) WHERE f.uid > $after RETURN properties(f) ORDER BY f.uid LIMIT 1000"
_SET_RANK = "UNWIND $rows AS row MATCH (f:CueFact {uid: row[0]}) SET f.rank = row[1]"


def migrate(connection: Connection) -> None:
    """Adds missing indexes and data, up to VERSION. Raises WrongVersion if a newer cuetrail wrote the database."""
    version, text = connection.reading(lambda tx: rows(tx, _STATE, first=TEXT_INDEXES[0]))[0]
    if version > VERSION:
        raise WrongVersion(
            f"the memory at {connection.address} has schema {version}, this cuetrail knows up to {VERSION}: upgrade "
            "with `pip install --upgrade cuetrail`"
        )
    # Earlier versions had an index without titles.
    text = text if text in TEXT_INDEXES else TEXT_INDEXES[0]
    there = {name for (name,) in connection.reading(lambda tx: rows(tx, "SHOW INDEXES YIELD name RETURN name"))}
    missing = [made for name, made in statements(text).items() if name not in there]
    if missing:
        # Every statement may run twice: another process may do the same at this moment.
        connection.schema([*missing, "CALL db.awaitIndexes(300)"])
    if there.intersection(_OLD_INDEXES):
        connection.schema([f"DROP INDEX {name} IF EXISTS" for name in _OLD_INDEXES])
    if 0 < version < _RANKED:
        set_all_sort_keys(connection)
    if 0 < version < _WORDED:
        enter_all(connection)
    if 0 < version < _DESCRIBED:
        describe_all(connection)
        held = connection.reading(vector_spaces.held)
        if held is not None:
            vector_spaces.make_index(connection, held)
    if 0 < version < BARE_MARKED:
        mark_bare(connection)
    if 0 < version < TITLED:
        enter_titles(connection)
    if 0 < version < OWNED:
        mark_own(connection)
    if version < VERSION:
        _reached(connection, VERSION)


def mark_bare(connection: Connection) -> None:
    """Adds the mark `xbare` to nodes that have a name but no text, in a database of an earlier version."""
    while connection.writing(lambda tx: rows(tx, _MARK_BARE))[0][0]:
        pass


def mark_own(connection: Connection) -> None:
    """Marks the tags that people gave, in a database that was written before they were listed apart."""
    while connection.writing(lambda tx: rows(tx, _MARK_OWN))[0][0]:
        pass


def enter_titles(connection: Connection) -> None:
    """Stores the search words of titles and headings with every node, in a database of an earlier version."""

    def page(tx: Tx, after: int) -> int | None:
        found = rows(tx, _UNTITLED, after=after)
        fields = [
            [key, made.field_props(name, aliases or (), made.unpack(props))] for key, name, aliases, props in found
        ]
        rows(tx, _SET_TITLES, rows=fields)
        return found[-1][0] if found else None

    connection.writing(lambda tx: rows(tx, _FORGET_INDEX))
    last: int | None = -1
    while last is not None:
        last = connection.writing(partial(page, after=last))


def _reached(connection: Connection, number: int) -> None:
    query = "MERGE (s:CueSchema {name: 'schema'}) SET s.version = $number"
    connection.writing(lambda tx: rows(tx, query, number=number))


def set_all_sort_keys(connection: Connection) -> None:
    """Stores the properties by which facts are read in order, for all facts of a database of an earlier version."""

    def page(tx: Tx, after: str) -> str | None:
        found = [row[0] for row in rows(tx, _FACTS, after=after)]
        rows(tx, _SET_RANK, rows=[[f["uid"], made.rank(made.to_fact(f, "", None))] for f in found])
        set_sort_keys(tx, [f["uid"] for f in found])
        return found[-1]["uid"] if found else None

    last: str | None = ""
    while last is not None:
        last = connection.writing(partial(page, after=last))


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
    """Sets the property `described` of every relationship that has a description; `reembed` makes their vectors."""
    while connection.writing(lambda tx: rows(tx, _DESCRIBE))[0][0]:
        pass


def enter_all(connection: Connection) -> None:
    """Stores the search words of every edge that a caller made, and of every note on an edge."""

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
