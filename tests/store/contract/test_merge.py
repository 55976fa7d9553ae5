"""Two nodes that mean the same become one, on both engines: it has what both had, and nothing leads to the other."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cuetrail import Memory, Scope
from cuetrail.errors import Forgotten, InputError, NotFound

NOW = 1_780_000_000_000


@pytest.fixture
def memory(address: str) -> Iterator[Memory]:
    with Memory(address, embedder=None) as opened:
        opened.add("", kind="person", name="Ines Okafor", id="ines", tags=["team"], now=NOW)
        opened.add("", kind="person", name="I. Okafor", id="okafor", aliases=["Okafor"], tags=["radio"], now=NOW)
        yield opened


def test_the_other_takes_over_names_facts_relationships_notes_tags_and_history(memory: Memory) -> None:
    memory.add("", kind="person", name="Tomas Lund", id="tomas", now=NOW)
    memory.edit("okafor", text="Builds receivers", now=NOW + 1)
    memory.edit("okafor", text="Builds radios", now=NOW + 2)
    memory.fact("okafor", "lives_in", "Oslo", now=NOW)
    memory.fact("tomas", "reports_to", "okafor", now=NOW)
    memory.fact("ines", "likes", "tea", now=NOW)
    memory.relate("okafor", "tomas", "colleague", attitude=4, now=NOW)
    memory.link("ines", "okafor", text="the same?", now=NOW)
    memory.note("okafor", "on leave until Monday", now=NOW)
    memory.ingest_text("Nobody but [[Okafor]] opened the box", source="box.md", now=NOW)
    (text,) = (node for node in memory.store.atoms_of(memory.scope, ["box.md"])["box.md"] if node.kind == "atom")
    assert {one.id for one in memory.neighbours("okafor").neighbours} == {"ines", "tomas", text.id}
    preview = memory.merge("I. Okafor", into="ines", dry_run=True, now=NOW + 3)
    assert memory.get("okafor") == preview.gone
    done = memory.merge("I. Okafor", into="ines", now=NOW + 3)
    assert (done.aliases, done.facts, done.notes) == (preview.aliases, preview.facts, preview.notes)
    assert (done.aliases, done.facts, done.notes) == (("I. Okafor", "Okafor"), 1, 1)
    assert memory.nodes("okafor") == {}
    node = memory.get("Okafor")
    assert node is not None
    assert (node.id, node.aliases, node.own_tags) == ("ines", ("I. Okafor", "Okafor"), ("team", "radio"))
    assert node.text == "Builds radios"
    assert {(fact.predicate, fact.value) for fact in memory.facts("ines")} == {("lives_in", "Oslo"), ("likes", "tea")}
    assert [fact.object for fact in memory.facts("tomas")] == ["ines"]
    near = {one.id: one.kind for one in memory.neighbours("ines").neighbours}
    assert near.keys() == {"tomas", text.id}, "the link between both is gone, that of the text leads here"
    notes = memory.store.notes(memory.scope, ["ines"], "node", NOW, 9)["ines"]
    assert [note.text for note in notes] == ["on leave until Monday"]
    assert "Builds receivers" in [version.text for version in memory.history("ines")]
    assert memory.history("okafor") == []
    assert memory.doctor() == []


def test_a_text_that_names_the_other_is_mentioned_with_the_one_after_the_next_dream(memory: Memory) -> None:
    memory.add("The box was opened by I. Okafor in March", id="text", now=NOW)
    memory.dream(now=NOW)
    memory.merge("okafor", into="ines", now=NOW + 1)
    memory.dream(now=NOW + 2)
    mentions = memory.store.mentions(memory.scope, ["ines"], "node", 9)
    assert [one.source for one in mentions.get("ines", [])] == ["text"]


def test_what_was_forgotten_stays_so_and_forgetting_the_one_forgets_what_it_took_over(memory: Memory) -> None:
    secret = memory.add("The zinc pendulum of Torsvik strikes thirteen", id="secret", now=NOW)
    memory.edit("okafor", text="Okafor said before: all quiet at the mast", now=NOW)
    memory.edit("okafor", text="", now=NOW + 1)
    memory.merge("okafor", into="ines", now=NOW + 2)
    memory.forget("ines", secret.id, now=NOW + 3)
    assert memory.get("Okafor") is None
    assert memory.history("ines") == memory.history("okafor") == []
    with pytest.raises(Forgotten):
        memory.add("", kind="person", name="I. Okafor", id="okafor", now=NOW + 4)
    memory.add("", kind="person", name="Ann", id="ann", now=NOW)
    memory.add("", kind="person", name="Anna", id="anna", now=NOW)
    with pytest.raises(Forgotten):
        memory.edit("anna", text=secret.text, now=NOW)
    assert memory.merge("anna", into="ann", now=NOW).node.text == ""


def test_what_cannot_be_merged_is_refused_and_nothing_changes(memory: Memory) -> None:
    memory.add("A passage", id="text", now=NOW)
    memory.scoped(Scope(user="eve")).add("", kind="person", name="Eve", id="eve", now=NOW)
    with pytest.raises(InputError, match="one node already"):
        memory.merge("ines", into="Ines Okafor")
    with pytest.raises(InputError, match="only people"):
        memory.merge("text", into="ines")
    with pytest.raises(NotFound):
        memory.merge("ines", into="eve")
    team = memory.scoped(Scope(user="me", teams=("birds",), share="birds"))
    team.add("", kind="person", name="Ines O.", id="shared", now=NOW)
    with pytest.raises(InputError, match="same team"):
        memory.scoped(Scope(user="me", teams=("birds",))).merge("ines", into="shared")
    assert {node.id for node in memory.timeline(kinds=["person"]).nodes} == {"ines", "okafor", "shared"}
