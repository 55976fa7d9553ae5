"""A Neo4j server for the tests that need one: that of NEO4J_URI, or one that is started when it is first asked for.

The process that runs the tests on a server starts one, which ends with it. Where none can be started the tests are
skipped with the reason, except on CI, where that is a failure.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import pytest
from filelock import FileLock
from xdist.scheduler import LoadGroupScheduling

from cuetrail.store.neo4j.connection import Address, Connection, parse
from scripts import neo4j as script

# Read before any test hides the settings and the home directory of the developer.
GIVEN = {name: os.environ.get(name) for name in ("NEO4J_URI", "NEO4J_USER", "NEO4J_PASSWORD")}
CACHE = script.cache_home()
ON_CI = os.environ.get("CI") == "true"
BRIEF = script.Size(brief=True)


def on_server(nodeid: str) -> bool:
    """Whether a test is one of those on a server, by its name, or by the name of its file or of what it is given."""
    return "neo4j" in nodeid


class OneServer(LoadGroupScheduling):  # type: ignore[misc]  # xdist has no types
    """Gives all tests on a server to one process: a second server would take as long to warm up as both take.

    Marks of groups would say the same, but with pytest 9.2 they are lost on the way to the scheduler, without a word.
    """

    def _split_scope(self, nodeid: str) -> str:
        return "neo4j" if on_server(nodeid) else super()._split_scope(nodeid)


@dataclass(frozen=True)
class Login:
    """How to reach the server."""

    uri: str
    user: str
    password: str

    @property
    def address(self) -> Address:
        found = parse(self.uri)
        return Address(found.uri, found.database, self.user, self.password)


# Kept open: opening a connection takes longer than what `wipe` uses it for.
_lines: dict[Login, Connection] = {}


@contextmanager
def running() -> Iterator[Login]:
    """A server that answers, for as long as the block takes."""
    if uri := GIVEN["NEO4J_URI"]:
        try:
            yield Login(uri, GIVEN["NEO4J_USER"] or "neo4j", GIVEN["NEO4J_PASSWORD"] or "")
        finally:
            hang_up()
        return
    try:
        server = script.start(CACHE, size=BRIEF)
    except script.Missing as reason:
        if ON_CI:
            raise
        pytest.skip(f"no Neo4j: {reason}")
    try:
        yield Login(server.uri, server.user, server.password)
    finally:
        hang_up()
        server.stop()


@contextmanager
def alone(login: Login) -> Iterator[None]:
    """Keeps other test processes from the server while a test uses it, where they share one."""
    lock = FileLock(Path(tempfile.gettempdir()) / "cuetrail-neo4j-tests.lock") if GIVEN["NEO4J_URI"] else nullcontext()
    with lock:
        yield


def hang_up() -> None:
    """Close the connections of `wipe`."""
    for line in _lines.values():
        line.close()
    _lines.clear()


def wipe(login: Login) -> None:
    """Remove everything from the database but its schema."""
    if login not in _lines:
        _lines[login] = Connection(login.address)
    _lines[login].writing(lambda tx: tx.run("MATCH (n) WHERE NOT n:CueSchema DETACH DELETE n").consume())
