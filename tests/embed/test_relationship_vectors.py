"""Vectors of relationships and their notes are made, stored, replaced and forgotten like those of nodes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from cuetrail import Memory
from cuetrail.errors import EmbedderError
from cuetrail.model import Edge, Note, Where
from cuetrail.store.graph import EdgeFilter
from cuetrail.store.neo4j import Neo4jStore
from cuetrail.store.neo4j.connection import rows
from cuetrail.store.neo4j.index.vector_spaces import index_names
from cuetrail.store.neo4j.migrate import migrate
from cuetrail.store.neo4j.schema import DESCRIBED
from cuetrail.store.neo4j.schema import MIGRATIONS as ON_SERVER
from cuetrail.store.sqlite import SqliteStore
from cuetrail.store.sqlite.schema import MIGRATIONS
from cuetrail.store.write import Batch
from tests.servers import Login, alone, wipe
from tests.store.contract.test_relationships_by_meaning import EAST, NORTH, SPACE, fill, found
from tests.store.contract.test_relationships_by_words import ANN, BOB, people
from tests.store.test_relationship_words import change
from tests.systems.axes import Axes

NOW = 1_768_831_200_000


class Counted(Axes):
    """Counts the texts it is given, and fails while it is `away`."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.away = False

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.away:
            raise EmbedderError("away")
        self.texts += texts
        return super().embed(texts)


@pytest.fixture
def embedder() -> Counted:
    return Counted()


@pytest.fixture
def memory(tmp_path: Path, embedder: Counted) -> Iterator[Memory]:
    with Memory(tmp_path / "memory", embedder=embedder) as opened:
        for name in ("eve", "finn"):
            opened.add(name=name, id=name, kind="person", now=NOW)
        yield opened


def types(memory: Memory, query: str) -> list[str | None]:
    asked = memory.explore([{"query": query, "threshold": 0.5}], record_access=False, now=NOW)
    return [one.edge.type for one in asked.semantic.relationships]


def test_what_is_said_of_a_relationship_is_embedded_once_and_nothing_where_nothing_is_said(
    memory: Memory, embedder: Counted
) -> None:
    before = list(embedder.texts)
    memory.unlink(memory.link("eve", "finn", now=NOW).id)
    edge = memory.relate("eve", "finn", "pupil", now=NOW)
    assert embedder.texts == before
    memory.relate("eve", "finn", "pupil", text="music lessons", now=NOW)
    memory.note(edge.id, "a frozen pond", now=NOW)
    memory.note("eve", "tea at five", now=NOW)
    assert embedder.texts == [*before, "music lessons", "a frozen pond"]
    assert (types(memory, "melody"), types(memory, "frost"), types(memory, "tea")) == (["pupil"], ["pupil"], [])
    # Exploring compares with what is stored.
    assert embedder.texts == [*before, "music lessons", "a frozen pond"]
    memory.relate("eve", "finn", proximity=3, now=NOW + 1)
    assert types(memory, "melody") == ["pupil"]
    memory.relate("eve", "finn", text="bread", now=NOW + 2)
    assert (types(memory, "melody"), types(memory, "bread")) == ([], ["pupil"])


def test_an_embedder_that_fails_costs_the_vectors_until_they_are_made(memory: Memory, embedder: Counted) -> None:
    embedder.away = True
    memory.note(memory.relate("eve", "finn", "pupil", text="music lessons", now=NOW).id, "a frozen pond", now=NOW)
    embedder.away = False
    assert (types(memory, "melody"), types(memory, "frost")) == ([], [])
    assert "reembed" in memory.explore(["tea"]).meta["notices"][0]
    assert memory.reembed() == 2
    assert (types(memory, "melody"), types(memory, "frost")) == (["pupil"], ["pupil"])
    assert memory.reembed() == 0


