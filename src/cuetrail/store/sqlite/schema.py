"""The tables of `memory.db` and the ordered list of migrations. Each migration runs in its own transaction.

Rows refer to nodes and edges by integer key; callers see ids. `part` is the number of a row's partition: one row of
`parts` per (tenant, owner, team). Keys come from a counter in `meta` and are never reused.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from cuetrail.errors import WrongVersion
from cuetrail.store.sqlite.rows import (
    given_names,
    label_names,
    own_label_names,
    row_sum,
    summed,
    unpack_labels,
    vector_sum,
)
from cuetrail.text.normalise import ABOUT, KNOWN_AS, topics_of, unique_terms, words_in_names

WordRow = tuple[int, str, int, int]
"""A row of `relation_words`: partition, word, time with a minus, and key of the edge or note."""

EDGE_WORDS = "SELECT key, part, type, text, updated FROM edges WHERE via IS NULL"
NOTE_WORDS = "SELECT key, part, text, created FROM notes WHERE target_on = 'edge'"


def edge_word_rows(found: Iterable[tuple[int, int, str | None, str, int]]) -> Iterator[WordRow]:
    """Yields the rows of `relation_words` for edges, given as rows of the query EDGE_WORDS."""
    for key, part, type_, text, updated in found:
        yield from ((part, word, -updated, key) for word in unique_terms(type_ or "", text))


def note_word_rows(found: Iterable[tuple[int, int, str, int]]) -> Iterator[WordRow]:
    """Yields the rows of `relation_words` for notes on edges, given as rows of the query NOTE_WORDS."""
    for key, part, text, created in found:
        yield from ((part, word, -created, key) for word in unique_terms(text))


def true_relation_words(db: sqlite3.Connection) -> Iterator[WordRow]:
    """Yields all rows that `relation_words` should have, computed from edges and notes."""
    yield from edge_word_rows(db.execute(EDGE_WORDS))
    yield from note_word_rows(db.execute(NOTE_WORDS))


FIRST = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE parts (
  part INTEGER PRIMARY KEY, tenant TEXT NOT NULL, owner TEXT NOT NULL, team TEXT NOT NULL DEFAULT '',
  UNIQUE (tenant, owner, team));
CREATE TABLE sources (
  source INTEGER PRIMARY KEY, part INTEGER NOT NULL, path TEXT NOT NULL,
  size INTEGER, mtime_ns INTEGER, hash TEXT, ingested INTEGER,
  UNIQUE (part, path));

-- labels holds a node's tags and buckets as JSON, for reading. node_labels is their inverted form, for finding.
CREATE TABLE nodes (
  key INTEGER PRIMARY KEY, part INTEGER NOT NULL, id TEXT NOT NULL, kind TEXT NOT NULL, name TEXT, text TEXT NOT NULL,
  check_sum INTEGER NOT NULL, aliases TEXT, labels TEXT, source INTEGER, seq INTEGER NOT NULL, at INTEGER NOT NULL,
  provenance TEXT NOT NULL, simhash INTEGER, props TEXT, created INTEGER NOT NULL, updated INTEGER NOT NULL,
  valid_from INTEGER, valid_until INTEGER);
CREATE UNIQUE INDEX nodes_by_id ON nodes (id, part);
CREATE INDEX nodes_by_source ON nodes (source, seq) WHERE source IS NOT NULL;
-- Two hashes that differ in at most two of 64 bits agree in one of these three bands.
CREATE INDEX nodes_by_band0 ON nodes (simhash & 2097151) WHERE simhash IS NOT NULL;
CREATE INDEX nodes_by_band1 ON nodes ((simhash >> 21) & 2097151) WHERE simhash IS NOT NULL;
CREATE INDEX nodes_by_band2 ON nodes ((simhash >> 42) & 4194303) WHERE simhash IS NOT NULL;
-- The usage records of nodes. A node with the values of a new one has no row.
CREATE TABLE life (
  key INTEGER PRIMARY KEY, salience REAL NOT NULL, state TEXT NOT NULL, confidence REAL NOT NULL,
  accesses INTEGER NOT NULL, last_access INTEGER, last_decay INTEGER, interval INTEGER,
  gradient REAL NOT NULL, retention TEXT NOT NULL);
CREATE TABLE labels (label INTEGER PRIMARY KEY, what TEXT NOT NULL, name TEXT NOT NULL, UNIQUE (what, name));
CREATE TABLE node_labels (label INTEGER NOT NULL, key INTEGER NOT NULL, PRIMARY KEY (label, key)) WITHOUT ROWID;
CREATE TABLE names (norm TEXT NOT NULL, key INTEGER NOT NULL, PRIMARY KEY (norm, key)) WITHOUT ROWID;

CREATE TABLE edges (
  key INTEGER PRIMARY KEY, part INTEGER NOT NULL, id TEXT NOT NULL, src INTEGER NOT NULL, dst INTEGER NOT NULL,
  kind TEXT NOT NULL, weight REAL, tags TEXT, text TEXT NOT NULL, type TEXT, attitude INTEGER, proximity INTEGER,
  confidence REAL NOT NULL, via TEXT, props TEXT, created INTEGER NOT NULL, updated INTEGER NOT NULL,
  valid_from INTEGER, valid_until INTEGER);
CREATE UNIQUE INDEX edges_by_id ON edges (id, part);
CREATE INDEX edges_by_via ON edges (via, part) WHERE via IS NOT NULL;
-- Both ends of every edge, the strongest first, so an expansion reads no more than it needs. A self-loop has one row.
CREATE TABLE adjacency (
  node INTEGER NOT NULL, rank REAL NOT NULL, other_id TEXT NOT NULL, edge INTEGER NOT NULL, other INTEGER NOT NULL,
  outgoing INTEGER NOT NULL, part INTEGER NOT NULL, PRIMARY KEY (node, rank, other_id, edge)) WITHOUT ROWID;
CREATE TABLE adjacency_tags (
  label INTEGER NOT NULL, node INTEGER NOT NULL, rank REAL NOT NULL, other_id TEXT NOT NULL, edge INTEGER NOT NULL,
  PRIMARY KEY (label, node, rank, other_id, edge)) WITHOUT ROWID;
CREATE TABLE degrees (node INTEGER NOT NULL, part INTEGER NOT NULL, degree INTEGER NOT NULL, PRIMARY KEY (node, part))
  WITHOUT ROWID;

CREATE TABLE facts (
  key INTEGER PRIMARY KEY, part INTEGER NOT NULL, id TEXT NOT NULL, subject INTEGER NOT NULL, predicate TEXT NOT NULL,
  object INTEGER, value TEXT, confidence REAL NOT NULL, status TEXT NOT NULL, source TEXT NOT NULL, source_ref TEXT,
  provenance TEXT NOT NULL, tags TEXT, access_count INTEGER NOT NULL, last_accessed INTEGER, created INTEGER NOT NULL,
  valid_from INTEGER, valid_until INTEGER, superseded_by TEXT,
  CHECK ((object IS NULL) <> (value IS NULL)));
CREATE UNIQUE INDEX facts_by_id ON facts (id, part);
CREATE INDEX facts_by_subject ON facts (subject, predicate);
CREATE INDEX facts_by_object ON facts (object) WHERE object IS NOT NULL;
CREATE TABLE notes (
  key INTEGER PRIMARY KEY, part INTEGER NOT NULL, id TEXT NOT NULL, target_on TEXT NOT NULL, target INTEGER NOT NULL,
  text TEXT NOT NULL, created INTEGER NOT NULL, expires INTEGER);
CREATE UNIQUE INDEX notes_by_id ON notes (id, part);
CREATE INDEX notes_by_target ON notes (target_on, target, created);
CREATE TABLE mentions (
  source INTEGER NOT NULL, node INTEGER NOT NULL, part INTEGER NOT NULL, at INTEGER NOT NULL,
  PRIMARY KEY (source, node, part)) WITHOUT ROWID;
CREATE INDEX mentions_by_node ON mentions (node, at);
CREATE TABLE links (
  src INTEGER NOT NULL, norm TEXT NOT NULL, kind TEXT NOT NULL, display TEXT NOT NULL, part INTEGER NOT NULL,
  PRIMARY KEY (src, norm, kind)) WITHOUT ROWID;
CREATE INDEX links_by_norm ON links (norm, part);

CREATE TABLE vectors (key INTEGER PRIMARY KEY, vector BLOB NOT NULL);
CREATE TABLE edge_vectors (key INTEGER PRIMARY KEY, vector BLOB NOT NULL);
CREATE TABLE tombstones (part INTEGER NOT NULL, hash TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (part, hash))
  WITHOUT ROWID;
CREATE TABLE history (
  part INTEGER NOT NULL, id TEXT NOT NULL, at INTEGER NOT NULL, name TEXT, text TEXT NOT NULL,
  PRIMARY KEY (part, id, at)) WITHOUT ROWID;
CREATE TABLE roots (part INTEGER NOT NULL, name TEXT NOT NULL, path TEXT NOT NULL, PRIMARY KEY (part, name))
  WITHOUT ROWID;
-- One row per run of consecutive keys that a transaction changed. Indexes catch up from here. The random mark tells
-- two histories with the same numbers apart, as when an older copy of the file was put back and written to.
CREATE TABLE changes (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, low INTEGER NOT NULL, high INTEGER NOT NULL,
  mark INTEGER NOT NULL DEFAULT (random()));
"""


