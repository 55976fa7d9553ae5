"""Reads of `memory.db` for one scope. No method returns anything outside the scope."""

from __future__ import annotations

import contextlib
import json
import os
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar

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
    Where,
)
from cuetrail.store.graph import DREAMT, EdgeFilter, Step, StepQuery
from cuetrail.store.read import NameKey, Record, Side
from cuetrail.store.search import NameMatch
from cuetrail.store.shared.ids import SIGN, place_labels
from cuetrail.store.shared.property_filter import patterns
from cuetrail.store.shared.tombstones import copy_test
from cuetrail.store.sqlite import rows
from cuetrail.store.sqlite.changelog import POSITION, position
from cuetrail.store.sqlite.connection import CHUNK, CheckedConnection, Connection, chunks, damaged, marks, meta
from cuetrail.store.vector_space import VectorSpace
from cuetrail.text.names import ids_by_name
from cuetrail.text.normalise import storable

_LABELLED = (
    "EXISTS (SELECT 1 FROM labels f JOIN node_labels g ON g.label = f.label"
    " WHERE g.key = {} AND f.what = ? AND f.name {})"
)


def content_filter(where: Where, key: str) -> tuple[list[str], list[Any]]:
    """Returns SQL conditions, and their values, for the filters on tags, buckets, kinds, text, time and
    properties. The conditions are on the node `n`; `key` is the column that contains its key.
    """
    tests, values = list[str](), list[Any]()
    for tag in where.tags:
        tests.append(_LABELLED.format(key, "= ?"))
        values += ["t", tag]
    if where.buckets:
        tests.append(_LABELLED.format(key, f"IN ({marks(len(where.buckets))})"))
        values += ["b", *where.buckets]
    if where.kinds:
        tests.append(f"n.kind IN ({marks(len(where.kinds))})")
        values += where.kinds
    if where.with_text:
        tests.append("(n.text <> '' OR n.kind = 'source')")
    for bound, test in ((where.since, "n.at >= ?"), (where.until, "n.at <= ?")):
        if bound is not None:
            tests.append(test)
            values.append(bound)
    for name, value in where.props:
        some = patterns(name, value)
        tests.append("(" + " OR ".join("instr(n.props, ?)" for _ in some) + ")")
        values += some
    return tests, values


def node_filter(where: Where, key: str) -> tuple[list[str], list[Any]]:
    """Returns SQL conditions, and their values, for all filters of `where`. The conditions are on the node `n`; `key`
    is the column that contains its key.
    """
    tests, values = content_filter(where, key)
    if not where.quarantined:
        tests.append("n.provenance <> 'quarantine'")
    if not where.archived:
        tests.append("NOT EXISTS (SELECT 1 FROM life l WHERE l.key = n.key AND l.state = 'archived')")
    return tests, values


FEW = 8
# The number of scopes cached, and of keys cached for each.
MANY, MANY_KEYS = 1_000, 10_000


def find_keys(db: sqlite3.Connection, ids: Iterable[str], table: str, parts: Sequence[int]) -> dict[str, int]:
    """Returns the keys of the rows of a table with these ids, by id, in the given order. If several partitions have an
    id, the first of `parts` wins. Unknown ids are absent.
    """
    order = {part: n for n, part in enumerate(parts)}
    best: dict[str, tuple[int, int]] = {}
    asked = [id_ for id_ in dict.fromkeys(ids) if storable(id_)]
    for id_, key, part in _rows(db, asked, table, parts):
        rank = order.get(part)
        if rank is not None and (id_ not in best or rank < best[id_][0]):
            best[id_] = (rank, key)
    return {id_: best[id_][1] for id_ in asked if id_ in best}


def _rows(
    db: sqlite3.Connection, ids: Sequence[str], table: str, parts: Sequence[int]
) -> Iterator[tuple[str, int, int]]:
    """Yields (id, key, partition) of the rows with these ids; if `parts` are more than FEW, of all partitions."""
    # Entities named alike have the same id for every user, so a few partitions are looked up by number.
    among = f" AND part IN ({','.join(map(str, parts))})" if len(parts) <= FEW else ""
    for some in chunks(ids):
        yield from db.execute(f"SELECT id, key, part FROM {table} WHERE id IN ({marks(len(some))}){among}", some)


