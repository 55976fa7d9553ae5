"""Reads for ingest and rules, most of them from the one partition a scope writes to.

A file ingested for a team and the same path ingested privately are two files. So what a rule derives in one partition
never reaches another. Records of that partition have their plain ids.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from operator import attrgetter

from cuetrail.model import Edge, Link, Node, SourceFile
from cuetrail.store.neo4j import rows as made
from cuetrail.store.neo4j.connection import chunks, rows
from cuetrail.store.neo4j.ids import RecordId
from cuetrail.store.neo4j.reader import ENDS, Reader
from cuetrail.store.neo4j.rows import short
from cuetrail.store.read import Band, EdgeKey, Ingested, LinkKey, folder
from cuetrail.store.shared.stored_values import unsigned
from cuetrail.text.normalise import storable

SOURCE = "s.path, s.size, s.mtime_ns, s.hash, s.ingested"


def roots(reader: Reader) -> dict[str, str]:
    """Returns the paths of the folders ingested into the partition, by their short names."""
    query = "MATCH (r:CueRoot {part: $part}) RETURN r.name, r.path"
    return dict(sorted(rows(reader.tx, query, part=reader.home)))


def ingested(reader: Reader, under: str | None = None) -> Ingested:
    query = f"MATCH (s:CueSource {{part: $part}}) WHERE s.path = $under OR s.path STARTS WITH $below RETURN {SOURCE}"
    given = {} if under is None else {"under": under, "below": folder(under)}
    found = rows(reader.tx, query, part=reader.home, **given) if given else []
    return Ingested(roots(reader), {row[0]: SourceFile(*row) for row in sorted(found)})


def atoms_of(reader: Reader, sources: Sequence[str], everywhere: bool = False) -> dict[str, list[Node]]:
    query = (
        "UNWIND $files AS file MATCH (n:CueNode) WHERE n.part IN $parts"
        f" AND (n.file = file OR n.file STARTS WITH file + '#') RETURN file, {made.NODE}"
    )
    names = {short(path): path for path in sources if storable(path)}
    found: dict[str, list[Node]] = {path: [] for path in sources}
    parts = reader.ids.mine if everywhere else [reader.home]
    read = [row for some in chunks(list(names), 100) for row in rows(reader.tx, query, files=some, parts=parts)]
    ids = reader.ids.names(RecordId(node["key"], node["id"], node["part"]) for _, node in read) if everywhere else {}
    for file, node in read:
        one = made.to_node(node, reader.ids.whose[node["part"]])
        found[names[file]].append(replace(one, id=ids[node["key"]]) if everywhere else one)
    order = attrgetter("id") if everywhere else lambda node: (node.source or "", node.seq, node.id)
    return {path: sorted(some, key=order) for path, some in found.items()}


def links(reader: Reader, keys: Sequence[str], by: LinkKey = "atom") -> dict[str, list[Link]]:
    return _links_of(reader, keys) if by == "atom" else _links_to(reader, keys)


def _links_of(reader: Reader, ids: Sequence[str]) -> dict[str, list[Link]]:
    names = {key: id_ for id_, key in reader.ids.keys(ids).items()}
    query = (
        "UNWIND $keys AS key MATCH (n:CueNode {key: key})-[:CUE_LINKS]->(l) USING INDEX SEEK n:CueNode(key)"
        " RETURN key, l.norm, l.display, l.kind"
    )
    found: dict[str, list[Link]] = {}
    for some in chunks(list(names)):
        for key, norm, display, kind in rows(reader.tx, query, keys=some):
            found.setdefault(names[key], []).append(Link(names[key], norm, display, kind))
    return {id_: sorted(some, key=lambda link: (link.norm, link.kind)) for id_, some in found.items()}


def _links_to(reader: Reader, norms: Sequence[str]) -> dict[str, list[Link]]:
    query = (
        "UNWIND $norms AS norm MATCH (l:CueLink {part: $part, norm: norm})<-[:CUE_LINKS]-(n:CueNode)"
        " RETURN n.id, l.norm, l.display, l.kind"
    )
    found: dict[str, list[Link]] = {}
    for some in chunks(list(dict.fromkeys(norms))):
        for row in rows(reader.tx, query, norms=some, part=reader.home):
            found.setdefault(row[1], []).append(Link(*row))
    return {norm: sorted(links, key=lambda link: (link.src, link.kind)) for norm, links in found.items()}


def edges(reader: Reader, keys: Sequence[str], by: EdgeKey = "id") -> dict[str, list[Edge]]:
    if by == "id":
        return {id_: [edge] for id_, edge in reader.edges(keys).items()}
    query = (
        "UNWIND $norms AS via MATCH (a)-[e:CUE_EDGE {part: $part, via: via}]->(b)"
        f" USING INDEX SEEK e:CUE_EDGE(part, via) RETURN {made.EDGE_MAP}, {ENDS}"
    )
    via: dict[str, list[Edge]] = {}
    for some in chunks(list(dict.fromkeys(keys))):
        read = sorted(rows(reader.tx, query, norms=some, part=reader.home), key=lambda row: str(row[0]["id"]))
        for (props, *_), edge in zip(read, reader.made_edges(read), strict=True):
            via.setdefault(props["via"], []).append(edge)
    return via


def simhash_bands(reader: Reader, wanted: Collection[Band], limit: int) -> dict[Band, list[tuple[str, int]]]:
    found: dict[Band, list[tuple[str, int]]] = {}
    for number in range(3):
        query = (
            "UNWIND $values AS value CALL (value) { MATCH (n:CueNode) WHERE n.part = $part"
            f" AND n.band{number} = value RETURN n.id AS id, n.simhash AS simhash LIMIT $limit }}"
            " RETURN value, id, simhash"
        )
        values = [value for band, value in wanted if band == number]
        for some in chunks(values):
            for value, id_, simhash in rows(reader.tx, query, values=some, part=reader.home, limit=max(limit, 0)):
                found.setdefault((number, value), []).append((id_, unsigned(simhash)))
    return found
