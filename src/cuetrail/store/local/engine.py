"""The local engine: the store protocol on a directory."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from cuetrail.model import (
    Edge,
    Fact,
    Finding,
    Found,
    Link,
    Neighbourhood,
    Node,
    Scope,
    SourceFile,
    Stats,
    TextQuery,
    Version,
    Where,
)
from cuetrail.store.base import Batch, Progress, Record, VectorSpace, Written
from cuetrail.store.local import backup, doctor, write
from cuetrail.store.local.db import Database, chunks, head, log_changes, marks, my_parts
from cuetrail.store.local.read import Reader
from cuetrail.store.local.textindex import TextIndex
from cuetrail.store.local.textsearch import TextSearch
from cuetrail.store.local.vectorindex import VectorIndex, space_of

# A text index of up to this many nodes is rewritten at once when something is forgotten; that takes about a second.
PURGE_AT_ONCE = 50_000
KEEP_CHANGES = 10_000
_NO_FILTER = Where(archived=True, quarantined=True)


class LocalStore:
    """A memory in a directory: `memory.db` is the truth, `index/` is derived from it."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.directory = directory
        self.db = Database(directory)
        self.text_index = TextIndex(directory / "index" / "text", self.db)
        self.vector_index = VectorIndex(directory / "index" / "vectors", self.db)

    def close(self) -> None:
        self.db.close()

    # --- writing

    def write(self, scope: Scope, batch: Batch) -> Written:
        with self.db.writing() as db:
            return write.write_batch(db, scope, batch)

    def forget(self, scope: Scope, ids: Sequence[str], now: int) -> list[str]:
        """Remove the user's own nodes for good; their ids come back. Ids of others are left alone."""
        with self.db.writing() as db:
            w = write.Write(db, scope)
            keys = w.keys_of(ids, parts=sorted(w.mine, key=lambda part: part != w.part))
            reader = Reader(db, scope, self.db.path)
            nodes = list(reader.nodes_by_key(list(keys.values())).values())
            for node in nodes:
                stones = [(part, stone, now) for part in w.mine for stone in write.stones(node)]
                db.executemany("INSERT OR IGNORE INTO tombstones VALUES (?, ?, ?)", stones)
                db.executemany("DELETE FROM history WHERE part = ? AND id = ?", [(part, node.id) for part in w.mine])
            write.remove_nodes(w, list(keys.values()))
            db.execute("DELETE FROM sources WHERE NOT EXISTS (SELECT 1 FROM nodes n WHERE n.source = sources.source)")
            log_changes(db, w.changed)
        if nodes:
            self._erase_traces()
        return [node.id for node in nodes]

    def _erase_traces(self) -> None:
        """Empty the write-ahead log and rewrite what the indexes held of the forgotten."""
        self.db.erase_log()
        if self.text_index.view().state.extra["living"] <= PURGE_AT_ONCE:
            self.text_index.rebuild()
        self.vector_index.view()

    def lift_tombstones(self, scope: Scope, nodes: Sequence[Node]) -> int:
        with self.db.writing() as db:
            return write.lift(write.Write(db, scope), nodes)

    def touch(self, scope: Scope, ids: Sequence[str], now: int) -> None:
        """Count one access of each node."""
        with self.db.writing() as db:
            keys = write.Write(db, scope).keys_of(ids)
            db.executemany(
                "INSERT INTO life VALUES (?, .5, 'candidate', 1, 1, ?, NULL, NULL, 1, 'decay') ON CONFLICT (key) DO UPDATE"
                " SET accesses = accesses + 1, interval = excluded.last_access - last_access,"
                " last_access = excluded.last_access",
                [(key, now) for key in keys.values()],
            )

    # --- reading

    def get(self, scope: Scope, ids: Sequence[str]) -> dict[str, Node]:
        with self.db.reading() as db:
            return Reader(db, scope, self.db.path).nodes(ids)

    def edges(self, scope: Scope, ids: Sequence[str]) -> dict[str, Edge]:
        with self.db.reading() as db:
            return Reader(db, scope, self.db.path).edges(ids)

    def facts(self, scope: Scope, subjects: Sequence[str]) -> dict[str, list[Fact]]:
        with self.db.reading() as db:
            return Reader(db, scope, self.db.path).facts(subjects)

    def named(self, scope: Scope, norms: Sequence[str]) -> dict[str, list[str]]:
        with self.db.reading() as db:
            return Reader(db, scope, self.db.path).named(norms)

    def history(self, scope: Scope, id_: str) -> list[Version]:
        with self.db.reading() as db:
            return Reader(db, scope, self.db.path).history(id_)

    def text(self, scope: Scope, query: TextQuery, limit: int, where: Where) -> list[Found]:
        view = self.text_index.view()
        with self.db.reading() as db:
            reader = Reader(db, scope, self.db.path)
            search = TextSearch(view, self.text_index.analyser, None if reader.all else reader.parts, where)
            matches = search.run(query, limit)
            ids = _ids(reader, [m.key for m in matches])
        found = [(m, ids[m.key]) for m in matches if m.key in ids]
        found.sort(key=lambda pair: (-pair[0].score, not pair[0].holds_all, -pair[0].at, pair[1]))
        return [Found(id_, m.score, m.boosted) for m, id_ in found[:limit]]

    def vector(self, scope: Scope, vector: bytes, limit: int, where: Where) -> list[Found]:
        query = np.frombuffer(vector, dtype="<f2").astype(np.float32)
        self.vector_index.view()
        with self.db.reading() as db:
            reader = Reader(db, scope, self.db.path)
        wanted = limit
        while True:
            near = self.vector_index.search(query, wanted, None if reader.all else reader.parts)
            with self.db.reading():
                nodes = reader.nodes_by_key([key for key, _ in near]) if where != _NO_FILTER else {}
                ids = _ids(reader, [key for key, _ in near])
            kept = [
                (key, cosine)
                for key, cosine in near
                if key in ids and (where == _NO_FILTER or _passes(nodes[key], where))
            ]
            if len(kept) >= limit or len(near) < wanted:
                break
            wanted *= 4
        kept.sort(key=lambda pair: (-pair[1], ids[pair[0]]))
        return [Found(ids[key], cosine) for key, cosine in kept[:limit]]

    def neighbours(self, scope: Scope, ids: Sequence[str], limit: int) -> dict[str, Neighbourhood]:
        with self.db.reading() as db:
            return Reader(db, scope, self.db.path).neighbours(ids, limit)

    def scan(self, scope: Scope) -> Iterator[tuple[str | None, Record]]:
        """One consistent view from the first record to the last."""
        with self.db.reading() as db:
            yield from Reader(db, scope, self.db.path).scan()

    def stats(self, scope: Scope) -> Stats:
        with self.db.reading() as db:
            return Reader(db, scope, self.db.path).stats()

    # --- what ingest asks

    def roots(self, scope: Scope) -> dict[str, str]:
        with self.db.reading() as db:
            return Reader(db, scope, self.db.path).roots()

    def source_files(self, scope: Scope, under: str) -> dict[str, SourceFile]:
        with self.db.reading() as db:
            return Reader(db, scope, self.db.path).source_files(under)

    def atoms_of(self, scope: Scope, sources: Sequence[str]) -> dict[str, list[Node]]:
        with self.db.reading() as db:
            return Reader(db, scope, self.db.path).atoms_of(sources)

    def links_of(self, scope: Scope, ids: Sequence[str]) -> dict[str, list[Link]]:
        with self.db.reading() as db:
            return Reader(db, scope, self.db.path).links_of(ids)

    def links_to(self, scope: Scope, norms: Sequence[str]) -> dict[str, list[Link]]:
        with self.db.reading() as db:
            return Reader(db, scope, self.db.path).links_to(norms)

    def edges_via(self, scope: Scope, norms: Sequence[str]) -> dict[str, list[Edge]]:
        with self.db.reading() as db:
            return Reader(db, scope, self.db.path).edges_via(norms)

    def simhash_near(self, scope: Scope, hashes: Mapping[str, int]) -> dict[str, str]:
        with self.db.reading() as db:
            return Reader(db, scope, self.db.path).simhash_near(hashes)

    def is_forgotten(self, scope: Scope, nodes: Sequence[Node]) -> set[str]:
        with self.db.writing() as db:
            return write.forgotten_among(write.Write(db, scope), nodes)

    # --- vectors and upkeep

    def vector_space(self) -> VectorSpace | None:
        with self.db.reading() as db:
            return space_of(db)

    def start_vector_space(self, space: VectorSpace) -> None:
        """Drop all vectors and take those of this model from now on."""
        with self.db.writing() as db:
            packed = json.dumps({"model": space.model, "dim": space.dim})
            db.execute("INSERT OR REPLACE INTO meta VALUES ('vector_space', ?)", (packed,))
            db.execute("DELETE FROM vectors")
            db.execute("DELETE FROM edge_vectors")

    def without_vector(self, scope: Scope, limit: int) -> list[Node]:
        """The user's own nodes that have no vector yet, by key."""
        with self.db.reading() as db:
            parts = my_parts(db, scope)
            query = (
                f"SELECT n.key FROM nodes n LEFT JOIN vectors v ON v.key = n.key WHERE n.part IN ({marks(len(parts))})"
                " AND v.key IS NULL ORDER BY n.key LIMIT ?"
            )
            keys = [row[0] for row in db.execute(query, (*parts, limit))]
            return list(Reader(db, scope, self.db.path).nodes_by_key(keys).values())

    def vectors(self, scope: Scope, ids: Sequence[str]) -> dict[str, bytes]:
        with self.db.reading() as db:
            by_key = {key: id_ for id_, key in Reader(db, scope, self.db.path).keys(ids).items()}
            found: dict[str, bytes] = {}
            for some in chunks(list(by_key)):
                query = f"SELECT key, vector FROM vectors WHERE key IN ({marks(len(some))})"
                found.update((by_key[key], vector) for key, vector in db.execute(query, some))
            return found

    def put_vectors(self, scope: Scope, vectors: Mapping[str, bytes]) -> int:
        with self.db.writing() as db:
            w = write.Write(db, scope)
            stored = write.put_vectors(w, dict(vectors))
            log_changes(db, w.changed)
            return stored

    def backup(self, path: Path) -> None:
        backup.save(self.db, path)

    def doctor(self, repair: bool, progress: Progress | None) -> list[Finding]:
        return doctor.examine(self.db, self.text_index, self.vector_index, repair, progress)

    def refresh(self, progress: Progress | None) -> None:
        """Bring both indexes up to date now, and shorten the change log they no longer need."""
        applied = [self.text_index.view(progress).state.seq]
        rows = self.vector_index.view(progress)
        if rows is not None:
            applied.append(rows.state.seq)
        with self.db.reading() as db:
            oldest = db.execute("SELECT min(seq) FROM changes").fetchone()[0] or 0
            long = head(db) - oldest > KEEP_CHANGES
        if long:
            with self.db.writing() as db:
                db.execute("DELETE FROM changes WHERE seq <= ?", (min(applied),))


def _ids(reader: Reader, keys: Sequence[int]) -> dict[int, str]:
    found: dict[int, str] = {}
    for some in chunks(keys):
        query = f"SELECT key, id FROM nodes WHERE key IN ({marks(len(some))}) AND {reader.among()}"
        found.update(reader.db.execute(query, some).fetchall())
    return found


def _passes(node: Node, where: Where) -> bool:
    return (
        set(where.tags) <= set(node.tags)
        and (not where.buckets or bool(set(where.buckets) & set(node.buckets)))
        and (not where.kinds or node.kind in where.kinds)
        and (where.since is None or node.at >= where.since)
        and (where.until is None or node.at <= where.until)
        and (where.quarantined or node.provenance != "quarantine")
        and (where.archived or node.life.state != "archived")
    )
