"""The Neo4j engine: the store protocol on a database of a server."""

from __future__ import annotations

import contextlib
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

from cuetrail.errors import Busy, CuetrailError, Unreachable
from cuetrail.model import (
    Direction,
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
from cuetrail.store.neo4j import doctor, upkeep
from cuetrail.store.neo4j.connection import Address, Connection
from cuetrail.store.neo4j.dream import reads
from cuetrail.store.neo4j.facts.writes import touch as touch_facts
from cuetrail.store.neo4j.ids import Ids
from cuetrail.store.neo4j.index.graph import edges as steps
from cuetrail.store.neo4j.index.graph import relationships
from cuetrail.store.neo4j.index.graph.expand import expand
from cuetrail.store.neo4j.index.labels import walk as walks
from cuetrail.store.neo4j.index.text import statistics, text_search
from cuetrail.store.neo4j.index.vector import spaces, vector_search
from cuetrail.store.neo4j.read import facts, listing
from cuetrail.store.neo4j.read import snapshot as views
from cuetrail.store.neo4j.read.copy_view import Moment, moment
from cuetrail.store.neo4j.read.partition import Home
from cuetrail.store.neo4j.reader import Reader
from cuetrail.store.neo4j.schema import migrate
from cuetrail.store.neo4j.write import removal, succession, tombstones, transaction, usage
from cuetrail.store.ports import (
    NO_VECTORS,
    NOTHING_ALONG,
    Alike,
    Band,
    Batch,
    Meaning,
    Progress,
    Record,
    Store,
    Unembedded,
    VectorSpace,
    Written,
)
from cuetrail.store.relationship_query import MeaningQuery, RelationQuery
from cuetrail.store.shared.copy import copy

if TYPE_CHECKING:
    from cuetrail.store.neo4j.connection import Tx

T = TypeVar("T")
OpenStore = Callable[[Path], Store]


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
        if self._accesses:
            with contextlib.suppress(CuetrailError):
                self._count_accesses()
        self.connection.close()

    def _read(self, scope: Scope, work: Callable[[Reader], T], quick: bool = False) -> T:
        return self.connection.reading(lambda tx: work(Reader(tx, scope)), quick)

    def _ask(self, scope: Scope, work: Callable[[Reader], T]) -> T:
        """What a recall or a walk asks: it is told soon when the server falls silent."""
        return self._read(scope, work, quick=True)

    def _home(self, scope: Scope, work: Callable[[Home], T]) -> T:
        return self.connection.reading(lambda tx: work(Home(tx, scope)))

    # --- writing

    def write(self, scope: Scope, batch: Batch) -> Written:
        # Taken beforehand, so that writers do not wait for each other's keys; those that stay unused are no loss.
        count = len(batch.nodes)
        keys = self.connection.writing(lambda tx: transaction.take_keys(tx, count)) if count else range(0)
        return self.connection.writing(lambda tx: succession.write_batch(tx, scope, batch, keys))

    @contextlib.contextmanager
    def bulk(self) -> Iterator[None]:
        """The server's indexes are brought along by every write, so many writes need nothing else."""
        yield

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
        places of the user, because they go, is part of the same transaction. The server's index may keep their words,
        where no search finds them; `purge` makes it anew.
        """
        counts = [len(batch.nodes) for batch in along.values()]
        keys = self.connection.writing(lambda tx: transaction.take_keys(tx, sum(counts))) if sum(counts) else range(0)

        def work(tx: Tx) -> list[str]:
            # Every place is held before the log is: so nobody waits for a place who holds the log.
            w, others = transaction.Write(tx, scope), [transaction.Write(tx, place) for place in along]
            forgotten = removal.forget(w, ids, now, unsaid)
            left = keys
            # Behind the tombstones, which keep out what would take the place of the forgotten under its name.
            for other, batch in zip(others, along.values(), strict=True):
                succession.carry_out_all(other, batch, left)
                left = left[len(batch.nodes) :]
            if forgotten:
                upkeep.note_traces(tx)
            for one in (w, *others):
                one.finish()
            return forgotten

        forgotten = self.connection.writing(work)
        if forgotten and purge:
            upkeep.purge(self.connection, progress)
        return forgotten

    def has_traces(self) -> bool:
        """Whether words of something forgotten may still be in the text index, where no search finds them."""
        return self.connection.reading(upkeep.has_traces)

    def touch(self, scope: Scope, ids: Sequence[str], now: int) -> None:
        """Count one access of each node. A teammate's counts too: what a team shares is kept alive by its use.

        A reader does not fail because writers are at work or the server is gone: accesses are then kept and counted
        with the next ones.
        """
        self._accesses.append((scope, tuple(ids), now))
        with contextlib.suppress(Busy, Unreachable):
            self._count_accesses()

    def _count_accesses(self) -> None:
        # Each access is taken by one thread, which puts it back where the server does not take it.
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

    def touch_facts(self, scope: Scope, ids: Sequence[str], now: int) -> None:
        """Count one use of each fact; where writers are at work they are not counted: a reader does not fail."""
        with contextlib.suppress(Busy, Unreachable):
            self.connection.writing(lambda tx: touch_facts(Reader(tx, scope), ids, now), quick=True)

    # --- reading

    def get(self, scope: Scope, ids: Sequence[str]) -> dict[str, Node]:
        return self._ask(scope, lambda reader: reader.nodes(ids))

    def edges(self, scope: Scope, ids: Sequence[str]) -> dict[str, Edge]:
        return self._ask(scope, lambda reader: reader.edges(ids))

    def facts(self, scope: Scope, subjects: Sequence[str]) -> dict[str, list[Fact]]:
        return self._ask(scope, lambda reader: facts.by_subject(reader, subjects))

    def facts_by_id(self, scope: Scope, ids: Sequence[str]) -> dict[str, Fact]:
        return self._ask(scope, lambda reader: facts.by_id(reader, ids))

    def fact_ids(self, scope: Scope, prefix: str, limit: int) -> list[str]:
        return self._read(scope, lambda reader: facts.beginning(reader, prefix, limit))

    def facts_from(self, scope: Scope, refs: Sequence[str]) -> list[Fact]:
        """The user's own active facts that were read out of these nodes."""
        return self._ask(scope, lambda reader: facts.from_refs(reader, refs))

    def beliefs(
        self, scope: Scope, ids: Sequence[str], at: int, limit: int, direction: Direction
    ) -> dict[str, list[Fact]]:
        """The most certain facts of each node that hold at a time, as subject, as object, or both."""
        return self._ask(scope, lambda reader: facts.beliefs(reader, ids, at, limit, direction))

    def most_used(self, scope: Scope, limit: int) -> list[str]:
        """The entities whose facts were used most often."""
        return self._ask(scope, lambda reader: facts.most_used(reader, limit))

    def next_belief(self, scope: Scope, after: int) -> int | None:
        """When the next fact begins to hold that was stated ahead of its time."""
        return self._ask(scope, lambda reader: facts.next_belief(reader, after))

    def uses(self, scope: Scope) -> Hashable:
        """Another one whenever something that the scope sees was used, by any process."""
        return self._ask(scope, facts.uses)

    def version(self, scope: Scope) -> Hashable:
        """Another one after every write, in any process, to what the scope sees."""
        return self._ask(scope, lambda reader: reader.ids.version)

    def ids(self, scope: Scope, prefix: str, limit: int) -> list[str]:
        """Ids of visible nodes that begin so, in order."""
        return self._ask(scope, lambda reader: reader.beginning(prefix, limit))

    def named(self, scope: Scope, norms: Sequence[str]) -> dict[str, list[str]]:
        return self._ask(scope, lambda reader: reader.named(norms))

    def headed(self, scope: Scope, norms: Sequence[str], each: int) -> dict[str, list[str]]:
        """Ids of the first nodes whose name goes on behind this one with a bracket or a comma."""
        return self._ask(scope, lambda reader: reader.headed(norms, each))

    def named_like(self, scope: Scope, words: Collection[str], beginnings: Collection[str], limit: int) -> list[Alike]:
        """Nodes with one of these words, or one that begins so, in their names."""
        return self._ask(scope, lambda reader: reader.named_like(words, beginnings, limit))

    def history(self, scope: Scope, id_: str) -> list[Version]:
        return self._ask(scope, lambda reader: reader.history(id_))

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

        def work(reader: Reader) -> list[SearchHit]:
            return text_search.search(reader, query, limit, where, favour, nodes, self._corpora, anyway)

        # In a rehearsal no index can be made.
        anyway = not self.connection.makes_indexes
        try:
            return self._ask(scope, work)
        except statistics.Worn:
            statistics.renew(self.connection)
            anyway = True
            return self._ask(scope, work)

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
        return self._ask(scope, lambda reader: vector_search.search(reader, vector, limit, where, space, named))

    def walk(self, scope: Scope, query: WalkQuery, limit: int, where: Where) -> Walk:
        """The best nodes that share a label with a seed, say something, and match no word of the query."""
        return self._ask(scope, lambda reader: walks.walk(reader, query, limit, where))

    def neighbours(self, scope: Scope, ids: Sequence[str], limit: int) -> dict[str, Neighbourhood]:
        return self._ask(scope, lambda reader: reader.neighbours(ids, min(limit, 2**31)))

    def expand(self, scope: Scope, level: Level) -> Expanded:
        """The candidates of every spark of a level; the server reckons the energies."""
        return self.connection.reading(lambda tx: expand(tx, scope, level), quick=True)

    def steps(self, scope: Scope, query: StepQuery) -> dict[str, list[Step]]:
        """The strongest edges of nodes that pass the filters; see `store.steps`."""
        return self._ask(scope, lambda reader: steps.steps(reader, query))

    def notes(
        self, scope: Scope, targets: Sequence[str], on: Literal["node", "edge"], now: int, each: int
    ) -> dict[str, list[Note]]:
        """The newest notes on nodes or edges whose time is not over, at most `each` per target."""
        return self._ask(scope, lambda reader: steps.notes(reader, targets, on, now, each))

    def mentions(self, scope: Scope, ids: Sequence[str], by: Side, each: int) -> dict[str, list[Mention]]:
        """The newest mentions that sources make, or that nodes get, at most `each` per id."""
        return self._ask(scope, lambda reader: steps.mentions(reader, ids, by, each))

    def related(self, scope: Scope, query: RelationQuery) -> list[Edge]:
        """The relationships that have most of the words; see `store.relations`."""
        return self._read(scope, lambda reader: relationships.related(reader, query))

    def akin(self, scope: Scope, query: MeaningQuery) -> list[Edge]:
        """The relationships nearest to a vector. Raises EmbedderMismatch when the memory holds none of this space."""
        return self._read(scope, lambda reader: relationships.akin(reader, query))

    def core(self, scope: Scope, kinds: Sequence[str], limit: int) -> list[Node]:
        """The nodes of these kinds that are used most, by salience."""
        return self._read(scope, lambda reader: usage.core(reader, kinds, limit))

    def page(self, scope: Scope, query: Page) -> list[Listed]:
        """The next nodes of a list, the newest first."""
        return self._read(scope, lambda reader: listing.page(reader, query))

    def labels(self, scope: Scope, what: Literal["tag", "bucket"], prefix: str, limit: int) -> list[Labelled]:
        """Tags or buckets that begin so, those that most nodes have first."""
        return self._read(scope, lambda reader: listing.labels(reader, what, prefix, limit))

    def edge_tags(self, scope: Scope, names: Sequence[str] | None = None) -> list[str]:
        """The tags, of these names or of all, that an edge in sight carries, by name."""
        return self._read(scope, lambda reader: reader.edge_tags(names))

    def scan(self, scope: Scope) -> Iterator[tuple[str | None, Record]]:
        """One consistent view from the first record to the last, however long that takes."""
        return views.scan(self.connection, scope)

    def snapshot(self, scope: Scope) -> contextlib.AbstractContextManager[views.Snapshot]:
        """One consistent view from its opening to its end, however long that takes."""
        return views.snapshot(self.connection, scope)

    def moment(self) -> contextlib.AbstractContextManager[Moment]:
        """Everyone's memories as they are now, however long the block takes."""
        return moment(self.connection)

    def stats(self, scope: Scope) -> Stats:
        def work(reader: Reader) -> Stats:
            held = spaces.held(reader.tx)
            return reader.stats(spaces.slot(held) if held else None, held.model if held else None)

        return self._read(scope, work)

    # --- what ingest asks

    def roots(self, scope: Scope) -> dict[str, str]:
        return self._home(scope, lambda home: home.roots())

    def source_files(self, scope: Scope, under: str) -> dict[str, SourceFile]:
        return self._home(scope, lambda home: home.source_files(under))

    def atoms_of(self, scope: Scope, sources: Sequence[str]) -> dict[str, list[Node]]:
        return self._home(scope, lambda home: home.atoms_of(sources))

    def of_source(self, scope: Scope, source: str) -> list[str]:
        """Ids of all nodes of the user that came from a file, whichever team it was ingested for."""
        return self._read(scope, lambda reader: reader.of_source(source))

    def homes(self, scope: Scope, ids: Sequence[str]) -> dict[Scope, list[Node]]:
        """Of these nodes the user's own, by the place they are in, as the scope that writes there has them."""
        return self._read(scope, lambda reader: reader.homes(ids))

    def links_of(self, scope: Scope, ids: Sequence[str]) -> dict[str, list[Link]]:
        return self._read(scope, lambda reader: reader.links_of(ids))

    def links_to(self, scope: Scope, norms: Sequence[str]) -> dict[str, list[Link]]:
        return self._home(scope, lambda home: home.links_to(norms))

    def edges_via(self, scope: Scope, norms: Sequence[str]) -> dict[str, list[Edge]]:
        return self._home(scope, lambda home: home.edges_via(norms))

    def simhash_bands(self, scope: Scope, wanted: Collection[Band], limit: int) -> dict[Band, list[tuple[str, int]]]:
        return self._home(scope, lambda home: home.simhash_bands(wanted, limit))

    def is_forgotten(self, scope: Scope, nodes: Sequence[Node]) -> set[str]:
        return self.connection.reading(lambda tx: tombstones.kept_out(tx, Ids(tx, scope), nodes))

    def left_of(self, scope: Scope, nodes: Sequence[Node]) -> dict[str, str]:
        """What of the texts of these nodes may come in, by id, where some of it was forgotten; empty for nothing."""
        met = self.connection.reading(lambda tx: tombstones.met(tx, Ids(tx, scope), nodes))
        return {id_: one.left for id_, one in met.items()}

    def copies(self, scope: Scope, nodes: Sequence[Node]) -> list[Node]:
        """The user's own other nodes that say the same as one of these, whatever the case, spacing and markup."""
        return self._read(scope, lambda reader: reader.copies(nodes))

    # --- what dreaming asks

    @contextlib.contextmanager
    def single_dream(self) -> Iterator[bool]:
        """Whether this is the only dream in the memory; the server lets go of the lock of one that was killed."""
        if not self._dream.acquire(blocking=False):
            yield False
            return
        try:
            with upkeep.dream_lock(self.connection) as alone:
                yield alone
        finally:
            self._dream.release()

    @contextlib.contextmanager
    def rehearsal(self) -> Iterator[Neo4jStore]:
        """The memory inside a transaction that is undone at the end. What it touches, others cannot write meanwhile."""
        with upkeep.undone(self.connection) as bound:
            yield Neo4jStore(self.address, self._beside, bound)

    def places(self, scope: Scope | None) -> list[Scope]:
        """The places this user keeps memories in, private and by team, or those of everyone (None)."""
        return self.connection.reading(lambda tx: reads.places(tx, scope))

    def dreaming(self, scope: Scope, name: str) -> reads.Neo4jDreaming:
        """One pass at work in the place this scope writes to."""
        return reads.Neo4jDreaming(self.connection, scope, name)

    def dreamt(self, scope: Scope, listens: Mapping[str, Sequence[str]]) -> None:
        """Have the passes that are through count what dreams changed as seen; `listens` are the exceptions."""
        self.connection.writing(lambda tx: reads.rest(tx, scope, listens))

    # --- vectors and upkeep

    def vector_space(self) -> VectorSpace | None:
        """The model whose vectors searches use."""
        return self.connection.reading(spaces.held)

    def next_space(self) -> VectorSpace | None:
        """The model that a change-over, running or interrupted, makes vectors of."""
        return self.connection.reading(spaces.coming)

    def start_vector_space(self, space: VectorSpace) -> VectorSpace:
        """The model whose vectors the memory holds: this one from now on, if it had none."""
        return spaces.start(self.connection, space)

    def begin_change_over(self, space: VectorSpace) -> None:
        """Take vectors of this model beside the present ones, which searches use until `finish_change_over`.

        One to the same model goes on where it stopped, one to another is given up. Changing over to the present model
        only gives up.
        """
        spaces.begin(self.connection, space)

    def finish_change_over(self, space: VectorSpace) -> bool:
        """Let searches use this model's vectors and drop the others; False, and nothing done, while some are missing.

        Raises EmbedderMismatch when the change-over was given up meanwhile.
        """
        return spaces.finish(self.connection, space)

    def without_vector(self, space: VectorSpace, limit: int, after: Unembedded | None = None) -> list[Unembedded]:
        """What says something and has no vector of this model, whoever owns it, from behind `after` on."""
        return self.connection.reading(lambda tx: spaces.missing(tx, space, after, limit))

    def put_vectors(self, space: VectorSpace, made: Sequence[tuple[Unembedded, bytes]]) -> int:
        """Store vectors; how many. One of what is gone or says something else by now is left out."""
        return self.connection.writing(lambda tx: spaces.put(tx, space, made))

    def vectors(
        self, scope: Scope, ids: Sequence[str], space: VectorSpace | None = None, of: Meaning = "node"
    ) -> dict[str, bytes]:
        """Vectors by id; none when the memory does not hold those of this space (None: whichever it holds)."""

        def work(reader: Reader) -> dict[str, bytes]:
            held = spaces.held(reader.tx)
            if held is None or held == NO_VECTORS or space not in (None, held):
                return {}
            handles = {one.handle: id_ for id_, one in reader.ids.seek(ids, of).items()}
            return spaces.stored(reader.tx, held, handles, of)

        return self._read(scope, work)

    def kept(self, prefix: str) -> dict[str, str]:
        """What `keep` was told under names that begin so, by name."""
        return self.connection.reading(lambda tx: upkeep.kept(tx, prefix))

    def keep(self, name: str, value: str | None) -> None:
        """Remember a setting of the whole memory under a name, in place of what was there; None forgets it."""
        self.connection.writing(lambda tx: upkeep.keep(tx, name, value))

    def backup(self, path: Path) -> None:
        """Write everyone's memories to a tar file that restores to a memory in a folder."""
        if self._beside is None:
            raise CuetrailError("a backup of this memory is made by `cuetrail backup`")
        with tempfile.TemporaryDirectory() as made, contextlib.closing(self._beside(Path(made))) as beside:
            copy(self, beside)
            beside.backup(path)

    def doctor(self, repair: bool, progress: Progress | None) -> list[Finding]:
        return doctor.examine(self.connection, repair, progress)

    def refresh(self, progress: Progress | None) -> None:
        """Shorten the change log that no pass of dreaming needs any more. The server keeps the indexes up to date."""
        del progress
        self.connection.writing(upkeep.shorten_log)
