"""Proper names by rules: capitalised spans, acronyms and CamelCase.

>>> find(["Ask Ada Lovelace in New York about DuckDB.", "Lovelace wrote it. Nothing else."])
[('Ada Lovelace', 'New York', 'DuckDB'), ('Lovelace',)]

A capital at the start of a sentence says nothing, so a single word there is a name only if the same document also
capitalises it inside a sentence or a link, or if its shape alone tells (JACQ, DuckDB, NV-Embed).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

from cuetrail.extract import sentences
from cuetrail.extract.markup import prose_only

MAX_NAMES = 20
_MAX_WORDS = 5
_MAX_SHOUTED = 3

# `re` has no class for capitals, so one is made of the blocks that have them.
_CASED = (*range(0x2E80), *range(0xA640, 0xA800), *range(0xFF21, 0xFF3B), *range(0x10400, 0x10428))
_CAPITALS = "".join(chr(c) for c in _CASED if chr(c).isupper() or chr(c).istitle())
# Only words with a capital are visited, iPhone included; all others stay in the regular expression, which is fast.
_WORD = re.compile(rf"(?<!\w)(?:[{_CAPITALS}]|[a-z]++[A-Z])\w*+(?:[-'’&][^\W_]\w*+)*+")
_ANY_WORD = re.compile(r"\w+")
# A line that starts a list item, quote, heading or table row starts a sentence; a wrapped line does not.
_LINE_START = re.compile(r"^[ \t]*+(?:[-*+>|#]|\d{1,3}[.)]|$)|\n[ \t]*+\n", re.MULTILINE)
_HASHTAG = re.compile(r"#[\w/\-]+")
_WIKILINK = re.compile(r"\[\[([^\[\]\n]{1,500})\]\]")
_JOINT = re.compile(
    r" (?:& |(?:of|de|van|von|da|di|du|del|della|la|le|bin|ibn|al|zu|y|e) (?:(?:the|la|le|los|las|der|den) )?"
    r"|(?:der|den) )?"
)
_AFTER_COLON = re.compile(r":[*_]{0,3}[ \[(\"“*_]{1,4}\Z")

_STOP = """
    a an the this that these those it its he she we you they i me my mine our ours your yours his her hers their
    theirs him them us who whom whose which what when where why how there here and or but nor so yet for if then else
    than as at by in into of off on onto out over per to toward towards under up upon via with within without about
    above across after against along among around before behind below beneath beside between beyond despite down
    during except from inside like near outside past since through throughout until while whereas although though
    because unless whether once is are was were be been being am do does did done doing have has had having can could
    may might must shall should will would not no yes none nothing nobody never always often sometimes usually now
    later soon today tomorrow yesterday also again already still just only even too very much many more most less
    least few several some any all both each every either neither other another such same own first second third
    last next finally however therefore thus hence instead meanwhile moreover otherwise perhaps maybe please thanks
    thank ok okay hello hi hey dear let lets let's see use used using ask try make made get got go going give take
    keep add note notes todo fixme done tip warning example question answer figure table chapter section part page
    don't doesn't didn't can't won't isn't aren't wasn't i'm i've i'll i'd one two three four five six seven eight nine
    ten mr mrs ms dr prof sir st re fw vs etc am pm new old der die das und oder ein eine ist nicht wir sie ich le la
    les un une et est el los las una y es
    monday tuesday wednesday thursday friday saturday sunday january february march april june july august september
    october november december jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun
