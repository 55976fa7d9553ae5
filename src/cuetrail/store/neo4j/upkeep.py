"""Maintenance: the memory's epoch, the change log, traces of forgotten words, the dream lock, and dry runs."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from cuetrail.errors import MemoryError_
from cuetrail.store.neo4j.connection import Connection, Tx, explained, rows
from cuetrail.store.neo4j.index.text_index import rebuild
from cuetrail.store.write import Progress

T = TypeVar("T")

TRACES = "traces"
KEEP_CHANGES, MOST_CHANGES = 10_000, 200_000
# How many seconds to wait to find out if another dream runs.
DREAM_SECONDS = 0.5

_SHORTEN = """MATCH (m:CueMeta {name: 'log'}) WITH m.value AS head
OPTIONAL MATCH (d:CueMark) WHERE d.done > head - $most
WITH head, coalesce(min(d.done), head) AS needed
MATCH (c:CueChange) WHERE c.seq < head - $keep AND c.seq <= needed DELETE c"""


def start_epoch(connection: Connection) -> None:
    """Gives a new memory its epoch, a random name that no other memory has. One that has an epoch keeps it."""
    query = "MERGE (m:CueMeta {name: 'epoch'}) ON CREATE SET m.value = $epoch"
    if not connection.reading(lambda tx: rows(tx, "MATCH (m:CueMeta {name: 'epoch'}) RETURN 1")):
        connection.writing(lambda tx: rows(tx, query, epoch=secrets.token_hex(8)))


def shorten_log(connection: Connection, progress: Progress | None) -> None:
    """Deletes old changes from the log, except those that a dream pass not too far behind still needs.

    This is all that `refresh` does here: the server updates the indexes itself.
    """
    del progress
    connection.writing(lambda tx: rows(tx, _SHORTEN, keep=KEEP_CHANGES, most=MOST_CHANGES))


# --- forgetting


def note_traces(tx: Tx) -> None:
    """Records that the text index may contain words of forgotten texts."""
    rows(tx, "MERGE (m:CueMeta {name: $name}) SET m.value = true", name=TRACES)


def has_traces(connection: Connection) -> bool:
    """True if the text index may contain words of forgotten texts."""
    query = "MATCH (m:CueMeta {name: $name}) RETURN 1"
    return bool(connection.reading(lambda tx: rows(tx, query, name=TRACES)))


def purge(connection: Connection, progress: Progress | None) -> None:
    """Rebuilds the text index, so that no word of a forgotten text is left in it. The old index answers until then."""
    if progress:
        progress("making the text index anew", 0, 0)
    rebuild(connection)
    connection.writing(lambda tx: rows(tx, "MATCH (m:CueMeta {name: $name}) DELETE m", name=TRACES))


# --- transactions that stay open


@contextlib.contextmanager
def dream_lock(connection: Connection) -> Iterator[bool]:
    """Takes the lock of dreams for the block. Yields True, or False if another dream has it.

    The lock is a node that an open transaction has written to. The server ends that transaction if the process dies.
    """
    from neo4j.exceptions import DriverError, Neo4jError

    with connection.session() as session:
        try:
            connection.writing(lambda tx: rows(tx, "MERGE (m:CueMeta {name: 'dream'})"))
            with session.begin_transaction(timeout=DREAM_SECONDS) as first:
                first.run("MATCH (m:CueMeta {name: 'dream'}) SET m.tried = timestamp()").consume()
                first.rollback()
            held = session.begin_transaction()
            held.run("MATCH (m:CueMeta {name: 'dream'}) SET m.held = timestamp()").consume()
        except (Neo4jError, DriverError) as error:
            if _is_timeout(error):
                yield False
                return
            raise explained(connection.address, error) from error
        try:
            yield True
        finally:
            with contextlib.suppress(Neo4jError, DriverError):
                held.rollback()


def _is_timeout(error: BaseException) -> bool:
    code = str(getattr(error, "code", None) or "")
    return "TransactionTimedOut" in code or "Terminated" in code or "LockClient" in code


class TransactionConnection(Connection):
    """A connection whose reads and writes all run in one open transaction, for a dry run."""

    makes_indexes = False

    def __init__(self, base: Connection, tx: Tx) -> None:
        self.address = base.address
        self._tx = tx

    def close(self) -> None:
        """Does nothing: whoever opened the transaction ends it."""

    def reading(self, work: Callable[[Tx], T], quick: bool = False) -> T:
        return self._run("", work, quick)

    writing = reading

    def schema(self, statements: Sequence[str]) -> None:
        raise MemoryError_(f"the schema cannot be changed in a dry run: {statements[0]}")

    def session(self) -> Any:
        raise MemoryError_("a dry run has one transaction only")

    def _run(self, how: str, work: Callable[[Tx], T], quick: bool = False) -> T:
        from neo4j.exceptions import DriverError, Neo4jError

        del how, quick
        try:
            return work(self._tx)
        except (Neo4jError, DriverError) as error:
            raise explained(self.address, error) from error


@contextlib.contextmanager
def rolled_back(connection: Connection) -> Iterator[TransactionConnection]:
    """Yields a connection whose changes are all rolled back at the end of the block."""
    from neo4j.exceptions import DriverError, Neo4jError

    with connection.session() as session:
        try:
            tx = session.begin_transaction()
        except (Neo4jError, DriverError) as error:
            raise explained(connection.address, error) from error
        try:
            yield TransactionConnection(connection, tx)
        finally:
            with contextlib.suppress(Neo4jError, DriverError):
                tx.rollback()
