"""Tag-Walker, the budget: strict, 70 to 30, and neither list uses the share of the other."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from cuetrail import Budget, Hit, Memory, Node
from cuetrail.errors import InputError
from cuetrail.formulas import estimated_tokens, share, shares
from cuetrail.model import Scope, Where
from cuetrail.recall.query import parse_cue
from cuetrail.recall.render.text import CUT_MARK, QUOTE, SEPARATOR, line, render, two_lists
from cuetrail.recall.stage_types import RecallContext, Scored
from cuetrail.store.ports import Store

Measure = Callable[[str], int]
MEASURES: tuple[Measure, ...] = (len, estimated_tokens, lambda text: len(text.split()))


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path, embedder=None) as opened:
        yield opened


def told(
    anchors: list[Hit], walkers: list[Hit], size: int, measure: Measure = len, spill: bool = False
) -> tuple[str, Scored]:
    """What is rendered of two lists; no store is asked for that."""
    nobody: Store = None  # type: ignore[assignment]  # rendering asks no store
    ask = RecallContext(nobody, Scope(), parse_cue("", Where()), size, measure, size)
    return two_lists(ask, Scored(tuple(anchors), tuple(walkers)), anchor_share=0.7, spill=spill)


def hits(*texts: str) -> list[Hit]:
    return [Hit(Node(f"n{n}", text=text), 1.0, {}) for n, text in enumerate(texts)]


def of_length(*lengths: int) -> list[Hit]:
    """Hits whose lines are exactly so long."""
    made = [Hit(Node(f"n{n}", text="x"), 1.0, {}) for n in range(len(lengths))]
    rest = [length - len(line(hit)) for length, hit in zip(lengths, made, strict=True)]
    return [Hit(Node(hit.node.id, text="x" * (1 + more)), 1.0, {}) for hit, more in zip(made, rest, strict=True)]


# --- sizing


@pytest.mark.parametrize(
    ("tokens", "atoms", "anchors", "walkers"),
    [(2000, 10, 7, 3), (5000, 25, 18, 7), (0, 5, 4, 2), (1000, 5, 4, 2), (1001, 6, 5, 2), (20_000, 100, 70, 30)],
)
def test_a_budget_of_tokens_says_how_many_of_each(tokens: int, atoms: int, anchors: int, walkers: int) -> None:
    assert atoms == max(5, -(-tokens // 200))
    assert shares(tokens) == (anchors, walkers)


@pytest.mark.parametrize(("budget", "count"), [(Budget(tokens=2000), (7, 3)), (Budget(tokens=5000), (18, 7))])
def test_a_walk_finds_as_many_as_its_budget_is_sized_for(
    memory: Memory, budget: Budget, count: tuple[int, int]
) -> None:
    memory.add_many([{"text": f"kite {n}", "tags": ["sky"]} for n in range(40)], now=1)
    memory.add_many([{"text": f"cloud {n}", "tags": ["sky"]} for n in range(40)], now=1)
    found = memory.tag_walk("kite", budget=budget, now=2)
    assert (len(found.anchors), len(found.walkers)) == count


def test_eight_thousand_characters_are_sized_as_two_thousand_tokens(memory: Memory) -> None:
    memory.add_many([{"text": f"kite {n}", "tags": ["sky"]} for n in range(40)], now=1)
    memory.add_many([{"text": f"cloud {n}", "tags": ["sky"]} for n in range(40)], now=1)
    found = memory.tag_walk("kite", now=2)
    assert (len(found.anchors), len(found.walkers)) == (7, 3)


# --- shares


@pytest.mark.parametrize("size", [0, 1, 9, 10, 99, 333, 1000, 8000, 7777])
def test_anchors_get_seven_tenths_rounded_down_and_walkers_the_rest(size: int) -> None:
    assert share(size, 0.7) == 7 * size // 10
    text, shown = told(of_length(50, 50, 50, 50), of_length(*[50] * 200), size)
    before = SEPARATOR.join(line(hit) for hit in shown.anchors)
    assert len(before) <= 7 * size // 10
    assert len(text) - len(before) <= size - 7 * size // 10


def test_a_share_is_used_to_its_last_character() -> None:
    anchors, walkers = of_length(700), of_length(298)
    text, shown = told(anchors, walkers, 1000)
    assert len(text) == 1000
    assert (len(shown.anchors), len(shown.walkers)) == (1, 1)
    # One character more on either side and it no longer fits, but can be cut: more than 200 are left.
    text, shown = told(of_length(701), walkers, 1000)
    assert text.startswith(QUOTE + "x" * 600)
    assert CUT_MARK in text
    assert len(text) <= 1000
    text, shown = told(anchors, of_length(299), 1000)
    assert text.endswith(CUT_MARK + " [n0]")
    assert len(text) <= 1000


def test_without_spill_what_anchors_leave_stays_empty() -> None:
    anchors, walkers = of_length(100), of_length(*[100] * 20)
    text, shown = told(anchors, walkers, 1000)
    assert len(shown.walkers) == 2
    assert len(text) == 100 + 2 * (2 + 100)
    text, shown = told(anchors, walkers, 1000, spill=True)
    assert len(shown.walkers) == 8
    assert len(text) == 100 + 8 * (2 + 100)


def test_with_spill_anchors_use_what_walkers_leave() -> None:
    anchors, walkers = of_length(*[100] * 20), of_length(100)
    text, shown = told(anchors, walkers, 1000)
    assert (len(shown.anchors), len(shown.walkers)) == (6, 1)
    text, shown = told(anchors, walkers, 1000, spill=True)
    assert (len(shown.anchors), len(shown.walkers)) == (8, 1)
    assert len(text) == 8 * 100 + 7 * 2 + 2 + 100


def test_with_spill_anchors_use_what_walkers_too_large_to_show_leave() -> None:
    anchors, walkers = of_length(*[100] * 20), of_length(1000)
    _, shown = told(anchors, walkers, 500)
    assert (len(shown.anchors), len(shown.walkers)) == (3, 0)
    text, shown = told(anchors, walkers, 500, spill=True)
    assert (len(shown.anchors), len(shown.walkers), len(text)) == (4, 0, 4 * 100 + 3 * 2)
    # The first walker is shown and the second is not: what that one left is enough for another anchor.
    text, shown = told(anchors, of_length(50, 1000), 500, spill=True)
    assert (len(shown.anchors), len(shown.walkers), len(text)) == (4, 1, 4 * 100 + 3 * 2 + 2 + 50)


def test_with_spill_no_room_is_left_that_an_anchor_would_have_filled() -> None:
    chance = random.Random(3)
    for _ in range(500):
        anchors, walkers = some_hits(chance, 6), some_hits(chance, 6)
        size = chance.randint(0, 3000)
        text, shown = told(anchors, walkers, size, spill=True)
        for given, seen in ((anchors, shown.anchors), (walkers, shown.walkers)):
            # A list ends with what is cut.
            if len(seen) < len(given) and CUT_MARK not in text:
                assert len(text) + len(SEPARATOR) + len(line(given[len(seen)])) > size


def test_two_lists_are_never_mixed() -> None:
    text, shown = told(hits("low"), hits("high"), 1000)
    assert text == "> low [n0]\n\n> high [n0]"
    assert [hit.node.text for hit in (*shown.anchors, *shown.walkers)] == ["low", "high"]


def test_a_walker_that_scores_higher_stays_behind_the_anchors(memory: Memory) -> None:
    memory.add("kite", id="first", tags=["rare", "sky"], now=1)
    memory.add("kite " + "word " * 300, id="last", now=1)
    memory.add("cloud", id="walker", tags=["rare", "sky"], now=1)
    memory.add_many([{"text": "stone", "tags": ["ground"], "id": f"n{n}"} for n in range(30)], now=1)
    found = memory.tag_walk("kite", now=2)
    assert [hit.node.id for hit in found.hits] == ["first", "last", "walker"]
    assert found.walkers[0].score > found.anchors[1].score
    assert found.text.endswith("cloud [walker]")


# --- cutting


def test_an_atom_is_cut_only_where_more_than_two_hundred_characters_remain() -> None:
    for room, is_cut in ((199, False), (200, False), (201, True), (202, True)):
        text, shown = render(of_length(100, 500), 100 + len(SEPARATOR) + room, len)
        assert (len(shown) == 2) == is_cut == (CUT_MARK in text)
        assert not is_cut or len(text) == 100 + len(SEPARATOR) + room


def test_a_memory_that_is_cut_says_where_it_is_from_unless_that_takes_half_of_the_room() -> None:
    for source, kept in (("notes/kite.md", True), ("x" * 190, True), ("x" * 250, False)):
        text, _ = render([Hit(Node("a", text="kite " * 300, source=source), 1.0, {})], 401, len)
        assert text.endswith(f"kite{CUT_MARK} [{source}]" if kept else f"kite{CUT_MARK}")
        assert 350 < len(text) <= 401


@pytest.mark.parametrize("sign", ["👩‍👩‍👧", "👍🏽", "🇳🇴", "e\u0301\u0323", "क्षि"])
def test_nothing_that_is_read_as_one_character_is_cut(sign: str) -> None:
    for size in range(300, 320):
        text, _ = render(hits(sign * 200), size, len)
        said = text.removeprefix(QUOTE).removesuffix(f"{CUT_MARK} [n0]")
        whole, rest = divmod(len(said), len(sign))
        # The vowel belongs to the letter before it, which may stand apart from the one before that.
        assert said == sign * whole + sign[:rest]
        assert rest == 0 or (sign == "क्षि" and rest == 2)


def test_no_word_is_cut_where_another_ended_past_half_of_the_room() -> None:
    for size in range(300, 320):
        text, _ = render(hits("antenna " * 100), size, len)
        assert text.endswith(f"antenna{CUT_MARK} [n0]")
        assert len(text) > size - len("antenna ") - 1


@pytest.mark.parametrize("end", [". ", "! ", "? ", ".\n", "… ", "؟ ", "۔ ", "। ", "። ", "。", "！", "？", "｡"])
def test_sentences_end_in_every_script(end: str) -> None:
    text, _ = render(hits("x" * 250 + end + "Y" * 600), 400, len)
    assert text == QUOTE + "x" * 250 + end.strip() + CUT_MARK + " [n0]"


def test_a_cut_is_made_at_a_sentence_end_past_half_of_the_rest() -> None:
    early, late = "Short. " + "x" * 600, "x" * 230 + " end. " + "y" * 600
    text, _ = render(hits(early), 400, len)
    assert text == QUOTE + early[:391] + CUT_MARK + " [n0]"
    text, _ = render(hits(late), 400, len)
    assert text == QUOTE + late[: late.index("end.") + 4] + CUT_MARK + " [n0]"


# --- never over it


def some_hits(chance: random.Random, most: int) -> list[Hit]:
    parts = ["word. ", "Ein Satz! ", "日本。", "🦅", "\n", "x" * 50, "a b c "]
    texts = ["".join(chance.choices(parts, k=chance.choice((0, 1, 5, 60)))) for _ in range(chance.randint(0, most))]
    sources = (None, "a/b.md")
    return [
        Hit(Node(f"n{n}", text=text, name=chance.choice((None, "Name")), source=chance.choice(sources)), 1.0, {})
        for n, text in enumerate(texts)
    ]


def assert_inside(
    text: str, anchors: Sequence[Hit], walkers: Sequence[Hit], size: int, measure: Measure, spill: bool
) -> None:
    """The text is no larger than its budget, nor what it says of either list than that one's share."""
    assert measure(text) <= size
    assert bool(text) == bool(anchors or walkers)
    of_anchors = SEPARATOR.join(map(line, anchors))
    if not text.startswith(of_anchors):
        # The last of them is cut, and may have lost where it is from.
        end = text.index(CUT_MARK) + len(CUT_MARK)
        origin = f" [{anchors[-1].node.source or anchors[-1].node.id}]"
        of_anchors = text[: end + len(origin) * text.startswith(origin, end)]
    if not spill:
        assert measure(of_anchors) <= 7 * size // 10
        assert measure(text[len(of_anchors) :]) <= size - 7 * size // 10
    assert text == of_anchors + SEPARATOR * bool(anchors and walkers) + SEPARATOR.join(map(line, walkers)) or (
        CUT_MARK in text
    )


