"""Writes the links that texts contain, and which sources mention which nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cuetrail.model import Link
from cuetrail.store.neo4j.rows import uid
from cuetrail.store.neo4j.write.state import WriteState

# A MERGE by partition would read all mentions of it for each row, on a server that planned it while it had few.
_MENTIONS = """UNWIND $rows AS row MATCH (a:CueNode {key: row[0]}) MATCH (b:CueNode {key: row[1]})
OPTIONAL MATCH (a)-[m:CUE_MENTIONS]->(b) WHERE m.part + 0 = $part SET m.at = row[2]
FOREACH (_ IN CASE WHEN m IS NULL THEN [1] ELSE [] END | CREATE (a)-[:CUE_MENTIONS {part: $part, at: row[2]}]->(b))"""
_LINKS = """UNWIND $rows AS row MATCH (n:CueNode {key: row.key}) MERGE (l:CueLink {uid: row.props.uid})
SET l = row.props MERGE (n)-[:CUE_LINKS]->(l)"""
_NO_LINKS = "UNWIND $rows AS uid MATCH (l:CueLink {uid: uid}) DETACH DELETE l"


class Links:
    """Writes links and mentions in one transaction. `store.transaction` documents the methods."""

    def __init__(self, state: WriteState) -> None:
        self.state = state
        self.tx = state.tx

    def put(self, links: Sequence[tuple[int, Link]]) -> None:
        put: list[dict[str, Any]] = []
        for key, link in links:
            props = {"norm": link.norm, "kind": link.kind, "display": link.display, "part": self.state.partition}
            put.append(
                {"key": key, "props": {**props, "uid": uid(self.state.partition, str(key), link.kind, link.norm)}}
            )
        self.state.run(_LINKS, [row for row in put if row["props"]["display"]])
        self.state.run(_NO_LINKS, [row["props"]["uid"] for row in put if not row["props"]["display"]])
        # The links of a node decide which edges dreams may add to it.
        self.state.changed.update(key for key, _ in links)

    def put_mentions(self, mentions: Mapping[tuple[int, int], int]) -> None:
        self.state.run(_MENTIONS, [[*pair, at] for pair, at in mentions.items()])
