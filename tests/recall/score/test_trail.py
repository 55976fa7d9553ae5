"""What each signal of the default recall says and does not say: of names that many carry, of words that may be none, of
who said it, and of what stands around it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from cuetrail import Budget, Memory
from cuetrail.recall import recipes
from cuetrail.recall.trail_constants import Trail

ROOM = Budget(chars=1 << 20)
Reasons = dict[str, Mapping[str, Any]]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "memory", embedder=None) as opened:
        yield opened


def reasons(memory: Memory, cue: str, **more: Any) -> Reasons:
    """Why each hit was found, in their order."""
    return {hit.node.id: hit.why for hit in memory.recall(cue, budget=ROOM, limit=60, **more).hits}


def part(found: Reasons, id_: str, name: str) -> float:
    return float(found[id_]["parts"].get(name, 0.0))


def hops(why: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(hop["src"], hop["kind"]) for hop in why["path"]]


@pytest.mark.parametrize(("carriers", "reached"), [(5, 5), (6, 0)])
def test_a_name_in_a_text_that_more_than_five_carry_leads_to_none_of_them(
    memory: Memory, carriers: int, reached: int
) -> None:
    memory.add("A film with music by Hans Salter.", id="film")
    for number in range(carriers):
        memory.add(f"Born in {1900 + number}.", name="Hans Salter", id=f"one {number}")
    assert len(reasons(memory, "which film has music?")) == 1 + reached


def test_the_fewer_carry_a_name_the_more_energy_goes_to_each(memory: Memory) -> None:
    memory.add("A film with Hans Salter, Ann Gale.", id="film")
    for id_, name in (("one", "Hans Salter"), ("other", "Hans Salter"), ("only", "Ann Gale")):
        memory.add("Born in Vienna.", name=name, id=id_)
    found = reasons(memory, "which film?")
    assert part(found, "only", "walk") > part(found, "one", "walk") == part(found, "other", "walk") > 0


def test_a_text_leads_to_whose_name_goes_on_behind_what_it_says(memory: Memory) -> None:
    memory.add("The storm reached Fort Deposit first.", id="storm")
    memory.add("It has a church.", name="Fort Deposit, Alabama", id="town")
    assert hops(reasons(memory, "what did the storm reach?")["town"]) == [("storm", "name")]


def test_a_start_leads_to_who_says_its_name(memory: Memory) -> None:
    memory.add("Tracks geese, geese and geese.", name="Wingbeat", id="wingbeat")
    memory.add("We took Wingbeat to the lake.", id="saying")
    assert hops(reasons(memory, "geese at the lake")["saying"]) == [("wingbeat", "name")]


def test_neighbours_of_all_strong_hits_are_looked_at_not_only_of_the_first_five(memory: Memory, tmp_path: Path) -> None:
    for number in range(9):
        note = tmp_path / f"{number}.md"
        note.write_text(f"Which antenna is for mast {number}?\n\n---\n\nThe short one, {number + 20}.\n", "utf-8")
        memory.ingest(note)
    texts = {hit.node.text for hit in memory.recall("antenna", budget=ROOM, limit=60).passages}
    assert {f"The short one, {number + 20}." for number in range(9)} <= texts


def test_what_has_a_word_of_the_cue_is_direct_and_what_was_come_to_without_one_is_not(memory: Memory) -> None:
    memory.add("A film with music by Hans Salter.", name="Thunder on the Hill", id="film")
    memory.add("He grew up in Vienna.", name="Hans Salter", id="composer")
    found = memory.recall("who made the music of Thunder on the Hill?", budget=ROOM)
    assert {hit.node.id: found.is_direct(hit) for hit in found.hits} == {"film": True, "composer": False}


def test_what_only_its_meaning_found_is_direct(tmp_path: Path) -> None:
    with Memory(tmp_path) as memory:
        memory.add("The dog barked at the cat", id="near")
        found = memory.recall("puppies and kittens", budget=ROOM)
    assert [(hit.node.id, hit.why["found_by"], found.is_direct(hit)) for hit in found.hits] == [
        ("near", ["vector"], True)
    ]


def test_who_said_it_counts_where_the_cue_names_a_speaker(memory: Memory) -> None:
    for speaker in ("Melanie Reed", "Caroline Hart"):
        memory.add("I love pottery", id=speaker, props={"speaker": speaker}, at=0)
    for name in ("Melanie", "Caroline"):
        found = reasons(memory, f"What did {name} say about pottery?")
        first, second = found
        assert first.startswith(name)
        assert (part(found, first, "spoken"), part(found, second, "spoken")) == (1.0, 0.0)


def test_a_conversation_that_says_more_of_the_cue_lifts_what_stands_in_it(memory: Memory, tmp_path: Path) -> None:
    said = {
        "long": ["The bowl is done", "We went to the workshop", "My kids made pottery"],
        "short": ["The bowl is done", "We went to the lake", "My cousins swam"],
    }
    for chat, turns in said.items():
        file = tmp_path / f"{chat}.jsonl"
        file.write_text("".join(f'{{"role": "user", "content": "{text}"}}\n' for text in turns), "utf-8")
        memory.ingest(file)
    hits = memory.recall("which pottery bowl did the kids make at the workshop?", budget=ROOM).passages
    more, less = (hit for hit in hits if "bowl" in hit.node.text)
    assert "long.jsonl" in (more.node.source or "")
    for name in ("whole", "place"):
        assert more.why["parts"][name] > less.why["parts"][name] > 0


def test_a_second_hop_goes_to_what_says_what_the_cue_asks_beyond_names_and_the_start_does_not(memory: Memory) -> None:
    memory.add("Its church was built by Hans Salter.", name="Fort Deposit", id="town")
    memory.add("Hans Salter tuned the organ.", id="asked")
    memory.add("Hans Salter walked to Fort Deposit.", id="not asked")
    for number in range(9):
        memory.add(f"Society {number} stands apart.", name=f"Society {number}")
    found = reasons(memory, "Which organ has Fort Deposit?")
    assert part(found, "not asked", "hop") == 0
    assert part(found, "asked", "hop") > 0
    # It is the best that fits, and says all that the start does not.
    assert part(found, "asked", "left") == pytest.approx(part(found, "asked", "hop"))


def test_the_rarer_the_name_that_two_share_the_more_it_leads_on(memory: Memory) -> None:
    memory.add("Its church was built by Hans Salter and Ann Gale.", name="Fort Deposit", id="town")
    memory.add("Hans Salter tuned the organ.", id="rare")
    memory.add("Ann Gale tuned the organ.", id="common")
    for number in range(9):
        memory.add(f"Ann Gale saw house {number} at Fort Deposit.", id=f"house {number}")
    found = reasons(memory, "Which organ has Fort Deposit?")
    assert part(found, "rare", "left") > part(found, "common", "left") > 0


def test_a_name_in_small_letters_is_less_sure_to_be_one(memory: Memory) -> None:
    memory.add("He grew up in Vienna.", name="Salter", id="salter")
    assert part(reasons(memory, "where is Salter from?"), "salter", "named") == 1.0
    assert 0 < part(reasons(memory, "where is salter from?"), "salter", "named") < 0.5


def test_a_name_that_very_many_carry_names_none_of_them(memory: Memory) -> None:
    for number in range(21):
        memory.add(f"Born in {1900 + number}.", name="Hans Salter", id=f"one {number}")
    assert not any("named" in why["found_by"] for why in reasons(memory, "where is Hans Salter from?").values())
    memory.forget("one 0")
    assert all("named" in why["found_by"] for why in reasons(memory, "where is Hans Salter from?").values())


def test_of_two_names_in_a_cue_the_one_that_fewer_say_counts_more(memory: Memory) -> None:
    memory.add("A city.", name="Vienna", id="city")
    memory.add("A composer.", name="Hans Salter", id="composer")
    for number in range(9):
        memory.add(f"House {number} stands in Vienna.", id=f"house {number}")
    found = reasons(memory, "Was Hans Salter in Vienna?")
    assert part(found, "composer", "named") == 1.0 > part(found, "city", "named") > 0


def test_words_and_meaning_may_be_blended_by_ranks(memory: Memory) -> None:
    for number in range(3):
        memory.add(f"{'goose ' * (5 - number)}{'rain ' * (40 * number)}", id=f"n{number}")
    found = reasons(memory, "goose", recipe=recipes.trail(Trail(fusion="ranks")))
    assert [part(found, f"n{place}", "blend") for place in range(3)] == pytest.approx([1.0, 61 / 62, 61 / 63])
    assert part(reasons(memory, "goose"), "n2", "blend") < 61 / 63


def test_the_surer_a_fact_the_more_energy_goes_along_it(memory: Memory) -> None:
    memory.add("Tracks geese.", name="Wingbeat", id="wingbeat")
    for id_, confidence in (("sure", 0.9), ("unsure", 0.3)):
        memory.add("A library in C.", name=id_, id=id_)
        memory.fact("wingbeat", "uses", id_, confidence=confidence)
    found = reasons(memory, "what about Wingbeat?")
    assert part(found, "sure", "walk") > part(found, "unsure", "walk") > 0


def test_a_tag_that_is_a_condition_of_the_cue_leads_nowhere_as_all_share_it(memory: Memory) -> None:
    memory.add("The receiver falls silent.", id="start", tags=["radio", "frost"])
    memory.add("Sleeves hold.", id="all share", tags=["radio"])
    memory.add("Crimped sleeves hold longer.", id="some share", tags=["radio", "frost"])
    assert list(reasons(memory, "#radio receiver")) == ["start", "some share"]


def test_what_says_more_of_the_cue_covers_more_of_it(memory: Memory) -> None:
    memory.add("A bowl of pottery from the workshop", id="all")
    memory.add("Bowl, bowl, bowl", id="one word")
    memory.add("The rain fell", id="none")
    found = reasons(memory, "pottery bowl workshop")
    assert part(found, "all", "cover") == 1.0 > part(found, "one word", "cover") > 0


def test_bare_names_take_no_place_among_the_best_from_which_the_second_hop_goes(memory: Memory) -> None:
    for name in ("Ann", "Ben", "Cleo", "Dora", "Emil"):
        memory.add("", kind="person", name=name)
    memory.add("A film with music by Hans Salter.", id="film")
    memory.add("Hans Salter grew up by the sea.", id="home")
    found = reasons(memory, "Did Ann, Ben, Cleo, Dora or Emil see the film whose composer lived by the sea?")
    assert part(found, "home", "left") > 0


def test_memories_at_one_position_of_a_source_all_count(memory: Memory) -> None:
    for id_, text in (("a", "The kite is red."), ("b", "The kite flew."), ("c", "The kite fell.")):
        memory.add(text, id=id_, source="chat", seq=4)
    memory.add("Ann waved.", id="d", source="chat")
    found = reasons(memory, "which kite?")
    assert all(part(found, id_, "place") == part(found, "a", "place") > 0 for id_ in "bc")
    assert part(found, "d", "near") > 0 == part(found, "a", "near")
