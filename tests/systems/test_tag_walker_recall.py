"""Tag-Walker, recall. One test per claim, with the specified numbers; the budget has its own file."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cuetrail import Budget, Memory, Node, Recollection, Scope
from cuetrail.errors import InputError
from cuetrail.formulas import gravity, idf
from cuetrail.model import Origin, Rank, Tag, TextQuery, Where
from cuetrail.model.tags import GENERIC_TAGS
from cuetrail.recall import recipes
from cuetrail.recall.query import parse_cue
from cuetrail.recall.stage_types import Mode
from tests.store.sqlite.index.test_text_search import brute_force

HOUR = 3_600_000
ROOMY = Budget(chars=100_000)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path, embedder=None) as opened:
        yield opened


def put(memory: Memory, id_: str, text: str, *tags: str, **more: Any) -> None:
    memory.add(text, id=id_, tags=tags, now=1, **more)


def anchors(found: Recollection) -> list[str]:
    return [hit.node.id for hit in found.anchors]


def walkers(found: Recollection) -> list[str]:
    return [hit.node.id for hit in found.walkers]


# --- anchors


def test_any_word_of_the_query_finds(memory: Memory) -> None:
    put(memory, "a", "red kite")
    put(memory, "b", "blue kite")
    put(memory, "c", "green frog")
    assert set(anchors(memory.tag_walk("red frog", now=2))) == {"a", "c"}


def test_among_equals_those_with_all_words_come_first(memory: Memory) -> None:
    # Two words once count as much as one that a tag doubles, and the tagged one is newer.
    put(memory, "tagged", "lynx filler", "lynx", at=9)
    put(memory, "both", "lynx opal", at=1)
    put(memory, "other", "opal filler", at=5)
    found = memory.tag_walk("lynx opal", now=2)
    assert found.anchors[0].score == pytest.approx(found.anchors[1].score)
    assert anchors(found) == ["both", "tagged", "other"]


def test_a_word_in_a_tag_or_bucket_doubles_a_score_once(memory: Memory) -> None:
    put(memory, "plain", "the kite flies")
    put(memory, "tagged", "the kite flies", "kite")
    put(memory, "filed", "the kite flies", buckets=["red_kite"])
    put(memory, "twice", "the kite flies", "kite", "old/kite", buckets=["kite"])
    found = {hit.node.id: hit for hit in memory.tag_walk("kite", now=2).anchors}
    for id_ in ("tagged", "filed", "twice"):
        assert found[id_].score == pytest.approx(2 * found["plain"].score)
        assert found[id_].why["tag_boost"] is True
        assert found[id_].why["parts"]["tag_boost"] == 2
    assert found["plain"].why["parts"] == {
        "bm25": pytest.approx(found["plain"].score / 2),
        "tag_boost": 1,
        "provenance": 2,
    }


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("mode", "inside", "outside"), [("all", 2, 1), ("internal", 3, 0.5), ("external", 1, 1.5)])
def test_the_first_anchors_are_those_that_scoring_every_match_gives(
    memory: Memory, seed: int, mode: Mode, inside: float, outside: float
) -> None:
    chance = random.Random(seed)
    words = [f"w{i}" for i in range(8)]
    nodes = [
        Node(
            f"n{i:03}",
            text=" ".join(chance.choices(words, k=chance.randint(1, 12))),
            tag_details=tuple(Tag(t, t) for t in chance.sample(words, chance.choice((0, 0, 1)))),
            at=chance.randint(1, 5),
            provenance=chance.choice(("internal", "external")),
        )
        for i in range(120)
    ]
    memory.add_many(nodes, now=1)
    for _ in range(5):
        asked = " ".join(chance.sample(words, chance.randint(1, 3)))
        scored = {one.id: one.score for one in brute_force(nodes, TextQuery(asked))}
        by_id = {node.id: node for node in nodes}
        factors = {id_: inside if by_id[id_].provenance == "internal" else outside for id_ in scored}
        wanted = sorted((scored[id_] * factors[id_] for id_ in scored), reverse=True)
        found = memory.tag_walk(asked, mode=mode, limit=20, budget=ROOMY, now=2)
        assert [hit.score for hit in found.anchors] == pytest.approx(wanted[:14], rel=1e-4)
        for hit in found.anchors:
            assert hit.score == pytest.approx(scored[hit.node.id] * factors[hit.node.id], rel=1e-4)
            assert hit.why["parts"]["provenance"] == factors[hit.node.id]


def test_quotes_hash_and_at_are_phrase_tag_and_bucket(memory: Memory) -> None:
    put(memory, "a", "the red kite", "bird", buckets=["field"])
    put(memory, "b", "a kite that is red", "toy", buckets=["home"])
    assert anchors(memory.tag_walk('"red kite"', now=2)) == ["a"]
    assert anchors(memory.tag_walk("kite #toy", now=2)) == ["b"]
    assert anchors(memory.tag_walk("kite @field", now=2)) == ["a"]
    assert anchors(memory.tag_walk("kite bucket:home", now=2)) == ["b"]
    assert anchors(memory.tag_walk("kite #bird @home", now=2)) == []


WRAPPED = [
    "what is the latest state of the Wingbeat",
    "What's the current state of Wingbeat?",
    "Hey, can you tell me the state of Wingbeat please?",
    "could you please show me the most recent state of the Wingbeat",
    "I'd like to know the state of Wingbeat",
    "do you remember the state of the Wingbeat?",
    "remind me of the state of Wingbeat, thanks",
    "what do we know about the state of Wingbeat",
]


@pytest.mark.parametrize("wrapped", WRAPPED)
def test_what_wraps_a_question_changes_nothing(memory: Memory, wrapped: str) -> None:
    chance = random.Random(7)
    bait = ["latest", "current", "know", "tell", "please", "state", "wingbeat", "bird", "hey", "remember", "like"]
    for n in range(60):
        put(memory, f"n{n:02}", " ".join(chance.sample(bait, 4)), at=n % 7)
    plain = memory.tag_walk("state Wingbeat", budget=ROOMY, now=2)
    found = memory.tag_walk(wrapped, budget=ROOMY, now=2)
    assert anchors(found) == anchors(plain) != []
    assert [hit.score for hit in found.anchors] == [hit.score for hit in plain.anchors]


@pytest.mark.parametrize("asked", ["what is the latest on #radio?", "show me #radio", "what about #radio", "#radio ?"])
def test_what_wraps_a_tag_changes_nothing(memory: Memory, asked: str) -> None:
    put(memory, "a", "The receiver is silent", "radio", at=1)
    put(memory, "b", "The latest antenna", "radio", at=2)
    put(memory, "c", "What to show on the latest screen", "film", at=3)
    for found, plain in ((memory.tag_walk(q, now=4) for q in (asked, "#radio")), map(memory.recall, (asked, "#radio"))):
        assert anchors(found) == anchors(plain)
        assert {*anchors(plain)} == {"a", "b"}


def test_a_tag_is_enough_where_nothing_else_of_the_cue_is_a_noun(memory: Memory) -> None:
    for n in range(12):
        put(memory, f"n{n:02}", f"The receiver of site {n} is silent", "radio", at=n)
    found = memory.tag_walk("what was decided in #radio", now=20)
    assert [(one.name, one.query.words, one.found) for one in found.attempts] == [
        ("full", "decided", 0),
        ("nouns", "", 10),
    ]
    assert len(found.anchors) > 0
    assert memory.tag_walk("antenna #radio", now=20).anchors == ()
    # Where a memory has the word, it is what was asked for.
    put(memory, "said", "We decided to move the mast", "radio", at=0)
    assert anchors(memory.tag_walk("what was decided in #radio", now=20)) == ["said"]


def test_the_result_says_which_attempt_answered(memory: Memory) -> None:
    for n in range(12):
        put(memory, f"n{n:02}", f"The receiver of site {n} is silent", at=n)
    full = memory.tag_walk("receiver", now=2)
    assert (full.attempt, len(full.attempts)) == ("full", 1)
    typo = memory.tag_walk("why did Hanne decide that the reciever hums", now=2)
    assert typo.attempt == "typos"
    assert len(typo.anchors) == 7
    tried = [(one.name, one.query.words, one.found) for one in typo.attempts]
    assert tried == [
        ("full", "Hanne decide reciever hums", 0),
        ("nouns", "Hanne reciever hums", None),
        ("names", "Hanne", None),
        ("typos", "Hanne decide reciever hums", 10),
    ]
    assert typo.to_dict()["attempt"] == "typos"
    assert typo.to_dict()["attempts"][3] == {"name": "typos", "words": "Hanne decide reciever hums", "found": 10}
    assert {hit.why["attempt"] for hit in typo.anchors} == {"typos"}


def test_an_attempt_that_finds_ten_ends_the_search(memory: Memory) -> None:
    for n in range(10):
        put(memory, f"n{n:02}", f"A receiver at site {n}", at=n)
    enough = memory.tag_walk("receiver", now=2)
    assert [(one.name, one.found) for one in enough.attempts] == [("full", 10)]
    memory.forget("n00")
    few = memory.tag_walk("receiver", now=2)
    # Nine as they are, nine with typos forgiven: the first that finds most answers.
    assert [(one.name, one.found) for one in few.attempts] == [("full", 9), ("typos", 9)]
    assert few.attempt == "full"
    assert memory.recall("receiver", recipe=recipes.TAG_WALK, now=2).attempts == few.attempts


def test_how_much_is_enough_can_be_said(memory: Memory) -> None:
    for n in range(4):
        put(memory, f"n{n}", f"A receiver at site {n}")
    put(memory, "typo", "A reciever")

    def attempts(least: int) -> list[tuple[str, int | None]]:
        return [(one.name, one.found) for one in memory.tag_walk("recever", min_results=least, now=2).attempts]

    assert attempts(0) == [("full", 0)]
    assert attempts(1) == attempts(99) == [("full", 0), ("typos", 5)]
    assert [one.name for one in memory.tag_walk("receiver", min_results=4, now=2).attempts] == ["full"]
    assert [one.name for one in memory.tag_walk("receiver", min_results=5, now=2).attempts] == ["full", "typos"]
    recipe = recipes.tag_walk(min_results=4)
    assert [one.name for one in memory.recall("receiver", recipe=recipe, now=2).attempts] == ["full"]
    for wrong in (-1, 2.5, "3", True, 2**31):
        with pytest.raises(InputError, match="min_results must be a whole number from 0 to 10000"):
            memory.tag_walk("receiver", min_results=wrong)  # type: ignore[arg-type]  # what callers get wrong


@pytest.mark.parametrize("seed", range(4))
def test_a_reading_that_is_not_searched_for_would_have_found_no_more(memory: Memory, seed: int) -> None:
    chance = random.Random(seed)
    words = ["Hanne", "Marek", "decide", "quickly", "antenna", "antler", "count", "march", "2024", "weak", "went"]
    for n in range(60):
        put(memory, f"n{n:02}", " ".join(chance.choices(words, k=3)) + f" {n}", chance.choice(["a", "b"]))
    skipped = 0
    for _ in range(40):
        cue = " ".join(chance.sample(words, chance.randint(1, 5)))
        cue += chance.choice(["", "", " #a", ' "Hanne decide"', " ant*"])
        attempts = memory.tag_walk(cue, min_results=99, now=2).attempts

        def found(query: TextQuery, cue: str = cue) -> set[str]:
            where = parse_cue(cue, Where()).where
            return {one.id for one in memory.store.text(memory.scope, query, 99, where)}

        for one in attempts:
            if one.found is None:
                skipped += 1
                assert found(one.query) <= found(attempts[0].query)
    assert skipped > 20


def test_a_phrase_is_looked_for_once_however_the_words_beside_it_are_read(memory: Memory) -> None:
    put(memory, "a", "the red kite flies")
    put(memory, "b", "a kite that is red")
    tried = memory.tag_walk('"red kite" flyes', now=2).attempts
    assert [(one.name, one.found) for one in tried] == [("full", 1), ("typos", None)]


def test_dates_are_kept_where_only_nouns_or_names_are(memory: Memory) -> None:
    tried = memory.tag_walk("why did Marek quickly move the mast on 12 March 2024 or in Q3", now=2).attempts
    assert [(one.name, one.query.words) for one in tried[1:3]] == [
        ("nouns", "Marek move mast 12 March 2024 Q3"),
        ("names", "Marek 12 March 2024 Q3"),
    ]


def test_three_hundred_words_are_a_legal_question(memory: Memory) -> None:
    put(memory, "a", "word7 stands here", "camp")
    put(memory, "b", "silence", "camp")
    found = memory.tag_walk(" ".join(f"word{i}" for i in range(300)), now=2)
    assert (anchors(found), walkers(found)) == (["a"], ["b"])


# --- harvest


def test_tags_lead_to_tags_and_buckets_to_buckets(memory: Memory) -> None:
    put(memory, "start", "kite", "red", buckets=["blue"])
    put(memory, "tag", "one", "red")
    put(memory, "bucket", "two", buckets=["blue"])
    put(memory, "crossed", "three", "blue", buckets=["red"])
    assert sorted(walkers(memory.tag_walk("kite", now=2))) == ["bucket", "tag"]


@pytest.mark.parametrize("name", sorted(GENERIC_TAGS))
def test_generic_names_lead_nowhere(memory: Memory, name: str) -> None:
    put(memory, "start", "kite", name, buckets=[name])
    put(memory, "other", "frog", name, buckets=[name])
    assert walkers(memory.tag_walk("kite", now=2)) == []


def test_the_generic_names_are_eight() -> None:
    names = {"core", "misc", "general", "other", "unknown", "inbox", "pending", "notebook"}
    assert names == GENERIC_TAGS


def test_tags_that_say_when_lead_nowhere(memory: Memory) -> None:
    winter = Tag("winter", "winter", "temporal")
    memory.add_many(
        [Node("start", text="kite", tag_details=(winter,)), Node("other", text="frog", tag_details=(winter,))]
    )
    assert walkers(memory.tag_walk("kite", now=2)) == []
    memory.add_many([Node("start", text="kite", tag_details=(Tag("winter", "winter"),))])
    assert walkers(memory.tag_walk("kite", now=2)) == []
    memory.add_many([Node("other", text="frog", tag_details=(Tag("winter", "winter", "auto"),))])
    assert walkers(memory.tag_walk("kite", now=2)) == ["other"]


def test_a_tag_that_says_when_an_anchor_was_made_leads_nowhere(memory: Memory) -> None:
    def found(origin: Origin) -> list[str]:
        memory.add_many([Node("start", text="kite", tag_details=(Tag("winter", "winter", origin),))])
        return walkers(memory.tag_walk("kite", now=2))

    put(memory, "other", "frog", "winter")
    assert found("temporal") == []
    assert found("infected") == ["other"]


def test_a_heading_is_no_anchor_where_its_source_speaks(memory: Memory) -> None:
    heading = {"props": {"level": 1}}
    put(memory, "heading", "# Kites", source="a.md", **heading)
    put(memory, "said", "Kites fly high.", source="a.md")
    put(memory, "alone", "# Kites at sea", source="b.md", **heading)
    put(memory, "again", "## Kites on land", source="b.md", **heading)
    found = anchors(memory.tag_walk("kites", now=2))
    assert "said" in found
    assert "heading" not in found
    assert len({"alone", "again"} & set(found)) == 1


def test_the_first_ten_anchors_are_harvested(memory: Memory) -> None:
    for n in range(12):
        put(memory, f"n{n:02}", "kite " * (12 - n), f"tag{n:02}")
        put(memory, f"w{n:02}", "frog", f"tag{n:02}")
    found = memory.tag_walk("kite", limit=100, budget=ROOMY, now=2)
    assert anchors(found) == [f"n{n:02}" for n in range(12)]
    assert sorted(walkers(found)) == [f"w{n:02}" for n in range(10)]


# --- walk


def test_walkers_match_no_word_of_the_query(memory: Memory) -> None:
    put(memory, "start", "The kite flies.", "sky")
    put(memory, "also", "Two kites.", "sky")
    put(memory, "other", "A cloud.", "sky")
    found = memory.tag_walk("kite", now=2)
    assert (sorted(anchors(found)), walkers(found)) == (["also", "start"], ["other"])


@pytest.mark.parametrize("matching", [{"text": "It was kiting."}, {"name": "Kites"}, {"aliases": ["a kite"]}], ids=str)
def test_what_matches_is_no_walker_though_it_is_too_weak_an_anchor(memory: Memory, matching: dict[str, Any]) -> None:
    for n in range(10):
        put(memory, f"n{n}", "kite kite", "sky")
    weak = {"text": "", **matching}
    memory.add(**{**weak, "text": weak["text"] + " filler" * 300}, id="weak", tags=["sky"], at=9, now=1)
    put(memory, "other", "A cloud.", "sky")
    found = memory.tag_walk("kite", now=2)
    assert "weak" not in anchors(found)
    assert walkers(found) == ["other"]


def test_walkers_are_ranked_by_the_rarity_of_what_they_share_then_newer_then_by_id(memory: Memory) -> None:
    put(memory, "start", "kite", "rare", "common", buckets=["box"])
    put(memory, "rare", "x", "rare", at=1)
    put(memory, "both", "x", "rare", "common", at=1)
    for n in range(4):
        put(memory, f"common{n}", "x", "common", at=n % 2)
    put(memory, "boxed1", "x", buckets=["box"], at=9)
    put(memory, "boxed2", "x", buckets=["box"], at=0)
    found = memory.tag_walk("kite", limit=50, budget=ROOMY, now=2)
    # Nine memories; three have the rare tag, three are in the box, six have the common tag.
    rare, common = idf(9, 3), idf(9, 6)
    assert walkers(found) == ["both", "boxed1", "rare", "boxed2", "common1", "common3", "common0", "common2"]
    scores = [rare + common, rare, rare, rare, *[common] * 4]
    assert [hit.score for hit in found.walkers] == pytest.approx(scores)


def test_gravity_is_number_times_time_times_likeness_and_the_strongest_pull_counts(memory: Memory) -> None:
    def node(id_: str, text: str, tags: list[str], at: int, simhash: int | None) -> Node:
        return Node(id_, text=text, tag_details=tuple(Tag(t, t) for t in tags), at=at, simhash=simhash)

    memory.add_many(
        [
            node("one", "kite", ["a", "b"], 0, 0),
            node("two", "kite kite", ["a"], 10_000 * HOUR, 0xFF),
            node("near", "x", ["a", "b"], 100 * HOUR, 0b1),
            node("late", "x", ["a"], 10_000 * HOUR, 0xFF),
            node("bare", "x", ["b"], 0, None),
        ]
    )
    found = memory.tag_walk("kite", rank="gravity", limit=50, now=2)
    wanted = {
        "near": 0.85 * 2 * math.exp(-1e-5 * 100) * (1 - 1 / 64),
        "late": 0.85,
        "bare": 0.85 * (1 - 32 / 64),
    }
    assert {hit.node.id: hit.score for hit in found.walkers} == pytest.approx(wanted)
    assert walkers(found) == ["near", "late", "bare"]
    near = found.walkers[0].why
    assert near["path"] == [{"src": "one", "via": ["#a", "#b"], "dst": "near"}]
    assert near["parts"]["gravity"] == pytest.approx(gravity(2, 100, 1))


@pytest.mark.parametrize("rank", ["idf", "gravity"])
def test_filters_hold_in_every_phase(memory: Memory, rank: Rank) -> None:
    put(memory, "start", "kite", "sky", buckets=["field"], at=50)
    rows: dict[str, dict[str, Any]] = {
        "fits": {},
        "elsewhere": {"buckets": ["home"]},
        "person": {"kind": "person"},
        "old": {"at": 1},
        "new": {"at": 99},
        "aside": {"provenance": "quarantine"},
    }
    for id_, more in rows.items():
        put(memory, id_, "cloud", "sky", **{"buckets": ["field"], "at": 50, **more})
    put(memory, "untagged", "cloud", buckets=["field"], at=50)

    def found(cue: str = "kite", **options: Any) -> set[str]:
        return set(walkers(memory.tag_walk(cue, rank=rank, limit=100, budget=ROOMY, now=2, **options)))

    seen = rows.keys() - {"aside"} | {"untagged"}
    assert found() == seen
    assert found(include_quarantined=True) == seen | {"aside"}
    assert found("kite @field") == found(buckets=["field"]) == seen - {"elsewhere"}
    assert found("kite #sky") == found(tags=["sky"]) == seen - {"untagged"}
    assert found(kinds=["atom"]) == seen - {"person"}
    assert found(since=50) == seen - {"old"}
    assert found(until=50) == seen - {"new"}


def test_a_scope_is_never_left(tmp_path: Path) -> None:
    with Memory(tmp_path, embedder=None, scope=Scope(user="ann")) as ann:
        put(ann, "hers", "cloud", "sky")
    with Memory(tmp_path, embedder=None, scope=Scope(user="bob")) as bob:
        put(bob, "start", "kite", "sky")
        put(bob, "his", "cloud", "sky")
        assert walkers(bob.tag_walk("kite", now=2)) == ["his"]


def test_nothing_that_only_names_is_walked_to(memory: Memory) -> None:
    put(memory, "start", "kite", "sky")
    memory.add(name="Cloud", id="name", tags=["sky"])
    memory.add_many([Node("heading", text="# Clouds", tag_details=(Tag("sky", "sky"),), props={"level": 1})])
    assert walkers(memory.tag_walk("kite", now=2)) == []


# --- why


def test_why_is_data(memory: Memory) -> None:
    put(memory, "start", "The receiver is silent", "radio", buckets=["field"], at=1)
    put(memory, "second", "A receiver", "radio", at=2)
    put(memory, "far", "antenna", "radio", buckets=["field"])
    found = memory.tag_walk("silent receivers", now=2)
    first, walker = found.anchors[0].why, found.walkers[0].why
    assert first["role"] == "anchor"
    assert first["found_by"] == ["text"]
    assert first["terms"] == ["silent", "receivers"]
    assert first["provenance"] == "internal"
    assert first["parts"]["bm25"] * 2 == pytest.approx(found.anchors[0].score)
    rarity = {"radio": idf(3, 3), "field": idf(3, 2)}
    assert walker["role"] == "walker"
    assert walker["anchors"] == ["start", "second"]
    assert walker["shared"] == [
        {"what": "tag", "name": "radio", "idf": pytest.approx(rarity["radio"])},
        {"what": "bucket", "name": "field", "idf": pytest.approx(rarity["field"])},
    ]
    assert walker["parts"] == {"idf": pytest.approx(sum(rarity.values()))}
    assert walker["path"] == [{"src": "start", "via": ["#radio", "@field"], "dst": "far"}]
    assert found.hits == found.anchors + found.walkers


def test_the_recipe_and_the_verb_are_the_same(memory: Memory) -> None:
    put(memory, "start", "kite", "sky")
    put(memory, "other", "cloud", "sky")
    verb = memory.tag_walk("kite", budget=ROOMY, record_access=False)
    recall = memory.recall("kite", recipe=recipes.TAG_WALK, budget=ROOMY, record_access=False)
    assert verb == recall
    assert recipes.TAG_WALK.name == "tag-walk"


# --- provenance and quarantine


@pytest.mark.parametrize(
    ("mode", "factors"),
    [
        ("all", {"internal": 2, "external": 1, "quarantine": 1}),
        ("internal", {"internal": 3, "external": 0.5, "quarantine": 0.5}),
        ("external", {"internal": 1, "external": 1.5, "quarantine": 1.5}),
    ],
)
def test_provenance_multiplies_the_score(memory: Memory, mode: Mode, factors: dict[str, float]) -> None:
    for provenance in factors:
        put(memory, provenance, "kite", provenance=provenance)
    found = memory.tag_walk("kite", mode=mode, include_quarantined=True, now=2)
    base = {hit.node.id: hit.why["parts"]["bm25"] for hit in found.anchors}
    assert len({round(value, 5) for value in base.values()}) == 1
    assert {hit.node.id: hit.score for hit in found.anchors} == pytest.approx(
        {i: base[i] * f for i, f in factors.items()}
    )


def test_what_is_in_quarantine_is_found_only_when_asked_for(memory: Memory) -> None:
    put(memory, "start", "kite", "sky")
    put(memory, "aside", "kite", "sky")
    put(memory, "far", "cloud", "sky")
    memory.quarantine("aside", "far", now=2)
    found = memory.tag_walk("kite", now=3)
    assert (anchors(found), walkers(found)) == (["start"], [])
    asked = memory.tag_walk("kite", include_quarantined=True, now=3)
    assert (sorted(anchors(asked)), walkers(asked)) == (["aside", "start"], ["far"])
    memory.quarantine("aside", "far", undo=True, now=4)
    assert walkers(memory.tag_walk("kite", now=5)) == ["far"]


# --- nothing breaks it

STRANGE = [
    "",
    "   ",
    "🦅 🪁",
    "鳥は来た",
    "العصفور في السماء",
    'AND OR NEAR ( " * : ^',
    "kite AND NOT (cloud",
    "a\x00b\x00kite",
    "arXiv.org C++ (2025)",
    "\ud800 kite",
    "#" * 500,
    '"' * 501,
    "kite " * 4_000,
]


@pytest.mark.parametrize("cue", STRANGE)
def test_no_cue_is_an_error(memory: Memory, cue: str) -> None:
    put(memory, "start", "kite 鳥 العصفور", "sky")
    put(memory, "other", "stone", "sky")
    found = memory.tag_walk(cue, now=2)
    # What it says beside its signs is found all the same.
    known = any(word in cue for word in ("kite", "鳥", "العصفور"))
    assert (anchors(found), walkers(found)) == ((["start"], ["other"]) if known else ([], []))
    assert found.answerable == known


SLOW = {
    "one tag": "#t1 " * 5_000,
    "tags": " ".join(f"#x{n}" for n in range(4_000)),
    "buckets": " ".join(f"@b{n}" for n in range(4_000)),
    "phrases": " ".join(f'"w{n} w{n + 1}"' for n in range(1_500)),
    "one phrase": '"w1 w2" ' * 3_000,
    "openings": "so " * 7_000 + "w1",
    "closings": "w1" + " please" * 3_000,
    "spaces": " " * (1 << 20),
    "letters": "鳥は来た東京" * 3_000,
    "words": " ".join(f"w{n}" for n in range(300)),
    "garbage": random.Random(2).randbytes(1 << 20).decode("utf-8", "replace"),
}


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """Two thousand memories of one moment."""
    chance = random.Random(1)
    with Memory(tmp_path_factory.mktemp("many"), embedder=None) as opened:
        opened.add_many(
            [
                {
                    "text": " ".join(f"w{chance.randrange(600)}" for _ in range(30)),
                    "tags": [f"t{int(chance.paretovariate(0.7)) % 50}"],
                    "buckets": [f"b{n % 10}"],
                }
                for n in range(2_000)
            ],
            now=1,
        )
        yield opened


@pytest.mark.parametrize("cue", SLOW.values(), ids=SLOW.keys())
def test_no_cue_is_slow(many: Memory, cue: str) -> None:
    def best(asked: str) -> float:
        def once() -> float:
            start = time.process_time()
            many.tag_walk(asked, record_access=False)
            return time.process_time() - start

        return min(once() for _ in range(5))

    many.tag_walk("w1", record_access=False)
    # The benchmark holds it to five times; a test runs on machines that do other work.
    assert best(cue) < 40 * best("w12 w44 w190")


def test_a_megabyte_of_garbage_is_no_error(memory: Memory) -> None:
    put(memory, "start", "kite", "sky")
    chance = random.Random(1)
    garbage = chance.randbytes(1 << 20).decode("utf-8", "replace")
    memory.tag_walk(garbage, now=2)
    memory.tag_walk("".join(chance.choices('ab"*:^()#@ \x00', k=1 << 20)), now=2)
