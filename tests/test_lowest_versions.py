"""cuetrail works with the lowest versions of its dependencies that it declares."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from scripts import lowest_versions as script

MEMORY = """
import sys
from pathlib import Path

from cuetrail import Budget, Memory

import cuetrail.store.neo4j.engine

place = Path(sys.argv[1])
(place / "a.md").write_text("# Radio\\n\\nThe antenna stands on the roof. See [[Ann]]. #radio\\n")
(place / "b.html").write_text("<p>The mast is made of larch.</p>")
with Memory(place / "memory") as memory:
    for name in ("a.md", "b.html"):
        assert memory.ingest(place / name).added
    memory.add(name="Ann", kind="person", id="ann")
    memory.fact("ann", "likes", "tea")
    for cue in ("antenna", "#radio", "what is the mast made of?"):
        assert memory.recall(cue).hits, cue
    memory.dream()
    assert memory.export(place / "all.jsonl")
    assert memory.mirror(place / "mirror").files
    assert memory.forget("ann")
    assert memory.brief(budget=Budget(tokens=300)).text
    assert memory.doctor() == []
"""

SERVER = """
import sys, threading, urllib.request

from cuetrail import Memory
from cuetrail.serve.memory_access import LazyMemory
from cuetrail.serve.rest.connection_limits import ConnectionLimits, OpenConnections
from cuetrail.serve.rest.requests import RequestRules
from cuetrail.serve.rest.server import listening_socket, make_app, make_http_server

memory = LazyMemory(lambda: Memory(sys.argv[1], embedder=None))
with listening_socket(memory, "127.0.0.1", 0) as (listener, _):
    server = make_http_server(make_app(memory, RequestRules()), OpenConnections(ConnectionLimits()))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    address = f"http://127.0.0.1:{listener.getsockname()[1]}"
    try:
        for path, body in (("/health", None), ("/v1/recall", b'{"cue": "antenna"}')):
            asked = urllib.request.Request(address + path, body, {"Content-Type": "application/json"})
            with urllib.request.urlopen(asked, timeout=60) as answer:
                print(answer.status)
    finally:
        server.should_exit = True
        thread.join()
"""


@pytest.fixture(scope="module")
def python() -> Path:
    if sys.version_info[:2] != (3, 11):
        pytest.skip("the lowest versions are those of the lowest Python, 3.11")
    try:
        return script.install() if os.environ.get("CI") == "true" else script.find()
    except script.Missing as error:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(str(error))


def run(command: list[str], given: str = "") -> str:
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_a_memory_works_with_the_lowest_versions(python: Path, tmp_path: Path) -> None:
    run([str(python), "-c", MEMORY, str(tmp_path)])


def test_the_command_line_and_mcp_work_with_the_lowest_versions(python: Path, tmp_path: Path) -> None:
    command = [str(python), "-m", "cuetrail", "--memory", str(tmp_path / "memory")]
    run([*command, "add", "The antenna stands on the roof"])
    assert "antenna" in run([*command, "recall", "antenna"])
    hello = (
        '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},'
        '"clientInfo":{"name":"a","version":"1"}}}\n{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
        '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"memory_recall","arguments":{"cue":"antenna"}}}\n'
    )
    assert "on the roof" in run([*command, "mcp"], hello)


def test_the_http_server_works_with_the_lowest_versions(python: Path, tmp_path: Path) -> None:
    assert run([str(python), "-c", SERVER, str(tmp_path / "memory")]).split() == ["200", "200"]