def _run(db: sqlite3.Connection, script: str) -> None:
    for statement in script.split(";"):
        if statement.strip():
            db.execute(statement)


def _first(db: sqlite3.Connection) -> None:
    _run(db, FIRST)


def _change_over(db: sqlite3.Connection) -> None:
    """Adds a table for the vectors of the next model, and marks changes of vectors alone in the change log."""
    db.execute("CREATE TABLE next_vectors (key INTEGER PRIMARY KEY, vector BLOB NOT NULL)")
    db.execute("ALTER TABLE changes ADD COLUMN vectors_only INTEGER NOT NULL DEFAULT 0")


DREAMS = """
-- The progress of each dream pass in each partition, as `store.dream.Mark` has it.
CREATE TABLE dreams (
  part INTEGER NOT NULL, pass TEXT NOT NULL, version TEXT NOT NULL, done INTEGER NOT NULL, done_mark INTEGER NOT NULL,
  upto INTEGER NOT NULL, upto_mark INTEGER NOT NULL, after INTEGER NOT NULL, PRIMARY KEY (part, pass)) WITHOUT ROWID;
-- The ledger: what each pass records of its own work. It has only numbers, so no forgotten text is left in it.
CREATE TABLE ledger (
  part INTEGER NOT NULL, book INTEGER NOT NULL, first INTEGER NOT NULL, second INTEGER NOT NULL,
  third INTEGER NOT NULL, fourth INTEGER NOT NULL, PRIMARY KEY (part, book, first, second)) WITHOUT ROWID;
CREATE INDEX ledger_by_second ON ledger (part, book, second, first);
-- How many nodes have each tag from people, files or rules. Temporal tags and those that dreams spread do not count.
CREATE TABLE given_tags (part INTEGER NOT NULL, name TEXT NOT NULL, nodes INTEGER NOT NULL, PRIMARY KEY (part, name))
  WITHOUT ROWID;
-- A change of labels alone leaves vectors as they are. `dreamt` names the pass that made a change.
ALTER TABLE changes ADD COLUMN labels_only INTEGER NOT NULL DEFAULT 0;
ALTER TABLE changes ADD COLUMN dreamt TEXT;
"""


