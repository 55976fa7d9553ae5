"""However few records a server knew of when it planned a query, it goes from a node along the node's own edges."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from cuetrail.model import Edge, Fact, Mention, Node, Scope
from cuetrail.store.base import Batch
from cuetrail.store.energy import Level, Spark
from cuetrail.store.local import LocalStore
from cuetrail.store.neo4j import Neo4jStore
from cuetrail.store.neo4j.connection import rows
from cuetrail.store.steps import StepQuery
from tests.servers import Login

ME = Scope()
Query = tuple[str, dict[str, Any]]
ASKED: dict[str, Callable[[Neo4jStore], object]] = {
    "expand": lambda store: store.expand(ME, Level((Spark("a", 0.9, 0),), (frozenset("a"),))),
    "neighbours": lambda store: store.neighbours(ME, ["a"], 5),
    "steps": lambda store: store.steps(ME, StepQuery(("a",), each=5)),
    "mentions": lambda store: store.mentions(ME, ["a"], "source", 5),
    "facts": lambda store: store.facts(ME, ["a"]),
}


def planned(query: str, given: dict[str, Any], tx: Any) -> list[str]:
    return list(operators(tx.run(f"EXPLAIN {query}", given).consume().plan))


def operators(plan: Any) -> Iterator[str]:
    """The steps of a plan, each with what it does."""
    yield f"{plan['operatorType']} {plan['args'].get('Details', '')}"
    for child in plan.get("children", ()):
        yield from operators(child)


@pytest.fixture
def watched(server: Login, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Neo4jStore, list[Query]]]:
    """A store, and what it asks the server while it reads."""
    queries: list[Query] = []

    def noted(tx: Any, query: str, /, **given: Any) -> list[Any]:
        queries.append((query, given))
        return rows(tx, query, **given)

    for name, module in list(sys.modules.items()):
        if name.startswith("cuetrail.store.neo4j.") and hasattr(module, "rows") and name != rows.__module__:
            monkeypatch.setattr(module, "rows", noted)
    store = Neo4jStore(server.address, LocalStore)
    yield store, queries
    store.close()


@pytest.mark.parametrize("asked", ASKED)
def test_what_belongs_to_a_node_is_read_from_the_node(watched: tuple[Neo4jStore, list[Query]], asked: str) -> None:
    store, queries = watched
    edges = [Edge("e", "a", "b", weight=0.5), Edge("f", "b", "a", weight=0.9)]
    facts, mentions = [Fact("f", "a", "likes", object="b")], [Mention("a", "b", 1)]
    store.write(ME, Batch(nodes=[Node("a"), Node("b")], edges=edges, facts=facts, mentions=mentions))
    queries.clear()
    assert ASKED[asked](store)
    asked_along = [one for one in queries if "-[" in one[0]]
    assert asked_along
    # Planned while there is nothing, when every way seems short.
    store.write(ME, Batch(remove_nodes=["a", "b"]))
    for query, given in asked_along:
        found = store.connection.reading(partial(planned, query, given))
        assert any(step.startswith("Expand(All)") for step in found), "\n".join(found)
        # All places are few.
        wide = [step for step in found if "CuePlace" not in step and re.search(r"Scan|C\w+\(part\)", step)]
        assert wide == [], "\n".join(found)
