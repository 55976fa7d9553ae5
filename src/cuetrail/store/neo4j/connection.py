"""How the engine talks to the server: one driver, managed transactions, one retry layer, errors in our own words."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import unquote, urlsplit

from cuetrail.errors import Busy, CuetrailError, InputError, MemoryError_, Unreachable

if TYPE_CHECKING:
    from neo4j import Driver, ManagedTransaction, Transaction

    Tx = ManagedTransaction | Transaction

T = TypeVar("T")
Row = list[Any]

SCHEMES = ("neo4j", "neo4j+s", "neo4j+ssc", "bolt", "bolt+s", "bolt+ssc")
ATTEMPTS, FIRST_WAIT = 3, 0.05
CONNECT_SECONDS, ACQUIRE_SECONDS = 5.0, 20.0
# Rows in one request: more make the server's plan no faster, and a transaction's memory larger.
CHUNK = 1_000


@dataclass(frozen=True, slots=True)
class Address:
    """Where a memory is. The password never shows."""

    uri: str
    database: str | None
    user: str | None = None
    password: str | None = field(default=None, repr=False)

    def __str__(self) -> str:
        return f"{self.uri}/{self.database}" if self.database else self.uri


def parse(address: str) -> Address:
    """The parts of `neo4j://user:password@host:port/database`. Raises InputError, without the password in it."""
    try:
        found = urlsplit(address)
        port = found.port
    except ValueError:
        raise InputError("the memory's address is not one: write neo4j://user@host:7687/database") from None
    if found.scheme not in SCHEMES:
        raise InputError(
            f"{found.scheme}:// is not known: a memory is a directory, or an address that begins with one of "
            f"{', '.join(SCHEMES)}"
        )
    database = unquote(found.path.strip("/")) or None
    if not found.hostname or found.query or found.fragment or (database and "/" in database):
        raise InputError("the memory's address is not one: write neo4j://user@host:7687/database")
    host = f"[{found.hostname}]" if ":" in found.hostname else found.hostname
    uri = f"{found.scheme}://{host}" + (f":{port}" if port else "")
    user = unquote(found.username) if found.username else None
    return Address(uri, database, user, unquote(found.password) if found.password else None)


def chunks(items: Sequence[T], size: int = CHUNK) -> Iterator[Sequence[T]]:
    """The items in pieces of one request each."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def rows(tx: Tx, query: str, /, **given: Any) -> list[Any]:
    """All rows of a query, each a list of its columns."""
    # Queries are put together from constants of this package alone; values go as parameters.
    return tx.run(query, given).values()


class Connection:
    """The driver, opened on one database. Threads may share it.

    `reading` and `writing` run a function in a managed transaction, again where the server says that this may help.
    Reads see what this connection wrote, on any member of a cluster.
    """

    def __init__(self, address: Address) -> None:
        neo4j = _driver_package()
        self.address = address
        self._closed = False
        login = (address.user or "neo4j", address.password) if address.password is not None else None
        try:
            self._driver: Driver = neo4j.GraphDatabase.driver(
                address.uri,
                auth=login,
                # What is retried, and how often, is decided here alone.
                max_transaction_retry_time=-1.0,
                connection_timeout=CONNECT_SECONDS,
                connection_acquisition_timeout=ACQUIRE_SECONDS,
                notifications_min_severity="OFF",
                telemetry_disabled=True,
                user_agent="cuetrail",
            )
        except (neo4j.exceptions.Neo4jError, neo4j.exceptions.DriverError, ValueError) as error:
            raise InputError(f"{address} cannot be used as a memory's address: {error}") from error
        self._bookmarks = neo4j.GraphDatabase.bookmark_manager()

    def close(self) -> None:
        self._closed = True
        self._driver.close()

    def reading(self, work: Callable[[Tx], T]) -> T:
        """What `work` gives, run in a read transaction."""
        return self._run("execute_read", work)

    def writing(self, work: Callable[[Tx], T]) -> T:
        """What `work` gives, run in a transaction of which all or nothing is kept. It may run more than once."""
        return self._run("execute_write", work)

    def schema(self, statements: Sequence[str]) -> None:
        """Run statements that change the schema, each in a transaction of its own, as the server wants it."""

        def run(statement: str) -> None:
            self._run("execute_write", lambda tx: rows(tx, statement))

        for statement in statements:
            run(statement)

    def session(self) -> Any:
        """A session for a transaction that the caller ends."""
        self._check_open()
        return self._driver.session(database=self.address.database, bookmark_manager=self._bookmarks)

    def _check_open(self) -> None:
        if self._closed:
            raise MemoryError_(f"the memory at {self.address} was closed: open it again")

    def _run(self, how: str, work: Callable[[Tx], T]) -> T:
        from neo4j.exceptions import DriverError, Neo4jError

        for attempt in range(ATTEMPTS):
            try:
                with self.session() as session:
                    done: T = getattr(session, how)(work)
                    return done
            except (Neo4jError, DriverError, OSError) as error:
                if attempt + 1 == ATTEMPTS or not _may_pass(error):
                    raise explained(self.address, error) from error
            time.sleep(FIRST_WAIT * 2**attempt)
        raise AssertionError("unreachable")


def _driver_package() -> Any:
    try:
        import neo4j
        import neo4j.exceptions
    except ImportError as error:
        raise InputError("a memory on Neo4j needs its driver: pip install 'cuetrail[neo4j]'") from error
    return neo4j


def _may_pass(error: BaseException) -> bool:
    """Whether the same may succeed a moment later."""
    code = str(getattr(error, "code", None) or "")
    # Somebody deleted a node between our reading and our writing: reading again tells.
    if code.endswith("Statement.EntityNotFound"):
        return True
    retryable = getattr(error, "is_retryable", None)
    return isinstance(error, OSError) or bool(retryable and retryable())


def explained(address: Address, error: BaseException) -> CuetrailError:
    """The error in our own words: what happened and what to do. No password is in it."""
    from neo4j import exceptions as known

    code = str(getattr(error, "code", None) or "")
    if isinstance(error, known.AuthError):
        return MemoryError_(
            f"the Neo4j server at {address} refused the user name or the password: give them in NEO4J_USER and "
            "NEO4J_PASSWORD, or in the address"
        )
    if code.endswith("Database.DatabaseNotFound"):
        return InputError(f"there is no database {address.database!r} on {address.uri}: create it or name another")
    if isinstance(error, known.ServiceUnavailable | known.SessionExpired | OSError) or "DatabaseUnavailable" in code:
        return Unreachable(f"the Neo4j server at {address} does not answer: start it or check the address, then retry")
    if isinstance(error, known.TransientError):
        return Busy(f"the Neo4j server at {address} could not do this now ({code}): try again")
    if isinstance(error, known.DriverError):
        return Unreachable(f"the connection to {address} failed ({error}): try again")
    message = str(getattr(error, "message", None) or error).partition("\n")[0]
    return MemoryError_(f"the Neo4j server at {address} refused this ({code}: {message[:300]})")
