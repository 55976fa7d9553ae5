"""Server-sent events: the progress and the results of a verb while it runs.

    event: progress
    data: {"step": "indexing", "done": 3, "total": 10}

    event: result
    data: {...}

    event: end
    data: {}

There is one result, or one for each seed of `activate`. After an error the last event is `problem` instead of `end`. An
error before the first event is an ordinary problem response.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import anyio.to_thread
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from starlette.types import Receive, Send
from starlette.types import Scope as AsgiScope

from cuetrail.serve.json_data import compact_json

STREAM = "text/event-stream"
FIRST_BYTES_AFTER, KEEP_ALIVE_EVERY = 1.0, 15.0
"""Seconds until the response begins even without an event, and seconds between comments that keep it alive."""

Emit = Callable[[str, Any], None]
Work = Callable[[Emit, threading.Event], Awaitable[bytes | None]]
"""Work that emits events by name, from any thread, and may stop early when the event is set. It returns its result as
JSON, unless it has emitted it.
"""


def in_thread(work: Callable[[Emit, threading.Event], None], limiter: anyio.CapacityLimiter) -> Work:
    """Returns work that is done in a thread, when the limiter allows it, and emits its results."""

    async def run(emit: Emit, stop: threading.Event) -> None:
        await anyio.to_thread.run_sync(lambda: work(emit, stop), limiter=limiter)

    return run


def event(name: str, data: Any) -> bytes:
    """Returns an event in the format in which it is sent.

    >>> event("end", {})
    b'event: end\\ndata: {}\\n\\n'
    """
    return f"event: {name}\ndata: {compact_json(data)}\n\n".encode()


class EventResponse:
    """An ASGI response that does `work` and sends the client what it emits, as server-sent events. The work is asked to
    stop when the client disconnects; if it does not, it runs to its end.
    """

    def __init__(self, work: Work, problem: Callable[[Exception], Any]) -> None:
        self._work, self._problem = work, problem
        self._stop = threading.Event()
        self._failed: Exception | None = None

    async def __call__(self, _scope: AsgiScope, receive: Receive, send: Send) -> None:
        sender, receiver = anyio.create_memory_object_stream[bytes](math.inf)
        async with receiver, anyio.create_task_group() as tasks:
            tasks.start_soon(self._watch_client, receive, tasks.cancel_scope)
            tasks.start_soon(self._run, sender)
            try:
                begun = await self._send(receiver, send)
            finally:
                self._stop.set()
                tasks.cancel_scope.cancel()
        if self._failed is not None and not begun:
            raise self._failed

    async def _watch_client(self, receive: Receive, running: anyio.CancelScope) -> None:
        """Stops the work when the client disconnects."""
        while (await receive())["type"] != "http.disconnect":
            pass
        self._stop.set()
        running.cancel()

    async def _run(self, sender: MemoryObjectSendStream[bytes]) -> None:
        """Does the work and queues its events. A running thread is not interrupted."""
        loop = asyncio.get_running_loop()

        def put(piece: bytes) -> None:
            with contextlib.suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
                sender.send_nowait(piece)

        def emit(name: str, data: Any) -> None:
            if not self._stop.is_set():
                loop.call_soon_threadsafe(put, event(name, data))

        async with sender:
            try:
                result = await self._work(emit, self._stop)
                if result is not None:
                    put(b"event: result\ndata: %b\n\n" % result)
                put(event("end", {}))
            except Exception as error:  # noqa: BLE001  # every error is reported to the client
                self._failed = error

    async def _send(self, receiver: MemoryObjectReceiveStream[bytes], send: Send) -> bool:
        """Sends events until the work ends, and comments while there are none. Returns False, with nothing sent, if the
        work failed before that.
        """
        begun, wait, over = False, FIRST_BYTES_AFTER, False
        while not over:
            piece: bytes | None = b": at work\n\n"
            with anyio.move_on_after(wait):
                piece = await anext(receiver, None)
            if piece is None:
                if self._failed is not None and not begun:
                    return False
                over, piece = True, b"" if self._failed is None else event("problem", self._problem(self._failed))
            if not begun:
                begun, wait = True, KEEP_ALIVE_EVERY
                headers = [(b"content-type", STREAM.encode()), (b"cache-control", b"no-store")]
                await send({"type": "http.response.start", "status": 200, "headers": headers})
            await send({"type": "http.response.body", "body": piece, "more_body": not over})
        return True
