"""Serves one MCP client on stdin and stdout, after its first line was read by `handshake`."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage

from cuetrail.serve.mcp.handshake import Handshake

Incoming = SessionMessage | Exception


async def serve_stdio(server: Server[None], handshake: Handshake) -> None:
    """Serves until the client closes stdin. The server receives the first line again; a second answer is dropped."""
    async with stdio_server() as (reading, writing):
        await server.run(
            _ReplayStream(_parse(handshake.line), reading), _DropStream(handshake.answered_id, writing),
            server.create_initialization_options(),
        )  # fmt: skip


def _parse(line: bytes) -> list[Incoming]:
    """Returns the message in a line, or its error, as the SDK's own reader does; nothing for an empty line."""
    if not line:
        return []
    try:
        return [SessionMessage(types.jsonrpc_message_adapter.validate_json(line, by_name=False))]
    except ValueError as error:
        return [error]


class _WrappedStream:
    """A stream that opens and closes the stream inside it."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def __aenter__(self) -> Self:
        await self._inner.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        suppressed: bool | None = await self._inner.__aexit__(kind, error, trace)
        return suppressed


class _ReplayStream(_WrappedStream):
    """A stream that yields messages read earlier before its own."""

    def __init__(self, first: list[Incoming], inner: Any) -> None:
        super().__init__(inner)
        self._first = first

    async def receive(self) -> Incoming:
        return self._first.pop(0) if self._first else await self._inner.receive()

    async def __anext__(self) -> Incoming:
        return self._first.pop(0) if self._first else await self._inner.__anext__()

    def __aiter__(self) -> _ReplayStream:
        return self


class _DropStream(_WrappedStream):
    """A stream of responses that drops the response to a request that is already answered."""

    def __init__(self, answered_id: str | int | None, inner: Any) -> None:
        super().__init__(inner)
        self._answered_id = answered_id

    async def send(self, item: SessionMessage, /) -> None:
        message = item.message
        if (
            self._answered_id is not None
            and isinstance(message, types.JSONRPCResponse)
            and message.id == self._answered_id
        ):
            self._answered_id = None
            return
        await self._inner.send(item)
