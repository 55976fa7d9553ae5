"""The default recall follows names: from the cue, and from what it finds, to memories that share no word with it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cuetrail import Budget, Memory, Scope
from cuetrail.trail.naming import names_said, says

ROOM = Budget(chars=1 << 20)
WORDS = ["Thunder Hill", "Hans Salter", "organ", "Vienna", "composer", "film", "the", "of", "born"]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path, embedder=None) as opened:
        yield opened


def films(memory: Memory) -> None:
    memory.add("A film of 1951 with music by Hans J. Salter.", name="Thunder on the Hill", id="film")
    memory.add("He grew up in Vienna and played the organ.", name="Hans J. Salter", id="composer")
    memory.add("A salter makes salt from sea water.", name="Salter", id="trade")
    memory.add("Rain is likely tomorrow.", name="Forecast", id="rain")


def ids(memory: Memory, cue: str, **more: object) -> list[str]:
    return [hit.node.id for hit in memory.recall(cue, budget=ROOM, **more).hits]  # type: ignore[arg-type]


def test_whom_a_found_memory_names_is_found_without_a_word_of_the_cue(memory: Memory) -> None:
    films(memory)
    assert ids(memory, "Where is the author of the music of Thunder on the Hill from?")[:2] == ["film", "composer"]


def test_who_says_the_name_of_what_the_cue_names_is_found(memory: Memory) -> None:
    memory.add("A storm in 1890 took its roof.", name="Fort Deposit, Alabama", id="town")
    memory.add("The county of Fort Deposit is Lowndes.", id="county")
    found = memory.recall("Fort Deposit", budget=ROOM)
    assert {hit.node.id for hit in found.hits} == {"town", "county"}
    assert "named" in next(hit for hit in found.hits if hit.node.id == "town").why["found_by"]


def test_part_of_a_longer_name_leads_nowhere(memory: Memory) -> None:
    films(memory)
    assert "trade" not in ids(memory, "Where is the author of the music of Thunder on the Hill from?")


def test_the_reason_tells_from_where_and_by_what_a_memory_was_reached(memory: Memory) -> None:
    films(memory)
    hits = memory.recall("Where was the music of Thunder on the Hill made?", budget=ROOM).hits
    why = next(hit for hit in hits if hit.node.id == "composer").why
    assert {name: why["path"][0][name] for name in ("src", "kind", "dst")} == {
        "src": "film", "kind": "name", "dst": "composer",
    }  # fmt: skip
    assert why["path"][0]["energy"] > 0
    assert why["parts"]["walk"] > 0
    assert "walk" in why["found_by"]


def test_filters_hold_where_names_lead(memory: Memory) -> None:
    memory.add("A film with music by Hans J. Salter.", name="Thunder on the Hill", id="film", tags=["art"])
    memory.add("He grew up in Vienna.", name="Hans J. Salter", id="composer")
    memory.add("He led a band.", name="Hans J. Salter", id="other", tags=["art"])
    assert set(ids(memory, "#art Thunder on the Hill music")) == {"film", "other"}


def test_names_of_others_lead_nowhere(tmp_path: Path) -> None:
    with (
        Memory(tmp_path, embedder=None, scope=Scope(user="ann")) as ann,
        Memory(tmp_path, embedder=None, scope=Scope(user="bob")) as bob,
    ):
        ann.add("A film with music by Hans J. Salter.", name="Thunder on the Hill", id="film")
        bob.add("He grew up in Vienna.", name="Hans J. Salter", id="composer")
        assert ids(ann, "music of Thunder on the Hill") == ["film"]


def test_what_a_question_quotes_is_a_name_and_what_is_quoted_alone_a_condition(memory: Memory) -> None:
    films(memory)
    assert ids(memory, 'where did the composer of the music of "Thunder on the Hill" grow up')[0] == "film"
    assert "composer" in ids(memory, 'where did the composer of the music of "Thunder on the Hill" grow up')
    assert ids(memory, '"grew up in Vienna"') == ["composer"]
    assert ids(memory, '"grew up in Thunder"') == []


def test_a_neighbour_in_a_conversation_is_found_with_what_it_answers(memory: Memory, tmp_path: Path) -> None:
    chat = tmp_path / "chat.md"
    chat.write_text("Which antenna shall we take?\n\nThe short one.\n\nUnrelated words stand here.\n", "utf-8")
    memory.ingest(chat)
    texts = [hit.node.text for hit in memory.recall("antenna", budget=ROOM).hits]
    assert texts[:2] == ["Which antenna shall we take?", "The short one."]


def test_a_cue_that_finds_nothing_follows_nothing(memory: Memory) -> None:
    films(memory)
    found = memory.recall("zeppelin", budget=ROOM)
    assert (found.hits, found.answerable) == ((), False)


@given(
    texts=st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join), max_size=8), data=st.data()
)
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_scores_are_between_0_and_1_and_in_order_and_the_same_twice(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], data: st.DataObject
) -> None:
    with Memory(tmp_path_factory.mktemp("m"), embedder=None) as memory:
        for number, text in enumerate(texts):
            memory.add(text, name=data.draw(st.sampled_from([None, *WORDS[:4]])), id=f"n{number}", now=number)
        cue = data.draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join))
        first, again = (memory.recall(cue, budget=ROOM, record_access=False, now=99) for _ in range(2))
    assert first == again
    scores = [hit.score for hit in first.hits]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


def test_a_text_names_what_is_written_as_a_name() -> None:
    said = names_said("In 1950 Albert S. Rogell met the Duke of York's aunt. He sang (Frank Morgan wept).")
    assert {"albert s. rogell", "duke of york", "frank morgan"} <= said
    assert not {"albert", "morgan", "frank", "york's aunt. he"} & said
    assert says("Lina Wertmüller made it", "lina wertmüller")
    assert not says("Frank Morgan", "frank")
