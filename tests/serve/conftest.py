"""MCP clients of the official SDK, connected to a server in this process or to the real command."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp_types import CallToolResult, TextContent

from cuetrail import Memory
from cuetrail.serve.mcp.handshake import COMPAT, PROFILES
from cuetrail.serve.mcp.server import make_server
from cuetrail.serve.memory_access import LazyMemory

Talk = Callable[..., Any]


class Agent:
    """A client, and what it does most: call a tool."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def call(self, name: str, /, **arguments: Any) -> CallToolResult:
        return await self.client.call_tool(name, arguments)

    async def data(self, name: str, /, **arguments: Any) -> Any:
        """What a tool says to a program. It must not fail."""
        result = await self.call(name, **arguments)
        assert not result.is_error, result.content
        return result.structured_content

    async def text(self, name: str, /, **arguments: Any) -> str:
        """What a tool says to a model. It must not fail."""
        result = await self.call(name, **arguments)
        assert not result.is_error, result.content
        return said(result)

    async def error(self, name: str, /, **arguments: Any) -> str:
        """What a tool says that does not work."""
        result = await self.call(name, **arguments)
        assert result.is_error, result.content
        assert "Traceback" not in said(result)
        return said(result)


def said(result: CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


def size(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def command(memory: Path, *arguments: str) -> StdioServerParameters:
    """The real command, on words alone."""
    words = ["-m", "cuetrail", "mcp", "--memory", str(memory), "--embedder", "none", *arguments]
    return StdioServerParameters(command=sys.executable, args=words)


@asynccontextmanager
async def agent(server: Any, *, seconds: float = 60, **options: Any) -> AsyncIterator[Agent]:
    with anyio.fail_after(seconds):
        async with Client(server, **options) as client:
            yield Agent(client)


async def session(one: Agent) -> None:
    """Remember, recall, relate, brief, forget."""
    ines = await one.data("memory_add", name="Ines Okafor", kind="person")
    await one.data("memory_add", name="Tomas Lund", kind="person")
    note = await one.data("memory_add", text="The antenna stands on the lee side.", tags=["radio"], at="2025-03-04")
    assert "lee side" in await one.text("memory_recall", cue="where does the antenna stand?")
    edge = await one.data("memory_relate", src="Ines Okafor", dst="Tomas Lund", type="colleague", attitude=4)
    assert edge["kind"] == "has_relationship_with"
    await one.data("memory_fact", subject="Ines Okafor", predicate="lives_in", object="Turin")
    about = await one.text("memory_get", id=ines["id"])
    assert "lives_in: Turin" in about
    assert "Tomas Lund" in about
    assert (await one.data("memory_brief"))["owner"] == "me"
    gone = await one.data("memory_forget", ids=[note["id"]])
    assert gone["ids"] == [note["id"]]
    assert (await one.data("memory_recall", cue="antenna"))["answerable"] is False


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "memory"


@pytest.fixture
def talk(place: Path) -> Talk:
    """Runs a conversation with a server in this process; `offer` is a profile or a server to stand in for."""

    def talk(conversation: Callable[[Agent], Awaitable[None]], offer: str = "default", **options: Any) -> None:
        async def run() -> None:
            opener = LazyMemory(lambda: Memory(place, embedder=None))
            server = make_server({**PROFILES, **COMPAT}[offer], opener, "0")
            async with agent(server, **options) as one:
                await conversation(one)

        anyio.run(run)

    return talk
