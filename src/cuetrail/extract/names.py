"""Proper names by rules: capitalised spans, acronyms and CamelCase.

>>> find(["Ask Ada Lovelace in New York about DuckDB.", "Lovelace wrote it. Nothing else."])
[('Ada Lovelace', 'New York', 'DuckDB'), ('Lovelace',)]

A capital at the start of a sentence says nothing, so a single word there is a name only if the same document also
capitalises it inside a sentence, or if its shape alone tells (JACQ, DuckDB, NV-Embed).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from cuetrail.extract import sentences
from cuetrail.extract.markup import prose_only

MAX_NAMES = 20
_MAX_WORDS = 5

_WORD = re.compile(r"[^\W\d_]\w*+(?:[-'’&][^\W_]\w*+)*+")
# A line that starts a list item, quote, heading or table row starts a sentence; a wrapped line does not.
_LINE_START = re.compile(r"^[ \t]*+(?:[-*+>|#]|\d{1,3}[.)])|^[ \t]*+$|(?<=\n)(?<!\S\n)", re.MULTILINE)
_HASHTAG = re.compile(r"#[\w/\-]+")

_CONNECTORS = frozenset("of de van von der den da di du del della la le bin ibn al zu y e".split())
_STOP = frozenset(
    """a an the this that these those it its he she we you they i me my mine our ours your yours his her hers their
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
    october november december jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun""".split()
)
# Function words that do begin names; they stand when another capital follows: "New York", "La Paz", "El Niño".
_OPENERS = frozenset({"new", "la", "le", "les", "el", "los", "las", "der", "die", "second", "first"})


@dataclass(frozen=True, slots=True)
class _Span:
    """A run of capitalised words; `initial` when it starts a sentence."""

    words: tuple[str, ...]
    text: str
    initial: bool


@dataclass(slots=True)
class _Casing:
    """How one document writes its words: those capitalised inside a sentence, and those in lower case."""

    names: set[str]
    ordinary: set[str]


def find(texts: Sequence[str]) -> list[tuple[str, ...]]:
    """The names in each text of one document, in order, each once, at most 20 a text."""
    casing = _Casing(set(), set())
    spans = [_spans(text, casing) for text in texts]
    return [_names(found, casing) for found in spans]


def _spans(text: str, casing: _Casing) -> list[_Span]:
    """The capitalised spans of a text; notes in `casing` how its words are written."""
    text = prose_only(text)
    if "#" in text:
        text = _HASHTAG.sub(lambda m: " " * len(m[0]), text)
    starts = sorted([0, *sentences.ends(text), *(m.end() for m in _LINE_START.finditer(text))])
    spans: list[_Span] = []
    run: list[re.Match[str]] = []
    run_initial = False
    cursor = 0
    for match in _WORD.finditer(text):
        word, at = match[0], match.start()
        initial = cursor < len(starts) and starts[cursor] <= at
        while cursor < len(starts) and starts[cursor] <= at:
            cursor += 1
        capital = _is_capitalised(word)
        if not capital:
            casing.ordinary.add(word)
        elif not initial:
            casing.names.add(_bare(word))
        if run and not initial and _joins(text, run[-1], match) and (capital or word in _CONNECTORS or word == "the"):
            run.append(match)
            continue
        _close(text, run, run_initial, spans)
        run, run_initial = ([match], initial) if capital else ([], False)
    _close(text, run, run_initial, spans)
    return spans


def _is_capitalised(word: str) -> bool:
    """True for Ada, JACQ and iPhone; no digit or underscore starts a word here."""
    return word[0].isupper() or word[0].istitle() or (not word.islower() and any(c.isupper() for c in word[1:]))


def _is_strong(word: str) -> bool:
    """Whether the shape alone makes it a name: two capitals, or a capital and a digit, as in JACQ, DuckDB, S3."""
    capitals = sum(c.isupper() for c in word)
    return capitals >= 2 or (capitals == 1 and (not word[0].isupper() or any(c.isdigit() for c in word)))


def _bare(word: str) -> str:
    return word[:-2] if word.endswith(("'s", "’s", "'S", "’S")) else word


def _joins(text: str, left: re.Match[str], right: re.Match[str]) -> bool:
    """Whether two words stand together: one space, `&`, or the full stop of an initial. A possessive ends a name."""
    gap = text[left.end() : right.start()]
    if _bare(left[0]) != left[0]:
        return False
    return gap == " " or gap == " & " or (gap in (". ", ".") and len(left[0]) == 1)


def _close(text: str, run: list[re.Match[str]], initial: bool, spans: list[_Span]) -> None:
    """Cuts a run of capitals at function words and adds what is left as spans."""
    part: list[re.Match[str]] = []
    for i, match in enumerate(run):
        word = _bare(match[0]).casefold()
        connector = bool(part) and match[0] in _CONNECTORS or match[0] == "the"
        following = run[i + 1][0] if i + 1 < len(run) else ""
        opener = word in _OPENERS and following[:1].isupper() and following.casefold() not in _STOP
        if (word in _STOP or word.split("'")[0].split("’")[0] in _STOP) and not connector and not opener:
            _emit(text, part, initial and part[:1] == run[:1], spans)
            part = []
        elif part or not connector:
            part.append(match)
    _emit(text, part, initial and part[:1] == run[:1], spans)


def _emit(text: str, part: list[re.Match[str]], initial: bool, spans: list[_Span]) -> None:
    while part and (part[-1][0] in _CONNECTORS or part[-1][0] == "the"):
        part = part[:-1]
    if part:
        words = tuple(match[0] for match in part)
        spans.append(_Span(words, _bare(text[part[0].start() : part[-1].end()]), initial))


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
    if len(words) > _MAX_WORDS or (len(words) > 2 and span.text.isupper()):
        # Title Case or shouting: only a word whose shape tells is surely a name.
        return [] if span.text.isupper() else [_bare(w) for w in words if _is_strong(w)]
    first = _bare(words[0])
    known = not span.initial or _is_strong(first) or first in casing.names
    if len(words) == 1:
        return [span.text] if known and len(span.text) > 1 else []
    if not known and first.lower() in casing.ordinary:
        rest = span.text[len(words[0]) :].lstrip()
        while rest.split(" ", 1)[0] in _CONNECTORS and " " in rest:
            rest = rest.split(" ", 1)[1]
        return [rest] if len(rest) > 1 else []
    return [span.text]
