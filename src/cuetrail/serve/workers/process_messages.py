"""Messages between the processes of a server: pickled tuples, each after its length, on a private pair of sockets.

Only processes of one server are at the two ends, started by each other, so unpickling what arrives is safe.
"""

from __future__ import annotations

import asyncio
import pickle
import socket
import struct
from typing import Any

from cuetrail.errors import CuetrailError
from cuetrail.serve.rest.problem_details import Problem, problem_from

_LENGTH = struct.Struct(">Q")
Outcome = tuple[str, Any]
"""("result", its pickle), ("error", the pickle of an error of cuetrail) or ("problem", the values of a Problem)."""


def packed(message: Any) -> bytes:
    """Returns the bytes of a message: its length and its pickle."""
    body = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return _LENGTH.pack(len(body)) + body


def receive_first(sock: socket.socket) -> Any:
    """Waits for one message on a blocking socket and returns it. Raises EOFError if the other end is closed."""

    def read(count: int) -> bytes:
        data = b""
        while len(data) < count:
            piece = sock.recv(count - len(data))
            if not piece:
                raise EOFError
            data += piece
        return data

    return pickle.loads(read(_LENGTH.unpack(read(_LENGTH.size))[0]))  # from the parent process


class Line:
    """One end of a connection to another process of the server."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    @classmethod
    async def open(cls, sock: socket.socket) -> Line:
        """Returns the line over a socket that is connected to another process."""
        sock.setblocking(False)
        return cls(*await asyncio.open_connection(sock=sock))

    def send(self, *message: Any) -> None:
        """Sends a message. One to a process that has ended is lost."""
        if not self._writer.is_closing():
            self._writer.write(packed(message))

    async def receive(self) -> tuple[Any, ...] | None:
        """Waits for the next message and returns it; None if the other process has ended."""
        try:
            (length,) = _LENGTH.unpack(await self._reader.readexactly(_LENGTH.size))
            body = await self._reader.readexactly(length)
        except (asyncio.IncompleteReadError, OSError):
            return None
        message: tuple[Any, ...] = pickle.loads(body)  # from a process of this server
        return message

    def close(self) -> None:
        """Closes this end, after what was sent."""
        self._writer.close()


def outcome_of_error(error: Exception) -> Outcome:
    """Returns the outcome of a write that raised: the error if it is cuetrail's and can be pickled, else a problem."""
    if isinstance(error, CuetrailError):
        try:
            return ("error", pickle.dumps(error))
        except Exception:  # noqa: BLE001  # an error that holds something that cannot be sent
            error = problem_from(error)
    problem = problem_from(error)
    return ("problem", (problem.status, problem.detail, problem.kind, problem.headers))


def result_of(outcome: Outcome) -> Any:
    """Returns the result in an outcome, or raises the error in it."""
    kind, value = outcome
    if kind == "problem":
        raise Problem(*value)
    found = pickle.loads(value)  # from a process of this server
    if kind == "error":
        raise found
    return found