def test_they_travel_with_an_export_that_has_vectors(memory: Memory, tmp_path: Path) -> None:
    memory.note(memory.relate("eve", "finn", "pupil", text="music lessons", now=NOW).id, "a frozen pond", now=NOW)
    memory.export(tmp_path / "1.jsonl", vectors=True)
    lines = [json.loads(line) for line in (tmp_path / "1.jsonl").read_text("utf-8").splitlines()[1:]]
    assert [line["type"] for line in lines if "vector" in line] == ["node", "node", "edge", "note"]
    again = Counted()
    with Memory(tmp_path / "same", embedder=again) as same:
        same.import_(tmp_path / "1.jsonl")
        assert again.texts == []
        assert (types(same, "melody"), types(same, "frost")) == (["pupil"], ["pupil"])
        same.export(tmp_path / "2.jsonl", vectors=True)
    assert (tmp_path / "1.jsonl").read_bytes() == (tmp_path / "2.jsonl").read_bytes()
    memory.export(tmp_path / "bare.jsonl")
    with Memory(tmp_path / "bare", embedder=again) as bare:
        bare.import_(tmp_path / "bare.jsonl")
        assert (types(bare, "melody"), types(bare, "frost")) == (["pupil"], ["pupil"])


def test_what_is_forgotten_leaves_nothing_in_the_index(memory: Memory) -> None:
    memory.note(memory.relate("eve", "finn", "pupil", text="music lessons", now=NOW).id, "a frozen pond", now=NOW)
    assert types(memory, "melody") == ["pupil"]
    store = memory.store
    assert isinstance(store, SqliteStore)
    assert len(store.relation_index.keys()) == 2
    memory.forget("eve")
    state = store.relation_index.dir.load()
    assert state is not None
    assert (state.files, store.relation_index.keys()) == ({}, set())
    assert memory.doctor() == []


def test_a_change_of_one_writes_nothing_of_the_other_anew(memory: Memory) -> None:
    edge = memory.relate("eve", "finn", "pupil", text="music lessons", now=NOW)
    store = memory.store
    assert isinstance(store, SqliteStore)

    def blocks(query: str) -> list[list[str]]:
        assert memory.explore([query], record_access=False, now=NOW).meta
        states = [index.dir.load() for index in (store.vector_index, store.relation_index)]
        return [list(state.files) for state in states if state is not None]

    nodes, relationships = blocks("melody")
    memory.note(edge.id, "a frozen pond", now=NOW)
    assert blocks("frost")[0] == nodes
    relationships = blocks("frost")[1]
    memory.add("tea", id="atom", now=NOW)
    memory.add("garden", name="eve", id="eve", kind="person", now=NOW)
    assert blocks("tea")[0] != nodes
    assert blocks("tea")[1] == relationships
    assert memory.doctor() == []


# The checksums of vectors that a test has changed.
SUMS = "UPDATE vectors SET check_sum = vector_sum(key, vector)"


def test_doctor_finds_and_mends_vectors_of_nothing_and_an_index_that_is_not_what_was_said(
    memory: Memory, tmp_path: Path
) -> None:
    memory.relate("eve", "finn", "pupil", text="music lessons", now=NOW)
    assert types(memory, "melody") == ["pupil"]
    change(tmp_path / "memory", "INSERT INTO vectors SELECT 9999, vector, 0 FROM vectors LIMIT 1", SUMS)
    assert [one.check for one in memory.doctor()] == ["vectors"]
    memory.doctor(repair=True)
    assert memory.doctor() == []
    # Damage of the index mends itself; a change of which the log does not tell has to be looked for.
    for file in (tmp_path / "memory/index/relations").rglob("*"):
        if file.is_file() and file.name.isdecimal():
            file.write_bytes(bytes(file.stat().st_size))
    assert types(memory, "melody") == ["pupil"]
    other = "(SELECT vector FROM vectors WHERE key IN (SELECT key FROM nodes))"
    change(tmp_path / "memory", f"UPDATE vectors SET vector = {other} WHERE key IN (SELECT key FROM edges)", SUMS)
    assert [one.check for one in memory.doctor(repair=True)] == ["index of relationships"]
    assert memory.doctor() == []
    assert types(memory, "melody") == []


