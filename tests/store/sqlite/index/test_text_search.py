"""Text search is exact: it returns what scoring every memory would return."""

from __future__ import annotations

import bisect
import itertools
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from cuetrail.formulas import bm25, idf
from cuetrail.model import Node, Scope, SearchHit, Tag, TextQuery, Where
from cuetrail.store.ports import Store
from cuetrail.store.sqlite import SqliteStore
from cuetrail.store.sqlite.index import text_search
from cuetrail.store.write import Batch
from cuetrail.text.normalise import Terms, analysable, make_analyser, sanitize_query, terms_of

ME = Scope()
EVERYTHING = Where(quarantined=True, archived=True)
# Tantivy computes in single precision; scores that differ by less are the same number.
NOISE = 2e-5
TINY = 1e-6

analyser = make_analyser()


@pytest.fixture
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], Store]]:
    opened: list[Store] = []

    def make() -> Store:
        opened.append(SqliteStore(Path(tmp_path_factory.mktemp("memory"))))
        return opened[-1]

    yield make
    for store in opened:
        store.close()


@pytest.fixture
def store(fresh: Callable[[], Store]) -> Store:
    return fresh()


def find(
    store: Store, words: str, *phrases: str, limit: int = 50, prefix: bool = False, fuzzy: bool = False
) -> list[str]:
    query = TextQuery(words, phrases, prefix, fuzzy)
    return [found.id for found in store.text(ME, query, limit, EVERYTHING)]


def add(store: Store, **texts: str) -> None:
    store.write(ME, Batch(nodes=[Node(id_, text=text) for id_, text in texts.items()]))


# --- the same thing, done by scoring every memory


def stored_lengths() -> list[int]:
    """The document lengths a byte can say, as Lucene and tantivy choose them: exact below 40, then in wider steps."""

    def length(code: int) -> int:
        if code < 24:
            return code
        mantissa, exponent = (code - 24) & 7, (code - 24 >> 3) - 1
        return 24 + (mantissa if exponent < 0 else (mantissa | 8) << exponent)

    return [length(code) for code in range(256)]


LENGTHS = stored_lengths()


def stored_length(length: int) -> int:
    return LENGTHS[bisect.bisect_right(LENGTHS, length) - 1]


def tokens(text: str) -> list[str]:
    return analyser.analyze(analysable(text))


@dataclass(frozen=True)
class Scored:
    id: str
    score: float
    holds_all: bool
    at: int

    @property
    def rank(self) -> tuple[bool, int, bytes]:
        """The order among equals."""
        return (not self.holds_all, -self.at, self.id.encode())


def body_of(node: Node) -> list[str]:
    return tokens("\n".join(part for part in (node.name or "", *node.aliases, node.text) if part))


def brute_force(nodes: Sequence[Node], query: TextQuery) -> list[Scored]:
    """Every match with its BM25, doubled where a tag or bucket has a word of the query; the best first."""
    bodies = {node.id: body_of(node) for node in nodes}
    mean = sum(map(len, bodies.values())) / max(len(bodies), 1)
    phrases = [words for words in map(tokens, query.phrases) if words]
    asked = set(tokens(query.words)) | {word for phrase in phrases for word in phrase}
    holding = Counter(word for body in bodies.values() for word in asked & set(body))
    found = []
    for node in nodes:
        body = bodies[node.id]
        if not all(has_phrase(body, phrase) for phrase in phrases):
            continue
        counts = Counter(word for word in body if word in asked)
        length = stored_length(len(body))
        score = sum(bm25(n, length, mean, idf(len(nodes), holding[word])) for word, n in counts.items())
        if asked & set(tokens(" ".join((*node.tags, *node.buckets)))):
            score *= 2
        if counts:
            # Sums of the same numbers in another order are still equal.
            found.append(Scored(node.id, round(score, 12), len(counts) == len(asked), node.at))
    return sorted(found, key=lambda one: (-one.score, *one.rank))


def has_phrase(body: list[str], phrase: list[str]) -> bool:
    return any(body[i : i + len(phrase)] == phrase for i in range(len(body)))


