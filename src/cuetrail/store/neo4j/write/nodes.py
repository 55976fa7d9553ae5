"""Writes nodes to the server, and connects them to their labels, names and topics."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from cuetrail.model import Node, Tag
from cuetrail.store.neo4j import rows as made
from cuetrail.store.neo4j.connection import chunks, rows
from cuetrail.store.neo4j.rows import short, uid
from cuetrail.store.neo4j.write.state import WriteState
from cuetrail.store.shared.stored_values import GIVEN
from cuetrail.store.transaction import StoredNode, Topic
from cuetrail.text.normalise import has_topics, names_of, topics_of

_BY_KEY = "UNWIND $keys AS key MATCH (n:CueNode {key: key})"
_READ_NODES = f"{_BY_KEY} RETURN {made.NODE}"
_TEXTS = f"{_BY_KEY} RETURN key, n.text"
_PARTITIONS = f"{_BY_KEY} RETURN n.part, n.tags IS NOT NULL OR n.buckets IS NOT NULL"
_CREATE_NODES = "UNWIND $rows AS row CREATE (n:CueNode) SET n = row"
_REPLACE_NODES = "UNWIND $rows AS row MATCH (n:CueNode {key: row.key}) SET n += row"
_TAGS = "UNWIND $rows AS row MERGE (t:CueTag {uid: row[0]}) ON CREATE SET t.part = $part, t.name = row[1]"
_TAGGED = """UNWIND $rows AS row MATCH (n:CueNode {{key: row[0]}}) MATCH (t:CueTag {{uid: row[1]}})
CREATE (n)-[:{kind} {{given: row[2], own: row[3]}}]->(t)"""
_BUCKETS = "UNWIND $rows AS row MERGE (t:CueBucket {uid: row[0]}) ON CREATE SET t.part = $part, t.name = row[1]"
_FILED = """UNWIND $rows AS row MATCH (n:CueNode {key: row[0]}) MATCH (t:CueBucket {uid: row[1]})
CREATE (n)-[:CUE_FILED]->(t)"""
_NAMES = "UNWIND $rows AS row MERGE (t:{} {{uid: row[0]}}) ON CREATE SET t.part = $part, t.norm = row[1]"
_NAMED = """UNWIND $rows AS row MATCH (n:CueNode {{key: row[0]}}) MATCH (t:{} {{uid: row[1]}})
CREATE (n)-[:{}]->(t)"""
_LABELS_OF = (
    f"{_BY_KEY}-[r:CUE_TAGGED|CUE_TIMED|CUE_FILED|CUE_NAMED|CUE_KNOWN]->(t) WITH DISTINCT t RETURN elementId(t)"
)
_DROP_LABELS = f"{_BY_KEY}-[r:CUE_TAGGED|CUE_TIMED|CUE_FILED|CUE_NAMED|CUE_KNOWN]->() DELETE r"
DELETE_UNUSED_LABELS = "UNWIND $loose AS id MATCH (t) WHERE elementId(t) = id AND NOT EXISTS { (t)--() } DELETE t"
_REMOVE_NODES = (
    f"{_BY_KEY}<-[:CUE_SUBJECT|CUE_OBJECT|CUE_ABOUT]-(x:CueFact|CueNote) DETACH DELETE x",
    f"{_BY_KEY}-[:CUE_LINKS]->(l:CueLink) DETACH DELETE l",
    f"{_BY_KEY} DETACH DELETE n",
)

TopicsOfObjects = Callable[[Sequence[int]], list[Topic]]

_LAST_POSITIONS = """UNWIND $files AS file
CALL (file) {
  MATCH (n:CueNode) WHERE n.part = $part AND n.file = file AND n.seq >= 0
  RETURN n.seq AS seq ORDER BY seq DESC LIMIT 1
}
RETURN file, seq"""


class Nodes:
    """Writes nodes, with labels, names and usage, in one transaction. `store.transaction` documents the methods."""

    def __init__(
        self, state: WriteState, remove_edges_at: Callable[[Sequence[int]], None], topics_with_objects: TopicsOfObjects
    ) -> None:
        self.state = state
        self.tx = state.tx
        self._remove_edges_at = remove_edges_at
        self._topics_with_objects = topics_with_objects

    def before(self, ids: Sequence[str]) -> dict[str, StoredNode]:
        found = self.state.ids.find(ids, parts=[self.state.partition])
        keys = {int(one.handle) for one in found.values()}
        nodes = (made_of(row) for some in chunks(sorted(keys)) for row in rows(self.tx, _READ_NODES, keys=some))
        return {
            n.id: StoredNode(key, n.kind, n.name, n.text, n.source, n.seq, n.created, n.life) for key, _, n in nodes
        }

    def last_positions(self, sources: Collection[str]) -> dict[str, int]:
        files = {short(path): path for path in sources}
        given = {"part": self.state.partition}
        found = [row for some in chunks(sorted(files)) for row in rows(self.tx, _LAST_POSITIONS, files=some, **given)]
        return {files[file]: seq for file, seq in found}

    def put(self, nodes: Sequence[Node], before: Mapping[str, StoredNode]) -> dict[str, int]:
        old = {id_: node.key for id_, node in before.items()}
        self._count_off(list(old.values()))
        self._drop_labels(list(old.values()))
        state = self.state
        new = [n.id for n in nodes if n.id not in old]
        keys = {**old, **dict(zip(new, state.free_keys, strict=False))}
        for query, replaced in ((_CREATE_NODES, False), (_REPLACE_NODES, True)):
            some_nodes = [n for n in nodes if (n.id in old) is replaced]
            props = [made.node_props(n, keys[n.id], state.partition) | made.life_props(n.life) for n in some_nodes]
            state.run(query, props)
        self._put_labels(nodes, keys)
        named = {(keys[n.id], norm) for n in nodes if n.name or n.aliases for norm in names_of(n.name, n.aliases)}
        self._put_names(named, "CueName", "CUE_NAMED")
        topics = {(keys[n.id], norm) for n in nodes if has_topics(n.props) for norm in topics_of(n.props)}
        self._put_names(topics, "CueTopic", "CUE_KNOWN")
        state.labelled[state.partition] += sum(1 for n in nodes if n.tag_details or n.buckets)
        state.changed.update(keys.values())
        state.new += len(new)
        return keys

    def _put_names(self, named: Collection[tuple[int, str]], label: str, relation: str) -> None:
        """Connects nodes, given as (key, normalised name), to their names, so that they are found by them. `label` and
        `relation` say whether these are names or topics.
        """
        part = self.state.partition
        self.state.run(_NAMES.format(label), [[uid(part, norm), norm] for norm in sorted({norm for _, norm in named})])
        self.state.run(_NAMED.format(label, relation), [[key, uid(part, norm)] for key, norm in sorted(named)])

    def _count_off(self, keys: Sequence[int]) -> None:
        """Locks the partitions of nodes about to be changed or removed, and subtracts labelled ones from the counts."""
        found = [row for some in chunks(keys) for row in rows(self.tx, _PARTITIONS, keys=some)]
        self.state.lock(part for part, _ in found)
        self.state.labelled.subtract(part for part, labelled in found if labelled)

    def _put_labels(self, nodes: Sequence[Node], keys: Mapping[str, int]) -> None:
        """Connects nodes that have no labels yet to their tags and buckets, so that they are found by them."""
        put_tags(self.state, [(keys[n.id], n.provenance != "quarantine", n.tag_details) for n in nodes])
        filed = sorted({(keys[n.id], bucket) for n in nodes for bucket in n.buckets})
        part = self.state.partition
        self.state.run(_BUCKETS, [[uid(part, name), name] for name in sorted({name for _, name in filed})])
        self.state.run(_FILED, [[key, uid(part, name)] for key, name in filed])

    def _drop_labels(self, keys: Sequence[int]) -> None:
        """Disconnects nodes from their tags, buckets, names and topics, and deletes those that no node has any more."""
        for some in chunks(keys):
            loose = [row[0] for row in rows(self.tx, _LABELS_OF, keys=some)]
            if loose:
                rows(self.tx, _DROP_LABELS, keys=some)
                rows(self.tx, DELETE_UNUSED_LABELS, loose=loose)

    def remove(self, keys: Sequence[int]) -> list[Topic]:
        topics: list[Topic] = []
        self._count_off(keys)
        self._drop_labels(keys)
        for some in chunks(keys):
            self._remove_edges_at(some)
            topics += self._topics_with_objects(some)
            for query in _REMOVE_NODES:
                rows(self.tx, query, keys=some)
        self.state.changed.update(keys)
        return topics

    def read(self, keys: Sequence[int]) -> list[tuple[int, Node]]:
        found = (row for some in chunks(keys) for row in rows(self.tx, _READ_NODES, keys=some))
        return [(partition, node) for _, partition, node in map(made_of, found)]

    def texts(self, keys: Sequence[int]) -> dict[int, str]:
        return {key: text for some in chunks(keys) for key, text in rows(self.tx, _TEXTS, keys=some)}


def made_of(row: Sequence[made.Props]) -> tuple[int, int, Node]:
    """Converts a row with the properties of a node to (key, partition, node)."""
    return row[0]["key"], row[0]["part"], made.to_node(row[0], ("", None))


def put_tags(state: WriteState, given: Iterable[tuple[int, bool, Sequence[Tag]]]) -> None:
    """Connects nodes that have no tags yet to their tags, so that they are found by them. Nodes are given as (key,
    whether they are not quarantined, tags).
    """
    tagged: dict[tuple[int, str], tuple[str, bool, bool]] = {}
    for key, counts, tags in given:
        for tag in tags:
            kind = "CUE_TIMED" if tag.origin == "temporal" else "CUE_TAGGED"
            tagged.setdefault((key, tag.name), (kind, counts and tag.origin in GIVEN, tag.origin == "user"))
    part = state.partition
    state.run(_TAGS, [[uid(part, name), name] for name in sorted({name for _, name in tagged})])
    for kind in ("CUE_TAGGED", "CUE_TIMED"):
        pairs = [[key, uid(part, name), *rest] for (key, name), (as_, *rest) in tagged.items() if as_ == kind]
        state.run(_TAGGED.format(kind=kind), pairs)
