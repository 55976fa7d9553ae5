"""Explore: storylines, macros and summaries of sources. One test per claim."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cuetrail import Memory, Node, Scope
from cuetrail.formulas import DAY
from tests.dream.tools import edges
from tests.systems.axes import Axes

NOW = 1_768_831_200_000
# A Monday, at midnight.
START = NOW // DAY * DAY


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "memory", embedder="none") as opened:
        yield opened


def anchor(memory: Memory, name: str = "Ada Lovelace", used: bool = True) -> None:
    memory.add(name=name, id=name, kind="person", now=START)
    if used:
        memory.explore(text_matches=[name], now=START)


def tell(memory: Memory, *days: float, about: str = "Ada Lovelace", start: int = 0) -> None:
    """A source on each of these days that names somebody."""
    for number, day in enumerate(days, start):
        text = f"{about} spoke of the mill number {number} on the {day:g}th day."
        memory.add(text, id=f"{about}-{day:g}", at=START + int(day * DAY), now=START + int(day * DAY))


def night(memory: Memory, day: float) -> dict[str, int]:
    report = memory.dream(now=START + int(day * DAY))
    return {one.name: one.wrote + one.removed for one in report.passes}


def stories(memory: Memory, kind: str = "storyline") -> list[Node]:
    found = [
        record for _, record in memory.store.scan(memory.scope) if isinstance(record, Node) and record.kind == kind
    ]
    return sorted(found, key=lambda node: (node.at, node.id))


def children(memory: Memory, story: Node) -> list[str]:
    return sorted(src for src, dst in edges(memory, "part_of") if dst == story.id)


def counts(memory: Memory) -> list[int]:
    return [len(children(memory, story)) for story in stories(memory)]


@pytest.mark.parametrize(
    ("days", "made"),
    [
        ((0, 1, 2, 3, 4), 1),
        ((0, 1, 2, 4), 0),  # four sources
        ((0, 0.1, 0.2, 4, 4.1), 0),  # two days
        ((0, 0.5, 1, 2, 3), 0),  # three days and no more
        ((0, 0.5, 1, 2, 3.1), 1),
    ],
)
def test_a_storyline_needs_5_sources_on_3_days_over_more_than_3(
    memory: Memory, days: Sequence[float], made: int
) -> None:
    anchor(memory)
    tell(memory, *days)
    night(memory, 6)
    assert counts(memory) == [len(days)] * made


def test_only_what_somebody_has_used_is_an_anchor(memory: Memory) -> None:
    anchor(memory, used=False)
    tell(memory, 0, 1, 2, 3, 4)
    night(memory, 5)
    assert stories(memory) == []
    memory.explore(text_matches=["Ada Lovelace"], now=START + 6 * DAY)
    night(memory, 6)
    assert counts(memory) == [5]


@pytest.mark.parametrize(
    ("kind", "made"), [("person", 1), ("concept", 1), ("entity", 1), ("project", 1), ("artifact", 0), ("note", 0)]
)
def test_an_anchor_is_or_counts_as_a_person_a_concept_or_an_entity(memory: Memory, kind: str, made: int) -> None:
    memory.add(name="Ada Lovelace", id="Ada Lovelace", kind=kind, now=START)
    memory.store.touch(memory.scope, ["Ada Lovelace"], START)
    tell(memory, 0, 1, 2, 3, 4)
    night(memory, 5)
    assert counts(memory) == [5] * made


def test_an_anchor_in_the_archive_begins_no_storyline(memory: Memory) -> None:
    anchor(memory)
    night(memory, 500)
    assert memory.nodes("Ada Lovelace")["Ada Lovelace"].life.state == "archived"
    tell(memory, 500, 501, 502, 503, 504)
    night(memory, 505)
    assert stories(memory) == []


def test_a_storyline_takes_the_sources_that_are_in_none_yet(memory: Memory) -> None:
    for name in ("Ada", "Bob"):
        anchor(memory, name)
    tell(memory, 0, 1, 2, 3, 4, about="Ada and Bob")
    tell(memory, 5, about="Ada")
    night(memory, 6)
    # Six sources name Ada and five Bob; hers comes first, and none is left for his.
    assert [(story.props["anchor"], len(children(memory, story))) for story in stories(memory)] == [("Ada", 6)]
    tell(memory, 10, 11, 12, 13, 14, about="Bob")
    night(memory, 15)
    told = {story.props["anchor"]: len(children(memory, story)) for story in stories(memory)}
    assert told == {"Ada": 6, "Bob": 5}


def test_later_sources_join_it_and_no_second_one_is_begun(memory: Memory) -> None:
    anchor(memory)
    tell(memory, 0, 1, 2, 3, 4)
    night(memory, 5)
    tell(memory, 40, 41, 100, start=10)
    night(memory, 101)
    assert counts(memory) == [8]
    (story,) = stories(memory)
    assert (story.at, story.props["end"], story.props["sources"]) == (START, START + 100 * DAY, 8)


def test_it_closes_after_90_days_of_silence_and_another_may_begin(memory: Memory) -> None:
    anchor(memory)
    tell(memory, 0, 1, 2, 3, 4)
    night(memory, 93)
    assert stories(memory)[0].props["open"] is True
    night(memory, 94)
    assert stories(memory)[0].props["open"] is False
    tell(memory, 120, 121, 122, 123, start=10)
    night(memory, 124)
    assert counts(memory) == [5]
    tell(memory, 125, start=20)
    night(memory, 126)
    assert counts(memory) == [5, 5]


def test_it_comes_to_the_same_in_one_dream_as_in_many(tmp_path: Path) -> None:
    found = []
    days = [0, 1, 2, 3, 4, 30, 150, 151, 152, 153, 154.5]
    for name, nights in (("one", [160]), ("many", range(1, 161))):
        with Memory(tmp_path / name, embedder="none") as memory:
            anchor(memory)
            pending = list(days)
            for last in nights:
                tell(memory, *[day for day in pending if day < last])
                pending = [day for day in pending if day >= last]
                night(memory, last)
            found.append([(story.at, children(memory, story)) for story in stories(memory)])
    assert found[0] == found[1]
    assert [len(some) for _, some in found[0]] == [6, 5]


gaps = st.sampled_from((0.5, 1.0, 3.0, 40.0, 89.0, 90.0, 91.0))


@settings(max_examples=10)
@given(st.lists(st.tuples(gaps, st.booleans()), min_size=5, max_size=16))
def test_whichever_nights_are_dreamt_the_storylines_and_macros_are_the_same(script: list[tuple[float, bool]]) -> None:
    found = []
    for often in (True, False):
        with tempfile.TemporaryDirectory() as place, Memory(place, embedder="none") as memory:
            # What nobody uses fades, and then it is no anchor.
            memory.add(name="Ada Lovelace", id="Ada Lovelace", kind="person", retention="keep_forever", now=START)
            memory.explore(text_matches=["Ada Lovelace"], now=START)
            day = 0.0
            for number, (gap, dreams) in enumerate(script):
                day += gap
                tell(memory, day, start=number)
                if often and dreams:
                    night(memory, day + 0.25)
            night(memory, day + 1)
            assert set(night(memory, day + 1).values()) == {0}
            told = [*stories(memory), *stories(memory, "macro")]
            found.append([(one.id, children(memory, one), one.name, one.text, one.at, one.props) for one in told])
    assert found[0] == found[1]


def test_two_storylines_of_an_anchor_are_a_macro(memory: Memory) -> None:
    anchor(memory)
    tell(memory, 0, 1, 2, 3, 4)
    night(memory, 40)
    assert stories(memory, "macro") == []
    tell(memory, 100, 101, 102, 103, 104, start=10)
    night(memory, 105)
    (macro,) = stories(memory, "macro")
    assert children(memory, macro) == sorted(story.id for story in stories(memory))
    assert macro.name == "Ada Lovelace, January 2026 to May 2026"
    assert edges(memory, "about").keys() >= {(macro.id, "Ada Lovelace")}


def test_a_macro_goes_as_far_as_its_storylines_though_they_tell_no_more(memory: Memory) -> None:
    anchor(memory)
    tell(memory, *range(5), *range(100, 105))
    memory.dream(teller=lambda subject, _: f"of {subject}", now=START + 106 * DAY)
    tell(memory, 140)
    memory.dream(teller=lambda subject, _: f"of {subject}", now=START + 141 * DAY)
    (macro,) = stories(memory, "macro")
    assert macro.props["end"] == stories(memory)[1].props["end"] == START + 140 * DAY
    assert macro.name == "Ada Lovelace, January 2026 to June 2026"


def test_a_macro_waits_until_the_first_mention_is_more_than_30_days_ago(memory: Memory) -> None:
    anchor(memory)
    # What is said to be of later comes in at once.
    tell(memory, *range(5), *range(100, 105))
    night(memory, 30)
    assert (len(stories(memory)), stories(memory, "macro")) == (2, [])
    night(memory, 30.1)
    assert len(stories(memory, "macro")) == 1


def test_a_second_dream_of_any_night_writes_nothing(memory: Memory) -> None:
    anchor(memory)
    for last in (5, 40, 94, 190, 200):
        tell(memory, *range(last - 5, last), start=last)
        night(memory, last)
        assert set(night(memory, last).values()) == {0}
    assert stories(memory, "macro")


def test_a_source_counts_once_however_often_it_names_somebody(memory: Memory) -> None:
    anchor(memory)
    for day in range(4):
        memory.ingest_text(
            "Ada Lovelace came.\n\nAda Lovelace left.\n\nAda Lovelace wrote.", source=f"chat{day}.md",
            now=START + day * 2 * DAY,
        )  # fmt: skip
    night(memory, 9)
    assert stories(memory) == []


def test_of_several_storylines_a_source_joins_the_most_alike(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory", embedder=Axes()) as memory:
        for name, word in (("Ada", "radio"), ("Bob", "bread")):
            anchor(memory, name)
            for day in range(5):
                memory.add(f"{name} and {word} {day}", id=f"{name}{day}", at=START + day * DAY)
        night(memory, 6)
        assert len(stories(memory)) == 2
        memory.add("Ada and Bob on bread", id="both", at=START + 7 * DAY)
        memory.add("Ada and Bob on tea", id="neither", at=START + 7 * DAY)
        memory.add("Ada and Bob on bread again", id="late", at=START + 60 * DAY)
        night(memory, 61)
        told = {src: memory.nodes(dst)[dst].props["anchor"] for src, dst in edges(memory, "part_of")}
        assert told["both"] == "Bob"
        assert not {"neither", "late"} & told.keys()


@pytest.mark.parametrize(
    ("said", "after", "joins"),
    [
        ("bread", 30 * DAY, True),
        ("bread", 30 * DAY + 1, False),
        ("bread tea", DAY, True),  # cosine .707
        ("bread bread bread tea tea tea garden", DAY, False),  # cosine .688
    ],
)
def test_it_joins_one_of_several_up_to_30_days_later_and_above_a_cosine_of_7_tenths(
    tmp_path: Path, said: str, after: int, joins: bool
) -> None:
    with Memory(tmp_path / "memory", embedder=Axes()) as memory:
        for name, word in (("Ada", "radio"), ("Bob", "bread")):
            anchor(memory, name)
            for day in range(5):
                memory.add(f"{name} and {word} {day}", id=f"{name}{day}", at=START + day * DAY)
        night(memory, 5)
        memory.add(f"Ada and Bob on {said}", id="both", at=START + 4 * DAY + after)
        night(memory, 40)
        assert ("both" in {src for src, _ in edges(memory, "part_of")}) is joins


def test_one_that_stands_between_two_storylines_stays_so_when_one_of_them_goes_on(memory: Memory) -> None:
    for name in ("Ada", "Bob"):
        anchor(memory, name)
        tell(memory, 0, 1, 2, 3, 4, about=name)
    night(memory, 5)
    memory.add("Ada and Bob spoke.", id="both", at=START + 5 * DAY)
    for day in (80, 96):
        # From the last word of Ada it is more than 90 days back to where both spoke, from that of Bob less.
        tell(memory, day, about="Ada")
        tell(memory, *([day] if day == 80 else []), about="Bob")
        night(memory, day + 1)
        assert set(night(memory, day + 1).values()) == {0}
    assert sorted(counts(memory)) == [6, 7]


def test_an_older_source_may_bring_a_storyline_near_to_another_within_one_night(memory: Memory) -> None:
    anchor(memory)
    tell(memory, *range(200, 205))
    night(memory, 206)
    tell(memory, 60, 130, start=10)
    night(memory, 207)
    assert set(night(memory, 207).values()) == {0}
    assert counts(memory) == [7]


def test_what_is_told_is_made_of_sentences_and_a_teller_may_tell_it(memory: Memory, tmp_path: Path) -> None:
    anchor(memory)
    tell(memory, 0, 1, 2, 3, 4)
    night(memory, 5)
    (story,) = stories(memory)
    assert story.name == "Ada Lovelace, January 2026"
    assert "Ada Lovelace spoke of the mill number 0" in story.text
    with Memory(tmp_path / "other", embedder="none") as other:
        anchor(other)
        tell(other, 0, 1, 2, 3, 4)
        other.dream(now=START + 5 * DAY, teller=lambda subject, texts: f"{subject}: {len(texts)} texts")
        assert stories(other)[0].text == "Ada Lovelace: 5 texts"


def test_a_teller_that_fails_costs_nothing_else(memory: Memory) -> None:
    def broken(subject: str, texts: Sequence[str]) -> str:
        raise RuntimeError(f"no answer on {subject} from {len(texts)}")

    anchor(memory)
    tell(memory, 0, 1, 2, 3, 4)
    report = memory.dream(now=START + 5 * DAY, teller=broken)
    assert any("the teller failed (no answer on Ada Lovelace from 5)" in notice for notice in report.notices)
    assert "Ada Lovelace spoke of the mill" in stories(memory)[0].text


def test_a_recall_does_not_find_what_dreams_told_and_explore_does(memory: Memory) -> None:
    anchor(memory)
    tell(memory, 0, 1, 2, 3, 4)
    night(memory, 5)
    hits = memory.recall("mill", record_access=False).hits
    assert len(hits) == 5
    assert {hit.node.kind for hit in hits} == {"atom"}
    found = memory.explore(["Ada Lovelace mill"], granularity=2, now=START + 5 * DAY)
    assert [item.node.kind for item in found.episodic.storylines] == ["storyline"]
    assert len(found.episodic.storylines[0].sources) == 5


def test_sources_get_a_summary_and_keywords_by_which_they_are_found(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory", embedder=Axes()) as memory:
        memory.ingest_text("The radio fell silent.\n\nThe radio is of brass.", source="note.md")
        memory.dream()
        (source,) = [node for node in stories(memory, "source") if node.source == "note.md"]
        assert "radio" in source.props["summary"]
        assert [item.node.id for item in memory.explore(["radio"]).episodic.sources] == [source.id]
        for keyword in source.props["keywords"]:
            found = memory.explore(text_matches=[keyword]).episodic.sources
            assert [(item.node.id, item.why["semantic"]) for item in found] == [(source.id, 1.0)]
        assert source.props["keywords"]
        memory.ingest_text("The bread is fresh.", source="note.md")
        memory.dream()
        (source,) = [node for node in stories(memory, "source") if node.source == "note.md"]
        assert source.props["summary"] == "The bread is fresh."


# --- forgetting and scope


def test_forgetting_a_memory_takes_what_was_told_of_it_at_once(memory: Memory) -> None:
    anchor(memory)
    tell(memory, *range(6))
    tell(memory, *range(100, 106), start=20)
    night(memory, 107)
    assert (len(stories(memory)), len(stories(memory, "macro"))) == (2, 1)
    memory.forget("Ada Lovelace-0")
    said = [node.text for kind in ("storyline", "macro") for node in stories(memory, kind)]
    assert not any("number 0 " in text for text in said)
    night(memory, 108)
    assert counts(memory) == [5, 6]
    assert not any("number 0 " in node.text for node in stories(memory))


def test_forgetting_an_anchor_takes_its_storylines(memory: Memory) -> None:
    anchor(memory)
    tell(memory, *range(5))
    night(memory, 6)
    memory.forget("Ada Lovelace")
    assert stories(memory) == []
    night(memory, 7)
    assert stories(memory) == []


def test_forgetting_an_atom_takes_the_summary_of_its_file(memory: Memory) -> None:
    memory.ingest_text("The safe is behind the clock.\n\nTea is at four.", source="note.md")
    memory.dream()
    atom = memory.recall("safe").hits[0].node.id
    memory.forget(atom)
    assert all("safe" not in str(node.props) for node in stories(memory, "source"))


def test_a_source_that_no_longer_names_the_anchor_leaves_the_storyline(memory: Memory) -> None:
    anchor(memory)
    tell(memory, *range(6))
    night(memory, 7)
    memory.add("Somebody else spoke.", id="Ada Lovelace-0", at=START, now=START + 8 * DAY)
    night(memory, 8)
    assert counts(memory) == [5]
    (story,) = stories(memory)
    assert (story.props["sources"], story.at, story.props["start"]) == (5, START + DAY, START + DAY)
    assert "number 0" not in story.text
    assert not any(night(memory, 8).values())


def test_a_storyline_goes_when_too_few_sources_are_left_and_its_macro_with_it(memory: Memory) -> None:
    anchor(memory)
    tell(memory, *range(5))
    tell(memory, *range(100, 106), start=5)
    night(memory, 107)
    assert (counts(memory), len(stories(memory, "macro"))) == ([5, 6], 1)
    memory.add("Somebody else spoke.", id="Ada Lovelace-0", at=START, now=START + 108 * DAY)
    night(memory, 108)
    assert (counts(memory), len(stories(memory, "macro"))) == ([6], 0)
    assert not any(night(memory, 108).values())
    tell(memory, 0)
    night(memory, 109)
    assert (counts(memory), len(stories(memory, "macro"))) == ([5, 6], 1)


def test_a_storyline_is_parted_when_what_joined_its_halves_has_left(memory: Memory) -> None:
    anchor(memory)
    tell(memory, *range(5), 60, *range(120, 125))
    night(memory, 126)
    assert counts(memory) == [11]
    memory.add("Somebody else spoke.", id="Ada Lovelace-60", at=START + 60 * DAY, now=START + 127 * DAY)
    night(memory, 127)
    assert counts(memory) == [5, 5]


def test_a_storyline_that_would_say_what_was_forgotten_is_not_begun(memory: Memory) -> None:
    def dreamt(day: int) -> int:
        now = START + day * DAY
        report = memory.dream(now=now, teller=lambda subject, _: f"{subject} spoke of the mill again and again.")
        return sum(one.wrote + one.removed for one in report.passes)

    anchor(memory)
    tell(memory, *range(6))
    dreamt(7)
    (story,) = stories(memory)
    memory.forget(story.id, now=START + 7 * DAY)
    memory.add("Somebody else spoke.", id="Ada Lovelace-0", at=START, now=START + 8 * DAY)
    dreamt(8)
    assert stories(memory) == []
    assert dreamt(8) == 0


def test_each_user_has_his_own(tmp_path: Path) -> None:
    for user in ("ann", "bob"):
        with Memory(tmp_path / "memory", scope=Scope(user=user), embedder="none") as memory:
            anchor(memory)
            tell(memory, *range(3 if user == "ann" else 5))
            night(memory, 6)
            assert counts(memory) == ([] if user == "ann" else [5])
