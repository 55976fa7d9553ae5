"""The local engine: the store protocol on a directory."""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from filelock import FileLock, Timeout

from cuetrail.errors import Busy, CuetrailError, MemoryError_
from cuetrail.model import (
    Edge,
    Fact,
    Finding,
    Link,
    Mention,
    Neighbourhood,
    Node,
    Note,
    Scope,
    SearchHit,
    SourceFile,
    Stats,
    TextQuery,
    Version,
    Walk,
    WalkQuery,
    Where,
)
from cuetrail.store.edge_query import Side, Step, StepQuery
from cuetrail.store.expansion import Expanded, Level
from cuetrail.store.listing import Labelled, Listed, Page
from cuetrail.store.ports import (
    NO_VECTORS,
    NOTHING_ALONG,
    Band,
    Batch,
    Meaning,
    Progress,
    Record,
    Unembedded,
    VectorSpace,
    Written,
)
from cuetrail.store.relationship_query import MeaningQuery, RelationQuery
from cuetrail.store.sqlite import backup, doctor
from cuetrail.store.sqlite.connection import KEPT, UNERASED, Database, another_version, head, log_changes
from cuetrail.store.sqlite.dream import dry_run, reads
from cuetrail.store.sqlite.fact_store import FactStore
from cuetrail.store.sqlite.ids import Ids, ids_of
from cuetrail.store.sqlite.index.graph import edges as steps
from cuetrail.store.sqlite.index.graph import relationships
from cuetrail.store.sqlite.index.graph.expand import expand
from cuetrail.store.sqlite.index.labels.label_index import LabelIndex
from cuetrail.store.sqlite.index.labels.walk import walk as walk_labels
from cuetrail.store.sqlite.index.text import results
from cuetrail.store.sqlite.index.text.text_index import FORGOTTEN, TextIndex
from cuetrail.store.sqlite.index.vector import spaces, vector_search
from cuetrail.store.sqlite.index.vector.vector_index import NAMED, RELATIONS, VectorIndex
from cuetrail.store.sqlite.read import facts, listing
from cuetrail.store.sqlite.read.copy_view import Moment
from cuetrail.store.sqlite.read.partition import Home
from cuetrail.store.sqlite.read.snapshot import Snapshot
from cuetrail.store.sqlite.reader import Reader
from cuetrail.store.sqlite.write import succession, tombstones, usage, writer

KEEP_CHANGES, MOST_CHANGES = 10_000, 200_000
DREAM_LOCK = "dream.lock"
# So many recalls are counted in one transaction, and those of so many milliseconds.
MANY_ACCESSES, ACCESS_MS = 32, 1_000
# What callers keep in the table of the engine's own values begins so.