def assert_exact(found: Sequence[SearchHit], wanted: Sequence[Scored], limit: int) -> None:
    """The same documents, scores and order; only where different scores are within rounding may the order differ."""
    assert len(found) == min(limit, len(wanted))
    assert len({one.id for one in found}) == len(found)
    by_id = {one.id: one for one in wanted}
    for place, one in enumerate(found):
        best = wanted[place]
        assert one.score == pytest.approx(best.score, rel=NOISE, abs=TINY), (place, found, wanted[:limit])
        assert one.score == pytest.approx(by_id[one.id].score, rel=NOISE, abs=TINY)
        near = [w for w in wanted if w.score != best.score and abs(w.score - best.score) <= NOISE * best.score + TINY]
        if not near:
            assert one.id == best.id, (place, [f.id for f in found], [w.id for w in wanted[: limit + 3]])


# --- exactness

VOCABULARY = [
    "apple", "apples", "pear", "the", "of", "running", "run", "café", "CAFE", "straße", "東京", "日本語", "שלום", "мир",
    "naïve", "x1", "2026", "İstanbul", "e\u0301t\u00e9", "😀", "-", "snake_case",
]  # fmt: skip


def some_text(chance: random.Random, most: int = 12) -> str:
    # Low numbers are drawn more often: some words are common, some are rare.
    picks = (VOCABULARY[int(len(VOCABULARY) * chance.random() ** 2.5)] for _ in range(chance.randint(0, most)))
    return " ".join(picks)


def some_node(chance: random.Random, number: int) -> Node:
    return Node(
        f"n{number:03}",
        name=some_text(chance, 2) or None if chance.random() < 0.2 else None,
        aliases=("pear tree",) if chance.random() < 0.1 else (),
        text=chance.choice(["", "...", "apple", "the apple", some_text(chance), some_text(chance, 80)]),
        tag_details=tuple(
            Tag(t, t) for t in chance.sample(["apple", "snake_case", "東京", "red"], chance.choice((0, 0, 1, 2)))
        ),
        buckets=tuple(chance.sample(["pear", "running_shoes", "blue"], chance.choice((0, 0, 1)))),
        at=chance.randint(0, 4),
    )


def some_query(chance: random.Random) -> TextQuery:
    phrases = [
        chance.choice(["the apple", "apple", "日本", "pear tree", "of the", '"'])
        for _ in range(chance.choice((0, 0, 0, 1, 2)))
    ]
    return TextQuery(some_text(chance, 6), tuple(phrases))


def build(store: Store, chance: random.Random) -> list[Node]:
    """Writes a random memory in several batches, each of them indexed at once, and says what it now holds."""
    held: dict[str, Node] = {}
    for first in range(0, 60, 20):
        some = [some_node(chance, number) for number in range(first, first + 20)]
        # Some memories are corrected by a later batch.
        some += [some_node(chance, chance.randrange(first)) for _ in range(2) if first]
        store.write(ME, Batch(nodes=some))
        held |= {node.id: node for node in some}
        store.refresh(None)
    gone = chance.sample(sorted(held), chance.choice((0, 5)))
    store.write(ME, Batch(remove_nodes=gone))
    return [node for id_, node in held.items() if id_ not in gone]