def _dreams(db: sqlite3.Connection) -> None:
    """Adds the tables of dreams, and counts the tags that people, files or rules gave."""
    _run(db, DREAMS)
    db.executemany("INSERT INTO given_tags VALUES (?, ?, ?)", list(true_given(db)))


def true_given(db: sqlite3.Connection) -> Iterator[tuple[int, str, int]]:
    """Yields all rows that `given_tags` should have, as (partition, tag, number of nodes), computed from the nodes."""
    counts = Counter[tuple[int, str]]()
    for part, labels, provenance in db.execute("SELECT part, labels, provenance FROM nodes WHERE labels IS NOT NULL"):
        counts.update((part, name) for name in given_names(unpack_labels(labels)[0], provenance))
    return ((*place, nodes) for place, nodes in sorted(counts.items()))


ENERGY = """
-- Quarantined and archived nodes, which searches and walks leave out, are few and are found without reading the nodes.
CREATE INDEX IF NOT EXISTS nodes_in_quarantine ON nodes (key) WHERE provenance = 'quarantine';
CREATE INDEX IF NOT EXISTS life_archived ON life (key) WHERE state = 'archived';
-- The number of an edge's tags (`size`) limits how similar they can be to those of a query, so edges of each size are
-- read by weight.
ALTER TABLE adjacency_tags RENAME TO unsized_tags;
CREATE TABLE adjacency_tags (
  label INTEGER NOT NULL, node INTEGER NOT NULL, size INTEGER NOT NULL, rank REAL NOT NULL, other_id TEXT NOT NULL,
  edge INTEGER NOT NULL, PRIMARY KEY (label, node, size, rank, other_id, edge)) WITHOUT ROWID;
INSERT INTO adjacency_tags SELECT t.label, t.node, tag_count(e.tags), t.rank, t.other_id, t.edge
  FROM unsized_tags t JOIN edges e ON e.key = t.edge;
DROP TABLE unsized_tags;
"""


