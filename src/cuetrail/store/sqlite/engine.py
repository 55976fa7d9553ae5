"""The SQLite engine: the store protocol on a directory.

Most methods are defined as a function of the package, wrapped in the kind of transaction it runs in.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import uuid
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock, Timeout

from cuetrail.errors import Busy, CuetrailError, MemoryError_
from cuetrail.files import PRIVATE, PRIVATE_FOLDER
from cuetrail.model import Edge, Finding, Label, Scope, SearchHit, TextQuery, Walk, WalkHit, WalkQuery, Where
from cuetrail.store.dream import DreamPass
from cuetrail.store.read import Record, ScopeVersion
from cuetrail.store.search import Factors, RelationQuery
from cuetrail.store.shared.property_filter import first_passing
from cuetrail.store.shared.scoped import Scoped
from cuetrail.store.shared.write_order import forget, write_batch
from cuetrail.store.sqlite import backup, connection, doctor
from cuetrail.store.sqlite import dream as dreams
from cuetrail.store.sqlite import dry_run as dry_runs
from cuetrail.store.sqlite import reader as edge_reads
from cuetrail.store.sqlite.changelog import FORGOTTEN, head, log_changes
from cuetrail.store.sqlite.connection import UNERASED, Database, another_version, put_meta
from cuetrail.store.sqlite.index import relationship_search, text_search, vector_search
from cuetrail.store.sqlite.index import vector_spaces as spaces
from cuetrail.store.sqlite.index.expand import expand
from cuetrail.store.sqlite.index.label_index import LabelIndex
from cuetrail.store.sqlite.index.label_search import walk as walk_labels
from cuetrail.store.sqlite.index.text_index import TextIndex
from cuetrail.store.sqlite.index.vector_index import NAMED, RELATIONS, VectorIndex
from cuetrail.store.sqlite.read import facts as fact_reads
from cuetrail.store.sqlite.read import listing, partition
from cuetrail.store.sqlite.read.snapshot import Snapshot, WholeView
from cuetrail.store.sqlite.reader import Reader, held_space, held_spaces, ids_of, partitions, vectors_by_key
from cuetrail.store.sqlite.write import tombstones, usage
from cuetrail.store.sqlite.write.transaction import SqliteTransaction
from cuetrail.store.upkeep import LAST_FORGOTTEN, StoredSettings
from cuetrail.store.vector_space import NO_VECTORS, VectorKind, VectorSpace
from cuetrail.store.write import FORGETTING, Batch, BulkMode, Forgetting, Progress, Written

IndexedReader = tuple[Reader, TextIndex]

KEEP_CHANGES, MOST_CHANGES = 10_000, 200_000
DREAM_LOCK = "dream.lock"
# Accesses are counted in one transaction when there are this many, or after this many milliseconds.
MANY_ACCESSES, ACCESS_MS = 32, 1_000


def _read(store: SqliteStore, scope: Scope, work: Callable[[Reader], Any]) -> Any:
    with store.db.reading() as db:
        return work(Reader(db, scope, store.db.path))


def _read_used(store: SqliteStore, scope: Scope, work: Callable[[Reader], Any]) -> Any:
    store.count_accesses()
    return _read(store, scope, work)


def _search(store: SqliteStore, scope: Scope, work: Callable[[IndexedReader], Any]) -> Any:
    with store.db.reading_connection() as db:
        return work((Reader(db, scope, store.db.path), store.text_index))


def _search_text(
    reader: IndexedReader,
    query: TextQuery,
    limit: int,
    where: Where,
    factors: Factors = (1.0, 1.0),
    nodes: bool = False,
) -> list[SearchHit]:
    def find(most: int, passing: Where) -> list[SearchHit]:
        return text_search.search(*reader, query, most, passing, factors, nodes or bool(where.props))

    return first_passing(find, lambda hit: hit.node, limit, where)


reading = Scoped(_read)
searching = Scoped(_search)
# For reads that return usage: accesses that are not stored yet are counted first.
reading_used = Scoped(_read_used)


class SqliteStore:
    """A memory in a directory: `memory.db` has all records, `index/` is derived. The ports document the methods."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(PRIVATE_FOLDER, parents=True, exist_ok=True)
        self.directory = directory
        self.db = Database(directory)
        self.text_index = TextIndex(directory / "index" / "text", self.db)
        self.vector_index = VectorIndex(directory / "index" / "vectors", self.db)
        self.name_index = VectorIndex(directory / "index" / "names", self.db, NAMED)
        self.relation_index = VectorIndex(directory / "index" / "relations", self.db, RELATIONS)
        self.label_index = LabelIndex(directory / "index" / "labels", self.db)
        self._bulk = threading.local()
        self.forward_accesses: Callable[[Scope, Sequence[str], int, Sequence[str]], None] | None = None
        self._accesses: deque[tuple[Scope, tuple[str, ...], int]] = deque()
        self.settings = StoredSettings(self._read_settings, self._put_setting)
        self._sweep()

    def close(self) -> None:
        with contextlib.suppress(CuetrailError):
            self.count_accesses()
        self.db.close()

    # --- read

    get = reading_used(Reader.nodes)
    edges = reading(partition.edges)
    facts = reading(fact_reads.facts)
    ids = reading(Reader.ids_with_prefix)
    named = reading(Reader.named)
    beside = reading(Reader.beside)
    notes = reading(edge_reads.notes)
    mentions = reading(edge_reads.mentions)
    history = reading(Reader.history)
    links = reading(partition.links)
    ingested = reading(partition.ingested)
    atoms_of = reading_used(partition.atoms_of)
    source_tokens = reading(partition.source_tokens)
    simhash_bands = reading(partition.simhash_bands)
    copies = reading(Reader.copies)
    redacted_texts = reading(tombstones.redacted_texts)
    page = reading(listing.page)
    labels = reading(listing.labels)
    stats = reading(listing.stats)

    def version(self, scope: Scope, /, now: int | None = None) -> ScopeVersion:
        self.count_accesses()
        with self.db.reading_connection() as db:
            reader = Reader(db, scope, self.db.path)
            next_fact = None if now is None else fact_reads.next_fact(reader, now)
            return ScopeVersion(reader.ids.version, fact_reads.uses(db, reader.parts), next_fact)

    def scan(self, scope: Scope, /, words: Collection[str] = ()) -> Iterator[tuple[str | None, Record]]:
        self.count_accesses()
        with self.db.apart() as db:
            yield from Reader(db, scope, self.db.path).scan(words)

    @contextlib.contextmanager
    def snapshot(self, scope: Scope, /) -> Iterator[Snapshot]:
        self.count_accesses()
        with self.db.apart() as db:
            yield Snapshot(db, scope, self.db.path)

    @contextlib.contextmanager
    def whole_view(self) -> Iterator[WholeView]:
        self.count_accesses()
        # It needs no computed table, and compares every row with its checksum.
        with self.db.apart(damaged=True) as db:
            yield WholeView(db, self.db.path)

    def vectors(
        self, scope: Scope, /, ids: Sequence[str], space: VectorSpace | None = None, of: VectorKind = "node"
    ) -> dict[str, bytes]:
        with self.db.reading() as db:
            if space not in (None, held_space(db)):
                return {}
            keys = Reader(db, scope, self.db.path).ids.keys(ids, f"{of}s")
            return vectors_by_key(db, {key: id_ for id_, key in keys.items()})

    # --- search

    text = searching(_search_text)
    named_like = reading(Reader.named_like)

    def vector(
        self, scope: Scope, /, vector: bytes, limit: int, where: Where, space: VectorSpace | None = None,
        named: bool = False,
    ) -> list[SearchHit]:  # fmt: skip
        index = self.name_index if named else self.vector_index
        query = np.frombuffer(vector, dtype="<f2").astype(np.float32)
        held = self.vector_spaces().held
        if held is None or held == NO_VECTORS:
            return []
        # Filters on labels look among all nodes, with a name or not.
        labels = None if named else self.text_index
        return vector_search.search(self.db, scope, index, labels, query, limit, where, space or held)

    def relationships(self, scope: Scope, /, query: RelationQuery) -> list[Edge]:
        found: list[Edge] = []
        if query.words:
            with self.db.reading() as db:
                found = relationship_search.by_words(Reader(db, scope, self.db.path), query)
        held = self.vector_spaces().held if query.vectors else None
        if held is not None and held != NO_VECTORS:
            for vector in query.vectors:
                found += relationship_search.by_vector(
                    self.db, scope, self.relation_index, vector, query, query.space or held
                )
        return found

    def walk(self, scope: Scope, /, query: WalkQuery, limit: int, where: Where) -> Walk:
        with self.db.reading() as db:
            reader = Reader(db, scope, self.db.path)
            idfs: dict[Label, float] = {}

            def find(most: int, passing: Where) -> Sequence[WalkHit]:
                walked = walk_labels(reader, self.label_index, self.text_index, query, most, passing)
                idfs.update(walked.idfs)
                return walked.found

            return Walk(tuple(first_passing(find, lambda hit: hit.node, limit, where)), idfs)

    # --- graph

    neighbours = reading(Reader.neighbours)
    expand = reading(expand)
    steps = reading(edge_reads.steps)
    edge_tags = reading(Reader.edge_tags)

    # --- write

    def write(self, scope: Scope, /, batch: Batch) -> Written:
        self.count_accesses()
        with self.db.writing() as db:
            written = self._write(db, scope, batch)
        if getattr(self._bulk, "writes", None) is not None:
            # The next search indexes a single transaction; from the second on, indexing now saves time.
            self._bulk.writes += 1
            if self._bulk.writes > 1:
                self.text_index.follow_writes()
        return written

    def _write(self, db: sqlite3.Connection, scope: Scope, batch: Batch) -> Written:
        tx = SqliteTransaction(db, self.db.path, scope)
        written = write_batch(tx, batch)
        tx.log()
        return written

    def bulk(self, how: BulkMode = "separate") -> contextlib.AbstractContextManager[None]:
        return self._separate_writes() if how == "separate" else self._joined_writes(indexed=how == "indexed")

    @contextlib.contextmanager
    def _separate_writes(self) -> Iterator[None]:
        if getattr(self._bulk, "writes", None) is not None:
            yield
            return
        self._bulk.writes = 0
        try:
            with self.db.long_log():
                yield
        finally:
            self._bulk.writes = None
            self.text_index.settle()

    @contextlib.contextmanager
    def _joined_writes(self, *, indexed: bool) -> Iterator[None]:
        self.count_accesses()
        try:
            with self.db.group() as db:
                before = head(db)
                yield
                after = head(db)
                if indexed and after > before:
                    self.db.unacknowledged.announce(before, after)
            if indexed and after > before:
                self._follow()
        finally:
            self.db.unacknowledged.clear()

    def _follow(self) -> None:
        """Brings the indexes of texts and vectors up to date; if that fails, the next search does it."""
        with contextlib.suppress(CuetrailError):
            self.text_index.catch_up()
            for index in self._vector_indexes():
                index.catch_up()

    def forget(self, scope: Scope, /, ids: Sequence[str], now: int, how: Forgetting = FORGETTING) -> list[str]:
        self.count_accesses()
        with self.db.writing() as db:
            tx = SqliteTransaction(db, self.db.path, scope)
            forgotten = forget(tx, ids, now, how.id_only, how.shared)
            tx.sources.remove_unused_paths()
            tx.log()
            for partition, more in how.along.items():
                self._write(db, partition, more)
            if forgotten:
                # If this process dies before it has erased everything, the next one finishes the work.
                put_meta(db, UNERASED, 1)
                put_meta(db, FORGOTTEN, head(db))
                connection.put_setting(db, LAST_FORGOTTEN, uuid.uuid4().hex)
        if forgotten:
            self.db.erase_log()
            if how.purge:
                self.text_index.purge(how.progress)
            else:
                self.text_index.catch_up(how.progress)
            for index in self._vector_indexes():
                index.view(how.progress)
            if self.label_index.exists():
                self.label_index.catch_up(how.progress)
            self._sweep()
        return forgotten

    def touch(self, scope: Scope, /, ids: Sequence[str], now: int, facts: Sequence[str] = ()) -> None:
        if self.forward_accesses is not None:
            self.forward_accesses(scope, ids, now, facts)
            return
        if ids:
            self._accesses.append((scope, tuple(ids), now))
            if len(self._accesses) >= MANY_ACCESSES or not 0 <= now - self._accesses[0][2] < ACCESS_MS:
                self.count_accesses()
        if facts:
            with contextlib.suppress(Busy), self.db.best_effort_write() as db:
                usage.count_fact_uses(db, ids_of(db, scope).keys(facts, "facts").values(), now)

    def count_accesses(self) -> None:
        """Stores the accesses that `touch` collected; if another process is writing, a later call does."""
        if not self._accesses:
            return
        woken: list[tuple[list[int], int]] = []
        with contextlib.suppress(Busy), self.db.best_effort_write() as db:
            counted = list(self._accesses)
            for scope, ids, now in counted:
                asleep = usage.count_accesses(db, list(ids_of(db, scope).keys(ids).values()), now)
                if asleep:
                    woken.append((asleep, now))
            # Other threads may have appended meanwhile; the counted ones are at the front.
            for _ in counted:
                self._accesses.popleft()
        if woken:
            # The indexes must follow, so this must not be lost in a power cut.
            with self.db.writing() as db:
                for keys, now in woken:
                    usage.count_accesses(db, keys, now, wake=True)
                log_changes(db, [key for keys, _ in woken for key in keys])
                another_version(db)

    # --- dream

    @contextlib.contextmanager
    def single_dream(self, dry_run: bool = False) -> Iterator[SqliteStore | None]:
        # A new lock each time: two threads of one process must not share one.
        lock = FileLock(self.directory / DREAM_LOCK, timeout=0, mode=PRIVATE, is_singleton=False)
        try:
            lock.acquire()
        except Timeout:
            yield None
            return
        except OSError as error:
            raise MemoryError_(f"{lock.lock_file} cannot be written ({error}): make the folder writable") from error
        try:
            dry_runs.sweep(self.directory)
            with self.db.long_log(), contextlib.ExitStack() as stack:
                if not dry_run:
                    yield self
                    return
                folder = stack.enter_context(dry_runs.copied(self.db, self.directory))
                yield stack.enter_context(contextlib.closing(SqliteStore(folder)))
        finally:
            lock.release()

    def partitions(self, scope: Scope | None) -> list[Scope]:
        with self.db.reading() as db:
            return partitions(db, scope)

    def dream_pass(self, scope: Scope, name: str) -> DreamPass:
        self.count_accesses()
        return DreamPass(dreams.SqlitePassEngine(self.db, self.text_index), scope, name)

    # --- upkeep

    def vector_spaces(self) -> spaces.SqliteVectorSpaces:
        with self.db.reading() as db:
            return spaces.SqliteVectorSpaces(self.db, *held_spaces(db))

    def _read_settings(self, prefix: str) -> dict[str, str]:
        with self.db.reading() as db:
            return connection.settings(db, prefix)

    def _put_setting(self, name: str, value: str | None) -> None:
        with self.db.writing() as db:
            connection.put_setting(db, name, value)

    def has_traces(self) -> bool:
        return self.text_index.has_traces()

    def backup(self, path: Path) -> None:
        self.count_accesses()
        backup.save(self.db, path)

    def doctor(self, repair: bool, progress: Progress | None) -> list[Finding]:
        indexes: dict[str, TextIndex | VectorIndex | LabelIndex] = {
            "text index": self.text_index, "vector index": self.vector_index, "label index": self.label_index,
            **{name: one for name, one in self._at_need.items() if one.exists()},
        }  # fmt: skip
        found = doctor.examine(self.db, indexes, repair, progress)
        if not self._sweep():
            copies = ", ".join(str(copy) for copy in dry_runs.left(self.directory))
            found.append(Finding("dry run", f"one that was killed left a copy of the memory: {copies}", "delete it"))
        return found

    def refresh(self, progress: Progress | None) -> None:
        self.text_index.purge(progress)
        applied = [self.text_index.view(progress).seq]
        applied += [rows.seq for index in self._vector_indexes() if (rows := index.view(progress)) is not None]
        with self.db.reading() as db:
            oldest = db.execute("SELECT min(seq) FROM changes").fetchone()[0] or 0
            long = head(db) - oldest > KEEP_CHANGES
        if self.label_index.exists():
            applied.append(self.label_index.catch_up(progress, erase=long))
        if long:
            with self.db.writing() as db:
                # The log keeps what a dream pass still needs that is not too far behind.
                recent = db.execute("SELECT done FROM dreams WHERE done > ?", (head(db) - MOST_CHANGES,))
                applied += [done for (done,) in recent]
                db.execute("DELETE FROM changes WHERE seq <= ?", (min(applied),))

    @property
    def _at_need(self) -> dict[str, VectorIndex]:
        """Returns the indexes that are built only when a search first needs them, by name."""
        return {"index of names": self.name_index, "index of relationships": self.relation_index}

    def _vector_indexes(self) -> list[VectorIndex]:
        return [self.vector_index, *(index for index in self._at_need.values() if index.exists())]

    def _sweep(self) -> bool:
        """Deletes copies that killed dry runs left, unless a dream runs. Returns False if one could not be deleted."""
        if dry_runs.left(self.directory):
            with contextlib.suppress(MemoryError_), self.single_dream() as alone:
                return not (alone and dry_runs.left(self.directory))
        return True
