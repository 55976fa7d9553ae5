"""Proper names: those that rules find in a text, runs of words that may be one, and known names that a text mentions.

>>> find(["Ask Ada Lovelace in New York about DuckDB.", "Lovelace wrote it. Nothing else."])
[('Ada Lovelace', 'New York', 'DuckDB'), ('Lovelace',)]
>>> sorted(possible_names("They met Ada Lovelace's aunt."))[:4]
['ada lovelace', "ada lovelace's aunt", "lovelace's aunt", 'they']
>>> sorted(name_variants("Margaret Mayo (playwright)")), sorted(name_variants("Fort Deposit, Alabama"))
(['margaret mayo', 'margaret mayo playwright'], ['fort deposit', 'fort deposit alabama'])
>>> other_spellings("müllers"), other_spellings("the duchies"), other_spellings("glass"), other_spellings("anna")
(['mullers', 'müller', 'muller'], ['the duchy'], [], [])

The first word of a sentence is always capitalised. A single word there is a name only if the same document also
capitalises it inside a sentence or a link, or if its shape shows it (JACQ, DuckDB, NV-Embed).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from cuetrail.text.normalise import folded, norm_name
from cuetrail.text.prose import has_sentence_end_between, prose_only
from cuetrail.text.word_lists import (
    CHAT_ROLES,
    FUNCTION_WORDS,
    HONORIFICS,
    LABEL_WORDS,
    NAME_OPENERS,
    STOP_WORDS,
)

MAX_NAMES = 20
_MAX_WORDS = 5
_MAX_SHOUTED = 3
_MAX_INDENT = 80

# `re` has no class for capital letters, so one is built from the Unicode blocks that have them.
_CASED = (*range(0x2E80), *range(0xA640, 0xA800), *range(0xFF21, 0xFF3B), *range(0x10400, 0x10428))
_CAPITALS = "".join(chr(c) for c in _CASED if chr(c).isupper() or chr(c).istitle())
_JOINED = r"\w*+(?:[-'’&][^\W_]\w*+)*+"
# Patterns that begin with the capital letter skip all other words fast. The ASCII pattern is twice as fast.
_ASCII_CAPITAL = re.compile(f"[A-Z]{_JOINED}", re.ASCII)
_CAPITAL = re.compile(f"[{_CAPITALS}]{_JOINED}")
_WORD = re.compile(rf"(?<!\w)(?:[{_CAPITALS}]|[a-z]++[A-Z]){_JOINED}")
_ANY_WORD = re.compile(r"\w+")
# A line that starts a list item, quote, heading or table row starts a sentence; a wrapped line does not.
_LINE_START = re.compile(r"^[ \t]*+(?:[-*+>|#]|\d{1,3}[.)]|$)|\n[ \t]*+\n", re.MULTILINE)
_HASHTAG = re.compile(r"#[\w/\-]+")
_WIKILINK = re.compile(r"\[\[([^\[\]\n]{1,500})\]\]")
_JOINT = re.compile(
    r" (?:& |(?:of|de|van|von|da|di|du|del|della|la|le|bin|ibn|al|zu|y|e) (?:(?:the|la|le|los|las|der|den) )?"
    r"|(?:der|den) )?"
)
# Without one of these characters between two words they are in the same sentence.
_PAUSE = re.compile(r"[.!?…؟۔։።।॥。！？｡．\n)]")
_AFTER_COLON = re.compile(r":[*_]{0,3}[ \[(\"“*_]{1,4}\Z")
MOST_NAME_WORDS, MOST_ALIASES = 8, 5
# Names are only looked for in the first characters of a text.
MOST_CHARS = 4_000
CACHED_TEXTS = 1 << 13
# A shorter word that ends in s is hardly a plural.
_SHORTEST_PLURAL = 4
_RUN_WORD = re.compile(r"[^\W_]+(?:[.'’&-][^\W_]+)*")
_SENTENCE_END = re.compile(r"[.!?;]\s|\n")
_POSSESSIVE = re.compile(r"['’]s?$")
_FIRST_NAME = re.compile(r"(?<!\w)(?!(?:The|A|In|On|At|And|But|Of)\b)[A-Z][\w.'’-]* $")
_NO_LETTER = re.compile(r"[\W_]+")
_FOLLOWING = re.compile(r" [A-Z]")
_ACCENTS = re.compile(r"[\u0300-\u036f]+")
_QUALIFIER = re.compile(r"\s*(?:\([^()]*\)\s*$|,\s.*$)")

# At most three words that begin with a letter, and a colon.
_SPEAKER = re.compile(r"([^\W\d_][\w.'’-]{0,29}(?: [^\W\d_][\w.'’-]{0,29}){0,2})(?:: (?=\S)|：)")


# --- names by rules


class _Start(Enum):
    """Where a word stands. A capital letter is no sign of a name at a sentence start, a weak one after a colon."""

    INSIDE = 0
    COLON = 1
    SENTENCE = 2


class _Word(NamedTuple):
    """A capitalised word with its offsets in the text."""

    start: int
    end: int
    text: str


class _Span(NamedTuple):
    """A run of capitalised words, with the lower-case words that join them."""

    words: tuple[str, ...]
    text: str
    start: _Start


class _Casing:
    """Records how one document capitalises its words. `names` are words capitalised inside a sentence."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.texts: list[str] = []
        self._words: set[str] | None = None

    def has(self, word: str) -> bool:
        """True if the document contains the word in exactly this case. Call it after all texts were added."""
        if self._words is None:
            self._words = set(_ANY_WORD.findall("\n".join(self.texts)))
        return word in self._words