def _energy(db: sqlite3.Connection) -> None:
    """Adds indexes of quarantined and archived nodes, and to each row of `adjacency_tags` the number of tags of its
    edge, so that spreading from a hub costs as little as from a small node.
    """
    db.create_function("tag_count", 1, lambda packed: len(set(json.loads(packed or "[]"))), deterministic=True)
    _run(db, ENERGY)


def _expiry(db: sqlite3.Connection) -> None:
    """Adds an index of notes by the time they expire."""
    db.execute("CREATE INDEX IF NOT EXISTS notes_by_expiry ON notes (part, expires) WHERE expires IS NOT NULL")


FACTS = """
-- The active facts of an entity in the order of certainty, and the ended ones by their end, so that no more are read
-- than a query needs.
CREATE INDEX IF NOT EXISTS facts_of_subject ON facts (subject, confidence DESC, created DESC, id)
  WHERE status IN ('staged', 'confirmed');
CREATE INDEX IF NOT EXISTS facts_of_object ON facts (object, confidence DESC, created DESC, id)
  WHERE object IS NOT NULL AND status IN ('staged', 'confirmed');
CREATE INDEX IF NOT EXISTS facts_past ON facts (subject, valid_until) WHERE status IN ('superseded', 'retracted');
CREATE INDEX IF NOT EXISTS facts_past_object ON facts (object, valid_until)
  WHERE object IS NOT NULL AND status IN ('superseded', 'retracted');
CREATE INDEX IF NOT EXISTS facts_by_ref ON facts (source_ref) WHERE source_ref IS NOT NULL;
CREATE INDEX IF NOT EXISTS facts_used ON facts (access_count, part) WHERE access_count > 0;
-- The words of the names of nodes, without accents and case: a name is found by any of its words or their beginning.
CREATE TABLE IF NOT EXISTS name_words (
  part INTEGER NOT NULL, word TEXT NOT NULL, key INTEGER NOT NULL, PRIMARY KEY (part, word, key)) WITHOUT ROWID;
DELETE FROM name_words;
"""


