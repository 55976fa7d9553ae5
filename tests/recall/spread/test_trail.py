"""The default recall follows names from the cue and from its results to memories that share no word with the cue."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cuetrail import Budget, Memory, Scope
from cuetrail.errors import InputError
from cuetrail.recall.dates_in_query import MOST_SPANS, read_dates
from cuetrail.recall.query import without_answer_form
from cuetrail.recall.trail_constants import Trail
from cuetrail.store.vector_space import QueryVector, VectorSpace
from cuetrail.text.names import fold_padded, mentions, possible_names, proper_names
from cuetrail.validation.limits import TIMES

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


@pytest.mark.parametrize(
    ("name", "cue"),
    [
        ("José García", "Where does Jose Garcia's sister live?"),
        ("José García", "JOSÉ GARCÍA"),
        ("Jose Garcia", "what about José García?"),
        ("Müller", "Where do the Mullers live?"),
        ("Øyvind Łaska", "Where is Oyvind Laska?"),
        ("Oyvind Laska", "Where is Øyvind Łaska?"),
        ("Muller", "Where do the Müllers live?"),
        ("Kestrel", "where do Kestrels nest?"),
        ("Duchy (old)", "which Duchies are there?"),
    ],
)
@pytest.mark.parametrize("kind", ["person", "atom"])
def test_a_cue_names_a_memory_whatever_its_case_marks_and_number(
    memory: Memory, name: str, cue: str, kind: str
) -> None:
    memory.add("Rain is likely." if kind == "atom" else "", name=name, kind=kind, id="meant")
    memory.add("Salt comes from the sea.", id="told")
    memory.fact("meant", "lives in", "Lima", source_ref="told")
    found = {hit.node.id: hit.why for hit in memory.recall(cue, budget=ROOM).hits}
    if kind == "atom":
        assert "named" in found["meant"]["found_by"]
    assert [(hop["src"], hop["kind"]) for hop in found["told"]["path"]] == [("meant", "fact")]


def test_who_carries_a_name_as_it_is_written_is_meant_before_who_may_be(memory: Memory) -> None:
    memory.add("A town.", name="Rivers", id="town")
    memory.add("A stream.", name="River", id="stream")
    memory.add("A family.", name="Müller", id="marked")
    memory.add("A trade.", name="Muller", id="plain")
    for cue, id_ in (("Rivers", "town"), ("River", "stream"), ("Müller", "marked"), ("Muller", "plain")):
        hits = memory.recall(f"what about {cue}?", budget=ROOM).hits
        assert [hit.node.id for hit in hits if "named" in hit.why["found_by"]] == [id_]


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
    chat.write_text(
        "Which antenna shall we take?\n\n---\n\nThe short one.\n\n---\n\nUnrelated words stand here.\n", "utf-8"
    )
    memory.ingest(chat)
    texts = [hit.node.text for hit in memory.recall("antenna", budget=ROOM).passages]
    assert texts[:2] == ["Which antenna shall we take?", "The short one."]


@pytest.mark.parametrize("embedder", [None, "static"])
def test_bare_names_never_crowd_out_what_says_something(tmp_path: Path, embedder: str | None) -> None:
    with Memory(tmp_path, embedder=embedder) as memory:
        for number in range(150):
            memory.add("", kind="entity", name=f"mast {number}", id=f"name {number}")
        memory.add("Long ago, on a hill above the village, somebody put up a mast for the radio of the club", id="told")
        found = memory.recall("mast", budget=ROOM).hits
    assert [hit.node.id for hit in found] == ["told"]


def test_a_bare_name_is_found_where_nothing_says_a_word_of_the_cue(memory: Memory) -> None:
    memory.add("", kind="person", name="Hans Salter", id="bare")
    memory.add("Rain is likely tomorrow.", id="rain")
    assert ids(memory, "Salter") == ["bare"]
    assert ids(memory, "Salter", kinds=["person"]) == ["bare"]
    memory.add("Salter rows on the lake", id="told")
    assert ids(memory, "Salter") == ["told"]
    assert ids(memory, "Salter", kinds=["person"]) == ["bare"]


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
    said = possible_names("In 1950 Albert S. Rogell met the Duke of York's aunt. He sang (Frank Morgan wept).")
    assert {"albert s. rogell", "duke of york", "frank morgan"} <= said
    assert not {"albert", "morgan", "frank", "york's aunt. he"} & said
    assert mentions("Lina Wertmüller made it", "lina wertmüller")
    assert not mentions("Frank Morgan", "frank")


DAY = 86_400_000
MAY_2023, NOW = 1_683_849_600_000, 1_700_000_000_000  # 12 May and 14 November 2023


def test_what_is_of_a_time_the_cue_names_comes_first(memory: Memory) -> None:
    memory.add("We met the band to rehearse", id="spring", at=MAY_2023)
    memory.add("We met the band to rehearse again", id="autumn", at=NOW - 3 * DAY)
    memory.add("The drums were sold", id="that day", at=MAY_2023 + DAY // 2)
    assert ids(memory, "When did we meet the band in May?", now=NOW)[0] == "spring"
    assert ids(memory, "When did we meet the band last week?", now=NOW)[0] == "autumn"
    # Of a day everything may be meant, whatever its words.
    found = memory.recall("What happened on 2023-05-12?", budget=ROOM, now=NOW)
    assert {hit.node.id for hit in found.hits} == {"spring", "that day"}
    assert found.hits[0].why["parts"]["when"] == 1.0


def test_what_was_said_later_than_now_comes_behind_what_was_said_before(memory: Memory) -> None:
    for name, at in (("before", NOW - 9 * DAY), ("later today", NOW + DAY // 2), ("after", NOW + 9 * DAY)):
        memory.add("We met the band to rehearse", id=name, source=f"chat/{name}", at=at)
    found = memory.recall("When did we meet the band?", budget=ROOM, now=NOW)
    assert [hit.node.id for hit in found.hits] == ["later today", "before", "after"]
    assert [hit.why["parts"].get("ahead") for hit in found.hits] == [None, None, 1.0]
    assert found.hits[2].score < found.hits[1].score
    # By then, both are known, and the newer comes first.
    assert ids(memory, "When did we meet the band?", now=NOW + 10 * DAY)[0] == "after"


def test_a_plan_counts_as_much_as_what_has_happened(memory: Memory) -> None:
    memory.add("We met the band to rehearse", id="then", at=NOW - 9 * DAY)
    memory.add("We met the band to rehearse", id="plan", at=NOW + 9 * DAY)
    found = memory.recall("When do we meet the band?", budget=ROOM, now=NOW)
    assert [hit.node.id for hit in found.hits] == ["plan", "then"]
    assert found.hits[0].score == found.hits[1].score


def test_what_repeats_a_better_hit_leaves_its_room_to_others(memory: Memory, tmp_path: Path) -> None:
    notes = {
        "mast.md": "The long mast fell in the storm of May.\n",
        "copy.md": "In the storm of May the long mast fell.\n",
        "stay.md": "A stay of the mast broke in the storm.\n",
    }
    for name, text in notes.items():
        (tmp_path / name).write_text(text, "utf-8")
        memory.ingest(tmp_path / name)
    hits = memory.recall("the long mast in the storm of May", budget=ROOM, limit=3).hits
    assert hits[1].node.text == notes["stay.md"].strip()
    assert hits[2].why["repeats"] == hits[0].node.id
    assert hits[2].score < hits[1].score < hits[0].score


def test_what_was_told_on_another_day_or_in_another_number_or_of_another_name_is_no_repetition(memory: Memory) -> None:
    memory.add("I ran five kilometres around the lake", id="monday", at=NOW - 3 * DAY)
    memory.add("I ran five kilometres around the lake", id="tuesday", at=NOW - 2 * DAY)
    memory.add("I ran six kilometres around the lake", id="again", at=NOW - 2 * DAY)
    memory.add("I ran five kilometres around the lake", id="log", name="Lap", at=NOW - 2 * DAY)
    memory.add("I ran five kilometres around the lake", id="twice", at=NOW - 2 * DAY + 1)
    hits = memory.recall("ran kilometres around the lake", budget=ROOM, now=NOW).hits
    assert {hit.node.id: hit.why["repeats"] for hit in hits if "repeats" in hit.why} == {"tuesday": "twice"}


def test_a_cue_that_asks_for_a_time_alone_finds_whatever_is_of_that_time(memory: Memory) -> None:
    memory.add("We met the band to rehearse", id="spring", at=MAY_2023)
    memory.add("The drums were sold", id="later", at=MAY_2023 + 9 * DAY, tags=["trade"])
    memory.add("The dentist expects me", id="plan", at=NOW + 7 * DAY)
    for cue in ("What happened last May?", "what did we do in May 2023?", "May 2023"):
        assert set(ids(memory, cue, now=NOW)) == {"spring", "later"}
    assert ids(memory, "What happened last May?", now=NOW, tags=["trade"]) == ["later"]
    assert ids(memory, "What is up next week?", now=NOW) == ["plan"]
    assert ids(memory, "Who sang in May?", now=NOW) == ids(memory, "What happened in June?", now=NOW) == []


def test_a_time_that_is_named_widens_no_filter(memory: Memory) -> None:
    memory.add("We met the band", id="then", at=MAY_2023)
    memory.add("We met the band", id="now", at=NOW)
    assert ids(memory, "the band on 12 May 2023", now=NOW, since=NOW - DAY) == ["now"]


@pytest.mark.parametrize(
    ("cue", "expected"),
    [
        ("on 20230512", ["2023-05-12 to 2023-05-12"]),
        ("on 5 May", ["2023-05-05 to 2023-05-05"]),
        ("on December 24th", ["2022-12-24 to 2022-12-24"]),
        ("may I ask", []),
        ("in summer 2022", ["2022-06-01 to 2022-08-31"]),
        ("last winter", ["2022-12-01 to 2023-02-28"]),
        ("two months ago", ["2023-08-31 to 2023-09-29"]),
        ("last Tuesday", ["2023-11-07 to 2023-11-07"]),
        ("in the past three weeks", ["2023-10-24 to 2023-11-14"]),
        ("last month", ["2023-10-01 to 2023-10-31"]),
        ("since March 2023", ["2023-03-01 to 2023-11-14"]),
        ("before 2022", ["1970-01-01 to 2021-12-31"]),
        ("on 31 February 2023 or 2023-13-01", ["2023-02-01 to 2023-02-28"]),
        ("2001, 2002, 2003, 2004 and 2005", []),
        ("in May last year", ["2022-05-01 to 2022-05-31"]),
        ("last year in May", ["2022-05-01 to 2022-05-31"]),
        ("in early May", ["2023-05-01 to 2023-05-31"]),
        ("after March", ["2023-04-01 to 2023-11-14"]),
        ("2023-05 and 12.05.2022", ["2023-05-01 to 2023-05-31", "2022-05-12 to 2022-05-12"]),
        ("mid-2021", ["2021-01-01 to 2021-12-31"]),
        ("half a year ago", ["2023-04-16 to 2023-06-14"]),
        ("last November, this November", ["2022-11-01 to 2022-11-30", "2023-11-01 to 2023-11-30"]),
        ("last autumn, this autumn", ["2022-09-01 to 2022-11-30", "2023-09-01 to 2023-11-30"]),
        ("during the summer", ["2023-06-01 to 2023-08-31"]),
        ("in the fall of Rome", []),
        ("over the past year", ["2022-11-14 to 2023-11-14"]),
        ("in the last week", ["2023-11-07 to 2023-11-14"]),
        ("last week", ["2023-11-06 to 2023-11-12"]),
        ("the week before 3 August 2023", ["2023-07-27 to 2023-08-02"]),
        ("two days after 3 August 2023", ["2023-08-05 to 2023-08-05"]),
        (
            "tomorrow, next week or next Tuesday",
            ["2023-11-15 to 2023-11-15", "2023-11-20 to 2023-11-26", "2023-11-21 to 2023-11-21"],
        ),
        ("past \0day", []),
    ],
)
def test_a_cue_names_times_as_people_do(cue: str, expected: list[str]) -> None:
    assert [str(span) for span in read_dates(cue, NOW)[0]] == expected


@pytest.mark.parametrize(
    ("cue", "day", "expected"),
    [
        ("this winter", "2024-12-25", "2024-12-01 to 2025-02-28"),
        ("this winter", "2024-01-10", "2023-12-01 to 2024-02-29"),
        ("last winter", "2024-01-10", "2022-12-01 to 2023-02-28"),
        ("last winter", "2024-03-01", "2023-12-01 to 2024-02-29"),
        ("this summer", "2024-06-01", "2024-06-01 to 2024-08-31"),
        ("last summer", "2024-07-01", "2023-06-01 to 2023-08-31"),
    ],
)
def test_the_last_season_is_never_the_one_that_is_now(cue: str, day: str, expected: str) -> None:
    now = int(datetime.fromisoformat(f"{day}T12:00Z").timestamp() * 1000)
    assert [str(span) for span in read_dates(cue, now)[0]] == [expected]


@pytest.mark.parametrize("now", [1 << 52, 1 << 53, -(1 << 53)])
def test_at_a_moment_that_no_calendar_has_a_cue_names_no_time(memory: Memory, now: int) -> None:
    films(memory)
    assert read_dates("which film yesterday?", now)[0] == []
    with pytest.raises(InputError, match="now must be a time in UTC milliseconds from the year 1 to 9999"):
        memory.recall("which film yesterday?", now=now)


@pytest.mark.parametrize("now", TIMES)
def test_the_first_and_the_last_time_are_answered(memory: Memory, now: int) -> None:
    films(memory)
    assert set(ids(memory, "which film yesterday?", now=now)) == {"film", "composer"}
    assert memory.brief(now=now) is not None


@given(st.text(max_size=200), st.integers(0, 4_000_000_000_000))
@settings(max_examples=200)
def test_any_cue_names_few_times_that_begin_before_they_end(cue: str, now: int) -> None:
    found, _ = read_dates(cue, now)
    assert len(found) <= MOST_SPANS
    assert all(span.start < span.end and 0 <= span.nearness(now) <= 1 for span in found)


def test_a_name_in_what_was_found_and_the_rest_of_the_question_find_what_neither_does(memory: Memory) -> None:
    memory.add("The Office of Learning belongs to the Cardiff Institutes.", name="Office of Learning", id="office")
    memory.add("Ann Gale is a doctor at the Cardiff Institutes, whose seat is Bangor.", name="Ann Gale", id="seat")
    for n in range(30):
        memory.add(f"The seat of the society number {n} is in town {n}.", name=f"Society {n}")
    found = memory.recall("Where is the seat of what the Office of Learning belongs to?", budget=ROOM)
    assert {hit.node.id for hit in found.hits[:2]} == {"office", "seat"}
    why = next(hit.why for hit in found.hits if hit.node.id == "seat")
    assert {"hop", "left", "further"} <= why["parts"].keys()
    assert why["path"][0]["src"] == "office"


def test_a_link_to_a_note_leads_to_it_and_to_the_best_that_stands_in_it(memory: Memory, tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "Frost.md").write_text("# Frost\n\nThe receiver falls silent: see [[Crimping]].\n", "utf-8")
    (vault / "Crimping.md").write_text("# Crimping\n\nA tight sleeve holds below minus five.\n", "utf-8")
    memory.ingest(vault)
    assert "Crimping" in memory.recall("receiver falls silent", budget=ROOM).text
    found = memory.recall("receiver falls silent, sleeve", budget=ROOM)
    best = next(hit for hit in found.hits if hit.node.text == "A tight sleeve holds below minus five.")
    assert best.why["parts"]["walk"] > 0
    start = next(hit.node.id for hit in found.hits if "see [[Crimping]]" in hit.node.text)
    title = memory.get("Crimping")
    assert title is not None
    ends = [(hop["src"], hop["dst"], hop["kind"]) for hop in best.why["path"]]
    assert ends == [(start, title.id, "name"), (title.id, best.node.id, "title")]


def test_in_a_chat_what_says_most_of_the_cue_comes_before_what_repeats_a_word_of_it(memory: Memory) -> None:
    memory.add("Pottery, pottery, pottery! I love pottery.", id="one word", props={"speaker": "Melanie"})
    memory.add("I made a pottery bowl with my kids at the workshop.", id="most", props={"speaker": "Melanie"})
    assert ids(memory, "Which bowl did Melanie make with her kids at the pottery workshop?")[0] == "most"


def test_a_rare_tag_leads_to_what_shares_it_and_a_common_or_generic_one_hardly_does(memory: Memory) -> None:
    memory.add("The receiver falls silent in frost.", id="start", tags=["antenna_b", "radio", "inbox"])
    memory.add("Crimped sleeves hold below minus five.", id="rare", tags=["antenna_b"])
    memory.add("Buy milk.", id="generic", tags=["inbox"])
    for n in range(30):
        memory.add(f"Channel {n} is free.", id=f"common {n}", tags=["radio"])
    hits = memory.recall("why does the receiver fall silent?", budget=ROOM, limit=40).hits
    assert [hit.node.id for hit in hits[:2]] == ["start", "rare"]
    assert [(hop["src"], hop["kind"], hop["dst"]) for hop in hits[1].why["path"]] == [("start", "tag", "rare")]
    assert "generic" not in {hit.node.id for hit in hits}


def test_the_filters_of_a_cue_hold_where_tags_lead(memory: Memory) -> None:
    memory.add("The receiver falls silent.", id="start", tags=["antenna"], buckets=["field"])
    memory.add("Crimped sleeves hold.", id="inside", tags=["antenna"], buckets=["field"])
    memory.add("Sleeves of coats.", id="outside", tags=["antenna"], buckets=["home"])
    assert set(ids(memory, "@field silent receiver")) == {"start", "inside"}


def test_a_fact_leads_to_the_other_entity_and_to_the_text_that_says_so(memory: Memory) -> None:
    memory.add("Tracks geese.", name="Wingbeat", id="wingbeat", kind="entity")
    memory.add("A library in C.", name="Quetzal", id="quetzal", kind="entity")
    memory.add("The storage was settled in March.", id="minutes")
    fact = memory.fact("Wingbeat", "uses", "Quetzal", source_ref="minutes")
    hits = memory.recall("what about Wingbeat?", budget=ROOM).hits
    ways = {hit.node.id: [hop["kind"] for hop in hit.why["path"]] for hit in hits}
    assert ways["quetzal"] == ["fact"]
    assert ways["minutes"] == ["fact"]
    memory.retract(fact.id)
    assert ids(memory, "what about Wingbeat?") == ["wingbeat"]


def test_what_an_answer_is_to_look_like_is_not_looked_for(memory: Memory) -> None:
    memory.add("I bought a model kit of a Spitfire.", id="kit")
    for n in range(5):
        memory.add(f"Is there a total number of model trains, how many in total, item number {n}?", id=f"form {n}")
    assert ids(memory, "What is the total number of model kits I bought?")[0] == "kit"


@pytest.mark.parametrize(
    ("cue", "words", "left"),
    [
        ("How many days did it take?", ["many", "days", "take?"], ["many", "days", "take?"]),
        ("How many weddings and years?", ["many", "weddings", "years?"], ["weddings", "years?"]),
        ("the average age of many people", ["average", "age", "many", "people"], ["average", "age", "many", "people"]),
        ("Which came first, the mill or the dam?", ["came", "first,", "mill", "dam?"], ["mill", "dam?"]),
        ("in total, old mill and old dam", ["total,", "old", "mill", "old", "dam"], ["old", "mill", "old", "dam"]),
    ],
)  # fmt: skip
def test_only_words_that_say_what_an_answer_looks_like_are_left_out(
    cue: str, words: list[str], left: list[str]
) -> None:
    assert without_answer_form(cue, words) == left


def test_words_count_less_beside_a_contextual_model_and_alone_without_vectors() -> None:
    how, space = Trail(), VectorSpace("model", 2)
    contextual = how.text_share(QueryVector(b"", space, contextual=True))
    assert 0 < contextual < how.text_share(QueryVector(b"", space)) < how.text_share(None) == 1


def test_what_one_start_leads_to_does_not_come_before_it(memory: Memory) -> None:
    memory.add("The kite flies", id="kite", name="Red kite", tags=["sky"])
    memory.add("A cloud stands still", id="cloud", tags=["sky"])
    assert ids(memory, "kite") == ["kite", "cloud"]


def test_what_is_forgotten_is_not_kept_as_it_was_read(memory: Memory) -> None:
    memory.add("The secret harbour of Skarholm", id="secret")
    ids(memory, "where is the harbour?")
    assert fold_padded.cache_info().currsize > 0
    memory.forget("secret")
    assert {kept.cache_info().currsize for kept in (possible_names, proper_names, fold_padded)} == {0}


def test_a_hub_gets_less_energy_than_what_few_edges_lead_to(memory: Memory) -> None:
    def energies() -> tuple[float, float]:
        hits = memory.recall("geese in frost", budget=ROOM, record_access=False).hits
        walked = {hit.node.id: hit.why["parts"]["walk"] for hit in hits}
        return walked["index"], walked["lake"]

    memory.add("Geese rest in the frost", id="geese")
    for name in ("index", "lake"):
        memory.add(f"The {name} of it all", id=name)
        memory.link("geese", name, weight=0.5)
    assert energies() == (1.0, 1.0)
    for number in range(40):
        memory.add(f"Page {number}", id=f"page {number}")
        memory.link(f"page {number}", "index", weight=0.5)
    hub, rare = energies()
    assert rare == 1.0
    assert 0 < hub < 0.8