def test_an_older_memory_has_them_once_they_are_made(memory: Memory, tmp_path: Path) -> None:
    edge = memory.relate("eve", "finn", "pupil", text="music lessons", now=NOW)
    memory.close()
    before = [one.__name__ for one in MIGRATIONS].index("_described")
    of_edges = "DELETE FROM vectors WHERE key NOT IN (SELECT key FROM nodes)"
    change(tmp_path / "memory", of_edges, "DROP INDEX edges_described", f"PRAGMA user_version = {before}")
    with Memory(tmp_path / "memory", embedder=Axes()) as again:
        assert again.store.vectors(again.scope, [edge.id], of="edge") == {}
        assert (types(again, "music"), types(again, "melody")) == (["pupil"], [])
        assert again.reembed() == 1
        assert types(again, "melody") == ["pupil"]
        assert again.doctor() == []


def test_an_older_neo4j_database_has_them_once_they_are_made(neo4j_server: Login) -> None:
    with alone(neo4j_server):
        wipe(neo4j_server)
        with closing(Neo4jStore(neo4j_server.address, SqliteStore)) as store:
            fill(store)
            slot = index_names(SPACE)[0].removeprefix("cue_")
            clear = f"MATCH ()-[e:CUE_EDGE]->() REMOVE e.described, e.{slot}"
            store.connection.writing(lambda tx: rows(tx, clear))
            new = [*index_names(SPACE)[1:], "cue_by_edge_described"]
            store.connection.schema([f"DROP INDEX {name}" for name in new])
            set_back = "MATCH (s:CueSchema) SET s.version = $version"
            store.connection.writing(lambda tx: rows(tx, set_back, version=ON_SERVER.index(DESCRIBED)))
            assert sorted(one.problem.split()[2] for one in store.doctor(False, None)) == sorted(new)
            migrate(store.connection)
            assert store.doctor(False, None) == []
            missing = [
                one for one in store.vector_spaces().missing(SPACE, 99) if one.record.id not in ("ada", "bob", "cleo")
            ]
            assert sorted(one.record.id for one in missing) == ["between", "east", "north"]
            assert store.vector_spaces().put(SPACE, [(one, b"\x00\x3c\x00\x00") for one in missing]) == 3
            assert found(store) == ["between", "north", "east"]


def test_by_the_index_of_neo4j_they_are_found_as_by_comparing_all(
    neo4j_server: Login, monkeypatch: pytest.MonkeyPatch
) -> None:
    with alone(neo4j_server):
        wipe(neo4j_server)
        with closing(Neo4jStore(neo4j_server.address, SqliteStore)) as store:
            fill(store)
            store.write(ANN, Batch(notes=[Note("n", "silent", "x", "edge", 5)], note_vectors={"n": EAST}))
            more = [Note("over", "north", "x", "edge", 5, expires=5), Note("far", "between", "x", "edge", 5)]
            store.write(ANN, Batch(notes=more, note_vectors={"over": EAST, "far": NORTH}))
            other = Edge("b", "ada", "ada", text="b")
            store.write(BOB, Batch(nodes=people("ada"), edges=[other], edge_vectors={"b": EAST}))
            for _ in range(2):
                assert [found(store, limit=limit) for limit in (1, 2)] == [["silent"], ["silent", "east"]]
                assert found(store) == ["silent", "east", "between", "north"]
                assert found(store, limit=1, ties=EdgeFilter(types=("rival",))) == ["between"]
                assert found(store, where=Where(kinds=("concept",))) == []
                # The second time by the index.
                monkeypatch.setattr("cuetrail.store.neo4j.index.relationship_search.FEW", 0)
