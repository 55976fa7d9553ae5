"""The first stage: a cue finds anchors, by text and by vector."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from cuetrail.errors import EmbedderError
from cuetrail.formulas import shares
from cuetrail.model import Attempt, Node, Scope, SearchHit, TextQuery
from cuetrail.model.fast_dataclass import maker
from cuetrail.recall.query import Cue, nouns, proper_nouns
from cuetrail.store.ports import Store
from cuetrail.store.vector_space import QueryVector
from cuetrail.text.analyser import terms_of

FULL, NOUNS, NAMES, TYPOS = "full", "nouns", "names", "typos"
"""How a cue may be read: as it is; its nouns and dates; its proper nouns and dates; with its typos forgiven."""

T = TypeVar("T")
Measure = Callable[[str], int]


Embed = Callable[[str], QueryVector | None]
"""None where there is nothing a vector could be compared with."""


@dataclass(frozen=True, slots=True)
class Ask:
    """One recall: whom to ask, what for, and how much of an answer there is room for.

    `size` is the budget by `measure`; `tokens` is about as much in tokens. `limit` is the most hits, None where the
    budget tells. Without `embed`, text alone is searched. `now` is the moment for which to answer.
    """

    store: Store
    scope: Scope
    cue: Cue
    size: int
    measure: Measure
    tokens: int
    limit: int | None = None
    embed: Embed | None = None
    now: int = 0


@dataclass(frozen=True, slots=True)
class Anchor:
    """A node the cue found, with what each list said of it (None: that list did not have it).

    `boosted`: a tag or bucket has a word of the cue. `factor` is what the node's provenance multiplied its score by.
    `key` is the engine's own number for the node, where it gave one.
    """

    node: Node
    bm25: float | None
    cosine: float | None = None
    boosted: bool = False
    factor: float = 1.0
    key: int | None = None


_anchor = maker(Anchor)


@dataclass(frozen=True, slots=True)
class Anchored:
    """The anchors, the query that found them, the attempts it took, and what to know about it.

    `meant` is the cue as a vector, where it was searched by one.
    """

    anchors: tuple[Anchor, ...]
    query: TextQuery
    attempt: str = FULL
    attempts: tuple[Attempt, ...] = ()
    notices: tuple[str, ...] = ()
    meant: QueryVector | None = None


def by_words_and_meaning(ask: Ask, *, candidates: int, vectors: int | None = None) -> Anchored:
    """What text and vectors find, each node once, unranked; an embedder that fails leaves the text.

    `candidates` is how many each may find, `vectors` how many vectors may where that is another number.
    """
    notices: tuple[str, ...] = ()
    limit = max(candidates, ask.limit or 0)
    by_text = ask.store.text(ask.scope, ask.cue.query, limit, ask.cue.where, nodes=True)
    by_vector, meant = list[SearchHit](), None
    try:
        meant = _meant(ask)
        if meant is not None:
            most = limit if vectors is None else max(vectors, ask.limit or 0)
            by_vector = ask.store.vector(ask.scope, meant.vector, most, ask.cue.where, meant.space)
    except EmbedderError as error:
        notices = (f"answered from text alone: {error}",)
    cosines = {found.id: found.score for found in by_vector}
    texts = {found.id: found for found in by_text}
    nodes = _nodes(ask, (*by_text, *by_vector))
    anchors = [
        Anchor(node, texts[id_].score, cosines.get(id_), texts[id_].boosted)
        if id_ in texts
        else Anchor(node, None, cosines[id_])
        for id_, node in nodes.items()
    ]
    return Anchored(tuple(anchors), ask.cue.query, notices=notices, meant=meant)


def _nodes(ask: Ask, found: Sequence[SearchHit]) -> dict[str, Node]:
    """The nodes of what was found, in that order; those that did not come along are read."""
    known = {one.id: one.node for one in found if one.node is not None}
    missing = ask.store.get(ask.scope, [one.id for one in found if one.id not in known])
    return {one.id: node for one in found if (node := known.get(one.id) or missing.get(one.id)) is not None}


def _meant(ask: Ask) -> QueryVector | None:
    query = ask.cue.query
    words = " ".join((query.words, *query.phrases)).strip()
    # A phrase is a condition on the text; vectors cannot check it. Half a word or a misspelt one means nothing.
    literal = bool(query.phrases) or query.prefix or query.fuzzy
    return ask.embed(words) if ask.embed is not None and words and not literal else None


def by_words(ask: Ask, *, harvest: int, least: int, favour: tuple[float, float]) -> Anchored:
    """What the words find, the best first: as many as are shown or harvested, whichever is more.

    Where they find fewer than `least`, other readings of the cue are tried. `favour` is what the scores of internal
    memories and of all others are multiplied by.
    """
    limit = max(harvest, least, shares(ask.tokens, ask.limit)[0])
    anchors, answered, tried = climb(readings(ask.cue), lambda query: _by_text(ask, query, limit, favour), least)
    return Anchored(tuple(anchors), answered.query, answered.name, tuple(tried))


def readings(cue: Cue) -> Iterator[tuple[str, TextQuery]]:
    """The ways to read a cue, the first as it is; each further one forgives more. No two are the same."""
    query = cue.query
    yield FULL, query
    if query.fuzzy:
        return
    read = {query.words}
    # "What happened in #radio" has no noun beside the tag, which then is all that is asked for.
    enough = bool(cue.where.tags or cue.where.buckets)
    for name, reading in ((NOUNS, nouns), (NAMES, proper_nouns)):
        words = reading(cue)
        if (words or (enough and name == NOUNS)) and words not in read:
            read.add(words)
            yield name, replace(query, words=words, prefix=False)
    yield TYPOS, replace(query, mend=True)


def climb(
    ways: Iterable[tuple[str, TextQuery]], search: Callable[[TextQuery], list[T]], least: int
) -> tuple[list[T], Attempt, list[Attempt]]:
    """The first attempt that finds at least `least`, else the first that finds most; and all there were.

    One that cannot find more than another before it is not searched for. One without any words is no attempt where
    another found something: all that has a tag would take the place of what was asked for beside it.
    """
    best: list[T] = []
    tried: list[Attempt] = []
    answered: Attempt | None = None
    most = -1
    for name, query in ways:
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
    """Whether all that a query finds is surely found by another: words are OR-ed, so fewer find no more.

    What holds the phrases of a query is found by them alone, however its words are read.

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


def _by_text(ask: Ask, query: TextQuery, limit: int, favour: tuple[float, float]) -> list[Anchor]:
    """The best by text, without titles whose source speaks for itself."""
    wanted = limit
    while True:
        found = ask.store.text(ask.scope, query, wanted, ask.cue.where, favour, nodes=True)
        anchors = [_anchor(f.node, f.score, None, f.boosted, f.factor, f.key) for f in found if f.node is not None]
        echoes = echoing([anchor.node for anchor in anchors])
        anchors = [anchor for anchor in anchors if anchor.node.id not in echoes] if echoes else anchors
        if len(anchors) >= limit or len(found) < wanted:
            return anchors[:limit]
        wanted *= 4


def echoing(nodes: Sequence[Node]) -> set[str]:
    """Ids of titles and headings whose source also speaks, and of second titles of one that does not."""
    speaking = {node.source for node in nodes if not _is_title(node)}
    echoes, titled = set[str](), set[str]()
    for node in nodes:
        if node.source is not None and _is_title(node):
            if node.source in speaking or node.source in titled:
                echoes.add(node.id)
            titled.add(node.source)
    return echoes


def _is_title(node: Node) -> bool:
    return bool(node.props.get("level")) or (node.kind == "source" and not node.text)
