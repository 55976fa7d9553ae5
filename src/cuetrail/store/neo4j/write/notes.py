"""Writes notes on nodes and edges to the server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from cuetrail.model import Note
from cuetrail.store.neo4j.index import vector_spaces
from cuetrail.store.neo4j.rows import uid
from cuetrail.store.neo4j.write.state import WriteState
from cuetrail.store.transaction import Handle
from cuetrail.store.vector_space import vector_kind
from cuetrail.text.normalise import unique_terms

_NOTES = """UNWIND $rows AS row MERGE (o:CueNote {uid: row.props.uid}) SET o = row.props
WITH o, row OPTIONAL MATCH (o)-[old:CUE_ABOUT]->() DELETE old
WITH DISTINCT o, row MATCH (n:CueNode {key: row.key}) CREATE (o)-[:CUE_ABOUT]->(n)"""
_MOVE_NOTES = """UNWIND $rows AS row MATCH (o)-[r:CUE_ABOUT]->(old:CueNode {key: row[0]})
USING INDEX SEEK old:CueNode(key)
MATCH (n:CueNode {key: row[1]}) DELETE r CREATE (o)-[:CUE_ABOUT]->(n)"""


class Notes:
    """Writes notes in one transaction. `store.transaction` documents the methods."""

    def __init__(self, state: WriteState) -> None:
        self.state = state
        self.tx = state.tx

    def put(self, on: Literal["node", "edge"], notes: Sequence[tuple[Note, Handle]]) -> None:
        part = self.state.partition
        vectors = vector_spaces.unchanged_vectors(
            self.tx, {uid(part, n.id): n.text for n, _ in notes if vector_kind(n)}, "note"
        )
        put = []
        for n, target in notes:
            props = {"uid": uid(part, n.id), "part": part, "id": n.id, "text": n.text, "on": on}
            props |= {"created": n.created, "expires": n.expires, "edge": target if on == "edge" else None}
            props["words"] = " ".join(unique_terms(n.text)) if on == "edge" else None
            props |= vectors.get(str(props["uid"]), {})
            put.append({"key": target if on == "node" else None, "props": props})
        self.state.run(_NOTES, put)

    def remove(self, handles: Sequence[str]) -> None:
        self.state.run("UNWIND $rows AS uid MATCH (o:CueNote {uid: uid}) DETACH DELETE o", handles)

    def move(self, moves: Mapping[int, int]) -> None:
        self.state.run(_MOVE_NOTES, [list(pair) for pair in moves.items()])
