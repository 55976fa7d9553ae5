"""Finds known names and tags as whole words in texts, in one pass over the text for all words.

>>> words = WordMatcher({"ada lovelace": ["ada_lovelace"], "ada": ["ada"], "c++": ["c++"], "東京": ["tokyo"]})
>>> words.count(["Ada-Lovelace wrote no C++. ADA! (Not Adana.)", "私は東京に住む"])
[{'ada': 2, 'ada_lovelace': 1, 'c++': 1}, {'tokyo': 1}]

Words and texts are normalised first: folded like names, every character that is no letter or digit becomes a space, and
every character of an unspaced script is a word of its own. Words are then searched with a space on both sides. A comma
with a space after it becomes two spaces, so no name is found across it.

Many texts are searched as one, with a byte between them that no word contains: see `TextBatch`.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from cuetrail.model.tags import is_topic
from cuetrail.text.normalise import analysable
from cuetrail.text.word_lists import CALENDAR_WORDS, STOP_WORDS

if TYPE_CHECKING:
    from ahocorasick_rs import BytesAhoCorasick

SHORTEST, LONGEST = 2, 100
# With at most this many bytes of text per known word, looking up each word of the text is faster than an automaton.
LOOKUP_BYTES_PER_WORD = 8

_ASCII = bytes(c if c >= 128 or chr(c).isalnum() else 32 for c in range(256))
# Punctuation around a name that belongs to the sentence.
_PUNCTUATION = " ,;:!?…\"'“”‘’«»()[]{}"
_JOINING = ("Mn", "Mc", "Me", "Cn")
_LETTER = re.compile(r"[^\W\d_]")
# Letters in circles and squares are symbols to Python but letters to the text index.
_NO_WORD_CHARACTER = re.compile(
    r"[^\w\x00-\x7f\u24b6-\u24e9\U0001f130-\U0001f149\U0001f150-\U0001f169\U0001f170-\U0001f189]"
)

# Separates two texts of a batch.
_SEPARATOR = "\0"
# Folding of ASCII: lower case, white space becomes a space, other characters become this one until spaces are joined.
_SIGN = "\1"
_FOLD = bytes(ord(" " if c.isspace() else c.lower() if c.isalnum() else _SIGN) for c in map(chr, range(1, 128)))
_FOLD = b"\0" + _FOLD + bytes(range(128, 256))
_SPACES = re.compile(b"  +")

M = TypeVar("M")


WordEntry = tuple[str, str, Collection[M]]
"""A word, the literal that the text must also contain, and the values of the word."""


class Hits(NamedTuple, Generic[M]):
    """The matches of a search. `spots` has the pattern number, first byte and end of each match.

    `words` has, by pattern number, the known words that are searched by that pattern (`c` and `c++` share one), each as
    a `WordEntry`: the word, the literal that the text must also contain ("" for none), and the values of the word.
    """

    words: Sequence[Sequence[WordEntry[M]]]
    spots: Sequence[tuple[int, int, int]]


# Every dream checks the same words.
@lru_cache(maxsize=65_536)
def is_distinctive(norm: str) -> bool:
    """True if a normalised name or tag is specific enough to be searched in texts.

    Stop words, single characters, words without a letter or longer than LONGEST, calendar words, generic tags (inbox)
    and the tags of a file's format or folder (doc, project:masts) are not.

    >>> [is_distinctive(word) for word in ("ada", "c++", "s3", "東京")]
    [True, True, True, True]
    >>> [is_distinctive(word) for word in ("a", "42", "2026-01-19", "the", "monday", "inbox")]
    [False, False, False, False, False, False]
    """
    word = norm.strip("#@ ")
    return (
        SHORTEST <= len(word) <= LONGEST
        and _LETTER.search(word) is not None
        and is_topic(word)
        and word not in STOP_WORDS
        and word not in CALENDAR_WORDS
    )


def fold_text(text: str) -> str:
    """Returns the text folded like a name (see `norm_name`): casefolded, NFC, single spaces."""
    if text.isascii():
        return " ".join(text.casefold().split())
    return unicodedata.normalize("NFC", " ".join(text.casefold().split()))


def pad_words(text: str) -> bytes:
    """Returns a folded text as bytes with a space on both sides of every word.

    >>> pad_words("ada's node.js, 東京!").decode()
    ' ada s node js   東  京   '
    """
    if text.isascii():
        return b" " + text.encode().translate(_ASCII) + b" "
    words = _NO_WORD_CHARACTER.sub(_blank, text.encode("utf-8", "replace").translate(_ASCII).decode())
    return f" {analysable(words)} ".encode()


def _blank(match: re.Match[str]) -> str:
    """Returns a space, except for combining marks and characters unknown to Python, which may be letters."""
    return match[0] if unicodedata.category(match[0]) in _JOINING else " "


@dataclass(frozen=True, slots=True)
class TextBatch:
    """Texts normalised and joined in `data` for one search. `order[n]` is the index in `texts` of its n-th text."""

    texts: Sequence[str]
    data: bytes
    order: Sequence[int]


def join_texts(texts: Sequence[str]) -> TextBatch:
    """Returns the texts as a batch. ASCII texts come first, because they are normalised together.

    >>> join_texts(["Ada's\\n Café", "node.js,  Go!"]).data.decode().split("\\0")
    [' node js  go  ', ' ada s café ']
    """
    plain = [n for n, text in enumerate(texts) if text.isascii()]
    others = [n for n, text in enumerate(texts) if not text.isascii()]
    pieces = [pad_words(fold_text(texts[n])) for n in others]
    if plain:
        pieces.insert(0, _pad_ascii([texts[n] for n in plain]))
    return TextBatch(texts, _SEPARATOR.encode().join(pieces), plain + others)


def _pad_ascii(texts: Sequence[str]) -> bytes:
    """Returns ASCII texts as `fold_text` and `pad_words` would give them, with a separator between them."""
    joint = f" {_SEPARATOR} ".join(texts)
    if joint.count(_SEPARATOR) >= len(texts):
        joint = f" {_SEPARATOR} ".join(text.replace(_SEPARATOR, _SIGN) for text in texts)
    data = b" " + joint.encode().translate(_FOLD) + b" "
    # Runs of spaces are rare, and searching for them is faster than splitting the text.
    return (_SPACES.sub(b" ", data) if b"  " in data else data).replace(_SIGN.encode(), b" ")


class WordMatcher(Generic[M]):
    """Known words with their values, and the search for them in texts.

    Few texts are searched by looking up each of their words, many by an automaton of all known words.

    Words are given in their normal form. Only a `mutable` matcher can change.
    """

    def __init__(self, values: Mapping[str, Collection[M]], mutable: bool = False) -> None:
        self.values = dict(values) if mutable else values
        self._mutable = mutable
        self._bytes_searched = 0

    def values_of(self, word: str) -> Collection[M]:
        """Returns the values of a word; () if it is unknown."""
        return self.values.get(word, ())

    def put(self, word: str, values: Collection[M]) -> None:
        """Sets the values of a word; an empty collection removes the word. The matcher must be `mutable`."""
        assert isinstance(self.values, dict), "only a mutable matcher changes"
        if values:
            self.values[word] = values
        else:
            self.values.pop(word, None)
        if "_index" in vars(self):
            self._index.put(word, values)
        vars(self).pop("automaton", None)
        self._bytes_searched = 0

    @cached_property
    def _index(self) -> _PatternIndex[M]:
        found = _PatternIndex[M]()
        for word, values in self.values.items():
            found.put(word, values)
        return found

    @cached_property
    def automaton(self) -> BytesAhoCorasick:
        """Returns an automaton that finds all words in one pass over a text. Building it is slow."""
        # Imported here, because only dreams need it.
        from ahocorasick_rs import BytesAhoCorasick

        return BytesAhoCorasick([b" %b " % core for core in self._index.numbers])

    def count(self, texts: Sequence[str]) -> list[dict[M, int]]:
        """Returns for each text the values of the known words in it, with how often the word occurs. Of several words
        with the same value the most frequent counts."""
        one = join_texts(texts)
        hits = self.search(one)
        found: list[dict[M, int]] = [{} for _ in texts]
        for (number, word), times in Counter(_matched_texts(one, hits)).items():
            for _, literal, values in hits.words[word]:
                if not literal or literal in fold_text(texts[number]):
                    for this in values:
                        found[number][this] = max(times, found[number].get(this, 0))
        return found

    def matches(self, texts: Sequence[str]) -> list[set[M]]:
        """Returns for each text the values of the known words in it."""
        one = join_texts(texts)
        return self.read(one, self.search(one))

    def search(self, batch: TextBatch) -> Hits[M]:
        """Returns the matches of known words in a batch; `read` turns them into values. The automaton releases
        Python's lock, so other threads can run.
        """
        if not self.values:
            return Hits((), ())
        self._bytes_searched += len(batch.data) + len(self.values)
        if self._bytes_searched <= LOOKUP_BYTES_PER_WORD * len(self.values) and "automaton" not in vars(self):
            return self._search_by_lookup(batch.data)
        return Hits(self._index.words, self.automaton.find_matches_as_indexes(batch.data, overlapping=True))

    def _search_by_lookup(self, data: bytes) -> Hits[M]:
        """Returns the same as the automaton. Each word is one or more parts of the text between spaces."""
        parts = data.split(b" ")
        if self._mutable:
            some = self._index
        else:
            present, some = set(parts), _PatternIndex[M]()
            for word, values in self.values.items():
                if _pattern(word).first in present:
                    some.put(word, values)
        spots: list[tuple[int, int, int]] = []
        starts = list(accumulate((len(part) + 1 for part in parts), initial=0))
        # The first and the last part lie outside the first and the last space.
        for at in range(1, len(parts) - 1):
            for end in range(at + 1, min(at + some.longest.get(parts[at], 0), len(parts) - 1) + 1):
                number = some.numbers.get(b" ".join(parts[at:end]))
                if number is not None:
                    spots.append((number, starts[at] - 1, starts[end]))
        return Hits(some.words, spots)

    def read(self, batch: TextBatch, hits: Hits[M]) -> list[set[M]]:
        """Returns for each text of a batch the values of the words that `search` found in it."""
        found: list[set[M]] = [set() for _ in batch.texts]
        for number, word in _matched_texts(batch, hits):
            for _, literal, values in hits.words[word]:
                if not literal or literal in fold_text(batch.texts[number]):
                    found[number].update(values)
        return found


def _matched_texts(batch: TextBatch, hits: Hits[M]) -> Iterator[tuple[int, int]]:
    """Yields the text index and the pattern number of each match."""
    ends = list(accumulate(len(piece) + 1 for piece in batch.data.split(_SEPARATOR.encode())))
    return ((batch.order[bisect_right(ends, start)], word) for word, start, _ in hits.spots)


class _PatternIndex(Generic[M]):
    """The patterns of known words: `numbers` by pattern, `words` by number. `longest` has, by first part, the number of
    parts of the longest pattern. A part is what stands between two spaces.
    """

    def __init__(self) -> None:
        self.numbers: dict[bytes, int] = {}
        self.words: list[list[WordEntry[M]]] = []
        self.longest: dict[bytes, int] = {}

    def put(self, word: str, values: Collection[M]) -> None:
        """Sets the values of a word; an empty collection removes the word."""
        pattern = _pattern(word)
        number = self.numbers.setdefault(pattern.core, len(self.words))
        if number == len(self.words):
            self.words.append([])
            self.longest[pattern.first] = max(pattern.parts, self.longest.get(pattern.first, 0))
        entries = self.words[number]
        if entries:
            entries[:] = [entry for entry in entries if entry[0] != word]
        if values:
            entries.append((word, pattern.literal, values))


class _Pattern(NamedTuple):
    """The bytes to search between spaces, their first part and number of parts, and the literal that the folded text
    must also contain ("" for none).
    """

    core: bytes
    first: bytes
    parts: int
    literal: str


@lru_cache(maxsize=65_536)
def _pattern(word: str) -> _Pattern:
    """Returns the pattern of a word. Words such as c++ need a literal: their letters alone are another word."""
    bare = word.strip(_PUNCTUATION) or word
    core = pad_words(bare).strip()
    literal = "" if bare[0].isalnum() and bare[-1].isalnum() else bare
    return _Pattern(core, core.partition(b" ")[0], core.count(b" ") + 1, literal)
