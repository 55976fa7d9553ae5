"""Writes edges to the server, with their notes and vectors."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from cuetrail.model import Edge
from cuetrail.store.neo4j import rows as made
from cuetrail.store.neo4j.connection import chunks, rows
from cuetrail.store.neo4j.index import vector_spaces
from cuetrail.store.neo4j.rows import uid
from cuetrail.store.neo4j.write.state import WriteState
from cuetrail.store.transaction import StoredEdge
from cuetrail.store.vector_space import vector_kind

_EDGES_OF = "UNWIND $keys AS key MATCH (n:CueNode {key: key})-[e:CUE_EDGE]-() RETURN DISTINCT e.uid"
_EDGES = "UNWIND $uids AS uid MATCH ()-[e:CUE_EDGE {uid: uid}]->() USING INDEX SEEK e:CUE_EDGE(uid)"
_CREATE_EDGES = """UNWIND $rows AS row MATCH (a:CueNode {key: row.src}) MATCH (b:CueNode {key: row.dst})
CREATE (a)-[e:CUE_EDGE]->(b) SET e = row.props"""
_REMOVE_NOTES_ON_EDGES = "UNWIND $uids AS uid MATCH (o:CueNote {edge: uid}) DETACH DELETE o"
_STATED_EDGES = f"""UNWIND $keys AS key MATCH (n:CueNode {{key: key}})-[e:CUE_EDGE]-() USING INDEX SEEK n:CueNode(key)
WHERE e.via IS NULL WITH DISTINCT e, startNode(e) AS a, endNode(e) AS b
RETURN {made.EDGE_MAP}, a.key, a.id, b.key, b.id"""
_MOVE_EDGE = """MATCH ()-[e:CUE_EDGE {uid: $was}]->() USING INDEX SEEK e:CUE_EDGE(uid)
WITH e, properties(e) AS kept DELETE e
WITH kept MATCH (a:CueNode {key: $src}) MATCH (b:CueNode {key: $dst})
CREATE (a)-[made:CUE_EDGE]->(b) SET made = kept, made.uid = $uid, made.id = $id"""
_MOVE_NOTES_ON_EDGE = "MATCH (o:CueNote {edge: $was}) SET o.edge = $uid"


class Edges:
    """Writes edges, with their notes and vectors, in one transaction. `store.transaction` documents the methods."""

    def __init__(self, state: WriteState) -> None:
        self.state = state
        self.tx = state.tx

    def put(self, edges: Sequence[Edge], ends: Mapping[str, int]) -> None:
        part = self.state.partition
        uids = [uid(part, e.id) for e in edges]
        query = f"{_EDGES} RETURN e.id, e.created"
        created: dict[str, int] = dict(row for some in chunks(uids) for row in rows(self.tx, query, uids=some))
        texts = {uid(part, e.id): e.text for e in edges if e.id in created and vector_kind(e)}
        vectors = vector_spaces.unchanged_vectors(self.tx, texts, "edge")
        put = []
        for e in edges:
            props = made.edge_props(replace(e, created=created.get(e.id, e.created)), part)
            put.append({"src": ends[e.src], "dst": ends[e.dst], "props": props | vectors.get(props["uid"], {})})
        # The old edges go, but not their notes.
        self._delete([uid(part, id_) for id_ in created])
        self.state.run(_CREATE_EDGES, put)

    def remove(self, handles: Sequence[str]) -> None:
        for some in chunks(handles):
            rows(self.tx, _REMOVE_NOTES_ON_EDGES, uids=some)
        self._delete(handles)

    def remove_at(self, nodes: Sequence[int]) -> None:
        """Removes all edges of these nodes."""
        self.remove([uid for (uid,) in rows(self.tx, _EDGES_OF, keys=nodes)])

    def _delete(self, uids: Sequence[str]) -> None:
        for some in chunks(uids):
            rows(self.tx, f"{_EDGES} DELETE e", uids=some)

    def stated(self, keys: Sequence[int]) -> list[StoredEdge]:
        found: dict[str, StoredEdge] = {}
        for some in chunks(keys):
            for e, src, src_id, dst, dst_id in rows(self.tx, _STATED_EDGES, keys=some):
                found[e["uid"]] = StoredEdge(e["uid"], e["part"], src, dst, made.to_edge(e, src_id, dst_id))
        return list(found.values())

    def taken(self, ids: Collection[tuple[int, str]]) -> set[tuple[int, str]]:
        uids = [uid(*one) for one in ids]
        query = f"{_EDGES} RETURN e.part, e.id"
        return {(part, id_) for some in chunks(uids) for part, id_ in rows(self.tx, query, uids=some)}

    def move(self, moves: Sequence[tuple[StoredEdge, StoredEdge]]) -> None:
        for old, new in moves:
            to = uid(new.partition, new.edge.id)
            rows(self.tx, _MOVE_EDGE, was=old.handle, uid=to, id=new.edge.id, src=new.src, dst=new.dst)
            rows(self.tx, _MOVE_NOTES_ON_EDGE, was=old.handle, uid=to)
