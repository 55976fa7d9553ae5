"""Explore: results that many others of their kind must not crowd out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cuetrail import Memory, Scope
from cuetrail.model import Edge, Node
from cuetrail.store.write import Batch

NOW = 1_768_831_200_000
MANY = 250


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "memory", scope=Scope(user="ada")) as opened:
        opened.add("tunes radios", name="Ada", id="ada", kind="person", now=NOW)
        opened.add(name="Zoe Zed", id="zoe", kind="person", now=NOW)
        yield opened


def crowd(memory: Memory, via: str | None) -> None:
    """Many who have much to do with Ada."""
    nodes = [Node(f"p{n:03}", "person", f"Person{n}", at=NOW, created=NOW, updated=NOW) for n in range(MANY)]
    edges = [Edge(f"e{n:03}", "ada", f"p{n:03}", "relates", 0.9, via=via, updated=NOW) for n in range(MANY)]
    memory.store.write(memory.scope, Batch(nodes=nodes, edges=edges))


def test_a_relationship_that_is_asked_for_is_told_however_many_its_people_have(memory: Memory) -> None:
    crowd(memory, None)
    edge = memory.relate("ada", "zoe", "friend", text="climbed the glacier above Odda together", now=NOW)
    for asked in ({"queries": ["who climbed the glacier?"]}, {"text_matches": ["glacier"]}):
        found = memory.explore(asked.get("queries", ()), text_matches=["Ada", *asked.get("text_matches", ())], now=NOW)
        assert "ada" in [item.node.id for item in found.semantic.people]
        assert found.semantic.relationships[0].edge.id == edge.id


def test_what_dreams_join_takes_no_place_of_what_somebody_stated(memory: Memory) -> None:
    crowd(memory, "name:rule")
    edge = memory.relate("ada", "zoe", "friend", now=NOW)
    found = memory.explore(text_matches=["Ada"], now=NOW)
    assert [one.edge.id for one in found.semantic.relationships] == [edge.id]
    assert memory.brief(now=NOW).relationships == ("Zoe Zed (friend)",)


def test_a_name_is_matched_however_many_others_speak_of_it(memory: Memory) -> None:
    nodes = [Node(f"p{n:03}", "person", f"Person{n}", "Zed Zed Zed", at=NOW) for n in range(MANY)]
    memory.store.write(memory.scope, Batch(nodes=nodes))
    found = memory.explore(text_matches=["Zed"], now=NOW)
    assert [item.node.id for item in found.semantic.people] == ["zoe"]
