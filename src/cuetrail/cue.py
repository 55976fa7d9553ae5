"""A cue, taken apart: words, quoted phrases, filters; without what only wraps a question; and the words that name.

>>> parse_cue("what is the latest state of the #radio antenna?", Where()).query.words
'state antenna?'
"""

from __future__ import annotations

import re
import string
from dataclasses import dataclass, replace

from cuetrail.extract import names
from cuetrail.model import TextQuery, Where
from cuetrail.text import clean, norm_tag, sanitize_query

_PHRASE = re.compile(r'"([^"]*)"')
_TAG = re.compile(r"(?<!\S)#([^\s#@\"]+)")
_BUCKET = re.compile(r"(?<!\S)(?:@|bucket:)([^\s#@\"]+)")
# One star, at the very end and behind letters: "**bold**" is no beginning of a word.
_BEGUN = re.compile(r"(?<!\S)([^\s*]*\w)\*\s*$")
_WORD = re.compile(r"\w+")
_STOPS = ".,;:!?)]}'…。！？"
_EDGES = string.punctuation + "“”‘’«»‹›„…·–—¿¡。！？、，"
# Words that join others. A memory that shares only these with a cue says nothing about it.
FUNCTION_WORDS = frozenset(
    """a about above after again against all also am an and any are as at be because been before being below between
    both but by can could did do does doing down during each few for from further had has have having he her here hers
    him his how i if in into is it its itself just let me more most my no nor not of off on once only or other our ours
    out over own please same she should so some such tell than that the their theirs them then there these they this
    those through to too under until up us very was we were what when where which while who whom whose why will with
    would you your yours""".split()  # noqa: SIM905  # a list literal of these takes 150 lines
)
# How people begin to ask. What such a beginning says is said to whoever is asked, not about what is asked for.
_WRAPPERS = re.compile(
    r"""\s*(?:
      (?:hey|hi|hello|okay|ok|so|well|please|now)\b[\s,.!:;-]+
    | (?:can|could|would|will)\s+(?:you|we|i)\s+(?:please\s+|kindly\s+)?
    | (?:i|we)(?:'d|’d|\s+would)\s+like\s+(?:you\s+)?to\b
    | (?:i|we)\s+(?:want|need|wish|have)\s+(?:you\s+)?to\s+(?=know|see|hear|learn|find|remember|recall|tell|understand)
    | (?:i'm|i’m|i\s+am|we're|we’re|we\s+are)\s+(?:looking\s+for|wondering|trying\s+to\s+(?=find|remember|recall))\b
    | (?:tell|show|give|remind|get|bring|send|find|help)\s+(?:me|us)\b
    | let\s+(?:me|us)\s+know\b
    | (?:know|see|hear|learn|remember|recall|understand|find)\s+(?:out\b|(?=about\b|of\b|what\b|how\b|who\b|the\b))
    | (?:search|look)\s+(?:for|up)\b
    | (?:do|did)\s+(?:you|we|i)\s+(?:know|remember|recall|have)\b
    | what\s+(?:do\s+|did\s+)?(?:you|we|i)\s+(?:know|remember|have)\b
    | (?:everything|anything|something|all|more|some|any)\s+(?:info|information|details|news|notes|that|there\s+is)\b
    | (?:everything|anything|something|more|info|information|details|news)\s+(?=about\b|on\b|regarding\b|concerning\b)
    | (?:about|on|of|regarding|concerning|if|whether)\b
    | (?:what|who|where|when|how)(?:'s|’s|\s+is|\s+are|\s+was|\s+were)\b
    | (?:the|my|our|any)\s+(?:very\s+)?(?:latest|newest|most\s+recent|up[ -]to[ -]date)\b
    | (?:the|my|our)\s+current\s+(?=state\b|status\b|version\b|situation\b)
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_CLOSERS = re.compile(
    r"(?:[\s,]+(?:please|thanks|thank\s+you|for\s+me|right\s+now|at\s+the\s+moment)){1,3}[\s.!?]*$", re.IGNORECASE
)
_DATE = re.compile(
    r"""\d{4}(?:[-/.]\d{1,2}){0,2}|\d{1,2}[./]\d{1,2}[./]\d{2,4}|\d{1,2}(?:st|nd|rd|th)?|q[1-4]
    |(?:jan|febr)uary|march|april|may|june|july|august|(?:septem|octo|novem|decem)ber
    |(?:mon|tues|wednes|thurs|fri|satur|sun)day|spring|summer|autumn|winter|today|yesterday|tomorrow""",
    re.VERBOSE | re.IGNORECASE,
)
# Frequent verbs, adjectives and adverbs: what a question does and how, not what it is about.
_NO_NOUNS = frozenset(
    """add agree allow appear apply ask bad become began begin believe best better big bring came choose chose clear
    come consider contain continue create decide decided deep describe different difficult discuss discussed early easy
    enough ever exact exist expect explain fail fast feel felt few find finish follow found gave get give given go
    going good got great grow happen happened hard hear heard held important include keep kept know known large
    late later learn leave left less likely little long lose lost made main make many maybe meant meet mention
    mentioned might more much must never new next nice often pay possible prepare put quite ran ready really
    recent recently remember remove said same saw say see seem seen send sent several shall short should shown
    slow small solve soon speak spend started still strong such suggest take taken tell think thought told took
    true try understand used usual usually want wanted weak went whether wide without written wrong wrote""".split()  # noqa: SIM905  # as above
)
# Nobody types a longer cue; what lies beyond is not read.
LONGEST_CUE = 20_000
# Who puts more than a page into a cue does not ask by names.
LONGEST_NAMED = 4_000


@dataclass(frozen=True, slots=True)
class Cue:
    """A query, taken apart: words, quoted phrases, and the filters written as #tag, @bucket or bucket:x."""

    raw: str
    query: TextQuery
    where: Where


def parse_cue(raw: str, where: Where, fuzzy: bool = False) -> Cue:
    """Never raises; an empty cue has no words. A last word that ends in * stands for all that begin so."""
    rest = clean(raw[:LONGEST_CUE].replace("\x00", " "))
    phrases = tuple(p for p in (p.strip() for p in _PHRASE.findall(rest)) if p)
    rest = _PHRASE.sub(" ", rest)
    tags = _names(_TAG.findall(rest))
    rest = _TAG.sub(" ", rest)
    buckets = _names(_BUCKET.findall(rest))
    rest = _BUCKET.sub(" ", rest)
    if tags or buckets:
        where = replace(where, tags=where.tags + tags, buckets=where.buckets + buckets)
    begun = _BEGUN.search(rest)
    words = " ".join((*_without_joints(unwrapped(rest[: begun.start()])), begun[1])) if begun else _telling(rest)
    return Cue(raw, TextQuery(words, phrases, begun is not None, fuzzy), where)


def unwrapped(words: str) -> str:
    """A question without what wraps it; as it is where nothing would be left.

    >>> unwrapped("Hey, can you tell me what we know about the antenna please?"), unwrapped("tell me")
    ('the antenna', 'tell me')
    """
    rest = _CLOSERS.sub("", words)
    start = 0
    while found := _WRAPPERS.match(rest, start):
        start = found.end()
    rest = rest[start:].strip()
    return rest if any(sanitize_query(word) for word in _without_joints(rest)) else words


def _telling(words: str) -> str:
    """The words that tell something; all of them when none does.

    >>> _telling("what is the capital of France?"), _telling("the who")
    ('capital France?', 'the who')
    """
    kept = _without_joints(unwrapped(words))
    return " ".join(kept if any(map(sanitize_query, kept)) else words.split())


def _without_joints(words: str) -> list[str]:
    return [word for word in words.split() if _bare(word) not in FUNCTION_WORDS]


def nouns(cue: Cue) -> str:
    """The words of a cue that name something, and its dates: all but known verbs, adjectives and adverbs.

    >>> nouns(parse_cue("Why did Hanne quickly decide to take the count on 12 April?", Where()))
    'Hanne count 12 April?'
    """
    return " ".join(word for word in cue.query.words.split() if _is_date(word) or not _is_no_noun(_bare(word)))


def proper_nouns(cue: Cue) -> str:
    """The words of a cue that are part of a name, and its dates.

    >>> proper_nouns(parse_cue("why did Hanne move the count to 12 April?", Where()))
    'Hanne 12 April?'
    """
    (found,) = names.find([clean(cue.raw[:LONGEST_NAMED])])
    parts = {part for name in found for part in _WORD.findall(name.lower())}
    words = cue.query.words.split()
    return " ".join(word for word in words if _is_date(word) or not parts.isdisjoint(_WORD.findall(word.lower())))


def _is_date(word: str) -> bool:
    return _DATE.fullmatch(_bare(word)) is not None


def _bare(word: str) -> str:
    return word.strip(_EDGES).lower()


def _is_no_noun(word: str) -> bool:
    return word in _NO_NOUNS or (len(word) > 4 and word.endswith("ly"))


def looked_for(cue: Cue) -> tuple[str, ...]:
    """What a cue asks for, each once: phrases, words, and the filters that hold, as they are written in a cue."""
    filters = (*(f"#{tag}" for tag in cue.where.tags), *(f"@{bucket}" for bucket in cue.where.buckets))
    return tuple(dict.fromkeys((*cue.query.phrases, *cue.query.words.split(), *filters)))


def _names(found: list[str]) -> tuple[str, ...]:
    """Tags or buckets as they are stored; what ends the sentence is not part of the name."""
    return tuple(filter(None, (norm_tag(name.rstrip(_STOPS)) for name in found)))
