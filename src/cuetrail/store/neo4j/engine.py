"""The Neo4j engine: the store protocol on a database of a server.

Most methods are functions of the package, wrapped so that they run on the connection or in a transaction.
"""

from __future__ import annotations

import contextlib
import tempfile
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from cuetrail.errors import Busy, CuetrailError, Unreachable
from cuetrail.model import Scope, SearchHit, TextQuery, Where
from cuetrail.store.dream import DreamPass
from cuetrail.store.graph import Expanded, Frontier
from cuetrail.store.neo4j import doctor, upkeep
from cuetrail.store.neo4j.changelog import take_keys
from cuetrail.store.neo4j.connection import Address, Connection, Tx, put_setting, settings
from cuetrail.store.neo4j.dream import Neo4jPassEngine, dream_lock
from cuetrail.store.neo4j.dry_run import rolled_back
from cuetrail.store.neo4j.ids import partitions
from cuetrail.store.neo4j.index import text_index, text_search, vector_search, vector_spaces
from cuetrail.store.neo4j.index.expand import expand
from cuetrail.store.neo4j.index.label_search import walk
from cuetrail.store.neo4j.index.relationship_search import relationships
from cuetrail.store.neo4j.migrate import migrate
from cuetrail.store.neo4j.read import facts as fact_reads
from cuetrail.store.neo4j.read import listing, partition
from cuetrail.store.neo4j.read.edges import mentions, notes, steps
from cuetrail.store.neo4j.read.snapshot import scan, snapshot, whole_view
from cuetrail.store.neo4j.reader import Reader
from cuetrail.store.neo4j.write import tombstones, usage
from cuetrail.store.neo4j.write.transaction import Neo4jTransaction
from cuetrail.store.ports import Store
from cuetrail.store.search import Factors
from cuetrail.store.shared.copy import copy
from cuetrail.store.shared.property_filter import first_passing
from cuetrail.store.shared.scoped import Scoped
from cuetrail.store.shared.write_order import forget, write_batch
from cuetrail.store.upkeep import LAST_FORGOTTEN, StoredSettings
from cuetrail.store.write import FORGETTING, Batch, BulkMode, Forgetting, Written

P = ParamSpec("P")
T = TypeVar("T")
OpenStore = Callable[[Path], Store]
TextView = tuple[Reader, text_index.CorpusCache, bool]


def _read(store: Neo4jStore, scope: Scope, work: Callable[[Reader], Any]) -> Any:
    return store.connection.reading(lambda tx: work(Reader(tx, scope)))


def _read_quickly(store: Neo4jStore, scope: Scope, work: Callable[[Reader], Any]) -> Any:
    return store.connection.reading(lambda tx: work(Reader(tx, scope)), quick=True)


def _search(store: Neo4jStore, scope: Scope, work: Callable[[TextView], Any]) -> Any:
    def read(anyway: bool) -> Any:
        return store.connection.reading(lambda tx: work((Reader(tx, scope), store.corpora, anyway)), quick=True)

    try:
        # A dry run cannot make an index.
        return read(not store.connection.makes_indexes)
    except text_index.IndexOutdated:
        text_index.rebuild(store.connection)
        return read(True)


def _search_text(
    view: TextView,
    query: TextQuery,
    limit: int,
    where: Where,
    factors: Factors = (1.0, 1.0),
    nodes: bool = False,
) -> list[SearchHit]:
    reader, corpora, anyway = view

    def find(most: int, passing: Where) -> list[SearchHit]:
        with_nodes = nodes or bool(where.props)
        return text_search.search(reader, query, most, passing, factors, with_nodes, corpora, anyway)

    return first_passing(find, lambda hit: hit.node, limit, where)


# Methods that may take long, and those of recalls and walks, which fail soon if the server falls silent.
patient = Scoped(_read)
quick = Scoped(_read_quickly)


def on_server(work: Callable[Concatenate[Connection, P], T]) -> Callable[Concatenate[Neo4jStore, P], T]:
    """Turns a function whose first argument is the connection into a method of the store."""

    def method(store: Neo4jStore, /, *args: P.args, **options: P.kwargs) -> T:
        return work(store.connection, *args, **options)

    return method


