"""Many writers on one Neo4j server are all served, and make one memory."""

from __future__ import annotations

from contextlib import closing

from cuetrail import Memory, Scope
from cuetrail.store.neo4j import Neo4jStore, connection
from tests.servers import Login
from tests.store.neo4j.test_many_clients import at_once


def test_many_writers_with_the_same_labels_are_all_served(server: Login) -> None:
    scopes = [Scope("t", "ann", ("ops",))] * 4 + [Scope("t", "bob", ("ops",), "ops")] * 2
    memories = [Memory(server.uri, scope=scope, embedder=None) for scope in scopes]
    memories[0].add("here", id="here")

    def write(number: int) -> None:
        for i in range(5):
            memories[number].add(f"writer {number} says {i}", id=f"{number}-{i}", tags=["a", "b"], buckets=["q"])

    at_once([lambda n=n: write(n) for n in range(len(memories))])  # type: ignore[misc]  # a number of its own
    assert memories[0].stats().nodes == 31
    for memory in memories:
        memory.close()


def test_writers_that_come_first_at_the_same_moment_make_one_memory(server: Login) -> None:
    with closing(Neo4jStore(server.address)) as store:
        store.connection.schema(["DROP INDEX cue_fields IF EXISTS", "MATCH (s:CueSchema) DELETE s"])
        for (name,) in store.connection.reading(
            lambda tx: connection.rows(tx, "SHOW INDEXES YIELD name, type WHERE type = 'VECTOR' RETURN name")
        ):
            store.connection.schema([f"DROP INDEX {name}"])

    def first(number: int) -> None:
        with Memory(server.uri) as memory:
            memory.add(f"the first words of writer {number}", id=str(number))

    at_once([lambda n=n: first(n) for n in range(3)])  # type: ignore[misc]  # a number of its own
    with Memory(server.uri) as memory:
        assert sorted(hit.node.id for hit in memory.recall("first words").hits) == ["0", "1", "2"]
        assert memory.stats().vectors == 3