def find(texts: Sequence[str]) -> list[tuple[str, ...]]:
    """Returns the names in each text of one document, in order, without repeats, at most 20 per text."""
    casing = _Casing()
    spans = [_spans(text, casing) for text in texts]
    return [_names(found, casing) for found in spans]


def _spans(text: str, casing: _Casing) -> list[_Span]:
    """Returns the capitalised spans of a text, and records in `casing` how it capitalises its words."""
    if not text:
        return []
    text = prose_only(text)
    if "#" in text:
        text = _HASHTAG.sub(lambda m: " " * len(m[0]), text)
    if "[[" in text:
        text = _WIKILINK.sub(lambda m: _learn_link(m, casing), text)
    casing.texts.append(text)
    spans: list[_Span] = []
    run: list[_Word] = []
    run_start = _Start.INSIDE
    for word in _capitalised(text):
        start = _start(text, word.start)
        if start is _Start.INSIDE:
            casing.names.add(_bare(word.text))
        if run and start is not _Start.SENTENCE and _joins(text, run[-1], word):
            run.append(word)
            continue
        if run:
            _close(text, run, run_start, spans)
        run, run_start = [word], start
    _close(text, run, run_start, spans)
    return spans


def _capitalised(text: str) -> Iterator[_Word]:
    """Yields the words that begin with a capital letter, or have one after lower-case letters, as iPhone."""
    for match in (_ASCII_CAPITAL if text.isascii() else _CAPITAL).finditer(text):
        start, end = match.span()
        if not start or not (text[start - 1].isalnum() or text[start - 1] == "_"):
            yield _Word(start, end, match[0])
            continue
        small = start
        while small and "a" <= text[small - 1] <= "z":
            small -= 1
        yield from (_Word(*found.span(), found[0]) for found in _WORD.finditer(text, small, end))


def _learn_link(match: re.Match[str], casing: _Casing) -> str:
    """Replaces a wikilink with spaces, and records its words as names if all of them are capitalised."""
    for part in match[1].split("|"):
        words = _ANY_WORD.findall(part)
        if all(word[0].isupper() for word in words):
            casing.names.update(words)
    return " " * len(match[0])


