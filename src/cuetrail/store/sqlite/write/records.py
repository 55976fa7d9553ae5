"""Writes nodes, edges, notes and facts to their tables, and updates the tables computed from them.

Computed tables are adjacency, degrees, labels, names, and counts of tags. `store.transaction` documents the methods of
`Edges`, `Facts` and `Nodes` that have no docstring.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal

from cuetrail.model import NEW_LIFE, UNKNOWN_WEIGHT, Edge, Fact, Node, Note
from cuetrail.model.predicates import declaration
from cuetrail.store.shared.encoding import GIVEN, pack
from cuetrail.store.shared.fact_validity import MADE_FOR_A_FACT
from cuetrail.store.shared.ids import plain
from cuetrail.store.sqlite import rows
from cuetrail.store.sqlite.connection import another_version, chunks, marks, settings, take_keys
from cuetrail.store.sqlite.index import vector_spaces
from cuetrail.store.sqlite.reader import Ids, find_keys, label_numbers, nodes_by_key
from cuetrail.store.sqlite.schema import EDGE_WORDS, NOTE_WORDS, WordRow, edge_word_rows, note_word_rows
from cuetrail.store.transaction import StoredEdge, StoredFact, StoredNode, Topic
from cuetrail.text.normalise import has_topics, names_of, topics_of, words_in_names


@dataclass(slots=True)
class WriteState:
    """The state that the parts of one write transaction share: the connection, the partition written to, and the keys
    changed so far.

    `changed` are keys of nodes. `revectored` are keys of nodes, edges and notes of which only the vector changed.
    """

    db: sqlite3.Connection
    path: Path
    partition: int
    ids: Ids
    changed: set[int] = field(default_factory=set)
    revectored: set[int] = field(default_factory=set)

    @property
    def own(self) -> str:
        """Returns the numbers of the user's own partitions, separated by commas, for a SQL `IN`."""
        return ",".join(map(str, self.ids.mine)) or "NULL"

    def taken(self, table: str, ids: Collection[tuple[int, str]]) -> set[tuple[int, str]]:
        """Returns those of these (partition, id) that exist in a table."""
        found: set[tuple[int, str]] = set()
        for some in chunks(list({id_ for _, id_ in ids})):
            found.update(self.db.execute(f"SELECT part, id FROM {table} WHERE id IN ({marks(len(some))})", some))
        return found & set(ids)


def renew_sums(db: sqlite3.Connection, table: str, keys: Sequence[int]) -> None:
    """Stores new checksums of the rows with these keys, which were changed in place."""
    for some in chunks(keys):
        found = db.execute(f"SELECT * FROM {table} WHERE key IN ({marks(len(some))})", some).fetchall()
        sums = [(rows.row_sum(row[:-1]), row[0]) for row in found]
        db.executemany(f"UPDATE {table} SET check_sum = ? WHERE key = ?", sums)


Label = tuple[str, str]
"""A label as (what, name): "t" for tags of nodes and edges, "b" for buckets."""


def label_ids(db: sqlite3.Connection, labels: Collection[Label], create: bool = False) -> dict[Label, int]:
    """Returns the numbers of labels in their table. With `create`, missing labels are added, else they are absent."""
    found = _numbered(db, labels)
    if create and len(found) < len(labels):
        missing = sorted(label for label in labels if label not in found)
        db.executemany("INSERT OR IGNORE INTO labels (what, name) VALUES (?, ?)", missing)
        found |= _numbered(db, missing)
    return found


def _numbered(db: sqlite3.Connection, labels: Collection[Label]) -> dict[Label, int]:
    kinds: tuple[Literal["t", "b"], ...] = ("t", "b")
    return {
        (what, name): number
        for what in kinds
        for name, number in label_numbers(db, what, [name for kind, name in labels if kind == what]).items()
    }


def put_carriers(db: sqlite3.Connection, carriers: Mapping[int, Sequence[int]], automatic: bool = False) -> None:
    """Stores which nodes have which labels: `carriers` maps the number of a label to keys of nodes.

    `automatic`: a rule gave them. A pair that is stored stays as it is. This is one statement with each pair as one
    number, because passing pairs takes twice as long.
    """
    above = 1 + max((key for keys in carriers.values() for key in keys), default=0)
    pairs = [label * above + key for label in sorted(carriers) for key in sorted(carriers[label])]
    query = "INSERT OR IGNORE INTO node_labels SELECT value / ?2, value % ?2, ?3 FROM json_each(?1)"
    db.execute(query, (str(pairs), above, automatic))