def ids_of(db: sqlite3.Connection, scope: Scope) -> Ids:
    """Returns the `Ids` of a scope; a reading connection caches them until another connection writes."""
    if not isinstance(db, Connection):
        return Ids(db, scope)
    kept = db.unchanged()
    if scope not in kept:
        if len(kept) >= MANY:
            kept.clear()
        kept[scope] = Ids(db, scope, unchanging=True)
    found: Ids = kept[scope]
    return found


def _refuse(damaged: Mapping[int | None, str], parts: Sequence[int]) -> None:
    """Raises RowDamaged if the check at opening found damage in one of these partitions, or in all."""
    for part in (None, *parts):
        if part in damaged:
            raise rows.RowDamaged(damaged[part])


class Ids:
    """The partitions a scope may read, and the translation between ids and keys of rows in them.

    `parts` are the numbers of these partitions, in the order in which they win if several have an id; `mine` those of
    the user, who may change only these; `home` the one the scope writes to, None before the first write. `all` is true
    if the memory has no other partitions. `version` differs after every write to one of them. With `unchanging`, nobody
    writes while this object is used, so keys are cached too.
    """

    def __init__(self, db: sqlite3.Connection, scope: Scope, unchanging: bool = False) -> None:
        self.db = db
        self._known: dict[str, int] | None = {} if unchanging else None
        found = db.execute(
            f"SELECT part, owner, team, (SELECT count(*) FROM parts), {POSITION}, version FROM parts"
            f" WHERE tenant = ? AND (owner = ? OR (team <> '' AND team IN ({marks(len(scope.teams))})))",
            (scope.tenant, scope.user, *scope.teams),
        ).fetchall()
        # Read together: a search needs both, and a statement costs more than the read itself.
        self._position: tuple[str, int] | None = (found[0][4], found[0][5] or 0) if found else None
        share = scope.share or ""
        found.sort(key=lambda row: (row[1] != scope.user, row[2] != share, row[2], row[1]))
        self.parts: list[int] = [row[0] for row in found]
        if isinstance(db, CheckedConnection) and db.damaged:
            _refuse(db.damaged, self.parts)
        self.mine: list[int] = [row[0] for row in found if row[1] == scope.user]
        self.home: int | None = found[0][0] if found and found[0][1:3] == (scope.user, share) else None
        self.all = bool(found) and len(found) == found[0][3]
        self.version = tuple((row[0], row[6]) for row in found)
        self._labels = place_labels([row[:3] for row in found])
        self._once: dict[str, tuple[Any, ...]] = {}

    def position(self) -> tuple[str, int]:
        """Returns the memory's epoch and the number of the last change that this view contains."""
        return self._position or position(self.db)

    def once(self, query: str) -> tuple[Any, ...]:
        """Returns the first row of a query, cached with this object. Not for values that accesses of nodes change."""
        if query not in self._once:
            self._once[query] = self.db.execute(query).fetchone()
        return self._once[query]

    def keys(self, ids: Iterable[str], table: str = "nodes", mine: bool = False) -> dict[str, int]:
        """Returns the keys of visible rows (with `mine`: of the user's own) by id, in order. Unknown ids are absent."""
        if self._known is None or table != "nodes" or mine:
            return self._looked_up(ids, table, mine)
        asked, known = list(dict.fromkeys(ids)), self._known
        found = self._looked_up([id_ for id_ in asked if id_ not in known], table, mine)
        keys = {id_: known[id_] if id_ in known else found[id_] for id_ in asked if id_ in known or id_ in found}
        self.know(found)
        return keys

    def know(self, keys: Mapping[str, int]) -> None:
        """Adds keys of nodes, by their ids in this scope, to the cache, if there is one."""
        if self._known is not None:
            if len(self._known) > MANY_KEYS:
                self._known.clear()
            self._known.update(keys)

    def _looked_up(self, ids: Iterable[str], table: str, mine: bool) -> dict[str, int]:
        parts = self.mine if mine else self.parts
        asked = [id_ for id_ in dict.fromkeys(ids) if storable(id_)]
        found = find_keys(self.db, asked, table, parts)
        if len(self.parts) > 1 and len(found) < len(asked):
            found |= self._elsewhere([id_ for id_ in asked if id_ not in found and SIGN in id_], table, parts)
            found = {id_: found[id_] for id_ in asked if id_ in found}
        return found

    def _elsewhere(self, ids: Sequence[str], table: str, parts: Sequence[int]) -> dict[str, int]:
        """Returns the keys of ids that contain their owner (`id@@owner`), by id."""
        places = {self._labels[part]: part for part in parts}
        meant = {id_: (bare, places.get(label)) for id_ in ids for bare, _, label in [id_.partition(SIGN)]}
        bare_ids = list(dict.fromkeys(bare for bare, _ in meant.values()))
        known = {(bare, part): key for bare, key, part in _rows(self.db, bare_ids, table, parts)}
        return {id_: known[bare, part] for id_, (bare, part) in meant.items() if part and (bare, part) in known}

    def names(self, rows: Iterable[tuple[int, str, int]], table: str = "nodes") -> dict[int, str]:
        """Returns the ids that visible rows, given as (key, stored id, partition), have in this scope, by key."""
        found = list(rows)
        if len(self.parts) < 2:
            return {key: id_ for key, id_, _ in found}
        meant = find_keys(self.db, (id_ for _, id_, _ in found), table, self.parts)
        # No row has the id if it was deleted since it was read.
        return {
            key: id_ if meant.get(id_, key) == key else f"{id_}{SIGN}{self._labels[part]}" for key, id_, part in found
        }


