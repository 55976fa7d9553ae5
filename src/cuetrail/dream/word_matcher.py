"""Known words in texts: names and tags as whole words, found in one pass over a text however many there are.

>>> words = Dictionary({"ada lovelace": ["ada_lovelace"], "ada": ["ada"], "c++": ["c++"], "東京": ["tokyo"]})
>>> words.count(["Ada-Lovelace wrote no C++. ADA! (Not Adana.)", "私は東京に住む"])
[{'ada': 2, 'ada_lovelace': 1, 'c++': 1}, {'tokyo': 1}]

Both the words and the text are brought into one form first: folded as names are, every character that is no letter or
digit a space, every character of a script without spaces a word of its own. Words are then looked for with the spaces
around them. A comma or full stop and the space behind it make two spaces, so a name is not found across them.

Many texts are searched as one, with a byte between them that is in no word: see `Page`.
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
from cuetrail.text.calendar_words import CALENDAR_WORDS
from cuetrail.text.normalise import analysable
from cuetrail.text.word_lists import STOP_WORDS

if TYPE_CHECKING:
    from ahocorasick_rs import BytesAhoCorasick

SHORTEST, LONGEST = 2, 100
# Up to so many bytes of text per word, what stands there is looked up.
LOOKED_UP = 8

_ASCII = bytes(c if c >= 128 or chr(c).isalnum() else 32 for c in range(256))
# Around a name these are of the sentence, not of the name.
_PUNCTUATION = " ,;:!?…\"'“”‘’«»()[]{}"
_JOINING = ("Mn", "Mc", "Me", "Cn")
_LETTER = re.compile(r"[^\W\d_]")
# Letters in circles and squares are signs to Python and letters to the text index.
_STRANGE = re.compile(r"[^\w\x00-\x7f\u24b6-\u24e9\U0001f130-\U0001f149\U0001f150-\U0001f169\U0001f170-\U0001f189]")

# What stands between two texts of a page.
_BETWEEN = "\0"
# To fold ASCII: a letter is small, any white space a space, and any other sign this one until runs of space are gone.
_SIGN = "\1"
_FOLD = bytes(ord(" " if c.isspace() else c.lower() if c.isalnum() else _SIGN) for c in map(chr, range(1, 128)))
_FOLD = b"\0" + _FOLD + bytes(range(128, 256))
_SPACES = re.compile(b"  +")

M = TypeVar("M")


Entry = tuple[str, str, Collection[M]]
"""A word, what must stand in the text as it is where it is found, and what it means."""


class Hits(NamedTuple, Generic[M]):
    """The words that were looked for, several where they look alike; which one was found, and from where to where."""

    words: Sequence[Sequence[Entry[M]]]
    spots: Sequence[tuple[int, int, int]]


# The same words come night after night.
@lru_cache(maxsize=65_536)
def is_telling(norm: str) -> bool:
    """Whether a name or tag, in its normal form, means enough to be looked for in texts.

    Stop words, single letters, numbers, words for times, and what every memory calls its corners do not.

    >>> [is_telling(word) for word in ("ada", "c++", "s3", "東京")]
    [True, True, True, True]
    >>> [is_telling(word) for word in ("a", "42", "2026-01-19", "the", "monday", "inbox")]
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


def folded(text: str) -> str:
    """The text folded as names are (see `norm_name`): case, composition and runs of space do not matter."""
    if text.isascii():
        return " ".join(text.casefold().split())
    return unicodedata.normalize("NFC", " ".join(text.casefold().split()))


def spaced(text: str) -> bytes:
    """A folded text with its words between spaces.

    >>> spaced("ada's node.js, 東京!").decode()
    ' ada s node js   東  京   '
    """
    if text.isascii():
        return b" " + text.encode().translate(_ASCII) + b" "
    words = _STRANGE.sub(_blank, text.encode("utf-8", "replace").translate(_ASCII).decode())
    return f" {analysable(words)} ".encode()


def _blank(match: re.Match[str]) -> str:
    """A space for anything but marks, which belong to the letter before them, and characters that Python does not know
    yet: they may be letters.
    """
    return match[0] if unicodedata.category(match[0]) in _JOINING else " "


@dataclass(frozen=True, slots=True)
class Page:
    """Texts one behind the other in the form in which words are looked for. `order` says which text stands where."""

    texts: Sequence[str]
    data: bytes
    order: Sequence[int]


def page(texts: Sequence[str]) -> Page:
    """The texts as a page: those in ASCII first, for they are folded and spaced as one.

    >>> page(["Ada's\\n Café", "node.js,  Go!"]).data.decode().split("\\0")
    [' node js  go  ', ' ada s café ']
    """
    plain = [n for n, text in enumerate(texts) if text.isascii()]
    others = [n for n, text in enumerate(texts) if not text.isascii()]
    pieces = [spaced(folded(texts[n])) for n in others]
    if plain:
        pieces.insert(0, _spaced_as_one([texts[n] for n in plain]))
    return Page(texts, _BETWEEN.encode().join(pieces), plain + others)


def _spaced_as_one(texts: Sequence[str]) -> bytes:
    """Texts in ASCII, each as `spaced` and `folded` give it, with a byte between them."""
    joint = f" {_BETWEEN} ".join(texts)
    if joint.count(_BETWEEN) >= len(texts):
        joint = f" {_BETWEEN} ".join(text.replace(_BETWEEN, _SIGN) for text in texts)
    data = b" " + joint.encode().translate(_FOLD) + b" "
    # As a rule there are few runs of space or none, and to look for them takes less than to split at all others.
    return (_SPACES.sub(b" ", data) if b"  " in data else data).replace(_SIGN.encode(), b" ")