def collect_labels(db: sqlite3.Connection, labels: Iterable[int]) -> None:
    """Deletes those of these labels that no node or edge has any more."""
    db.executemany(
        "DELETE FROM labels WHERE label = ?1 AND NOT EXISTS (SELECT 1 FROM node_labels WHERE label = ?1)"
        " AND NOT EXISTS (SELECT 1 FROM adjacency_tags WHERE label = ?1)",
        [(label,) for label in labels],
    )


def count_given(db: sqlite3.Connection, changes: Mapping[tuple[int, str], int]) -> None:
    """Adds `changes` to the numbers of nodes by (partition, tag), for tags that people, files or rules gave."""
    rows = [(*place, n) for place, n in sorted(changes.items()) if n]
    db.executemany(
        "INSERT INTO given_tags VALUES (?, ?, ?) ON CONFLICT (part, name) DO UPDATE SET nodes = nodes + excluded.nodes",
        rows,
    )
    gone = [row[:2] for row in rows if row[2] < 0]
    db.executemany("DELETE FROM given_tags WHERE part = ? AND name = ? AND nodes <= 0", gone)


def _rank(weight: float | None) -> float:
    """Returns an edge's rank in the adjacency table: its negative weight, so that the strongest edge comes first."""
    return -(UNKNOWN_WEIGHT if weight is None else weight)


def _comparable(row: Sequence[Any]) -> tuple[Any, ...]:
    """Returns the row of an edge without weight, creation time and last change, to see if anything else differs."""
    return (*row[:6], *row[7:15], *row[17:])