def partitions(db: sqlite3.Connection, scope: Scope | None) -> list[Scope]:
    """Returns the partitions of one user, or of everyone (None), as the scopes that write there."""
    whose, given = ("1", ()) if scope is None else ("tenant = ? AND owner = ?", (scope.tenant, scope.user))
    query = f"SELECT tenant, owner, team FROM parts WHERE {whose} ORDER BY tenant, owner, team"
    found = db.execute(query, given)
    return [Scope(tenant, owner, (team,) if team else (), team or None) for tenant, owner, team in found]


# A SQL condition on the path: the file itself or one of its chats (`file#id`).
SAME = "(path = ?1 OR (path > ?1 || '#' AND path < ?1 || '$'))"
# How many decoded nodes are cached, and the most characters of a text to cache.
MOST_CACHED, LONGEST_CACHED = 8_192, 4_000
# Above this number of names asked for, those are sorted out first of which no stored name has the first two words.
MANY_NAMES = 16
# At most so many names that continue another one are read.
_MOST_QUALIFIED = 5_000
_NAME_TABLES: dict[NameKey, str] = {"name": "names", "topic": "topics"}


def checked_node(path: Path, row: tuple[Any, ...]) -> Node:
    """Returns the node of a row. Raises CorruptMemory if the row does not match its checksum."""
    try:
        return _decoded(row) if len(row[5]) <= LONGEST_CACHED else _decoded.__wrapped__(row)
    except rows.RowDamaged:
        raise damaged(path, f"{row[2]!r} changed on disk") from None


@lru_cache(MOST_CACHED)
def _decoded(row: tuple[Any, ...]) -> Node:
    """Returns the node of a row. Equal rows are decoded and verified once, because most recalls read the same nodes."""
    if rows.check_sum(row) != row[6]:
        raise rows.RowDamaged
    return rows.to_node(row)


def nodes_by_key(db: sqlite3.Connection, path: Path, keys: Sequence[int]) -> dict[int, Node]:
    """Returns nodes by key, whoever owns them, under plain ids. Raises CorruptMemory if one changed on disk."""
    found = {}
    for some in chunks(keys):
        for row in db.execute(f"{rows.NODE} WHERE n.key IN ({marks(len(some))})", some):
            found[row[0]] = checked_node(path, row)
    return found