"""
STOP_WORDS = frozenset(_STOP.split())
# Function words that do begin names; they stand when another capital follows: "New York", "La Paz", "El Niño".
_OPENERS = frozenset({"new", "la", "le", "les", "el", "los", "las", "der", "die", "second", "first"})


class _Start(Enum):
    """Where a word stands: a capital says nothing at the start of a sentence, and little behind a colon."""

    INSIDE = 0
    COLON = 1
    SENTENCE = 2


@dataclass(frozen=True, slots=True)
class _Span:
    """A run of capitalised words with the small words between them."""

    words: tuple[str, ...]
    text: str
    start: _Start


@dataclass(frozen=True, slots=True)
class _Casing:
    """How one document writes its words: those capitalised inside a sentence, and all as they are."""

    names: set[str] = field(default_factory=set)
    words: set[str] = field(default_factory=set)


def find(texts: Sequence[str]) -> list[tuple[str, ...]]:
    """The names in each text of one document, in order, each once, at most 20 a text."""
    casing = _Casing()
    spans = [_spans(text, casing) for text in texts]
    return [_names(found, casing) for found in spans]


def _spans(text: str, casing: _Casing) -> list[_Span]:
    """The capitalised spans of a text; notes in `casing` how its words are written."""
    if not text:
        return []
    text = prose_only(text)
    if "#" in text:
        text = _HASHTAG.sub(lambda m: " " * len(m[0]), text)
    if "[[" in text:
        text = _WIKILINK.sub(lambda m: _learn_link(m, casing), text)
    casing.words.update(_ANY_WORD.findall(text))
    starts = sorted([0, *sentences.ends(text), *(m.end() for m in _LINE_START.finditer(text))])
    spans: list[_Span] = []
    run: list[re.Match[str]] = []
    run_start = _Start.INSIDE
    cursor = 0
    for match in _WORD.finditer(text):
        while cursor + 1 < len(starts) and starts[cursor + 1] <= match.start():
            cursor += 1
        start = _start(text, starts[cursor], match.start())
        if start is _Start.INSIDE:
            casing.names.add(_bare(match[0]))
        if run and start is not _Start.SENTENCE and _joins(text, run[-1], match):
            run.append(match)
            continue
        _close(text, run, run_start, spans)
        run, run_start = [match], start
    _close(text, run, run_start, spans)
    return spans


def _learn_link(match: re.Match[str], casing: _Casing) -> str:
    """Blanks a wikilink, which is reported as a link. One with capitals throughout shows how a name is written."""
    for part in match[1].split("|"):
        words = _ANY_WORD.findall(part)
        if all(word[0].isupper() for word in words):
            casing.names.update(words)
    return " " * len(match[0])


def _start(text: str, sentence: int, at: int) -> _Start:
    if _ANY_WORD.search(text, sentence, at) is None:
        return _Start.SENTENCE
    return _Start.COLON if _AFTER_COLON.search(text, max(0, at - 8), at) else _Start.INSIDE


def _is_strong(word: str) -> bool:
    """Whether the shape alone makes it a name: two capitals, or a capital and a digit, as in JACQ, DuckDB, S3."""
    capitals = sum(c.isupper() for c in word)
    return capitals >= 2 or (capitals == 1 and (not word[0].isupper() or any(c.isdigit() for c in word)))


def _bare(word: str) -> str:
    return word[:-2] if word.endswith(("'s", "’s", "'S", "’S")) else word


def _joins(text: str, left: re.Match[str], right: re.Match[str]) -> bool:
    """Whether two words are one name: a space, a small word or an initial's dot between, no possessive before."""
    if _bare(left[0]) != left[0]:
        return False
    gap = text[left.end() : min(right.start(), left.end() + 20)]
    return _JOINT.fullmatch(gap) is not None or (gap in (". ", ".") and len(left[0]) == 1)


def _close(text: str, run: list[re.Match[str]], start: _Start, spans: list[_Span]) -> None:
    """Cuts a run of capitals at function words and adds what is left as spans."""
    if len(run) > _MAX_SHOUTED and all(match[0].isupper() for match in run):
        return
    part: list[re.Match[str]] = []
    for i, match in enumerate(run):
        following = run[i + 1][0] if i + 1 < len(run) else ""
        if _is_function_word(match[0], following):
            _emit(text, part, start if part[:1] == run[:1] else _Start.INSIDE, spans)
            part = []
        else:
            part.append(match)
    _emit(text, part, start if part[:1] == run[:1] else _Start.INSIDE, spans)


def _is_function_word(word: str, following: str) -> bool:
    folded = _bare(word).casefold().replace("’", "'")
    if folded in _OPENERS and following and following.casefold() not in STOP_WORDS:
        return False
    return folded in STOP_WORDS or folded.split("'", 1)[0] in STOP_WORDS


def _emit(text: str, part: list[re.Match[str]], start: _Start, spans: list[_Span]) -> None:
    if part:
        words = tuple(match[0] for match in part)
        spans.append(_Span(words, _bare(text[part[0].start() : part[-1].end()]), start))


def _names(spans: list[_Span], casing: _Casing) -> tuple[str, ...]:
    unique: dict[str, str] = {}
    for span in spans:
        for name in _judge(span, casing):
            unique.setdefault(name.casefold(), name)
        if len(unique) >= MAX_NAMES:
            break
    return tuple(unique.values())[:MAX_NAMES]


def _judge(span: _Span, casing: _Casing) -> list[str]:
    """The names a span stands for: itself, its rest without an ordinary first word, or nothing."""
    words = span.words
    if len(words) > _MAX_WORDS:
        # Title Case: only a word whose shape tells is surely a name.
        return [_bare(word) for word in words if _is_strong(word)]
    first = _bare(words[0])
    ordinary = first.lower() in casing.words
    known = span.start is _Start.INSIDE or _is_strong(first) or first in casing.names
    if len(words) == 1:
        return [span.text] if len(first) > 1 and (known or (span.start is _Start.COLON and not ordinary)) else []
    if known or not ordinary:
        return [span.text]
    rest = span.text[span.text.index(_bare(words[1]), len(words[0])) :]
    return [rest] if len(rest) > 1 else []
