"""The table of known names, updated night after night, equals one built from scratch."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuetrail import Memory, Scope
from cuetrail.dream import vocabulary as module
from cuetrail.dream.vocabulary import NodeNames, TagWords, cached_words
from cuetrail.dream.word_matcher import is_distinctive
from cuetrail.model.ids import ledger_hash
from cuetrail.store.dream import Entry, Named
from cuetrail.text.normalise import folded, norm_name

# Several make the same tag, are written in other ways, or are told apart by their signs alone.
NAMES = ["Ada", "ADA", "ada", "C", "C++", "Green Tea", "green-tea", "green tea", "Ümit", "a", "東京", "New York"]
TAGS = ["ada", "green_tea", "c++", "new_york", "york", "a", "東京"]
TEXT = "Ada drank green tea, and wrote C++ in New York with Ümit; 東京 is far."


def named(names: list[tuple[int, str]]) -> list[Named]:
    found = {Named(norm_name(name), n, f"n{n}", "entity", name, False) for n, name in names}
    return sorted(found, key=lambda one: (one.norm, one.id))


nights = st.tuples(
    st.lists(st.tuples(st.integers(0, 5), st.sampled_from(NAMES)), max_size=9, unique_by=lambda pair: pair[0]),
    st.lists(st.sampled_from(TAGS), max_size=4, unique=True),
)


def said(one: TagWords) -> tuple[object, ...]:
    words = {word: list(meant) for word, meant in one.matcher.values.items()}
    return one.tags, one.rows, words, one.matcher.matches([TEXT]), one.matcher.count([TEXT])


@given(st.lists(nights, min_size=1, max_size=6))
def test_a_lexicon_renewed_is_a_lexicon_made_anew(some: list[tuple[list[tuple[int, str]], list[str]]]) -> None:
    kept = TagWords()
    before: set[Entry] = set()
    for names, given_tags in some:
        kept.renew(named(names), sorted(given_tags))
        anew = TagWords()
        anew.renew(named(names), sorted(given_tags))
        assert said(kept) == said(anew)
        rows = set(anew.rows)
        for noted in (before, set[Entry](), {Entry(1, 2, 3), *before}):
            new, gone = kept.difference(noted)
            assert new == {row: word for row, word in anew.rows.items() if row not in noted}
            assert gone == noted - rows
        doubted = [row._replace(fourth=1) for row in before]
        assert kept.difference(doubted) == (anew.rows, before - rows)
        before = rows


def test_the_first_by_name_and_id_says_how_a_tag_is_written() -> None:
    words = TagWords()
    words.renew(named([(2, "Green-Tea"), (1, "green tea")]), ["green_tea"])
    assert words.tags["green_tea"].display == "green tea"
    words.renew(named([(2, "Green Tea")]), ["green_tea"])
    assert words.tags["green_tea"].display == "Green Tea"
    words.renew([], ["green_tea"])
    assert words.tags["green_tea"].display == "green_tea"


def meant(names: list[Named]) -> dict[str, int]:
    """Whom each word means, by the rule."""
    telling = [one for one in names if is_distinctive(one.norm)]
    marked = [one for one in telling if not one.norm.isascii()]
    forms = {folded(one.norm): [other for other in marked if folded(other.norm) == folded(one.norm)] for one in marked}
    forms |= {one.norm: [other for other in telling if other.norm == one.norm] for one in telling}
    return {
        word: min(some, key=lambda one: (one.found, one.kind != "source", one.id)).key for word, some in forms.items()
    }


people = st.lists(
    st.tuples(st.integers(0, 5), st.sampled_from(NAMES), st.sampled_from(["entity", "source"]), st.booleans()),
    max_size=9,
    unique_by=lambda one: one[0],
)


@given(st.lists(people, min_size=1, max_size=6))
def test_whom_names_mean_is_kept_up(some: list[list[tuple[int, str, str, bool]]]) -> None:
    kept = NodeNames()
    before: set[Entry] = set()
    for nodes in some:
        names = [Named(norm_name(name), n, f"n{n}", kind, name, found) for n, name, kind, found in nodes]
        kept.renew(names)
        wanted = meant(names)
        assert {word: list(keys) for word, keys in kept.matcher.values.items()} == {w: [k] for w, k in wanted.items()}
        rows = {Entry(ledger_hash(word), key): word for word, key in wanted.items()}
        assert kept.rows == rows
        assert kept.difference(before) == ({row: rows[row] for row in rows.keys() - before}, before - rows.keys())
        keys = {row.second for row in rows.keys() ^ before}
        assert kept.for_nodes(keys).values == {word: [key] for word, key in wanted.items() if key in keys}
        before = set(rows)


def test_no_more_words_are_kept_than_there_is_room_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_CACHED", 3)
    with Memory(tmp_path / "memory", embedder=None) as memory:

        def words(user: str, *names: str) -> TagWords:
            return cached_words(TagWords, memory.store, Scope(user=user), named(list(enumerate(names))))

        one = words("ann", "Ada", "Ümit")
        assert words("ann", "Ada", "Ümit") is one
        assert isinstance(cached_words(NodeNames, memory.store, Scope(user="ann"), named([(1, "Ada")])), NodeNames)
        assert words("ann", "Ada", "Ümit") is one
        other = words("bob", "New York")
        assert words("bob", "New York") is other
        assert words("ann", "Ada", "Ümit") is one
        # With all of these there are too many, so those go that were asked for least of late.
        words("bob", "New York", "Green Tea")
        assert words("ann", "Ada", "Ümit") is not one
        large = words("ann", "Ada", "Ümit", "New York", "Green Tea")
        assert sorted(large.tags) == ["ada", "green_tea", "new_york", "ümit"]
        assert words("ann", "Ada") is not large
