"""The connection to the server: one driver, managed transactions, and errors in cuetrail's words.

`retry` says what is tried again, how often and how fast.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar
from urllib.parse import unquote, urlsplit

from cuetrail.errors import Busy, CuetrailError, InputError, MemoryError_, Unreachable
from cuetrail.store.neo4j.retry import retry_transaction

if TYPE_CHECKING:
    from neo4j import Driver, ManagedTransaction, Transaction

T = TypeVar("T")
Row = list[Any]
Tx: TypeAlias = "ManagedTransaction | Transaction"

# Python prints errors of a logger without handlers; users of a memory get cuetrail's own errors instead.
logging.getLogger("neo4j").addHandler(logging.NullHandler())

SCHEMES = ("neo4j", "neo4j+s", "neo4j+ssc", "bolt", "bolt+s", "bolt+ssc")
CONNECT_SECONDS, ACQUIRE_SECONDS = 5.0, 10.0
# How many seconds the server may be silent on a quick query. Other queries have the time the server itself asks for,
# two minutes by default: it reports every minute that it is still working.
SILENCE = 30.0
# The server's errors for IF [NOT] EXISTS if another process changes the schema while the statement runs.
SETTLED = (
    "EquivalentSchemaRuleAlreadyExists", "IndexAlreadyExists", "ConstraintAlreadyExists", "IndexNotFound",
    "IndexDropFailed",
)  # fmt: skip
# Rows in one request: more do not make the server faster, and need more memory in a transaction.
CHUNK = 1_000


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a memory on a server. Its printed form never contains the password."""

    uri: str
    database: str | None
    user: str | None = None
    password: str | None = field(default=None, repr=False)

    def __str__(self) -> str:
        return f"{self.uri}/{self.database}" if self.database else self.uri


def parse(address: str) -> Address:
    """Parses `neo4j://user:password@host:port/database`. Raises InputError if it is no such address; the message does
    not contain the password.
    """
    wrong = InputError(
        "the memory's address is not one: write neo4j://user@host:7687/database, and in a password %2F for /, %40 for "
        "@, %3A for :, %3F for ? and %23 for #"
    )
    try:
        found = urlsplit(address)
        port = found.port
    except ValueError:
        raise wrong from None
    if found.scheme not in SCHEMES:
        raise InputError(
            "this kind of address is not known: a memory is a directory, or an address that begins with one of "
            + ", ".join(f"{scheme}://" for scheme in SCHEMES)
        )
    database = unquote(found.path.strip("/")) or None
    # A slash in a password ends the host part, and the rest of the password would look like a database.
    if not found.hostname or found.query or found.fragment or (database and not set(database).isdisjoint("/@:")):
        raise wrong
    host = f"[{found.hostname}]" if ":" in found.hostname else found.hostname
    uri = f"{found.scheme}://{host}" + (f":{port}" if port else "")
    user = unquote(found.username) if found.username else None
    return Address(uri, database, user, unquote(found.password) if found.password else None)


