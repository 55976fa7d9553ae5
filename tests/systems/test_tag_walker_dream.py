"""Tag-Walker, the Dreamer: single-flight, idempotent, incremental, resumable, and its passes. One test per claim."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from cuetrail import Memory, Node
from cuetrail.errors import InputError
from cuetrail.model import DreamReport
from cuetrail.store.dream import Writes
from tests.dream.tools import (
    DAY,
    MINUTE,
    MONDAY,
    counts,
    dumped,
    edges,
    episodes,
    exported,
    idle,
    mentions,
    of_origin,
    origins,
)
from tests.mirror.tools import pages

PASSES = ["temporal", "auto_tags", "infection", "mentions", "known_as", "cooccurrence", "episodes"]
PASSES += ["consolidation", "storylines", "macros", "decay", "note_expiry", "facts"]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "memory", embedder="none") as opened:
        yield opened


def recalled(memory: Memory, source: str) -> list[Node]:
    """The atoms of a file."""
    return [node for node in memory.store.atoms_of(memory.scope, [source])[source] if node.kind == "atom"]


@pytest.fixture
def filled(memory: Memory) -> Memory:
    """A memory in which every pass has something to do."""
    memory.add(name="Ada Lovelace", aliases=["Countess"], kind="person", id="ada", at=MONDAY)
    memory.add(name="Charles Babbage", kind="person", id="babbage", at=MONDAY)
    for n, text in enumerate(
        (
            "Ada Lovelace showed the punched card to Charles Babbage.",
            "The Countess wants a punched card for every number.",
            "Charles Babbage paid for the brass wheels.",
            "Nobody asked about the brass wheels of the engine.",
        )
    ):
        memory.add(text, id=f"a{n}", tags=["engine"] if n == 0 else [], at=MONDAY + n * MINUTE)
    return memory


# --- the cycle


def test_a_second_dream_at_the_same_time_answers_skipped(filled: Memory) -> None:
    inside: list[str] = []
    second: list[DreamReport] = []

    def look(what: str, done: int, total: int) -> None:
        if not inside:
            inside.append(what)
            thread = threading.Thread(target=lambda: second.append(filled.dream()))
            thread.start()
            thread.join()

    first = filled.dream(progress=look)
    assert not first.skipped
    assert [(one.skipped, one.passes) for one in second] == [(True, ())]
    assert not filled.dream().skipped


def test_a_second_dream_on_an_unchanged_memory_writes_nothing(filled: Memory) -> None:
    filled.dream()
    before, truth = exported(filled), dumped(filled)
    report = filled.dream(now=MONDAY + DAY)
    assert idle(report)
    assert exported(filled) == before
    assert dumped(filled) == truth


def test_a_second_dream_reads_only_what_changed(filled: Memory) -> None:
    filled.dream()
    filled.add("One more about nothing in particular", id="new", at=MONDAY + DAY)
    report = filled.dream()
    assert {name: read for name, (read, _, _) in counts(report).items()} == {
        "temporal": 1, "auto_tags": 1, "infection": 1, "mentions": 1, "known_as": 1, "cooccurrence": 0,
        "episodes": 1, "consolidation": 1, "storylines": 0, "macros": 0, "decay": 0, "note_expiry": 0, "facts": 0,
    }  # fmt: skip
    assert idle(filled.dream())


def test_every_pass_is_reported_by_name(filled: Memory) -> None:
    report = filled.dream()
    assert [one.name for one in report.passes] == PASSES
    # No text here may be called by another name than it begins with.
    busy = [one for one in report.passes[:7] if one.name != "known_as"]
    assert all(one.read > 0 and one.wrote > 0 and one.seconds > 0 for one in busy)


def test_progress_is_shown(filled: Memory) -> None:
    shown: list[str] = []
    filled.dream(progress=lambda what, *_: shown.append(what))
    assert [name for name in PASSES if f"dreaming: {name}" in shown] == PASSES


def test_a_dry_run_shows_the_changes_and_writes_nothing(filled: Memory) -> None:
    before = exported(filled)
    dry = filled.dream(dry_run=True)
    assert exported(filled) == before
    about = 'a0 "Ada Lovelace showed the punched card to Charles Babbage."'
    assert f"+ #monday (temporal) on {about}" in dry.passes[0].changes
    assert f'+ {about} mentions ada "Ada Lovelace" (0.35)' in dry.passes[3].changes
    assert any(line.endswith("(episode of 4 atoms)") for line in dry.passes[6].changes)
    assert not any(" of 0 " in line for one in dry.passes for line in one.changes)
    wet = filled.dream()
    assert counts(dry) == counts(wet)
    assert dry.dry_run
    assert not wet.dry_run


# --- temporal labels


def test_atoms_get_the_labels_of_their_time(memory: Memory) -> None:
    memory.add("anything", id="a", at=MONDAY)
    memory.dream()
    assert origins(memory, "a") == dict.fromkeys(("2026", "january", "monday", "winter", "q1", "afternoon"), "temporal")


def test_the_labels_are_of_the_zone_that_is_given(memory: Memory) -> None:
    memory.add("anything", id="a", at=MONDAY + 12 * 60 * MINUTE)  # Tuesday 02:00 UTC, Monday 21:00 in New York
    memory.dream(zone="America/New_York")
    assert of_origin(memory, "a", "temporal") == {"2026", "january", "monday", "winter", "q1", "evening"}
    memory.dream()
    assert of_origin(memory, "a", "temporal") == {"2026", "january", "tuesday", "winter", "q1", "night"}


@pytest.mark.parametrize(
    ("hour", "minute", "word"),
    [
        (4, 59, "night"), (5, 0, "morning"), (11, 59, "morning"), (12, 0, "afternoon"), (16, 59, "afternoon"),
        (17, 0, "evening"), (21, 59, "evening"), (22, 0, "night"),
    ],
)  # fmt: skip
def test_the_time_of_day_begins_with_its_hour(memory: Memory, hour: int, minute: int, word: str) -> None:
    memory.add("anything", id="a", at=MONDAY + ((hour - 14) * 60 + minute) * MINUTE)
    memory.dream()
    assert of_origin(memory, "a", "temporal") & {"night", "morning", "afternoon", "evening"} == {word}


@pytest.mark.parametrize(
    ("month", "season", "quarter"),
    [
        ("december", "winter", "q4"), ("february", "winter", "q1"), ("march", "spring", "q1"), ("may", "spring", "q2"),
        ("june", "summer", "q2"), ("august", "summer", "q3"), ("september", "autumn", "q3"),
        ("november", "autumn", "q4"),
    ],
)  # fmt: skip
def test_seasons_and_quarters_are_whole_months(memory: Memory, month: str, season: str, quarter: str) -> None:
    for day in (1, 28):
        memory.ingest_text(f"It was on {day} {month} 2025.", source=f"{day}.txt")
    memory.dream()
    found = [set(node.tags) for day in (1, 28) for node in recalled(memory, f"{day}.txt")]
    assert len(found) == 2
    assert all({month, season, quarter, "2025"} <= tags for tags in found)


def test_a_date_without_a_time_is_that_day_in_every_zone(memory: Memory) -> None:
    memory.ingest_text("---\ndate: 2025-01-01\n---\nThe year begins.\n", source="day.md")
    for zone in ("UTC", "America/New_York", "Pacific/Auckland"):
        memory.dream(zone=zone)
        (atom,) = recalled(memory, "day.md")
        temporal = {tag.name for tag in atom.tag_details if tag.origin == "temporal"}
        assert temporal == {"2025", "january", "wednesday", "winter", "q1"}


# --- auto-tags


def test_names_and_key_phrases_that_atoms_share_become_tags(memory: Memory) -> None:
    memory.add("Grace Hopper found a moth in the relay panel", id="a", at=MONDAY)
    memory.add("They asked Grace Hopper why the relay panel was open", id="b", at=MONDAY)
    memory.add("A text with words that no other has", id="c", at=MONDAY)
    memory.dream()
    assert of_origin(memory, "a", "auto") == of_origin(memory, "b", "auto") == {"grace_hopper", "relay_panel"}
    assert of_origin(memory, "c", "auto") == set()


def test_an_atom_gets_at_most_three_auto_tags(memory: Memory) -> None:
    text = "Grace Hopper, Ada Lovelace, Alan Turing, Emmy Noether and Marie Curie met."
    for id_ in "ab":
        memory.add(f"{text} Number {id_}", id=id_, at=MONDAY)
    memory.dream()
    assert len(of_origin(memory, "a", "auto")) == 3


def test_a_name_that_was_forgotten_is_no_auto_tag(memory: Memory) -> None:
    memory.add(name="Grace Hopper", kind="entity", id="grace", at=MONDAY)
    memory.forget("grace")
    memory.add("Ask Grace Hopper", id="a", at=MONDAY)
    memory.add("They met Grace Hopper", id="b", at=MONDAY)
    memory.dream()
    assert "grace_hopper" not in origins(memory, "a")


# --- infection


def test_a_name_infects_where_an_auto_tag_went(memory: Memory) -> None:
    memory.add(name="Grace Hopper", kind="person", at=MONDAY)
    memory.add("Ask Grace Hopper", id="a", at=MONDAY)
    memory.add("They met Grace Hopper", id="b", at=MONDAY)
    memory.dream()
    assert origins(memory, "a")["grace_hopper"] == "auto"
    memory.forget("b")
    memory.dream()
    assert origins(memory, "a")["grace_hopper"] == "infected"


def test_a_name_in_quarantine_does_not_infect(memory: Memory) -> None:
    memory.add(name="Wingbeat", kind="project", id="project", provenance="quarantine", at=MONDAY)
    memory.add("Wingbeat tracks birds", id="a", at=MONDAY)
    memory.dream()
    assert "wingbeat" not in origins(memory, "a")
    memory.quarantine("project", undo=True)
    memory.dream()
    assert origins(memory, "a")["wingbeat"] == "infected"


def test_known_tags_found_as_whole_words_infect(memory: Memory) -> None:
    memory.add("kept here", id="tagged", tags=["Radio", "machine learning"], at=MONDAY)
    memory.add("The RADIO is silent; machine-learning did not help.", id="a", at=MONDAY)
    memory.add("Radioactive radios and machinelearning", id="b", at=MONDAY)
    memory.dream()
    assert of_origin(memory, "a", "infected") == {"radio", "machine_learning"}
    assert of_origin(memory, "b", "infected") == set()


def test_names_and_aliases_infect_with_the_name_of_their_node(filled: Memory) -> None:
    filled.dream(only=["infection"])
    assert of_origin(filled, "a1", "infected") == {"ada_lovelace"}
    assert of_origin(filled, "a0", "infected") == {"ada_lovelace", "charles_babbage"}


def test_a_name_that_several_share_infects_with_each_of_them(memory: Memory) -> None:
    for name in ("Ada Lovelace", "Jane Digby"):
        memory.add(name=name, aliases=["The Countess"], kind="person", at=MONDAY)
    memory.add("Nobody saw the Countess leave", id="a", at=MONDAY)
    memory.dream()
    assert of_origin(memory, "a", "infected") == {"ada_lovelace", "jane_digby"}


def test_a_new_name_infects_old_atoms(memory: Memory) -> None:
    memory.add("Wingbeat tracks birds", id="old", at=MONDAY)
    memory.dream()
    assert "wingbeat" not in origins(memory, "old")
    memory.add(name="Wingbeat", kind="project", at=MONDAY)
    memory.dream()
    assert origins(memory, "old")["wingbeat"] == "infected"


def test_a_name_that_vanished_takes_its_tags_along(memory: Memory) -> None:
    memory.add("Wingbeat tracks birds", id="old", at=MONDAY)
    memory.add(name="Wingbeat", kind="project", id="project", at=MONDAY)
    memory.dream()
    memory.forget("project")
    memory.dream()
    assert "wingbeat" not in origins(memory, "old")


def test_a_text_that_changed_loses_the_tags_of_the_old_one(memory: Memory) -> None:
    memory.add(name="Wingbeat", kind="project", at=MONDAY)
    memory.add("Wingbeat tracks birds", id="a", at=MONDAY)
    memory.dream()
    memory.add("It tracks birds", id="a", at=MONDAY)
    memory.dream()
    assert "wingbeat" not in origins(memory, "a")


@pytest.mark.parametrize("word", ["a", "7", "2026", "the", "monday", "inbox", "misc"])
def test_what_is_too_short_or_too_common_does_not_infect(memory: Memory, word: str) -> None:
    memory.add("tagged", id="tagged", tags=[word], at=MONDAY)
    memory.add(f"here is {word} in a text", id="a", at=MONDAY)
    memory.dream(only=["infection"])
    assert origins(memory, "a") == {}


# --- mentions and co-occurrence


def test_atoms_are_joined_to_what_they_name(filled: Memory) -> None:
    filled.dream()
    found = edges(filled, "mentions")
    assert found.keys() == {("a0", "ada"), ("a0", "babbage"), ("a1", "ada"), ("a2", "babbage")}
    assert {edge.weight for edge in found.values()} == {0.35}


def test_a_name_that_is_said_more_often_weighs_more_within_the_topical_band(memory: Memory) -> None:
    memory.add(name="Ada", kind="person", id="ada", at=MONDAY)
    for times in (1, 2, 5, 50):
        memory.add("Ada. " * times, id=f"a{times}", at=MONDAY)
    memory.dream()
    weights = [edges(memory, "mentions")[f"a{times}", "ada"].weight for times in (1, 2, 5, 50)]
    assert weights == [0.35, 0.40, 0.43, 0.448]


def test_mentions_are_distinct_by_source_and_have_the_sources_own_time(memory: Memory) -> None:
    memory.add(name="Ada", kind="person", id="ada", at=MONDAY)
    memory.ingest_text("Ask Ada first.\n\n---\n\nThen ask Ada again.", source="plan.md", now=MONDAY + DAY)
    memory.add("Ada is away", id="alone", at=MONDAY)
    memory.dream(now=MONDAY + 9 * DAY)
    (source,) = [node for node in (memory.get("plan"), memory.get("plan.md")) if node]
    assert mentions(memory) == {(source.id, "ada"): source.at, ("alone", "ada"): MONDAY}


def test_an_atom_is_not_joined_to_the_file_it_is_of(memory: Memory) -> None:
    memory.ingest_text("Wingbeat tracks birds.\n", source="Wingbeat.md", now=MONDAY)
    memory.ingest_text("Wingbeat is late.\n", source="plan.md", now=MONDAY)
    memory.dream()
    (own,), (other,) = recalled(memory, "Wingbeat.md"), recalled(memory, "plan.md")
    (project,) = memory.store.named(memory.scope, ["wingbeat"])["wingbeat"]
    assert edges(memory, "mentions").keys() == {(other.id, project)}
    assert own.id != other.id


def test_names_of_one_text_are_joined_within_the_topical_band(filled: Memory) -> None:
    filled.dream()
    found = edges(filled, "co_occurs")
    # Each is named in two texts, in one of them with the other: 1 / (2 + 1) of the way from .25 to .45.
    assert {pair: edge.weight for pair, edge in found.items()} == {("ada", "babbage"): 0.3167}
    filled.add("Ada Lovelace and Charles Babbage dined.", id="more", at=MONDAY)
    filled.dream()
    assert edges(filled, "co_occurs")["ada", "babbage"].weight == 0.35


def test_stale_co_occurrence_is_removed(filled: Memory) -> None:
    filled.dream()
    filled.forget("a0")
    filled.dream()
    assert edges(filled, "co_occurs") == {}


def test_a_node_is_joined_to_at_most_ten_it_is_named_with(memory: Memory) -> None:
    names = [f"Name{chr(ord('A') + n)}" for n in range(14)]
    for n, name in enumerate(names):
        memory.add(name=name, kind="person", id=name, at=MONDAY)
        # The later ones meet the first one more often.
        for again in range(n):
            memory.add(f"{names[0]} met {name}", id=f"{name} {again}", at=MONDAY)
    memory.dream(only=["mentions", "cooccurrence"])
    chosen = {pair for pair, edge in edges(memory, "co_occurs").items() if (edge.weight or 0) < 0.35}
    assert all(0.25 <= (edge.weight or 0) <= 0.45 for edge in edges(memory, "co_occurs").values())
    assert len(edges(memory, "co_occurs")) == 13  # ten chosen by the first, three that chose the first
    assert not chosen


# --- episodes


def test_a_gap_of_more_than_15_minutes_starts_a_new_episode(memory: Memory) -> None:
    times = [0, 15, 30, 45 + 1 / 60_000, 50, 60]
    for n, minutes in enumerate(times):
        memory.add(f"thing number {n}", id=f"a{n}", at=MONDAY + round(minutes * MINUTE))
    memory.dream()
    assert sorted(map(sorted, episodes(memory).values())) == [["a0", "a1", "a2"], ["a3", "a4", "a5"]]


def test_an_episode_has_at_least_3_atoms(memory: Memory) -> None:
    for n in range(2):
        memory.add(f"thing number {n}", id=f"a{n}", at=MONDAY + n * MINUTE)
    memory.dream()
    assert episodes(memory) == {}
    memory.add("thing number 2", id="a2", at=MONDAY + 2 * MINUTE)
    memory.dream()
    assert list(episodes(memory).values()) == [{"a0", "a1", "a2"}]


def test_an_episode_may_have_any_number_of_atoms(memory: Memory) -> None:
    memory.add_many({"text": f"message {n}", "id": f"m{n}", "at": MONDAY + n * MINUTE} for n in range(1_200))
    memory.dream(only=["episodes"])
    (atoms,) = episodes(memory).values()
    assert len(atoms) == 1_200
    memory.add("one more", id="more", at=MONDAY + 1_200 * MINUTE)
    memory.dream(only=["episodes"])
    assert [len(atoms) for atoms in episodes(memory).values()] == [1_201]


def test_a_time_of_midnight_is_a_moment_like_any_other(memory: Memory) -> None:
    midnight = MONDAY - 14 * 60 * MINUTE
    for n in range(3):
        memory.add(f"thing number {n}", id=f"a{n}", at=midnight + n * MINUTE)
    memory.dream()
    assert list(episodes(memory).values()) == [{"a0", "a1", "a2"}]
    assert "night" in origins(memory, "a0")


def test_dates_without_a_time_make_no_episode(memory: Memory) -> None:
    midnight = MONDAY - 14 * 60 * MINUTE
    for n in range(4):
        memory.ingest_text(f"---\ndate: 2026-01-19\n---\nNote {n} of the day.\n", source=f"{n}.md")
    memory.add("shortly after midnight", id="late", at=midnight + MINUTE)
    memory.dream()
    assert episodes(memory) == {}


def test_paragraphs_that_have_the_time_of_their_file_are_no_episode_but_several_files_are(memory: Memory) -> None:
    memory.ingest_text("First thing.\n\n---\n\nSecond thing.\n\n---\n\nThird thing.\n", source="one.md", now=MONDAY)
    memory.dream()
    assert episodes(memory) == {}
    memory.ingest_text("Another thing.\n", source="two.txt", now=MONDAY)
    memory.dream()
    assert [len(atoms) for atoms in episodes(memory).values()] == [4]


def test_an_episode_that_grows_keeps_its_id(memory: Memory) -> None:
    for n in range(3):
        memory.add(f"thing number {n}", id=f"a{n}", at=MONDAY + n * MINUTE)
    memory.dream()
    (episode,) = episodes(memory)
    for id_, minutes in (("later", 10), ("earlier", -10)):
        memory.add(f"the {id_} one", id=id_, at=MONDAY + minutes * MINUTE)
        memory.dream()
        assert episodes(memory).keys() == {episode}
    assert episodes(memory)[episode] == {"a0", "a1", "a2", "earlier", "later"}
    node = memory.get(episode)
    assert node is not None
    assert (node.kind, node.at, node.props["atoms"]) == ("episode", MONDAY - 10 * MINUTE, 5)


@pytest.mark.parametrize("minutes", [45, -15])
def test_what_comes_15_minutes_before_or_behind_an_episode_belongs_to_it(memory: Memory, minutes: int) -> None:
    for n in range(3):
        memory.add(f"thing number {n}", id=f"a{n}", at=MONDAY + 15 * n * MINUTE)
    memory.dream()
    memory.add("one more thing", id="more", at=MONDAY + minutes * MINUTE)
    memory.dream()
    assert list(episodes(memory).values()) == [{"a0", "a1", "a2", "more"}]


@pytest.mark.parametrize(("first", "second"), [(4, 3), (3, 4)])
def test_of_an_episode_that_falls_apart_the_larger_piece_keeps_its_id(memory: Memory, first: int, second: int) -> None:
    times = {f"a{n}": n for n in range(first)} | {f"b{n}": first + 20 + n for n in range(second)}
    for id_, minutes in {**times, "between": first + 10}.items():
        memory.add(f"thing {id_}", id=id_, at=MONDAY + minutes * MINUTE)
    memory.dream()
    (episode,) = episodes(memory)
    memory.forget("between")
    memory.dream()
    pieces = [{id_ for id_ in times if id_[0] == letter} for letter in "ab"]
    assert sorted(map(sorted, episodes(memory).values())) == list(map(sorted, pieces))
    assert episodes(memory)[episode] == max(pieces, key=len)


# --- origins


def test_no_pass_touches_a_users_own_tag(memory: Memory) -> None:
    own = ["Monday", "Ada", "engine", "brass wheels"]
    memory.add(name="Ada", kind="person", id="ada", at=MONDAY)
    memory.add("Ada saw the engine and the brass wheels", id="a", tags=own, at=MONDAY)
    memory.add("The brass wheels of the engine", id="b", at=MONDAY)
    before = memory.get("a")
    memory.dream()
    after = memory.get("a")
    assert before is not None
    assert after is not None
    assert after.tag_details[:4] == before.tag_details
    assert {name for name, origin in origins(memory, "a").items() if origin == "user"} == set(before.tags)


def test_a_pass_that_would_touch_a_users_tag_is_refused(memory: Memory) -> None:
    memory.add("anything", id="a", tags=["mine"], at=MONDAY)
    dreaming = memory.store.dream_pass(memory.scope, "careless")
    some = dreaming.slice("1", 10)
    assert some is not None
    with pytest.raises(InputError, match="a dream may not touch the tag 'mine'"):
        dreaming.save(Writes(relabelled=[(some.atoms[0], ())]))
    assert origins(memory, "a") == {"mine": "user"}


def test_a_tag_that_the_user_adds_is_the_users_whatever_it_was(memory: Memory) -> None:
    texts = {"a": "Grace Hopper found a moth", "b": "They asked Grace Hopper"}
    for id_, text in texts.items():
        memory.add(text, id=id_, at=MONDAY)
    memory.dream()
    assert origins(memory, "a")["grace_hopper"] == "auto"
    memory.add(texts["a"], id="a", tags=["Grace Hopper", "January"], at=MONDAY)
    memory.dream()
    found = origins(memory, "a")
    assert (found["grace_hopper"], found["january"], found["monday"]) == ("user", "user", "temporal")


# --- forgetting


def test_dreaming_brings_nothing_forgotten_back(filled: Memory) -> None:
    filled.dream()
    filled.forget("ada", "a1")
    filled.dream()
    assert filled.get("ada") is None
    assert not any("ada" in pair for kind in ("mentions", "co_occurs") for pair in edges(filled, kind))
    assert not any("ada" in pair for pair in mentions(filled))
    assert all("ada_lovelace" not in of_origin(filled, id_, "infected") for id_ in ("a0", "a2", "a3"))


def test_a_forgotten_episode_stays_forgotten(memory: Memory) -> None:
    for n in range(4):
        memory.add(f"thing number {n}", id=f"a{n}", at=MONDAY + n * MINUTE)
    memory.dream()
    (episode,) = episodes(memory)
    memory.forget(episode)
    memory.add("one more thing", id="more", at=MONDAY + 5 * MINUTE)
    memory.dream()
    assert memory.get(episode) is None
    assert episodes(memory) == {}


# --- the mirror


def test_the_mirror_is_brought_in_step_as_the_last_pass(filled: Memory, tmp_path: Path) -> None:
    filled.mirror(tmp_path / "brain")
    filled.add("One more.", id="more", at=MONDAY, tags=["added"])
    report = filled.dream()
    assert [one.name for one in report.passes] == [*PASSES, "mirror"]
    assert report.passes[-1].wrote > 0
    assert (tmp_path / "brain" / "@general" / "#added").is_dir()
    assert not (tmp_path / "brain" / "@general" / "#charles_babbage").exists()
    assert filled.dream().passes[-1].wrote == 0


def test_a_dream_of_some_passes_leaves_the_mirror_alone_and_one_of_the_mirror_the_rest(
    filled: Memory, tmp_path: Path
) -> None:
    filled.mirror(tmp_path / "brain")
    filled.add("One more.", id="more", at=MONDAY)
    assert [one.name for one in filled.dream(only=["temporal"]).passes] == ["temporal"]
    assert not any(b"One more." in page for page in pages(tmp_path / "brain").values())
    (mirror,) = filled.dream(only=["mirror"]).passes
    assert (mirror.name, mirror.wrote > 0) == ("mirror", True)
    assert any(b"One more." in page for page in pages(tmp_path / "brain").values())
    assert of_origin(filled, "more", "infected") == set()


def test_a_dry_run_tells_what_it_would_write_to_the_mirror(filled: Memory, tmp_path: Path) -> None:
    filled.mirror(tmp_path / "brain")
    filled.add("One more.", id="more", at=MONDAY)
    before = pages(tmp_path / "brain")
    dry = filled.dream(dry_run=True)
    assert pages(tmp_path / "brain") == before
    (change,) = dry.passes[-1].changes
    assert change.startswith(f"~ {tmp_path / 'brain'}: ")
    assert counts(dry) == counts(filled.dream())


def test_an_atom_has_at_most_five_automatic_labels_about_topics(memory: Memory) -> None:
    names = (
        "Grace Hopper",
        "Ada Lovelace",
        "Alan Turing",
        "Emmy Noether",
        "Marie Curie",
        "Lise Meitner",
        "Ines Okafor",
    )
    for name in names:
        memory.add(name=name, kind="person", at=MONDAY)
    memory.add(f"We met {', '.join(names)}.", id="a", tags=["mine"], at=MONDAY)
    memory.add(f"They saw {', '.join(names)} too.", id="b", at=MONDAY)
    memory.dream()
    assert len(of_origin(memory, "a", "auto") | of_origin(memory, "a", "infected")) == 5
    assert of_origin(memory, "a", "user") == {"mine"}


def test_words_in_addresses_code_and_link_targets_give_no_label(memory: Memory) -> None:
    memory.add(name="Wingbeat", kind="project", at=MONDAY)
    for id_, text in enumerate(
        ("see https://wingbeat.org/x", "run `wingbeat`", "[[the plan|wingbeat.plan]]", "a@wingbeat.org")
    ):
        memory.add(text, id=str(id_), at=MONDAY)
    memory.dream(only=["infection"])
    assert [of_origin(memory, str(id_), "infected") for id_ in range(4)] == [set()] * 4
