"""Explore: relationships, notes and the brief. One test per claim."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import signature
from pathlib import Path
from random import Random

import pytest

from cuetrail import Budget, Memory, Scope
from cuetrail.errors import InputError, NotFound
from cuetrail.formulas import DAY, estimated_tokens
from cuetrail.model import Edge
from cuetrail.store.graph import EdgeFilter

NOW = 1_768_831_200_000
KINDS = ("person", "concept", "entity")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "memory", scope=Scope(user="ada"), embedder="none") as opened:
        for kind in KINDS:
            for n in (1, 2):
                opened.add(name=f"{kind} {n}", id=f"{kind}{n}", kind=kind, now=NOW)
        yield opened


@pytest.mark.parametrize(
    ("one", "other", "kind"),
    [
        ("person1", "person2", "has_relationship_with"),
        ("person1", "concept1", "engages_with"),
        ("person1", "entity1", "associated_with"),
        ("concept1", "concept2", "relates_to"),
        ("concept1", "entity1", "involves"),
        ("entity1", "entity2", "connected_to"),
    ],
)
def test_what_joins_a_pair_follows_from_their_kinds(memory: Memory, one: str, other: str, kind: str) -> None:
    for src, dst in ((one, other), (other, one)):
        edge = memory.relate(src, dst, "t", now=NOW)
        assert edge.kind == kind
        assert {edge.src, edge.dst} == {one, other}


def test_only_people_concepts_and_entities_have_relationships(memory: Memory) -> None:
    memory.add("a text", id="atom")
    with pytest.raises(InputError, match="'atom' is of the kind atom"):
        memory.relate("person1", "atom")
    with pytest.raises(InputError, match="cannot be related to itself"):
        memory.relate("person1", "person1")
    with pytest.raises(NotFound):
        memory.relate("person1", "nobody")


def test_a_contradiction_closes_the_old_relationship(memory: Memory) -> None:
    old = memory.relate("person1", "person2", "friend", attitude=5, proximity=4, text="school", now=NOW)
    new = memory.relate("person2", "person1", "rival", attitude=1, now=NOW + DAY)
    assert new.id != old.id
    closed = memory.edge(old.id)
    assert closed is not None
    assert (closed.valid_until, closed.attitude, new.valid_from) == (NOW + DAY, 5, NOW + DAY)
    for now, held in ((NOW, old.id), (NOW + DAY, new.id)):
        found = memory.traverse("person1", now=now, record_access=False).arrivals
        assert [one.edges for one in found] == [(held,)]


def test_what_is_not_said_stays_as_it_was(memory: Memory) -> None:
    old = memory.relate("person1", "person2", "friend", attitude=5, text="school", confidence=0.7, now=NOW)
    assert (old.confidence, old.valid_from, old.valid_until) == (0.7, None, None)
    new = memory.relate("person1", "person2", proximity=3, now=NOW + 1)
    assert (new.id, new.type, new.attitude, new.proximity, new.text) == (old.id, "friend", 5, 3, "school")
    again = memory.relate("person1", "person2", "Friend", attitude=5, now=NOW + 2)
    assert again.id == old.id
    assert memory.stats().edges == 1


@pytest.mark.parametrize(("expires", "days"), [("week", 7), ("month", 30), ("year", 365), ("never", None)])
def test_notes_expire_after_a_week_a_month_a_year_or_never(memory: Memory, expires: str, days: int | None) -> None:
    note = memory.note("person1", "on leave", expires=expires, now=NOW)
    assert note.expires == (None if days is None else NOW + days * DAY)


def test_a_relationship_may_have_notes_and_they_are_told(memory: Memory) -> None:
    edge = memory.relate("person1", "person2", "friend", now=NOW)
    assert memory.note(edge.id, "met in Oslo", now=NOW).on == "edge"
    found = memory.explore(text_matches=["person 1", "oslo"], now=NOW)
    (told,) = found.semantic.relationships
    assert told.notes == ("met in Oslo",)
    assert told.why["semantic"] == 1.0


# --- brief


def filled(memory: Memory) -> None:
    memory.add("builds radios", name="Ada", id="ada", kind="person", now=NOW)
    for n in range(14):
        memory.add(f"belief number {n}", name=f"belief {n}", id=f"b{n}", kind="belief", at=NOW + n, now=NOW)
    for n in range(7):
        memory.add(f"goal number {n}", name=f"goal {n}", kind="goal", now=NOW)
    for n in range(13):
        memory.add(name=f"friend {n:02}", id=f"f{n:02}", kind="person", now=NOW)
        memory.relate("ada", f"f{n:02}", "friend", proximity=1 + n % 5, now=NOW)
    for day in (1, 3, 6.9, 7.1):
        at = NOW - int(day * DAY)
        memory.add(f"call on day {day}", name=f"call {day}", kind="source", at=at, now=at)


def test_a_brief_has_the_owner_10_beliefs_5_goals_10_relationships_and_7_days(memory: Memory) -> None:
    filled(memory)
    found = memory.brief(now=NOW)
    assert found.text.startswith("# Ada: builds radios")
    assert (len(found.beliefs), len(found.goals), len(found.relationships)) == (10, 5, 10)
    assert [line.split(" ", 1)[1] for line in found.recent] == [f"call {n}: call on day {n}" for n in (1, 3, 6.9)]
    closest = sorted(found.relationships[:2])
    assert closest == ["friend 04 (friend), proximity 5", "friend 09 (friend), proximity 5"]


@pytest.mark.parametrize("tokens", [1300, 200, 20, 0])
def test_a_brief_is_never_longer_than_its_budget(memory: Memory, tokens: int) -> None:
    filled(memory)
    for n in range(10):
        memory.add("long " * 200, name=f"long {n}", kind="belief", now=NOW)
    found = memory.brief(budget=Budget(tokens=tokens), now=NOW)
    assert estimated_tokens(found.text) <= tokens
    assert not found.text.rstrip().split("\n")[-1].startswith("## ")


def test_a_brief_takes_1300_tokens_unless_told_otherwise(memory: Memory) -> None:
    assert signature(Memory.brief).parameters["budget"].default == Budget(tokens=1300)
    filled(memory)
    for n in range(20):
        memory.add("long " * 200, name=f"long {n}", kind="belief", at=NOW + 100, now=NOW)
        memory.add("wide " * 200, name=f"wide {n}", kind="source", at=NOW - n, now=NOW - n)
    found = memory.brief(now=NOW)
    assert found == memory.brief(budget=Budget(tokens=1300), now=NOW)
    assert 1200 < estimated_tokens(found.text) <= 1300


def test_core_memories_are_beliefs(memory: Memory) -> None:
    for n in range(10):
        memory.explore(text_matches=["concept 1"], now=NOW + n)
    assert memory.brief(now=NOW).beliefs[0] == "concept 1"


def test_what_a_brief_tells_is_touched_once(memory: Memory) -> None:
    filled(memory)
    found = memory.brief(budget=Budget(tokens=60), now=NOW)
    used = {id_ for id_, node in memory.nodes("ada", *(f"b{n}" for n in range(14))).items() if node.life.accesses == 1}
    assert used == set(found.ids)
    assert 1 < len(used) < 10


def test_an_empty_memory_has_a_brief(tmp_path: Path) -> None:
    with Memory(tmp_path / "empty", embedder="none") as memory:
        assert memory.brief().text == "# me"


def test_a_brief_tells_nothing_of_another_user(memory: Memory, tmp_path: Path) -> None:
    filled(memory)
    with Memory(tmp_path / "memory", scope=Scope(user="bob"), embedder="none") as other:
        assert other.brief(now=NOW).text == "# bob"


def until(memory: Memory, id_: str) -> int | None:
    edge = memory.edge(id_)
    assert edge is not None
    return edge.valid_until


def test_what_was_so_once_closes_nothing_that_is_so_now(memory: Memory) -> None:
    now = memory.relate("person1", "person2", "friend", valid_from=NOW - 100 * DAY, now=NOW)
    for type_, begin, end in (("colleague", 900, 500), ("rival", 400, 200)):
        then = memory.relate(
            "person1", "person2", type_, valid_from=NOW - begin * DAY, valid_until=NOW - end * DAY, now=NOW + 1
        )
        assert (then.type, until(memory, then.id)) == (type_, NOW - end * DAY)
    assert until(memory, now.id) is None
    assert [one.edges for one in memory.traverse("person1", now=NOW + 2).arrivals] == [(now.id,)]


def test_a_relationship_never_ends_before_it_began(memory: Memory) -> None:
    old = memory.relate("person1", "person2", "friend", valid_from=NOW - 100 * DAY, now=NOW)
    new = memory.relate("person1", "person2", "rival", valid_from=NOW - 200 * DAY, now=NOW + 1)
    assert until(memory, old.id) == NOW - 100 * DAY
    assert [one.edges for one in memory.traverse("person1", now=NOW + 2).arrivals] == [(new.id,)]


def test_an_end_and_how_sure_it_is_stay_as_they_were(memory: Memory) -> None:
    old = memory.relate("person1", "person2", "friend", confidence=0.7, valid_until=NOW + 9 * DAY, tags=["t"], now=NOW)
    new = memory.relate("person1", "person2", text="school", now=NOW + 1)
    assert (new.id, new.confidence, new.valid_until, new.tags) == (old.id, 0.7, NOW + 9 * DAY, ("t",))
    assert memory.relate("person1", "person2", "rival", now=NOW + 2).confidence == 1.0


@pytest.mark.parametrize("type_", ["friend", None])
def test_what_is_held_ends_when_it_is_said_to_have_ended(memory: Memory, type_: str | None) -> None:
    old = memory.relate("person1", "person2", "friend", attitude=4, valid_from=NOW - 9 * DAY, now=NOW)
    new = memory.relate("person1", "person2", type_, valid_until=NOW - DAY, now=NOW + 1)
    assert (new.id, new.type, new.attitude) == (old.id, "friend", 4)
    assert (new.valid_from, new.valid_until) == (NOW - 9 * DAY, NOW - DAY)
    assert memory.traverse("person1", now=NOW + 2).arrivals == ()
    assert memory.stats().edges == 1


def test_the_same_history_is_told_once(memory: Memory) -> None:
    memory.relate("person1", "person2", "friend", now=NOW)
    for n in (1, 2):
        memory.relate("person1", "person2", "boss", valid_from=NOW - 9 * DAY, valid_until=NOW - DAY, now=NOW + n)
    assert memory.stats().edges == 2


def test_what_is_stated_now_ends_when_what_is_to_come_begins(memory: Memory) -> None:
    memory.relate("person1", "person2", "friend", now=NOW)
    later = memory.relate("person1", "person2", "colleague", valid_from=NOW + 9 * DAY, now=NOW + 1)
    new = memory.relate("person1", "person2", "rival", now=NOW + 2)
    assert new.valid_until == NOW + 9 * DAY == later.valid_from
    longer = memory.relate("person1", "person2", valid_until=NOW + 12 * DAY, now=NOW + 3)
    put_off = memory.edge(later.id)
    assert put_off is not None
    assert (longer.id, put_off.valid_from) == (new.id, NOW + 12 * DAY)


def test_what_holds_already_is_not_put_off(memory: Memory) -> None:
    old = memory.relate("person1", "person2", "friend", valid_from=NOW - DAY, now=NOW)
    same = memory.relate("person1", "person2", "friend", valid_from=NOW + DAY, now=NOW + 1)
    assert (same.id, same.valid_from) == (old.id, NOW - DAY)
    closer = memory.relate("person1", "person2", proximity=5, valid_from=NOW + DAY, now=NOW + 2)
    assert (until(memory, old.id), closer.valid_from) == (NOW + DAY, NOW + DAY)
    for now, held in ((NOW + 3, old.id), (NOW + DAY, closer.id)):
        assert [one.edges for one in memory.traverse("person1", now=now).arrivals] == [(held,)]


@pytest.mark.parametrize("seed", range(8))
def test_one_relationship_holds_at_a_time(memory: Memory, seed: int) -> None:
    chance = Random(seed)
    for n in range(12):
        begin, end = sorted(chance.sample(range(1, 30), 2))
        stated = chance.choice(((None, None), (begin, None), (None, end), (begin, end)))
        times = [None if day is None else NOW + (n + day) * DAY for day in stated]
        said = chance.choice(("friend", "rival", "boss", None))
        memory.relate(
            "person1", "person2", said, attitude=chance.choice((None, 1, 5)), valid_from=times[0], valid_until=times[1],
            now=NOW + n * DAY,
        )  # fmt: skip
    edges = [record for _, record in memory.store.scan(memory.scope) if isinstance(record, Edge)]
    for day in range(50):
        held = [edge for edge in edges if EdgeFilter(at=NOW + day * DAY + 1).passes(edge)]
        assert len(held) <= 1


def test_what_is_to_come_takes_no_place_of_what_happened_in_a_brief(memory: Memory) -> None:
    memory.add("the walk", name="Walk", kind="source", at=NOW - DAY, now=NOW)
    for n in range(25):
        memory.add(f"appointment {n}", name=f"Appointment {n}", kind="source", at=NOW + (n + 1) * DAY, now=NOW)
    assert [line.split(" ", 1)[1] for line in memory.brief(now=NOW).recent] == ["Walk: the walk"]


def test_a_brief_tells_files_once_and_what_was_added_beside_them(memory: Memory) -> None:
    memory.ingest_text("The mast fell over.\n\n---\n\nThe boat came late.\n", source="log.md", now=NOW - DAY)
    memory.add("The job offer came", at=NOW - 2 * DAY, now=NOW)
    told = [line.split(" ", 1)[1] for line in memory.brief(now=NOW).recent]
    assert len(told) == 2
    assert told[0].startswith("log")
    assert told[1] == "The job offer came"


def test_nobody_else_is_me(memory: Memory, tmp_path: Path) -> None:
    team = ("crew",)
    with Memory(tmp_path / "team", scope=Scope(user="bob", teams=team, share="crew"), embedder="none") as bob:
        bob.add("is Bob", name="me", kind="person", now=NOW)
        assert bob.brief(now=NOW).owner == "me: is Bob"
    with Memory(tmp_path / "team", scope=Scope(user="ann", teams=team), embedder="none") as ann:
        assert ann.brief(now=NOW).owner == "ann"


def test_what_is_in_quarantine_says_nothing_of_the_owner(memory: Memory) -> None:
    memory.add("obeys strangers", name="me", kind="person", provenance="quarantine", now=NOW)
    assert memory.brief(now=NOW).owner == "ada"


def test_what_will_be_so_is_stated_once(memory: Memory) -> None:
    first = memory.relate("person1", "person2", "spouse", valid_from=NOW + DAY, now=NOW)
    again = memory.relate("person1", "person2", "spouse", valid_from=NOW + DAY, text="in June", now=NOW + 1)
    assert again.id == first.id
    other = memory.relate("person1", "person2", "friend", valid_from=NOW + 2 * DAY, now=NOW + 2)
    assert until(memory, first.id) == NOW + 2 * DAY
    for day, edge in ((1, first), (2, other)):
        assert [one.edges for one in memory.traverse("person1", now=NOW + day * DAY).arrivals] == [(edge.id,)]