class Edges:
    """Writes edges and the tables computed from them in one transaction. `store.transaction` documents the methods."""

    def __init__(self, state: WriteState) -> None:
        self.state = state
        self.db = state.db

    def put(self, edges: Sequence[Edge], ends: Mapping[str, int]) -> None:
        if not edges:
            return
        old = find_keys(self.db, (e.id for e in edges), "edges", [self.state.partition])
        edges = self._reweigh(edges, old, ends)
        old = {e.id: old[e.id] for e in edges if e.id in old}
        created = self._before(edges, old)
        self._remove(list(old.values()), replaced=True)
        first = take_keys(self.db, len(edges))
        table, adjacency, tagged, degrees = [], [], [], Counter[tuple[int, int]]()
        labels = label_ids(self.db, {("t", t) for e in edges for t in e.tags}, create=True)
        part = self.state.partition
        for number, edge in enumerate(edges):
            key = old.get(edge.id, first + number)
            if edge.id in created:
                edge = replace(edge, created=created[edge.id])
            src, dst = ends[edge.src], ends[edge.dst]
            table.append(rows.edge_row(edge, key, part, src, dst))
            rank = _rank(edge.weight)
            sides = [(src, edge.dst, dst, 1)] if src == dst else [(src, edge.dst, dst, 1), (dst, edge.src, src, 0)]
            for node, other_id, other, outgoing in sides:
                other_id = plain(other_id)
                adjacency.append((node, rank, other_id, key, other, outgoing, part))
                tagged += [(labels["t", t], node, len(set(edge.tags)), rank, other_id, key) for t in edge.tags]
                degrees[node, part] += 1
        self.db.executemany(rows.INSERT_EDGE, table)
        _enter_words(self.db, edges=[row[0] for row, edge in zip(table, edges, strict=True) if edge.via is None])
        self.db.executemany("INSERT OR REPLACE INTO adjacency VALUES (?,?,?,?,?,?,?)", sorted(adjacency))
        self.db.executemany("INSERT OR REPLACE INTO adjacency_tags VALUES (?,?,?,?,?,?)", tagged)
        self._add_degrees(degrees)

    def _reweigh(self, edges: Sequence[Edge], old: Mapping[str, int], ends: Mapping[str, int]) -> list[Edge]:
        """Updates in place those edges made by a rule of which only weight and time changed, and returns the others.
        Dreams change hundreds of edges in this way.
        """
        made = {old[e.id]: e for e in edges if e.id in old and e.via is not None and not e.tags}
        was: dict[int, tuple[Any, ...]] = {}
        for some in chunks(list(made)):
            query = f"SELECT * FROM edges WHERE key IN ({marks(len(some))})"
            for row in self.db.execute(query, some):
                rows.verify("edges", row[:-1], row[-1])
                was[row[0]] = row[:-1]
        weights, ranks, done = [], [], set[str]()
        for key, row in was.items():
            edge = made[key]
            src, dst = ends[edge.src], ends[edge.dst]
            if _comparable(rows.edge_row(edge, key, self.state.partition, src, dst)[:-1]) != _comparable(row):
                continue
            done.add(edge.id)
            check_sum = rows.row_sum((*row[:6], edge.weight, *row[7:16], edge.updated, *row[17:]))
            weights.append((edge.weight, edge.updated, check_sum, key))
            before, now = _rank(row[6]), _rank(edge.weight)
            if before != now:
                ranks += [(now, *side, before, key) for side in {(src, plain(edge.dst)), (dst, plain(edge.src))}]
        self.db.executemany("UPDATE edges SET weight = ?, updated = ?, check_sum = ? WHERE key = ?", weights)
        update = "UPDATE adjacency SET rank = ? WHERE node = ? AND other_id = ? AND rank = ? AND edge = ?"
        self.db.executemany(update, ranks)
        return [e for e in edges if e.id not in done]

    def _before(self, edges: Sequence[Edge], old: Mapping[str, int]) -> dict[str, int]:
        """Returns the creation times of edges to be replaced, by id. Drops the vectors of those whose text changes."""
        created: dict[str, int] = {}
        texts = {old[e.id]: e.text if e.via is None else "" for e in edges if e.id in old}
        reworded: list[int] = []
        for some in chunks(list(old.values())):
            query = f"SELECT key, id, created, text FROM edges WHERE key IN ({marks(len(some))})"
            for key, id_, when, text in self.db.execute(query, some):
                created[id_] = when
                if text and texts[key] != text:
                    reworded.append(key)
        self.state.revectored |= vector_spaces.drop(self.db, reworded)
        return created

    def _add_degrees(self, degrees: Mapping[tuple[int, int], int]) -> None:
        """Adds numbers, which may be negative, to the degrees of nodes, given as (node, partition)."""
        self.db.executemany(
            "INSERT INTO degrees VALUES (?, ?, ?)"
            " ON CONFLICT (node, part) DO UPDATE SET degree = degree + excluded.degree",
            [(*of, n) for of, n in degrees.items() if n],
        )
        gone = [of for of, n in degrees.items() if n < 0]
        self.db.executemany("DELETE FROM degrees WHERE node = ? AND part = ? AND degree <= 0", gone)

    def remove(self, handles: Sequence[int]) -> None:
        self._remove(handles, replaced=False)

    def remove_at(self, nodes: Sequence[int]) -> None:
        """Removes all edges of these nodes."""
        query = f"SELECT DISTINCT edge FROM adjacency WHERE node IN ({marks(len(nodes))})"
        self.remove([edge for (edge,) in self.db.execute(query, nodes).fetchall()])

    def _remove(self, keys: Sequence[int], replaced: bool) -> None:
        """Removes edges; their notes and vectors too, unless the edges are about to be `replaced`."""
        for some in chunks(keys):
            among = f"IN ({marks(len(some))})"
            degrees = Counter[tuple[int, int]]()
            loose: set[tuple[str, str]] = set()
            found = self.db.execute(
                "SELECT e.key, e.src, e.dst, e.weight, e.part, e.tags, a.id, b.id, e.via IS NULL, e.text <> ''"
                f" FROM edges e JOIN nodes a ON a.key = e.src JOIN nodes b ON b.key = e.dst WHERE e.key {among}",
                some,
            ).fetchall()
            sides: list[tuple[int, float, str, int]] = []
            tagged: list[tuple[int, int, int, float, str, int]] = []
            for key, src, dst, weight, part, packed, src_id, dst_id, *_ in found:
                rank = _rank(weight)
                tags = {("t", t) for t in json.loads(packed)} if packed else set()
                labels = label_ids(self.db, tags).values() if tags else ()
                loose |= tags
                for node, other_id in {(src, dst_id), (dst, src_id)}:
                    sides.append((node, rank, other_id, key))
                    tagged += [(label, node, len(tags), rank, other_id, key) for label in labels]
                    degrees[node, part] -= 1
            at = "node = ? AND rank = ? AND other_id = ? AND edge = ?"
            self.db.executemany(f"DELETE FROM adjacency WHERE {at}", sides)
            at = "label = ? AND node = ? AND size = ? AND rank = ? AND other_id = ? AND edge = ?"
            self.db.executemany(f"DELETE FROM adjacency_tags WHERE {at}", tagged)
            self._add_degrees(degrees)
            _remove_words(self.db, edges=[row[0] for row in found if row[8]])
            if not replaced:
                notes = self.db.execute(f"SELECT key FROM notes WHERE target_on = 'edge' AND target {among}", some)
                remove_notes(self.state, [key for (key,) in notes.fetchall()])
                self.state.revectored |= vector_spaces.drop(self.db, [row[0] for row in found if row[8] and row[9]])
            self.db.execute(f"DELETE FROM edges WHERE key {among}", some)
            collect_labels(self.db, label_ids(self.db, loose).values())

    def stated(self, keys: Sequence[int]) -> list[StoredEdge]:
        found: dict[int, StoredEdge] = {}
        for some in chunks(keys):
            at = f"SELECT edge FROM adjacency WHERE node IN ({marks(len(some))})"
            for row in self.db.execute(f"{rows.EDGE} WHERE e.key IN ({at}) AND e.via IS NULL", some):
                found[row[0]] = StoredEdge(row[0], row[1], row[19], row[20], rows.to_edge(row))
        return list(found.values())

    def taken(self, ids: Collection[tuple[int, str]]) -> set[tuple[int, str]]:
        return self.state.taken("edges", ids)

    def move(self, moves: Sequence[tuple[StoredEdge, StoredEdge]]) -> None:
        degrees = Counter[tuple[int, int]]()
        for old, new in moves:
            self.db.execute(
                "UPDATE edges SET id = ?, src = ?, dst = ? WHERE key = ?", (new.edge.id, new.src, new.dst, old.handle)
            )
            sides = {
                (old.src, old.edge.dst, new.src, new.edge.dst, new.dst),
                (old.dst, old.edge.src, new.dst, new.edge.src, new.src),
            }
            for node, other_id, new_node, new_other_id, new_other in sides:
                self._move_side(old, (node, other_id), (new_node, plain(new_other_id), new_other))
                degrees[node, old.partition] -= 1
                degrees[new_node, old.partition] += 1
        renew_sums(self.db, "edges", [old.handle for old, _ in moves])
        self._add_degrees(degrees)

    def _move_side(self, old: StoredEdge, was: tuple[int, str], now: tuple[int, str, int]) -> None:
        """Changes one side of an edge in the adjacency tables: from `was`, a node and its neighbour's id, to `now`, a
        node and its neighbour's id and key.
        """
        at = "node = ? AND rank = ? AND other_id = ? AND edge = ?"
        place = (was[0], _rank(old.edge.weight), was[1], old.handle)
        self.db.execute(f"UPDATE adjacency SET node = ?, other_id = ?, other = ? WHERE {at}", (*now, *place))
        tags = old.edge.tags
        self.db.executemany(
            f"UPDATE adjacency_tags SET node = ?, other_id = ? WHERE {at}"
            " AND size = ? AND label = (SELECT label FROM labels WHERE what = 't' AND name = ?)",
            [(*now[:2], *place, len(set(tags)), tag) for tag in tags],
        )