def _facts(db: sqlite3.Connection) -> None:
    """Adds indexes of facts, the table of words in names, and a version counter of each partition."""
    _run(db, FACTS)
    if "version" not in {row[1] for row in db.execute("PRAGMA table_info(parts)")}:
        # Counts the writes of a partition, so that cached answers are known to be out of date.
        db.execute("ALTER TABLE parts ADD COLUMN version INTEGER NOT NULL DEFAULT 0")
    db.executemany("INSERT INTO name_words VALUES (?, ?, ?)", true_name_words(db))


def true_name_words(db: sqlite3.Connection) -> Iterator[tuple[int, str, int]]:
    """Yields all rows that `name_words` should have, as (partition, word, key), computed from the nodes."""
    query = "SELECT part, key, name, aliases FROM nodes WHERE name IS NOT NULL OR aliases IS NOT NULL"
    for part, key, name, aliases in db.execute(query).fetchall():
        yield from ((part, word, key) for word in words_in_names(name, json.loads(aliases) if aliases else ()))


def _core(db: sqlite3.Connection) -> None:
    """Adds an index of the nodes in the state core."""
    db.execute("CREATE INDEX IF NOT EXISTS life_core ON life (key) WHERE state = 'core'")


def _types(db: sqlite3.Connection) -> None:
    """Adds an index of relationships by type, newest first."""
    db.execute(
        "CREATE INDEX IF NOT EXISTS edges_by_type ON edges (lower(type), updated DESC, id) WHERE type IS NOT NULL"
    )


def _time(db: sqlite3.Connection) -> None:
    """Adds an index of nodes by time, which includes their kinds, so that rare kinds are found without reading other
    rows.

    The index has the partition as the expression `part + 0`. With the plain column, SQLite would prefer this index to
    better ones in queries that name a partition, and read all edges of a hub.
    """
    db.execute("DROP INDEX IF EXISTS nodes_by_time")
    db.execute("CREATE INDEX IF NOT EXISTS nodes_in_time ON nodes (part + 0, at, key, kind)")


def _ahead(db: sqlite3.Connection) -> None:
    """Adds an index of facts that begin in the future, and computes the words of names again, without diacritics."""
    db.execute("CREATE INDEX IF NOT EXISTS facts_ahead ON facts (valid_from) WHERE valid_from > created")
    db.execute("DELETE FROM name_words")
    db.executemany("INSERT INTO name_words VALUES (?, ?, ?)", true_name_words(db))


IS_NAMED = "(name IS NOT NULL OR aliases IS NOT NULL)"
# A SQL condition: true if a rule made the node, an entity.
IS_FOUND = "kind = 'entity' AND coalesce(json_type(props, '$.found'), 'null') <> 'null'"


def _named(db: sqlite3.Connection) -> None:
    """Adds an index of all named nodes by partition, which is an expression for the reason given in `_time`."""
    db.execute(
        "CREATE INDEX IF NOT EXISTS nodes_named"
        f" ON nodes (part + 0, key, id, kind, name, aliases, provenance, {IS_FOUND}) WHERE {IS_NAMED}"
    )


RELATIONS = """
-- The words of stated edges (type and description) and of the notes on edges. `time` is negative, so that the newest
-- come first.
CREATE TABLE IF NOT EXISTS relation_words (
  part INTEGER NOT NULL, word TEXT NOT NULL, time INTEGER NOT NULL, key INTEGER NOT NULL,
  PRIMARY KEY (part, word, time, key)) WITHOUT ROWID;
DROP INDEX IF EXISTS edges_by_type;
DROP TABLE IF EXISTS edge_vectors
"""


def _relations(db: sqlite3.Connection) -> None:
    """Adds the table of words of relationships; removes the index and the vectors that it replaces."""
    _run(db, RELATIONS)
    db.execute("DELETE FROM relation_words")
    db.executemany("INSERT OR IGNORE INTO relation_words VALUES (?, ?, ?, ?)", list(true_relation_words(db)))


