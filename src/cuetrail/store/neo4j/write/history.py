"""The history of nodes: the names and texts that they had before they were edited."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cuetrail.model import Version
from cuetrail.store.neo4j.connection import chunks, rows
from cuetrail.store.neo4j.rows import short, uid
from cuetrail.store.neo4j.write.state import WriteState

_VERSIONS_OF = "UNWIND $refs AS ref MATCH (v:CueVersion {part: $part, ref: ref})"
_EARLIER = f"{_VERSIONS_OF} RETURN v.id, coalesce(CASE WHEN v.text <> '' THEN v.text ELSE v.name END, '')"
_PUT_VERSIONS = "UNWIND $rows AS row MERGE (v:CueVersion {uid: row.uid}) ON CREATE SET v = row"
_NO_VERSIONS = "UNWIND $rows AS uid MATCH (v:CueVersion {uid: uid}) DELETE v"


class History:
    """Reads and writes earlier versions in one transaction. `store.transaction` documents the methods."""

    def __init__(self, state: WriteState) -> None:
        self.state = state
        self.tx = state.tx

    def _versions(self, query: str, partition: int, ids: Sequence[str]) -> list[Any]:
        refs = [short(id_) for id_ in ids]
        return [row for some in chunks(refs) for row in rows(self.tx, query, refs=some, part=partition)]

    def texts(self, partition: int, ids: Sequence[str]) -> list[tuple[str, str]]:
        return [(id_, text) for id_, text in self._versions(_EARLIER, partition, ids)]

    def last_times(self, ids: Sequence[str]) -> dict[str, int]:
        return dict(self._versions(f"{_VERSIONS_OF} RETURN v.id, max(v.at)", self.state.partition, ids))

    def put(self, versions: Sequence[Version]) -> None:
        part = self.state.partition
        given = [
            {
                "uid": uid(part, str(v.at), v.id), "part": part, "id": v.id, "ref": short(v.id), "at": v.at,
                "name": v.name, "text": v.text,
            }
            for v in versions
        ]  # fmt: skip
        self.state.run(_PUT_VERSIONS, given)

    def drop(self, versions: Sequence[Version]) -> None:
        self.state.run(_NO_VERSIONS, [uid(self.state.partition, str(one.at), one.id) for one in versions])

    def remove(self, partition: int, ids: Sequence[str]) -> None:
        self._versions(f"{_VERSIONS_OF} DELETE v", partition, ids)