@settings(
    max_examples=12,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(seed=st.integers(0, 2**32))
def test_text_search_equals_scoring_every_memory(fresh: Callable[[], Store], seed: int) -> None:
    chance = random.Random(seed)
    store = fresh()
    nodes = build(store, chance)
    for _ in range(40):
        query, limit = some_query(chance), chance.choice((1, 2, 5, 20, 100))
        assert_exact(store.text(ME, query, limit, EVERYTHING), brute_force(nodes, query), limit)


def test_a_memory_written_in_several_batches_has_several_segments(store: Store) -> None:
    """What the exactness test relies on: scores span segments."""
    assert isinstance(store, SqliteStore)
    for number in range(3):
        add(store, **{f"n{number}{i}": "apple" for i in range(5)})
        store.refresh(None)
    assert store.text_index.view().searcher.num_segments > 1


def test_document_lengths_are_stored_as_the_table_says(store: Store) -> None:
    lengths = [1, 2, 39, 40, 41, 42, 43, 55, 56, 63, 64, 79, 80, 100, 150, 200, 300, 1000, 5000]
    nodes = [Node(f"n{n:04}", text="apple" + " pear" * (n - 1)) for n in lengths]
    store.write(ME, Batch(nodes=nodes))
    query = TextQuery("apple")
    assert_exact(store.text(ME, query, 50, EVERYTHING), brute_force(nodes, query), 50)


# --- the short cut past common words


def skewed(chance: random.Random, count: int) -> list[Node]:
    """Two words in nearly every text, a few rare ones, and some texts that are nothing but the common words."""
    nodes = []
    for number in range(count):
        words = ["the"] * chance.randint(0, 3) + ["of"] * chance.randint(0, 2) + ["filler"] * chance.randint(0, 9)
        words += [w for w in ("quartz", "lynx", "opal") if chance.random() < 0.02]
        words += ["the", "of"] * 30 if chance.random() < 0.02 else []
        chance.shuffle(words)
        tags = (
            (Tag("the", "the"),) if chance.random() < 0.05 else (Tag("opal", "opal"),) if chance.random() < 0.01 else ()
        )
        nodes.append(Node(f"n{number:04}", text=" ".join(words), tag_details=tags, at=chance.randint(0, 3)))
    return nodes


def test_skipping_common_words_changes_no_result(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(11)
    nodes = skewed(chance, 900)
    for first in range(0, 900, 300):
        store.write(ME, Batch(nodes=nodes[first : first + 300]))
        store.refresh(None)
    skipped = 0
    for words in ("the quartz", "the of quartz", "the of lynx opal", "quartz lynx opal the of filler", "the of", "the"):
        query = TextQuery(words)
        wanted = brute_force(nodes, query)
        for limit in (1, 3, 10, 40, 200):
            quick = store.text(ME, query, limit, EVERYTHING)
            assert_exact(quick, wanted, limit)
            with monkeypatch.context() as patch:
                patch.setattr(text_search, "_essential", len)
                full = store.text(ME, query, limit, EVERYTHING)
            assert [(f.id, f.boosted) for f in quick] == [(f.id, f.boosted) for f in full]
    idfs = {word: idf(900, sum(word in n.text.split() for n in nodes)) for word in ("quartz", "the", "of")}
    skipped = text_search._essential(idfs)
    assert skipped == 1, "the corpus no longer has words common enough for the short cut"


@pytest.mark.parametrize(
    ("leap", "beside", "deepest"),
    [(0, 10**9, 0), (10**9, 10**9, 0), (10**9, 0, 0), (10**9, 0, 10**9)],
    ids=["leaping", "walking", "in another thread", "among the best"],
)
def test_however_those_with_a_label_are_looked_for_the_same_are_found(
    store: Store, monkeypatch: pytest.MonkeyPatch, leap: int, beside: int, deepest: int
) -> None:
    monkeypatch.setattr(text_search, "DEEPEST", deepest)
    monkeypatch.setattr(text_search, "LEAP", leap)
    monkeypatch.setattr(text_search, "BESIDE_FROM", beside)
    made = skewed(random.Random(12), 600)
    nodes = [replace(node, text=f"{node.text} opal") if node.tag_details else node for node in made]
    for first in (0, 300):
        store.write(ME, Batch(nodes=nodes[first : first + 300]))
        store.refresh(None)
    for words in ("opal", "the opal", "opal quartz filler", "lynx opal the of"):
        query = TextQuery(words)
        wanted = brute_force(nodes, query)
        for limit in (1, 5, 40):
            assert_exact(store.text(ME, query, limit, EVERYTHING), wanted, limit)
        assert any(found.boosted for found in store.text(ME, query, 40, EVERYTHING))


def test_a_text_of_common_words_only_can_still_win(store: Store) -> None:
    """The short cut must notice that a rare word in a long text counts less than many common ones in a short one."""
    long = "quartz " + "filler " * 4000
    nodes = [Node("long", text=long), Node("common", text="the of " * 20)]
    nodes += [Node(f"n{i:03}", text="the of filler") for i in range(30)]
    store.write(ME, Batch(nodes=nodes))
    query = TextQuery("the of quartz")
    for limit in (1, 2, 5):
        assert_exact(store.text(ME, query, limit, EVERYTHING), brute_force(nodes, query), limit)


def test_five_thousand_equal_memories_come_newest_first(store: Store) -> None:
    chance = random.Random(2)
    nodes = [Node(f"n{i:04}", text="the same words again", at=chance.randint(0, 2000)) for i in range(5000)]
    for first in range(0, 5000, 2500):
        store.write(ME, Batch(nodes=nodes[first : first + 2500]))
        store.refresh(None)
    order = [node.id for node in sorted(nodes, key=lambda n: (-n.at, n.id))]
    for words in ("same", "the same words again", "same other"):
        assert find(store, words, limit=10) == order[:10]
        assert find(store, words, limit=1) == order[:1]
    assert find(store, "same words", limit=5000) == order


def test_sums_in_another_order_are_still_ties(store: Store) -> None:
    """The same counts of other words: equal by the formula, different in the last bit of single precision."""
    chance = random.Random(6)
    words = ("lynx", "opal", "quartz", "ember")
    orders = list(itertools.permutations((1, 2, 4, 7)))
    nodes = []
    for number in range(200):
        text = " ".join(" ".join([word] * n) for word, n in zip(words, chance.choice(orders), strict=True))
        nodes.append(Node(f"n{number:03}", text=text, at=chance.randint(0, 40)))
    store.write(ME, Batch(nodes=[*nodes, *(Node(f"x{i}", text="other words " * i) for i in range(1, 9))]))
    for query in ("lynx opal quartz ember", "opal ember quartz lynx"):
        assert find(store, query, limit=60) == [n.id for n in sorted(nodes, key=lambda n: (-n.at, n.id))][:60]


def test_equal_scores_put_the_memory_with_all_terms_first(store: Store) -> None:
    # Both score the same: one holds two of the words once, the other's tag doubles its one word.
    nodes = [
        Node("both", text="lynx opal"),
        Node("tagged", text="lynx filler", tag_details=(Tag("lynx", "lynx"),), at=9),
    ]
    nodes += [Node("opal", text="opal filler")]
    store.write(ME, Batch(nodes=nodes))
    wanted = brute_force(nodes, TextQuery("lynx opal"))
    assert wanted[0].score == pytest.approx(wanted[1].score)
    assert find(store, "lynx opal") == ["both", "tagged", "opal"]


# --- the rules one by one


def test_a_tag_or_bucket_that_has_a_word_doubles_the_score_once(store: Store) -> None:
    tagged = Node(
        "b", text="apple pie", tag_details=(Tag("apple", "apple"), Tag("apple_pie", "apple pie")), buckets=("pie",)
    )
    store.write(ME, Batch(nodes=[Node("a", text="apple pie"), tagged]))
    first, second = store.text(ME, TextQuery("apple pie"), 5, EVERYTHING)
    assert (first.id, first.boosted, second.boosted) == ("b", True, False)
    assert first.score == pytest.approx(2 * second.score)


def test_a_phrase_must_be_there_word_by_word(store: Store) -> None:
    add(store, a="the quick brown fox", b="the brown quick fox", c="quick-brown, fox!", d="quick brow")
    assert set(find(store, "", "quick brown")) == {"a", "c"}
    assert find(store, "the", "quick brown")[0] == "a"
    assert set(find(store, "nothing else", "quick brown")) == {"a", "c"}
    assert find(store, "", "quick brown", "the quick") == ["a"]
    assert find(store, "fox", "fox brown") == []
    assert set(find(store, "fox", "", '"', "  ")) == {"a", "b", "c"}


@pytest.mark.parametrize("typed", ["r", "run", "runn", "runni", "runnin", "running", "red runnin", "RUNN"])
def test_the_last_word_is_completed_while_it_is_typed(store: Store, typed: str) -> None:
    add(store, a="a running joke", b="walking")
    assert find(store, typed, prefix=True) == ["a"]


def test_completion_knows_accents_and_other_scripts(store: Store) -> None:
    add(store, a="un éléphant", b="университет", c="東京都")
    assert find(store, "élé", prefix=True) == ["a"]
    assert find(store, "ele", prefix=True) == ["a"]
    assert find(store, "униве", prefix=True) == ["b"]
    assert find(store, "東", prefix=True) == ["c"]
    assert find(store, "zz", prefix=True) == []


@pytest.mark.parametrize(
    "typo", ["databse", "dtabase", "databases", "databaze", "univresity", "universty", "neccesary"]
)
def test_a_typo_is_forgiven_when_asked(store: Store, typo: str) -> None:
    add(store, a="database university necessary", b="something else")
    assert find(store, typo, fuzzy=True) == ["a"]


def test_an_exact_word_beats_a_similar_one(store: Store) -> None:
    add(store, a="marching band", b="marchang band", c="nothing")
    assert find(store, "marching", fuzzy=True) == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Das ist die Straße", "STRASSE"),
        ("Un café noir", "cafe"),
        ("cafe\u0301 noir", "café"),
        ("İstanbul'da", "İstanbul"),
        ("私は東京に住んでいます", "東京に住んで"),
        ("ผมอยู่กรุงเทพ", "กรุงเทพ"),
        ("שלום עולם", "שלום"),
        ("مرحبا بالعالم", "مرحبا"),
        ("привет, мир", "МИР"),
        ("हिन्दी में लिखा", "हिन्दी"),
        ("see arXiv.org for it", "arxiv.org"),
        ("snake_case name", "snake_case"),
        ("C++ (2025) notes", "C++ (2025)"),
        ("a Ⓐ sign", "Ⓐ"),
        ("decisions were made", "decision"),
    ],
)
def test_what_is_written_is_found_again(store: Store, text: str, query: str) -> None:
    add(store, a=text, b="other words")
    assert find(store, query) == ["a"]