def _stated(db: sqlite3.Connection) -> None:
    """Adds columns for the stated validity of a fact, where it differs from the actual one, and a counter of uses."""
    there = {row[1] for row in db.execute("PRAGMA table_info(facts)")}
    for column in ("stated_from INTEGER", "stated_until INTEGER", "stated_status TEXT", "restated INTEGER"):
        if column.split()[0] not in there:
            db.execute(f"ALTER TABLE facts ADD COLUMN {column}")
    db.execute("CREATE TABLE IF NOT EXISTS uses (part INTEGER PRIMARY KEY, count INTEGER NOT NULL)")


def _described(db: sqlite3.Connection) -> None:
    """Adds an index of edges with a description. Vectors of existing edges and notes are made by `reembed`."""
    db.execute("CREATE INDEX IF NOT EXISTS edges_described ON edges (key) WHERE via IS NULL AND text <> ''")


def _by_value(db: sqlite3.Connection) -> None:
    """Adds an index of facts by subject, predicate and value, for entities with many facts."""
    db.execute("CREATE INDEX IF NOT EXISTS facts_by_value ON facts (subject, predicate, object, substr(value, 1, 64))")
    db.execute("DROP INDEX IF EXISTS facts_by_subject")


# The columns that each checksum covers. Not among them: a number that SQLite gives, which an index or a later check
# covers, and random marks. A migration that adds a column to one of these tables computes the sums anew.
SUMMED = {
    "edges": (
        "key, part, id, src, dst, kind, weight, tags, text, type, attitude, proximity, confidence, via, props, created,"
        " updated, valid_from, valid_until"
    ),
    "facts": (
        "key, part, id, subject, predicate, object, value, confidence, status, source, source_ref, provenance, tags,"
        " access_count, last_accessed, created, valid_from, valid_until, superseded_by, stated_from, stated_until,"
        " stated_status, restated"
    ),
    "notes": "key, part, id, target_on, target, text, created, expires",
    "life": (
        "key, salience, state, confidence, accesses, last_access, last_decay, interval, gradient, retention"
    ),
    "sources": "part, path, size, mtime_ns, hash, ingested",
    "links": "src, norm, kind, display, part",
    "tombstones": "part, hash, at",
    "history": "part, id, at, name, text",
    "roots": "part, name, path",
    "meta": "name, value",
    "changes": "low, high, vectors_only, labels_only, dreamt",
    "vectors": "key, vector",
    "next_vectors": "key, vector",
}  # fmt: skip
_VECTORS = ("vectors", "next_vectors")
LAYOUT = "layout"
"""The meta entry with the checksum of the table and index definitions."""


def sum_rows(db: sqlite3.Connection, table: str) -> Iterator[tuple[int, int, tuple[Any, ...]]]:
    """Yields for each row of a table: the checksum stored, the checksum computed, and its first three columns."""
    for *row, found in db.execute(f"SELECT {SUMMED[table]}, check_sum FROM {table}"):
        yield found, vector_sum(*row) if table in _VECTORS else row_sum(row), tuple(row[:3])


def _check_sums(db: sqlite3.Connection) -> None:
    """Adds a checksum to every row of the tables in SUMMED, whose content cannot be computed from others. Rows of
    `nodes` have one already.
    """
    for table in SUMMED:
        if "check_sum" not in {row[1] for row in db.execute(f"PRAGMA table_info({table})")}:
            db.execute(f"ALTER TABLE {table} ADD COLUMN check_sum INTEGER NOT NULL DEFAULT 0")
    db.create_function("row_sum", -1, lambda *row: row_sum(row), deterministic=True)
    db.create_function("vector_sum", 2, vector_sum, deterministic=True)
    for table, columns in SUMMED.items():
        function = "vector_sum" if table in _VECTORS else "row_sum"
        db.execute(f"UPDATE {table} SET check_sum = {function}({columns})")


