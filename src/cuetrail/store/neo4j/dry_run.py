"""Dry runs of dreams: they write in one open transaction, which is rolled back at the end."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from cuetrail.errors import MemoryError_
from cuetrail.store.neo4j.connection import Connection, Tx, explained

T = TypeVar("T")


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
