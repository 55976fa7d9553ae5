"""What ingest asks: reads of the one place a scope writes to. Here every record has its plain id.

A file that is ingested for a team and one that is kept private are two, also where their paths are the same. So what a
rule finds and writes back in one place never carries a memory into another.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from cuetrail.model import Edge, Link, Node, Scope, SourceFile
from cuetrail.store.neo4j import rows as made
from cuetrail.store.neo4j.connection import chunks, rows
from cuetrail.store.neo4j.ids import short
from cuetrail.store.neo4j.reader import ENDS, Reader
from cuetrail.store.ports import Band

if TYPE_CHECKING:
    from cuetrail.store.neo4j.connection import Tx

# No place has this number, so of one in which nothing was written nothing is read.
NOWHERE = -1
SOURCE = "s.path, s.size, s.mtime_ns, s.hash, s.ingested"


class Home:
    """The place a scope writes to, in one transaction."""

    def __init__(self, tx: Tx, scope: Scope) -> None:
        self.tx = tx
        self.reader = Reader(tx, scope)
        home = self.reader.ids.home
        self.part = NOWHERE if home is None else home

    def source_files(self, under: str) -> dict[str, SourceFile]:
        """Ingested files whose path is `under` or lies below it."""
        below = under if not under or under.endswith("/") else under + "/"
        query = (
            f"MATCH (s:CueSource {{part: $part}}) WHERE s.path = $under OR s.path STARTS WITH $below RETURN {SOURCE}"
        )
        found = rows(self.tx, query, part=self.part, under=under, below=below)
        return {row[0]: SourceFile(*row) for row in sorted(found)}

    def roots(self) -> dict[str, str]:
        """Ingested folders by their short names."""
        query = "MATCH (r:CueRoot {part: $part}) RETURN r.name, r.path"
        return dict(sorted(rows(self.tx, query, part=self.part)))

    def atoms_of(self, sources: Sequence[str]) -> dict[str, list[Node]]:
        """Nodes per file, in sequence; a file's chats (`file#id`) count as the file."""
        query = (
            "UNWIND $files AS file MATCH (n:CueNode) WHERE n.part = $part"
            f" AND (n.file = file OR n.file STARTS WITH file + '#') RETURN file, {made.NODE}"
        )
        names = {short(path): path for path in sources}
        found: dict[str, list[Node]] = {path: [] for path in sources}
        whose = self.reader.ids.whose.get(self.part, ("", None))
        for some in chunks(list(names), 100):
            for file, node in rows(self.tx, query, files=some, part=self.part):
                found[names[file]].append(made.to_node(node, whose))
        return {path: sorted(some, key=lambda n: (n.source or "", n.seq, n.id)) for path, some in found.items()}

    def links_to(self, norms: Sequence[str]) -> dict[str, list[Link]]:
        """Links of atoms to each name, by source id."""
        query = (
            "UNWIND $norms AS norm MATCH (l:CueLink {part: $part, norm: norm})<-[:CUE_LINKS]-(n:CueNode)"
            " RETURN n.id, l.norm, l.display, l.kind"
        )
        found: dict[str, list[Link]] = {}
        for some in chunks(list(dict.fromkeys(norms))):
            for row in rows(self.tx, query, norms=some, part=self.part):
                found.setdefault(row[1], []).append(Link(*row))
        return {norm: sorted(links, key=lambda link: (link.src, link.kind)) for norm, links in found.items()}

    def edges_via(self, norms: Sequence[str]) -> dict[str, list[Edge]]:
        """Rule-made edges per name they were made through."""
        query = (
            "UNWIND $norms AS via MATCH (a)-[e:CUE_EDGE {part: $part, via: via}]->(b)"
            f" USING INDEX SEEK e:CUE_EDGE(part, via) RETURN {made.EDGE_MAP}, {ENDS}"
        )
        found: dict[str, list[Edge]] = {}
        for some in chunks(list(dict.fromkeys(norms))):
            read = sorted(rows(self.tx, query, norms=some, part=self.part), key=lambda row: str(row[0]["id"]))
            for row, edge in zip(read, self.reader.made_edges(read), strict=True):
                found.setdefault(row[0]["via"], []).append(edge)
        return found

    def simhash_bands(self, wanted: Collection[Band], limit: int) -> dict[Band, list[tuple[str, int]]]:
        """Nodes that carry each band of a SimHash, with their hashes; of each band at most `limit`."""
        found: dict[Band, list[tuple[str, int]]] = {}
        for number in range(3):
            query = (
                "UNWIND $values AS value CALL (value) { MATCH (n:CueNode) WHERE n.part = $part"
                f" AND n.band{number} = value RETURN n.id AS id, n.simhash AS simhash LIMIT $limit }}"
                " RETURN value, id, simhash"
            )
            values = [value for band, value in wanted if band == number]
            for some in chunks(values):
                for value, id_, simhash in rows(self.tx, query, values=some, part=self.part, limit=max(limit, 0)):
                    found.setdefault((number, value), []).append((id_, made.unsigned(simhash)))
        return found
