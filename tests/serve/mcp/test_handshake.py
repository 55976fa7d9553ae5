"""The first answer to an MCP client comes at once and equals the answer of the SDK, which serves it from then on."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCRequest, JSONRPCResponse
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from cuetrail import Memory
from cuetrail.serve.mcp.handshake import COMPAT, PROFILES, PROTOCOLS, Profile, initialize_result, parse_initialize
from cuetrail.serve.mcp.server import make_server
from cuetrail.serve.memory_access import LazyMemory

SDK = {"mcp", "mcp_types", "pydantic", "anyio", "starlette", "numpy", "cuetrail.memory"}


def asked(version: str) -> dict[str, Any]:
    return {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


async def answered(offer: Profile, place: Path, params: dict[str, Any]) -> Any:
    """What the SDK says to `initialize`."""
    server = make_server(offer, LazyMemory(lambda: Memory(place, embedder=None)), "1.2.3")
    heard, hearing = anyio.create_memory_object_stream[SessionMessage | Exception](1)
    saying, said = anyio.create_memory_object_stream[SessionMessage](1)
    request = JSONRPCRequest(jsonrpc="2.0", id=1, method="initialize", params=params)
    async with heard, said, anyio.create_task_group() as tasks:
        tasks.start_soon(server.run, hearing, saying, server.create_initialization_options())
        await heard.send(SessionMessage(request))
        with anyio.fail_after(60):
            answer = (await said.receive()).message
        tasks.cancel_scope.cancel()
    assert isinstance(answer, JSONRPCResponse)
    return answer.result


@pytest.mark.parametrize("name", [*PROFILES, *COMPAT])
def test_the_greeting_is_word_for_word_what_the_sdk_says(place: Path, name: str) -> None:
    offer = {**PROFILES, **COMPAT}[name]
    for version in (*PROTOCOLS, "2030-01-01"):
        assert anyio.run(answered, offer, place, asked(version)) == initialize_result(offer, "1.2.3", asked(version))


def test_the_greeting_knows_the_protocols_the_sdk_knows() -> None:
    assert PROTOCOLS == HANDSHAKE_PROTOCOL_VERSIONS


def talk(place: Path, *lines: Any) -> tuple[list[Any], set[str]]:
    """What the real command says up to its answer to the last of these lines, and what it had loaded at the first."""
    code = (
        "import os, sys; from cuetrail.cli import main; write = os.write\n"
        "def noted(fd, data):\n"
        "    if fd == 1: print(' '.join(sys.modules), file=sys.stderr); os.write = write\n"
        "    return write(fd, data)\n"
        "os.write = noted; main()"
    )
    words = [sys.executable, "-c", code, "mcp", "--memory", str(place), "--embedder", "none"]
    pipe = subprocess.PIPE
    answers: list[Any] = []
    with subprocess.Popen(words, text=True, stdin=pipe, stdout=pipe, stderr=pipe) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        assert server.stderr is not None
        for line in lines:
            server.stdin.write(f"{line if isinstance(line, str) else json.dumps(line)}\n")
        server.stdin.flush()
        while lines and (not answers or answers[-1].get("id") != lines[-1]["id"]):
            answers.append(json.loads(server.stdout.readline()))
        server.stdin.close()
        return answers, set(server.stderr.read().split())


def call(id_: int | str, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}


def test_a_client_is_greeted_before_the_sdk_is_loaded_and_hears_one_answer(place: Path) -> None:
    told = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    answers, loaded = talk(place, call("a", "initialize", **asked("2025-06-18")), told, call(2, "tools/list"))
    assert [answer["id"] for answer in answers] == ["a", 2]
    assert answers[0]["result"]["serverInfo"]["name"] == "cuetrail"
    assert len(answers[1]["result"]["tools"]) == 10
    assert "cuetrail.serve.mcp.handshake" in loaded
    assert not loaded & SDK
    assert not place.exists()


def test_a_first_line_that_is_no_greeting_is_left_to_the_sdk(place: Path) -> None:
    greeting = call(1, "initialize", **asked("2025-06-18"))
    assert parse_initialize(json.dumps(greeting).encode()) == greeting
    others: list[Any] = [
        call(1, "initialize"),
        call(1, "ping"),
        [],
        [greeting],
        {**greeting, "id": True},
        {**greeting, "params": 1},
    ]
    for first in ("no json", "[" * 100_000, "", "\n", *map(json.dumps, others)):
        assert parse_initialize(first.encode()) is None
    answers, _ = talk(place, "no json", call(2, "initialize", **asked("2025-06-18")))
    assert [answer["result"]["protocolVersion"] for answer in answers if answer.get("id") == 2] == ["2025-06-18"]


def test_a_client_that_says_nothing_is_left_in_peace(place: Path) -> None:
    assert talk(place) == ([], set())


def piped(place: Path, data: bytes) -> list[Any]:
    """What the real command says to an input that ends, as a shell's pipe gives it."""
    words = [sys.executable, "-m", "cuetrail", "mcp", "--memory", str(place), "--embedder", "none"]
    done = subprocess.run(words, input=data, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert b"Traceback" not in done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def tool_call(id_: int, tool: str, **arguments: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id_, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}


def test_what_is_under_way_when_the_input_ends_is_finished_and_answered(place: Path) -> None:
    greeting = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": asked(PROTOCOLS[-1])}
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    calls = [tool_call(number, "memory_add", text=f"The antenna has number {number}.") for number in range(1, 9)]
    data = b"".join(json.dumps(one).encode() + b"\n" for one in (greeting, ready, *calls))
    answers = piped(place, data)
    assert sorted(one["id"] for one in answers) == list(range(9))
    assert not any(one["result"].get("isError") for one in answers)
    with Memory(place, embedder=None) as memory:
        assert memory.stats().nodes == 8


def test_broken_lines_do_not_keep_the_others_from_being_answered(place: Path) -> None:
    greeting = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": asked(PROTOCOLS[-1])}
    broken = [
        b"\xff\xfe\x00", b"{", b"[" * 100_000, b'[{"jsonrpc":"2.0","id":5,"method":"ping"}]',
        b'{"jsonrpc":"2.0","id":6}',
        b'{"jsonrpc":"2.0","id":7,"method":"ping","id":8}',
        b'"' + b"a" * 3_000_000 + b'"', b"",
        json.dumps(tool_call(9, "memory_add", text="a \ud800 lone surrogate")).encode(),
    ]  # fmt: skip
    last = json.dumps(tool_call(10, "memory_add", text="The antenna stands.")).encode()
    answers = piped(place, b"\n".join([json.dumps(greeting).encode(), *broken, last]))
    by_id = {one.get("id"): one for one in answers}
    assert not by_id[10]["result"].get("isError"), by_id[10]
