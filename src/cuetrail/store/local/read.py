"""Reads of the truth. Each takes an open connection and a scope, and never leaves the scope."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from cuetrail.model import (
    Edge,
    Fact,
    Link,
    Mention,
    Neighbour,
    Neighbourhood,
    Node,
    Note,
    Scope,
    SourceFile,
    Stats,
    Tombstone,
    Version,
)
from cuetrail.store.base import Band, Record
from cuetrail.store.local import rows
from cuetrail.store.local.db import chunks, damaged, marks, meta, my_parts, visible_parts
from cuetrail.store.local.schema import VERSION
from cuetrail.text import fingerprint, storable


def checked_node(path: Path, row: tuple[Any, ...]) -> Node:
    """A node whose row still has the checksum it was written with; else the truth is damaged."""
    if rows.check_sum(row) != row[6]:
        raise damaged(path, f"{row[2]!r} changed on disk")
    return rows.to_node(row)


def nodes_by_key(db: sqlite3.Connection, path: Path, keys: Sequence[int]) -> dict[int, Node]:
    """Nodes by key, whoever owns them."""
    found = {}
    for some in chunks(keys):
        for row in db.execute(f"{rows.NODE} WHERE n.key IN ({marks(len(some))})", some):
            found[row[0]] = checked_node(path, row)
    return found


def closest_first(db: sqlite3.Connection, scope: Scope, parts: Sequence[int]) -> list[int]:
    """Parts in the order in which they win where several have a row of one id.

    First the part this scope writes to, so that what was written is what is read; then the user's others, then shared.
    """
    if len(parts) < 2:
        return list(parts)
    found = db.execute(f"SELECT part, owner, team FROM parts WHERE part IN ({','.join(map(str, parts))})").fetchall()
    wanted = scope.share or ""
    return [row[0] for row in sorted(found, key=lambda row: (row[1] != scope.user, row[2] != wanted, row[2], row[1]))]


def find_keys(db: sqlite3.Connection, ids: Iterable[str], table: str, parts: Sequence[int]) -> dict[str, int]:
    """Ids to keys among the given parts, in the order asked; where several parts have the id, the first one wins."""
    order = {part: n for n, part in enumerate(parts)}
    best: dict[str, tuple[int, int]] = {}
    asked = [id_ for id_ in dict.fromkeys(ids) if storable(id_)]
    for some in chunks(asked):
        for id_, key, part in db.execute(f"SELECT id, key, part FROM {table} WHERE id IN ({marks(len(some))})", some):
            rank = order.get(part)
            if rank is not None and (id_ not in best or rank < best[id_][0]):
                best[id_] = (rank, key)
    return {id_: best[id_][1] for id_ in asked if id_ in best}


class Reader:
    """One consistent view of the truth for one scope."""

    def __init__(self, db: sqlite3.Connection, scope: Scope, path: Path) -> None:
        self.db = db
        self.path = path
        self.scope = scope
        parts, self.all = visible_parts(db, scope)
        self.parts = closest_first(db, scope, parts)

    def among(self, column: str = "part") -> str:
        """A SQL condition that keeps rows inside the scope."""
        return "1" if self.all else f"{column} IN ({','.join(map(str, self.parts)) or 'NULL'})"

    def own(self, column: str = "part") -> str:
        """A SQL condition that keeps rows to those this user owns: what it may change, and what it exports."""
        return f"{column} IN ({','.join(map(str, my_parts(self.db, self.scope))) or 'NULL'})"

    def keys(self, ids: Iterable[str], table: str = "nodes") -> dict[str, int]:
        """Ids to keys, in the order asked, own rows before shared ones."""
        return find_keys(self.db, ids, table, self.parts)

    def ids(self, prefix: str, limit: int) -> list[str]:
        """Ids that begin so, in order, each once. No character sorts behind the last one of Unicode."""
        if limit <= 0 or not storable(prefix):
            return []
        query = f"SELECT DISTINCT id FROM nodes WHERE id >= ? AND id < ? AND {self.among()} ORDER BY id LIMIT ?"
        return [row[0] for row in self.db.execute(query, (prefix, prefix + "\U0010ffff", limit))]

    def shown(self, keys: Sequence[int]) -> dict[int, tuple[str, int]]:
        """Keys to ids and times of the nodes that `nodes` gives: visible, and not hidden behind a closer one."""
        found: dict[int, tuple[str, int]] = {}
        for some in chunks(keys):
            query = f"SELECT key, id, at FROM nodes WHERE key IN ({marks(len(some))}) AND {self.among()}"
            found.update((key, (id_, at)) for key, id_, at in self.db.execute(query, some))
        if len(self.parts) > 1:
            closest = self.keys(id_ for id_, _ in found.values())
            found = {key: row for key, row in found.items() if closest[row[0]] == key}
        return found

    def nodes(self, ids: Sequence[str]) -> dict[str, Node]:
        """Nodes by id, in the order asked; missing ones are absent."""
        by_key = self.nodes_by_key(list(self.keys(ids).values()))
        by_id = {node.id: node for node in by_key.values()}
        return {id_: by_id[id_] for id_ in dict.fromkeys(ids) if id_ in by_id}

    def nodes_by_key(self, keys: Sequence[int]) -> dict[int, Node]:
        """Nodes by key."""
        return nodes_by_key(self.db, self.path, keys)

    def edges(self, ids: Sequence[str]) -> dict[str, Edge]:
        """Edges by id, in the order asked; one that leads to a node outside the scope is not shown."""
        found = {}
        ends = f"{self.among('a.part')} AND {self.among('b.part')}"
        keys = self.keys(ids, "edges")
        for some in chunks(list(keys.values())):
            for row in self.db.execute(f"{rows.EDGE} WHERE e.key IN ({marks(len(some))}) AND {ends}", some):
                found[row[2]] = rows.to_edge(row)
        return {id_: found[id_] for id_ in keys if id_ in found}

    def facts(self, subjects: Sequence[str]) -> dict[str, list[Fact]]:
        """Facts per subject, the most certain first, then newer, then by id. None about a node outside the scope."""
        found: dict[str, list[Fact]] = {}
        keys = self.keys(subjects)
        for some in chunks(list(keys.values())):
            query = (
                f"{rows.FACT} WHERE f.subject IN ({marks(len(some))}) AND {self.among('f.part')}"
                f" AND (b.key IS NULL OR {self.among('b.part')}) ORDER BY f.confidence DESC, f.created DESC, f.id"
            )
            for row in self.db.execute(query, some):
                found.setdefault(row[3], []).append(rows.to_fact(row))
        return {id_: found[id_] for id_ in keys if id_ in found}

    def named(self, norms: Sequence[str]) -> dict[str, list[str]]:
        """Ids of the nodes that carry each name or alias, by id."""
        carriers: list[tuple[str, str, int]] = []
        for some in chunks([norm for norm in dict.fromkeys(norms) if storable(norm)]):
            query = (
                "SELECT m.norm, n.id, n.key FROM names m JOIN nodes n ON n.key = m.key"
                f" WHERE m.norm IN ({marks(len(some))}) AND {self.among('n.part')} ORDER BY m.norm, n.id"
            )
            carriers += self.db.execute(query, some).fetchall()
        closest = self.keys(id_ for _, id_, _ in carriers) if len(self.parts) > 1 else None
        found: dict[str, list[str]] = {}
        for norm, id_, key in carriers:
            if closest is None or closest[id_] == key:
                found.setdefault(norm, []).append(id_)
        return found

    def neighbours(self, ids: Sequence[str], limit: int) -> dict[str, Neighbourhood]:
        """The `limit` strongest edges of each node, by weight, neighbour and edge; reading stops there.

        The degree counts every visible edge, also one that leads to a node outside the scope.
        """
        degree = f"SELECT sum(degree) FROM degrees WHERE node = ? AND {self.among()}"
        return {
            id_: Neighbourhood(self.db.execute(degree, (key,)).fetchone()[0] or 0, self._strongest(key, limit))
            for id_, key in self.keys(ids).items()
        }

    def expansion(self) -> str:
        """The query behind `neighbours`, strongest first. It must need no sort: a hub would be read whole for it."""
        return (
            "SELECT a.rank, a.other_id, e.id, e.kind, e.weight, e.tags, a.outgoing FROM adjacency a"
            " JOIN edges e ON e.key = a.edge JOIN nodes n ON n.key = a.other"
            f" WHERE a.node = ? AND {self.among('a.part')} AND {self.among('n.part')}"
            " ORDER BY a.rank, a.other_id, a.edge"
        )

    def _strongest(self, key: int, limit: int) -> tuple[Neighbour, ...]:
        read: list[tuple[Any, ...]] = []
        with contextlib.closing(self.db.execute(self.expansion(), (key,))) as cursor:
            for row in cursor:
                # Parallel edges of one weight are stored by age; all are read before their ids put them in order.
                if len(read) >= limit and (limit <= 0 or row[:2] != read[-1][:2]):
                    break
                read.append(row)
        read.sort(key=lambda row: row[:3])
        return tuple(
            Neighbour(other, edge, kind, weight, tuple(json.loads(tags)) if tags else (), bool(out))
            for _, other, edge, kind, weight, tags, out in read[: max(limit, 0)]
        )

    def scan(self) -> Iterator[tuple[str | None, Record]]:
        """Everything this user owns with the team it is shared with, in a fixed order: what export writes."""
        mine = "SELECT part, team FROM parts WHERE tenant = ? AND owner = ? ORDER BY team"
        parts = self.db.execute(mine, (self.scope.tenant, self.scope.user)).fetchall()
        for query, order, make in _SCANS:
            for part, team in parts:
                for row in self.db.execute(f"{query} = ? ORDER BY {order}", (part,)):
                    yield team or None, checked_node(self.path, row) if make is rows.to_node else make(row)

    def stats(self) -> Stats:
        """Counts of what the scope can see."""

        def count(table: str) -> int:
            return int(self.db.execute(f"SELECT count(*) FROM {table} WHERE {self.among()}").fetchone()[0])

        def groups(query: str) -> dict[str, int]:
            return dict(self.db.execute(query).fetchall())

        seen = self.among("n.part")
        space = meta(self.db, "vector_space")
        labels = "FROM labels l JOIN node_labels x ON x.label = l.label JOIN nodes n ON n.key = x.key"
        vectors = f"SELECT count(*) FROM vectors v JOIN nodes n ON n.key = v.key WHERE {seen}"
        tags = f"SELECT count(DISTINCT l.label) {labels} WHERE l.what = 't' AND {seen}"
        return Stats(
            nodes=count("nodes"),
            edges=count("edges"),
            facts=count("facts"),
            notes=count("notes"),
            mentions=count("mentions"),
            vectors=self.db.execute(vectors).fetchone()[0],
            tombstones=count("tombstones"),
            kinds=groups(f"SELECT kind, count(*) FROM nodes WHERE {self.among()} GROUP BY kind ORDER BY kind"),
            tags=self.db.execute(tags).fetchone()[0],
            buckets=groups(
                f"SELECT l.name, count(*) {labels} WHERE l.what = 'b' AND {seen} GROUP BY l.name ORDER BY l.name"
            ),
            embedder=json.loads(space)["model"] if space else None,
            schema=VERSION,
        )

    def source_files(self, under: str) -> dict[str, SourceFile]:
        """Ingested files whose path is `under` or lies below it."""
        query = (
            f"{rows.SOURCE} WHERE {self.own()} AND hash IS NOT NULL"
            " AND (path = ?1 OR substr(path, 1, length(?2)) = ?2) ORDER BY path"
        )
        below = under if not under or under.endswith("/") else under + "/"
        return {row[0]: SourceFile(*row) for row in self.db.execute(query, (under, below))}

    def roots(self) -> dict[str, str]:
        """Ingested folders by their short names."""
        return dict(self.db.execute(f"SELECT name, path FROM roots WHERE {self.own()} ORDER BY name").fetchall())

    def history(self, id_: str) -> list[Version]:
        """Earlier versions of a node the user owns, the oldest first."""
        if not storable(id_):
            return []
        query = f"SELECT id, at, name, text FROM history WHERE {self.own()} AND id = ? ORDER BY at"
        return [Version(*row) for row in self.db.execute(query, (id_,))]

    def atoms_of(self, sources: Sequence[str]) -> dict[str, list[Node]]:
        """The user's own nodes per file, in sequence; a file's chats (`file#id`) count as the file."""
        found: dict[str, list[Node]] = {path: [] for path in sources}
        same = "path = ?1 OR (path > ?1 || '#' AND path < ?1 || '$')"
        query = f"SELECT source FROM sources WHERE {self.own()} AND ({same})"
        owner = {key: path for path in sources for (key,) in self.db.execute(query, (path,))}
        for some in chunks(list(owner)):
            nodes = f"SELECT source, key FROM nodes WHERE source IN ({marks(len(some))}) ORDER BY source, seq, id"
            keys = {key: owner[source] for source, key in self.db.execute(nodes, some)}
            by_key = self.nodes_by_key(list(keys))
            for key, path in keys.items():
                found[path].append(by_key[key])
        return found

    def copies(self, nodes: Sequence[Node]) -> list[str]:
        """Ids of the user's own other nodes with the text of one of these; looks at every text once."""
        said = {fingerprint(node.text) for node in nodes if node.text}
        # Letters and digits in order tell most texts apart before they are normalised.
        lengths = sorted({len("".join(node.text.split())) for node in nodes if node.text})
        spaces = "replace(replace(replace(text, ' ', ''), char(10), ''), char(9), '')"
        query = f"SELECT id, text FROM nodes WHERE {self.own()} AND length({spaces}) IN ({marks(len(lengths))})"
        known = {node.id for node in nodes}
        found = self.db.execute(query, lengths) if said else ()
        return sorted({id_ for id_, text in found if id_ not in known and fingerprint(text) in said})

    def links_of(self, ids: Sequence[str]) -> dict[str, list[Link]]:
        """Links of the given atoms."""
        found: dict[str, list[Link]] = {}
        for some in chunks(list(self.keys(ids).values())):
            query = f"{rows.LINK} WHERE l.src IN ({marks(len(some))}) ORDER BY l.norm, l.kind"
            for row in self.db.execute(query, some):
                found.setdefault(row[0], []).append(Link(*row))
        return found

    def links_to(self, norms: Sequence[str]) -> dict[str, list[Link]]:
        """Links of the user's own atoms to each name, by source id."""
        own = self.own("l.part")
        found: dict[str, list[Link]] = {}
        for some in chunks(norms):
            query = f"{rows.LINK} WHERE l.norm IN ({marks(len(some))}) AND {own} ORDER BY n.id, l.kind"
            for row in self.db.execute(query, some):
                found.setdefault(row[1], []).append(Link(*row))
        return found

    def edges_via(self, norms: Sequence[str]) -> dict[str, list[Edge]]:
        """Rule-made edges per name they were made through."""
        own = self.own("e.part")
        found: dict[str, list[Edge]] = {}
        for some in chunks(norms):
            query = f"{rows.EDGE} WHERE e.via IN ({marks(len(some))}) AND {own} ORDER BY e.id"
            for row in self.db.execute(query, some):
                found.setdefault(row[13], []).append(rows.to_edge(row))
        return found

    def simhash_bands(self, wanted: Collection[Band], limit: int) -> dict[Band, list[tuple[str, int]]]:
        """The user's own nodes that carry each band of a SimHash, with their hashes; of each band at most `limit`."""
        own = self.own()
        found: dict[Band, list[tuple[str, int]]] = {}
        for number, expression in enumerate(_BANDS):
            # One seek a value. The list inside keeps a crowded band from being read to its end.
            carriers = f"SELECT key FROM nodes WHERE {expression} = w.value AND simhash IS NOT NULL AND {own} LIMIT ?"
            for some in chunks([value for band, value in wanted if band == number]):
                query = (
                    f"WITH w (value) AS (VALUES {','.join(['(?)'] * len(some))})"
                    f" SELECT w.value, n.id, n.simhash FROM w JOIN nodes n ON n.key IN ({carriers})"
                )
                for value, id_, simhash in self.db.execute(query, (*some, limit)):
                    found.setdefault((number, value), []).append((id_, rows.unsigned(simhash)))
        return found


_BANDS = ("simhash & 2097151", "(simhash >> 21) & 2097151", "(simhash >> 42) & 4194303")
_SCANS: tuple[tuple[str, str, Callable[[tuple[Any, ...]], Record]], ...] = (
    (f"{rows.SOURCE} WHERE hash IS NOT NULL AND part", "path", lambda row: SourceFile(*row)),
    ("SELECT hash, at FROM tombstones WHERE part", "hash", lambda row: Tombstone(*row)),
    (f"{rows.NODE} WHERE n.part", "n.id", rows.to_node),
    ("SELECT id, at, name, text FROM history WHERE part", "id, at", lambda row: Version(*row)),
    (f"{rows.EDGE} WHERE e.part", "e.id", rows.to_edge),
    (f"{rows.FACT} WHERE f.part", "f.id", rows.to_fact),
    (f"{rows.NOTE} WHERE o.part", "o.id", lambda row: Note(*row)),
    (f"{rows.MENTION} WHERE m.part", "a.id, b.id", lambda row: Mention(*row)),
    (f"{rows.LINK} WHERE l.part", "n.id, l.norm, l.kind", lambda row: Link(*row)),
)
