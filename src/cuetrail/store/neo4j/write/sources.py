"""Writes the records of ingested files, and the paths of ingested folders."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from cuetrail.model import SourceFile
from cuetrail.store.neo4j.connection import chunks, rows
from cuetrail.store.neo4j.rows import short, uid
from cuetrail.store.neo4j.write.state import WriteState

_SOURCES = "UNWIND $rows AS row MERGE (s:CueSource {uid: row.uid}) SET s = row"
_SOURCES_OF = """UNWIND $keys AS key MATCH (n:CueNode {key: key}) WHERE n.source IS NOT NULL
RETURN DISTINCT n.part, n.source"""
_EMPTY = """UNWIND $rows AS row MATCH (s:CueSource {part: row[0]}) WHERE s.file = row[1]
  AND NOT EXISTS { MATCH (n:CueNode) WHERE n.part = row[0] AND n.file = row[1] } DELETE s"""
_ROOTS = "UNWIND $rows AS row MERGE (r:CueRoot {uid: row.uid}) SET r = row"
_NO_ROOTS = "UNWIND $rows AS uid MATCH (r:CueRoot {uid: uid}) DELETE r"


class Sources:
    """Writes files and folders in one transaction. `store.transaction` documents the methods."""

    def __init__(self, state: WriteState) -> None:
        self.state = state
        self.tx = state.tx

    def put(self, files: Sequence[SourceFile]) -> None:
        part = self.state.partition
        given = [
            {
                "uid": uid(part, f.path), "part": part, "path": f.path, "file": short(f.path), "size": f.size,
                "mtime_ns": f.mtime_ns, "hash": f.hash, "ingested": f.ingested,
            }
            for f in files
        ]  # fmt: skip
        self.state.run(_SOURCES, given)

    def of_nodes(self, keys: Sequence[int]) -> set[tuple[int, str]]:
        return {(part, path) for some in chunks(keys) for part, path in rows(self.tx, _SOURCES_OF, keys=some)}

    def remove_empty(self, files: Collection[tuple[int, str]]) -> None:
        self.state.run(_EMPTY, [[part, short(path)] for part, path in files])

    def put_roots(self, roots: Mapping[str, str], removed: Sequence[str]) -> None:
        part = self.state.partition
        given = [{"uid": uid(part, n), "part": part, "name": n, "path": path} for n, path in roots.items()]
        self.state.run(_ROOTS, given)
        self.state.run(_NO_ROOTS, [uid(part, name) for name in removed])
