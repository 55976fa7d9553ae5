"""Reads for ingest and rules, most of them from the one partition a scope writes to.

A file ingested for a team and the same path ingested privately are two files. So what a rule derives in one partition
never reaches another. Records of that partition have their plain ids.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from cuetrail.model import Edge, Link, Node, SourceFile
from cuetrail.store.read import Band, EdgeKey, Ingested, LinkKey, folder
from cuetrail.store.shared.stored_values import unsigned
from cuetrail.store.sqlite import rows
from cuetrail.store.sqlite.connection import chunks, marks
from cuetrail.store.sqlite.reader import SAME, Reader, nodes_by_key

_BANDS = ("simhash & 2097151", "(simhash >> 21) & 2097151", "(simhash >> 42) & 4194303")


def _here(reader: Reader, column: str = "part") -> str:
    """Returns a SQL condition that is true for rows in the partition the scope writes to."""
    home = reader.ids.home
    return f"{column} = {home}" if home is not None else "0"


def roots(reader: Reader) -> dict[str, str]:
    """Returns the paths of the folders ingested into the partition, by their short names."""
    return dict(reader.db.execute(f"SELECT name, path FROM roots WHERE {_here(reader)} ORDER BY name").fetchall())


def ingested(reader: Reader, under: str | None = None) -> Ingested:
    if under is None:
        return Ingested(roots(reader), {})
    query = (
        f"{rows.SOURCE} WHERE {_here(reader)} AND hash IS NOT NULL"
        " AND (path = ?1 OR substr(path, 1, length(?2)) = ?2) ORDER BY path"
    )
    found = reader.db.execute(query, (under, folder(under)))
    return Ingested(roots(reader), {row[0]: SourceFile(*row) for row in found})


def atoms_of(reader: Reader, sources: Sequence[str], everywhere: bool = False) -> dict[str, list[Node]]:
    found: dict[str, list[Node]] = {path: [] for path in sources}
    query = f"SELECT source FROM sources WHERE {reader.own() if everywhere else _here(reader)} AND {SAME}"
    owner = {key: path for path in sources for (key,) in reader.db.execute(query, (path,))}
    for some in chunks(list(owner)):
        nodes = f"SELECT source, key FROM nodes WHERE source IN ({marks(len(some))}) ORDER BY source, seq, id"
        keys = {key: owner[source] for source, key in reader.db.execute(nodes, some)}
        by_key = reader.nodes_by_key(list(keys)) if everywhere else nodes_by_key(reader.db, reader.path, list(keys))
        for key, path in keys.items():
            found[path].append(by_key[key])
    return {path: sorted(nodes, key=lambda node: node.id) for path, nodes in found.items()} if everywhere else found


def links(reader: Reader, keys: Sequence[str], by: LinkKey = "atom") -> dict[str, list[Link]]:
    return _links_of(reader, keys) if by == "atom" else _links_to(reader, keys)


def _links_of(reader: Reader, ids: Sequence[str]) -> dict[str, list[Link]]:
    found: dict[str, list[Link]] = {}
    names = {key: id_ for id_, key in reader.keys(ids).items()}
    for some in chunks(list(names)):
        query = f"{rows.LINK} WHERE l.src IN ({marks(len(some))}) ORDER BY l.norm, l.kind"
        for _, norm, display, kind, src in reader.db.execute(query, some):
            found.setdefault(names[src], []).append(Link(names[src], norm, display, kind))
    return found


def _links_to(reader: Reader, norms: Sequence[str]) -> dict[str, list[Link]]:
    here = _here(reader, "l.part")
    found: dict[str, list[Link]] = {}
    for some in chunks(norms):
        query = f"{rows.LINK} WHERE l.norm IN ({marks(len(some))}) AND {here} ORDER BY n.id, l.kind"
        for row in reader.db.execute(query, some):
            found.setdefault(row[1], []).append(Link(*row[:4]))
    return found


def edges(reader: Reader, keys: Sequence[str], by: EdgeKey = "id") -> dict[str, list[Edge]]:
    if by == "id":
        return {id_: [edge] for id_, edge in reader.edges(keys).items()}
    found: dict[str, list[Edge]] = {}
    for some in chunks(keys):
        query = f"{rows.EDGE} WHERE e.via IN ({marks(len(some))}) AND {_here(reader, 'e.part')} ORDER BY e.id"
        read = reader.db.execute(query, some).fetchall()
        for row, edge in zip(read, reader.made_edges(read), strict=True):
            found.setdefault(row[13], []).append(edge)
    return found


def simhash_bands(reader: Reader, wanted: Collection[Band], limit: int) -> dict[Band, list[tuple[str, int]]]:
    here = _here(reader)
    found: dict[Band, list[tuple[str, int]]] = {}
    for number, expression in enumerate(_BANDS):
        # One seek per value. The inner query keeps a crowded band from being read to its end.
        carriers = f"SELECT key FROM nodes WHERE {expression} = w.value AND simhash IS NOT NULL AND {here} LIMIT ?"
        for some in chunks([value for band, value in wanted if band == number]):
            query = (
                f"WITH w (value) AS (VALUES {','.join(['(?)'] * len(some))})"
                f" SELECT w.value, n.id, n.simhash FROM w JOIN nodes n ON n.key IN ({carriers})"
            )
            for value, id_, simhash in reader.db.execute(query, (*some, limit)):
                found.setdefault((number, value), []).append((id_, unsigned(simhash)))
    return found
