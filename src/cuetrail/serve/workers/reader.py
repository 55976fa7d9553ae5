"""A process of a server that answers requests: it reads the memory itself, and has the writer write."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import pickle
import socket
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import uvicorn

from cuetrail.model import Scope
from cuetrail.serve.memory_access import LazyMemory
from cuetrail.serve.rest.connection_limits import ConnectionLimits, LimitedProtocol
from cuetrail.serve.rest.metrics import Metrics
from cuetrail.serve.rest.open_requests import Load
from cuetrail.serve.workers.process_messages import Line, result_of
from cuetrail.serve.workers.shared_counts import SharedCounts, address_code, free_row
from cuetrail.serve.write_queue import Emit, Key, Write, Writes

if TYPE_CHECKING:
    from cuetrail.memory import Memory
    from cuetrail.serve.workers.child_task import Task

T = TypeVar("T")

SEND_EVERY = 0.25
"""Seconds after which counts and accesses are sent together."""
_ROW_BYTES = 4


def run_reader(task: Task, number: int, sock: socket.socket, door: socket.socket, shared_counts: SharedCounts) -> None:
    """Answers requests until the supervisor says stop."""
    asyncio.run(_run(task, number, sock, door, shared_counts))


async def _run(task: Task, number: int, sock: socket.socket, door: socket.socket, shared_counts: SharedCounts) -> None:
    # Imported here: the application is built of most other modules.
    from cuetrail.serve.rest.server import http_config, make_app, request_rules

    line = await Line.open(sock)
    shared = _Shared(line, number, shared_counts)
    memory = _ReaderMemory(task.open_memory, task.remote, shared)
    app = make_app(memory, request_rules(task.names), shared)
    server = _Server(http_config(app, shared.connections), door, shared)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_listen, line, shared, server)
        tasks.start_soon(shared.send_at_intervals)
        await server.serve()
        tasks.cancel_scope.cancel()
    shared.send_counts()
    line.close()


async def _listen(line: Line, shared: _Shared, server: _Server) -> None:
    """Handles the messages of the supervisor until the line is closed."""
    while (message := await line.receive()) is not None:
        match message:
            case ("stop",):
                server.stop()
            case ("close", row):
                shared.connections.close(row)
            case _:
                shared.handle(message)


class _ReaderMemory(LazyMemory):
    """The memory of a reader: notes each read in the shared counts; the writer counts the accesses."""

    def __init__(self, open_memory: Callable[[], Memory], remote: bool, shared: _Shared) -> None:
        super().__init__(open_memory, remote=remote)
        self._open_plain, self._open, self._shared = open_memory, self._open_reading, shared

    def _open_reading(self) -> Memory:
        memory = self._open_plain()
        memory.store.forward_accesses = self._shared.add_access
        return memory

    async def run(
        self, work: Callable[[Memory], T], limiter: anyio.CapacityLimiter | None = None, scope: Scope | None = None
    ) -> T:
        """Runs work that changes nothing in a thread and returns its result."""
        self._shared.note_read()
        return await super().run(work, limiter, scope)


class _Shared:
    """The shared state of a server, as one of its readers reaches it. See `service.Shared`."""

    def __init__(self, line: Line, number: int, shared_counts: SharedCounts) -> None:
        self._line, self._number, self._shared_counts = line, number, shared_counts
        self._loop = asyncio.get_running_loop()
        self._ids: Iterator[int] = itertools.count()
        self._outcomes: dict[int, asyncio.Future[Any]] = {}
        self._progress: dict[int, Emit] = {}
        self._accesses: deque[tuple[Scope, tuple[str, ...], int, tuple[str, ...]]] = deque()
        self.connections = _CountedConnections(number, shared_counts)
        self.load: Load = _CountedLoad(number, shared_counts)
        self.writes: Writes = self
        self.metrics = Metrics()

    def say_ready(self) -> None:
        """Tells the supervisor that this process answers requests."""
        self._line.send("ready")

    async def run(self, write: Write, key: Key | None = None, emit: Emit | None = None) -> Any:
        """Has the writer carry out a write, once per key, and returns its result. Raises what it raises."""
        id_ = next(self._ids)
        if emit is not None:
            self._progress[id_] = emit
        return await self._answer(id_, "write", id_, write.name, key, pickle.dumps(write))

    async def metrics_text(self) -> str:
        """Returns the metrics of all readers."""
        id_ = next(self._ids)
        text: str = await self._answer(id_, "metrics text", id_)
        return text

    async def _answer(self, id_: int, *message: Any) -> Any:
        future = self._outcomes[id_] = self._loop.create_future()
        try:
            self._line.send(*message)
            return result_of(await future)
        finally:
            self._outcomes.pop(id_, None)
            self._progress.pop(id_, None)

    def handle(self, message: tuple[Any, ...]) -> None:
        """Handles a message of the hub: the outcome or progress of a write, or a request to send the counts."""
        match message:
            case ("outcome", id_, outcome):
                future = self._outcomes.get(id_)
                if future is not None and not future.done():
                    future.set_result(outcome)
            case ("progress", id_, step, done, total):
                if id_ in self._progress:
                    self._progress[id_](step, done, total)
            case ("flush", id_):
                self._line.send("flushed", id_, self._taken_metrics())

    def note_read(self) -> None:
        """Notes in the shared counts that this process reads now."""
        self._shared_counts.read[self._number] = time.monotonic()

    def add_access(self, scope: Scope, ids: Sequence[str], now: int, facts: Sequence[str] = ()) -> None:
        """Records the accesses of a recall, from any thread. They are sent to the writer a moment later."""
        self._accesses.append((scope, tuple(ids), now, tuple(facts)))

    async def send_at_intervals(self) -> None:
        """Sends counts and accesses at intervals, for ever."""
        while True:
            await asyncio.sleep(SEND_EVERY)
            self.send_counts()

    def send_counts(self) -> None:
        """Sends the counts and accesses since the last time."""
        # Threads may append meanwhile.
        accesses = [self._accesses.popleft() for _ in range(len(self._accesses))]
        if accesses:
            self._line.send("accesses", accesses)
        if self.metrics.requests:
            self._line.send("metrics", self._taken_metrics())

    def _taken_metrics(self) -> Metrics:
        """Returns a copy of the counts and sets them to zero; the middleware keeps the object itself."""
        taken = Metrics()
        taken.add_all(self.metrics)
        self.metrics.requests.clear()
        self.metrics.durations.clear()
        return taken


class _CountedLoad:
    """The open requests of the server, in the shared counts."""

    def __init__(self, number: int, shared_counts: SharedCounts) -> None:
        self._shared_counts, self._rows = shared_counts, shared_counts.request[number]

    def enter(self, address: str) -> int:
        """Counts a request; returns its row on the board. If no row is free, returns -1 and does not count it: so many
        requests are open that the limits are exceeded anyway.
        """
        row = free_row(self._rows)
        if row is None:
            return -1
        self._rows[row] = address_code(address)
        return row

    def leave(self, address: str, ticket: int) -> None:
        """Removes a request from the counts."""
        del address
        if ticket >= 0:
            self._rows[ticket] = 0

    def in_progress(self) -> int:
        """Returns the number of all open requests."""
        return self._shared_counts.requests()

    def of_client(self, address: str) -> int:
        """Returns the number of a client's open requests."""
        return self._shared_counts.requests(address_code(address))