def test_any_two_lists_stay_inside_any_budget_and_their_shares() -> None:
    chance = random.Random(0)
    for _ in range(2_000):
        anchors, walkers = some_hits(chance, 6), some_hits(chance, 6)
        size = chance.choice((0, 1, chance.randint(0, 60), chance.randint(0, 700), chance.randint(0, 5000)))
        measure, spill = chance.choice(MEASURES), chance.random() < 0.5
        text, shown = told(anchors, walkers, size, measure, spill)
        assert_inside(text, shown.anchors, shown.walkers, size, measure, spill)
        assert list(shown.anchors) == anchors[: len(shown.anchors)]
        assert list(shown.walkers) == walkers[: len(shown.walkers)]


def test_spill_never_shows_less() -> None:
    chance = random.Random(1)
    for _ in range(500):
        anchors, walkers = some_hits(chance, 6), some_hits(chance, 6)
        size = chance.randint(0, 3000)
        _, strict = told(anchors, walkers, size)
        _, loose = told(anchors, walkers, size, spill=True)
        assert len(loose.anchors) >= len(strict.anchors)
        assert len(loose.walkers) >= len(strict.walkers)


WORDS = ["kite", "cloud", "river", "stone", "日本", "🦅", "naïve", "العصفور"]
CUES = ["{}", "{} {}", "what is the latest on {}?", '"{}" {}', "{} #sky", "@field {}", "{}*", "{} (AND", "{} \x00 {} ^"]