class Dictionary(Generic[M]):
    """What words mean, and how to find them in texts: with an automaton of all words, or, in the little that a usual
    night brings, by looking up what stands there.

    Words are given in their normal form.
    """

    def __init__(self, meanings: Mapping[str, Collection[M]], lasting: bool = False) -> None:
        self.meanings = dict(meanings) if lasting else meanings
        self._lasting = lasting
        self._looked = 0

    def meaning(self, word: str) -> Collection[M]:
        """What a word means; nothing if it is not known."""
        return self.meanings.get(word, ())

    def put(self, word: str, meant: Collection[M]) -> None:
        """Let a word of a lasting dictionary mean this, or be forgotten if that is nothing."""
        assert isinstance(self.meanings, dict), "only a lasting dictionary changes"
        if meant:
            self.meanings[word] = meant
        else:
            self.meanings.pop(word, None)
        if "_index" in vars(self):
            self._index.put(word, meant)
        vars(self).pop("automaton", None)
        self._looked = 0

    @cached_property
    def _index(self) -> _Index[M]:
        found = _Index[M]()
        for word, meant in self.meanings.items():
            found.put(word, meant)
        return found

    @cached_property
    def automaton(self) -> BytesAhoCorasick:
        """Finds every word in one pass over a text. To build it takes longer than to look a few texts up."""
        # Imported here: only dreaming needs it.
        from ahocorasick_rs import BytesAhoCorasick

        return BytesAhoCorasick([b" %b " % core for core in self._index.numbers])

    def count(self, texts: Sequence[str]) -> list[dict[M, int]]:
        """What words of each text mean, and how often they are said; by the word said most where several mean it."""
        one = page(texts)
        hits = self.search(one)
        found: list[dict[M, int]] = [{} for _ in texts]
        for (number, word), times in Counter(_placed(one, hits)).items():
            for _, literal, meant in hits.words[word]:
                if not literal or literal in folded(texts[number]):
                    for this in meant:
                        found[number][this] = max(times, found[number].get(this, 0))
        return found

    def meant(self, texts: Sequence[str]) -> list[set[M]]:
        """What words of each text mean, however often they are said."""
        one = page(texts)
        return self.read(one, self.search(one))

    def search(self, page: Page) -> Hits[M]:
        """The words on a page. With the automaton Python's lock is not held meanwhile, so another thread gets on."""
        if not self.meanings:
            return Hits((), ())
        self._looked += len(page.data) + len(self.meanings)
        if self._looked <= LOOKED_UP * len(self.meanings) and "automaton" not in vars(self):
            return self._look_up(page.data)
        return Hits(self._index.words, self.automaton.find_matches_as_indexes(page.data, overlapping=True))

    def _look_up(self, data: bytes) -> Hits[M]:
        """What the automaton finds: words begin and end at a space, so each is some parts of the text, as they are."""
        parts = data.split(b" ")
        if self._lasting:
            some = self._index
        else:
            there, some = set(parts), _Index[M]()
            for word, meant in self.meanings.items():
                if _sought(word).first in there:
                    some.put(word, meant)
        spots: list[tuple[int, int, int]] = []
        starts = list(accumulate((len(part) + 1 for part in parts), initial=0))
        # The first and the last part stand before the first space and behind the last one.
        for at in range(1, len(parts) - 1):
            for end in range(at + 1, min(at + some.longest.get(parts[at], 0), len(parts) - 1) + 1):
                number = some.numbers.get(b" ".join(parts[at:end]))
                if number is not None:
                    spots.append((number, starts[at] - 1, starts[end]))
        return Hits(some.words, spots)

    def read(self, page: Page, hits: Hits[M]) -> list[set[M]]:
        """What the words that were found on a page mean, for each of its texts."""
        found: list[set[M]] = [set() for _ in page.texts]
        for number, word in _placed(page, hits):
            for _, literal, meant in hits.words[word]:
                if not literal or literal in folded(page.texts[number]):
                    found[number].update(meant)
        return found


def _placed(page: Page, hits: Hits[M]) -> Iterator[tuple[int, int]]:
    """In which text stands which word, for each that was found."""
    ends = list(accumulate(len(piece) + 1 for piece in page.data.split(_BETWEEN.encode())))
    return ((page.order[bisect_right(ends, start)], word) for word, start, _ in hits.spots)


class _Index(Generic[M]):
    """Words by what to look for: their numbers, by number what they mean, and by first part the most parts of any."""

    def __init__(self) -> None:
        self.numbers: dict[bytes, int] = {}
        self.words: list[list[Entry[M]]] = []
        self.longest: dict[bytes, int] = {}

    def put(self, word: str, meant: Collection[M]) -> None:
        """Let a word mean this."""
        sought = _sought(word)
        number = self.numbers.setdefault(sought.core, len(self.words))
        if number == len(self.words):
            self.words.append([])
            self.longest[sought.first] = max(sought.parts, self.longest.get(sought.first, 0))
        entries = self.words[number]
        if entries:
            entries[:] = [entry for entry in entries if entry[0] != word]
        if meant:
            entries.append((word, sought.literal, meant))


class _Sought(NamedTuple):
    """The bytes to look for between spaces, the first of their parts and how many there are, and what must then stand
    in the folded text as it is (empty: nothing more).
    """

    core: bytes
    first: bytes
    parts: int
    literal: str


@lru_cache(maxsize=65_536)
def _sought(word: str) -> _Sought:
    """How a word is looked for. The letters of c++ or .net alone are another word."""
    bare = word.strip(_PUNCTUATION) or word
    core = spaced(bare).strip()
    literal = "" if bare[0].isalnum() and bare[-1].isalnum() else bare
    return _Sought(core, core.partition(b" ")[0], core.count(b" ") + 1, literal)