class Neo4jStore:
    """A memory on a server. The ports document the methods.

    `beside` opens an empty memory in a folder, which a backup is made from. With `connection`, that one is used, and
    the database is not migrated.
    """

    def __init__(self, address: Address, beside: OpenStore | None = None, connection: Connection | None = None) -> None:
        self.address = address
        self.forward_accesses: Callable[[Scope, Sequence[str], int, Sequence[str]], None] | None = None
        self._beside = beside
        self._dream = threading.Lock()
        self.corpora = text_index.CorpusCache()
        self.connection = connection or Connection(address)
        self._accesses = usage.Accesses(self.connection)
        self.settings = StoredSettings(
            lambda prefix: self.connection.reading(lambda tx: settings(tx, prefix)),
            lambda name, value: self.connection.writing(lambda tx: put_setting(tx, name, value)),
        )
        if connection is None:
            try:
                migrate(self.connection)
                upkeep.start_epoch(self.connection)
            except BaseException:
                self.connection.close()
                raise

    def close(self) -> None:
        with contextlib.suppress(CuetrailError):
            self._accesses.count()
        self.connection.close()

    get = quick(Reader.nodes)
    edges = quick(partition.edges)
    facts = quick(fact_reads.facts)
    ids = quick(Reader.ids_with_prefix)
    named = quick(Reader.named)
    beside = quick(Reader.beside)
    notes = quick(notes)
    mentions = quick(mentions)
    history = quick(Reader.history)
    links = patient(partition.links)
    ingested = patient(partition.ingested)
    atoms_of = patient(partition.atoms_of)
    source_tokens = quick(partition.source_tokens)
    simhash_bands = patient(partition.simhash_bands)
    copies = patient(Reader.copies)
    redacted_texts = patient(tombstones.redacted_texts)
    page = patient(listing.page)
    labels = patient(listing.labels)
    stats = patient(listing.stats)
    vectors = patient(vector_spaces.vectors)
    version = quick(fact_reads.version)

    scan = on_server(scan)
    snapshot = on_server(snapshot)
    whole_view = on_server(whole_view)
    text = Scoped(_search)(_search_text)
    vector = quick(vector_search.search)
    named_like = quick(Reader.named_like)
    relationships = patient(relationships)
    walk = quick(walk)

    neighbours = quick(Reader.neighbours)
    steps = quick(steps)
    edge_tags = patient(Reader.edge_tags)

    vector_spaces = on_server(vector_spaces.Neo4jVectorSpaces)
    has_traces = on_server(upkeep.has_traces)
    doctor = on_server(doctor.examine)
    refresh = on_server(upkeep.shorten_log)

    def expand(self, scope: Scope, /, level: Frontier) -> Expanded:
        return self.connection.reading(lambda tx: expand(tx, scope, level), quick=True)

    def write(self, scope: Scope, /, batch: Batch) -> Written:
        keys = self._free_keys(len(batch.nodes))

        def work(tx: Tx) -> Written:
            write = Neo4jTransaction(tx, scope, keys)
            written = write_batch(write, batch)
            write.log()
            return written

        return self.connection.writing(work)

    def _free_keys(self, count: int) -> range:
        """Reserves and returns `count` keys, in a transaction of its own, so that writers need not wait for it."""
        return self.connection.writing(lambda tx: take_keys(tx, count)) if count else range(0)

    def bulk(self, how: BulkMode = "separate") -> contextlib.nullcontext[None]:
        # The server's indexes follow every write, and it has no transaction of which a part could be undone.
        del how
        return contextlib.nullcontext()

    def forget(self, scope: Scope, /, ids: Sequence[str], now: int, how: Forgetting = FORGETTING) -> list[str]:
        keys = {place: self._free_keys(len(batch.nodes)) for place, batch in how.along.items()}

        def work(tx: Tx) -> list[str]:
            # Every partition is locked before the change log: nobody who holds the log waits for a partition.
            first, others = Neo4jTransaction(tx, scope), [Neo4jTransaction(tx, *pair) for pair in keys.items()]
            forgotten = forget(first, ids, now, how.id_only, how.shared)
            for other, batch in zip(others, how.along.values(), strict=True):
                write_batch(other, batch)
            if forgotten:
                upkeep.note_traces(tx)
                put_setting(tx, LAST_FORGOTTEN, uuid.uuid4().hex)
            for one in (first, *others):
                one.log()
            return forgotten

        forgotten = self.connection.writing(work)
        if forgotten and how.purge:
            upkeep.purge(self.connection, how.progress)
        return forgotten

    def touch(self, scope: Scope, /, ids: Sequence[str], now: int, facts: Sequence[str] = ()) -> None:
        if self.forward_accesses is not None:
            self.forward_accesses(scope, ids, now, facts)
            return
        # A reader does not fail if writers are at work or the server is gone.
        with contextlib.suppress(Busy, Unreachable):
            self._accesses.add(scope, ids, now)
        if facts:
            with contextlib.suppress(Busy, Unreachable):
                self.connection.writing(lambda tx: usage.touch_facts(Reader(tx, scope), facts, now), quick=True)

    @contextlib.contextmanager
    def single_dream(self, dry_run: bool = False) -> Iterator[Neo4jStore | None]:
        if not self._dream.acquire(blocking=False):
            yield None
            return
        try:
            with dream_lock(self.connection) as alone, contextlib.ExitStack() as stack:
                if alone and dry_run:
                    # Others cannot write what the transaction touches until it is rolled back.
                    bound = stack.enter_context(rolled_back(self.connection))
                    yield Neo4jStore(self.address, self._beside, bound)
                else:
                    yield self if alone else None
        finally:
            self._dream.release()

    def partitions(self, scope: Scope | None) -> list[Scope]:
        return self.connection.reading(lambda tx: partitions(tx, scope))

    def dream_pass(self, scope: Scope, name: str) -> DreamPass:
        return DreamPass(Neo4jPassEngine(self.connection), scope, name)

    def backup(self, path: Path) -> None:
        if self._beside is None:
            raise CuetrailError("a backup of this memory is made by `cuetrail backup`")
        with tempfile.TemporaryDirectory() as made, contextlib.closing(self._beside(Path(made))) as beside:
            copy(self, beside)
            beside.backup(path)
