"""Text search in attempts: if a cue finds too little, its nouns are searched, then its names, then its typos mended."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TypeVar

from cuetrail.formulas import shares
from cuetrail.model import Attempt, TextQuery
from cuetrail.model.records import maker
from cuetrail.recall.anchor.hybrid_search import redundant_titles
from cuetrail.recall.query import Cue, nouns, proper_nouns
from cuetrail.recall.stage_types import Anchor, Anchored, RecallContext
from cuetrail.text.normalise import terms_of

FULL, NOUNS, NAMES, TYPOS = "full", "nouns", "names", "typos"
"""The attempts: the cue as it is; its nouns and dates; its proper nouns and dates; with typos mended."""

T = TypeVar("T")
_anchor = maker(Anchor)


def search_in_attempts(context: RecallContext, *, harvest: int, least: int, factors: tuple[float, float]) -> Anchored:
    """Returns the best text matches, at most as many as are shown, `harvest` or `least`, whichever is most.

    If an attempt finds fewer than `least`, the next, more tolerant one is made. The scores of internal memories are
    multiplied by the first of `factors`, all others by the second.
    """
    limit = max(harvest, least, shares(context.tokens, context.limit)[0])
    anchors, answered, tried = first_sufficient(
        attempts(context.cue), lambda query: _by_text(context, query, limit, factors), least
    )
    return Anchored(tuple(anchors), answered.query, answered.name, tuple(tried))


def attempts(cue: Cue) -> Iterator[tuple[str, TextQuery]]:
    """Yields the names and queries of the attempts: the cue as it is, its nouns, its names, the cue with typos mended.

    Leaves out a query with the same words as an earlier one, and for a fuzzy cue all but the first.
    """
    query = cue.query
    yield FULL, query
    if query.fuzzy:
        return
    read = {query.words}
    # "What happened in #radio" has no noun beside the tag; then the tag alone is searched.
    enough = bool(cue.where.tags or cue.where.buckets)
    for name, reading in ((NOUNS, nouns), (NAMES, proper_nouns)):
        words = reading(cue)
        if (words or (enough and name == NOUNS)) and words not in read:
            read.add(words)
            yield name, replace(query, words=words, prefix=False)
    yield TYPOS, replace(query, mend=True)


def first_sufficient(
    queries: Iterable[tuple[str, TextQuery]], search: Callable[[TextQuery], list[T]], least: int
) -> tuple[list[T], Attempt, list[Attempt]]:
    """Returns the results of the first attempt that finds at least `least`, or else of the one that finds most; that
    attempt; and all attempts.

    Skips a query that cannot find more than an earlier one. Also skips one without words if another found something,
    because every node with a tag would displace the nodes that match the words beside it.
    """
    best: list[T] = []
    tried: list[Attempt] = []
    answered: Attempt | None = None
    most = -1
    for name, query in queries:
        if most > 0 and not (query.words or query.phrases):
            continue
        if any(covers(one.query, query) for one in tried):
            tried.append(Attempt(name, query, None))
            continue
        found = search(query)
        tried.append(Attempt(name, query, len(found)))
        if len(found) > most:
            best, answered, most = found, tried[-1], len(found)
        if len(found) >= least:
            break
    assert answered is not None, "a cue can be read in at least one way"
    return best, answered, tried


def covers(wider: TextQuery, query: TextQuery) -> bool:
    """True if `wider` surely finds everything that `query` finds.

    Words are OR-ed, so fewer words find no more. Phrases are conditions: once they are equal, words only rank.

    >>> covers(TextQuery("red kite"), TextQuery("kite")), covers(TextQuery("kite", ("red",)), TextQuery("kite"))
    (True, False)
    >>> covers(TextQuery("kyte", ("red",)), TextQuery("kyte", ("red",), mend=True))
    True
    """
    if set(wider.phrases) <= set(query.phrases) and any(map(terms_of, wider.phrases)):
        return True
    if query.prefix or query.fuzzy or query.mend or not query.words.strip():
        return False
    return set(query.words.split()) <= set(wider.words.split()) and set(wider.phrases) <= set(query.phrases)


def _by_text(context: RecallContext, query: TextQuery, limit: int, factors: tuple[float, float]) -> list[Anchor]:
    """Returns the best `limit` text matches without redundant titles; searches deeper until that many are left."""
    wanted = limit
    while True:
        found = context.store.text(context.scope, query, wanted, context.cue.where, factors, nodes=True)
        anchors = [_anchor(f.node, f.score, None, f.boosted, f.factor, f.key) for f in found if f.node is not None]
        titles = redundant_titles([anchor.node for anchor in anchors])
        anchors = [anchor for anchor in anchors if anchor.node.id not in titles] if titles else anchors
        if len(anchors) >= limit or len(found) < wanted:
            return anchors[:limit]
        wanted *= 4