def _start(text: str, at: int) -> _Start:
    """Returns the position of the word at offset `at`, judged by the characters between it and the word before."""
    if at > 1 and text[at - 1] == " " and text[at - 2].isalnum():
        return _Start.INSIDE
    before = at
    while before and not text[before - 1].isalnum():
        before -= 1
    if not before or (_PAUSE.search(text, before, at) and _is_break(text, before, at)):
        return _Start.SENTENCE
    return _Start.COLON if _AFTER_COLON.search(text, max(0, at - 8), at) else _Start.INSIDE


def _is_break(text: str, before: int, at: int) -> bool:
    """True if a sentence ends between two words, or a list item, heading or the like begins there."""
    if has_sentence_end_between(text, before, at):
        return True
    # A list number counts as a word, so the search begins at the start of the line, if that is near.
    near = max(0, before - _MAX_INDENT)
    line = text.rfind("\n", near, before) + 1 or near
    return any(match.end() > before for match in _LINE_START.finditer(text, line, at + 1))


# Words repeat, so results are cached.
@lru_cache(maxsize=65536)
def _is_strong(word: str) -> bool:
    """True if the word's shape alone shows a name: two capitals, or a capital and a digit (JACQ, DuckDB, S3)."""
    capitals = sum(c.isupper() for c in word)
    return capitals >= 2 or (capitals == 1 and (not word[0].isupper() or any(c.isdigit() for c in word)))


def _bare(word: str) -> str:
    return word[:-2] if word.endswith(("'s", "’s", "'S", "’S")) else word


def _joins(text: str, left: _Word, right: _Word) -> bool:
    """True if two words belong to one name: a space, a joining word or an initial's dot between, and no possessive."""
    gap = text[left.end : min(right.start, left.end + 20)]
    if gap != " " and _JOINT.fullmatch(gap) is None and (gap not in (". ", ".") or len(left.text) > 1):
        return False
    return _bare(left.text) == left.text


def _close(text: str, run: list[_Word], start: _Start, spans: list[_Span]) -> None:
    """Splits a run of capitalised words at function words and adds the parts to `spans`. A long run in capital letters
    is left out.
    """
    if len(run) > _MAX_SHOUTED and all(word.text.isupper() for word in run):
        return
    part: list[_Word] = []
    for i, word in enumerate(run):
        if _is_function_word(word.text) and not (_is_opener(word.text) and _is_followed(run, i)):
            _emit(text, part, start if part[:1] == run[:1] else _Start.INSIDE, spans)
            part = []
        else:
            part.append(word)
    _emit(text, part, start if part[:1] == run[:1] else _Start.INSIDE, spans)


@lru_cache(maxsize=65536)
def _is_function_word(word: str) -> bool:
    # "VS Code" is a name, "vs" joins two.
    if word == "VS":
        return False
    folded = _folded(word)
    return folded in STOP_WORDS or folded.split("'", 1)[0] in STOP_WORDS


def _is_opener(word: str) -> bool:
    return _folded(word) in NAME_OPENERS


def _is_followed(run: list[_Word], i: int) -> bool:
    """True if the next word of the run is capitalised and not a stop word."""
    return i + 1 < len(run) and run[i + 1].text.casefold() not in STOP_WORDS


def _folded(word: str) -> str:
    return _bare(word).casefold().replace("’", "'")


def _emit(text: str, part: list[_Word], start: _Start, spans: list[_Span]) -> None:
    if part:
        words = tuple([word.text for word in part])
        spans.append(_Span(words, _bare(text[part[0].start : part[-1].end]), start))


def _names(spans: list[_Span], casing: _Casing) -> tuple[str, ...]:
    unique: dict[str, str] = {}
    for span in spans:
        for name in _judge(span, casing):
            unique.setdefault(name.casefold(), name)
        if len(unique) >= MAX_NAMES:
            break
    return tuple(unique.values())[:MAX_NAMES]


