"""Many clients on one Neo4j server, and a server that stops responding."""

from __future__ import annotations

import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from itertools import pairwise
from typing import Any, TypeVar

import pytest

from cuetrail import Memory, Scope
from cuetrail.errors import Unreachable
from cuetrail.model import Where
from cuetrail.recall.spread.activation import Flow, activate_seeds
from cuetrail.store.neo4j import Neo4jStore, connection, retry
from tests.servers import Login

T = TypeVar("T")


def at_once(tasks: list[Callable[[], object]]) -> None:
    """Run tasks in threads that start together; the first error is raised."""
    ready = threading.Barrier(len(tasks))

    def run(task: Callable[[], object]) -> None:
        ready.wait()
        task()

    with ThreadPoolExecutor(len(tasks)) as pool:
        for done in [pool.submit(run, task) for task in tasks]:
            done.result()


def test_threads_that_share_a_memory_count_every_access_once(server: Login) -> None:
    with Memory(server.uri, embedder=None) as memory:
        memory.add("the antenna is on the mast", id="a")
        at_once([lambda: [memory.recall("antenna") for _ in range(6)] for _ in range(4)])
        node = memory.get("a")
        assert node is not None
        assert node.life.accesses == 24


# --- what is asked


class Tallied:
    """A transaction that counts its queries."""

    def __init__(self, tx: Any, tally: Counter[str]) -> None:
        self.tx, self.tally = tx, tally

    def run(self, *query: Any) -> Any:
        self.tally["queries"] += 1
        return self.tx.run(*query)


class Counting(connection.Connection):
    """A connection that counts transactions and queries. The engine has no other way to its server."""

    def __init__(self, address: connection.Address) -> None:
        super().__init__(address)
        self.tally: Counter[str] = Counter()

    def _run(self, how: str, work: Callable[[Any], T], quick: bool = False) -> T:
        self.tally["transactions"] += 1
        return super()._run(how, lambda tx: work(Tallied(tx, self.tally)), quick)


@pytest.mark.parametrize("depth", [1, 2, 4])
@pytest.mark.parametrize("teams", [(), ("ops",)])
def test_an_activation_asks_the_server_once_per_level_whatever_the_seeds(
    server: Login, depth: int, teams: tuple[str, ...]
) -> None:
    ids = [f"n{n}" for n in range(8)]
    # With a team there are several places in sight, with the same ids in each.
    for scope in [Scope("t", user, teams, share) for user in ("ann", "bob") for share in (None, *teams)]:
        with Memory(server.uri, scope=scope, embedder=None) as memory:
            memory.add_many([{"id": id_, "text": id_} for id_ in ids], now=1)
            for src, dst in pairwise(ids):
                memory.link(src, dst, weight=1.0, now=1)
    with closing(Neo4jStore(server.address, connection=Counting(server.address))) as store:
        assert isinstance(store.connection, Counting)
        for seeds in (["n0"], ["n0", "n3"], ["n7", "n1", "gone", "n4"], ids):
            store.connection.tally.clear()
            flow = Flow(depth, 3, 0.0)
            found = list(activate_seeds(store, Scope("t", "ann", teams), dict.fromkeys(seeds, 1.0), [], flow, Where()))
            assert max(len(path.hops) for one in found for path in one.paths) == depth
            assert store.connection.tally == {"transactions": depth, "queries": depth}


# --- servers that fall silent


@contextmanager
def line_to(port: int) -> Iterator[tuple[int, threading.Event, Callable[[], None]]]:
    """A port that leads to another one, an event that has it keep back all that is sent, and what ends such calls."""
    silent = threading.Event()
    ends: list[socket.socket] = [socket.create_server(("127.0.0.1", 0))]

    def carry(source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                if not silent.is_set():
                    target.sendall(data)

    def accept() -> None:
        with suppress(OSError):
            while True:
                near, far = ends[0].accept()[0], socket.create_connection(("127.0.0.1", port))
                ends.extend((near, far))
                for pair in ((near, far), (far, near)):
                    threading.Thread(target=carry, args=pair, daemon=True).start()

    def hang_up(which: slice) -> None:
        for end in ends[which]:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield ends[0].getsockname()[1], silent, lambda: hang_up(slice(1, None))
    finally:
        hang_up(slice(None))


def test_a_line_that_falls_silent_fails_the_seeds_that_are_left(server: Login, monkeypatch: pytest.MonkeyPatch) -> None:
    # Long enough for a server on a busy machine to answer what it is asked for the first time.
    monkeypatch.setattr(connection, "SILENCE", 5.0)
    monkeypatch.setattr(connection, "ACQUIRE_SECONDS", 5.0)
    monkeypatch.setattr(retry, "PATIENCE", 0.5)
    with (
        line_to(int(server.uri.rpartition(":")[2])) as (port, silent, hang_up),
        Memory(f"bolt://127.0.0.1:{port}", embedder=None) as memory,
    ):
        for id_ in ("lone", "a", "b"):
            memory.add(id_, id=id_)
        memory.link("a", "b", weight=1.0)
        stream = memory.activate(["lone", "a"])
        assert next(stream).reason == "complete"
        silent.set()
        began = time.monotonic()
        (left,) = stream
        assert (left.seed, left.reason) == ("a", "failed")
        assert "does not answer" in str(left.error)
        silent.clear()
        hang_up()
        assert [one.reason for one in memory.activate(["a"])] == ["complete"]
        assert time.monotonic() - began < 30


def test_a_server_that_takes_calls_but_never_answers_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "ACQUIRE_SECONDS", 1.0)
    monkeypatch.setattr(retry, "PATIENCE", 0.5)
    with closing(socket.create_server(("127.0.0.1", 0))) as deaf:
        began = time.monotonic()
        with pytest.raises(Unreachable, match="does not answer"):
            Memory(f"bolt://127.0.0.1:{deaf.getsockname()[1]}")
        assert time.monotonic() - began < 10