def chunks(items: Sequence[T], size: int = CHUNK) -> Iterator[Sequence[T]]:
    """Yields the items in slices of at most `size`, each for one request to the server."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def rows(tx: Tx, query: str, /, **given: Any) -> list[Any]:
    """Runs a query with these parameters and returns all its rows, each a list of columns."""
    # Queries consist of constants of this package only; values are passed as parameters.
    return tx.run(query, given).values()


class Connection:
    """A driver, opened on one database. Threads may share it.

    `reading` and `writing` run a function in a managed transaction, and retry it if the server says that this may help.
    Reads see earlier writes of this connection, on any member of a cluster.
    """

    makes_indexes = True

    def __init__(self, address: Address) -> None:
        neo4j = _driver_package()
        self.address = address
        self._closed = False
        login = (address.user or "neo4j", address.password) if address.password is not None else None
        try:
            self._driver: Driver = neo4j.GraphDatabase.driver(
                address.uri,
                auth=login,
                # Only `retry` decides what is retried, and how often.
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

    def reading(self, work: Callable[[Tx], T], quick: bool = False) -> T:
        """Runs `work` in a read transaction and returns its result. With `quick`, fails if the server stays silent."""
        return self._run("execute_read", work, quick)

    def writing(self, work: Callable[[Tx], T], quick: bool = False) -> T:
        """Runs `work` in a write transaction and returns its result. It may run several times; one takes effect."""
        return self._run("execute_write", work, quick)

    def schema(self, statements: Sequence[str]) -> None:
        """Runs statements that change the schema, each in its own transaction, as the server requires.

        Errors because another process makes the same change at the same moment are ignored.
        """

        def run(statement: str) -> None:
            self._run("execute_write", lambda tx: rows(tx, statement))

        for statement in statements:
            try:
                run(statement)
            except MemoryError_ as error:
                if not _is_settled(error.__cause__):
                    raise

    def session(self) -> Any:
        """Returns a session for a transaction that the caller begins and ends."""
        self._check_open()
        return self._driver.session(database=self.address.database, bookmark_manager=self._bookmarks)

    def _check_open(self) -> None:
        if self._closed:
            raise MemoryError_(f"the memory at {self.address} was closed: open it again")

    def _run(self, how: str, work: Callable[[Tx], T], quick: bool = False) -> T:
        from neo4j.exceptions import DriverError, Neo4jError

        def run_once() -> T:
            with self.session() as session:
                done: T = getattr(session, how)(lambda tx: _limited(tx, work, quick))
                return done

        try:
            return retry_transaction(run_once)
        except (Neo4jError, DriverError, OSError) as error:
            raise explained(self.address, error) from error


def _limited(tx: Tx, work: Callable[[Tx], T], quick: bool) -> T:
    """Runs `work` and returns its result. If `quick`, the server may be silent for SILENCE seconds at most.

    The driver has no setting for this, so the timeout is set on the connection's socket.
    """
    connection: Any = getattr(tx, "_connection", None)
    if connection is not None:
        asked = connection.connection_hints.get("connection.recv_timeout_seconds")
        connection.socket.set_read_timeout(SILENCE if quick else asked)
    return work(tx)


def _driver_package() -> Any:
    try:
        import neo4j
        import neo4j.exceptions
    except ImportError as error:
        raise InputError("a memory on Neo4j needs its driver: pip install 'cuetrail[neo4j]'") from error
    return neo4j


def _is_settled(error: BaseException | None) -> bool:
    """True if a schema change failed because another process made the same one at the same moment."""
    return str(getattr(error, "code", None) or "").endswith(SETTLED)


READ_ONLY = (
    "Security.Forbidden", "Statement.AccessMode", "General.ForbiddenOnReadOnlyDatabase",
    "General.WriteOnReadOnlyAccessDatabase",
)  # fmt: skip
"""Endings of the server's error codes for a write by a user who may only read, or to a read-only database."""


def explained(address: Address, error: BaseException) -> CuetrailError:
    """Returns cuetrail's error for one of the driver; it says what happened and what to do, without the password."""
    from neo4j import exceptions as known

    code = str(getattr(error, "code", None) or "")
    if isinstance(error, known.AuthError):
        return MemoryError_(
            f"the Neo4j server at {address} refused the user name or the password: give them in NEO4J_USER and "
            "NEO4J_PASSWORD, or in the address"
        )
    if code.endswith("Database.DatabaseNotFound"):
        return InputError(f"there is no database {address.database!r} on {address.uri}: create it or name another")
    if code.endswith(READ_ONLY):
        return MemoryError_(
            f"the memory at {address} cannot be written to: this user or database may only be read. Use a user that "
            "may write, and a database that is not read-only"
        )
    if isinstance(error, known.ServiceUnavailable | known.SessionExpired | OSError) or "DatabaseUnavailable" in code:
        return Unreachable(f"the Neo4j server at {address} does not answer: start it or check the address, then retry")
    if isinstance(error, known.TransientError):
        return Busy(f"the Neo4j server at {address} could not do this now ({code}): try again")
    if isinstance(error, known.DriverError):
        return Unreachable(f"the connection to {address} failed ({error}): try again")
    message = str(getattr(error, "message", None) or error).partition("\n")[0]
    if "no such fulltext schema index" in message or "no such vector schema index" in message:
        return MemoryError_(f"an index of the memory at {address} is missing: run `cuetrail doctor --repair`")
    return MemoryError_(f"the Neo4j server at {address} refused this ({code}: {message[:300]})")


SETTING = "kept:"
"""The prefix of the names of settings, which keeps them apart from the engine's own values."""


def settings(tx: Tx, prefix: str = "") -> dict[str, str]:
    """Returns the memory's settings whose names begin with a prefix, by name."""
    query = "MATCH (m:CueMeta) WHERE m.name STARTS WITH $prefix RETURN m.name, m.value"
    return {name.removeprefix(SETTING): value for name, value in sorted(rows(tx, query, prefix=SETTING + prefix))}


def put_setting(tx: Tx, name: str, value: str | None) -> None:
    """Stores a setting of the memory under a name; the value None deletes it."""
    if value is None:
        rows(tx, "MATCH (m:CueMeta {name: $name}) DELETE m", name=SETTING + name)
    else:
        rows(tx, "MERGE (m:CueMeta {name: $name}) SET m.value = $value", name=SETTING + name, value=value)