class CheckedFiles:
    """The files of an index that was checked: while their attributes stay the same, no second check is needed.

    The files stay open, because reading the attributes of an open file takes a fifth of the time, and every search does
    it. An open file that was deleted or replaced has no name (link) any more.
    """

    __slots__ = ("_files",)

    def __init__(self, places: Iterable[str]) -> None:
        self._files: list[tuple[int, int, int]] = []
        for place in places:
            handle = os.open(place, os.O_RDONLY | getattr(os, "O_BINARY", 0))
            found = os.fstat(handle)
            self._files.append((handle, found.st_size, found.st_mtime_ns))

    def unchanged(self) -> bool:
        """True if no file was changed, deleted or replaced since this object was made."""
        try:
            for handle, size, mtime_ns in self._files:
                found = os.fstat(handle)
                if found.st_mtime_ns != mtime_ns or found.st_size != size or not found.st_nlink:
                    return False
        except OSError:
            return False
        return True

    def __del__(self) -> None:
        for handle, _, _ in self._files:
            with contextlib.suppress(OSError):
                os.close(handle)


class View(Protocol):
    """An index in the state after one change: `epoch` names its memory, `seq` is the number of that change.

    `files` is None for a view without files, which was read into memory.
    """

    @property
    def epoch(self) -> str: ...
    @property
    def seq(self) -> int: ...
    @property
    def files(self) -> CheckedFiles | None: ...


V = TypeVar("V", bound=View)


class Index(Protocol[V]):
    """An index and its view opened last. `view_at` returns a view that contains the changes up to `target`."""

    opened: V | None

    def view_at(self, db: sqlite3.Connection, epoch: str, target: int) -> V: ...