def some_nodes(chance: random.Random) -> Iterator[dict[str, object]]:
    """Up to 20 memories: short and long, with names, files and tags or without, some of them not the user's own."""
    strange = chance.random() < 0.3
    for n in range(chance.choice((0, 2, 8, 16, 20))):
        sentences = (" ".join(chance.choices(WORDS, k=chance.randint(1, 12))) for _ in range(chance.choice((1, 3, 12))))
        yield {
            "text": chance.choice((". ", "! ", "\n", "。")).join(sentences),
            "id": f"n{n:02}",
            "name": chance.choice((None, None, "Red kite", "x" * 300)),
            "source": chance.choice((None, "a/b.md", f"{'long' * 60}.md")),
            "tags": chance.sample(["sky", "ground", "water"], chance.randint(0, 2)),
            "buckets": chance.sample(["field", "home"], chance.randint(0, 1)),
            "provenance": chance.choice(("internal", "external" if strange else "internal")),
            "at": n,
        }


def test_ten_thousand_walks_stay_inside_their_budgets_and_their_shares(tmp_path: Path) -> None:
    chance = random.Random(2)
    shown, cut, both = 0, 0, 0
    for number in range(25):
        with Memory(tmp_path / str(number), embedder=None) as memory:
            memory.add_many(some_nodes(chance), now=1)
            for _ in range(400):
                size = chance.choice(
                    (0, chance.randint(0, 60), *(chance.randint(0, most) for most in (700, 700, 4000)))
                )
                in_tokens, spill = chance.random() < 0.5, chance.random() < 0.3
                measure = chance.choice(MEASURES) if in_tokens else len
                found = memory.tag_walk(
                    chance.choice(CUES).format(*chance.choices(WORDS, k=2)),
                    budget=Budget(tokens=size) if in_tokens else Budget(chars=size),
                    count_tokens=None if measure in (len, estimated_tokens) else measure,
                    spill=spill,
                    rank=chance.choice(("idf", "gravity")),
                    min_results=chance.choice((0, 0, 0, 10)),
                    record_access=False,
                )
                measure = estimated_tokens if in_tokens and measure is len else measure
                assert_inside(found.text, found.anchors, found.walkers, size, measure, spill)
                shown += bool(found.text)
                cut += CUT_MARK in found.text
                both += bool(found.anchors and found.walkers)
    assert min(shown, cut, both) > 1_000, "the walks no longer show what they are to be measured by"


