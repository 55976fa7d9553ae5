"""Serving one MCP client on stdin and stdout, from the line it was greeted on."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage

from cuetrail.serve.mcp.handshake import Greeting

Heard = SessionMessage | Exception


async def serve_stdio(server: Server[None], greeting: Greeting) -> None:
    """Serve until the client closes its side. What it said first is heard again, and not answered twice."""
    async with stdio_server() as (reading, writing):
        await server.run(
            _Replayed(_message(greeting.line), reading), _Once(greeting.answered, writing),
            server.create_initialization_options(),
        )  # fmt: skip


def _message(line: bytes) -> list[Heard]:
    """What a line says, as the SDK's own reader of lines would tell it."""
    if not line:
        return []
    try:
        return [SessionMessage(types.jsonrpc_message_adapter.validate_json(line, by_name=False))]
    except ValueError as error:
        return [error]


class _Around:
    """A stream around another one, which is opened and closed with it."""

    def __init__(self, rest: Any) -> None:
        self._rest = rest

    async def aclose(self) -> None:
        await self._rest.aclose()

    async def __aenter__(self) -> Self:
        await self._rest.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        found: bool | None = await self._rest.__aexit__(kind, error, trace)
        return found


class _Replayed(_Around):
    """A stream of messages after some that were read before it was there."""

    def __init__(self, first: list[Heard], rest: Any) -> None:
        super().__init__(rest)
        self._first = first

    async def receive(self) -> Heard:
        return self._first.pop(0) if self._first else await self._rest.receive()

    async def __anext__(self) -> Heard:
        return self._first.pop(0) if self._first else await self._rest.__anext__()

    def __aiter__(self) -> _Replayed:
        return self


class _Once(_Around):
    """A stream of answers that leaves out the result which a request has had already."""

    def __init__(self, answered: str | int | None, rest: Any) -> None:
        super().__init__(rest)
        self._answered = answered

    async def send(self, item: SessionMessage, /) -> None:
        message = item.message
        if self._answered is not None and isinstance(message, types.JSONRPCResponse) and message.id == self._answered:
            self._answered = None
            return
        await self._rest.send(item)
