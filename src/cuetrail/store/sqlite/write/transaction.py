"""One write transaction on `memory.db`. `store.transaction` documents the methods."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from cuetrail.model import Link, Node, Note, Scope, SourceFile, Tombstone, Version
from cuetrail.store.shared.tombstones import match
from cuetrail.store.sqlite import rows
from cuetrail.store.sqlite.changelog import log_changes
from cuetrail.store.sqlite.connection import chunks, marks, own_part
from cuetrail.store.sqlite.index import vector_spaces
from cuetrail.store.sqlite.reader import Ids, Reader, find_keys, held_space
from cuetrail.store.sqlite.write import records
from cuetrail.store.sqlite.write.records import Facts, Nodes, WriteState
from cuetrail.store.transaction import Kind
from cuetrail.store.vector_space import VectorKind, VectorSpace


class Tombstones:
    """The tombstones (hashes of forgotten ids and texts) of one user. `store.transaction` documents the methods."""

    def __init__(self, db: sqlite3.Connection, ids: Ids) -> None:
        self.db = db
        self.partition = ids.home
        self.partitions = ids.mine

    @property
    def _own(self) -> str:
        return f"part IN ({','.join(map(str, self.partitions)) or 'NULL'})"

    def exist(self) -> bool:
        return self.db.execute(f"SELECT 1 FROM tombstones WHERE {self._own} LIMIT 1").fetchone() is not None

    def find(self, hashes: Collection[str]) -> Iterator[tuple[str, int]]:
        for some in chunks(list(hashes)):
            query = f"SELECT hash, part FROM tombstones WHERE {self._own} AND hash IN ({marks(len(some))})"
            yield from self.db.execute(query, some)

    def stored(self, ids: Collection[str]) -> dict[str, tuple[str | None, str]]:
        found: dict[str, tuple[str | None, str]] = {}
        for some in chunks(list(ids)):
            query = f"SELECT id, name, text FROM nodes WHERE id IN ({marks(len(some))}) AND part = ?"
            found |= {id_: (name, text) for id_, name, text in self.db.execute(query, (*some, self.partition))}
        return found

    def put(self, partition: int, tombstones: Sequence[Tombstone]) -> None:
        table = [rows.summed((partition, one.hash, one.at)) for one in tombstones]
        self.db.executemany("INSERT OR IGNORE INTO tombstones VALUES (?, ?, ?, ?)", table)

    def remove(self, hashes: Collection[str]) -> None:
        pairs = [(part, hash_) for part in self.partitions for hash_ in sorted(hashes)]
        self.db.executemany("DELETE FROM tombstones WHERE part = ? AND hash = ?", pairs)


def redacted_texts(reader: Reader, nodes: Sequence[Node]) -> dict[str, str]:
    """Returns what is left of the texts of nodes that tombstones match, by id; "" if a node is kept out as a whole."""
    return {id_: one.rest for id_, one in match(Tombstones(reader.db, reader.ids), nodes).items()}


_NO_NODES = "NOT EXISTS (SELECT 1 FROM nodes n WHERE n.source = sources.source)"


class SqliteTransaction:
    """A transaction that writes to a scope's partition, created on first use. See `store.transaction`."""

    def __init__(self, db: sqlite3.Connection, path: Path, scope: Scope) -> None:
        self.db = db
        self.partition = own_part(db, scope)
        self.ids = Ids(db, scope)
        self.state = WriteState(db, path, self.partition, self.ids)
        self.tombstones = Tombstones(db, self.ids)
        self.edges = records.Edges(self.state)
        self.nodes = Nodes(self.state, self.edges)
        self.facts = Facts(self.state)

    def log(self, dreamed_by: str | None = None) -> None:
        """Appends the changed keys to the change log. `dreamed_by` names the dream pass that wrote, if it was one."""
        log_changes(self.db, self.state.changed, dreamt=dreamed_by)
        log_changes(self.db, self.state.revectored - self.state.changed, vectors_only=True)

    # --- ids

    def find(self, ids: Iterable[str], kind: Kind = "node") -> dict[str, int]:
        return self.ids.keys(ids, f"{kind}s")

    def find_own(self, ids: Iterable[str], kind: Kind = "node") -> dict[str, int]:
        return self.ids.keys(ids, f"{kind}s", mine=True)

    def find_here(self, ids: Iterable[str]) -> dict[str, int]:
        return find_keys(self.db, ids, "nodes", [self.partition])

    # --- history

    def earlier_texts(self, partition: int, ids: Sequence[str]) -> list[tuple[str, str]]:
        query = "SELECT id, coalesce(CASE WHEN text <> '' THEN text ELSE name END, '') FROM history"
        found: list[tuple[str, str]] = []
        for some in chunks(ids):
            found += self.db.execute(f"{query} WHERE part = ? AND id IN ({marks(len(some))})", (partition, *some))
        return found

    def last_versions(self, ids: Sequence[str]) -> dict[str, int]:
        found: dict[str, int] = {}
        for some in chunks(ids):
            query = f"SELECT id, max(at) FROM history WHERE part = ? AND id IN ({marks(len(some))}) GROUP BY id"
            found |= self.db.execute(query, (self.partition, *some))
        return found

    def put_versions(self, versions: Sequence[Version]) -> None:
        table = [rows.summed((self.partition, v.id, v.at, v.name, v.text)) for v in versions]
        self.db.executemany("INSERT OR IGNORE INTO history VALUES (?, ?, ?, ?, ?, ?)", table)

    def drop_versions(self, versions: Sequence[Version]) -> None:
        which = [(self.partition, one.id, one.at) for one in versions]
        self.db.executemany("DELETE FROM history WHERE part = ? AND id = ? AND at = ?", which)

    def remove_versions(self, partition: int, ids: Sequence[str]) -> None:
        self.db.executemany("DELETE FROM history WHERE part = ? AND id = ?", [(partition, id_) for id_ in ids])

    # --- records that refer to nodes

    def put_notes(self, on: Literal["node", "edge"], notes: Sequence[tuple[Note, int]]) -> None:
        records.put_notes(self.state, on, notes)

    def remove_notes(self, handles: Sequence[int]) -> None:
        records.remove_notes(self.state, handles)

    def move_notes(self, moves: Mapping[int, int]) -> None:
        update = "UPDATE notes SET target = ? WHERE target_on = 'node' AND target = ?"
        self.db.executemany(update, [(new, old) for old, new in moves.items()])
        moved = "SELECT key FROM notes WHERE target_on = 'node' AND target = ?"
        keys = [key for new in set(moves.values()) for (key,) in self.db.execute(moved, (new,))]
        records.renew_sums(self.db, "notes", keys)

    def put_mentions(self, mentions: Mapping[tuple[int, int], int]) -> None:
        table = [(*pair, self.partition, at) for pair, at in mentions.items()]
        self.db.executemany("INSERT OR REPLACE INTO mentions VALUES (?,?,?,?)", table)

    def put_links(self, links: Sequence[tuple[int, Link]]) -> None:
        table = sorted((key, link.norm, link.kind, link.display, self.partition) for key, link in links if link.display)
        self.db.executemany("INSERT OR REPLACE INTO links VALUES (?,?,?,?,?,?)", map(rows.summed, table))
        ended = [(key, link.norm, link.kind) for key, link in links if not link.display]
        self.db.executemany("DELETE FROM links WHERE src = ? AND norm = ? AND kind = ?", ended)
        # The links of a node decide which edges dreams may add to it.
        self.state.changed.update(key for key, _ in links)

    # --- vectors

    def vector_space(self) -> VectorSpace | None:
        return held_space(self.db)

    def put_vectors(self, kind: VectorKind, space: VectorSpace, vectors: Mapping[int, bytes]) -> None:
        del kind
        self.state.revectored |= vector_spaces.store(self.db, space, dict(vectors))

    def drop_vectors(self, keys: Sequence[int]) -> None:
        self.state.revectored |= vector_spaces.drop(self.db, keys)

    # --- files

    def put_sources(self, files: Sequence[SourceFile]) -> None:
        self.db.executemany(
            f"{rows.INSERT_SOURCE} ON CONFLICT (part, path) DO UPDATE SET size = excluded.size,"
            " mtime_ns = excluded.mtime_ns, hash = excluded.hash, ingested = excluded.ingested,"
            " check_sum = excluded.check_sum",
            [rows.source_row(self.partition, f.path, f.size, f.mtime_ns, f.hash, f.ingested) for f in files],
        )

    def sources_of(self, keys: Sequence[int]) -> set[tuple[int, str]]:
        query = "SELECT DISTINCT s.part, s.path FROM nodes n JOIN sources s ON s.source = n.source"
        found: set[tuple[int, str]] = set()
        for some in chunks(keys):
            found.update(self.db.execute(f"{query} WHERE n.key IN ({marks(len(some))})", some))
        return found

    def remove_empty_sources(self, files: Collection[tuple[int, str]]) -> None:
        self.db.executemany(f"DELETE FROM sources WHERE part = ? AND path = ? AND {_NO_NODES}", list(files))

    def remove_unused_paths(self) -> None:
        """Removes the user's paths that were never ingested and that no node has any more as its source."""
        self.db.execute(f"DELETE FROM sources WHERE part IN ({self.state.own}) AND hash IS NULL AND {_NO_NODES}")

    def put_roots(self, roots: Mapping[str, str], removed: Sequence[str]) -> None:
        table = [rows.summed((self.partition, name, path)) for name, path in roots.items()]
        self.db.executemany("INSERT OR REPLACE INTO roots VALUES (?, ?, ?, ?)", table)
        gone = [(self.partition, name) for name in removed]
        self.db.executemany("DELETE FROM roots WHERE part = ? AND name = ?", gone)
