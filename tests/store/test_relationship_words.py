"""The word table of relationships: migration of an older memory, and repair of a damaged table."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from cuetrail.model import Edge, Node, Note, Scope
from cuetrail.store.neo4j import Neo4jStore
from cuetrail.store.neo4j.connection import rows
from cuetrail.store.neo4j.migrate import migrate
from cuetrail.store.neo4j.schema import MIGRATIONS as ON_SERVER
from cuetrail.store.neo4j.schema import RELATIONSHIPS
from cuetrail.store.ports import Store
from cuetrail.store.search import RelationQuery
from cuetrail.store.sqlite import SqliteStore
from cuetrail.store.sqlite.rows import vector_sum
from cuetrail.store.sqlite.schema import MIGRATIONS
from cuetrail.store.write import Batch
from tests.servers import Login, alone, wipe

ME = Scope()


def fill(store: Store) -> None:
    edges = [
        Edge("chess", "ada", "bob", type="partner", text="chess"),
        Edge("ruled", "ada", "bob", text="chess", via="x"),
    ]
    notes = [Note("n", "chess", "a violin", "edge"), Note("m", "ada", "a violin")]
    store.write(ME, Batch(nodes=[Node("ada", "person"), Node("bob", "person")], edges=edges, notes=notes))


def found(store: Store) -> list[list[str]]:
    return [
        [edge.id for edge in store.relationships(ME, RelationQuery((word,), 9, 1))] for word in ("chess", "violins")
    ]


def change(place: Path, *statements: str) -> None:
    with closing(sqlite3.connect(place / "memory.db")) as db:
        db.create_function("vector_sum", 2, vector_sum)
        for statement in statements:
            db.execute(statement)
        db.commit()


def test_an_older_memory_finds_its_relationships(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path)) as store:
        fill(store)
    before = [one.__name__ for one in MIGRATIONS].index("_relations")
    change(tmp_path, "DROP TABLE relation_words", f"PRAGMA user_version = {before}")
    with closing(SqliteStore(tmp_path)) as store:
        assert found(store) == [["chess"], ["chess"]]
        assert store.doctor(False, None) == []


def test_a_damaged_table_of_words_is_found_and_mended(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path)) as store:
        fill(store)
        change(tmp_path, "DELETE FROM relation_words WHERE word = 'violin'")
        assert [one.check for one in store.doctor(False, None)] == ["relationships"]
        store.doctor(True, None)
        assert store.doctor(False, None) == []
        assert found(store) == [["chess"], ["chess"]]


def test_an_older_neo4j_database_finds_its_relationships(neo4j_server: Login) -> None:
    with alone(neo4j_server):
        wipe(neo4j_server)
        with closing(Neo4jStore(neo4j_server.address, SqliteStore)) as store:
            fill(store)
            store.connection.writing(lambda tx: rows(tx, "MATCH ()-[e:CUE_EDGE]->() REMOVE e.words"))
            store.connection.writing(lambda tx: rows(tx, "MATCH (n:CueNote) REMOVE n.words"))
            set_back = "MATCH (s:CueSchema) SET s.version = $version"
            store.connection.writing(lambda tx: rows(tx, set_back, version=ON_SERVER.index(RELATIONSHIPS)))
            assert found(store) == [[], []]
            migrate(store.connection)
            assert found(store) == [["chess"], ["chess"]]