def test_an_emoji_alone_finds_nothing_and_beside_a_word_does_not_hinder(store: Store) -> None:
    add(store, a="party 🎉 time")
    assert find(store, "🎉") == []
    assert find(store, "🎉 party 👩‍👩‍👧") == ["a"]


@pytest.mark.parametrize(
    "query", ["", " ", "\n\t", "...", "!?", '""', "'", "\x00", "\ud800", "-", "*", "( )", "\u200b", "\ufeff"]
)
def test_a_query_without_words_finds_nothing(store: Store, query: str) -> None:
    add(store, a="apple ... !? * -")
    assert find(store, query) == []
    assert find(store, query, query, prefix=True, fuzzy=True) == []


@pytest.mark.parametrize(
    "query",
    [
        'apple AND (pear OR "', "apple NEAR/5 pear", "body:apple", "apple^5 +pear -plum", "apple*", "[a TO z]",
        "apple\x00pear", "apple \ud83d pear", "a" * 300 + " apple", "' OR 1=1; --", "apple % _ ? $1 {}", "NOT apple",
        "*:* apple", "apple~2", "\\",
    ],
)  # fmt: skip
def test_no_character_is_syntax(store: Store, query: str) -> None:
    add(store, a="apple", b="something")
    for prefix, fuzzy in ((False, False), (True, False), (False, True), (True, True)):
        store.text(ME, TextQuery(query, (query,), prefix, fuzzy), 5, EVERYTHING)
    if "apple" in tokens(query.replace("\ud83d", "")):
        assert "a" in find(store, query)


