"""The first stage: a cue finds anchors, by text and by vector."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from cuetrail.model import Found, Scope, TextQuery, Where
from cuetrail.store.base import Store, VectorSpace
from cuetrail.text import clean, norm_tag, sanitize_query

_PHRASE = re.compile(r'"([^"]*)"')
_TAG = re.compile(r"(?<!\S)#([^\s#@\"]+)")
_BUCKET = re.compile(r"(?<!\S)(?:@|bucket:)([^\s#@\"]+)")
# One star, at the very end and behind letters: "**bold**" is no beginning of a word.
_BEGUN = re.compile(r"(?<!\S)([^\s*]*\w)\*\s*$")
_STOPS = ".,;:!?)]}'…。！？"
# Words that join others. A memory that shares only these with a cue says nothing about it.
FUNCTION_WORDS = frozenset(
    """a about above after again against all also am an and any are as at be because been before being below between
    both but by can could did do does doing down during each few for from further had has have having he her here hers
    him his how i if in into is it its itself just let me more most my no nor not of off on once only or other our ours
    out over own please same she should so some such tell than that the their theirs them then there these they this
    those through to too under until up us very was we were what when where which while who whom whose why will with
    would you your yours""".split()  # noqa: SIM905  # a list literal of these takes 150 lines
)
# Nobody types a longer cue; what lies beyond is not read.
LONGEST_CUE = 20_000


@dataclass(frozen=True, slots=True)
class Cue:
    """A query, taken apart: words, quoted phrases, and the filters written as #tag, @bucket or bucket:x."""

    raw: str
    query: TextQuery
    where: Where


@dataclass(frozen=True, slots=True)
class Anchor:
    """A node the cue found, with what each list said of it (None: that list did not have it)."""

    id: str
    bm25: float | None
    cosine: float | None
    boosted: bool


@dataclass(frozen=True, slots=True)
class Embedded:
    """A query as a vector, and the model it is of."""

    vector: bytes
    space: VectorSpace


Embed = Callable[[str], Embedded | None]
"""None where there is nothing a vector could be compared with."""


def parse_cue(raw: str, where: Where, fuzzy: bool = False) -> Cue:
    """Never raises; an empty cue has no words. A last word that ends in * stands for all that begin so."""
    rest = clean(raw)[:LONGEST_CUE]
    phrases = tuple(p for p in (p.strip() for p in _PHRASE.findall(rest)) if p)
    rest = _PHRASE.sub(" ", rest)
    tags = _names(_TAG.findall(rest))
    rest = _TAG.sub(" ", rest)
    buckets = _names(_BUCKET.findall(rest))
    rest = _BUCKET.sub(" ", rest)
    where = replace(where, tags=where.tags + tags, buckets=where.buckets + buckets)
    begun = _BEGUN.search(rest)
    words = " ".join((*_without_joints(rest[: begun.start()]), begun[1])) if begun else _telling(rest)
    return Cue(raw, TextQuery(words, phrases, begun is not None, fuzzy), where)


def _telling(words: str) -> str:
    """The words that tell something; all of them when none does.

    >>> _telling("what is the capital of France?"), _telling("the who")
    ('capital France?', 'the who')
    """
    kept = _without_joints(words)
    return " ".join(kept if any(map(sanitize_query, kept)) else words.split())


def _without_joints(words: str) -> list[str]:
    return [word for word in words.split() if sanitize_query(word) not in FUNCTION_WORDS]


def looked_for(cue: Cue) -> tuple[str, ...]:
    """What a cue asks for, each once: phrases, words, and the filters that hold, as they are written in a cue."""
    filters = (*(f"#{tag}" for tag in cue.where.tags), *(f"@{bucket}" for bucket in cue.where.buckets))
    return tuple(dict.fromkeys((*cue.query.phrases, *cue.query.words.split(), *filters)))


def _names(found: list[str]) -> tuple[str, ...]:
    """Tags or buckets as they are stored; what ends the sentence is not part of the name."""
    return tuple(filter(None, (norm_tag(name.rstrip(_STOPS)) for name in found)))


def find_anchors(store: Store, scope: Scope, cue: Cue, limit: int, embed: Embed | None) -> list[Anchor]:
    """What text and vectors find, each node once, unranked. Without `embed`, text alone."""
    by_text = store.text(scope, cue.query, limit, cue.where)
    words = " ".join((cue.query.words, *cue.query.phrases)).strip()
    by_vector: list[Found] = []
    # A phrase is a condition on the text; vectors cannot check it. Half a word or a misspelt one means nothing.
    literal = bool(cue.query.phrases) or cue.query.prefix or cue.query.fuzzy
    meant = embed(words) if embed is not None and words and not literal else None
    if meant is not None:
        by_vector = store.vector(scope, meant.vector, limit, cue.where, meant.space)
    cosines = {found.id: found.score for found in by_vector}
    anchors = {f.id: Anchor(f.id, f.score, cosines.get(f.id), f.boosted) for f in by_text}
    for id_, cosine in cosines.items():
        anchors.setdefault(id_, Anchor(id_, None, cosine, False))
    return list(anchors.values())