class Reader:
    """Reads what one scope sees of `memory.db`, in the transaction of a connection."""

    def __init__(self, db: sqlite3.Connection, scope: Scope, path: Path) -> None:
        self.db = db
        self.path = path
        self.scope = scope
        self.ids = ids_of(db, scope)
        self.parts, self.all = self.ids.parts, self.ids.all

    def current_view(self, index: Index[V]) -> V:
        """Returns a view of an index that contains every change this reader sees.

        Every search begins here, so indexes are updated by the first search after a write. The opened view is used if
        it is up to date and nobody changed its files; otherwise the index updates itself from the change log.
        """
        view, (epoch, seq) = index.opened, self.ids.position()
        if view is not None and view.epoch == epoch and view.seq >= seq and (not view.files or view.files.unchanged()):
            return view
        return index.view_at(self.db, epoch, seq)

    def among(self, column: str = "part") -> str:
        """Returns a SQL condition that is true for rows inside the scope."""
        return "1" if self.all else f"{column} IN ({','.join(map(str, self.parts)) or 'NULL'})"

    def own(self, column: str = "part") -> str:
        """Returns a SQL condition that is true for rows the user owns, which are those it may change and export."""
        return f"{column} IN ({','.join(map(str, self.ids.mine)) or 'NULL'})"

    def keys(self, ids: Iterable[str]) -> dict[str, int]:
        """Returns the keys of visible nodes by id, in the given order. Unknown ids are absent."""
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
        """Returns the id and time of each visible node among these keys, by key."""
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
        """Returns nodes by key, with the ids they have in this scope. The keys must be of visible nodes."""
        found = nodes_by_key(self.db, self.path, keys)
        if len(self.parts) > 1:
            called = {key: id_ for key, id_ in self.names(found).items() if id_ != found[key].id}
            found |= {key: replace(found[key], id=id_) for key, id_ in called.items()}
        elif self.all:
            # Only if every node is visible: these keys may belong to anyone.
            self.ids.know({node.id: key for key, node in found.items()})
        return found

    def made_edges(self, found: Sequence[tuple[Any, ...]]) -> list[Edge]:
        """Converts rows of the EDGE query to edges, with the ids that they and their nodes have in this scope."""
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

    def named(self, norms: Sequence[str], qualified: int = 0, by: NameKey = "name") -> dict[str, list[str]]:
        table = _NAME_TABLES[by]
        carriers: list[tuple[str, int, str, int]] = []
        norms = self._possible([norm for norm in dict.fromkeys(norms) if storable(norm)], table)
        for some in chunks(norms):
            query = (
                f"SELECT m.norm, n.key, n.id, n.part FROM {table} m JOIN nodes n ON n.key = m.key"
                f" WHERE m.norm IN ({marks(len(some))}) AND {self.among('n.part')}"
            )
            carriers += self.db.execute(query, some)
        names = self.ids.names(row[1:] for row in carriers)
        longer = self._qualified(norms, table) if qualified else ()
        return ids_by_name(((row[0], names[row[1]]) for row in carriers), longer, qualified)

    def _possible(self, norms: Sequence[str], table: str) -> Sequence[str]:
        """Returns those of the names that a stored name may equal or continue, because one has the same first two
        words. Up to MANY_NAMES are returned unchecked.
        """
        if len(norms) <= MANY_NAMES:
            return norms
        heads = {norm: " ".join(norm.split(" ", 2)[:2]) for norm in norms}
        # No character sorts after the last one of Unicode.
        query = (
            f"SELECT j.value FROM json_each(?) j WHERE EXISTS (SELECT 1 FROM {table} m"
            f" WHERE m.norm >= j.value AND m.norm < j.value || char(1114111))"
        )
        asked = json.dumps(list(dict.fromkeys(heads.values())))
        known = {head for (head,) in self.db.execute(query, (asked,))}
        return [norm for norm, head in heads.items() if head in known]

    def _qualified(self, norms: Sequence[str], table: str) -> list[tuple[str, str, str]]:
        """Returns (name, longer name, id) of nodes whose name continues one of these with a bracket or a comma."""
        asked = json.dumps(norms)
        carriers: list[tuple[str, str, int, str, int]] = []
        # The next character after " (" and ", " ends the range, so each name is one seek in the index.
        for start, end in ((" (", " )"), (", ", ",!")):
            query = (
                f"SELECT j.value, m.norm, n.key, n.id, n.part FROM json_each(?) j CROSS JOIN {table} m"
                f" ON m.norm >= j.value || '{start}' AND m.norm < j.value || '{end}' JOIN nodes n ON n.key = m.key"
                f" WHERE {self.among('n.part')} LIMIT {_MOST_QUALIFIED}"
            )
            carriers += self.db.execute(query, (asked,))
        names = self.ids.names(row[2:] for row in carriers)
        return [(row[0], row[1], names[row[2]]) for row in carriers]

    def beside(self, ids: Sequence[str]) -> dict[str, list[str]]:
        keys = self.keys(ids)
        other = "(SELECT o.key FROM nodes o WHERE o.source = n.source AND o.seq {} ORDER BY o.seq {}, o.key {} LIMIT 1)"
        before, behind = other.format("< n.seq AND o.seq >= 0", "DESC", "DESC"), other.format("> n.seq", "", "")
        found: dict[int, list[int]] = {}
        for some in chunks(list(keys.values())):
            query = f"SELECT n.key, {before}, {behind} FROM nodes n WHERE n.key IN ({marks(len(some))}) AND n.seq >= 0"
            for key, *others in self.db.execute(query, some):
                found[key] = [one for one in others if one is not None]
        names = self.names(key for others in found.values() for key in others)
        return {id_: [names[one] for one in found[key]] for id_, key in keys.items() if found.get(key)}

    def named_like(self, words: Collection[str], beginnings: Collection[str], limit: int) -> list[NameMatch]:
        """Returns at most `limit` nodes whose names have one of these words, or a word with one of these beginnings:
        most shared words first, then by id.

        For each word and beginning, at most `limit` nodes of each partition are considered, in no particular order.
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
        """Returns the query for the edges of a node, strongest first. Its plan must not sort: a hub has many edges."""
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
        """Returns the tags of visible edges, by name: all of them, or those among `names`."""
        seen = "" if self.all else f" JOIN edges e ON e.key = t.edge AND {self.among('e.part')}"
        carried = f"EXISTS (SELECT 1 FROM adjacency_tags t{seen} WHERE t.label = l.label)"
        query = f"SELECT l.name FROM labels l WHERE l.what = 't' AND {carried}"
        if names is None:
            return sorted(row[0] for row in self.db.execute(query))
        found: list[str] = []
        for some in chunks([name for name in dict.fromkeys(names) if storable(name)]):
            found += (row[0] for row in self.db.execute(f"{query} AND l.name IN ({marks(len(some))})", some))
        return sorted(found)

    def scan(self, words: Collection[str] = ()) -> Iterator[tuple[str | None, Record]]:
        """Yields everything this user owns, each with the team it is shared with, in a fixed order. Exports are made of
        it. With `words`, only the records that contain one of them in a field.

        Records refer to others by the ids these have in the record's own partition.
        """
        if words:
            search = re.compile("|".join(map(re.escape, sorted(words)))).search
            self.db.create_function("has_words", -1, lambda *fields: any(f and search(f.casefold()) for f in fields))
        mine = "SELECT part, team FROM parts WHERE tenant = ? AND owner = ? ORDER BY team"
        places = self.db.execute(mine, (self.scope.tenant, self.scope.user)).fetchall()
        readers = {part: Reader(self.db, replace(self.scope, share=team or None), self.path) for part, team in places}
        for query, order, make, ends, fields in _SCANS:
            condition = f"AND has_words({fields})" if words else ""
            for part, team in places if fields or not words else ():
                cursor = self.db.execute(f"{query} = ? {condition} ORDER BY {order}", (part,))
                while some := cursor.fetchmany(CHUNK):
                    yield from ((team or None, record) for record in readers[part]._made(some, make, ends))

    def _made(self, found: Sequence[tuple[Any, ...]], make: _Make, ends: Mapping[str, int]) -> Iterator[Record]:
        """Converts rows to records with `make`. `ends` maps fields that name a node to the column with its key."""
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
        """Returns the earlier versions of a node the user owns, or of a removed one with this id, oldest first."""
        if not storable(id_):
            return []
        key = self.ids.keys([id_], mine=True).get(id_)
        found = self.db.execute("SELECT part, id FROM nodes WHERE key = ?", (key,)).fetchone()
        # The history of a removed node stays, under its plain id.
        place, bare = (f"part = {found[0]}", found[1]) if found else (self.own(), id_)
        versions = self.db.execute(f"SELECT * FROM history WHERE {place} AND id = ? ORDER BY at", (bare,)).fetchall()
        for row in versions:
            rows.verify("history", row[:-1], row[-1])
        return [Version(id_, *row[2:5]) for row in versions]

    def copies(self, nodes: Sequence[Node]) -> list[Node]:
        """Returns the user's other nodes with the same text but for case, spacing and markup. Reads every text once."""
        # Lengths rule out most texts before they are normalised.
        lengths, is_copy = copy_test(nodes)
        squeezed = "replace(replace(replace(text, ' ', ''), char(10), ''), char(9), '')"
        query = f"SELECT key, text, props FROM nodes WHERE {self.own()} AND length({squeezed}) BETWEEN ? AND ?"
        same = []
        for key, text, props in self.db.execute(query, lengths) if lengths else ():
            if is_copy(text, json.loads(props) if props and "speaker" in props else {}):
                same.append(key)
        others = sorted(set(self.names(same).values()) - {node.id for node in nodes})
        return list(self.nodes(others).values())


