"""Reads of `memory.db` for one scope. No method returns anything outside the scope."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from cuetrail.model import (
    Edge,
    Link,
    Mention,
    Neighbour,
    Neighbourhood,
    Node,
    Note,
    Scope,
    SourceFile,
    Tombstone,
    Version,
)
from cuetrail.model.ids import fingerprint
from cuetrail.store.read import Record
from cuetrail.store.search import NameMatch
from cuetrail.store.shared.ids import first_named, joined_ids
from cuetrail.store.shared.tombstones import SHORTEST, bare_words
from cuetrail.store.sqlite import rows
from cuetrail.store.sqlite.connection import CHUNK, chunks, damaged, marks
from cuetrail.store.sqlite.ids import ids_of
from cuetrail.text.normalise import storable

# A SQL condition on the path: the file itself or one of its chats (`file#id`).
SAME = "(path = ?1 OR (path > ?1 || '#' AND path < ?1 || '$'))"
# Allowance, in characters, for a speaker, a list mark and a full stop around the same words.
AROUND = 80
# At most so many names that continue another one are read.
_MOST_QUALIFIED = 5_000


def checked_node(path: Path, row: tuple[Any, ...]) -> Node:
    """Returns the node of a row. Raises CorruptMemory if the row does not match its checksum."""
    if rows.check_sum(row) != row[6]:
        raise damaged(path, f"{row[2]!r} changed on disk")
    return rows.to_node(row)


def nodes_by_key(db: sqlite3.Connection, path: Path, keys: Sequence[int]) -> dict[int, Node]:
    """Returns nodes by key, whoever owns them."""
    found = {}
    for some in chunks(keys):
        for row in db.execute(f"{rows.NODE} WHERE n.key IN ({marks(len(some))})", some):
            found[row[0]] = checked_node(path, row)
    return found


class Reader:
    """One consistent view of `memory.db` for one scope."""

    def __init__(self, db: sqlite3.Connection, scope: Scope, path: Path) -> None:
        self.db = db
        self.path = path
        self.scope = scope
        self.ids = ids_of(db, scope)
        self.parts, self.all = self.ids.parts, self.ids.all

    def among(self, column: str = "part") -> str:
        """Returns a SQL condition that is true for rows inside the scope."""
        return "1" if self.all else f"{column} IN ({','.join(map(str, self.parts)) or 'NULL'})"

    def own(self, column: str = "part") -> str:
        """Returns a SQL condition that is true for rows this user owns: those it may change and export."""
        return f"{column} IN ({','.join(map(str, self.ids.mine)) or 'NULL'})"

    def keys(self, ids: Iterable[str]) -> dict[str, int]:
        """Returns the keys of these node ids, in the given order."""
        return self.ids.keys(ids)

    def names(self, keys: Iterable[int]) -> dict[int, str]:
        """Returns the ids that these nodes have in this scope, by key; invisible ones are absent."""
        found: list[tuple[int, str, int]] = []
        for some in chunks(list(dict.fromkeys(keys))):
            query = f"SELECT key, id, part FROM nodes WHERE key IN ({marks(len(some))}) AND {self.among()}"
            found += self.db.execute(query, some)
        return self.ids.names(found)

    def ids_with_prefix(self, prefix: str, limit: int, of: Literal["node", "fact"] = "node") -> list[str]:
        """Returns the first `limit` ids of visible nodes or facts that begin with a prefix, in order."""
        if limit <= 0 or not storable(prefix):
            return []
        # No character sorts after the last one of Unicode.
        query = f"SELECT key, id, part FROM {of}s WHERE id >= ? AND id < ? AND {self.among()} ORDER BY id LIMIT ?"
        found = self.db.execute(query, (prefix, prefix + "\U0010ffff", limit)).fetchall()
        return sorted(self.ids.names(found, f"{of}s").values())

    def shown(self, keys: Sequence[int]) -> dict[int, tuple[str, int]]:
        """Returns the id and time of each visible node among these keys."""
        found: dict[int, tuple[str, int, int]] = {}
        for some in chunks(keys):
            query = f"SELECT key, id, part, at FROM nodes WHERE key IN ({marks(len(some))}) AND {self.among()}"
            found.update((key, (id_, part, at)) for key, id_, part, at in self.db.execute(query, some))
        names = self.ids.names((key, id_, part) for key, (id_, part, _) in found.items())
        return {key: (names[key], row[2]) for key, row in found.items()}

    def nodes(self, ids: Sequence[str]) -> dict[str, Node]:
        """Returns nodes by id, in the given order; missing ones are absent."""
        keys = self.keys(ids)
        by_key = self.nodes_by_key(list(keys.values()))
        # A cached key may belong to a node that another process has just deleted.
        return {id_: by_key[key] for id_, key in keys.items() if key in by_key}

    def nodes_by_key(self, keys: Sequence[int]) -> dict[int, Node]:
        """Returns visible nodes by key, with the ids they have in this scope."""
        found = nodes_by_key(self.db, self.path, keys)
        if len(self.parts) > 1:
            called = {key: id_ for key, id_ in self.names(found).items() if id_ != found[key].id}
            found |= {key: replace(found[key], id=id_) for key, id_ in called.items()}
        elif self.all:
            # Only if every node is visible: these keys may belong to anyone.
            self.ids.know({node.id: key for key, node in found.items()})
        return found

    def made_edges(self, found: Sequence[tuple[Any, ...]]) -> list[Edge]:
        """Turns rows of the EDGE query into edges, with the ids they and their ends have in this scope."""
        edges = [rows.to_edge(row) for row in found]
        if len(self.parts) < 2:
            return edges
        own = self.ids.names(((row[0], row[2], row[1]) for row in found), "edges")
        ends = self.names(key for row in found for key in row[19:21])
        return [
            replace(edge, id=own[row[0]], src=ends.get(row[19], edge.src), dst=ends.get(row[20], edge.dst))
            for edge, row in zip(edges, found, strict=True)
        ]

    def edges(self, ids: Sequence[str]) -> dict[str, Edge]:
        """Returns edges by id, in the given order; edges that lead to an invisible node are absent."""
        ends = f"{self.among('a.part')} AND {self.among('b.part')}"
        keys = self.ids.keys(ids, "edges")
        found: list[tuple[Any, ...]] = []
        for some in chunks(list(keys.values())):
            found += self.db.execute(f"{rows.EDGE} WHERE e.key IN ({marks(len(some))}) AND {ends}", some)
        by_key = {row[0]: edge for row, edge in zip(found, self.made_edges(found), strict=True)}
        return {id_: by_key[key] for id_, key in keys.items() if key in by_key}

    def named(self, norms: Sequence[str], qualified: int = 0) -> dict[str, list[str]]:
        """Returns, for each normalised name, the ids of the nodes with that name or alias, in order of id.

        With `qualified`, up to so many ids follow of nodes whose name continues with a bracket or a comma, such as
        "agni (fire)" for "agni".
        """
        carriers: list[tuple[str, int, str, int]] = []
        for some in chunks([norm for norm in dict.fromkeys(norms) if storable(norm)]):
            query = (
                "SELECT m.norm, n.key, n.id, n.part FROM names m JOIN nodes n ON n.key = m.key"
                f" WHERE m.norm IN ({marks(len(some))}) AND {self.among('n.part')}"
            )
            carriers += self.db.execute(query, some)
        names = self.ids.names(row[1:] for row in carriers)
        found: dict[str, list[str]] = {}
        for norm, key, _, _ in carriers:
            found.setdefault(norm, []).append(names[key])
        exact = {norm: sorted(ids) for norm, ids in sorted(found.items())}
        return joined_ids(exact, self._names_with_qualifier(norms, qualified)) if qualified else exact

    def _names_with_qualifier(self, norms: Sequence[str], each: int) -> dict[str, list[str]]:
        """Returns the first ids of nodes whose name continues each name with a bracket or a comma, by name and id."""
        asked = json.dumps([norm for norm in dict.fromkeys(norms) if storable(norm)])
        carriers: list[tuple[str, str, int, str, int]] = []
        # The next character after " (" and ", " ends the range, so each name is one seek in the index.
        for start, end in ((" (", " )"), (", ", ",!")):
            query = (
                "SELECT j.value, m.norm, n.key, n.id, n.part FROM json_each(?) j CROSS JOIN names m"
                f" ON m.norm >= j.value || '{start}' AND m.norm < j.value || '{end}' JOIN nodes n ON n.key = m.key"
                f" WHERE {self.among('n.part')} LIMIT {_MOST_QUALIFIED}"
            )
            carriers += self.db.execute(query, (asked,))
        names = self.ids.names(row[2:] for row in carriers)
        return first_named(((row[0], row[1], names[row[2]]) for row in carriers), each)

    def named_like(self, words: Collection[str], beginnings: Collection[str], limit: int) -> list[NameMatch]:
        """Returns nodes whose names have one of these words, or a word with one of these beginnings: most shared words
        first, then by id.

        Of the nodes with a word, the first `limit` of each partition are considered.
        """
        shared = Counter[int]()
        wanted: list[tuple[str, tuple[str, ...]]] = [("word = ?", (word,)) for word in sorted(words) if storable(word)]
        wanted += [("word >= ? AND word < ?", (w, w + "\U0010ffff")) for w in sorted(beginnings) if storable(w)]
        for part in self.parts if limit > 0 else ():
            for condition, given in wanted:
                query = f"SELECT DISTINCT key FROM name_words WHERE part = ? AND {condition} LIMIT ?"
                shared.update(key for (key,) in self.db.execute(query, (part, *given, limit)))
        best = sorted(shared, key=lambda key: (-shared[key], key))[:limit]
        nodes = self.nodes_by_key(best)
        found = (NameMatch(n.id, n.kind, n.name or "", n.aliases, shared[key], n.owner) for key, n in nodes.items())
        return sorted(found, key=lambda one: (-one.shared, one.id))

    def neighbours(self, ids: Sequence[str], limit: int) -> dict[str, Neighbourhood]:
        """Returns the degree of each node and its `limit` strongest edges, by weight, then neighbour id, then edge id.

        The degree counts every visible edge, even one that leads to an invisible node.
        """
        keys = self.keys(ids)
        degrees: dict[int, int] = {}
        for some in chunks(list(keys.values())):
            query = f"SELECT node, sum(degree) FROM degrees WHERE node IN ({marks(len(some))}) AND {self.among()}"
            degrees.update(self.db.execute(f"{query} GROUP BY node", some))
        return {
            id_: Neighbourhood(degrees.get(key, 0), self._strongest(key, limit) if limit > 0 else ())
            for id_, key in keys.items()
        }

    def expansion(self) -> str:
        """Returns the query of `neighbours`, strongest first. Its plan must not sort: that would read all edges of a
        hub.
        """
        return (
            "SELECT a.rank, a.other_id, e.id, e.kind, e.weight, e.tags, a.outgoing, a.other, a.edge, e.part"
            " FROM adjacency a JOIN edges e ON e.key = a.edge JOIN nodes n ON n.key = a.other"
            f" WHERE a.node = ? AND {self.among('a.part')} AND {self.among('n.part')}"
            " ORDER BY a.rank, a.other_id, a.edge"
        )

    def _strongest(self, key: int, limit: int) -> tuple[Neighbour, ...]:
        read: list[tuple[Any, ...]] = []
        with contextlib.closing(self.db.execute(self.expansion(), (key,))) as cursor:
            for row in cursor:
                # Parallel edges of equal weight are stored by age; all are read before they are ordered by id.
                if len(read) >= limit and row[:2] != read[-1][:2]:
                    break
                read.append(row)
        read = sorted(read, key=lambda row: row[:3])[:limit]
        several = len(self.parts) > 1
        others = self.names(row[7] for row in read) if several else {}
        edges = self.ids.names(((row[8], row[2], row[9]) for row in read), "edges") if several else {}
        return tuple(
            Neighbour(
                others.get(other_key, other), edges.get(key, edge), kind, weight,
                tuple(json.loads(tags)) if tags else (), bool(out),
            )
            for _, other, edge, kind, weight, tags, out, other_key, key, _ in read
        )  # fmt: skip

    def edge_tags(self, names: Sequence[str] | None = None) -> list[str]:
        """Returns the tags that visible edges have, of these names or all, by name."""
        seen = "" if self.all else f" JOIN edges e ON e.key = t.edge AND {self.among('e.part')}"
        carried = f"EXISTS (SELECT 1 FROM adjacency_tags t{seen} WHERE t.label = l.label)"
        query = f"SELECT l.name FROM labels l WHERE l.what = 't' AND {carried}"
        if names is None:
            return sorted(row[0] for row in self.db.execute(query))
        found: list[str] = []
        for some in chunks([name for name in dict.fromkeys(names) if storable(name)]):
            found += (row[0] for row in self.db.execute(f"{query} AND l.name IN ({marks(len(some))})", some))
        return sorted(found)

    def scan(self) -> Iterator[tuple[str | None, Record]]:
        """Yields everything this user owns, each with the team it is shared with, in a fixed order. Exports are made of
        it.

        Records refer to others by the ids these have in the record's own partition.
        """
        mine = "SELECT part, team FROM parts WHERE tenant = ? AND owner = ? ORDER BY team"
        places = self.db.execute(mine, (self.scope.tenant, self.scope.user)).fetchall()
        readers = {part: Reader(self.db, replace(self.scope, share=team or None), self.path) for part, team in places}
        for query, order, make, ends in _SCANS:
            for part, team in places:
                cursor = self.db.execute(f"{query} = ? ORDER BY {order}", (part,))
                while some := cursor.fetchmany(CHUNK):
                    yield from ((team or None, record) for record in readers[part]._made(some, make, ends))

    def _made(self, found: Sequence[tuple[Any, ...]], make: _Make, ends: Mapping[str, int]) -> Iterator[Record]:
        """Turns rows into records; `ends` maps fields that name a node to the column with that node's key."""
        keys = {row[at] for row in found for at in ends.values()} - {None} if len(self.parts) > 1 else ()
        names = self.names(keys)
        for row in found:
            record: Any = checked_node(self.path, row) if make is rows.to_node else make(row)
            called = {field: names[row[at]] for field, at in ends.items() if row[at] in names} if names else {}
            if isinstance(record, Note) and row[8] in self.parts:
                # A note on an edge, which may be a teammate's; such notes are few.
                called = {"target": self.ids.names([(row[7], row[1], row[8])], "edges")[row[7]]}
            yield replace(record, **called) if called else record

    def history(self, id_: str) -> list[Version]:
        """Returns earlier versions of a node the user owns, oldest first."""
        if not storable(id_):
            return []
        key = self.ids.keys([id_], mine=True).get(id_)
        found = self.db.execute("SELECT part, id FROM nodes WHERE key = ?", (key,)).fetchone()
        # The history of a removed node stays, under its plain id.
        place, bare = (f"part = {found[0]}", found[1]) if found else (self.own(), id_)
        query = f"SELECT at, name, text FROM history WHERE {place} AND id = ? ORDER BY at"
        return [Version(id_, *row) for row in self.db.execute(query, (bare,))]

    def copies(self, nodes: Sequence[Node]) -> list[Node]:
        """Returns the user's other nodes with the same text as one of these, ignoring case, spacing and markup. Reads
        every text once.
        """
        texts = {fingerprint(node.text) for node in nodes if node.text}
        words = {said for node in nodes if node.text and len(said := bare_words(node)) >= SHORTEST}
        # Lengths rule out most texts before they are normalised.
        sizes = [len("".join(said.split())) for node in nodes if node.text for said in (node.text, bare_words(node))]
        squeezed = "replace(replace(replace(text, ' ', ''), char(10), ''), char(9), '')"
        query = f"SELECT key, text, props FROM nodes WHERE {self.own()} AND length({squeezed}) BETWEEN ? AND ?"
        same = []
        for key, text, props in self.db.execute(query, (min(sizes), max(sizes) + AROUND)) if sizes else ():
            node = Node("", text=text, props=json.loads(props) if props and "speaker" in props else {})
            if fingerprint(text) in texts or bare_words(node) in words:
                same.append(key)
        others = sorted(set(self.names(same).values()) - {node.id for node in nodes})
        return list(self.nodes(others).values())


_Make = Callable[[tuple[Any, ...]], Record]
_SCANS: tuple[tuple[str, str, _Make, Mapping[str, int]], ...] = (
    (f"{rows.SOURCE} WHERE hash IS NOT NULL AND part", "path", lambda row: SourceFile(*row), {}),
    ("SELECT hash, at FROM tombstones WHERE part", "hash", lambda row: Tombstone(*row), {}),
    (f"{rows.NODE} WHERE n.part", "n.id", rows.to_node, {}),
    ("SELECT id, at, name, text FROM history WHERE part", "id, at", lambda row: Version(*row), {}),
    (f"{rows.EDGE} WHERE e.part", "e.id", rows.to_edge, {"src": 19, "dst": 20}),
    (f"{rows.FACT} WHERE f.part", "f.id", rows.to_fact, {"subject": 19, "object": 20}),
    (f"{rows.NOTE} WHERE o.part", "o.id", lambda row: Note(*row[:6]), {"target": 6}),
    (f"{rows.MENTION} WHERE m.part", "a.id, b.id", lambda row: Mention(*row[:3]), {"source": 3, "node": 4}),
    (f"{rows.LINK} WHERE l.part", "n.id, l.norm, l.kind", lambda row: Link(*row[:4]), {}),
)