def layout_sum(db: sqlite3.Connection) -> int:
    """Returns the checksum of the table and index definitions in the database."""
    found = db.execute("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name").fetchall()
    return row_sum([value for row in found for value in row])


def note_layout(db: sqlite3.Connection) -> None:
    """Stores the checksum of the table and index definitions, after they were changed."""
    db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?, ?)", summed((LAYOUT, layout_sum(db))))


def _topics(db: sqlite3.Connection) -> None:
    """Adds the table `topics`: the titles of texts, and the names of what they are about."""
    db.execute(
        "CREATE TABLE IF NOT EXISTS topics (norm TEXT NOT NULL, key INTEGER NOT NULL, PRIMARY KEY (norm, key))"
        " WITHOUT ROWID"
    )
    db.execute("DELETE FROM topics")
    db.executemany("INSERT INTO topics VALUES (?, ?)", list(true_topics(db)))


def true_topics(db: sqlite3.Connection) -> Iterator[tuple[str, int]]:
    """Yields all rows that `topics` should have, as (normalised name, key), computed from the nodes."""
    known = " OR ".join(f"instr(props, '\"{key}\"')" for key in (ABOUT, KNOWN_AS))
    for key, props in db.execute(f"SELECT key, props FROM nodes WHERE {known}"):
        yield from ((norm, key) for norm in topics_of(json.loads(props)))


def _origins(db: sqlite3.Connection) -> None:
    """Adds to each tag of a node whether a rule gave it, so that people's tags are listed apart."""
    if "automatic" not in {row[1] for row in db.execute("PRAGMA table_info(node_labels)")}:
        db.execute("ALTER TABLE node_labels ADD COLUMN automatic INTEGER NOT NULL DEFAULT 0")
    ids = dict(db.execute("SELECT name, label FROM labels WHERE what = 't'").fetchall())
    found = ((ids[name], key) for _, name, key, automatic in true_labels(db) if automatic and name in ids)
    db.executemany("UPDATE node_labels SET automatic = 1 WHERE label = ? AND key = ?", list(found))


def true_labels(db: sqlite3.Connection) -> Iterator[tuple[str, str, int, bool]]:
    """Yields the labels of every node as (what, name, key, whether a rule gave it), computed from the nodes."""
    for key, packed in db.execute("SELECT key, labels FROM nodes WHERE labels IS NOT NULL"):
        tags, buckets = label_names(packed)
        own, _ = own_label_names(packed)
        yield from (("t", name, key, name not in own) for name in dict.fromkeys(tags))
        yield from (("b", bucket, key, False) for bucket in dict.fromkeys(buckets))


MIGRATIONS: tuple[Callable[[sqlite3.Connection], None], ...] = (
    _first, _change_over, _dreams, _energy, _expiry, _facts, _core, _types, _time, _ahead, _time, _named,
    _relations, _stated, _described, _by_value, _check_sums, _topics, _origins,
)  # fmt: skip
VERSION = len(MIGRATIONS)


def migrate(db: sqlite3.Connection) -> None:
    """Runs the migrations that `memory.db` lacks, up to VERSION. Raises WrongVersion if a newer cuetrail wrote it."""
    while True:
        found = int(db.execute("PRAGMA user_version").fetchone()[0])
        if found > VERSION:
            raise WrongVersion(
                f"this memory has schema {found}, this cuetrail knows up to {VERSION}: upgrade with "
                "`pip install --upgrade cuetrail`"
            )
        if found == VERSION:
            return
        db.execute("BEGIN IMMEDIATE")
        try:
            # Another process may have migrated while this one waited for the lock.
            if int(db.execute("PRAGMA user_version").fetchone()[0]) == found:
                MIGRATIONS[found](db)
                if found + 1 == VERSION:
                    note_layout(db)
                db.execute(f"PRAGMA user_version = {found + 1}")
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise
