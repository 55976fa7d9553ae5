"""Which tags people gave: migration of older memories, repair, and the way through an export."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from cuetrail import Memory
from cuetrail.model import Node, Scope, Tag
from cuetrail.store.neo4j import Neo4jStore
from cuetrail.store.neo4j.connection import rows
from cuetrail.store.neo4j.migrate import OWNED, migrate
from cuetrail.store.ports import Store
from cuetrail.store.read import LABEL_KINDS
from cuetrail.store.sqlite import SqliteStore
from cuetrail.store.sqlite.schema import MIGRATIONS
from cuetrail.store.write import Batch
from tests.servers import Login, alone, wipe

ME = Scope()
TAGS = (Tag("radio", "Radio"), Tag("doc", "doc", "auto"), Tag("q1", "Q1", "temporal"), Tag("mast", "mast", "infected"))


def fill(store: Store) -> None:
    nodes = [Node("a", text="x", tag_details=TAGS, buckets=("field",)), Node("b", text="y", tag_details=TAGS[1:])]
    store.write(ME, Batch(nodes=nodes))


def listed(store: Store) -> list[list[tuple[str, int]]]:
    return [[(one.name, one.nodes) for one in store.labels(ME, kind, "", 9)] for kind in LABEL_KINDS]


TRUE = [[("radio", 1)], [("doc", 2), ("mast", 2), ("q1", 2)], [("field", 1)]]


def change(place: Path, *statements: str) -> None:
    with closing(sqlite3.connect(place / "memory.db")) as db:
        for statement in statements:
            db.execute(statement)
        db.commit()


def test_an_older_memory_lists_peoples_tags_apart(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path)) as store:
        fill(store)
    before = [one.__name__ for one in MIGRATIONS].index("_origins")
    change(tmp_path, "ALTER TABLE node_labels DROP COLUMN automatic", f"PRAGMA user_version = {before}")
    with closing(SqliteStore(tmp_path)) as store:
        assert listed(store) == TRUE
        assert store.doctor(False, None) == []


def test_a_wrong_origin_in_the_table_of_tags_is_found_and_mended(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path)) as store:
        fill(store)
        change(tmp_path, "UPDATE node_labels SET automatic = 0")
        assert [one.check for one in store.doctor(False, None)] == ["labels"]
        store.doctor(True, None)
        assert listed(store) == TRUE


@pytest.mark.parametrize("version", [1, OWNED - 1], ids=["first", "last"])
def test_an_older_neo4j_database_lists_peoples_tags_apart(neo4j_server: Login, version: int) -> None:
    with alone(neo4j_server):
        wipe(neo4j_server)
        with closing(Neo4jStore(neo4j_server.address, SqliteStore)) as store:
            fill(store)
            assert listed(store) == TRUE
            older = (
                "MATCH ()-[r:CUE_TAGGED|CUE_TIMED]->() REMOVE r.own",
                "MATCH (s:CueSchema) SET s.version = $version",
            )
            for cypher in older:
                store.connection.writing(lambda tx, cypher=cypher: rows(tx, cypher, version=version))  # type: ignore[misc]  # the loop's own value
            migrate(store.connection)
            assert listed(store) == TRUE


def test_an_export_keeps_who_gave_a_tag(tmp_path: Path) -> None:
    with Memory(tmp_path / "one", embedder=None) as memory:
        memory.add("The mast fell", id="a", at=1_767_225_600_000, tags=["radio"])
        memory.dream(only=["temporal"])
        memory.export(tmp_path / "all.jsonl")
    with Memory(tmp_path / "two", embedder=None) as memory:
        memory.import_(tmp_path / "all.jsonl")
        assert [one.name for one in memory.labels()] == ["radio"]
        assert "2026" in [one.name for one in memory.labels("automatic")]


def test_tags_without_an_origin_come_in_as_peoples(tmp_path: Path) -> None:
    with Memory(tmp_path / "one", embedder=None) as memory:
        memory.add("The mast fell", id="a", tags=["radio"])
        memory.export(tmp_path / "all.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "all.jsonl").read_text("utf-8").splitlines()]
    for line in lines:
        if "tag_details" in line:
            line["tag_details"] = [tag[:2] for tag in line["tag_details"]]
    (tmp_path / "old.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    with Memory(tmp_path / "two", embedder=None) as memory:
        memory.import_(tmp_path / "old.jsonl")
        assert [one.name for one in memory.labels()] == ["radio"]
