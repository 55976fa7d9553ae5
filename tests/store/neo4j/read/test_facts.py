"""Reading the facts of an entity with 100,000 facts costs as much as with 100: they are read in order of certainty."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from cuetrail.model import Fact, Node, Scope
from cuetrail.model.ids import fact_id
from cuetrail.store.neo4j import Neo4jStore
from cuetrail.store.neo4j.connection import rows
from cuetrail.store.neo4j.migrate import migrate
from cuetrail.store.neo4j.read.facts import query
from cuetrail.store.neo4j.schema import BY_VALUE, MIGRATIONS, SORT_KEYS
from cuetrail.store.read import HeldAt
from cuetrail.store.sqlite import SqliteStore
from cuetrail.store.write import Batch, Stated
from tests.servers import Login, alone, wipe

ME = Scope()
HUB = [Fact(f"f{n}", "hub", "p", value=f"v{n}", confidence=n / 300) for n in range(300)]
ENDED = [replace(f, id=f"old {f.id}", status="retracted", valid_until=n) for n, f in enumerate(HUB)]


@pytest.fixture
def server(neo4j_server: Login) -> Iterator[Neo4jStore]:
    """A hub of facts on a server."""
    with alone(neo4j_server):
        wipe(neo4j_server)
        store = Neo4jStore(neo4j_server.address, SqliteStore)
        store.write(ME, Batch(nodes=[Node("hub", "entity", "Hub")], facts=[*HUB, *ENDED]))
        yield store
        store.close()


def steps(plan: Any) -> Iterator[str]:
    """The steps of a plan of a server, each with what it does."""
    yield f"{plan['operatorType']} {plan['args'].get('Details', '')}"
    for child in plan.get("children", ()):
        yield from steps(child)


def test_on_neo4j_facts_are_read_in_the_order_of_an_index(server: Neo4jStore) -> None:
    given: dict[str, Any] = {"keys": [1], "parts": [1], "at": 0, "limit": 10, "moment": ""}
    plan = server.connection.reading(lambda tx: tx.run(f"EXPLAIN {query('both')}", **given).consume().plan)
    found = list(steps(plan))
    for field in ("by_subject", "by_object", "past_subject", "past_object"):
        assert any("NodeIndexSeekByRange" in step and f"({field})" in step for step in found), found
    # What ended after the time that is asked for is sorted; what holds is not.
    sorts = [step for step in found if step.startswith(("Sort", "Top", "PartialTop", "PartialSort"))]
    assert all("confidence" in step for step in sorts), "\n".join(found)
    assert len(sorts) == 2
    assert [f.id for f in server.facts(ME, ["hub"], held=HeldAt(297, 3, "both"))["hub"]] == ["f299", "old f299", "f298"]


def test_facts_neo4j_had_before_are_found_when_it_is_opened_by_a_newer_version(server: Neo4jStore) -> None:
    old = "MATCH (f:CueFact) REMOVE f.rank, f.by_subject, f.past_subject, f.topic WITH count(*) AS n"
    older = f"{old} MATCH (s:CueSchema) SET s.version = $version"
    server.connection.writing(lambda tx: rows(tx, older, version=MIGRATIONS.index(SORT_KEYS)))
    assert server.facts(ME, ["hub"], held=HeldAt(0, 3, "both")) == {}
    migrate(server.connection)
    assert [f.id for f in server.facts(ME, ["hub"], held=HeldAt(297, 3, "both"))["hub"]] == ["f299", "old f299", "f298"]


def test_what_neo4j_had_before_is_the_same_when_it_is_stated_again(server: Neo4jStore) -> None:
    said = Fact(fact_id("hub", "uses", None, "Rust"), "hub", "uses", value="Rust", confidence=0.5, source="file")
    for ref in "ab":
        server.write(ME, Batch(stated=[Stated(replace(said, source_ref=ref))]))
    older = "MATCH (f:CueFact) REMOVE f.said WITH count(*) AS n MATCH (s:CueSchema) SET s.version = $version"
    server.connection.writing(lambda tx: rows(tx, older, version=MIGRATIONS.index(BY_VALUE)))
    migrate(server.connection)
    server.write(ME, Batch(stated=[Stated(replace(said, source_ref=None, source="user_edit"))]))
    assert len([f for f in server.facts(ME, ["hub"])["hub"] if f.predicate == "uses"]) == 1