_Make = Callable[[tuple[Any, ...]], Record]
# A query, its order, how a row becomes a record, the columns of the nodes it names, and the fields that have words.
_SCANS: tuple[tuple[str, str, _Make, Mapping[str, int], str], ...] = (
    (f"{rows.SOURCE} WHERE hash IS NOT NULL AND part", "path", lambda row: SourceFile(*row), {}, ""),
    ("SELECT hash, at FROM tombstones WHERE part", "hash", lambda row: Tombstone(*row), {}, ""),
    (f"{rows.NODE} WHERE n.part", "n.id", rows.to_node, {}, "n.name, n.aliases, n.labels, n.props"),
    ("SELECT id, at, name, text FROM history WHERE part", "id, at", lambda row: Version(*row), {}, "name, text"),
    (f"{rows.EDGE} WHERE e.part", "e.id", rows.to_edge, {"src": 19, "dst": 20}, "e.text, e.type, e.tags, e.props"),
    (f"{rows.FACT} WHERE f.part", "f.id", rows.to_fact, {"subject": 19, "object": 20}, "f.value"),
    (f"{rows.NOTE} WHERE o.part", "o.id", lambda row: Note(*row[:6]), {"target": 6}, "o.text"),
    (f"{rows.MENTION} WHERE m.part", "a.id, b.id", lambda row: Mention(*row[:3]), {"source": 3, "node": 4}, ""),
    (f"{rows.LINK} WHERE l.part", "n.id, l.norm, l.kind", lambda row: Link(*row[:4]), {}, ""),
)


