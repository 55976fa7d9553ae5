"""What takes a while, told as it goes: server-sent events.

    event: progress
    data: {"step": "indexing", "done": 3, "total": 10}

    event: result
    data: {...}

    event: end
    data: {}

There is one result, or one for each seed of `activate`. What fails ends with `problem` instead of `end`. What fails
before anything was told is an ordinary problem.
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
from starlette.types import Scope as Asked

from cuetrail.serve.tool import compact

STREAM = "text/event-stream"
SOON, SILENCE = 1.0, 15.0
"""After so many seconds an answer begins even if there is nothing to tell yet, and a silent one says that it lives."""

Tell = Callable[[str, Any], None]
Work = Callable[[Tell, threading.Event], None]
"""Work in a thread: it tells of events by name, and looks whether anybody still listens."""
Once = Callable[[Callable[[], Awaitable[bytes]]], Awaitable[bytes]]
"""Has something made, or knows what came of it when it was asked for before."""


def event(name: str, data: Any) -> bytes:
    """An event as it is sent.

    >>> event("end", {})
    b'event: end\\ndata: {}\\n\\n'
    """
    return f"event: {name}\ndata: {compact(data)}\n\n".encode()


class Events:
    """An answer in events. Whoever stops listening stops a walk; a job that writes goes on to its end."""

    def __init__(
        self, work: Work, problem: Callable[[Exception], Any], turns: anyio.CapacityLimiter, once: Once | None = None
    ) -> None:
        self._work, self._problem, self._turns, self._once = work, problem, turns, once
        self._gone = threading.Event()
        self._failed: Exception | None = None

    async def __call__(self, _scope: Asked, receive: Receive, send: Send) -> None:
        telling, told = anyio.create_memory_object_stream[bytes](math.inf)
        async with told, anyio.create_task_group() as tasks:
            tasks.start_soon(self._listen, receive, tasks.cancel_scope)
            tasks.start_soon(self._run, telling)
            try:
                begun = await self._send(told, send)
            finally:
                self._gone.set()
                tasks.cancel_scope.cancel()
        if self._failed is not None and not begun:
            raise self._failed

    async def _listen(self, receive: Receive, working: anyio.CancelScope) -> None:
        """Stop when the client has gone."""
        while (await receive())["type"] != "http.disconnect":
            pass
        self._gone.set()
        working.cancel()

    async def _run(self, telling: MemoryObjectSendStream[bytes]) -> None:
        """Do the work in a thread, to its end also where nobody listens any more."""
        loop = asyncio.get_running_loop()

        def put(piece: bytes) -> None:
            with contextlib.suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
                telling.send_nowait(piece)

        results, ran = list[bytes](), False

        def tell(name: str, data: Any) -> None:
            if name == "result":
                results.append(compact(data).encode())
            if not self._gone.is_set():
                loop.call_soon_threadsafe(put, event(name, data))

        async def make() -> bytes:
            nonlocal ran
            ran = True
            await anyio.to_thread.run_sync(lambda: self._work(tell, self._gone), limiter=self._turns)
            return results[-1] if results else b"{}"

        async with telling:
            try:
                known = await (make() if self._once is None else self._once(make))
                if not ran:
                    # It was done before; what came of it then is told again.
                    put(b"event: result\ndata: %b\n\n" % known)
                put(event("end", {}))
            except Exception as error:  # noqa: BLE001  # the client is told of it, whatever it is
                self._failed = error

    async def _send(self, told: MemoryObjectReceiveStream[bytes], send: Send) -> bool:
        """Pass events on; whether any has been. What fails before that can be told as any other problem is."""
        begun, wait, over = False, SOON, False
        while not over:
            piece: bytes | None = b": at work\n\n"
            with anyio.move_on_after(wait):
                piece = await anext(told, None)
            if piece is None:
                if self._failed is not None and not begun:
                    return False
                over, piece = True, b"" if self._failed is None else event("problem", self._problem(self._failed))
            if not begun:
                begun, wait = True, SILENCE
                headers = [(b"content-type", STREAM.encode()), (b"cache-control", b"no-store")]
                await send({"type": "http.response.start", "status": 200, "headers": headers})
            await send({"type": "http.response.body", "body": piece, "more_body": not over})
        return True