def _judge(span: _Span, casing: _Casing) -> list[str]:
    """Returns the names in a span: the whole span, the span without an ordinary first word, or none.

    Of a span longer than a name can be, only the words with the shape of a name count.
    """
    words = span.words
    if len(words) > _MAX_WORDS:
        # So long a span is a title, in which every word is capitalised.
        return [_bare(word) for word in words if _is_strong(word)]
    first = _bare(words[0])
    known = span.start is _Start.INSIDE or first in casing.names or _is_strong(first)
    if len(words) == 1 and (len(first) == 1 or (not known and span.start is _Start.SENTENCE)):
        return []
    if known or not casing.has(first.lower()):
        return [span.text]
    if len(words) == 1:
        return []
    rest = span.text[span.text.index(_bare(words[1]), len(words[0])) :]
    return [rest] if len(rest) > 1 else []


# --- possible names in a text


class WordRun(NamedTuple):
    """Consecutive words that may be a name: in normal form, and their position among the words of the text.

    `capital`: one is capitalised, other than as the first word of the text. `part`: they seem to be part of a longer
    name.
    """

    norm: str
    start: int
    end: int
    capital: bool
    part: bool


def word_runs(text: str) -> Iterator[WordRun]:
    """Yields every run of words that may be a name: within a sentence, and not ending in a function word."""
    words = _RunWords(text[:MOST_CHARS])
    for start in range(len(words.spans)):
        for end in words.ends(start):
            capital = any(words.capital[max(start, 1) : end + 1]) or (end == 0 and words.capital[0])
            yield WordRun(words.norm(start, end), start, end + 1, capital, words.is_part(start, end))


class _RunWords:
    """The words of a text, with what its runs of words have in common; each is worked out once per word."""

    def __init__(self, text: str) -> None:
        self.text = text
        # Only in ASCII the lower-case text is in normal form but for its spaces, and as long as the text.
        self._lower = text.lower() if text.isascii() and "\x00" not in text else ""
        found = list(_RUN_WORD.finditer(text))
        self.spans = [word.span() for word in found]
        written = [word[0] for word in found]
        gaps = [text[left[1] : right[0]] for left, right in pairwise(self.spans)]
        self.capital = [word[0].isupper() for word in written]
        function_word = [word.lower() in FUNCTION_WORDS for word in written]
        self._leads = [word[0].isupper() or word[0].isdigit() for word in written]
        self._ends_badly = [word and not capital for word, capital in zip(function_word, self.capital, strict=True)]
        # A full stop behind an initial or a title does not end a sentence.
        self._ends_sentence = [
            gap != " " and len(word) > 2 and _SENTENCE_END.search(text, left[1], right[0] + 1) is not None
            for gap, word, (left, right) in zip(gaps, written, pairwise(self.spans), strict=False)
        ]
        # A capitalised word follows at once.
        self._leads_on = [gap == " " and capital for gap, capital in zip(gaps, self.capital[1:], strict=True)]
        # The word before may be the first name to this one.
        self._led_to = [
            gap in (" ", ". ") and capital and not function
            for gap, capital, function in zip(gaps, self.capital, function_word, strict=False)
        ]

    def leading(self) -> list[int]:
        """Returns the positions of the words that begin with a capital or a digit."""
        return [at for at, leads in enumerate(self._leads) if leads]

    def ends(self, start: int) -> Iterator[int]:
        """Yields the positions of the last words of the runs that begin at a word."""
        last = min(start + MOST_NAME_WORDS, len(self.spans)) - 1
        for end in range(start, last + 1):
            if not self._ends_badly[end]:
                yield end
            if end < last and self._ends_sentence[end]:
                return

    def is_part(self, start: int, end: int) -> bool:
        """True if a capitalised word follows at once, or precedes a single word as a first name does."""
        return (end < len(self._leads_on) and self._leads_on[end]) or (
            start == end and start > 0 and self._led_to[start - 1]
        )

    def norm(self, start: int, end: int) -> str:
        """Returns a run in normal form, without the possessive at its end, and with the bracket that closes it."""
        begin, stop = self.spans[start][0], self.spans[end][1]
        run = (self._lower or self.text)[begin:stop]
        if self.text[stop - 1] in "s'’":
            run = _POSSESSIVE.sub("", run)
        elif "(" in run and ")" not in run and self.text[stop : stop + 1] == ")":
            run += ")"
        return " ".join(run.split()) if self._lower else norm_name(run)