_SIDES = {"out": " AND x.outgoing = 1", "in": " AND x.outgoing = 0", "both": ""}
# The columns of an edge, then those that determine its order.
_EDGE = rows.EDGE.partition("FROM")[0].replace("SELECT ", "")
_RANK, _OTHER_ID, _OUTGOING = -3, -2, -1


def steps(reader: Reader, query: StepQuery) -> dict[str, list[Step]]:
    """Returns the strongest edges of each node that pass the filters: by weight, then by the plain ids of the other end
    and of the edge.
    """
    tests, values = _tests(reader, query)
    select = (
        f"SELECT {_EDGE}, x.rank, x.other_id, x.outgoing FROM adjacency x CROSS JOIN edges e ON e.key = x.edge"
        " CROSS JOIN nodes n ON n.key = x.other JOIN nodes a ON a.key = e.src JOIN nodes b ON b.key = e.dst"
        f" WHERE x.node = ?{_SIDES[query.direction]} AND {tests} ORDER BY x.rank, x.other_id, x.edge"
    )
    found: dict[str, list[tuple[Any, ...]]] = {}
    for id_, key in reader.keys(query.ids).items():
        with contextlib.closing(reader.db.execute(select, (key, *values))) as cursor:
            found[id_] = _strongest(cursor, query)
    every = [row[:_RANK] for some in found.values() for row in some]
    edges = iter(reader.made_edges(every))
    return {id_: [_step(next(edges), bool(row[_OUTGOING])) for row in some] for id_, some in found.items()}


def _strongest(cursor: Any, query: StepQuery) -> list[tuple[Any, ...]]:
    """Returns the first `query.each` rows whose edges pass the filter; parallel edges of equal weight by id."""
    read: list[tuple[Any, ...]] = []
    # These are conditions of the query already.
    any_edge = query.ties == EdgeFilter(query.ties.kinds, undreamt=query.ties.undreamt)
    for row in cursor:
        if len(read) >= query.each and (query.each <= 0 or row[_RANK:_OUTGOING] != read[-1][_RANK:_OUTGOING]):
            break
        if any_edge or query.ties.passes(rows.to_edge(row[:_RANK])):
            read.append(row)
    return sorted(read, key=lambda row: (row[_RANK], row[_OTHER_ID], row[2]))[: max(query.each, 0)]


def _step(edge: Any, outgoing: bool) -> Step:
    return Step(edge, edge.dst if outgoing else edge.src, outgoing)


def _tests(reader: Reader, query: StepQuery) -> tuple[str, list[Any]]:
    """Returns a SQL condition on an edge and the node it leads to, and its values."""
    tests, values = node_filter(query.where, "x.other")
    if query.ties.kinds:
        tests.append(f"e.kind IN ({marks(len(query.ties.kinds))})")
        values += query.ties.kinds
    if query.ties.undreamt:
        tests.append(f"(e.via IS NULL OR e.via NOT LIKE '{DREAMT}%')")
    return " AND ".join([*tests, reader.among("x.part"), reader.among("n.part")]), values


