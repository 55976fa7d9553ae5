"""The Neo4j engine: the store protocol on a database of a server.

Most methods are a table: a function of the package, and the kind of transaction it runs in.
"""

from __future__ import annotations

import contextlib
import functools
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from cuetrail.errors import Busy, CuetrailError, Unreachable
from cuetrail.model import Finding, Scope, SearchHit, TextQuery, Where
from cuetrail.store.dream import DreamPass
from cuetrail.store.graph import Expanded, Frontier
from cuetrail.store.neo4j import doctor, settings, upkeep
from cuetrail.store.neo4j.changelog import take_keys
from cuetrail.store.neo4j.connection import Address, Connection
from cuetrail.store.neo4j.dream import Neo4jPassEngine
from cuetrail.store.neo4j.ids import Ids, partitions
from cuetrail.store.neo4j.index.graph import edges as edge_reads
from cuetrail.store.neo4j.index.graph.expand import expand
from cuetrail.store.neo4j.index.graph.relationships import relationships
from cuetrail.store.neo4j.index.labels.walk import walk
from cuetrail.store.neo4j.index.text import statistics, text_search
from cuetrail.store.neo4j.index.vector import spaces, vector_search
from cuetrail.store.neo4j.migrate import migrate
from cuetrail.store.neo4j.read import facts as fact_reads
from cuetrail.store.neo4j.read import listing, partition
from cuetrail.store.neo4j.read import snapshot as views
from cuetrail.store.neo4j.read.copy_view import Moment, moment
from cuetrail.store.neo4j.reader import Reader
from cuetrail.store.neo4j.write import tombstones, usage
from cuetrail.store.neo4j.write.transaction import Neo4jTransaction
from cuetrail.store.ports import Store
from cuetrail.store.read import Record, ScopeVersion
from cuetrail.store.shared.copy import copy
from cuetrail.store.shared.write_order import forget, write_batch
from cuetrail.store.vector_space import Unembedded, VectorSpace, VectorSpaces
from cuetrail.store.write import NOTHING_ALONG, Batch, Progress, Written

if TYPE_CHECKING:
    from cuetrail.store.neo4j.connection import Tx

P = ParamSpec("P")
T = TypeVar("T")
OpenStore = Callable[[Path], Store]


def reading(
    work: Callable[Concatenate[Reader, P], T], quick: bool = False
) -> Callable[Concatenate[Neo4jStore, Scope, P], T]:
    """Turns a function of a Reader into a method that runs it in one read transaction of a scope.

    With `quick`, the method fails soon if the server falls silent.
    """

    @functools.wraps(work)
    def run(store: Neo4jStore, scope: Scope, /, *args: P.args, **options: P.kwargs) -> T:
        return store.connection.reading(lambda tx: work(Reader(tx, scope), *args, **options), quick)

    return run


def quick(work: Callable[Concatenate[Reader, P], T]) -> Callable[Concatenate[Neo4jStore, Scope, P], T]:
    """The same as `reading`, for questions of a recall or a walk: the method fails soon if the server falls silent."""
    return reading(work, quick=True)