class _CountedConnections:
    """The open connections of this process. The supervisor lets them in and says which to close."""

    def __init__(self, number: int, shared_counts: SharedCounts) -> None:
        self.limits = ConnectionLimits()
        self._address, self._since, self._closing = (
            shared_counts.address[number],
            shared_counts.since[number],
            shared_counts.closing[number],
        )
        self._rows: dict[LimitedProtocol, int] = {}
        self._open: dict[int, LimitedProtocol] = {}

    def expect(self, one: LimitedProtocol, row: int) -> None:
        """Takes up a connection to which the supervisor has given a row."""
        self._rows[one], self._open[row] = row, one

    def free(self, row: int) -> None:
        """Frees the row of a connection."""
        self._since[row] = self._closing[row] = 0
        self._address[row] = 0

    def close(self, row: int) -> None:
        """Closes the connection in a row if it still waits for a request."""
        one = self._open.get(row)
        if one is None or not self._since[row]:
            self._closing[row] = 0
        elif one.has_arrived:
            one.abort()
        else:
            # Handed over a moment ago: it is refused as soon as the event loop has taken it up.
            self.leave(one)

    def enter(self, one: LimitedProtocol) -> bool:
        """True if the supervisor has let the connection in, and so has counted it."""
        return one in self._rows

    def leave(self, one: LimitedProtocol) -> None:
        """Removes a connection from the count."""
        row = self._rows.pop(one, None)
        if row is not None:
            del self._open[row]
            self.free(row)

    def wait(self, one: LimitedProtocol) -> None:
        """Records that a connection waits for a request from now on."""
        row = self._rows.get(one)
        if row is not None:
            self._since[row] = time.monotonic()

    def stop_waiting(self, one: LimitedProtocol) -> None:
        """Records that a connection no longer waits for a request."""
        row = self._rows.get(one)
        if row is not None:
            self._since[row] = 0


class _Server(uvicorn.Server):
    """uvicorn's server without a socket that listens: connections come through the door, from the supervisor."""

    def __init__(self, config: uvicorn.Config, door: socket.socket, shared: _Shared) -> None:
        super().__init__(config)
        self._door, self._shared = door, shared
        self._arriving = set[asyncio.Task[None]]()
        door.setblocking(False)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leaves signals to the supervisor."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Starts the application, takes connections from now on, and says that this process is ready."""
        del sockets
        await super().startup(sockets=[])
        asyncio.get_running_loop().add_reader(self._door, self._let_in)
        self._shared.say_ready()

    def stop(self) -> None:
        """Answers what has arrived, then ends."""
        self._let_in()
        asyncio.get_running_loop().remove_reader(self._door)
        self.should_exit = True

    def _let_in(self) -> None:
        """Takes the connections that have been handed over."""
        while True:
            try:
                data, handles, _, _ = socket.recv_fds(self._door, _ROW_BYTES, 1)
            except (BlockingIOError, InterruptedError):
                return
            except OSError:
                data, handles = b"", []
            if not data:
                asyncio.get_running_loop().remove_reader(self._door)
                return
            row = int.from_bytes(data, "big")
            if not handles:
                self._shared.connections.free(row)
                continue
            connection = socket.socket(fileno=handles[0])
            task = asyncio.get_running_loop().create_task(self._serve_connection(connection, row))
            self._arriving.add(task)
            task.add_done_callback(self._arriving.discard)

    async def _serve_connection(self, connection: socket.socket, row: int) -> None:
        connection.setblocking(False)
        make: Callable[..., Any] = self.config.http_protocol_class
        protocol: LimitedProtocol = make(
            config=self.config, server_state=self.server_state, app_state=self.lifespan.state
        )
        self._shared.connections.expect(protocol, row)
        try:
            await asyncio.get_running_loop().connect_accepted_socket(lambda: protocol, connection)
        except OSError:
            connection.close()
            self._shared.connections.leave(protocol)