def put_notes(state: WriteState, on: Literal["node", "edge"], notes: Sequence[tuple[Note, int]]) -> None:
    """Inserts or replaces notes, each with the key of its node or edge. Drops the vectors of changed texts."""
    if not notes:
        return
    old = find_keys(state.db, (note.id for note, _ in notes), "notes", [state.partition])
    first = take_keys(state.db, len(notes))
    _remove_words(state.db, notes=list(old.values()))
    texts = {old[note.id]: note.text for note, _ in notes if note.id in old}
    for some in chunks(list(texts)):
        there = state.db.execute(f"SELECT key, text FROM notes WHERE key IN ({marks(len(some))})", some).fetchall()
        state.revectored |= vector_spaces.drop(state.db, [key for key, text in there if texts[key] != text])
    lines = [
        rows.summed((old.get(n.id, first + i), state.partition, n.id, on, target, n.text, n.created, n.expires))
        for i, (n, target) in enumerate(notes)
    ]
    state.db.executemany(f"INSERT OR REPLACE INTO notes VALUES ({marks(9)})", lines)
    _enter_words(state.db, notes=[row[0] for row in lines])


def remove_notes(state: WriteState, keys: Sequence[int]) -> None:
    """Removes the notes with these keys, their vectors, and their words in `relation_words`."""
    _remove_words(state.db, notes=keys)
    state.revectored |= vector_spaces.drop(state.db, keys)
    state.db.executemany("DELETE FROM notes WHERE key = ?", [(key,) for key in keys])


