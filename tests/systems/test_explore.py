"""Explore: candidates, scores, filters, limits and expansion. One test per claim."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuetrail import Memory, Scope
from cuetrail.errors import InputError
from cuetrail.explore.explore import Exploration
from cuetrail.formulas import DAY, rrf
from cuetrail.model import Mention
from cuetrail.recall import recipes
from cuetrail.store.write import Batch
from cuetrail.text.similarity import levenshtein
from tests.systems.axes import Axes

NOW = 1_768_831_200_000


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "memory", embedder=Axes()) as opened:
        yield opened


def ask(memory: Memory, *queries: Any, **options: Any) -> Exploration:
    return memory.explore(list(queries), **{"record_access": False, "now": NOW, **options})


def ids(items: Any) -> list[str]:
    return [item.node.id for item in items]


def person(memory: Memory, id_: str, text: str = "", days: float = 0, **options: Any) -> None:
    memory.add(text, name=options.pop("name", id_), id=id_, kind=options.pop("kind", "person"),
               now=NOW - int(days * DAY), at=NOW - int(days * DAY), **options)  # fmt: skip


# --- kinds and names


def test_kinds_of_things_count_as_entities_and_kinds_of_thoughts_as_concepts(memory: Memory) -> None:
    kinds = ("person", "concept", "decision", "preference", "entity", "project", "file", "conversation")
    for kind in kinds:
        person(memory, kind, name=f"Boat {kind}", kind=kind)
    found = ask(memory, text_matches=["Boat"], granularity=1).semantic
    groups = (found.people, found.concepts, found.entities)
    shown = [{item.node.kind for item in group} for group in groups]
    assert sum(map(len, shown)) == 5, "five are shown in all"
    allowed = ({"person"}, {"concept", "decision", "preference"}, {"entity", "project", "file", "conversation"})
    assert all(some <= known for some, known in zip(shown, allowed, strict=True))
    assert memory.relate("project", "decision", "led to").kind == "involves"
    assert memory.relate("person", "preference").kind == "engages_with"
    assert memory.relate("file", "conversation").kind == "connected_to"


@pytest.mark.parametrize(
    ("asked", "fuzzy", "name"),
    [
        ("Ana", "levenshtein", "Anna Berg"), ("John", "levenshtein", "Jon Lee"),
        ("Stephen", "levenshtein", "Steven Ash"), ("Wngbeet", "levenshtein", "Wingbeat"),
        ("Ana", "phonetic", "Anna Berg"), ("John Lee", "phonetic", "Jon Lee"),
        ("Stephen", "phonetic", "Steven Ash"), ("Jan", "levenshtein", None), ("Ann", "phonetic", "Anna Berg"),
        ("Stefano", "levenshtein", None), ("Bob", "phonetic", None),
    ],
)  # fmt: skip
def test_names_are_found_with_a_letter_or_two_wrong_and_by_their_sound(
    memory: Memory, asked: str, fuzzy: str, name: str | None
) -> None:
    for number, one in enumerate(("Anna Berg", "Jon Lee", "Steven Ash", "Wingbeat")):
        person(memory, f"p{number}", name=one)
    found = ask(memory, text_matches=[asked], fuzzy=fuzzy).semantic.people
    assert [item.node.name for item in found] == ([name] if name else [])


# --- asking


def test_neither_queries_nor_text_matches_is_an_error(memory: Memory) -> None:
    with pytest.raises(InputError, match="say what to explore"):
        memory.explore()
    with pytest.raises(InputError, match="say what to explore"):
        memory.explore(["  "], text_matches=[""])


def test_the_result_has_a_part_for_each_kind_of_memory(memory: Memory) -> None:
    told = ask(memory, "radio").to_dict()
    assert told.keys() == {"meta", "semantic", "episodic", "artifacts"}
    assert told["semantic"].keys() == {"people", "concepts", "entities", "relationships"}
    assert told["episodic"].keys() == {"sources", "storylines", "macros"}
    assert told["meta"]["weights"] == {"semantic": 0.3, "time": 0.3, "salience": 0.4}
    assert (told["meta"]["granularity"], told["meta"]["mode"]) == (1, "fast")
    for wrong in (0, 4):
        with pytest.raises(InputError, match="granularity must be from 1 to 3"):
            ask(memory, "radio", granularity=wrong)


def test_people_concepts_and_entities_are_found_by_meaning(memory: Memory) -> None:
    person(memory, "ada", "radio")
    person(memory, "frosty", "radio frost", kind="concept")
    person(memory, "mast", "antenna radio", kind="entity")
    person(memory, "baker", "bread")
    found = ask(memory, "radio")
    assert (ids(found.semantic.people), ids(found.semantic.concepts)) == (["ada"], ["frosty"])
    assert ids(found.semantic.entities) == ["mast"]


def test_a_threshold_is_the_least_cosine(memory: Memory) -> None:
    person(memory, "half", "radio frost")
    assert ids(ask(memory, {"query": "radio", "threshold": 0.70}).semantic.people) == ["half"]
    assert ids(ask(memory, {"query": "radio", "threshold": 0.72}).semantic.people) == []


def test_the_threshold_is_two_tenths_unless_told_otherwise(memory: Memory) -> None:
    person(memory, "near", "radio" + " bread" * 4)  # cosine .243
    person(memory, "far", "radio" + " bread" * 5)  # cosine .196
    assert ids(ask(memory, "radio").semantic.people) == ids(ask(memory, {"query": "radio"}).semantic.people) == ["near"]


def test_names_and_aliases_are_found_by_text(memory: Memory) -> None:
    person(memory, "p1", name="Ada Lovelace", aliases=["Countess of Lovelace"])
    for text in ("Ada Lovelace", "ada lovelace", "countess of lovelace", "Ada"):
        assert ids(ask(memory, text_matches=[text]).semantic.people) == ["p1"]
    assert ids(ask(memory, text_matches=["Grace Hopper"]).semantic.people) == []


def test_a_text_matches_whatever_its_accents_and_signs_are(memory: Memory) -> None:
    person(memory, "lovelace", name="Ada Łovelace")
    person(memory, "guitar", name="🎸", kind="entity")
    person(memory, "bob")
    memory.link("bob", "lovelace", text="met in Kyōto", now=NOW)
    assert ids(ask(memory, text_matches=["Lovelace"]).semantic.people) == ["lovelace"]
    assert ids(ask(memory, text_matches=["🎸"]).semantic.entities) == ["guitar"]
    assert sorted(ids(ask(memory, text_matches=["kyoto"]).semantic.people)) == ["bob", "lovelace"]


def test_an_exact_text_match_counts_1_and_a_fuzzy_one_what_levenshtein_says(memory: Memory) -> None:
    person(memory, "p1", name="Lovelace")
    exact = ask(memory, text_matches=["lovelace"]).semantic.people[0]
    fuzzy = ask(memory, text_matches=["lovelase"]).semantic.people[0]
    assert exact.why["semantic"] == 1.0
    assert fuzzy.why["semantic"] == pytest.approx(1 - 1 / 8)


@given(st.text("abé", max_size=70), st.text("abé", max_size=9))
def test_levenshtein_counts_what_the_whole_table_says(a: str, b: str) -> None:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (x != y))
    alike = 1 - row[-1] / max(len(a), len(b)) if a or b else 1.0
    assert levenshtein(a, b) == levenshtein(b, a) == pytest.approx(alike)


@pytest.mark.parametrize(
    ("measure", "text", "alike"),
    [
        ("levenshtein", "lovelac", 0.875), ("jaro_winkler", "lovelac", 0.975), ("levenshtein", "miss lovelace", 8 / 13),
        ("token_overlap", "miss lovelace", 1.0), ("levenshtein", "lovelaze", 0.875), ("phonetic", "lovelaze", 1.0),
    ],
)  # fmt: skip
def test_other_measures_of_likeness_may_be_chosen(memory: Memory, measure: str, text: str, alike: float) -> None:
    person(memory, "p1", name="Lovelace")
    (one,) = ask(memory, text_matches=[text], fuzzy=measure).semantic.people
    assert one.why["semantic"] == pytest.approx(alike)


def test_found_both_ways_counts_by_the_better(memory: Memory) -> None:
    person(memory, "ada", "radio frost")
    one = ask(memory, "radio", text_matches=["ada"]).semantic.people[0]
    assert one.why["cosines"]["radio"] == pytest.approx(math.sqrt(0.5), abs=1e-3)
    assert one.why["semantic"] == 1.0


def test_sources_are_found_by_their_summary_and_by_keywords_and_tags(memory: Memory) -> None:
    person(memory, "s1", "antenna radio", kind="source", tags=["Field Day"], props={"keywords": ["connector"]})
    person(memory, "s2", "bread", kind="source")
    assert ids(ask(memory, "antenna").episodic.sources) == ["s1"]
    assert ids(ask(memory, text_matches=["field day"]).episodic.sources) == ["s1"]
    assert ids(ask(memory, text_matches=["connector"]).episodic.sources) == ["s1"]


@pytest.mark.parametrize(("granularity", "kind"), [(2, "storyline"), (3, "macro")])
def test_storylines_and_macros_are_found_by_what_they_tell_and_by_name(
    memory: Memory, granularity: int, kind: str
) -> None:
    person(memory, "told", "antenna radio", kind=kind, name="Ada, January 2026")
    person(memory, "other", "bread", kind=kind, name="The bakery")
    for queries, texts in ((["antenna"], []), ([], ["ada, january 2026"]), ([], ["Ada"])):
        found = ask(memory, *queries, text_matches=texts, granularity=granularity).episodic
        assert ids(found.storylines + found.macros) == ["told"]


def test_artifacts_are_found_by_name_and_description(memory: Memory) -> None:
    person(memory, "plan", "drawing of the antenna", kind="artifact", name="Mast plan")
    assert ids(ask(memory, text_matches=["mast plan"]).artifacts) == ["plan"]
    assert ids(ask(memory, text_matches=["drawing"]).artifacts) == ["plan"]


def test_a_repeated_query_is_embedded_once(tmp_path: Path) -> None:
    axes = Axes()
    with Memory(tmp_path / "memory", embedder=axes) as memory:
        person(memory, "ada", "radio")
        ask(memory, "radio")
        once = axes.asked
        ask(memory, "radio")
        assert axes.asked == once == 1


def test_without_vectors_the_words_of_a_query_answer(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory", embedder="none") as memory:
        person(memory, "ada", "radio and frost")
        assert ids(ask(memory, "radio frost").semantic.people) == ["ada"]
        assert ids(ask(memory, "bread").semantic.people) == []


# --- scoring


def test_the_final_score_is_the_weighted_sum(memory: Memory) -> None:
    person(memory, "ada", "radio radio radio radio frost frost frost", days=35)
    one = ask(memory, "radio").semantic.people[0]
    assert one.why["semantic"] == pytest.approx(0.8, abs=1e-3)
    assert round(one.why["time"], 4) == 0.4966
    assert one.why["salience"] == 0.5
    assert one.score == pytest.approx(0.58898, abs=5e-4)


def test_time_runs_from_the_update_of_a_person_and_from_when_a_source_happened(memory: Memory) -> None:
    for kind in ("person", "concept", "entity", "source"):
        memory.add("radio", name=kind, id=kind, kind=kind, at=NOW - 35 * DAY, now=NOW)
    times = {item.node.id: round(item.why["time"], 4) for item in ask(memory, "radio").items}
    assert times == {"person": 1.0, "concept": 1.0, "entity": 1.0, "source": 0.4966}


def test_weights_are_renormalised_and_bad_ones_refused(memory: Memory) -> None:
    person(memory, "ada", "radio", days=35)
    one = ask(memory, "radio", weights={"semantic": 2, "time": 2, "salience": 0}).semantic.people[0]
    assert one.score == pytest.approx(0.5 + 0.5 * 0.4966, abs=1e-3)
    for wrong in ({"semantic": -1}, {"semantic": 0, "time": 0, "salience": 0}):
        with pytest.raises(InputError, match="weight"):
            ask(memory, "radio", weights=wrong)


def test_salience_lifts_what_is_used(memory: Memory) -> None:
    person(memory, "new", "radio")
    person(memory, "used", "radio")
    for _ in range(3):
        memory.explore(text_matches=["used"], now=NOW)
    assert ids(ask(memory, "radio").semantic.people) == ["used", "new"]


def test_a_negative_cosine_counts_as_none() -> None:
    from cuetrail.formulas import final_score

    assert final_score(-0.5, 0, 0, (1, 0, 0)) == 0


def test_several_queries_are_fused_by_rank(memory: Memory) -> None:
    person(memory, "both", "radio frost")
    person(memory, "one", "radio")
    found = {item.node.id: item.why["semantic"] for item in ask(memory, "radio", "frost").semantic.people}
    # Ranks 2 and 1, and rank 1 in one of two lists.
    assert found["both"] == pytest.approx((1 / 62 + 1 / 61) * 61 / 2)
    assert found["one"] == pytest.approx(1 / 61 * 61 / 2)


def test_the_first_of_every_list_has_all_there_is_however_often_a_query_is_repeated(memory: Memory) -> None:
    assert round(rrf([1, 1]), 6) == 0.032787
    person(memory, "both", "radio frost")
    for queries in (["radio", "frost"], ["radio", "frost", "radio"]):
        assert ask(memory, *queries).semantic.people[0].why["semantic"] == pytest.approx(1.0)


def test_multi_query_and_deep_ask_from_two_or_three_more_sides(memory: Memory) -> None:
    person(memory, "ada", "radio")
    for options in ({"multi_query": True}, {"mode": "deep"}):
        asked = [one["query"] for one in ask(memory, "What does Ada say of radio?", **options).meta["queries"]]
        assert asked == [
            "What does Ada say of radio?", "all conversations about: ada, radio",
            "Ada: relationship, attitude, closeness", "ada radio: ideas, goals, decisions",
        ]  # fmt: skip
        assert len(ask(memory, "what is radio?", **options).meta["queries"]) == 3
    own = ask(memory, "radio", multi_query=True, expander=lambda query: [f"{query} frost"])
    assert [one["query"] for one in own.meta["queries"]] == ["radio", "radio frost"]


def broken(_query: str) -> list[str]:
    raise ConnectionError("no answer from the model")


def test_an_expander_that_fails_costs_what_it_would_have_asked(memory: Memory) -> None:
    person(memory, "ada", "radio")
    found = ask(memory, "radio", mode="deep", expander=broken)
    assert ids(found.semantic.people) == ["ada"]
    assert [one["query"] for one in found.meta["queries"]] == ["radio"]
    assert found.meta["notices"] == ["asked without other sides: the expander failed (no answer from the model)"]


@pytest.mark.parametrize("made", [None, "abc", 7])
def test_an_expander_must_give_a_list_of_texts(memory: Memory, made: Any) -> None:
    with pytest.raises(InputError, match="an expander must return a list of texts"):
        ask(memory, "radio", mode="deep", expander=lambda _query: made)


def test_an_explanation_has_the_part_scores(memory: Memory) -> None:
    person(memory, "ada", "radio")
    told = ask(memory, "radio", explain=True).to_dict()["semantic"]["people"][0]["why"]
    assert {"semantic", "time", "salience", "weights", "cosines", "ranks"} <= told.keys()
    assert "why" not in ask(memory, "radio").to_dict()["semantic"]["people"][0]


# --- relationships and filters


def related(memory: Memory) -> None:
    for name in ("ada", "bob", "cleo", "dan"):
        person(memory, name, "radio" if name == "ada" else "")
    memory.link("ada", "bob", type="friend", attitude=5, proximity=4, text="share a radio", now=NOW)
    memory.link("ada", "cleo", type="rival", attitude=1, proximity=2, text="quarrel over bread", now=NOW)
    memory.link("ada", "dan", type="neighbour", text="same street", now=NOW - 5)
    memory.link("bob", "cleo", type="friend", attitude=4, proximity=3, now=NOW)


def types(found: Exploration) -> list[str | None]:
    return [one.edge.type for one in found.semantic.relationships]


def test_relationships_that_touch_what_is_found_come_too(memory: Memory) -> None:
    related(memory)
    assert types(ask(memory, {"query": "radio", "threshold": 0.5})) == ["friend", "rival", "neighbour"]


def test_relationships_are_told_by_description_notes_and_type(memory: Memory) -> None:
    related(memory)
    scores = {one.edge.type: one.why["semantic"] for one in ask(memory, "radio").semantic.relationships}
    assert scores["friend"] == pytest.approx(1.0, abs=1e-3)
    assert scores["rival"] == 0
    by_type = {
        one.edge.type: one.why["semantic"]
        for one in ask(memory, text_matches=["ada", "rival", "street"]).semantic.relationships
    }
    assert (by_type["rival"], by_type["neighbour"]) == (1.0, 1.0)


def test_what_is_noted_on_a_relationship_speaks_for_it_by_its_meaning(memory: Memory) -> None:
    related(memory)
    (rival,) = [one.edge for one in ask(memory, "radio").semantic.relationships if one.edge.type == "rival"]
    memory.note(rival.id, "frost between them", now=NOW)
    asked = ask(memory, {"query": "radio frost", "threshold": 0.5})
    scores = {one.edge.type: one.why["semantic"] for one in asked.semantic.relationships}
    assert scores["rival"] == pytest.approx(math.sqrt(0.5), abs=1e-3)
    assert scores["neighbour"] == 0


def test_a_relationship_is_found_by_its_type_alone(memory: Memory) -> None:
    related(memory)
    found = ask(memory, text_matches=["Rival"])
    assert sorted(ids(found.semantic.people)) == ["ada", "cleo"]
    assert types(found)[0] == "rival"
    assert ids(ask(memory, text_matches=["rival"], relationship_filters={"min_attitude": 2}).semantic.people) == []


def strangers(memory: Memory) -> str:
    """Two people of whom nothing is known but how they are related; the id of their relationship."""
    related(memory)
    for name in ("eve", "finn"):
        person(memory, name)
    return memory.link("eve", "finn", type="pupil", attitude=3, text="music lessons on Mondays", now=NOW).id


@pytest.mark.parametrize(
    "asked", [{"queries": ["music"]}, {"text_matches": ["music Lessons"]}, {"text_matches": ["mondays"]}]
)
def test_a_relationship_is_found_by_its_description_alone(memory: Memory, asked: dict[str, Any]) -> None:
    strangers(memory)
    found = ask(memory, *asked.get("queries", ()), text_matches=asked.get("text_matches", ()))
    assert sorted(ids(found.semantic.people)) == ["eve", "finn"]
    assert types(found) == ["pupil"]


def test_a_relationship_is_found_by_the_meaning_of_its_description_without_a_word_of_the_query(memory: Memory) -> None:
    strangers(memory)
    found = ask(memory, "melody")
    assert sorted(ids(found.semantic.people)) == ["eve", "finn"]
    (one,) = found.semantic.relationships
    assert (one.edge.type, one.why["semantic"]) == ("pupil", pytest.approx(1.0, abs=1e-3))
    for left_out in (
        ask(memory, "melody", relationship_filters={"min_attitude": 4}),
        ask(memory, {"query": "melody garden tea", "threshold": 0.9}),
    ):
        assert (types(left_out), ids(left_out.semantic.people)) == ([], [])


def test_a_relationship_is_found_by_the_meaning_of_a_note_on_it_while_that_lasts(memory: Memory) -> None:
    relationship = strangers(memory)
    memory.note(relationship, "frozen words", expires="week", now=NOW)
    memory.note(relationship, "bread and tea and money", now=NOW)
    for now, people in ((NOW, ["eve", "finn"]), (NOW + 8 * DAY, [])):
        found = ask(memory, {"query": "frost", "threshold": 0.9}, now=now)
        assert sorted(ids(found.semantic.people)) == people
        assert types(found) == ["pupil"] * bool(people)


def test_a_relationship_with_somebody_hidden_finds_nobody(memory: Memory) -> None:
    related(memory)
    person(memory, "eve")
    memory.add("", id="finn", name="finn", kind="person", provenance="quarantine", now=NOW)
    memory.link("eve", "finn", type="pupil", text="music lessons", now=NOW)
    assert ids(ask(memory, "music", text_matches=["lessons"]).semantic.people) == []
    assert sorted(ids(ask(memory, "music", include_quarantined=True).semantic.people)) == ["eve", "finn"]


@pytest.mark.parametrize("asked", [{"queries": ["frost"]}, {"text_matches": ["frost"]}])
def test_a_relationship_is_found_by_a_note_on_it_while_that_lasts(memory: Memory, asked: dict[str, Any]) -> None:
    memory.note(strangers(memory), "frost between them", expires="week", now=NOW)
    for now, people in ((NOW, ["eve", "finn"]), (NOW + 8 * DAY, [])):
        found = ask(memory, *asked.get("queries", ()), text_matches=asked.get("text_matches", ()), now=now)
        assert sorted(ids(found.semantic.people)) == people
        assert types(found) == ["pupil"] * bool(people)


def test_what_is_found_by_a_relationship_keeps_the_filters(memory: Memory) -> None:
    strangers(memory)
    assert types(ask(memory, "music", relationship_filters={"min_attitude": 4})) == []
    assert ids(ask(memory, {"query": "music garden tea", "threshold": 0.9}).semantic.people) == []


def test_a_relationship_between_people_who_are_found_anyway_brings_nobody_else(memory: Memory) -> None:
    related(memory)
    assert ids(ask(memory, {"query": "radio", "threshold": 0.5}).semantic.people) == ["ada"]


def test_without_vectors_a_relationship_is_found_by_the_words_it_shares(tmp_path: Path) -> None:
    with Memory(tmp_path, embedder="none") as memory:
        strangers(memory)
        assert types(ask(memory, "music lessons")) == ["pupil"]
        assert types(ask(memory, "music in far countries")) == []


@pytest.mark.parametrize(
    ("filters", "kept"),
    [
        ({"min_attitude": 4}, ["friend"]),
        ({"max_attitude": 2}, ["rival"]),
        ({"min_proximity": 2, "max_proximity": 4}, ["friend", "rival"]),
        ({"relationship_types": ["Friend", "rival"]}, ["friend", "rival"]),
        ({"exclude_relationship_types": ["friend"]}, ["neighbour", "rival"]),
        ({"relationship_types": ["friend"], "exclude_relationship_types": ["friend"]}, []),
    ],
)
def test_filters_hold_before_scoring_and_on_expansion_edges(
    memory: Memory, filters: dict[str, Any], kept: list[str]
) -> None:
    related(memory)
    found = ask(memory, {"query": "radio", "threshold": 0.5}, relationship_filters=filters)
    assert sorted(filter(None, types(found))) == kept
    near = {"bob": "friend", "cleo": "rival", "dan": "neighbour"}
    assert sorted(near[one.id] for one in found.semantic.people[0].neighbours) == kept


def test_a_relationship_with_what_is_hidden_or_happened_is_not_told(memory: Memory) -> None:
    person(memory, "ada", "radio")
    person(memory, "bob", provenance="quarantine")
    memory.add("tea", id="atom", now=NOW)
    person(memory, "long ago", days=50)
    for other in ("bob", "atom", "long ago"):
        memory.link("ada", other, type=other, now=NOW)
    assert types(ask(memory, "radio")) == ["long ago"]
    assert types(ask(memory, "radio", since=NOW - 40 * DAY)) == []
    assert sorted(map(str, types(ask(memory, "radio", include_quarantined=True)))) == ["bob", "long ago"]


def test_a_relationship_that_is_over_is_not_told(memory: Memory) -> None:
    person(memory, "ada", "radio")
    person(memory, "bob")
    memory.link("ada", "bob", type="friend", valid_until=NOW, now=NOW)
    assert types(ask(memory, "radio")) == []


# --- cuts


def many(memory: Memory, kind: str, count: int) -> None:
    for n in range(count):
        person(memory, f"{kind}{n}", "radio", days=n, kind=kind)


def test_granularity_1_cuts_at_5_sources_5_nodes_3_storylines_and_2_macros(memory: Memory) -> None:
    for kind in ("source", "person", "concept", "storyline", "macro"):
        many(memory, kind, 7)
    found = ask(memory, "radio")
    assert len(found.episodic.sources) == 5
    assert len(found.semantic.people) + len(found.semantic.concepts) == 5
    assert (len(found.episodic.storylines), len(found.episodic.macros)) == (3, 2)
    told = found.to_dict()["episodic"]
    assert told["storylines"][0] == {"id": "storyline0", "name": "storyline0"}
    assert told["macros"] == [{"id": f"macro{n}", "name": f"macro{n}"} for n in (0, 1)]
    assert [one["text"] for one in told["sources"]] == ["radio"] * 5


def test_at_most_5_artifacts_are_told(memory: Memory) -> None:
    many(memory, "artifact", 7)
    assert len(ask(memory, text_matches=["radio"]).artifacts) == 5


@pytest.mark.parametrize("granularity", [1, 2, 3])
def test_at_any_granularity_5_nodes_and_10_relationships_that_touch_them_are_told(
    memory: Memory, granularity: int
) -> None:
    many(memory, "person", 4)
    many(memory, "concept", 4)
    for n in range(14):
        person(memory, f"p{n}")
        memory.link("person0", f"p{n}", now=NOW)
    memory.link("p0", "p1", text="radio", now=NOW)
    found = ask(memory, "radio", granularity=granularity).semantic
    shown = {*ids(found.people), *ids(found.concepts)}
    assert len(shown) == 5
    assert len(found.relationships) == 10
    assert all(shown & {one.edge.src, one.edge.dst} for one in found.relationships)


def test_attitude_and_proximity_go_from_1_to_5(memory: Memory) -> None:
    related(memory)
    for name in ("attitude", "proximity"):
        for wrong in (0, 6):
            given: Any = {name: wrong}
            with pytest.raises(InputError, match=name):
                memory.link("ada", "bob", **given)
            with pytest.raises(InputError, match=name):
                ask(memory, "radio", relationship_filters={f"min_{name}": wrong})


def story(memory: Memory, id_: str, sources: int, start: int = 0) -> None:
    """A storyline with sources, each of which mentions Ada."""
    person(memory, id_, "radio", days=start, kind="storyline")
    for n in range(sources):
        person(memory, f"{id_}-s{n}", "said", days=start - n / 10, kind="source")
        memory.link(f"{id_}-s{n}", id_, kind="part_of", now=NOW)
        memory.store.write(memory.scope, Batch(mentions=[Mention(f"{id_}-s{n}", "ada", NOW)]))


def test_granularity_2_previews_at_most_5_sources_of_each_of_5_storylines_and_10_in_all(memory: Memory) -> None:
    person(memory, "ada")
    for n in range(6):
        story(memory, f"t{n}", 7, start=n)
    many(memory, "macro", 4)
    found = ask(memory, "radio", granularity=2)
    assert len(found.episodic.storylines) == 5
    assert [len(one.sources) for one in found.episodic.storylines] == [5, 5, 0, 0, 0]
    assert [one.id for one in found.episodic.storylines[0].mentioned] == ["ada"]
    assert (len(found.episodic.macros), found.episodic.sources) == (2, ())
    assert found.to_dict()["episodic"]["macros"][0].keys() == {"id", "name"}


@pytest.mark.parametrize(("mode", "count"), [("fast", 5), ("deep", 10)])
def test_of_a_storyline_the_5_to_10_most_salient_that_its_sources_mention_are_told(
    memory: Memory, mode: str, count: int
) -> None:
    person(memory, "ada")
    story(memory, "t", 2)
    for n in range(12):
        person(memory, f"a{n:02}")
        memory.store.write(memory.scope, Batch(mentions=[Mention(f"t-s{n % 2}", f"a{n:02}", NOW)]))
        for _ in range(n % 4):
            memory.store.touch(memory.scope, [f"a{n:02}"], NOW)
    (told,) = ask(memory, "radio", granularity=2, mode=mode).episodic.storylines
    best = [f"a{n:02}" for n in (3, 7, 11, 2, 6, 10, 1, 5, 9)]
    # Of the least, whom more sources mention comes first.
    assert [one.id for one in told.mentioned] == [*best, "ada"][:count]


def test_whom_filters_leave_out_is_not_told_as_mentioned(memory: Memory) -> None:
    person(memory, "ada")
    story(memory, "t", 1)
    person(memory, "asleep", days=100, retention="ephemeral")
    person(memory, "hidden", provenance="quarantine")
    person(memory, "thing", kind="artifact")
    mentions = [Mention("t-s0", id_, NOW) for id_ in ("asleep", "hidden", "thing")]
    memory.store.write(memory.scope, Batch(mentions=mentions))
    memory.dream(now=NOW, only=["decay"])
    for options, others in (
        ({}, []),
        ({"include_archived": True}, ["asleep"]),
        ({"include_quarantined": True}, ["hidden"]),
    ):
        (one,) = ask(memory, "radio", granularity=2, **options).episodic.storylines
        assert sorted(glimpse.id for glimpse in one.mentioned) == ["ada", *others]


def test_what_filters_leave_out_is_in_no_storyline_and_no_macro_that_is_told(memory: Memory) -> None:
    for whole, kind, part in (("t", "storyline", "source"), ("m", "macro", "storyline")):
        person(memory, whole, "radio", kind=kind)
        for id_, provenance in (("good", "internal"), ("bad", "quarantine")):
            person(memory, f"{whole}-{id_}", "said", kind=part, provenance=provenance)
            memory.link(f"{whole}-{id_}", whole, kind="part_of", now=NOW)
    for quarantined, told in ((False, {"good"}), (True, {"good", "bad"})):
        (one,) = ask(memory, "radio", granularity=2, include_quarantined=quarantined).episodic.storylines
        assert {source.id for source in one.sources} == {f"t-{id_}" for id_ in told}
        (one,) = ask(memory, "radio", granularity=3, include_quarantined=quarantined).episodic.macros
        assert {child.id for child in one.storylines} == {f"m-{id_}" for id_ in told}


def test_granularity_3_tells_macros_with_all_storylines_by_start_and_no_sources(memory: Memory) -> None:
    many(memory, "macro", 6)
    for n in (3, 9, 1):
        person(memory, f"t{n}", days=n, kind="storyline")
        memory.link(f"t{n}", "macro0", kind="part_of", now=NOW)
    found = ask(memory, "radio", granularity=3)
    assert len(found.episodic.macros) == 5
    assert [one.id for one in found.episodic.macros[0].storylines] == ["t9", "t3", "t1"]
    assert (found.episodic.sources, found.episodic.storylines) == ((), ())


def test_notes_are_the_10_newest_unexpired_500_characters_each_and_5000_in_all(memory: Memory) -> None:
    person(memory, "ada", "radio")
    for n in range(12):
        memory.note("ada", f"{n:02}" + "x" * 700, now=NOW - 100 + n)
    memory.note("ada", "over", expires=NOW, now=NOW - 1)
    notes = ask(memory, "radio").semantic.people[0].notes
    assert [note[:2] for note in notes] == [f"{n:02}" for n in range(11, 1, -1)]
    assert {len(note) for note in notes} == {500}


# --- use, scope and the archive


def test_what_is_told_in_full_is_touched_once_and_neighbours_are_not(memory: Memory) -> None:
    related(memory)
    many(memory, "storyline", 1)
    memory.explore([{"query": "radio", "threshold": 0.5}], text_matches=["ada"], now=NOW)
    used = {id_: node.life.accesses for id_, node in memory.nodes("ada", "bob", "storyline0").items()}
    assert used == {"ada": 1, "bob": 0, "storyline0": 0}


def test_the_archived_is_hidden_unless_asked_for(memory: Memory) -> None:
    person(memory, "ada", "radio", retention="ephemeral", days=100)
    memory.dream(now=NOW, only=["decay"])
    assert ids(ask(memory, "radio", text_matches=["ada"]).semantic.people) == []
    assert ids(ask(memory, "radio", include_archived=True).semantic.people) == ["ada"]


def test_nothing_of_another_user_is_told(tmp_path: Path) -> None:
    for user in ("ann", "bob"):
        with Memory(tmp_path / "memory", scope=Scope(user=user), embedder=Axes()) as memory:
            related(memory)
            memory.note("ada", f"{user}'s note", now=NOW)
            found = ask(memory, "radio", text_matches=["ada"])
            assert ids(found.semantic.people)[0] == "ada"
            assert found.semantic.people[0].notes == (f"{user}'s note",)
            assert {item.node.owner for item in found.items} == {user}
            assert types(found) == ["friend", "rival", "neighbour"]


def test_a_recall_by_the_recipe_scores_by_meaning_time_and_salience(memory: Memory) -> None:
    memory.add("radio", id="old", at=NOW - 35 * DAY, now=NOW)
    memory.add("radio", id="new", at=NOW, source="b", now=NOW)
    hits = memory.recall("radio", recipe=recipes.EXPLORE, now=NOW, record_access=False).hits
    assert [hit.node.id for hit in hits] == ["new", "old"]
    assert [round(hit.score, 3) for hit in hits] == [0.8, 0.649]
    assert hits[1].why["parts"]["time"] == pytest.approx(0.4966, abs=1e-4)


def test_nothing_found_says_so(memory: Memory) -> None:
    person(memory, "ada", "radio")
    assert ask(memory, "radio").answerable
    assert not ask(memory, "bread").answerable
