"""The first process of a server with several: it accepts connections and hands them to the readers, starts the other
processes, starts one again that ends, and ends when they have.

It never opens the memory, so little can happen to it. If it is killed, the others end at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from http import HTTPStatus

import numpy as np

from cuetrail.errors import CuetrailError
from cuetrail.serve.rest.connection_limits import SHUTDOWN_SECONDS, ConnectionLimits
from cuetrail.serve.rest.request_log import request_log
from cuetrail.serve.workers.child_task import Task
from cuetrail.serve.workers.hub import Hub
from cuetrail.serve.workers.process_messages import Line, packed
from cuetrail.serve.workers.shared_counts import SharedCounts, address_code, free_row, size_of

log = logging.getLogger("cuetrail.rest")

PAUSES = (0.1, 10.0)
"""Seconds before a process that ended is started again: the first time, and at most. Each time it is twice as long."""
WELL_AFTER = 60.0
"""After so many seconds a process counts as well: if it ends then, the first pause applies again."""
MOST_FAILURES = 5
"""If a process ends so many times in a row before it is ready, the server stops."""
READER_STOP_SECONDS, WRITER_STOP_SECONDS = SHUTDOWN_SECONDS + 1.0, 1.5
"""Seconds that processes have to end when the server stops; then they are killed, which loses nothing that was
acknowledged.
"""
_ACCEPTED_AT_ONCE = 64


def serve_with_readers(task: Task, listener: socket.socket) -> None:
    """Serves on a socket with several processes until SIGINT or SIGTERM; running requests are answered first.

    Raises CuetrailError if a process ends again and again before it is ready.
    """
    with tempfile.TemporaryFile() as file:
        file.truncate(size_of(task.readers))
        supervisor = _Supervisor(task, listener, file.fileno())
        with request_log(task.log):
            stopped_by = asyncio.run(supervisor.run())
    if stopped_by is not None:
        # As if there had been no handler: the caller of the command learns what ended it.
        signal.raise_signal(stopped_by)


@dataclass(slots=True)
class _Child:
    """A running process: its line, the door through which it gets connections, and whether it is ready."""

    process: subprocess.Popen[bytes]
    line: Line
    door: socket.socket
    begun: float
    ready: bool = False


class _Supervisor:
    def __init__(self, task: Task, listener: socket.socket, shared_counts: int) -> None:
        self._task, self._listener, self._handle = task, listener, shared_counts
        self._shared_counts = SharedCounts(shared_counts, task.readers)
        self._hub = Hub(self._shared_counts)
        self._limits = ConnectionLimits()
        self._children: dict[int | None, _Child] = {}
        self._listening = self._stopping = False
        self._stop = asyncio.Event()
        self._stopped_by: int | None = None
        self._failure: CuetrailError | None = None
        # Nothing is ever written to it: the others notice when it is closed, with the last handle of this process.
        self._life = os.pipe()

    async def run(self) -> int | None:
        """Runs the server; returns the signal that stopped it. Raises CuetrailError if a process ends MOST_FAILURES
        times in a row before it is ready.
        """
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._signalled, number)
        self._listener.setblocking(False)
        numbers: list[int | None] = [None, *range(self._task.readers)]
        watches = [loop.create_task(self._look_after(number)) for number in numbers]
        try:
            await self._stop.wait()
            await self._shut_down(watches)
        finally:
            for child in self._children.values():
                child.process.kill()
                child.process.wait()
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(number)
            for handle in self._life:
                os.close(handle)
        if self._failure is not None:
            raise self._failure
        return self._stopped_by

    def _signalled(self, number: int) -> None:
        if self._stop.is_set():
            # Asked a second time: no more waiting.
            for child in self._children.values():
                child.process.kill()
        self._stopped_by = self._stopped_by or number
        self._stop.set()

    # --- processes

    async def _look_after(self, number: int | None) -> None:
        """Keeps a process running: the reader with this number, or the writer (None)."""
        pause, failures = PAUSES[0], 0
        while not self._stop.is_set():
            child = await self._started(number)
            await self._follow(number, child)
            status = await asyncio.get_running_loop().run_in_executor(None, child.process.wait)
            self._forget(number, child)
            if self._stop.is_set():
                return
            failures = 0 if child.ready else failures + 1
            if failures == MOST_FAILURES:
                self._failure = CuetrailError(
                    f"{_name(number)} ended {failures} times before it was ready ({_reason(status)}): see what is "
                    "logged above, or try --workers 1"
                )
                self._stop.set()
                return
            if time.monotonic() - child.begun > WELL_AFTER:
                pause = PAUSES[0]
            log.error(
                {"event": f"{_name(number)} ended", "reason": _reason(status), "again_in_seconds": round(pause, 1)}
            )
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), pause)
            pause = min(2 * pause, PAUSES[1])

    async def _started(self, number: int | None) -> _Child:
        """Starts a process and gives it its task."""
        here, there = socket.socketpair()
        door, their_door = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        handles = (there.fileno(), their_door.fileno(), self._handle, self._life[0])
        words = [sys.executable, "-m", "cuetrail.serve.workers.child", str(os.getpid()), *map(str, handles)]
        # In this thread, the main one: with the thread that started it, Linux would end the process.
        process = subprocess.Popen(words, pass_fds=handles, stdin=subprocess.DEVNULL)  # our own words
        there.close()
        their_door.close()
        door.setblocking(False)
        here.sendall(packed(replace(self._task, number=number)))
        child = _Child(process, await Line.open(here), door, time.monotonic())
        self._children[number] = child
        return child

    async def _follow(self, number: int | None, child: _Child) -> None:
        """Handles the messages of a process until it ends."""
        while (message := await child.line.receive()) is not None:
            if message == ("ready",):
                child.ready = True
                if number is None:
                    self._hub.writer_began(child.line)
                else:
                    self._hub.reader_began(number, child.line)
                    self._listen()
                if self._stopping:
                    child.line.send("stop")
            elif number is None:
                self._hub.from_writer(message)
            else:
                self._hub.from_reader(number, message)

    def _forget(self, number: int | None, child: _Child) -> None:
        """Clears what a process that has ended leaves behind."""
        self._children.pop(number, None)
        child.line.close()
        child.door.close()
        if number is None:
            self._hub.writer_ended()
            return
        self._hub.reader_ended(number)
        self._shared_counts.wipe(number)
        if not self._readers():
            self._stop_listening()

    async def _shut_down(self, watches: list[asyncio.Task[None]]) -> None:
        """Stops the readers, which answer what runs, then the writer; kills those that take too long."""
        self._stopping = True
        self._stop_listening()
        self._listener.close()
        for numbers, seconds in ((range(self._task.readers), READER_STOP_SECONDS), ((None,), WRITER_STOP_SECONDS)):
            for number in numbers:
                if number in self._children:
                    self._children[number].line.send("stop")
            these = [watches[0 if number is None else number + 1] for number in numbers]
            await asyncio.wait(these, timeout=seconds)
            for number in numbers:
                if number in self._children:
                    self._children[number].process.kill()
            await asyncio.wait(these)

    # --- connections

    def _readers(self) -> list[int]:
        """Returns the numbers of the readers that answer requests, the one with the fewest connections first."""
        ready = [number for number, child in self._children.items() if number is not None and child.ready]
        open_ = self._shared_counts.connections()
        return sorted(ready, key=lambda number: open_[number])

    def _listen(self) -> None:
        if not self._listening and not self._stopping:
            asyncio.get_running_loop().add_reader(self._listener, self._accept)
            self._listening = True

    def _stop_listening(self) -> None:
        if self._listening:
            asyncio.get_running_loop().remove_reader(self._listener)
            self._listening = False

    def _accept(self) -> None:
        """Accepts the connections that wait, and hands each to the reader that has the fewest."""
        for _ in range(_ACCEPTED_AT_ONCE):
            try:
                connection, address = self._listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                log.error({"event": "a connection could not be accepted", "reason": error.strerror})
                self._stop_listening()
                asyncio.get_running_loop().call_later(1.0, self._listen)
                return
            with connection:
                if not (self._make_room(address_code(address[0])) and self._hand_over(connection, address[0])):
                    _refuse(connection)

    def _hand_over(self, connection: socket.socket, address: str) -> bool:
        """Hands a connection to a reader; False if none can take it."""
        for number in self._readers():
            row = free_row(self._shared_counts.address[number])
            if row is None:
                continue
            self._shared_counts.closing[number, row] = 0
            self._shared_counts.since[number, row] = time.monotonic()
            self._shared_counts.address[number, row] = address_code(address)
            try:
                socket.send_fds(self._children[number].door, [row.to_bytes(4, "big")], [connection.fileno()])
            except OSError:
                # It takes none at this moment, or has just ended.
                self._shared_counts.address[number, row] = 0
                continue
            return True
        return False

    def _make_room(self, code: int) -> bool:
        """Has the connection closed that has waited longest for a request, if one more from this client would be over a
        limit. False if that is needed and none waits; else True.
        """
        counted = np.where(self._shared_counts.closing == 0, self._shared_counts.address, np.uint64(0))
        if np.count_nonzero(counted == np.uint64(code)) >= self._limits.connections_per_address:
            return self._close_one(counted == np.uint64(code))
        if np.count_nonzero(counted) >= self._limits.connections:
            codes, numbers = np.unique(counted[counted != 0], return_counts=True)
            return self._close_one(np.isin(counted, codes[numbers == numbers.max()])) or self._close_one(counted != 0)
        return True

    def _close_one(self, among: np.ndarray[tuple[int, int], np.dtype[np.bool_]]) -> bool:
        waiting = np.where(among & (self._shared_counts.since > 0), self._shared_counts.since, np.inf)
        number, row = divmod(int(np.argmin(waiting)), waiting.shape[1])
        if waiting[number, row] == np.inf or number not in self._children:
            return False
        self._shared_counts.closing[number, row] = 1
        self._children[number].line.send("close", row)
        return True


def _refuse(connection: socket.socket) -> None:
    phrase = HTTPStatus(503).phrase
    answer = f"HTTP/1.1 503 {phrase}\r\ncontent-type: text/plain\r\ncontent-length: {len(phrase)}\r\n"
    with contextlib.suppress(OSError):
        connection.setblocking(False)
        connection.send(f"{answer}connection: close\r\n\r\n{phrase}".encode())


def _name(number: int | None) -> str:
    return "the writing process" if number is None else f"reading process {number + 1}"


def _reason(status: int) -> str:
    return f"signal {-status}" if status < 0 else f"exit code {status}"
