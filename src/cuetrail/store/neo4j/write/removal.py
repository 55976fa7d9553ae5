"""How records go: with everything that leads to them, and the labels that nobody carries any more."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from cuetrail.model import Node
from cuetrail.store.neo4j import rows as made
from cuetrail.store.neo4j.connection import chunks, rows
from cuetrail.store.neo4j.facts import writes
from cuetrail.store.neo4j.write import tombstones
from cuetrail.store.shared.ids import SIGN

if TYPE_CHECKING:
    from cuetrail.store.neo4j.connection import Tx
    from cuetrail.store.neo4j.write.transaction import Write

_WHERE = "UNWIND $keys AS key MATCH (n:CueNode {key: key})"
_PLACES = f"{_WHERE} RETURN n.key, n.part, n.tags IS NOT NULL OR n.buckets IS NOT NULL"
_LOOSE = f"{_WHERE}-[r:CUE_TAGGED|CUE_TIMED|CUE_FILED|CUE_NAMED]->(t) WITH DISTINCT t RETURN elementId(t)"
_DROP = f"{_WHERE}-[r:CUE_TAGGED|CUE_TIMED|CUE_FILED|CUE_NAMED]->() DELETE r"
_COLLECT = "UNWIND $loose AS id MATCH (t) WHERE elementId(t) = id AND NOT EXISTS { (t)--() } DELETE t"
_INCIDENT = f"{_WHERE}-[e:CUE_EDGE]-() RETURN DISTINCT e.uid"
_ABOUT = f"{_WHERE}<-[:CUE_SUBJECT|CUE_OBJECT|CUE_ABOUT]-(x:CueFact|CueNote) DETACH DELETE x"
_LINKS = f"{_WHERE}-[:CUE_LINKS]->(l:CueLink) DETACH DELETE l"
_NODES = f"{_WHERE} DETACH DELETE n"
_EDGE_NOTES = "UNWIND $uids AS uid MATCH (o:CueNote {edge: uid}) DETACH DELETE o"
_EDGES = "UNWIND $uids AS uid MATCH ()-[e:CUE_EDGE {uid: uid}]->() USING INDEX SEEK e:CUE_EDGE(uid) DELETE e"
_SOURCES_OF = f"{_WHERE} WHERE n.source IS NOT NULL RETURN DISTINCT n.part, n.file"
_EMPTY = """UNWIND $rows AS row MATCH (s:CueSource {part: row[0]}) WHERE s.file = row[1]
  AND NOT EXISTS { MATCH (n:CueNode) WHERE n.part = row[0] AND n.file = row[1] } DELETE s"""


def drop_labels(tx: Tx, keys: Sequence[int]) -> None:
    """Take nodes out of what is found by tag, bucket and name; what nobody carries any more is deleted."""
    for some in chunks(keys):
        loose = [row[0] for row in rows(tx, _LOOSE, keys=some)]
        if loose:
            rows(tx, _DROP, keys=some)
            rows(tx, _COLLECT, loose=loose)


def remove_nodes(w: Write, keys: Sequence[int]) -> None:
    """Delete nodes and everything that refers to them.

    What teammates said about a shared node goes with it, because it would lead nowhere; nothing else of theirs does.
    """
    for some in chunks(keys):
        found = rows(w.tx, _PLACES, keys=some)
        w.hold(part for _, part, _ in found)
        w.labelled.subtract(part for _, part, labelled in found if labelled)
        remove_edges(w.tx, [row[0] for row in rows(w.tx, _INCIDENT, keys=some)])
        drop_labels(w.tx, some)
        topics = writes.shadowing(w, some)
        for query in (_ABOUT, _LINKS, _NODES):
            rows(w.tx, query, keys=some)
        writes.refit(w, topics)
        w.changed.update(some)


def remove_edges(tx: Tx, uids: Iterable[str], replaced: bool = False) -> None:
    """Delete edges with their notes. One about to be replaced keeps them."""
    for some in chunks(list(uids)):
        if not replaced:
            rows(tx, _EDGE_NOTES, uids=some)
        rows(tx, _EDGES, uids=some)


def remove_empty_sources(tx: Tx, files: Collection[tuple[int, str]]) -> None:
    """Forget files, given as place and path, of which nothing is left."""
    for some in chunks([list(file) for file in files]):
        rows(tx, _EMPTY, rows=some)


def forget(w: Write, ids: Sequence[str], now: int, unsaid: Collection[str] = ()) -> list[str]:
    """Remove the user's own nodes of these ids with their history and leave tombstones; the ids that were there.

    Those of the `unsaid` keep out their ids alone.
    """
    plain_ids = {id_.partition(SIGN)[0] for id_ in unsaid}
    found = w.ids.seek(ids, mine=True)
    w.hold(one.part for one in found.values())
    keys = [int(one.handle) for one in found.values()]
    files: set[tuple[int, str]] = set()
    for some in chunks(keys):
        by_part: dict[int, list[Node]] = {}
        for (node,) in rows(w.tx, f"{_WHERE} RETURN {made.NODE}", keys=some):
            by_part.setdefault(node["part"], []).append(made.to_node(node, ("", None)))
        for part, nodes in sorted(by_part.items()):
            tombstones.bury(w.tx, part, nodes, now, plain_ids)
        files.update((part, file) for part, file in rows(w.tx, _SOURCES_OF, keys=some))
    remove_nodes(w, keys)
    remove_nodes(w, writes.forget_refs(w, [one.id for one in found.values()]))
    # A file of which nothing is left is no longer known; others, also empty ones, still are.
    remove_empty_sources(w.tx, files)
    return list(found)
