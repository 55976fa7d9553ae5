"""Limits for connections to the HTTP server: their number, the size of a request's head, and the time for each step.

A client that has shown no token can hold a connection only for as long as these limits allow. If there are too many,
the one that has waited longest for a request is closed, so that others still get through.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Protocol

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

SHUTDOWN_SECONDS = 5
"""The time that running requests have to finish when the server stops. Bodies that still arrive have less."""


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """The limits of a connection.

    `head_bytes`: request line and headers together; also the most between two pieces of a body. `head_seconds`: from
    the first byte, or from the connection, to the end of the headers. `idle_seconds`: between two requests.
    `drain_seconds`: a client that does not read its response, or that goes on sending after it. `stop_seconds`: a body
    that is still arriving when the server stops. `pipelined`: requests that wait on one connection while an earlier one
    runs.
    """

    connections: int = 512
    connections_per_address: int = 128
    pipelined: int = 16
    head_bytes: int = 32 * 1024
    head_seconds: float = 10.0
    idle_seconds: float = 30.0
    drain_seconds: float = 30.0
    stop_seconds: float = 2.0


class _Refused(Exception):
    """Raised to stop the HTTP parser when a request is over a limit."""


class Connections(Protocol):
    """Keeps count of open connections within their limits."""

    @property
    def limits(self) -> ConnectionLimits: ...

    def enter(self, one: LimitedProtocol) -> bool:
        """Counts a connection; closes another one if it would be over a limit. False if it cannot be let in."""

    def leave(self, one: LimitedProtocol) -> None:
        """Removes a connection from the count."""

    def wait(self, one: LimitedProtocol) -> None:
        """Records that a connection waits for a request from now on."""

    def stop_waiting(self, one: LimitedProtocol) -> None:
        """Records that a connection no longer waits for a request."""


@dataclass(slots=True)
class OpenConnections:
    """All connections of a server that is one process: those that wait for a request, longest first, and the number
    from each address.
    """

    limits: ConnectionLimits = field(default_factory=ConnectionLimits)
    waiting: dict[LimitedProtocol, None] = field(default_factory=dict)
    by_address: Counter[str] = field(default_factory=Counter)

    def enter(self, one: LimitedProtocol) -> bool:
        """Counts a connection; closes another one if it would be over a limit. False if it cannot be let in."""
        if not self._make_room(one.address):
            return False
        self.by_address[one.address] += 1
        return True

    def leave(self, one: LimitedProtocol) -> None:
        """Removes a connection from the count."""
        self.by_address[one.address] -= 1
        if not self.by_address[one.address]:
            del self.by_address[one.address]

    def wait(self, one: LimitedProtocol) -> None:
        """Records that a connection waits for a request from now on."""
        self.waiting[one] = None

    def stop_waiting(self, one: LimitedProtocol) -> None:
        """Records that a connection no longer waits for a request."""
        self.waiting.pop(one, None)

    def _make_room(self, address: str) -> bool:
        """Closes a waiting connection if one more from this address would be over a limit. False if that is needed and
        none waits; else True.
        """
        if self.by_address[address] >= self.limits.connections_per_address:
            return self._close_one({address})
        if self.by_address.total() >= self.limits.connections:
            most = max(self.by_address.values())
            busiest = {name for name, number in self.by_address.items() if number == most}
            return self._close_one(busiest) or self._close_one(set(self.by_address))
        return True

    def _close_one(self, addresses: set[str]) -> bool:
        found = next((one for one in self.waiting if one.address in addresses), None)
        if found is not None:
            found.abort()
        return found is not None


class LimitedProtocol(HttpToolsProtocol):
    """uvicorn's HTTP protocol for one connection, which is closed when it exceeds the limits of `opened`."""

    def __init__(self, *given: Any, opened: Connections, **named: Any) -> None:
        super().__init__(*given, **named)
        self._opened, self._limits = opened, opened.limits
        self.address = ""
        self._counted = self._in_head = self._in_body = False
        self._status = 400
        self._head_size = self._since_body = 0
        self._reading: asyncio.TimerHandle | None = None
        self._draining: asyncio.TimerHandle | None = None

    @property
    def has_arrived(self) -> bool:
        """False until the event loop has taken up the connection."""
        return self.transport is not None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's own
        super().connection_made(transport)
        self.address = self.client[0] if self.client else ""
        if not self._opened.enter(self):
            self._refuse(503)
            return
        self._counted = True
        self._await_request(self._limits.head_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget()
        super().connection_lost(exc)
        self._unset_keepalive_if_required()

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        self._since_body += len(data)
        super().data_received(data)
        if self._since_body > self._limits.head_bytes and (self._in_head or self._in_body):
            self._refuse(431)
        elif len(self.pipeline) > self._limits.pipelined:
            self.abort()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_head, self._head_size, self._since_body = True, 0, 0
        if not self._busy():
            self._await_request(self._limits.head_seconds)

    def on_url(self, url: bytes) -> None:
        self._measure(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        # 4 bytes: the colon, a space and the end of the line.
        self._measure(len(name) + len(value) + 4)
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._in_head, self._in_body = False, True
        self._stop_waiting()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._since_body = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._in_body = False
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.transport.is_closing():
            self._abort_after_drain()
        elif self._in_body:
            # The rest of a body that nobody reads is thrown away for a moment, so that the client sees the response.
            self._await_request(self._limits.drain_seconds)
        elif not self._busy():
            self._await_request(self._limits.head_seconds if self._in_head else self._limits.idle_seconds)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._abort_after_drain()

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._draining is not None and not self.transport.is_closing():
            self._draining.cancel()
            self._draining = None

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002  # uvicorn's signature; the status says more
        self._refuse(self._status)

    def shutdown(self) -> None:
        """Lets the request that runs be answered when the server stops. One that is still arriving is cut off."""
        super().shutdown()
        if self._in_body and not self.pipeline:
            self.loop.call_later(self._limits.stop_seconds, self._cut_off)

    def _cut_off(self) -> None:
        if self._in_body:
            self.abort()

    def abort(self) -> None:
        """Closes the connection at once; what is not sent yet is lost."""
        self._forget()
        self.transport.abort()

    def _busy(self) -> bool:
        # There is no cycle before the first request.
        return not getattr(self.cycle, "response_complete", True)

    def _measure(self, size: int) -> None:
        self._head_size += size
        if self._head_size > self._limits.head_bytes:
            self._status = 431
            raise _Refused

    def _await_request(self, seconds: float) -> None:
        self._stop_waiting()
        self._opened.wait(self)
        self._reading = self.loop.call_later(seconds, self._too_slow)

    def _stop_waiting(self) -> None:
        self._opened.stop_waiting(self)
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None

    def _too_slow(self) -> None:
        if self._in_head:
            self._refuse(408)
        else:
            self.transport.close()
            self._abort_after_drain()

    def _refuse(self, status: int) -> None:
        """Closes the connection, with a response of this status unless a request is running. That request then sees
        the client as disconnected.
        """
        self._stop_waiting()
        if self.transport.is_closing():
            return
        if not self._busy():
            reason = HTTPStatus(status).phrase
            headers = f"content-type: text/plain\r\ncontent-length: {len(reason)}\r\nconnection: close\r\n"
            self.transport.write(f"HTTP/1.1 {status} {reason}\r\n{headers}\r\n{reason}".encode())
        self.transport.close()
        self._abort_after_drain()

    def _abort_after_drain(self) -> None:
        """Starts a timer that aborts the connection if the client does not read what was sent within the limit."""
        if self._draining is None:
            self._draining = self.loop.call_later(self._limits.drain_seconds, self.transport.abort)

    def _forget(self) -> None:
        """Removes the connection from the count, and its timers."""
        self._stop_waiting()
        if self._draining is not None:
            self._draining.cancel()
            self._draining = None
        if self._counted:
            self._counted = False
            self._opened.leave(self)