def _enter_words(db: sqlite3.Connection, edges: Sequence[int] = (), notes: Sequence[int] = ()) -> None:
    """Adds the words of edges and notes with these keys to `relation_words`."""
    db.executemany("INSERT OR IGNORE INTO relation_words VALUES (?, ?, ?, ?)", _word_rows(db, edges, notes))


def _remove_words(db: sqlite3.Connection, edges: Sequence[int] = (), notes: Sequence[int] = ()) -> None:
    """Removes the words of edges and notes from `relation_words`, before they are deleted or changed."""
    query = "DELETE FROM relation_words WHERE part = ? AND word = ? AND time = ? AND key = ?"
    db.executemany(query, _word_rows(db, edges, notes))


def _word_rows(db: sqlite3.Connection, edges: Sequence[int], notes: Sequence[int]) -> list[WordRow]:
    found: list[WordRow] = []
    for some in chunks(edges):
        found += edge_word_rows(db.execute(f"{EDGE_WORDS} AND key IN ({marks(len(some))})", some))
    for some in chunks(notes):
        found += note_word_rows(db.execute(f"{NOTE_WORDS} AND key IN ({marks(len(some))})", some))
    return found


_UPDATE = (
    "UPDATE OR REPLACE facts SET id = ?, value = ?, confidence = ?, status = ?, source = ?, source_ref = ?,"
    " provenance = ?, tags = ?, valid_from = ?, valid_until = ?, superseded_by = ?, stated_from = ?, stated_until = ?,"
    " stated_status = ?, restated = ? WHERE key = ?"
)
TOPICS = "SELECT DISTINCT f.part, f.subject, f.predicate FROM facts f"
# A SQL condition: true for a fact that may supersede others of its topic.
SHADOWING = (
    "EXISTS (SELECT 1 FROM facts s WHERE s.subject = f.subject AND s.predicate = f.predicate AND s.part = f.part"
    " AND (s.status = 'superseded' OR s.stated_from IS NOT NULL OR s.stated_until IS NOT NULL))"
)
_OF_TOPIC = f"{rows.FACT} WHERE f.part + 0 = ? AND f.subject = ? AND f.predicate = ?"
_IDLE = (
    "SELECT key FROM nodes n WHERE key = ?1 AND props = ?2 AND NOT EXISTS (SELECT 1 FROM facts WHERE subject = ?1)"
    " AND NOT EXISTS (SELECT 1 FROM facts WHERE object = ?1)"
    " AND NOT EXISTS (SELECT 1 FROM notes WHERE target_on = 'node' AND target = ?1)"
    " AND NOT EXISTS (SELECT 1 FROM adjacency a JOIN edges e ON e.key = a.edge WHERE a.node = ?1 AND e.via IS NULL)"
)


