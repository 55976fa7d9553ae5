"""A recall stays within its budget, gives its reasons, and says if nothing was found."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from bench.quality.contenders import score_anchors
from cuetrail import Budget, Memory, Node
from cuetrail.errors import EmbedderError, InputError
from cuetrail.formulas import estimated_tokens
from cuetrail.model import TextQuery, Where
from cuetrail.recall.query import LONGEST_CUE, MOST_DIFFERENT, MOST_FILTERS, MOST_QUOTED, MOST_WORDS, Cue, parse_cue
from cuetrail.recall.stage_types import Anchor

DAY = 86_400_000


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path, embedder=None) as opened:
        yield opened


class Directions:
    """An embedder whose vectors are chosen by hand: the first word of a text that is known says where it points."""

    model = "directions"
    dim = 2

    def __init__(self, known: dict[str, tuple[float, float]], broken: bool = False) -> None:
        self.known = known
        self.broken = broken

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.broken:
            raise EmbedderError("the model is away")
        rows = [next((self.known[w] for w in text.split() if w in self.known), (0.0, 1.0)) for text in texts]
        array = np.array(rows, np.float32).reshape(len(rows), 2)
        units: NDArray[np.float32] = array / np.linalg.norm(array, axis=1, keepdims=True)
        return units

    def embed_query(self, text: str) -> NDArray[np.float32]:
        row: NDArray[np.float32] = self.embed([text])[0]
        return row


# --- the budget


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 600), st.booleans())
def test_a_recall_never_exceeds_its_budget(memory: Memory, size: int, in_tokens: bool) -> None:
    if not memory.stats().nodes:
        memory.add_many([f"word {i}. " + "Ein Satz über 日本. " * i for i in range(12)], now=1)
    budget = Budget(tokens=size) if in_tokens else Budget(chars=size)
    found = memory.recall("word", budget=budget, now=2)
    assert (estimated_tokens(found.text) if in_tokens else len(found.text)) <= size
    assert found.answerable
    assert bool(found.hits) == bool(found.text)


@pytest.mark.parametrize("wrong", [Budget(), Budget(chars=5, tokens=5), Budget(chars=-1), Budget(tokens=-1)])
def test_a_budget_that_is_none_is_an_error(memory: Memory, wrong: Budget) -> None:
    with pytest.raises(InputError, match="budget"):
        memory.recall("word", budget=wrong)


def test_a_recall_counts_by_the_tokenizer_it_is_given(memory: Memory) -> None:
    memory.add("one two three four", now=1)
    assert memory.recall("two", budget=Budget(tokens=6), count_tokens=lambda text: len(text.split())).text
    assert not memory.recall("two", budget=Budget(tokens=5), count_tokens=lambda text: len(text.split())).text


# --- what is said about an answer


def test_nothing_relevant_is_said_so_with_what_was_looked_for(memory: Memory) -> None:
    memory.add("apples and pears", tags=["fruit"], now=1)
    found = memory.recall('zebra "blue whale" #sea @zoo', now=2)
    assert (found.answerable, found.text, found.hits) == (False, "", ())
    assert found.looked_for == ("blue whale", "zebra", "#sea", "@zoo")
    assert memory.recall("apples #sea").looked_for == ("apples", "#sea")
    assert not memory.recall("apples #sea").answerable


@pytest.mark.parametrize("cue", ["", "   ", "?!", "\x00", "\ud800", '""', "🎉"])
def test_a_cue_without_words_is_not_answerable_and_no_error(memory: Memory, cue: str) -> None:
    memory.add("apples ?! 🎉", now=1)
    found = memory.recall(cue, now=2)
    assert (found.answerable, found.text, found.cue) == (False, "", cue)


def test_a_memory_with_nothing_in_it_answers_nothing(memory: Memory) -> None:
    assert not memory.recall("anything").answerable


def test_why_is_data(tmp_path: Path) -> None:
    embedder = Directions({"fox": (1, 0), "wolf": (0.9, 0.1), "stone": (-1, 0)})
    with Memory(tmp_path, embedder=embedder) as memory:
        memory.add("fox den", id="a", tags=["fox"], now=1)
        memory.add("wolf pack", id="b", now=1)
        memory.add("stone age", id="c", now=1)
        found = memory.recall("fox", now=2)
    assert [hit.node.id for hit in found.hits] == ["a", "b"]
    first, second = (hit.why for hit in found.hits)
    assert first["found_by"] == ["text", "vector"]
    assert first["tag_boost"] is False
    assert first["parts"]["bm25"] > 0
    assert first["parts"]["cosine"] == pytest.approx(1, abs=1e-3)
    assert second["found_by"] == ["vector"]
    assert second["parts"]["bm25"] is None
    plain = found.to_dict()
    assert json.loads(json.dumps(plain)) == plain
    assert plain["hits"][0]["why"] == first


def test_an_embedder_that_fails_leaves_the_answer_of_the_text(tmp_path: Path) -> None:
    with Memory(tmp_path, embedder=Directions({})) as memory:
        memory.add("fox den", id="a", now=1)
    with Memory(tmp_path, embedder=Directions({}, broken=True)) as memory:
        found = memory.recall("fox", now=2)
    assert [hit.node.id for hit in found.hits] == ["a"]
    assert "the model is away" in found.notices[0]


def test_a_far_vector_alone_is_no_answer(tmp_path: Path) -> None:
    with Memory(tmp_path, embedder=Directions({"fox": (1, 0), "stone": (0.2, 1)})) as memory:
        memory.add("stone age", now=1)
        assert not memory.recall("fox", now=2).answerable


def test_what_is_shown_is_touched_once_and_the_rest_is_not(memory: Memory) -> None:
    for id_ in ("a", "b"):
        memory.add("apple " * 30, id=id_, at=ord(id_), now=1)
    memory.add("unrelated", id="c", now=1)
    found = memory.recall("apple apple", budget=Budget(chars=190), now=50)
    assert [hit.node.id for hit in found.hits] == ["b"]
    memory.recall("apple", record_access=False, now=60)
    lives = {id_: node.life for id_ in "abc" if (node := memory.get(id_)) is not None}
    assert {id_: (life.accesses, life.last_access) for id_, life in lives.items()} == {
        "a": (0, None),
        "b": (1, 50),
        "c": (0, None),
    }
    assert found.hits[0].node.life.accesses == 0


# --- the order of hits


def test_equal_hits_come_newer_first_then_by_id(memory: Memory) -> None:
    for id_, at in (("c", 5), ("b", 5), ("a", 1), ("d", 9)):
        memory.add("same words", id=id_, at=at, now=1)
    assert [hit.node.id for hit in memory.recall("words", now=2).hits] == ["d", "b", "c", "a"]
    assert [hit.node.id for hit in memory.recall("words", limit=2, now=2).hits] == ["d", "b"]


scores = st.none() | st.sampled_from([0.1, 0.4, 1.0, 2.0])
anchors = st.lists(st.tuples(st.sampled_from("abcdef"), scores, scores), unique_by=lambda row: row[0])


@given(anchors, st.permutations(range(6)))
def test_hits_are_in_one_order_whatever_order_they_were_found_in(
    rows: list[tuple[str, float | None, float | None]], order: list[int]
) -> None:
    nodes = {id_: Node(id_, at=ord(id_) % 2) for id_ in "abcdef"}
    found = [Anchor(nodes[id_], bm25, cosine) for id_, bm25, cosine in rows if (bm25, cosine) != (None, None)]
    hits = score_anchors(found, 0.7, 0.35)
    shuffled = score_anchors([found[i] for i in order if i < len(found)], 0.7, 0.35)
    assert hits == shuffled
    keys = [(-hit.score, -hit.node.at, hit.node.id) for hit in hits]
    assert keys == sorted(keys)
    assert all(0 <= hit.score <= 1 for hit in hits)
    left_out = {a.node.id for a in found} - {hit.node.id for hit in hits}
    assert left_out == {a.node.id for a in found if a.bm25 is None and (a.cosine or 0) < 0.35}


# --- the syntax of cues


@pytest.mark.parametrize(
    ("raw", "words", "begun"),
    [
        ("ant*", "ant", True),
        ("where is the ant* ", "ant", True),
        ("the th*", "th", True),
        ("lee side ante* #radio", "lee side ante", True),
        ("ant* side", "ant* side", False),
        ("**bold**", "**bold**", False),
        ("ant **", "ant **", False),
        ("*", "*", False),
    ],
)
def test_a_star_behind_the_last_word_asks_for_all_that_begin_so(raw: str, words: str, begun: bool) -> None:
    query = parse_cue(raw, Where()).query
    assert (query.words, query.prefix, query.fuzzy) == (words, begun, False)


def test_half_a_word_and_a_misspelt_one_are_not_searched_by_meaning(tmp_path: Path) -> None:
    with Memory(tmp_path, embedder=Directions({"fox": (1, 0)})) as memory:
        memory.add("A fox in the den.", id="a", now=1)
        for found in (memory.recall("fo*"), memory.recall("foxx den", fuzzy=True)):
            assert [hit.why["found_by"] for hit in found.hits] == [["text"]]


def test_filters_written_in_a_cue_hold_for_text_and_vectors(tmp_path: Path) -> None:
    with Memory(tmp_path, embedder=Directions({"fox": (1, 0)})) as memory:
        memory.add("fox one", id="a", tags=["Den"], buckets=["Work"], now=1)
        memory.add("fox two", id="b", tags=["den"], now=1)
        memory.add("fox three", id="c", buckets=["work"], now=1)

        def found(cue: str) -> set[str]:
            return {hit.node.id for hit in memory.recall(cue, now=2).hits}

        assert found("fox") == {"a", "b", "c"}
        assert found("fox #den") == {"a", "b"}
        assert found("fox @work") == found("fox bucket:WORK") == {"a", "c"}
        assert found("fox #den @work!") == {"a"}
        assert found("fox #none") == set()
        assert found('"fox two"') == {"b"}


def test_arguments_filter_like_the_cue_does(memory: Memory) -> None:
    memory.add("fox one", id="a", tags=["den"], buckets=["work"], kind="person", at=5, now=1)
    memory.add("fox two", id="b", at=9, provenance="quarantine", now=1)
    assert [
        h.node.id for h in memory.recall("fox", tags=["#Den"], buckets=["@Work"], kinds=["person"], now=2).hits
    ] == ["a"]
    assert [h.node.id for h in memory.recall("fox", since=6, now=2).hits] == []
    assert [h.node.id for h in memory.recall("fox", since=6, include_quarantined=True, now=2).hits] == ["b"]
    assert [h.node.id for h in memory.recall("fox", until=5, now=2).hits] == ["a"]


def test_of_a_cue_that_is_too_long_both_ends_are_read_and_it_is_said(memory: Memory) -> None:
    memory.add("apple", id="a", tags=["fruit"], now=1)
    memory.add("apple", id="b", now=1)
    padding = "x" * LONGEST_CUE
    for cue in (f"apple {padding}", f"{padding} apple", f"{padding} apple {padding} apple"):
        found = memory.recall(cue, now=2)
        assert {hit.node.id for hit in found.hits} == {"a", "b"}
        assert "the beginning and the end" in found.notices[0]
    assert not memory.recall(f"{padding} apple {padding}", now=2).answerable
    assert [hit.node.id for hit in memory.recall(f"apple {padding} #fruit", now=2).hits] == ["a"]
    # Two quotes of which each end has one are no phrase.
    assert len(memory.recall(f'apple "{padding} " #fruit', now=2).looked_for) > 2
    assert memory.recall("apple", now=2).notices == ()


@pytest.mark.parametrize(
    ("cue", "left_out"),
    [
        (" ".join(f"#t{n}" for n in range(MOST_FILTERS + 1)), f"'t{MOST_FILTERS}'"),
        (" ".join(f"@b{n}" for n in range(MOST_FILTERS + 1)), f"'b{MOST_FILTERS}'"),
        (" ".join(f'"p{n}"' for n in range(MOST_FILTERS + 1)), f"'p{MOST_FILTERS}'"),
        (" ".join(f"w{n}" for n in range(MOST_DIFFERENT + 1)), f"'w{MOST_DIFFERENT}'"),
        ("-".join(f"w{n}" for n in range(MOST_DIFFERENT + 1)), f"'w{MOST_DIFFERENT}'"),
        ("same " * MOST_WORDS + "last", "'last'"),
        ('"' + "same " * MOST_QUOTED + 'last"', "'last'"),
        ('"' + " ".join(f"w{n}" for n in range(MOST_QUOTED - 1)) + '" "two words"', "'words'"),
        ("鳥" * MOST_WORDS + "魚", "'魚'"),
    ],
)
def test_a_cue_holds_so_much_and_what_is_left_out_is_said(memory: Memory, cue: str, left_out: str) -> None:
    (notice,) = memory.tag_walk(cue, now=2).notices
    assert left_out in notice
    assert memory.recall(cue, now=2).notices == (notice,)


def test_what_is_repeated_in_a_cue_is_one_thing(memory: Memory) -> None:
    cue = parse_cue("#t1 #T1 @b @b " * 500 + '"a b" "a b" ' * 50 + "kite " * 200, Where(tags=("t1",)))
    assert (cue.where, cue.query) == (Where(("t1",), ("b",)), TextQuery("kite", ("a b",)))
    assert cue.notices == ()


@pytest.mark.parametrize(
    ("raw", "phrases", "tags", "buckets"),
    [
        ("“red kite” high", ("red kite",), (), ()),
        ("„roter Milan“ high", ("roter Milan",), (), ()),
        ("« milan royal » high", ("milan royal",), (), ()),
        ("「赤い凧」 high", ("赤い凧",), (), ()),
        ("high (#bird)", (), ("bird",), ()),
        ("high [#bird, @field]", (), ("bird",), ("field",)),
        ("high (bucket:field)", (), (), ("field",)),
    ],
)
def test_quotes_of_any_kind_and_filters_in_brackets_are_understood(
    raw: str, phrases: tuple[str, ...], tags: tuple[str, ...], buckets: tuple[str, ...]
) -> None:
    assert parse_cue(raw, Where()) == Cue(raw, TextQuery("high", phrases), Where(tags, buckets))


# --- what counts as an answer


@pytest.mark.parametrize("cue", ["how do I bake bread?", "what is the capital of France", "who was it for"])
def test_sharing_only_function_words_is_no_answer(memory: Memory, cue: str) -> None:
    memory.add("The screw of the box is not for me to tighten, so how do I do it?")
    assert memory.recall(cue, record_access=False).answerable == (cue == "who was it for")


def test_a_cue_of_filters_alone_gives_the_newest_that_pass(memory: Memory) -> None:
    for day in range(5):
        memory.add(f"decision number {day}", id=f"d{day}", tags=["decision"], buckets=["work"], at=day * DAY)
    memory.add("no decision", id="other", at=9 * DAY)
    assert [hit.node.id for hit in memory.recall("#decision", limit=3).hits] == ["d4", "d3", "d2"]
    assert [hit.node.id for hit in memory.recall("@work", limit=1).hits] == ["d4"]
    assert not memory.recall("").hits


def test_titles_do_not_crowd_out_what_their_note_says(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "Cold connector.md").write_text("# Cold connector\n\nThe cold connector fails in frost.\n")
    (tmp_path / "notes" / "Empty cold.md").write_text("# Empty cold\n")
    memory.ingest(tmp_path / "notes")
    found = [hit.node.text or hit.node.name for hit in memory.recall("cold").hits]
    assert "The cold connector fails in frost." in found
    assert "# Cold connector" not in found
    assert "Cold connector" not in found
    assert len(found) == 2
