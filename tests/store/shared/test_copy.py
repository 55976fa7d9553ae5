"""A copy between two engines is complete and shows one moment."""

from __future__ import annotations

import itertools
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from cuetrail import Memory, Scope
from cuetrail.errors import MemoryError_
from cuetrail.memory import copy_memory
from cuetrail.model import Edge, Node, Note
from cuetrail.store.neo4j import Neo4jStore
from cuetrail.store.ports import Store
from cuetrail.store.shared.copy import copy
from cuetrail.store.sqlite import SqliteStore
from cuetrail.store.write import Batch
from tests.servers import Login, alone, wipe

ANN = Scope("t", "ann", ("ops",))
ANN_OPS, BOB_OPS = Scope("t", "ann", ("ops",), "ops"), Scope("t", "bob", ("ops",), "ops")


@pytest.fixture(params=["local", "neo4j"])
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """An empty memory to copy from."""
    if request.param == "local":
        with closing(SqliteStore(tmp_path / "source")) as local:
            yield local
        return
    login: Login = request.getfixturevalue("neo4j_server")
    with alone(login):
        wipe(login)
        with closing(Neo4jStore(login.address, SqliteStore)) as store:
            yield store


def test_a_copy_is_of_one_moment_while_others_write(source: Store, tmp_path: Path) -> None:
    source.write(ANN, Batch(nodes=[Node(f"n{n}", text=f"text {n}") for n in range(50)]))
    done = threading.Event()

    def write() -> None:
        for n in itertools.count():
            if done.is_set():
                return
            new = [Node(f"a{n}", text="one"), Node(f"b{n}", text="other")]
            source.write(ANN, Batch(nodes=new, edges=[Edge(f"e{n}", f"a{n}", f"b{n}", weight=0.5)]))

    writer = threading.Thread(target=write)
    writer.start()
    try:
        with closing(SqliteStore(tmp_path / "copy")) as target:
            copy(source, target)
            stats = target.stats(ANN)
    finally:
        done.set()
        writer.join()
    assert stats.nodes == 50 + 2 * stats.edges


def test_notes_on_edges_of_others_stay_on_them(source: Store, tmp_path: Path) -> None:
    for scope in (ANN_OPS, BOB_OPS):
        nodes = [Node("a", text=f"a of {scope.user}"), Node("b", text=f"b of {scope.user}")]
        source.write(scope, Batch(nodes=nodes, edges=[Edge("e", "a", "b", weight=0.5)]))
    notes = [Note("mine", "e", "mine", on="edge"), Note("his", "e@@bob/ops", "his", on="edge")]
    source.write(ANN, Batch(notes=notes))
    with closing(SqliteStore(tmp_path / "copy")) as target:
        copy(source, target)
        assert list(target.scan(ANN)) == list(source.scan(ANN))
        found = target.notes(ANN, ["e", "e@@bob/ops"], "edge", 0, 9)
        assert {id_: [note.text for note in some] for id_, some in found.items()} == {
            "e": ["mine"],
            "e@@bob/ops": ["his"],
        }


def test_a_copy_that_fails_says_how_to_go_on(tmp_path: Path) -> None:
    with Memory(tmp_path / "a", embedder=None) as memory:
        memory.add("a text that a bad disk changes", id="x")
    with sqlite3.connect(tmp_path / "a" / "memory.db") as db:
        db.execute("UPDATE nodes SET text = 'another text'")
    db.close()
    with pytest.raises(MemoryError_, match="is not whole: remove the folder"):
        copy_memory(tmp_path / "a", tmp_path / "b")
