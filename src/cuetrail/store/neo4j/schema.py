"""What the database looks like, its constraints and indexes, and the ordered list of migrations.

Every label begins with `Cue`, every relationship type with `CUE_`, so a memory can live beside other data.

    (:CueNode)-[:CUE_EDGE]->(:CueNode)         `uid` is unique, `key` a number that is never used twice
    (:CueNode)-[:CUE_MENTIONS]->(:CueNode)
    (:CueNode)-[:CUE_TAGGED|CUE_TIMED]->(:CueTag)      of a place, as buckets and names; timed: by its time alone
    (:CueNode)-[:CUE_FILED]->(:CueBucket)
    (:CueNode)-[:CUE_NAMED]->(:CueName)
    (:CueNode)-[:CUE_LINKS]->(:CueLink)
    (:CueFact)-[:CUE_SUBJECT|CUE_OBJECT]->(:CueNode)
    (:CueNote)-[:CUE_ABOUT]->(:CueNode)        a note on an edge has the edge's uid in `edge`
    (:CueSource) (:CueVersion) (:CueTombstone) (:CueRoot)       what else a place knows
    (:CuePlace) (:CueMeta) (:CueChange) (:CueMark) (:CueLedger) whose it is, settings, the change log, dreaming

`part` is the number of the place a record is of. Writers of one place wait for each other at its `CuePlace`; those of
different places meet only at the end of a transaction, where the change log is numbered.
"""

from __future__ import annotations

from collections.abc import Sequence

from cuetrail.errors import WrongVersion
from cuetrail.store.neo4j.connection import Connection, rows
from cuetrail.store.neo4j.fact_ranks import BY_VALUE, INDEXES, rank_all
from cuetrail.store.neo4j.index.graph.relationship_words import describe_all, enter_all
from cuetrail.store.neo4j.index.vector import spaces

# Only one of the two exists at a time, except while it is rebuilt.
TEXT_INDEXES = ("cue_text", "cue_text_again")
NAME_INDEX = "cue_names"
UNIQUE = (
    ("CueNode", "uid"), ("CueNode", "key"), ("CueFact", "uid"), ("CueNote", "uid"), ("CueLink", "uid"),
    ("CueName", "uid"), ("CueTag", "uid"), ("CueBucket", "uid"), ("CueSource", "uid"), ("CueVersion", "uid"),
    ("CueTombstone", "uid"), ("CueRoot", "uid"), ("CuePlace", "uid"), ("CuePlace", "part"),
    ("CueMeta", "name"), ("CueChange", "seq"),
    ("CueMark", "uid"), ("CueLedger", "uid"),
)  # fmt: skip
INDEXED = (
    ("CueNode", "ref"), ("CueNode", "part, ref"), ("CueNode", "part, file"), ("CueNode", "part, kind, key"),
    ("CueNode", "part, band0"), ("CueNode", "part, band1"), ("CueNode", "part, band2"), ("CueFact", "part"),
    ("CueNote", "part"), ("CueNote", "edge"), ("CueLink", "part, norm"), ("CueName", "part"), ("CueTag", "part"),
    ("CueBucket", "part"), ("CueSource", "part, file"), ("CueVersion", "part, ref"), ("CueTombstone", "part"),
    ("CueRoot", "part"), ("CuePlace", "tenant"), ("CueMark", "part"), ("CueLedger", "part, book, first"),
    ("CueLedger", "part, book, second"),
)  # fmt: skip
EDGE_INDEXED = (("CUE_EDGE", "part"), ("CUE_EDGE", "part, via"), ("CUE_MENTIONS", "part"))
# Texts are analysed before they are stored, by the analyser both engines share; the server only splits at spaces.
SEARCHED = ("body", "labels", "marks", "moment")


def _name(kind: str, label: str, fields: str) -> str:
    return "_".join(("cue", kind, label.lower().removeprefix("cue").strip("_"), *fields.split(", ")))


def text_index(name: str) -> str:
    """Returns the statement that makes the text index of this name."""
    # The server refuses a second index on the same fields, but not on the same fields in another order.
    fields = SEARCHED if name == TEXT_INDEXES[0] else SEARCHED[::-1]
    return (
        f"CREATE FULLTEXT INDEX {name} IF NOT EXISTS FOR (n:CueNode) ON EACH [{', '.join(f'n.{f}' for f in fields)}]"
        " OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace', `fulltext.eventually_consistent`: false}}"
    )