def test_three_hundred_words_are_a_legal_query(store: Store) -> None:
    nodes = [Node(f"n{i}", text=f"word{i} common") for i in range(400)]
    store.write(ME, Batch(nodes=nodes))
    query = TextQuery(" ".join(f"word{i}" for i in range(300)) + " common")
    assert_exact(store.text(ME, query, 400, EVERYTHING), brute_force(nodes, query), 400)


def test_a_megabyte_of_garbage_is_no_error(store: Store) -> None:
    add(store, a="apple pear")
    chance = random.Random(4)
    garbage = "".join(
        chr(chance.choice((chance.randrange(32, 127), chance.randrange(0x3000), 0xD800, 0))) for _ in range(2**20)
    )
    for query in (garbage, "x" * 2**20, "apple " * 170_000, " ".join(f"w{i}" for i in range(150_000))):
        for fuzzy in (False, True):
            store.text(ME, TextQuery(query, prefix=True, fuzzy=fuzzy), 5, EVERYTHING)
    assert find(store, garbage + " apple") == ["a"]
    assert find(store, "", garbage) == []


def test_a_query_of_more_words_than_count_keeps_the_rarest(store: Store) -> None:
    nodes = [Node(f"n{i}", text=f"common rare{i}") for i in range(1500)]
    store.write(ME, Batch(nodes=nodes))
    words = "common " + " ".join(f"rare{i}" for i in range(1500))
    assert len(find(store, words, limit=2000)) == text_search.MOST_TERMS


