"""The façade: stored memories come back unchanged, and invalid ones are refused with a reason."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cuetrail import Budget, CuetrailError, Memory, Scope
from cuetrail.errors import InputError, NotFound
from cuetrail.model import Node

NOW = 1_700_000_000_000


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "memory", embedder="none") as opened:
        yield opened


def test_what_is_added_comes_back_as_it_was_given(memory: Memory) -> None:
    added = memory.add(
        "Some\r\ntext\x00", id="A0", kind="Decision", name=" The Plan ", aliases=["plan", "plan", " "],
        tags=["#Camp", "camp", " Big Idea "], buckets=["@Work", "home"], source="docs/a.md", at=5,
        provenance="external", props={"k": [1]}, now=NOW,
    )  # fmt: skip
    assert memory.get("A0") == added == memory.get("the plan") == memory.get("PLAN")
    assert (added.text, added.kind, added.name, added.aliases) == ("Some\ntext", "decision", "The Plan", ("plan",))
    assert (added.tags, added.buckets) == (("camp", "big_idea"), ("work", "home"))
    assert [tag.display for tag in added.tag_details] == ["Camp", "Big Idea"]
    assert (added.source, added.at, added.provenance, added.props) == ("docs/a.md", 5, "external", {"k": [1]})
    assert (added.created, added.updated, added.owner) == (NOW, NOW, "me")


def test_the_same_text_is_the_same_memory_and_the_same_name_the_same_thing(memory: Memory) -> None:
    assert memory.add("Once.").id == memory.add("Once.").id != memory.add("Once.", source="a.md").id
    assert memory.add(name="Ada", kind="person").id == memory.add(name=" ada ", kind="person").id
    assert memory.stats().nodes == 3


def test_a_correction_keeps_birth_use_and_history(memory: Memory) -> None:
    memory.add("First words.", id="x", now=NOW)
    memory.recall("first", now=NOW + 1)
    after = memory.add("Second words.", id="x", now=NOW + 2)
    assert (after.created, after.updated, after.life.accesses) == (NOW, NOW + 2, 1)
    assert [(version.text, version.at) for version in memory.history("x")] == [("First words.", NOW + 2)]
    assert memory.recall("first").hits == ()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda m: m.add(""), "nothing to remember"),
        (lambda m: m.add("  \n"), "nothing to remember"),
        (lambda m: m.add("x", id=" "), "id cannot be empty"),
        (lambda m: m.add("x", at=2**62), "milliseconds"),
        (lambda m: m.add("x", provenance="rumour"), "provenance must be"),
        (lambda m: m.link("a", "b", weight=0.2), "weight"),
        (lambda m: m.link("a", "b", weight=1.1), "weight"),
        (lambda m: m.link("a", "b", attitude=6), "attitude"),
        (lambda m: m.link("a", "b", proximity=0), "proximity"),
        (lambda m: m.link("a", "b", confidence=1.5), "confidence"),
        (lambda m: m.fact("a", " ", "x"), "predicate"),
        (lambda m: m.fact("", "is", "x"), "subject"),
        (lambda m: m.fact("a", "is", "x", confidence=-0.1), "confidence"),
        (lambda m: m.link("a", "nobody"), "nobody"),
        (lambda m: m.note("nobody", "x"), "nobody"),
        (lambda m: m.neighbours("nobody"), "nobody"),
        (lambda m: m.recall("x", budget=Budget(chars=1, tokens=1)), "either"),
    ],
)
def test_what_cannot_be_is_refused_with_a_reason_and_changes_nothing(
    memory: Memory, wrong: Callable[[Memory], object], message: str
) -> None:
    memory.add("a", id="a")
    memory.add("b", id="b")
    before = memory.stats()
    with pytest.raises(InputError, match=message):
        wrong(memory)
    assert memory.stats() == before


def test_many_are_added_in_one_go_whatever_their_form(memory: Memory) -> None:
    progress: list[int] = []
    written = memory.add_many(
        ["One.", {"text": "Two.", "tags": ["x"]}, Node("three", text="Three.")],
        progress=lambda _what, done, _total: progress.append(done),
    )
    assert (written.added, written.replaced, progress) == (3, 0, [3])
    assert memory.add_many(["One.", "Four."]).added == 1
    assert memory.stats().nodes == 4


def test_a_link_goes_by_name_and_linking_again_replaces_it(memory: Memory) -> None:
    memory.add(name="Ada", kind="person")
    memory.add(name="JACQ", kind="project")
    first = memory.link("ada", "jacq", weight=0.5, tags=["#Works"], text="since May", attitude=4, now=NOW)
    assert (first.tags, first.text, first.attitude, first.weight) == (("works",), "since May", 4, 0.5)
    second = memory.link("Ada", "JACQ", weight=0.9, now=NOW + 1)
    assert (second.id, second.created, second.weight) == (first.id, NOW, 0.9)
    assert memory.neighbours("Ada").degree == 1
    memory.link("Ada", "JACQ", kind="likes")
    assert memory.neighbours("JACQ").degree == 2
    assert memory.edge("nothing") is None


def test_a_fact_takes_names_for_what_they_mean_and_other_words_as_they_are(memory: Memory) -> None:
    memory.add(name="DuckDB", kind="concept", id="duck")
    fact = memory.fact("JACQ", "Uses Engine", "duckdb", now=NOW)
    assert (fact.predicate, fact.object, fact.value, fact.status) == ("uses_engine", "duck", None, "confirmed")
    literal = memory.fact("jacq", "status", "paused", confidence=0.4, source="conversation")
    assert (literal.subject, literal.value, literal.status) == (fact.subject, "paused", "staged")
    assert [f.id for f in memory.facts("JACQ")] == [fact.id, literal.id]
    assert memory.facts("nobody") == []
    subject = memory.get("JACQ")
    assert subject is not None
    assert subject.kind == "entity"


def test_reading_counts_as_use_once_unless_told_otherwise(memory: Memory) -> None:
    memory.add("About tea.", id="x")
    memory.recall("tea", now=NOW)
    memory.recall("tea", record_access=False)
    memory.recall("tea", now=NOW + 10)
    node = memory.get("x")
    assert node is not None
    assert (node.life.accesses, node.life.last_access, node.life.interval) == (2, NOW + 10, 10)


def test_nothing_found_is_said_and_not_padded(memory: Memory) -> None:
    memory.add("About tea.")
    found = memory.recall("submarine #tea")
    assert (found.answerable, found.hits, found.text) == (False, (), "")
    assert found.looked_for == ("submarine", "#tea")


def test_a_scope_must_name_someone_and_may_share_only_with_its_teams(tmp_path: Path) -> None:
    for scope in (Scope(user=""), Scope(tenant=""), Scope(share="strangers")):
        with pytest.raises(InputError):
            Memory(tmp_path / "m", scope=scope)


def test_users_do_not_see_each_other_and_teams_do(tmp_path: Path) -> None:
    def opened(user: str, *teams: str, share: str | None = None, tenant: str = "t") -> Memory:
        return Memory(tmp_path / "m", scope=Scope(tenant, user, teams, share), embedder="none")

    with opened("ada", "crew", share="crew") as ada:
        ada.add("Shared about tea.", id="shared")
    with opened("ada", "crew") as ada:
        ada.add("Private about tea.", id="private")
        assert {hit.node.id for hit in ada.recall("tea").hits} == {"shared", "private"}
    with opened("bob", "crew") as bob:
        assert {hit.node.id for hit in bob.recall("tea").hits} == {"shared"}
        assert bob.get("private") is None
        with pytest.raises(NotFound):
            bob.note("private", "x")
    with opened("eve") as eve, opened("ada", "crew", tenant="elsewhere") as stranger:
        assert eve.recall("tea").hits == stranger.recall("tea").hits == ()
        assert eve.stats().nodes == stranger.stats().nodes == 0


def test_an_address_that_is_no_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for address in (tmp_path / "file", "gopher://x"):
        with pytest.raises(CuetrailError, match="director"):
            Memory(address, embedder="none")


def test_two_open_memories_see_each_others_writes_at_once(memory: Memory) -> None:
    with Memory(memory.address, embedder="none") as other:
        other.add("About tea.", id="x")
        assert [hit.node.id for hit in memory.recall("tea").hits] == ["x"]
        memory.forget("x")
        assert other.recall("tea").hits == ()


def test_an_edge_can_be_removed_by_who_made_it(tmp_path: Path) -> None:
    ann, ben = Scope("t", "ann", ("red",), "red"), Scope("t", "ben", ("red",))
    with Memory(tmp_path, scope=ann, embedder=None) as mine, Memory(tmp_path, scope=ben, embedder=None) as his:
        mine.add("one", id="a")
        mine.add("two", id="b")
        edge = mine.link("a", "b", weight=0.5)
        with pytest.raises(NotFound, match="a teammate's"):
            his.unlink(edge.id)
        assert mine.unlink(edge.id) == [edge.id]
        assert mine.neighbours("a").degree == 0
        with pytest.raises(NotFound, match="no edge"):
            mine.unlink(edge.id)
        assert mine.unlink() == []
