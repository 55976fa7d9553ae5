"""Writes nodes to their table, and updates those of labels, names, topics and usage."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from operator import attrgetter

from cuetrail.model import NEW_LIFE, Node
from cuetrail.store.shared.stored_values import GIVEN
from cuetrail.store.sqlite import rows
from cuetrail.store.sqlite.connection import chunks, marks, take_keys
from cuetrail.store.sqlite.reader import find_keys, nodes_by_key
from cuetrail.store.sqlite.write.labels import collect_labels, count_given, label_ids, put_carriers
from cuetrail.store.sqlite.write.state import WriteState
from cuetrail.store.transaction import StoredNode, Topic
from cuetrail.text.normalise import has_topics, names_of, topics_of, words_in_names

# From this many nodes on they are inserted in the order of their ids, as the index has them: that is a quarter faster.
MANY = 1_000
# The tables, besides edges and notes, whose rows are deleted with a node, and the column with its key.
_REFERRING = (
    ("links", "src"), ("mentions", "source"), ("mentions", "node"), ("facts", "subject"), ("facts", "object"),
    ("vectors", "key"), ("next_vectors", "key"), ("life", "key"),
)  # fmt: skip

TopicsOfObjects = Callable[[Sequence[int]], list[Topic]]


class Nodes:
    """Writes nodes and the tables computed from them in one transaction. `store.transaction` documents the methods."""

    def __init__(
        self, state: WriteState, remove_edges_at: Callable[[Sequence[int]], None], topics_with_objects: TopicsOfObjects
    ) -> None:
        self.state = state
        self.db = state.db
        self._remove_edges_at = remove_edges_at
        self._topics_with_objects = topics_with_objects

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
            self._remove_edges_at(some)
            self._drop_labels(some)
            topics += self._topics_with_objects(some)
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
