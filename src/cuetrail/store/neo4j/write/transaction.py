"""One write transaction on the server. `store.transaction` documents the methods."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal

from cuetrail.model import Link, Note, Scope, SourceFile, Version
from cuetrail.store.neo4j.changelog import log
from cuetrail.store.neo4j.connection import Tx, chunks, rows
from cuetrail.store.neo4j.index import vector_spaces
from cuetrail.store.neo4j.rows import short, uid
from cuetrail.store.neo4j.write.facts import Facts
from cuetrail.store.neo4j.write.nodes import Edges, Nodes, WriteState
from cuetrail.store.neo4j.write.tombstones import Tombstones
from cuetrail.store.transaction import Handle, Kind
from cuetrail.store.vector_space import VectorKind, VectorSpace, vector_kind
from cuetrail.text.normalise import unique_terms

_VERSIONS_OF = "UNWIND $refs AS ref MATCH (v:CueVersion {part: $part, ref: ref})"
_EARLIER = f"{_VERSIONS_OF} RETURN v.id, coalesce(CASE WHEN v.text <> '' THEN v.text ELSE v.name END, '')"
_PUT_VERSIONS = "UNWIND $rows AS row MERGE (v:CueVersion {uid: row.uid}) ON CREATE SET v = row"
_NO_VERSIONS = "UNWIND $rows AS uid MATCH (v:CueVersion {uid: uid}) DELETE v"
_NOTES = """UNWIND $rows AS row MERGE (o:CueNote {uid: row.props.uid}) SET o = row.props
WITH o, row OPTIONAL MATCH (o)-[old:CUE_ABOUT]->() DELETE old
WITH DISTINCT o, row MATCH (n:CueNode {key: row.key}) CREATE (o)-[:CUE_ABOUT]->(n)"""
_MOVE_NOTES = """UNWIND $rows AS row MATCH (o)-[r:CUE_ABOUT]->(old:CueNode {key: row[0]})
USING INDEX SEEK old:CueNode(key)
MATCH (n:CueNode {key: row[1]}) DELETE r CREATE (o)-[:CUE_ABOUT]->(n)"""
# A MERGE by partition would read all mentions of it for each row, on a server that planned it while it had few.
_MENTIONS = """UNWIND $rows AS row MATCH (a:CueNode {key: row[0]}) MATCH (b:CueNode {key: row[1]})
OPTIONAL MATCH (a)-[m:CUE_MENTIONS]->(b) WHERE m.part + 0 = $part SET m.at = row[2]
FOREACH (_ IN CASE WHEN m IS NULL THEN [1] ELSE [] END | CREATE (a)-[:CUE_MENTIONS {part: $part, at: row[2]}]->(b))"""
_LINKS = """UNWIND $rows AS row MATCH (n:CueNode {key: row.key}) MERGE (l:CueLink {uid: row.props.uid})
SET l = row.props MERGE (n)-[:CUE_LINKS]->(l)"""
_NO_LINKS = "UNWIND $rows AS uid MATCH (l:CueLink {uid: uid}) DETACH DELETE l"
_VECTORS = "UNWIND $rows AS row MATCH (n:CueNode {key: row.key}) SET n += row.props"
_SOURCES = "UNWIND $rows AS row MERGE (s:CueSource {uid: row.uid}) SET s = row"
_SOURCES_OF = """UNWIND $keys AS key MATCH (n:CueNode {key: key}) WHERE n.source IS NOT NULL
RETURN DISTINCT n.part, n.source"""
_EMPTY = """UNWIND $rows AS row MATCH (s:CueSource {part: row[0]}) WHERE s.file = row[1]
  AND NOT EXISTS { MATCH (n:CueNode) WHERE n.part = row[0] AND n.file = row[1] } DELETE s"""
_ROOTS = "UNWIND $rows AS row MERGE (r:CueRoot {uid: row.uid}) SET r = row"
_NO_ROOTS = "UNWIND $rows AS uid MATCH (r:CueRoot {uid: uid}) DELETE r"
_LABELLED = """UNWIND $rows AS row MATCH (p:CuePlace {part: row[0]})
SET p.labelled = coalesce(p.labelled, 0) + row[1]"""


class Neo4jTransaction:
    """A transaction that writes to a scope's partition; `free_keys` are for new nodes. See `store.transaction`."""

    def __init__(self, tx: Tx, scope: Scope, free_keys: Sequence[int] = ()) -> None:
        self.tx = tx
        self.state = WriteState(tx, scope, free_keys)
        self.partition = self.state.partition
        self.ids = self.state.ids
        self.tombstones = Tombstones(tx, self.ids)
        self.edges = Edges(self.state)
        self.facts = Facts(self.state)
        self.nodes = Nodes(self.state, self.edges, self.facts.topics_with_objects)

    def log(self, dreamed_by: str | None = None) -> None:
        """Appends the changed keys to the change log, as last step. `dreamed_by` names the dream pass that wrote."""
        self.state.run(_LABELLED, [[part, n] for part, n in sorted(self.state.labelled.items()) if n])
        log(self.tx, self.state.changed, dreamed_by, self.state.new)

    # --- ids

    def find(self, ids: Iterable[str], kind: Kind = "node") -> dict[str, Handle]:
        return {id_: one.handle for id_, one in self.ids.seek(ids, kind).items()}

    def find_own(self, ids: Iterable[str], kind: Kind = "node") -> dict[str, Handle]:
        """Returns the same as `find`, but only for records that the user owns, and locks their partitions."""
        found = self.ids.seek(ids, kind, mine=True)
        self.state.lock(one.part for one in found.values())
        return {id_: one.handle for id_, one in found.items()}

    def find_here(self, ids: Iterable[str]) -> dict[str, int]:
        return {id_: int(one.handle) for id_, one in self.ids.find(ids, parts=[self.partition]).items()}

    # --- history

    def _versions(self, query: str, partition: int, ids: Sequence[str]) -> list[Any]:
        refs = [short(id_) for id_ in ids]
        return [row for some in chunks(refs) for row in rows(self.tx, query, refs=some, part=partition)]

    def earlier_texts(self, partition: int, ids: Sequence[str]) -> list[tuple[str, str]]:
        return [(id_, text) for id_, text in self._versions(_EARLIER, partition, ids)]

    def last_versions(self, ids: Sequence[str]) -> dict[str, int]:
        return dict(self._versions(f"{_VERSIONS_OF} RETURN v.id, max(v.at)", self.partition, ids))

    def put_versions(self, versions: Sequence[Version]) -> None:
        part = self.partition
        given = [
            {
                "uid": uid(part, str(v.at), v.id), "part": part, "id": v.id, "ref": short(v.id), "at": v.at,
                "name": v.name, "text": v.text,
            }
            for v in versions
        ]  # fmt: skip
        self.state.run(_PUT_VERSIONS, given)

    def drop_versions(self, versions: Sequence[Version]) -> None:
        self.state.run(_NO_VERSIONS, [uid(self.partition, str(one.at), one.id) for one in versions])

    def remove_versions(self, partition: int, ids: Sequence[str]) -> None:
        self._versions(f"{_VERSIONS_OF} DELETE v", partition, ids)

    # --- records that refer to nodes

    def put_notes(self, on: Literal["node", "edge"], notes: Sequence[tuple[Note, Handle]]) -> None:
        part = self.partition
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

    def remove_notes(self, handles: Sequence[str]) -> None:
        self.state.run("UNWIND $rows AS uid MATCH (o:CueNote {uid: uid}) DETACH DELETE o", handles)

    def move_notes(self, moves: Mapping[int, int]) -> None:
        self.state.run(_MOVE_NOTES, [list(pair) for pair in moves.items()])

    def put_mentions(self, mentions: Mapping[tuple[int, int], int]) -> None:
        self.state.run(_MENTIONS, [[*pair, at] for pair, at in mentions.items()])

    def put_links(self, links: Sequence[tuple[int, Link]]) -> None:
        put: list[dict[str, Any]] = []
        for key, link in links:
            props = {"norm": link.norm, "kind": link.kind, "display": link.display, "part": self.partition}
            put.append({"key": key, "props": {**props, "uid": uid(self.partition, str(key), link.kind, link.norm)}})
        self.state.run(_LINKS, [row for row in put if row["props"]["display"]])
        self.state.run(_NO_LINKS, [row["props"]["uid"] for row in put if not row["props"]["display"]])
        # The links of a node decide which edges dreams may add to it.
        self.state.changed.update(key for key, _ in links)

    # --- vectors

    def vector_space(self) -> VectorSpace | None:
        return vector_spaces.held(self.tx)

    def put_vectors(self, kind: VectorKind, space: VectorSpace, vectors: Mapping[Handle, bytes]) -> None:
        vector_spaces.store(self.tx, space, vectors, kind)

    def drop_vectors(self, keys: Sequence[int]) -> None:
        held = (vector_spaces.held(self.tx), vector_spaces.coming(self.tx)) if keys else ()
        nothing = {vector_spaces.slot(space): None for space in held if space}
        if nothing:
            self.state.run(_VECTORS, [{"key": key, "props": nothing} for key in keys])

    # --- files

    def put_sources(self, files: Sequence[SourceFile]) -> None:
        part = self.partition
        given = [
            {
                "uid": uid(part, f.path), "part": part, "path": f.path, "file": short(f.path), "size": f.size,
                "mtime_ns": f.mtime_ns, "hash": f.hash, "ingested": f.ingested,
            }
            for f in files
        ]  # fmt: skip
        self.state.run(_SOURCES, given)

    def sources_of(self, keys: Sequence[int]) -> set[tuple[int, str]]:
        return {(part, path) for some in chunks(keys) for part, path in rows(self.tx, _SOURCES_OF, keys=some)}

    def remove_empty_sources(self, files: Collection[tuple[int, str]]) -> None:
        self.state.run(_EMPTY, [[part, short(path)] for part, path in files])

    def put_roots(self, roots: Mapping[str, str], removed: Sequence[str]) -> None:
        part = self.partition
        given = [{"uid": uid(part, n), "part": part, "name": n, "path": path} for n, path in roots.items()]
        self.state.run(_ROOTS, given)
        self.state.run(_NO_ROOTS, [uid(part, name) for name in removed])