def notes(reader: Reader, targets: Sequence[str], on: str, now: int, each: int) -> dict[str, list[Note]]:
    """Returns the newest unexpired notes on nodes or edges, at most `each` per target."""
    keys = reader.ids.keys(targets, "nodes" if on == "node" else "edges")
    query = (
        "SELECT * FROM notes WHERE target_on = ? AND target = ?"
        f" AND (expires IS NULL OR expires > ?) AND {reader.among()} ORDER BY created DESC, id LIMIT ?"
    )
    found: dict[str, list[Note]] = {}
    for target, key in keys.items():
        some = reader.db.execute(query, (on, key, now, max(each, 0))).fetchall()
        if some:
            for row in some:
                rows.verify("notes", row[:-1], row[-1])
            found[target] = [
                Note(id_, target, text, "node" if on == "node" else "edge", created, expires)
                for _, _, id_, _, _, text, created, expires, _ in some
            ]
    return found


def mentions(reader: Reader, ids: Sequence[str], by: Side, each: int) -> dict[str, list[Mention]]:
    """Returns, by id, the newest mentions that a source makes or (`by`) that a node gets, at most `each` per id."""
    keys = {key: id_ for id_, key in reader.keys(ids).items()}
    other = "node" if by == "source" else "source"
    pairs: list[tuple[int, int, int]] = []
    for key in keys:
        query = f"SELECT {by}, {other}, at FROM mentions WHERE {by} = ? AND {reader.among()} ORDER BY at DESC LIMIT ?"
        pairs += reader.db.execute(query, (key, max(each, 0)))
    names = {
        key: id_ for some in chunks(sorted({pair[1] for pair in pairs})) for key, id_ in reader.names(some).items()
    }
    found: dict[str, list[Mention]] = {}
    for key, second, at in pairs:
        if second in names:
            ends = (keys[key], names[second]) if by == "source" else (names[second], keys[key])
            found.setdefault(keys[key], []).append(Mention(*ends, at))
    return {id_: sorted(some, key=lambda m: (-m.at, m.source, m.node)) for id_, some in found.items()}


def label_numbers(db: sqlite3.Connection, what: Literal["t", "b"], names: Collection[str]) -> dict[str, int]:
    """Returns the numbers of tags ("t") or buckets ("b") in the table of labels; unused names are absent."""
    found: dict[str, int] = {}
    for some in chunks(list(names)):
        query = f"SELECT name, label FROM labels WHERE what = ? AND name IN ({marks(len(some))})"
        found.update(db.execute(query, (what, *some)).fetchall())
    return found


# --- vectors

NOW, NEXT = "vectors", "next_vectors"
"""The table of the vectors that searches use, and the one that a change-over to another model fills."""
SPACE_ENTRY = {NOW: "vector_space", NEXT: "next_space"}
"""The meta entry that names the embedding model of each table of vectors."""


def held_space(db: sqlite3.Connection, table: str = NOW) -> VectorSpace | None:
    """Returns the embedding model of a table of vectors; None if none was chosen yet."""
    packed = meta(db, SPACE_ENTRY[table])
    return VectorSpace(**json.loads(packed)) if packed else None


def held_spaces(db: sqlite3.Connection) -> tuple[VectorSpace | None, VectorSpace | None]:
    """Returns the model whose vectors searches use, and that of an unfinished change-over; None for a missing one."""
    found = db.execute("SELECT name, value FROM meta WHERE name IN (?, ?)", tuple(SPACE_ENTRY.values())).fetchall()
    spaces = {name: VectorSpace(**json.loads(packed)) for name, packed in found}
    return spaces.get(SPACE_ENTRY[NOW]), spaces.get(SPACE_ENTRY[NEXT])


def vectors_by_key(db: sqlite3.Connection, keys: Mapping[int, str]) -> dict[str, bytes]:
    """Returns the vectors that searches use, by id; `keys` maps the key of each record to its id."""
    found: dict[str, bytes] = {}
    for some in chunks(list(keys)):
        query = f"SELECT key, vector, check_sum FROM {NOW} WHERE key IN ({marks(len(some))})"
        found.update((keys[key], vector) for key, vector in rows.verified_vectors(db.execute(query, some)))
    return found
