"""The tables of nodes: rows, labels, names and usage."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from operator import attrgetter

from cuetrail.model import NEW_LIFE, Node
from cuetrail.store.sqlite import rows
from cuetrail.store.sqlite.connection import chunks, marks, take_keys
from cuetrail.store.sqlite.ids import find_keys
from cuetrail.store.sqlite.index.labels.tables import collect_labels, count_given, label_ids, put_carriers
from cuetrail.store.sqlite.reader import nodes_by_key
from cuetrail.store.sqlite.write.edges import Edges
from cuetrail.store.sqlite.write.facts import SHADOWING, TOPICS
from cuetrail.store.sqlite.write.state import WriteState
from cuetrail.store.transaction import StoredNode, Topic
from cuetrail.text.normalise import names_of, words_in_names

# From this many nodes on they are inserted in the order of their ids, as the index has them: that is a quarter faster.
MANY = 1_000
# The tables, besides edges and notes, whose rows go with a node, by the column of its key.
_REFERRING = (
    ("links", "src"), ("mentions", "source"), ("mentions", "node"), ("facts", "subject"), ("facts", "object"),
    ("vectors", "key"), ("next_vectors", "key"), ("life", "key"),
)  # fmt: skip


class Nodes:
    """Nodes with their labels, names and usage."""

    def __init__(self, state: WriteState, edges: Edges) -> None:
        self.state = state
        self.db = state.db
        self._edges = edges

    def before(self, ids: Sequence[str]) -> dict[str, StoredNode]:
        found: dict[str, StoredNode] = {}
        for some in chunks(list(find_keys(self.db, ids, "nodes", [self.state.partition]).values())):
            for row in self.db.execute(f"{rows.NODE} WHERE n.key IN ({marks(len(some))})", some):
                node = rows.to_node(row)
                found[node.id] = StoredNode(row[0], node.kind, node.name, node.text, node.created, node.life)
        return found

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
        used = (n for n in nodes if n.life is not NEW_LIFE and n.life != NEW_LIFE)
        lives = [rows.life_row(keys[n.id], n.life) for n in used]
        self.db.executemany(f"INSERT OR REPLACE INTO life VALUES ({marks(10)})", lives)
        self.state.changed.update(keys.values())
        return keys

    def _source_keys(self, paths: Collection[str]) -> dict[str, int]:
        """The keys of files by path; rows for unknown paths are made."""
        part = self.state.partition
        made = [(part, path) for path in sorted(paths)]
        self.db.executemany("INSERT OR IGNORE INTO sources (part, path) VALUES (?, ?)", made)
        found: dict[str, int] = {}
        for some in chunks(list(paths)):
            query = f"SELECT path, source FROM sources WHERE part = ? AND path IN ({marks(len(some))})"
            found.update(self.db.execute(query, (part, *some)).fetchall())
        return found

    def _put_labels(self, nodes: Sequence[Node], keys: Mapping[str, int]) -> None:
        """Enters nodes into the inverted tables, label by label and in the order of keys, as they are sorted."""
        tags, buckets, given = (defaultdict[str, list[int]](list) for _ in range(3))
        for node in nodes:
            key = keys[node.id]
            counts = node.provenance != "quarantine"
            for tag in node.tag_details:
                tags[tag.name].append(key)
                if counts and tag.origin in rows.GIVEN:
                    given[tag.name].append(key)
            for bucket in node.buckets:
                buckets[bucket].append(key)
        carriers = {(what, name): some for what, found in (("t", tags), ("b", buckets)) for name, some in found.items()}
        ids = label_ids(self.db, carriers.keys(), create=True)
        put_carriers(self.db, {ids[label]: some for label, some in carriers.items()})
        count_given(self.db, {(self.state.partition, name): len(set(some)) for name, some in given.items()})

    def _drop_labels(self, keys: Sequence[int]) -> None:
        """Takes nodes out of the inverted tables; a label that no node carries any more is deleted."""
        loose: dict[tuple[str, str], list[int]] = {}
        given = Counter[tuple[int, str]]()
        for key, part, labels, name, aliases, provenance in self.db.execute(
            f"SELECT key, part, labels, name, aliases, provenance FROM nodes WHERE key IN ({marks(len(keys))})", keys
        ).fetchall():
            tags, buckets = rows.unpack_labels(labels)
            given.subtract((part, tag) for tag in rows.given_names(tags, provenance))
            for label in (*(("t", tag.name) for tag in tags), *(("b", bucket) for bucket in buckets)):
                loose.setdefault(label, []).append(key)
            aliases = json.loads(aliases) if aliases else ()
            for norm in names_of(name, aliases):
                self.db.execute("DELETE FROM names WHERE norm = ? AND key = ?", (norm, key))
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
