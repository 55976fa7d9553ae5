"""The SQLite engine: the store protocol on a directory.

Most methods are a table: a function of the package, and the kind of transaction it runs in.
"""

from __future__ import annotations

import contextlib
import functools
import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

import numpy as np
from filelock import FileLock, Timeout

from cuetrail.errors import Busy, CuetrailError, MemoryError_
from cuetrail.model import Edge, Finding, Scope, SearchHit, TextQuery, Walk, WalkQuery, Where
from cuetrail.store.dream import DreamPass
from cuetrail.store.read import Record, ScopeVersion
from cuetrail.store.search import RelationQuery
from cuetrail.store.shared.write_order import forget, write_batch
from cuetrail.store.sqlite import backup, connection, doctor
from cuetrail.store.sqlite import dream as dreams
from cuetrail.store.sqlite import reader as edge_reads
from cuetrail.store.sqlite.changelog import FORGOTTEN, head, log_changes
from cuetrail.store.sqlite.connection import UNERASED, Database, another_version
from cuetrail.store.sqlite.index import relationships, text_search, vector_search
from cuetrail.store.sqlite.index import vector_spaces as spaces
from cuetrail.store.sqlite.index.expand import expand
from cuetrail.store.sqlite.index.label_index import LabelIndex
from cuetrail.store.sqlite.index.label_search import walk as walk_labels
from cuetrail.store.sqlite.index.text_index import TextIndex
from cuetrail.store.sqlite.index.vector_index import NAMED, RELATIONS, VectorIndex
from cuetrail.store.sqlite.read import facts as fact_reads
from cuetrail.store.sqlite.read import listing, partition
from cuetrail.store.sqlite.read.copy_view import Moment
from cuetrail.store.sqlite.read.snapshot import Snapshot
from cuetrail.store.sqlite.reader import Reader, held_space, held_spaces, ids_of, partitions, vectors_by_key
from cuetrail.store.sqlite.write import transaction, usage
from cuetrail.store.sqlite.write.transaction import SqliteTransaction
from cuetrail.store.vector_space import NO_VECTORS, Unembedded, VectorKind, VectorSpace, VectorSpaces
from cuetrail.store.write import NOTHING_ALONG, Batch, Progress, Written

P = ParamSpec("P")
T = TypeVar("T")

KEEP_CHANGES, MOST_CHANGES = 10_000, 200_000
DREAM_LOCK = "dream.lock"
# Accesses are counted in one transaction when there are this many, or after this many milliseconds.
MANY_ACCESSES, ACCESS_MS = 32, 1_000


def reading(work: Callable[Concatenate[Reader, P], T]) -> Callable[Concatenate[LocalStore, Scope, P], T]:
    """Turns a function of a Reader into a method that runs it in one consistent view of a scope."""

    @functools.wraps(work)
    def run(store: LocalStore, scope: Scope, /, *args: P.args, **options: P.kwargs) -> T:
        with store.db.reading() as db:
            return work(Reader(db, scope, store.db.path), *args, **options)

    return run


def reading_used(work: Callable[Concatenate[Reader, P], T]) -> Callable[Concatenate[LocalStore, Scope, P], T]:
    """The same as `reading`, for nodes with their use: accesses that wait are counted first."""
    method = reading(work)

    @functools.wraps(work)
    def run(store: LocalStore, scope: Scope, /, *args: P.args, **options: P.kwargs) -> T:
        store.count_accesses()
        return method(store, scope, *args, **options)

    return run


