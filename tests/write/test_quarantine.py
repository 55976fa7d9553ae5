"""Quarantine sets memories aside and restores them without loss, also if their file is ingested again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from cuetrail import Memory, Node, Scope
from cuetrail.errors import NotFound
from cuetrail.model import Provenance
from cuetrail.model.records import FORMER


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "m", embedder=None) as opened:
        yield opened


def get(memory: Memory, id_: str) -> Node:
    node = memory.get(id_)
    assert node is not None
    return node


@pytest.mark.parametrize("provenance", ["internal", "external"])
def test_a_node_comes_back_as_it_was(memory: Memory, provenance: Provenance) -> None:
    memory.add("A kite", id="a", tags=["Sky"], buckets=["field"], provenance=provenance, props={"role": "toy"}, now=1)
    memory.add("A cloud", id="b", now=1)
    memory.link("a", "b", weight=0.6)
    memory.fact("a", "is", "red")
    memory.recall("kite", now=5)
    before = get(memory, "a")
    (moved,) = memory.quarantine("a", now=7)
    assert (moved.provenance, moved.props[FORMER]) == ("quarantine", provenance)
    assert get(memory, "a") == replace(moved, life=before.life)
    assert not memory.recall("kite").answerable
    assert memory.recall("kite", include_quarantined=True, record_access=False).answerable
    (back,) = memory.quarantine("a", undo=True, now=9)
    assert get(memory, "a") == replace(before, updated=9)
    assert [fact.value for fact in memory.facts("a")] == ["red"]
    assert memory.neighbours("a").degree == 1
    assert memory.history("a") == []
    assert back.provenance == provenance


def test_what_is_so_already_is_left_alone(memory: Memory) -> None:
    memory.add("A kite", id="a", now=1)
    assert memory.quarantine("a", undo=True, now=2) == []
    memory.quarantine("a", now=3)
    assert memory.quarantine("a", now=4) == []
    assert get(memory, "a").props == {FORMER: "internal"}


def test_what_came_in_quarantined_is_external_once_it_is_trusted(memory: Memory) -> None:
    memory.add("A kite", id="a", provenance="quarantine", now=1)
    memory.quarantine("a", undo=True, now=2)
    assert get(memory, "a").provenance == "external"


def test_an_unknown_one_or_somebody_elses_is_an_error_and_nothing_moves(tmp_path: Path) -> None:
    with Memory(tmp_path, embedder=None, scope=Scope(user="ann", teams=("ops",), share="ops")) as ann:
        ann.add("A kite", id="a", now=1)
    with Memory(tmp_path, embedder=None, scope=Scope(user="bob", teams=("ops",))) as bob:
        bob.add("A cloud", id="b", now=1)
        with pytest.raises(NotFound, match="only its owner can move it"):
            bob.quarantine("b", "a")
        with pytest.raises(NotFound, match="there is no node"):
            bob.quarantine("b", "nobody")
        with pytest.raises(NotFound, match="nothing in this scope came from"):
            bob.quarantine(source="nowhere.md")
        assert get(bob, "b").provenance == "internal"


def test_a_shared_node_is_moved_where_it_is(tmp_path: Path) -> None:
    with Memory(tmp_path, embedder=None, scope=Scope(user="ann", teams=("ops",), share="ops")) as ann:
        ann.add("A kite", id="a", now=1)
    with Memory(tmp_path, embedder=None, scope=Scope(user="ann", teams=("ops",))) as ann:
        ann.quarantine("a", now=2)
        assert (get(ann, "a").team, get(ann, "a").provenance) == ("ops", "quarantine")
        assert ann.stats().nodes == 1


def test_a_file_is_set_aside_and_stays_so_when_it_is_edited(memory: Memory, tmp_path: Path) -> None:
    note = tmp_path / "note.md"
    note.write_text("One about kites.\n\n---\n\nTwo about clouds.\n")
    memory.ingest(note, now=1)
    source = memory.recall("kites", record_access=False).hits[0].node.source
    moved = memory.quarantine(source=source, now=2)
    assert sorted(node.text for node in moved if node.text) == ["One about kites.", "Two about clouds."]
    note.write_text("Zero.\n\n---\n\nOne about kites.\n\n---\n\nTwo about clouds.\n")
    memory.ingest(note, now=3)
    assert not memory.recall("kites").answerable
    assert memory.recall("kites", include_quarantined=True, record_access=False).answerable
    assert memory.recall("zero").answerable
    memory.quarantine(source=source, undo=True, now=4)
    hit = memory.recall("kites", record_access=False).hits[0]
    assert (hit.node.provenance, FORMER in hit.node.props) == ("internal", False)
    memory.ingest(note, now=5)
    assert memory.recall("kites", record_access=False).answerable