class Neo4jStore:
    """A memory on a server. `beside` opens an empty memory in a folder, into which a backup is made."""

    def __init__(self, address: Address, beside: OpenStore | None = None, connection: Connection | None = None) -> None:
        self.address = address
        self._beside = beside
        self._dream = threading.Lock()
        self._corpora = statistics.Corpora()
        self._accesses: deque[tuple[Scope, tuple[str, ...], int]] = deque()
        self.connection = connection or Connection(address)
        if connection is None:
            try:
                migrate(self.connection)
                upkeep.start_epoch(self.connection)
            except BaseException:
                self.connection.close()
                raise

    def close(self) -> None:
        """Counts the accesses that wait and closes the connection."""
        if self._accesses:
            with contextlib.suppress(CuetrailError):
                self._count_accesses()
        self.connection.close()

    # --- read

    get = quick(Reader.nodes)
    edges = quick(Reader.edges)
    facts = quick(fact_reads.facts)
    beliefs = quick(fact_reads.beliefs)
    next_belief = quick(fact_reads.next_belief)
    most_used = quick(fact_reads.most_used)
    core = reading(usage.core)
    ids = quick(Reader.ids_with_prefix)
    named = quick(Reader.named)
    notes = quick(edge_reads.notes)
    mentions = quick(edge_reads.mentions)
    history = quick(Reader.history)
    links = reading(partition.links)
    edges_via = reading(partition.edges_via)
    roots = reading(partition.roots)
    source_files = reading(partition.source_files)
    atoms_of = reading(partition.atoms_of)
    simhash_bands = reading(partition.simhash_bands)
    copies = reading(Reader.copies)
    redacted_texts = reading(tombstones.redacted_texts)
    page = reading(listing.page)
    labels = reading(listing.labels)
    stats = reading(listing.stats)
    vectors = reading(spaces.vectors)

    def version(self, scope: Scope, /) -> ScopeVersion:
        """Returns values that differ after every write, and after every use, of something the scope sees."""

        def work(tx: Tx) -> ScopeVersion:
            reader = Reader(tx, scope)
            return ScopeVersion(reader.ids.version, fact_reads.uses(reader))

        return self.connection.reading(work, quick=True)

    def scan(self, scope: Scope, /) -> Iterator[tuple[str | None, Record]]:
        """Yields everything the user owns, from one consistent view, however long that takes."""
        return views.scan(self.connection, scope)

    def snapshot(self, scope: Scope, /) -> contextlib.AbstractContextManager[views.Snapshot]:
        """Opens one consistent view of the atoms a scope may be shown, however long the block takes."""
        return views.snapshot(self.connection, scope)

    def moment(self) -> contextlib.AbstractContextManager[Moment]:
        """Opens one consistent view of everyone's memories, however long the block takes."""
        return moment(self.connection)

    # --- search

    vector = quick(vector_search.search)
    named_like = quick(Reader.named_like)
    relationships = reading(relationships)
    walk = quick(walk)

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

        def work(tx: Tx) -> list[SearchHit]:
            return text_search.search(Reader(tx, scope), query, limit, where, favour, nodes, self._corpora, anyway)

        # A rehearsal cannot make an index.
        anyway = not self.connection.makes_indexes
        try:
            return self.connection.reading(work, quick=True)
        except statistics.Worn:
            statistics.renew(self.connection)
            anyway = True
            return self.connection.reading(work, quick=True)

    # --- graph

    neighbours = quick(Reader.neighbours)
    steps = quick(edge_reads.steps)
    edge_tags = reading(Reader.edge_tags)

    def expand(self, scope: Scope, /, level: Frontier) -> Expanded:
        """Returns the candidates of every node of a frontier; the server computes the energies in one query."""
        return self.connection.reading(lambda tx: expand(tx, scope, level), quick=True)

    # --- write

    def write(self, scope: Scope, /, batch: Batch) -> Written:
        """Writes a batch in one transaction."""
        keys = self._free_keys(len(batch.nodes))

        def work(tx: Tx) -> Written:
            write = Neo4jTransaction(tx, scope, keys)
            written = write_batch(write, batch)
            write.log()
            return written

        return self.connection.writing(work)

    def _free_keys(self, count: int) -> range:
        """Reserves keys in a transaction of its own, so that writers do not wait for each other."""
        return self.connection.writing(lambda tx: take_keys(tx, count)) if count else range(0)

    @contextlib.contextmanager
    def bulk(self) -> Iterator[None]:
        """Does nothing: the server's indexes follow every write."""
        yield

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
        in the same transaction. The server's text index may keep the forgotten words, where no search finds them;
        `purge` rebuilds it.
        """
        keys = {place: self._free_keys(len(batch.nodes)) for place, batch in along.items()}

        def work(tx: Tx) -> list[str]:
            # Every partition is locked before the change log: nobody who holds the log waits for a partition.
            first, others = Neo4jTransaction(tx, scope), [Neo4jTransaction(tx, *pair) for pair in keys.items()]
            forgotten = forget(first, ids, now, unsaid)
            # After the tombstones: they keep out what would replace a forgotten node under its name.
            for other, batch in zip(others, along.values(), strict=True):
                write_batch(other, batch)
            if forgotten:
                upkeep.note_traces(tx)
            for one in (first, *others):
                one.log()
            return forgotten

        forgotten = self.connection.writing(work)
        if forgotten and purge:
            upkeep.purge(self.connection, progress)
        return forgotten

    def touch(self, scope: Scope, /, ids: Sequence[str], now: int, facts: Sequence[str] = ()) -> None:
        """Counts one access of each node and one use of each fact, a teammate's too.

        A reader does not fail if writers are at work or the server is gone: nodes are then counted with the next
        ones, and facts are not counted.
        """
        if ids:
            self._accesses.append((scope, tuple(ids), now))
            with contextlib.suppress(Busy, Unreachable):
                self._count_accesses()
        if facts:
            with contextlib.suppress(Busy, Unreachable):
                self.connection.writing(lambda tx: usage.touch_facts(Reader(tx, scope), facts, now), quick=True)

    def _count_accesses(self) -> None:
        # Each access is taken by one thread, which puts it back if the server does not take it.
        taken: list[tuple[Scope, tuple[str, ...], int]] = []
        with contextlib.suppress(IndexError):
            while True:
                taken.append(self._accesses.popleft())
        if not taken:
            return

        def work(tx: Tx) -> None:
            for scope, ids, now in taken:
                usage.touch(tx, list(Ids(tx, scope).keys(ids).values()), now)

        try:
            self.connection.writing(work, quick=True)
        except BaseException:
            self._accesses.extendleft(reversed(taken))
            raise

    # --- dream

    @contextlib.contextmanager
    def single_dream(self, dry_run: bool = False) -> Iterator[Neo4jStore | None]:
        if not self._dream.acquire(blocking=False):
            yield None
            return
        try:
            with upkeep.dream_lock(self.connection) as alone, contextlib.ExitStack() as stack:
                if alone and dry_run:
                    # Others cannot write what the transaction touches until it is rolled back.
                    bound = stack.enter_context(upkeep.undone(self.connection))
                    yield Neo4jStore(self.address, self._beside, bound)
                else:
                    yield self if alone else None
        finally:
            self._dream.release()

    def partitions(self, scope: Scope | None) -> list[Scope]:
        """Returns the partitions of this user, private and by team, or those of everyone (None)."""
        return self.connection.reading(lambda tx: partitions(tx, scope))

    def dream_pass(self, scope: Scope, name: str) -> DreamPass:
        return DreamPass(Neo4jPassEngine(self.connection), scope, name)

    # --- upkeep

    def vector_spaces(self) -> VectorSpaces:
        """Returns the model whose vectors searches use, and the one of an unfinished change-over."""
        return self.connection.reading(spaces.spaces)

    def start_vector_space(self, space: VectorSpace, change_over: bool = False) -> VectorSpace:
        """Lets a memory without vectors hold those of this model, and returns the model it holds.

        With `change_over`, one that holds another model's begins to take these beside them; searches use the old ones
        until `finish_change_over`. An unfinished change-over to the same model continues, one to another is dropped;
        a change-over to the present model only drops.
        """
        return spaces.begin(self.connection, space) if change_over else spaces.start(self.connection, space)

    def finish_change_over(self, space: VectorSpace) -> bool:
        """Lets searches use this model's vectors and drops the others; False, and nothing done, while some are missing.

        Raises EmbedderMismatch if the change-over was dropped meanwhile.
        """
        return spaces.finish(self.connection, space)

    def without_vector(self, space: VectorSpace, limit: int, after: Unembedded | None = None) -> list[Unembedded]:
        """Returns the next records, of everyone, that need a vector of this model and have none."""
        return self.connection.reading(lambda tx: spaces.missing(tx, space, after, limit))

    def put_vectors(self, space: VectorSpace, made: Sequence[tuple[Unembedded, bytes]]) -> int:
        """Stores vectors and returns how many; those of records that changed since they were read are left out."""
        return self.connection.writing(lambda tx: spaces.put(tx, space, made))

    def kept(self, prefix: str) -> dict[str, str]:
        """Returns the settings whose names begin with a prefix."""
        return self.connection.reading(lambda tx: settings.settings(tx, prefix))

    def keep(self, name: str, value: str | None) -> None:
        """Stores a setting of the whole memory; None deletes it."""
        self.connection.writing(lambda tx: settings.put(tx, name, value))

    def has_traces(self) -> bool:
        """True if words of something forgotten may still be in the text index, where no search finds them."""
        return self.connection.reading(upkeep.has_traces)

    def backup(self, path: Path) -> None:
        """Writes everyone's memories to a tar file that restores to a memory in a folder."""
        if self._beside is None:
            raise CuetrailError("a backup of this memory is made by `cuetrail backup`")
        with tempfile.TemporaryDirectory() as made, contextlib.closing(self._beside(Path(made))) as beside:
            copy(self, beside)
            beside.backup(path)

    def doctor(self, repair: bool, progress: Progress | None) -> list[Finding]:
        """Examines the database and its indexes, repairs what it can if asked to, and returns what it found."""
        return doctor.examine(self.connection, repair, progress)

    def refresh(self, progress: Progress | None) -> None:
        """Shortens the change log. The server keeps the indexes up to date itself."""
        del progress
        self.connection.writing(upkeep.shorten_log)