def test_tokens_are_counted_by_the_tokenizer_that_is_given(memory: Memory) -> None:
    long = "extraordinarily"
    memory.add(f"{long} two three kite", tags=["sky"], id="a", now=1)
    memory.add(f"{long} six {long}", tags=["sky"], id="b", now=1)

    def words(text: str) -> int:
        return len(text.split())

    def found(size: int, measure: Measure | None) -> list[str]:
        return [hit.node.id for hit in memory.tag_walk("kite", budget=Budget(tokens=size), count_tokens=measure).hits]

    # Six words of the anchor with its mark and id, five of the walker: 7 and 3 of a budget of ten, 11 and 6 of 17.
    assert (found(6, words), found(10, words), found(17, words)) == ([], ["a"], ["a", "b"])
    # By letters it is more.
    assert (found(10, None), found(13, None)) == ([], ["a"])


@pytest.mark.parametrize(
    ("answer", "said"),
    [(None, "not None"), ("7", "not '7'"), (-1, "not -1"), (1.5, "not 1.5"), (ZeroDivisionError("no"), "raised Zero")],
)
def test_a_tokenizer_that_does_not_count_is_an_error_that_says_so(memory: Memory, answer: object, said: str) -> None:
    memory.add("kite", now=1)

    def broken(_: str) -> int:
        if isinstance(answer, Exception):
            raise answer
        return answer  # type: ignore[return-value]  # what callers get wrong

    for ask in (memory.tag_walk, memory.recall):
        with pytest.raises(InputError, match=said):
            ask("kite", budget=Budget(tokens=100), count_tokens=broken)