ENDINGS = (
    "s es ies y ly ed ied ing ying ational ation ator ency ancy ably ently izer ization alism ality ally fulness ously"
    " ousness iveness ivity bility bly ogy fully lessly alize icate icity ical ful ness ative al able ible ment ion e l"
)


def test_whether_a_text_holds_terms_is_told_as_by_all_its_terms() -> None:
    chance = random.Random(5)
    endings = ["", *ENDINGS.split()]
    starts = ["".join(chance.choices("aeiouybcdglnprst", k=chance.randint(1, 5))) for _ in range(400)]
    made = {start + first + second for start in starts for first in endings for second in ("", "ly", "s", "ing")}
    for word in sorted(made | {"skies", "dying", "probability", "happy", "Ärzte", "東京", "ﬁne"}):
        for text in (word, f"An inn,{word.upper()}.", f"x{word}x"):
            said = set(terms_of(text))
            for stem in terms_of(word):
                assert Terms([stem]).any_in(text) == (stem in said), (stem, text)
                assert Terms([stem, "inn"]).all_in(text) == ({stem, "inn"} <= said), (stem, text)


def test_among_equals_those_with_all_words_come_first_whether_or_not_their_nodes_are_asked_for(store: Store) -> None:
    # Two words once count as much as one that a tag doubles; the tagged one is newer.
    tagged = Node("tagged", text="lynx filler", tag_details=(Tag("lynx", "lynx"),), at=9)
    both = Node("both", text="opal", aliases=("lynx",), at=1)
    store.write(ME, Batch(nodes=[tagged, both, Node("other", text="opal filler", at=5)]))
    for nodes in (False, True):
        found = store.text(ME, TextQuery("lynx opal"), 3, EVERYTHING, nodes=nodes)
        assert [one.id for one in found] == ["both", "tagged", "other"]
        assert found[0].score == found[1].score


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("arXiv.org", "arxiv org"),
        ("C++ (2025)", "c 2025"),
        ("#tag @b snake_case", "tag b snake case"),
        ("", ""),
        ("  \n ", ""),
        ("!!!", ""),
        ("Ärger mit Übergrößen", "ärger mit übergrößen"),
        ("日本語、テスト", "日本語 テスト"),
        ("a\x00b\ud800c", "abc"),
        ("x\u200by", "x y"),
    ],
)
def test_a_query_is_sanitised(raw: str, clean: str) -> None:
    assert sanitize_query(raw) == clean


def test_the_ascii_rule_keeps_ascii_only() -> None:
    assert sanitize_query("Café №5 naïve", ascii=True) == "caf 5 na ve"


@settings(max_examples=300)
@given(st.text())
def test_a_sanitised_query_is_words_and_single_spaces(raw: str) -> None:
    for ascii_only in (False, True):
        clean = sanitize_query(raw, ascii=ascii_only)
        assert clean == " ".join(clean.split())
        assert sanitize_query(clean, ascii=ascii_only) == clean
        assert not ascii_only or clean.isascii()