class LocalStore:
    """A memory in a directory: `memory.db` is the truth, `index/` is derived from it."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.directory = directory
        self.db = Database(directory)
        self.text_index = TextIndex(directory / "index" / "text", self.db)
        self.vector_index = VectorIndex(directory / "index" / "vectors", self.db)
        self.name_index = VectorIndex(directory / "index" / "names", self.db, NAMED)
        self.relation_index = VectorIndex(directory / "index" / "relations", self.db, RELATIONS)
        self.label_index = LabelIndex(directory / "index" / "labels", self.db)
        self._bulk = threading.local()
        self._accesses: deque[tuple[Scope, tuple[str, ...], int]] = deque()
        self._sweep()

    def close(self) -> None:
        """Counts the accesses that wait and closes every connection."""
        with contextlib.suppress(CuetrailError):
            self.count_accesses()
        self.db.close()

    # --- read

    get = reading_used(Reader.nodes)
    edges = reading(Reader.edges)
    facts = reading(fact_reads.facts)
    beliefs = reading(fact_reads.beliefs)
    next_belief = reading(fact_reads.next_belief)
    most_used = reading(fact_reads.most_used)
    core = reading(usage.core)
    ids = reading(Reader.ids_with_prefix)
    named = reading(Reader.named)
    notes = reading(edge_reads.notes)
    mentions = reading(edge_reads.mentions)
    history = reading(Reader.history)
    links = reading(partition.links)
    edges_via = reading(partition.edges_via)
    roots = reading(partition.roots)
    source_files = reading(partition.source_files)
    atoms_of = reading_used(partition.atoms_of)
    simhash_bands = reading(partition.simhash_bands)
    copies = reading(Reader.copies)
    redacted_texts = reading(transaction.redacted_texts)
    page = reading(listing.page)
    labels = reading(listing.labels)
    stats = reading(listing.stats)

    def version(self, scope: Scope, /) -> ScopeVersion:
        """Returns values that differ after every write, and after every use, of something the scope sees."""
        self.count_accesses()
        with self.db.looking() as db:
            ids = ids_of(db, scope)
            return ScopeVersion(ids.version, fact_reads.uses(db, ids.parts))

    def scan(self, scope: Scope, /) -> Iterator[tuple[str | None, Record]]:
        """Yields everything the user owns, from one consistent view, however long that takes."""
        self.count_accesses()
        with self.db.apart() as db:
            yield from Reader(db, scope, self.db.path).scan()

    @contextlib.contextmanager
    def snapshot(self, scope: Scope, /) -> Iterator[Snapshot]:
        """Opens one consistent view of the atoms a scope may be shown, however long the block takes."""
        self.count_accesses()
        with self.db.apart() as db:
            yield Snapshot(db, scope, self.db.path)

    @contextlib.contextmanager
    def moment(self) -> Iterator[Moment]:
        """Opens one consistent view of everyone's memories, however long the block takes."""
        self.count_accesses()
        with self.db.apart() as db:
            yield Moment(db, self.db.path)

    def vectors(
        self, scope: Scope, /, ids: Sequence[str], space: VectorSpace | None = None, of: VectorKind = "node"
    ) -> dict[str, bytes]:
        """Returns vectors by id; none if the memory does not hold those of this space (None: whichever it holds)."""
        with self.db.reading() as db:
            if space not in (None, held_space(db)):
                return {}
            keys = Reader(db, scope, self.db.path).ids.keys(ids, f"{of}s")
            return vectors_by_key(db, {key: id_ for id_, key in keys.items()})

    # --- search

    named_like = reading(Reader.named_like)

    def text(
        self,
        scope: Scope,
        /,
        query: TextQuery,
        limit: int,
        where: Where,
        favour: tuple[float, float] = (1.0, 1.0),
        nodes: bool = False,
    ) -> list[SearchHit]:
        """Returns the best by BM25; `favour` multiplies the scores of internal memories, and of all others."""
        with self.db.looking() as db:
            reader = Reader(db, scope, self.db.path)
            return text_search.search(reader, self.text_index, query, limit, where, favour, nodes)

    def vector(
        self,
        scope: Scope,
        /,
        vector: bytes,
        limit: int,
        where: Where,
        space: VectorSpace | None = None,
        named: bool = False,
    ) -> list[SearchHit]:
        """Returns the nearest nodes by cosine, with `named` only of those that have a name.

        Raises EmbedderMismatch if the memory does not hold vectors of this space.
        """
        index = self.name_index if named else self.vector_index
        query = np.frombuffer(vector, dtype="<f2").astype(np.float32)
        held = self.vector_spaces().held
        if held is None or held == NO_VECTORS:
            return []
        # Filters on labels look among all nodes, with a name or not.
        labels = None if named else self.text_index
        return vector_search.search(self.db, scope, index, labels, query, limit, where, space or held)

    def relationships(self, scope: Scope, /, query: RelationQuery) -> list[Edge]:
        """Returns the relationships that share most words with the query, then those nearest to each of its vectors.

        Raises EmbedderMismatch if the memory does not hold vectors of the query's space.
        """
        found: list[Edge] = []
        if query.words:
            with self.db.reading() as db:
                found = relationships.by_words(Reader(db, scope, self.db.path), query)
        held = self.vector_spaces().held if query.vectors else None
        if held is not None and held != NO_VECTORS:
            for vector in query.vectors:
                found += relationships.by_vector(
                    self.db, scope, self.relation_index, vector, query, query.space or held
                )
        return found

    def walk(self, scope: Scope, /, query: WalkQuery, limit: int, where: Where) -> Walk:
        """Returns the best nodes with text that share a label with a seed and match no word of the query."""
        with self.db.reading() as db:
            return walk_labels(Reader(db, scope, self.db.path), self.label_index, self.text_index, query, limit, where)

    # --- graph

    neighbours = reading(Reader.neighbours)
    expand = reading(expand)
    steps = reading(edge_reads.steps)
    edge_tags = reading(Reader.edge_tags)

    # --- write

    def write(self, scope: Scope, /, batch: Batch) -> Written:
        """Writes a batch in one transaction; the text index follows at the next search, or at once during `bulk`."""
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

    @contextlib.contextmanager
    def bulk(self) -> Iterator[None]:
        """Lets the text index follow the writes of this thread as they happen, instead of at the next search."""
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

    def forget(
        self,
        scope: Scope,
        /,
        ids: Sequence[str],
        now: int,
        purge: bool = False,
        progress: Progress | None = None,
        along: Mapping[Scope, Batch] = NOTHING_ALONG,
        unsaid: Collection[str] = (),
    ) -> list[str]:
        """Removes the user's own nodes for good and returns their ids. Ids of others are left alone.

        The texts of `unsaid` nodes are not forgotten: other nodes may say the same. The batches of `along` are written
        in the same transaction. A large text index keeps the forgotten words, where no search finds them, until it is
        rewritten; `purge` rewrites it now.
        """
        self.count_accesses()
        with self.db.writing() as db:
            tx = SqliteTransaction(db, self.db.path, scope)
            forgotten = forget(tx, ids, now, unsaid)
            tx.remove_unused_paths()
            tx.log()
            # After the tombstones: they keep out what would replace a forgotten node under its name.
            for place, batch in along.items():
                self._write(db, place, batch)
            if forgotten:
                # If this process dies before it has erased everything, the next one finishes the work.
                db.execute("INSERT OR REPLACE INTO meta VALUES (?, 1), (?, ?)", (UNERASED, FORGOTTEN, head(db)))
        if forgotten:
            self.db.erase_log()
            if purge:
                self.text_index.purge(progress)
            else:
                self.text_index.catch_up(progress)
            for index in self._vector_indexes():
                index.view(progress)
            if self.label_index.exists():
                self.label_index.catch_up(progress)
            self._sweep()
        return forgotten

    def touch(self, scope: Scope, /, ids: Sequence[str], now: int, facts: Sequence[str] = ()) -> None:
        """Counts one access of each node and one use of each fact, a teammate's too.

        Accesses of nodes wait and are counted together: after a second, when there are many, or before anything is
        written or a node is read. A reader never waits for a writer: nodes then wait longer, and facts are not counted.
        """
        if ids:
            self._accesses.append((scope, tuple(ids), now))
            if len(self._accesses) >= MANY_ACCESSES or not 0 <= now - self._accesses[0][2] < ACCESS_MS:
                self.count_accesses()
        if facts:
            with contextlib.suppress(Busy), self.db.jotting() as db:
                usage.touch_facts(db, ids_of(db, scope).keys(facts, "facts").values(), now)

    def count_accesses(self) -> None:
        """Counts the accesses that wait, unless another process is writing."""
        if not self._accesses:
            return
        woken: list[tuple[list[int], int]] = []
        with contextlib.suppress(Busy), self.db.jotting() as db:
            counted = list(self._accesses)
            for scope, ids, now in counted:
                asleep = usage.touch(db, list(ids_of(db, scope).keys(ids).values()), now)
                if asleep:
                    woken.append((asleep, now))
            # Other threads may have appended meanwhile; the counted ones are at the front.
            for _ in counted:
                self._accesses.popleft()
        if woken:
            # The indexes must follow, so this needs a lasting write.
            with self.db.writing() as db:
                for keys, now in woken:
                    usage.touch(db, keys, now, wake=True)
                log_changes(db, [key for keys, _ in woken for key in keys])
                another_version(db)

    # --- dream

    @contextlib.contextmanager
    def single_dream(self, dry_run: bool = False) -> Iterator[LocalStore | None]:
        # A new lock each time: two threads of one process must not share one.
        lock = FileLock(self.directory / DREAM_LOCK, timeout=0, is_singleton=False)
        try:
            lock.acquire()
        except Timeout:
            yield None
            return
        except OSError as error:
            raise MemoryError_(f"{lock.lock_file} cannot be written ({error}): make the folder writable") from error
        try:
            dreams.sweep(self.directory)
            with self.db.long_log(), contextlib.ExitStack() as stack:
                if not dry_run:
                    yield self
                    return
                folder = stack.enter_context(dreams.copied(self.db, self.directory))
                yield stack.enter_context(contextlib.closing(LocalStore(folder)))
        finally:
            lock.release()

    def partitions(self, scope: Scope | None) -> list[Scope]:
        """Returns the partitions of this user, private and by team, or those of everyone (None)."""
        with self.db.reading() as db:
            return partitions(db, scope)

    def dream_pass(self, scope: Scope, name: str) -> DreamPass:
        self.count_accesses()
        return DreamPass(dreams.SqlitePassEngine(self.db, self.text_index), scope, name)

    # --- upkeep

    def vector_spaces(self) -> VectorSpaces:
        """Returns the model whose vectors searches use, and the one of an unfinished change-over."""
        with self.db.reading() as db:
            return held_spaces(db)

    def start_vector_space(self, space: VectorSpace, change_over: bool = False) -> VectorSpace:
        """Lets a memory without vectors hold those of this model, and returns the model it holds.

        With `change_over`, one that holds another model's begins to take these beside them; searches use the old ones
        until `finish_change_over`. An unfinished change-over to the same model continues, one to another is dropped;
        a change-over to the present model only drops.
        """
        with self.db.writing() as db:
            return spaces.begin(db, space) if change_over else spaces.start(db, space)

    def finish_change_over(self, space: VectorSpace) -> bool:
        """Lets searches use this model's vectors and drops the others; False, and nothing done, while some are missing.

        Raises EmbedderMismatch if the change-over was dropped meanwhile.
        """
        with self.db.writing() as db:
            return spaces.finish(db, space)

    def without_vector(self, space: VectorSpace, limit: int, after: Unembedded | None = None) -> list[Unembedded]:
        """Returns the next records, of everyone, that need a vector of this model and have none."""
        with self.db.reading() as db:
            return spaces.missing(db, self.db.path, space, after, limit)

    def put_vectors(self, space: VectorSpace, made: Sequence[tuple[Unembedded, bytes]]) -> int:
        """Stores vectors and returns how many; those of records that changed since they were read are left out."""
        with self.db.writing() as db:
            return spaces.put(db, space, made)

    def kept(self, prefix: str) -> dict[str, str]:
        """Returns the settings whose names begin with a prefix."""
        with self.db.reading() as db:
            return connection.settings(db, prefix)

    def keep(self, name: str, value: str | None) -> None:
        """Stores a setting of the whole memory; None deletes it."""
        with self.db.writing() as db:
            connection.put_setting(db, name, value)

    def has_traces(self) -> bool:
        """True if words of something forgotten are still in the text index, where no search finds them."""
        return self.text_index.has_traces()

    def backup(self, path: Path) -> None:
        """Writes everyone's memories to a tar file."""
        self.count_accesses()
        backup.save(self.db, path)

    def doctor(self, repair: bool, progress: Progress | None) -> list[Finding]:
        """Examines the database and the indexes, repairs what it can if asked to, and returns what it found."""
        indexes: dict[str, TextIndex | VectorIndex | LabelIndex] = {
            "text index": self.text_index, "vector index": self.vector_index, "label index": self.label_index,
            **{name: one for name, one in self._at_need.items() if one.exists()},
        }  # fmt: skip
        found = doctor.examine(self.db, indexes, repair, progress)
        if not self._sweep():
            copies = ", ".join(str(copy) for copy in dreams.left(self.directory))
            found.append(Finding("dry run", f"one that was killed left a copy of the memory: {copies}", "delete it"))
        return found

    def refresh(self, progress: Progress | None) -> None:
        """Updates the indexes now, without a trace of the forgotten, and shortens the change log."""
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
        """The indexes that the first search that needs them builds, by name."""
        return {"index of names": self.name_index, "index of relationships": self.relation_index}

    def _vector_indexes(self) -> list[VectorIndex]:
        return [self.vector_index, *(index for index in self._at_need.values() if index.exists())]

    def _sweep(self) -> bool:
        """Deletes the copies of killed dry runs, unless a dream is running. False if one could not be deleted."""
        if dreams.left(self.directory):
            with contextlib.suppress(MemoryError_), self.single_dream() as alone:
                return not (alone and dreams.left(self.directory))
        return True
