"""Query plans on Neo4j start at the given nodes and use indexes, also if the server planned them while it was empty."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from cuetrail.model import Edge, Fact, Life, Mention, Node, Note, Scope, TextQuery, Where
from cuetrail.store.dream import Book
from cuetrail.store.graph import Frontier, FrontierNode, StepQuery
from cuetrail.store.neo4j import Neo4jStore
from cuetrail.store.neo4j.connection import rows
from cuetrail.store.neo4j.index import relationship_search as relationships
from cuetrail.store.read import PageRequest, edges_by_id
from cuetrail.store.search import RelationQuery
from cuetrail.store.sqlite import SqliteStore
from cuetrail.store.write import Batch
from tests.servers import Login

ME = Scope()
FEW = [Node("a"), Node("b")]
EDGES = [
    Edge("e", "a", "b", weight=0.5, text="met at sea"),
    Edge("f", "b", "a", via="name:a"),
    Edge("g", "a", "b", via="name:b"),
]
FACTS = [Fact("f", "a", "likes", object="b")]
NOTES = [Note("n", "a", "tall", "node"), Note("o", "e", "long ago", "edge")]
MENTIONS = [Mention("a", "b", 1)]
Query = tuple[str, dict[str, Any]]
ASKED: dict[str, Callable[[Neo4jStore], object]] = {
    "expand": lambda store: store.expand(ME, Frontier((FrontierNode("a", 0.9, 0),), (frozenset("a"),))),
    "neighbours": lambda store: store.neighbours(ME, ["a"], 5),
    "steps": lambda store: store.steps(ME, StepQuery(("a",), each=5)),
    "mentions": lambda store: store.mentions(ME, ["a"], "source", 5),
    "facts": lambda store: store.facts(ME, ["a"]),
    "notes on a node": lambda store: store.notes(ME, ["a"], "node", 0, 5),
    "notes on an edge": lambda store: store.notes(ME, ["e"], "edge", 0, 5),
    "edges": lambda store: edges_by_id(store, ME, ["e"]),
    "relationships": lambda store: store.relationships(ME, RelationQuery(("sea",), 5, 0)),
    "names that became edges": lambda store: store.dream_pass(ME, "mentions").linked([1, 2]),
}
KINDS: dict[str, Callable[[Neo4jStore], object]] = {
    "core memories": lambda store: store.page(ME, PageRequest(5, Where(kinds=("person",)), order="salience")),
    "the newest of a kind": lambda store: store.text(ME, TextQuery(""), 5, Where(kinds=("person",))),
    "who is awake": lambda store: store.dream_pass(ME, "stories").active_in(Book.UNPLACED),
}


def planned(query: str, given: dict[str, Any], tx: Any) -> list[str]:
    return list(operators(tx.run(f"EXPLAIN {query}", given).consume().plan))


def planned_by(store: Neo4jStore, asked: Query) -> list[str]:
    return store.connection.writing(partial(planned, *asked))


def counted(tx: Any) -> None:
    """Let the server count how much there is."""
    rows(tx, "CALL db.prepareForReplanning()")


def unplanned(tx: Any) -> None:
    """Let the server forget its plans."""
    rows(tx, "CALL db.clearQueryCaches()")


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
    store = Neo4jStore(server.address, SqliteStore)
    yield store, queries
    store.close()


@pytest.mark.parametrize("asked", ASKED)
def test_what_belongs_to_a_node_is_read_from_the_node(watched: tuple[Neo4jStore, list[Query]], asked: str) -> None:
    store, queries = watched
    store.write(ME, Batch(nodes=FEW, edges=EDGES, facts=FACTS, notes=NOTES, mentions=MENTIONS))
    queries.clear()
    assert ASKED[asked](store)
    # Planned while there is nothing, when every way seems short.
    store.write(ME, Batch(remove_nodes=["a", "b"]))
    assert_narrow(store, queries)


def test_so_it_is_when_much_came_since_the_server_last_looked_how_much_there_is(
    watched: tuple[Neo4jStore, list[Query]],
) -> None:
    store, queries = watched
    store.connection.writing(counted)
    many = [Node(f"n{number}") for number in range(3_000)]
    edges = [Edge(f"e{number}", node.id, "b") for number, node in enumerate(many)]
    store.write(ME, Batch(nodes=FEW + many, edges=EDGES + edges, facts=FACTS, notes=NOTES, mentions=MENTIONS))
    store.connection.reading(unplanned)
    for ask in ASKED.values():
        queries.clear()
        assert ask(store)
        assert_narrow(store, queries)


def assert_narrow(store: Neo4jStore, queries: list[Query]) -> None:
    """What goes along edges begins at one node or edge; no other node, edge, note or fact is looked at."""
    along = [one for one in queries if "-[" in one[0]]
    assert along
    for query, given in along:
        found = planned_by(store, (query, given))
        narrow = [step for step in found if re.match(r"Expand\(All\)|DirectedRelationshipUniqueIndexSeek", step)]
        assert narrow, "\n".join((query, *found))
        # All places are few.
        wide = [step for step in found if "CuePlace" not in step and re.search(r"Scan|C\w+\(part\b", step)]
        assert wide == [], "\n".join((query, *found))


@pytest.mark.parametrize("asked", KINDS)
def test_nodes_of_a_kind_are_read_past_all_others(watched: tuple[Neo4jStore, list[Query]], asked: str) -> None:
    store, queries = watched
    store.connection.writing(counted)
    store.write(ME, Batch(nodes=[Node(f"n{number}") for number in range(1_000)]))
    store.write(ME, Batch(nodes=[Node("ann", "person", "Ann", life=Life(state="core"))]))
    store.connection.reading(unplanned)
    queries.clear()
    KINDS[asked](store)
    plans = [planned_by(store, one) for one in queries if "n.kind IN" in one[0]]
    assert plans
    for plan in plans:
        assert any("CueNode(part, kind, key)" in step for step in plan), "\n".join(plan)


def test_what_is_written_is_found_at_once_though_much_came_since_the_server_last_looked(
    watched: tuple[Neo4jStore, list[Query]],
) -> None:
    store, queries = watched
    store.connection.writing(counted)
    nodes = [Node(f"n{number}") for number in range(1_000)]
    batch = Batch(
        nodes=nodes,
        edges=[Edge(f"e{node.id}", node.id, "n0", via=f"name:{node.id}") for node in nodes],
        facts=[Fact(f"f{node.id}", node.id, "likes", object="n0") for node in nodes],
        mentions=[Mention(node.id, "n0", 1) for node in nodes],
    )
    # Planned while there is nothing, and once more when there is much.
    for _ in range(2):
        queries.clear()
        store.write(ME, batch)
        store.edges(ME, ["name:n1"], "via")
        list(store.scan(ME))
        store.connection.reading(unplanned)
        each = [one for one in queries if re.match(r"UNWIND \$(rows|uids|norms) AS", one[0])]
        assert each
        for query, given in each:
            found = planned_by(store, (query, given))
            wide = [step for step in found if re.search(r"Scan|\(part\)", step)]
            assert wide == [], "\n".join((query, *found))
    store.write(ME, Batch(remove_nodes=[node.id for node in nodes]))


def test_the_server_finds_a_way_by_the_index_it_is_told_to_use_for_notes_on_relationships(
    watched: tuple[Neo4jStore, list[Query]],
) -> None:
    store, _ = watched
    query = re.sub(r"{(ends|ties)}", "", relationships._NOTED).replace("{slot}", "vector")
    given = {"parts": [1], "now": 0, "query": [1.0], "limit": 5}
    store.write(ME, Batch(nodes=FEW, edges=EDGES, notes=NOTES))
    for command in (unplanned, counted):
        store.connection.writing(command)
        found = planned_by(store, (query, given))
        assert any("DirectedRelationshipUniqueIndexSeek" in step for step in found), "\n".join(found)