@lru_cache(CACHED_TEXTS)
def possible_names(text: str) -> frozenset[str]:
    """Returns, normalised, every run of words that begins with a capital or a number; many of them are no names."""
    words = _RunWords(text[:MOST_CHARS])
    runs = ((start, end) for start in words.leading() for end in words.ends(start))
    found = {words.norm(start, end) for start, end in runs if not words.is_part(start, end)}
    return frozenset(norm for norm in found if len(norm) > 2 and not norm.isdigit())


@lru_cache(CACHED_TEXTS)
def proper_names(text: str) -> frozenset[str]:
    """Returns the names that `find` finds in a text, in lower case and without accents and punctuation."""
    (found,) = find([text[:MOST_CHARS]])
    return frozenset(name for name in map(fold, found) if len(name) > 2 and not name.isdigit())


# --- the speaker of a turn


def speaker_in(text: str) -> str:
    """Returns the name before the first colon of a chat turn; empty if the text begins with another kind of label.

    >>> [speaker_in(text) for text in ("Ann Lee: I moved to Oslo.", "user: hello", "Dr. Roe: Sit down.")]
    ['Ann Lee', 'user', 'Dr. Roe']
    >>> [speaker_in(text) for text in ("Note: buy milk", "TODO: x", "https://a.org", "At 10:30: tea", "See Ann: no")]
    ['', '', '', '', '']
    """
    found = _SPEAKER.match(text)
    if found is None:
        return ""
    words = [word.rstrip(".").casefold() for word in found[1].split()]
    if len(words) == 1 and words[0] in CHAT_ROLES:
        return found[1]
    is_name = not any(word[0].islower() for word in found[1].split()) and words[-1] not in HONORIFICS
    return found[1] if is_name and LABEL_WORDS.isdisjoint(words) else ""


# --- a known name in texts


def fold(text: str) -> str:
    """Returns the words of a text in lower case, without accents and punctuation, separated by single spaces.

    >>> fold("São José's (old) town")
    'sao jose s old town'
    """
    if not text.isascii():
        text = _ACCENTS.sub("", unicodedata.normalize("NFKD", text))
    return _NO_LETTER.sub(" ", text.casefold()).strip()


@lru_cache(CACHED_TEXTS)
def fold_padded(text: str) -> str:
    """Returns the first MOST_CHARS characters of a text in lower case, without accents and punctuation, with a space at
    both ends, so that " word " finds whole words.
    """
    return f" {fold(text[:MOST_CHARS])} "


@lru_cache(1 << 14)
def name_variants(name: str) -> frozenset[str]:
    """Returns the folded forms in which a text may write a name: in full, and without a bracket or comma part."""
    forms = {fold(name), fold(_QUALIFIER.sub("", name))}
    return frozenset(form for form in forms if len(form) > 2)


def texts_with(names: Collection[str], texts: Mapping[str, str]) -> dict[str, list[str]]:
    """Returns, for each folded name, the ids of the texts that contain it, in their order. The texts are folded, with a
    space at both ends.

    >>> texts = {"a": fold_padded("Ada Lovelace, Ada"), "b": fold_padded("Ada!"), "c": fold_padded("Adana")}
    >>> texts_with({"ada", "ada lovelace"}, texts)
    {'ada': ['a', 'b'], 'ada lovelace': ['a']}
    """
    from ahocorasick_rs import AhoCorasick, Implementation

    found: dict[str, list[str]] = {name: [] for name in sorted(names)}
    if found:
        keys = list(found)
        words = AhoCorasick([f" {name} " for name in keys], implementation=Implementation.ContiguousNFA)
        for id_, text in texts.items():
            for at in {match[0] for match in words.find_matches_as_indexes(text, overlapping=True)}:
                found[keys[at]].append(id_)
    return found