class Facts:
    """Writes facts in one transaction; their nodes' ids are plain. `store.transaction` documents the methods."""

    def __init__(self, state: WriteState) -> None:
        self.state = state
        self.db = state.db

    def _read(self, query: str, given: Sequence[Any]) -> list[StoredFact]:
        found = self.db.execute(query, given)
        return [StoredFact(row[0], row[1], row[19], row[20], rows.to_fact(row)) for row in found]

    def with_ids(self, ids: Sequence[str]) -> list[StoredFact]:
        found: list[StoredFact] = []
        for some in chunks(ids):
            query = f"{rows.FACT} WHERE f.id IN ({marks(len(some))}) AND f.part = ?"
            found += self._read(query, (*some, self.state.partition))
        return found

    def with_handles(self, handles: Sequence[int]) -> list[StoredFact]:
        found: list[StoredFact] = []
        for some in chunks(handles):
            found += self._read(f"{rows.FACT} WHERE f.key IN ({marks(len(some))})", some)
        return found

    def same_value(self, facts: Sequence[StoredFact]) -> list[StoredFact]:
        query = f"{_OF_TOPIC} AND f.object IS ? AND substr(f.value, 1, 64) IS substr(?, 1, 64)"
        found: list[StoredFact] = []
        for one in facts:
            found += self._read(query, (one.partition, one.subject, one.fact.predicate, one.object, one.fact.value))
        return found

    def of_topics(self, topics: Sequence[Topic]) -> list[StoredFact]:
        return [row for topic in topics for row in self._read(_OF_TOPIC, topic)]

    def of_nodes(self, keys: Sequence[int]) -> list[StoredFact]:
        found: dict[int, StoredFact] = {}
        for some in chunks(keys):
            among = f"IN ({marks(len(some))})"
            query = f"{rows.FACT} WHERE f.subject {among} OR f.object {among}"
            found.update((row.handle, row) for row in self._read(query, (*some, *some)))
        return list(found.values())

    def topics_of(self, predicate: str) -> list[Topic]:
        query = f"{TOPICS} WHERE f.predicate = ? AND f.part IN ({self.state.own})"
        return self.db.execute(query, (predicate,)).fetchall()

    def declared(self, partition: int) -> Mapping[str, str]:
        owner = self.db.execute("SELECT tenant, owner FROM parts WHERE part = ?", (partition,)).fetchone()
        return settings(self.db, declaration(*owner))

    def taken(self, ids: Collection[tuple[int, str]]) -> set[tuple[int, str]]:
        return self.state.taken("facts", ids)

    def put(self, facts: Sequence[StoredFact]) -> None:
        if not facts:
            return
        first = take_keys(self.db, len(facts))
        table = [
            rows.fact_row(
                row.fact, first + n if row.handle is None else row.handle, row.partition, row.subject, row.object
            )
            for n, row in enumerate(facts)
        ]
        self.db.executemany(rows.INSERT_FACT, table)

    def change(self, changes: Sequence[tuple[StoredFact, Fact | None]]) -> None:
        for partition in {old.partition for old, _ in changes} - {self.state.partition}:
            another_version(self.db, partition)
        self.db.executemany("DELETE FROM facts WHERE key = ?", [(old.handle,) for old, f in changes if f is None])
        table = [
            (
                f.id, f.value, f.confidence, f.status, f.source, f.source_ref, f.provenance, pack(f.tags),
                f.valid_from, f.valid_until, f.superseded_by, f.stated_from, f.stated_until, f.stated_status,
                f.restated, old.handle,
            )
            for old, f in changes
            if f is not None
        ]  # fmt: skip
        self.db.executemany(_UPDATE, table)
        renew_sums(self.db, "facts", [row[-1] for row in table])

    def move(self, moves: Sequence[tuple[StoredFact, StoredFact]]) -> None:
        table = [(new.fact.id, new.subject, new.object, new.handle) for _, new in moves]
        self.db.executemany("UPDATE facts SET id = ?, subject = ?, object = ? WHERE key = ?", table)
        renamed = [(new.fact.id, new.subject, new.partition, old.fact.id) for old, new in moves]
        update = "UPDATE facts SET superseded_by = ? WHERE subject = ? AND part = ? AND superseded_by = ?"
        self.db.executemany(update, renamed)
        named = "SELECT key FROM facts WHERE subject = ? AND part = ? AND superseded_by = ?"
        naming = {key for id_, *place, _ in renamed for (key,) in self.db.execute(named, (*place, id_))}
        renew_sums(self.db, "facts", sorted(naming.union(new.handle for _, new in moves)))

    def remove_extracted(self, refs: Sequence[str]) -> tuple[list[Topic], set[int]]:
        topics: list[Topic] = []
        about: set[int] = set()
        for some in chunks(refs):
            where = f"WHERE f.source_ref IN ({marks(len(some))}) AND f.part IN ({self.state.own})"
            for ends in self.db.execute(f"SELECT f.subject, f.object FROM facts f {where}", some):
                about.update(key for key in ends if key is not None)
            topics += self.db.execute(f"{TOPICS} {where} AND {SHADOWING}", some)
            self.db.execute(f"DELETE FROM facts AS f {where}", some)
        return topics, about

    def idle(self, keys: Collection[int]) -> list[int]:
        props = pack(MADE_FOR_A_FACT)
        return [key for key in sorted(keys) if self.db.execute(_IDLE, (key, props)).fetchone()]


