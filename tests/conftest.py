"""Fixtures for every test: reproducible random examples, no settings of the machine, no network."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from xdist.remote import Producer

from tests.permissions import bound_by_permissions
from tests.servers import Login, OneServer, alone, on_server, running, wipe

# The same examples on every machine; how long one takes is not what a test is about.
settings.register_profile("cuetrail", derandomize=True, deadline=None, database=None)
settings.load_profile("cuetrail")

# A shell that starts the tests in the background has interrupts ignored, and what a test starts would inherit that:
# the tests of Ctrl-C would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_IN_MEMORY, _ROOM = Path("/dev/shm"), 4 * 2**30

# Every write of a memory waits for the disk, which takes longer than the rest of most tests. What they write outlives a
# killed process in memory as well, and no test cuts the power.
if (
    "TMPDIR" not in os.environ
    and os.access(_IN_MEMORY, os.W_OK)
    and shutil.disk_usage(_IN_MEMORY).free >= _ROOM
):  # fmt: skip
    os.environ["TMPDIR"] = str(_IN_MEMORY)
    tempfile.tempdir = None


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> OneServer | None:
    """Has one process do all tests on a Neo4j server."""
    return OneServer(config, log) if config.getvalue("dist") == "loadgroup" else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sees to it that the names of tests on a server say so: the scheduler knows nothing else of them."""
    for item in items:
        if "neo4j_server" in getattr(item, "fixturenames", ()) and not on_server(item.nodeid):
            raise pytest.UsageError(f"{item.nodeid} runs on a Neo4j server: put `neo4j` into its name")


@pytest.fixture
def bound() -> Iterator[None]:
    """Permissions bind the test, even when root runs it."""
    with bound_by_permissions():
        yield


@pytest.fixture(scope="session")
def neo4j_server() -> Iterator[Login]:
    """A Neo4j server, started when the first test asks for it."""
    with running() as login:
        yield login


@pytest.fixture
def server(neo4j_server: Login, monkeypatch: pytest.MonkeyPatch) -> Iterator[Login]:
    """An empty database; the login is in the environment, as a user has it."""
    monkeypatch.setenv("NEO4J_USER", neo4j_server.user)
    monkeypatch.setenv("NEO4J_PASSWORD", neo4j_server.password)
    with alone(neo4j_server):
        wipe(neo4j_server)
        yield neo4j_server


@pytest.fixture(autouse=True)
def own_settings(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Hides the developer's own cuetrail settings and home directory."""
    for name in list(os.environ):
        if name.startswith(("CUETRAIL_", "HF_", "NEO4J_", "XDG_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path_factory.getbasetemp()))


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fails a test that leaves this machine: cuetrail fetches nothing that the user did not configure."""
    attempts: list[object] = []
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family != getattr(socket, "AF_UNIX", None) and address[0] not in _LOOPBACK:
            attempts.append(address)
            raise OSError(f"the tests may not connect to {address}")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)
    yield
    assert not attempts, f"this test tried to reach the network: {attempts}"
