"""Nodes on the server, for writing: properties, labels and names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from cuetrail.model import Node, Tag
from cuetrail.store.neo4j import rows as made
from cuetrail.store.neo4j.connection import chunks, rows
from cuetrail.store.neo4j.ids import uid
from cuetrail.store.neo4j.write.edges import Edges
from cuetrail.store.neo4j.write.facts import Facts
from cuetrail.store.neo4j.write.state import WriteState
from cuetrail.store.transaction import StoredNode, Topic
from cuetrail.text.normalise import names_of

_BY_KEY = "UNWIND $keys AS key MATCH (n:CueNode {key: key})"
_READ = f"{_BY_KEY} RETURN {made.NODE}"
_TEXTS = f"{_BY_KEY} RETURN key, n.text"
_PARTITIONS = f"{_BY_KEY} RETURN n.part, n.tags IS NOT NULL OR n.buckets IS NOT NULL"
_CREATE = "UNWIND $rows AS row CREATE (n:CueNode) SET n = row"
_REPLACE = "UNWIND $rows AS row MATCH (n:CueNode {key: row.key}) SET n += row"
_TAGS = "UNWIND $rows AS row MERGE (t:CueTag {uid: row[0]}) ON CREATE SET t.part = $part, t.name = row[1]"
_TAGGED = """UNWIND $rows AS row MATCH (n:CueNode {{key: row[0]}}) MATCH (t:CueTag {{uid: row[1]}})
CREATE (n)-[:{kind} {{given: row[2]}}]->(t)"""
_BUCKETS = "UNWIND $rows AS row MERGE (t:CueBucket {uid: row[0]}) ON CREATE SET t.part = $part, t.name = row[1]"
_FILED = """UNWIND $rows AS row MATCH (n:CueNode {key: row[0]}) MATCH (t:CueBucket {uid: row[1]})
CREATE (n)-[:CUE_FILED]->(t)"""
_NAMES = "UNWIND $rows AS row MERGE (t:CueName {uid: row[0]}) ON CREATE SET t.part = $part, t.norm = row[1]"
_NAMED = """UNWIND $rows AS row MATCH (n:CueNode {key: row[0]}) MATCH (t:CueName {uid: row[1]})
CREATE (n)-[:CUE_NAMED]->(t)"""
_LOOSE = f"{_BY_KEY}-[r:CUE_TAGGED|CUE_TIMED|CUE_FILED|CUE_NAMED]->(t) WITH DISTINCT t RETURN elementId(t)"
_DROP = f"{_BY_KEY}-[r:CUE_TAGGED|CUE_TIMED|CUE_FILED|CUE_NAMED]->() DELETE r"
_COLLECT = "UNWIND $loose AS id MATCH (t) WHERE elementId(t) = id AND NOT EXISTS { (t)--() } DELETE t"
_REMOVE = (
    f"{_BY_KEY}<-[:CUE_SUBJECT|CUE_OBJECT|CUE_ABOUT]-(x:CueFact|CueNote) DETACH DELETE x",
    f"{_BY_KEY}-[:CUE_LINKS]->(l:CueLink) DETACH DELETE l",
    f"{_BY_KEY} DETACH DELETE n",
)


class Nodes:
    """Nodes with their labels, names and usage."""

    def __init__(self, state: WriteState, edges: Edges, facts: Facts) -> None:
        self.state = state
        self.tx = state.tx
        self._edges = edges
        self._facts = facts

    def before(self, ids: Sequence[str]) -> dict[str, StoredNode]:
        found = self.state.ids.find(ids, parts=[self.state.partition])
        keys = {int(one.handle) for one in found.values()}
        nodes = (made_of(row) for some in chunks(sorted(keys)) for row in rows(self.tx, _READ, keys=some))
        return {n.id: StoredNode(key, n.kind, n.name, n.text, n.created, n.life) for key, _, n in nodes}

    def put(self, nodes: Sequence[Node], before: Mapping[str, StoredNode]) -> dict[str, int]:
        old = {id_: node.key for id_, node in before.items()}
        for some in chunks(list(old.values())):
            self._leave(some)
        self._drop_labels(list(old.values()))
        state = self.state
        new = [n.id for n in nodes if n.id not in old]
        keys = {**old, **dict(zip(new, state.free_keys, strict=False))}
        for query, replaced in ((_CREATE, False), (_REPLACE, True)):
            some_nodes = [n for n in nodes if (n.id in old) is replaced]
            props = [made.node_props(n, keys[n.id], state.partition) | made.life_props(n.life) for n in some_nodes]
            state.run(query, props)
        self._put_labels(nodes, keys)
        named = {(keys[n.id], norm) for n in nodes if n.name or n.aliases for norm in names_of(n.name, n.aliases)}
        state.run(_NAMES, [[uid(state.partition, norm), norm] for norm in sorted({norm for _, norm in named})])
        state.run(_NAMED, [[key, uid(state.partition, norm)] for key, norm in sorted(named)])
        state.labelled[state.partition] += sum(1 for n in nodes if n.tag_details or n.buckets)
        state.changed.update(keys.values())
        state.new += len(new)
        return keys

    def _leave(self, keys: Sequence[int]) -> None:
        """Locks the partitions of nodes about to change or go, and counts off those that have labels."""
        found = rows(self.tx, _PARTITIONS, keys=keys)
        self.state.lock(part for part, _ in found)
        self.state.labelled.subtract(part for part, labelled in found if labelled)

    def _put_labels(self, nodes: Sequence[Node], keys: Mapping[str, int]) -> None:
        """Makes nodes, which have no labels yet, found by tag and bucket."""
        put_tags(self.state, [(keys[n.id], n.provenance != "quarantine", n.tag_details) for n in nodes])
        filed = sorted({(keys[n.id], bucket) for n in nodes for bucket in n.buckets})
        part = self.state.partition
        self.state.run(_BUCKETS, [[uid(part, name), name] for name in sorted({name for _, name in filed})])
        self.state.run(_FILED, [[key, uid(part, name)] for key, name in filed])

    def _drop_labels(self, keys: Sequence[int]) -> None:
        """Removes nodes from their tags, buckets and names; those that no node has any more are deleted."""
        for some in chunks(keys):
            loose = [row[0] for row in rows(self.tx, _LOOSE, keys=some)]
            if loose:
                rows(self.tx, _DROP, keys=some)
                rows(self.tx, _COLLECT, loose=loose)

    def remove(self, keys: Sequence[int]) -> list[Topic]:
        topics: list[Topic] = []
        for some in chunks(keys):
            self._leave(some)
            self._edges.remove_at(some)
            self._drop_labels(some)
            topics += self._facts.topics_with_objects(some)
            for query in _REMOVE:
                rows(self.tx, query, keys=some)
            self.state.changed.update(some)
        return topics

    def read(self, keys: Sequence[int]) -> list[tuple[int, Node]]:
        found = (row for some in chunks(keys) for row in rows(self.tx, _READ, keys=some))
        return [(partition, node) for _, partition, node in map(made_of, found)]

    def texts(self, keys: Sequence[int]) -> dict[int, str]:
        return {key: text for some in chunks(keys) for key, text in rows(self.tx, _TEXTS, keys=some)}


def made_of(row: Sequence[made.Props]) -> tuple[int, int, Node]:
    """Converts a row with the properties of a node to its key, its partition and the node."""
    return row[0]["key"], row[0]["part"], made.to_node(row[0], ("", None))


def put_tags(state: WriteState, given: Iterable[tuple[int, bool, Sequence[Tag]]]) -> None:
    """Makes nodes, which have no tags yet, found by tag. They are given as key, whether their tags count, and tags."""
    tagged: dict[tuple[int, str], tuple[str, bool]] = {}
    for key, counts, tags in given:
        for tag in tags:
            kind = "CUE_TIMED" if tag.origin == "temporal" else "CUE_TAGGED"
            tagged.setdefault((key, tag.name), (kind, counts and tag.origin in made.GIVEN))
    part = state.partition
    state.run(_TAGS, [[uid(part, name), name] for name in sorted({name for _, name in tagged})])
    for kind in ("CUE_TAGGED", "CUE_TIMED"):
        pairs = [[key, uid(part, name), is_given] for (key, name), (as_, is_given) in tagged.items() if as_ == kind]
        state.run(_TAGGED.format(kind=kind), pairs)