# From this many nodes on they are inserted in the order of their ids, as the index has them: that is a quarter faster.
MANY = 1_000
# The tables, besides edges and notes, whose rows are deleted with a node, and the column with its key.
_REFERRING = (
    ("links", "src"), ("mentions", "source"), ("mentions", "node"), ("facts", "subject"), ("facts", "object"),
    ("vectors", "key"), ("next_vectors", "key"), ("life", "key"),
)  # fmt: skip


class Nodes:
    """Writes nodes and the tables computed from them in one transaction. `store.transaction` documents the methods."""

    def __init__(self, state: WriteState, edges: Edges) -> None:
        self.state = state
        self.db = state.db
        self._edges = edges

    def before(self, ids: Sequence[str]) -> dict[str, StoredNode]:
        found: dict[str, StoredNode] = {}
        for some in chunks(list(find_keys(self.db, ids, "nodes", [self.state.partition]).values())):
            for row in self.db.execute(f"{rows.NODE} WHERE n.key IN ({marks(len(some))})", some):
                node = rows.to_node(row)
                found[node.id] = StoredNode(
                    row[0], node.kind, node.name, node.text, node.source, node.seq, node.created, node.life
                )
        return found

    def last_positions(self, sources: Collection[str]) -> dict[str, int]:
        found: dict[str, int | None] = {}
        for some in chunks(list(sources)):
            query = (
                "SELECT s.path, (SELECT max(n.seq) FROM nodes n WHERE n.source = s.source) FROM sources s"
                f" WHERE s.part = ? AND s.path IN ({marks(len(some))})"
            )
            found |= self.db.execute(query, (self.state.partition, *some))
        return {path: seq for path, seq in found.items() if seq is not None}

    def put(self, nodes: Sequence[Node], before: Mapping[str, StoredNode]) -> dict[str, int]:
        if len(nodes) >= MANY:
            nodes = sorted(nodes, key=attrgetter("id"))
        old = {id_: node.key for id_, node in before.items()}
        for some in chunks(list(old.values())):
            self._drop_labels(some)
        new = [n.id for n in nodes if n.id not in old]
        first = take_keys(self.db, len(new))
        keys = {**old, **{id_: first + n for n, id_ in enumerate(new)}}
        part = self.state.partition
        sources = self._source_keys({n.source for n in nodes if n.source is not None})
        self.db.executemany(
            rows.REPLACE_NODE if old else rows.INSERT_NODE,
            [rows.node_row(n, keys[n.id], part, sources[n.source] if n.source is not None else None) for n in nodes],
        )
        self._put_labels(nodes, keys)
        named = [n for n in nodes if n.name or n.aliases]
        by_name = [(norm, keys[n.id]) for n in named for norm in names_of(n.name, n.aliases)]
        self.db.executemany("INSERT OR IGNORE INTO names VALUES (?, ?)", by_name)
        by_word = [(part, word, keys[n.id]) for n in named for word in words_in_names(n.name, n.aliases)]
        self.db.executemany("INSERT OR IGNORE INTO name_words VALUES (?, ?, ?)", by_word)
        topics = [(norm, keys[n.id]) for n in nodes if has_topics(n.props) for norm in topics_of(n.props)]
        self.db.executemany("INSERT OR IGNORE INTO topics VALUES (?, ?)", sorted(topics))
        used = (n for n in nodes if n.life is not NEW_LIFE and n.life != NEW_LIFE)
        lives = [rows.life_row(keys[n.id], n.life) for n in used]
        self.db.executemany(rows.PUT_LIFE, lives)
        renewed = [(old[n.id],) for n in nodes if n.id in old and n.life == NEW_LIFE != before[n.id].life]
        self.db.executemany("DELETE FROM life WHERE key = ?", renewed)
        self.state.changed.update(keys.values())
        return keys

    def _source_keys(self, paths: Collection[str]) -> dict[str, int]:
        """Returns the keys of files by path; unknown paths get a row."""
        part = self.state.partition
        made = [rows.source_row(part, path) for path in sorted(paths)]
        self.db.executemany(f"{rows.INSERT_SOURCE} ON CONFLICT DO NOTHING", made)
        found: dict[str, int] = {}
        for some in chunks(list(paths)):
            query = f"SELECT path, source FROM sources WHERE part = ? AND path IN ({marks(len(some))})"
            found.update(self.db.execute(query, (part, *some)).fetchall())
        return found

    def _put_labels(self, nodes: Sequence[Node], keys: Mapping[str, int]) -> None:
        """Adds nodes to the tables that lead from labels to nodes, in the order of these tables."""
        own, automatic, buckets, given = (defaultdict[str, list[int]](list) for _ in range(4))
        for node in nodes:
            key = keys[node.id]
            counts = node.provenance != "quarantine"
            for tag in node.tag_details:
                (own if tag.origin == "user" else automatic)[tag.name].append(key)
                if counts and tag.origin in GIVEN:
                    given[tag.name].append(key)
            for bucket in node.buckets:
                buckets[bucket].append(key)
        carriers = {(what, name): some for what, found in (("t", own), ("b", buckets)) for name, some in found.items()}
        by_rule = {("t", name): some for name, some in automatic.items()}
        ids = label_ids(self.db, carriers.keys() | by_rule.keys(), create=True)
        # A tag that a person gave as well is the person's: it is put first.
        put_carriers(self.db, {ids[label]: some for label, some in carriers.items()})
        put_carriers(self.db, {ids[label]: some for label, some in by_rule.items()}, automatic=True)
        count_given(self.db, {(self.state.partition, name): len(set(some)) for name, some in given.items()})

    def _drop_labels(self, keys: Sequence[int]) -> None:
        """Removes nodes from the tables that lead from labels, names and topics to nodes. A label that no node or edge
        has any more is deleted.
        """
        loose: dict[tuple[str, str], list[int]] = {}
        given = Counter[tuple[int, str]]()
        columns = "key, part, labels, name, aliases, provenance, props"
        for key, part, labels, name, aliases, provenance, props in self.db.execute(
            f"SELECT {columns} FROM nodes WHERE key IN ({marks(len(keys))})", keys
        ).fetchall():
            tags, buckets = rows.unpack_labels(labels)
            given.subtract((part, tag) for tag in rows.given_names(tags, provenance))
            for label in (*(("t", tag.name) for tag in tags), *(("b", bucket) for bucket in buckets)):
                loose.setdefault(label, []).append(key)
            aliases = json.loads(aliases) if aliases else ()
            for norm in names_of(name, aliases):
                self.db.execute("DELETE FROM names WHERE norm = ? AND key = ?", (norm, key))
            for norm in topics_of(json.loads(props)) if props else ():
                self.db.execute("DELETE FROM topics WHERE norm = ? AND key = ?", (norm, key))
            for word in words_in_names(name, aliases):
                self.db.execute("DELETE FROM name_words WHERE part = ? AND word = ? AND key = ?", (part, word, key))
        ids = label_ids(self.db, loose)
        pairs = [(id_, key) for label, id_ in ids.items() for key in loose[label]]
        self.db.executemany("DELETE FROM node_labels WHERE label = ? AND key = ?", pairs)
        collect_labels(self.db, ids.values())
        count_given(self.db, given)

    def remove(self, keys: Sequence[int]) -> list[Topic]:
        topics: list[Topic] = []
        for some in chunks(keys):
            among = f"IN ({marks(len(some))})"
            self._edges.remove_at(some)
            self._drop_labels(some)
            query = f"{TOPICS} WHERE f.object {among} AND NOT f.subject {among} AND {SHADOWING}"
            topics += self.db.execute(query, (*some, *some))
            for table, column in _REFERRING:
                self.db.execute(f"DELETE FROM {table} WHERE {column} {among}", some)
            self.db.execute(f"DELETE FROM notes WHERE target_on = 'node' AND target {among}", some)
            self.db.execute(f"DELETE FROM nodes WHERE key {among}", some)
            self.state.changed.update(some)
        return topics

    def read(self, keys: Sequence[int]) -> list[tuple[int, Node]]:
        nodes = nodes_by_key(self.db, self.state.path, keys)
        partitions: dict[int, int] = {}
        for some in chunks(keys):
            partitions |= self.db.execute(f"SELECT key, part FROM nodes WHERE key IN ({marks(len(some))})", some)
        return [(partitions[key], nodes[key]) for key in keys]

    def texts(self, keys: Sequence[int]) -> dict[int, str]:
        found: dict[int, str] = {}
        for some in chunks(keys):
            found |= self.db.execute(f"SELECT key, text FROM nodes WHERE key IN ({marks(len(some))})", some)
        return found