def _first() -> list[str]:
    made = [
        f"CREATE CONSTRAINT {_name('one', label, field)} IF NOT EXISTS FOR (n:{label}) REQUIRE n.{field} IS UNIQUE"
        for label, field in UNIQUE
    ]
    made.append("CREATE CONSTRAINT cue_one_edge_uid IF NOT EXISTS FOR ()-[e:CUE_EDGE]-() REQUIRE e.uid IS UNIQUE")
    for label, fields in INDEXED:
        columns = ", ".join(f"n.{field}" for field in fields.split(", "))
        made.append(f"CREATE INDEX {_name('by', label, fields)} IF NOT EXISTS FOR (n:{label}) ON ({columns})")
    for kind, fields in EDGE_INDEXED:
        columns = ", ".join(f"e.{field}" for field in fields.split(", "))
        made.append(f"CREATE INDEX {_name('by', kind, fields)} IF NOT EXISTS FOR ()-[e:{kind}]-() ON ({columns})")
    made.append(text_index(TEXT_INDEXES[0]))
    return made


# Names are found by some of their words, ignoring case and accents.
_FOLDING = "{indexConfig: {`fulltext.analyzer`: 'standard-folding', `fulltext.eventually_consistent`: false}}"
FACTS = (
    "CREATE INDEX cue_by_fact_part_source_ref IF NOT EXISTS FOR (n:CueFact) ON (n.part, n.source_ref)",
    f"CREATE FULLTEXT INDEX {NAME_INDEX} IF NOT EXISTS FOR (n:CueName) ON EACH [n.norm] OPTIONS {_FOLDING}",
)

# The words of stated edges and of notes on edges, as stored; the server only splits at spaces.
_AS_STORED = "{indexConfig: {`fulltext.analyzer`: 'whitespace', `fulltext.eventually_consistent`: false}}"
RELATIONSHIPS = (
    f"CREATE FULLTEXT INDEX cue_relations IF NOT EXISTS FOR ()-[e:CUE_EDGE]-() ON EACH [e.words] OPTIONS {_AS_STORED}",
    f"CREATE FULLTEXT INDEX cue_relation_notes IF NOT EXISTS FOR (n:CueNote) ON EACH [n.words] OPTIONS {_AS_STORED}",
)

TIME = ("CREATE INDEX cue_by_node_part_at_key IF NOT EXISTS FOR (n:CueNode) ON (n.part, n.at, n.key)",)

AHEAD = ("CREATE INDEX cue_by_fact_valid_from IF NOT EXISTS FOR (n:CueFact) ON (n.valid_from)",)
USES = ("CREATE CONSTRAINT cue_uses_part IF NOT EXISTS FOR (u:CueUses) REQUIRE u.part IS UNIQUE",)

# `described` is the partition of a stated edge that has a description; other edges lack it. These edges have vectors.
DESCRIBED = ("CREATE INDEX cue_by_edge_described IF NOT EXISTS FOR ()-[e:CUE_EDGE]-() ON (e.described)",)

MIGRATIONS: tuple[Sequence[str], ...] = (
    _first(), FACTS, (), TIME, AHEAD, INDEXES, RELATIONSHIPS, USES, DESCRIBED, (), BY_VALUE,
)  # fmt: skip
VERSION = len(MIGRATIONS)
_RANKED = MIGRATIONS.index(BY_VALUE) + 1
_WORDED = MIGRATIONS.index(RELATIONSHIPS) + 1
_DESCRIBED = MIGRATIONS.index(DESCRIBED) + 1
BARE_MARKED = _DESCRIBED + 1
# Indexes of earlier versions.
_OLD_INDEXES = ("cue_by_edge_lower_type",)


def statements(text: str = TEXT_INDEXES[0]) -> dict[str, str]:
    """Returns the statement that makes each constraint and index, by name; `text` is the name of the text index."""
    every = [one for part in MIGRATIONS for one in part if one != text_index(TEXT_INDEXES[0])]
    return {one.partition(" IF NOT EXISTS")[0].rpartition(" ")[2]: one for one in [*every, text_index(text)]}


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