class LocalStore(FactStore):
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
        with contextlib.suppress(CuetrailError):
            self._count_accesses()
        self.db.close()

    # --- writing

    def write(self, scope: Scope, batch: Batch) -> Written:
        self._count_accesses()
        with self.db.writing() as db:
            written = succession.write_batch(db, scope, batch)
        if getattr(self._bulk, "writes", None) is not None:
            # One transaction is indexed by the search that wants it; from the second on there is something to gain.
            self._bulk.writes += 1
            if self._bulk.writes > 1:
                self.text_index.follow()
        return written

    @contextlib.contextmanager
    def bulk(self) -> Iterator[None]:
        """Of many writes in this thread the text index is brought along, instead of by the next search."""
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
        ids: Sequence[str],
        now: int,
        purge: bool = False,
        progress: Progress | None = None,
        along: Mapping[Scope, Batch] = NOTHING_ALONG,
        unsaid: Collection[str] = (),
    ) -> list[str]:
        """Remove the user's own nodes for good; their ids come back. Ids of others are left alone.

        What those among them that are `unsaid` say is not forgotten: others may say it. What `along` changes in the
        places of the user, because they go, is part of the same transaction. A large text index keeps their words,
        where no search finds them, until it is rewritten; `purge` does that now.
        """
        self._count_accesses()
        with self.db.writing() as db:
            w = writer.Write(db, scope)
            forgotten = writer.forget(w, ids, now, self.db.path, unsaid)
            w.log()
            # Behind the tombstones, which keep out what would take the place of the forgotten under its name.
            for place, batch in along.items():
                succession.write_batch(db, place, batch)
            if forgotten:
                # Should this process die before it is done, the next one knows what is left to do.
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

    def has_traces(self) -> bool:
        """Whether words of something forgotten are still in the text index, where no search finds them."""
        return self.text_index.has_traces()

    def touch(self, scope: Scope, ids: Sequence[str], now: int) -> None:
        """Count one access of each node. A teammate's counts too: what a team shares is kept alive by its use.

        Accesses are kept and counted together: after a second, or when there are many, or before anything is written
        or a node is asked for. While another process is writing they are kept longer: a reader does not wait for it.
        """
        self._accesses.append((scope, tuple(ids), now))
        if len(self._accesses) >= MANY_ACCESSES or not 0 <= now - self._accesses[0][2] < ACCESS_MS:
            self._count_accesses()

    def _count_accesses(self) -> None:
        if not self._accesses:
            return
        woken: list[tuple[list[int], int]] = []
        with contextlib.suppress(Busy), self.db.jotting() as db:
            counted = list(self._accesses)
            for scope, ids, now in counted:
                asleep = usage.touch(db, list(ids_of(db, scope).keys(ids).values()), now)
                if asleep:
                    woken.append((asleep, now))
            # Others may have appended meanwhile; what was counted stands at the front.
            for _ in counted:
                self._accesses.popleft()
        if woken:
            # The indexes have to hear of it, so this cannot be jotted down.
            with self.db.writing() as db:
                for keys, now in woken:
                    usage.touch(db, keys, now, wake=True)
                log_changes(db, [key for keys, _ in woken for key in keys])
                another_version(db)

    # --- reading

    def uses(self, scope: Scope) -> Hashable:
        self._count_accesses()
        return super().uses(scope)

    def get(self, scope: Scope, ids: Sequence[str]) -> dict[str, Node]:
        self._count_accesses()
        with self.db.reading() as db:
            return Reader(db, scope, self.db.path).nodes(ids)

    def edges(self, scope: Scope, ids: Sequence[str]) -> dict[str, Edge]:
        with self.db.reading() as db:
            return Reader(db, scope, self.db.path).edges(ids)

    def facts(self, scope: Scope, subjects: Sequence[str]) -> dict[str, list[Fact]]:
        with self.db.reading() as db:
            return facts.by_subject(Reader(db, scope, self.db.path), subjects)

    def ids(self, scope: Scope, prefix: str, limit: int) -> list[str]:
        """Ids of visible nodes that begin so, in order."""
        with self.db.reading() as db:
            return Reader(db, scope, self.db.path).beginning(prefix, limit)

    def named(self, scope: Scope, norms: Sequence[str]) -> dict[str, list[str]]:
        with self.db.reading() as db:
            return Reader(db, scope, self.db.path).named(norms)

    def headed(self, scope: Scope, norms: Sequence[str], each: int) -> dict[str, list[str]]:
        """Ids of the first nodes whose name goes on behind this one with a bracket or a comma."""
        with self.db.reading() as db:
            return Reader(db, scope, self.db.path).headed(norms, each)

    def history(self, scope: Scope, id_: str) -> list[Version]:
        with self.db.reading() as db:
            return Reader(db, scope, self.db.path).history(id_)

    def text(
        self,
        scope: Scope,
        query: TextQuery,
        limit: int,
        where: Where,
        favour: tuple[float, float] = (1.0, 1.0),
        nodes: bool = False,
    ) -> list[SearchHit]:
        """The best by BM25, multiplied by the first of `favour` on internal memories and by the second on others."""
        with self.db.looking() as db:
            reader = Reader(db, scope, self.db.path)
            return results.search(reader, self.text_index, query, limit, where, favour, nodes)

    def vector(
        self,
        scope: Scope,
        vector: bytes,
        limit: int,
        where: Where,
        space: VectorSpace | None = None,
        named: bool = False,
    ) -> list[SearchHit]:
        """The nearest by cosine, or of those that have a name. Raises EmbedderMismatch when the memory does not hold
        vectors of this space.
        """
        index = self.name_index if named else self.vector_index
        query = np.frombuffer(vector, dtype="<f2").astype(np.float32)
        held = self.vector_space()
        if held is None or held == NO_VECTORS:
            return []
        # Labels are looked up among all nodes, with a name or not.
        labels = None if named else self.text_index
        return vector_search.search(self.db, scope, index, labels, query, limit, where, space or held)

    def walk(self, scope: Scope, query: WalkQuery, limit: int, where: Where) -> Walk:
        """The best nodes that share a label with a seed, say something, and match no word of the query."""
        with self.db.reading() as db:
            return walk_labels(Reader(db, scope, self.db.path), self.label_index, self.text_index, query, limit, where)

    def neighbours(self, scope: Scope, ids: Sequence[str], limit: int) -> dict[str, Neighbourhood]:
        with self.db.reading() as db:
            return Reader(db, scope, self.db.path).neighbours(ids, limit)

    def expand(self, scope: Scope, level: Level) -> Expanded:
        """Where the energy of each spark can go, the most of it first; see `store.energy`."""
        with self.db.reading() as db:
            return expand(Reader(db, scope, self.db.path), level)

    def steps(self, scope: Scope, query: StepQuery) -> dict[str, list[Step]]:
        """The strongest edges of nodes that pass the filters; see `store.steps`."""
        with self.db.reading() as db:
            return steps.steps(Reader(db, scope, self.db.path), query)

    def notes(
        self, scope: Scope, targets: Sequence[str], on: Literal["node", "edge"], now: int, each: int
    ) -> dict[str, list[Note]]:
        """The newest notes on nodes or edges whose time is not over, at most `each` per target."""
        with self.db.reading() as db:
            return steps.notes(Reader(db, scope, self.db.path), targets, on, now, each)

    def mentions(self, scope: Scope, ids: Sequence[str], by: Side, each: int) -> dict[str, list[Mention]]:
        """The newest mentions that sources make, or that nodes get, at most `each` per id."""
        with self.db.reading() as db:
            return steps.mentions(Reader(db, scope, self.db.path), ids, by, each)

    def related(self, scope: Scope, query: RelationQuery) -> list[Edge]:
        """The relationships that have most of the words; see `store.relations`."""
        with self.db.reading() as db:
            return relationships.related(Reader(db, scope, self.db.path), query)

    def akin(self, scope: Scope, query: MeaningQuery) -> list[Edge]:
        """The relationships nearest to a vector. Raises EmbedderMismatch when the memory holds none of this space."""
        held = self.vector_space()
        if held is None or held == NO_VECTORS:
            return []
        return relationships.akin(self.db, scope, self.relation_index, query, query.space or held)

    def core(self, scope: Scope, kinds: Sequence[str], limit: int) -> list[Node]:
        """The nodes of these kinds that are used most, by salience."""
        with self.db.reading() as db:
            return usage.core(Reader(db, scope, self.db.path), kinds, limit)

    def page(self, scope: Scope, query: Page) -> list[Listed]:
        """The next nodes of a list, the newest first."""
        with self.db.reading() as db:
            return listing.page(Reader(db, scope, self.db.path), query)

    def labels(self, scope: Scope, what: Literal["tag", "bucket"], prefix: str, limit: int) -> list[Labelled]:
        """Tags or buckets that begin so, those that most nodes have first."""
        with self.db.reading() as db:
            return listing.labels(Reader(db, scope, self.db.path), what, prefix, limit)

    def edge_tags(self, scope: Scope, names: Sequence[str] | None = None) -> list[str]:
        """The tags, of these names or of all, that an edge in sight carries, by name."""
        with self.db.reading() as db:
            return Reader(db, scope, self.db.path).edge_tags(names)

    def scan(self, scope: Scope) -> Iterator[tuple[str | None, Record]]:
        """One consistent view from the first record to the last, however long that takes."""
        self._count_accesses()
        with self.db.apart() as db:
            yield from Reader(db, scope, self.db.path).scan()

    @contextlib.contextmanager
    def snapshot(self, scope: Scope) -> Iterator[Snapshot]:
        """One consistent view from its opening to its end, however long that takes."""
        self._count_accesses()
        with self.db.apart() as db:
            yield Snapshot(db, scope, self.db.path)

    @contextlib.contextmanager
    def moment(self) -> Iterator[Moment]:
        """Everyone's memories as they are now, however long the block takes."""
        self._count_accesses()
        with self.db.apart() as db:
            yield Moment(db, self.db.path)

    def stats(self, scope: Scope) -> Stats:
        with self.db.reading() as db:
            return Reader(db, scope, self.db.path).stats()

    # --- what ingest asks

    def roots(self, scope: Scope) -> dict[str, str]:
        with self.db.reading() as db:
            return Home(db, scope, self.db.path).roots()

    def source_files(self, scope: Scope, under: str) -> dict[str, SourceFile]:
        with self.db.reading() as db:
            return Home(db, scope, self.db.path).source_files(under)

    def atoms_of(self, scope: Scope, sources: Sequence[str]) -> dict[str, list[Node]]:
        self._count_accesses()
        with self.db.reading() as db:
            return Home(db, scope, self.db.path).atoms_of(sources)

    def of_source(self, scope: Scope, source: str) -> list[str]:
        """Ids of all nodes of the user that came from a file, whichever team it was ingested for."""
        with self.db.reading() as db:
            return Reader(db, scope, self.db.path).of_source(source)

    def homes(self, scope: Scope, ids: Sequence[str]) -> dict[Scope, list[Node]]:
        """Of these nodes the user's own, by the place they are in, as the scope that writes there has them."""
        self._count_accesses()
        with self.db.reading() as db:
            return Reader(db, scope, self.db.path).homes(ids)

    def links_of(self, scope: Scope, ids: Sequence[str]) -> dict[str, list[Link]]:
        with self.db.reading() as db:
            return Reader(db, scope, self.db.path).links_of(ids)

    def links_to(self, scope: Scope, norms: Sequence[str]) -> dict[str, list[Link]]:
        with self.db.reading() as db:
            return Home(db, scope, self.db.path).links_to(norms)

    def edges_via(self, scope: Scope, norms: Sequence[str]) -> dict[str, list[Edge]]:
        with self.db.reading() as db:
            return Home(db, scope, self.db.path).edges_via(norms)

    def simhash_bands(self, scope: Scope, wanted: Collection[Band], limit: int) -> dict[Band, list[tuple[str, int]]]:
        with self.db.reading() as db:
            return Home(db, scope, self.db.path).simhash_bands(wanted, limit)

    def is_forgotten(self, scope: Scope, nodes: Sequence[Node]) -> set[str]:
        with self.db.reading() as db:
            return tombstones.kept_out(db, Ids(db, scope), nodes)

    def left_of(self, scope: Scope, nodes: Sequence[Node]) -> dict[str, str]:
        """What of the texts of these nodes may come in, by id, where some of it was forgotten; empty for nothing."""
        with self.db.reading() as db:
            return {id_: one.left for id_, one in tombstones.met(db, Ids(db, scope), nodes).items()}

    def copies(self, scope: Scope, nodes: Sequence[Node]) -> list[Node]:
        """The user's own other nodes that say the same as one of these, whatever the case, spacing and markup."""
        with self.db.reading() as db:
            return Reader(db, scope, self.db.path).copies(nodes)

    # --- what dreaming asks

    @contextlib.contextmanager
    def single_dream(self) -> Iterator[bool]:
        """Whether this is the only dream in the memory; the system lets go of the lock of one that was killed."""
        # A lock of its own each time: threads of one process must not pass for one.
        lock = FileLock(self.directory / DREAM_LOCK, timeout=0, is_singleton=False)
        try:
            lock.acquire()
        except Timeout:
            yield False
            return
        except OSError as error:
            raise MemoryError_(f"{lock.lock_file} cannot be written ({error}): make the folder writable") from error
        try:
            dry_run.sweep(self.directory)
            with self.db.long_log():
                yield True
        finally:
            lock.release()

    @property
    def _at_need(self) -> dict[str, VectorIndex]:
        """The indexes that are made by the first search that wants them, by name."""
        return {"index of names": self.name_index, "index of relationships": self.relation_index}

    def _vector_indexes(self) -> list[VectorIndex]:
        return [self.vector_index, *(index for index in self._at_need.values() if index.exists())]

    def _sweep(self) -> bool:
        """Whether no copy of a dry run that was killed is left; the copy of one that is at work is not touched."""
        if dry_run.left(self.directory):
            with contextlib.suppress(MemoryError_), self.single_dream() as alone:
                return not (alone and dry_run.left(self.directory))
        return True

    @contextlib.contextmanager
    def rehearsal(self) -> Iterator[LocalStore]:
        """A copy of the truth to try something on; it is gone afterwards."""
        with dry_run.copied(self.db, self.directory) as place, contextlib.closing(LocalStore(place)) as copy:
            yield copy

    def places(self, scope: Scope | None) -> list[Scope]:
        """The places this user keeps memories in, private and by team, or those of everyone (None)."""
        with self.db.reading() as db:
            return list(reads.places(db, scope))

    def dreaming(self, scope: Scope, name: str) -> reads.LocalDreaming:
        """One pass at work in the place this scope writes to."""
        self._count_accesses()
        return reads.LocalDreaming(self.db, self.text_index, scope, name)

    def dreamt(self, scope: Scope, listens: Mapping[str, Sequence[str]]) -> None:
        """Have the passes that are through count what dreams changed as seen; `listens` are the exceptions."""
        with self.db.writing() as db:
            reads.rest(db, scope, listens)

    # --- vectors and upkeep

    def vector_space(self) -> VectorSpace | None:
        """The model whose vectors searches use."""
        with self.db.reading() as db:
            return spaces.space_of(db)

    def next_space(self) -> VectorSpace | None:
        """The model that a change-over, running or interrupted, makes vectors of."""
        with self.db.reading() as db:
            return spaces.space_of(db, spaces.NEXT)

    def start_vector_space(self, space: VectorSpace) -> VectorSpace:
        """The model whose vectors the memory holds: this one from now on, if it had none."""
        with self.db.writing() as db:
            return spaces.start(db, space)

    def begin_change_over(self, space: VectorSpace) -> None:
        """Take vectors of this model beside the present ones, which searches use until `finish_change_over`.

        One to the same model goes on where it stopped, one to another is given up. Changing over to the present model
        only gives up.
        """
        with self.db.writing() as db:
            spaces.begin(db, space)

    def finish_change_over(self, space: VectorSpace) -> bool:
        """Let searches use this model's vectors and drop the others; False, and nothing done, while some are missing.

        Raises EmbedderMismatch when the change-over was given up meanwhile.
        """
        with self.db.writing() as db:
            return spaces.finish(db, space)

    def without_vector(self, space: VectorSpace, limit: int, after: Unembedded | None = None) -> list[Unembedded]:
        """What says something and has no vector of this model, whoever owns it, from behind `after` on."""
        with self.db.reading() as db:
            return spaces.missing(db, self.db.path, space, after, limit)

    def put_vectors(self, space: VectorSpace, made: Sequence[tuple[Unembedded, bytes]]) -> int:
        """Store vectors; how many. One of what is gone or says something else by now is left out."""
        with self.db.writing() as db:
            return spaces.put(db, space, made)

    def vectors(
        self, scope: Scope, ids: Sequence[str], space: VectorSpace | None = None, of: Meaning = "node"
    ) -> dict[str, bytes]:
        """Vectors by id; none when the memory does not hold those of this space (None: whichever it holds)."""
        with self.db.reading() as db:
            if space not in (None, spaces.space_of(db)):
                return {}
            keys = Reader(db, scope, self.db.path).ids.keys(ids, f"{of}s")
            return spaces.of_keys(db, {key: id_ for id_, key in keys.items()})

    def kept(self, prefix: str) -> dict[str, str]:
        """What `keep` was told under names that begin so, by name."""
        begin = KEPT + prefix
        with self.db.reading() as db:
            found = db.execute("SELECT name, value FROM meta WHERE substr(name, 1, ?) = ?", (len(begin), begin))
            return {name.removeprefix(KEPT): value for name, value in found}

    def keep(self, name: str, value: str | None) -> None:
        """Remember a setting of the whole memory under a name, in place of what was there; None forgets it."""
        with self.db.writing() as db:
            if value is None:
                db.execute("DELETE FROM meta WHERE name = ?", (KEPT + name,))
            else:
                db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (KEPT + name, value))

    def backup(self, path: Path) -> None:
        self._count_accesses()
        backup.save(self.db, path)

    def doctor(self, repair: bool, progress: Progress | None) -> list[Finding]:
        indexes: dict[str, TextIndex | VectorIndex | LabelIndex] = {
            "text index": self.text_index, "vector index": self.vector_index, "label index": self.label_index,
            **{name: one for name, one in self._at_need.items() if one.exists()},
        }  # fmt: skip
        found = doctor.examine(self.db, indexes, repair, progress)
        if not self._sweep():
            copies = ", ".join(str(copy) for copy in dry_run.left(self.directory))
            found.append(Finding("dry run", f"one that was killed left a copy of the memory: {copies}", "delete it"))
        return found

    def refresh(self, progress: Progress | None) -> None:
        """Bring the indexes up to date now, without a trace of the forgotten; shorten the log they no longer need."""
        self.text_index.purge(progress)
        applied = [self.text_index.view(progress).state.seq]
        applied += [rows.state.seq for index in self._vector_indexes() if (rows := index.view(progress)) is not None]
        with self.db.reading() as db:
            oldest = db.execute("SELECT min(seq) FROM changes").fetchone()[0] or 0
            long = head(db) - oldest > KEEP_CHANGES
        if self.label_index.exists():
            applied.append(self.label_index.catch_up(progress, erase=long))
        if long:
            with self.db.writing() as db:
                # A pass of dreaming that is not too far behind need not look at everything again.
                recent = db.execute("SELECT done FROM dreams WHERE done > ?", (head(db) - MOST_CHANGES,))
                applied += [done for (done,) in recent]
                db.execute("DELETE FROM changes WHERE seq <= ?", (min(applied),))