def mentions(text: str, name: str) -> bool:
    """True if a text contains a folded name, and not as part of a longer name.

    >>> mentions("He met John Middleton.", "john middleton"), mentions("He met John Middleton Murry.", "john middleton")
    (True, False)
    >>> mentions("Morgan sings.", "morgan"), mentions("Frank Morgan sings.", "morgan")
    (True, False)
    """
    words = name.split()
    return any(
        _FOLLOWING.match(text, end) is None and (len(words) > 1 or not _FIRST_NAME.search(text, max(at - 40, 0), at))
        for at, end in _places_of(words, text)
    )


def _places_of(words: Sequence[str], text: str) -> Iterator[tuple[int, int]]:
    """Yields the begin and the end of each place where a text has these words, whole and one after another, in any
    case.
    """
    lower = text.lower()
    if len(lower) != len(text):
        # Only then do some letters become two in lower case, which would shift the places behind them.
        lower = "".join(small if len(small := char.lower()) == 1 else char for char in text)
    at = lower.find(words[0]) if words else -1
    while at >= 0:
        end = _end_of(words, lower, at)
        if end >= 0:
            yield at, end
        at = lower.find(words[0], at + 1)


def _end_of(words: Sequence[str], lower: str, at: int) -> int:
    """Returns where the words end that a text has at this place, -1 if it has others, or only a part of a word."""
    if at and _is_letter(lower[at - 1]):
        return -1
    end = at
    for number, word in enumerate(words):
        if number:
            gap = _NO_LETTER.match(lower, end)
            end = gap.end() if gap is not None else end
        if not lower.startswith(word, end) or _is_letter(lower[end + len(word) : end + len(word) + 1]):
            return -1
        end += len(word)
    return end


def _is_letter(char: str) -> bool:
    return char.isalnum() or char == "_"


def clear_name_caches() -> None:
    """Drops all cached texts, so that forgotten ones do not stay in memory."""
    for cached in (possible_names, proper_names, fold_padded, name_variants):
        cached.cache_clear()


def other_spellings(norm: str) -> list[str]:
    """Returns other spellings of a normalised name: without accents, and in the singular."""
    spellings = [norm] if norm.isascii() else [norm, folded(norm)]
    plural = norm.endswith("s") and not norm.endswith("ss") and len(norm) >= _SHORTEST_PLURAL
    singular = [f"{one[:-3]}y" if one.endswith("ies") else one[:-1] for one in spellings] if plural else []
    return list(dict.fromkeys([*spellings[1:], *singular]))


def ids_by_name(
    named: Iterable[tuple[str, str]], qualified: Iterable[tuple[str, str, str]] = (), each: int = 0
) -> dict[str, list[str]]:
    """Returns the ids of each name in order; then up to `each` ids of longer names that begin with it, by name and id.

    `named` has rows of (name, id), `qualified` rows of (name, longer name, id).

    >>> ids_by_name([("agni", "c")], [("agni", "agni (2004)", "b"), ("agni", "agni (1978)", "a")], 1)
    {'agni': ['c', 'a']}
    """
    found: dict[str, list[str]] = {}
    for name, id_ in sorted(named):
        found.setdefault(name, []).append(id_)
    more: dict[str, list[str]] = {}
    for name, _, id_ in sorted(qualified):
        if id_ not in more.setdefault(name, []) and len(more[name]) < each:
            more[name].append(id_)
    for name, ids in more.items():
        found[name] = list(dict.fromkeys([*found.get(name, ()), *ids]))
    return found
