"""The layout of the database: labels, relationship types, constraints and indexes, in the order they were added.

Every label begins with `Cue`, every relationship type with `CUE_`, so a memory can live beside other data.

    (:CueNode)-[:CUE_EDGE]->(:CueNode)         `uid` is unique, `key` a number that is never reused
    (:CueNode)-[:CUE_MENTIONS]->(:CueNode)
    (:CueNode)-[:CUE_TAGGED|CUE_TIMED]->(:CueTag)      per partition; timed: temporal tags; `own`: people gave it
    (:CueNode)-[:CUE_FILED]->(:CueBucket)
    (:CueNode)-[:CUE_NAMED]->(:CueName)       per partition
    (:CueNode)-[:CUE_KNOWN]->(:CueTopic)       titles of texts, and names of what they are about
    (:CueNode)-[:CUE_LINKS]->(:CueLink)
    (:CueFact)-[:CUE_SUBJECT|CUE_OBJECT]->(:CueNode)
    (:CueNote)-[:CUE_ABOUT]->(:CueNode)        a note on an edge has the edge's uid in `edge`
    (:CueSource) (:CueVersion) (:CueTombstone) (:CueRoot)       other records of a partition
    (:CuePlace) (:CueMeta) (:CueChange) (:CueMark) (:CueLedger) partitions, settings, the change log, dreams

`part` is the number of a record's partition. Writers of one partition wait for each other at its `CuePlace`; writers of
different partitions meet only at the end of a transaction, where changes get their numbers.
"""

from __future__ import annotations

from collections.abc import Sequence

# Only one of the two exists at a time, except while it is rebuilt.
TEXT_INDEXES = ("cue_fields", "cue_fields_again")
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
SEARCHED = ("body", "title", "heading", "labels", "marks", "moment")


def _name(kind: str, label: str, fields: str) -> str:
    return "_".join(("cue", kind, label.lower().removeprefix("cue").strip("_"), *fields.split(", ")))


def text_index(name: str) -> str:
    """Returns the statement that creates the text index of this name."""
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

# The sort keys of a fact. Its rank is a text that orders the facts of one entity, most certain first. It stands behind
# the key of the entity: in `by_subject` and `by_object` while the fact is active, in `past_subject` and `past_object`
# once it has ended. `topic` is the subject with the predicate, and `said` that with the value.
SORT_KEYS = tuple(
    f"CREATE INDEX cue_by_fact_{field} IF NOT EXISTS FOR (n:CueFact) ON (n.{field})"
    for field in ("by_subject", "by_object", "past_subject", "past_object", "topic")
)
BY_VALUE = ("CREATE INDEX cue_by_fact_said IF NOT EXISTS FOR (n:CueFact) ON (n.said)",)

POSITIONS = ("CREATE INDEX cue_by_node_part_file_seq IF NOT EXISTS FOR (n:CueNode) ON (n.part, n.file, n.seq)",)
# Nodes have the words of their titles and headings, and the text index has them as fields.
TITLES = (text_index(TEXT_INDEXES[0]),)
TOPICS = (
    "CREATE CONSTRAINT cue_one_topic_uid IF NOT EXISTS FOR (n:CueTopic) REQUIRE n.uid IS UNIQUE",
    "CREATE INDEX cue_by_topic_part IF NOT EXISTS FOR (n:CueTopic) ON (n.part)",
)

MIGRATIONS: tuple[Sequence[str], ...] = (
    _first(), FACTS, (), TIME, AHEAD, SORT_KEYS, RELATIONSHIPS, USES, DESCRIBED, (), BY_VALUE, POSITIONS, TITLES,
    TOPICS, (),
)  # fmt: skip
VERSION = len(MIGRATIONS)


def statements(text: str = TEXT_INDEXES[0]) -> dict[str, str]:
    """Returns the statements that create all constraints and indexes, by name. `text` is the name of the text index."""
    every = [one for part in MIGRATIONS for one in part if one != text_index(TEXT_INDEXES[0])]
    return {one.partition(" IF NOT EXISTS")[0].rpartition(" ")[2]: one for one in [*every, text_index(text)]}
