"""What the cue finds: memories by words and meaning, those it names, and those that fit what it asks beyond names."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from cuetrail.formulas import DAY
from cuetrail.model import Node, TextQuery, Where
from cuetrail.recall.anchor.answer_form import asked_about, asks_nothing
from cuetrail.recall.anchor.hybrid_search import Anchored, Ask, by_words_and_meaning
from cuetrail.recall.anchor.name_lookup import alike, carriers
from cuetrail.recall.anchor.query_dates import Span, read
from cuetrail.recall.names import Run, runs
from cuetrail.recall.weights import Trail
from cuetrail.store.read import Page
from cuetrail.text.word_lists import FUNCTION_WORDS

# A name that so many memories carry tells none of them from the others.
MOST_CARRIERS = 20
# More memories than this that say a name are not looked at; who says it is then no longer asked.
MOST_SAYING = 20
# Of each time the cue names so many memories are looked at.
MOST_THEN = 30
# Of a day or two all of them are.
SHORT = 2 * DAY
# A name in small letters may be just a word.
UNSURE = 0.3
# A cue with more words than this outside its quotes is a question, and what it quotes is a name; see `softened`.
_MOST_BESIDE = 2


@dataclass(frozen=True, slots=True)
class NamedInCue:
    """A name in the cue: who carries it, how rare it is, and how sure it is to be meant as a name."""

    name: str
    carriers: tuple[str, ...]
    rarity: float
    sure: float


@dataclass(frozen=True, slots=True)
class Finds(Anchored):
    """What a cue found: the anchors, the names in it, its words beyond these, and how well these fit a text.

    `times` are those the cue names, `then` what was found there. `nodes` are all memories that were come across.
    `literal`: the cue was looked for by its letters alone.
    """

    names: tuple[NamedInCue, ...] = ()
    rest: str = ""
    fits: Mapping[str, float] = field(default_factory=dict)
    times: tuple[Span, ...] = ()
    then: frozenset[str] = frozenset()
    nodes: Mapping[str, Node] = field(default_factory=dict)
    literal: bool = False

    def named(self) -> dict[str, float]:
        """How much the cue names each memory: 1 where it is sure to be meant and no other name is rarer."""
        found: dict[str, float] = {}
        rarest = max((name.rarity for name in self.names), default=1.0)
        for name in self.names:
            for id_ in name.carriers:
                value = name.sure * name.rarity / rarest / math.sqrt(len(name.carriers))
                found[id_] = max(found.get(id_, 0.0), value)
        return found


def find(ask: Ask, *, how: Trail) -> Finds:
    """Search for the cue as it is and for what it asks beyond the names in it, and look these up."""
    ask = softened(ask)
    anchored, looking = _anchored(ask, how)
    made = partial(Finds, anchored.anchors, anchored.query, notices=anchored.notices, meant=anchored.meant)
    nodes = {anchor.node.id: anchor.node for anchor in anchored.anchors}
    query = ask.cue.query
    if query.phrases or query.prefix or query.fuzzy or not query.words:
        # What is looked for by its letters, or by conditions alone, is no question, and names lead away from it.
        return made(nodes=nodes, literal=True)
    chosen, ids = _names_in(ask, ask.cue.raw)
    rest = _beyond(query, chosen)
    found = ask.store.text(ask.scope, TextQuery(rest), how.texts, looking, nodes=True) if rest else []
    nodes |= {one.id: one.node for one in found if one.node is not None}
    names = tuple(_named(ask, run, ids[run.norm], looking, nodes) for run in chosen)
    carrying = ask.store.get(ask.scope, [id_ for name in names for id_ in name.carriers if id_ not in nodes])
    nodes |= {id_: node for id_, node in carrying.items() if ask.cue.where.admits(node)}
    times, untimed = read(ask.cue.raw, ask.now)
    whatever = asks_nothing(untimed)
    then = {id_: node for span in times for id_, node in _then(ask, span, looking, whatever).items()}
    best = max((one.score for one in found), default=0.0) or 1.0
    fits = {one.id: one.score / best for one in found}
    return made(names=names, rest=rest, fits=fits, times=tuple(times), then=frozenset(then), nodes=nodes | then)


def _anchored(ask: Ask, how: Trail) -> tuple[Anchored, Where]:
    """What the cue finds among memories that say something; else among bare names too. And where it was looked for.

    To what is a name and no more names lead. A search that finds hundreds of these finds little else.
    """
    where = ask.cue.where
    search = partial(by_words_and_meaning, candidates=how.texts, vectors=how.vectors)
    if not where.kinds:
        saying = replace(where, with_text=True)
        anchored = search(replace(ask, cue=replace(ask.cue, where=saying)))
        if not all(how.is_far(anchor) for anchor in anchored.anchors):
            return anchored, saying
    return search(ask), where


def _then(ask: Ask, span: Span, where: Where, whatever: bool) -> dict[str, Node]:
    """What the words of the cue find at a time it names; of a short time, or if need be, whatever there is."""
    since = span.start if where.since is None else max(span.start, where.since)
    until = span.end - 1 if where.until is None else min(span.end - 1, where.until)
    if since > until:
        return {}
    within = replace(where, since=since, until=until)
    found = ask.store.text(ask.scope, ask.cue.query, MOST_THEN, within, nodes=True)
    nodes = {one.id: one.node for one in found if one.node is not None}
    if len(nodes) < MOST_THEN and (whatever or until - since < SHORT):
        listed = (one.node for one in ask.store.page(ask.scope, Page(MOST_THEN, within)))
        nodes |= {node.id: node for node in listed if within.finds(node)}
    return nodes


def softened(ask: Ask) -> Ask:
    """What a question asks for: without what its answer is to look like, and with what it quotes as a name to look for,
    not as a condition that every memory must meet."""
    query = ask.cue.query
    words = query.words.split()
    if query.prefix or (query.phrases and len(words) <= _MOST_BESIDE):
        return ask
    asked = " ".join((*asked_about(ask.cue.raw, words), *query.phrases))
    return replace(ask, cue=replace(ask.cue, query=replace(query, words=asked, phrases=())))


def _names_in(ask: Ask, said: str) -> tuple[list[Run], dict[str, list[str]]]:
    """The longest names in what was said, none inside another, and who carries them."""
    possible = [run for run in runs(said) if _may_name(run)]
    norms = list(dict.fromkeys(run.norm for run in possible))
    ids = carriers(ask, norms, MOST_CARRIERS + 1)
    ids |= alike(ask, [run for run in possible if run.norm not in ids])
    chosen: list[Run] = []
    for run in sorted(possible, key=lambda run: (run.start - run.end, run.start)):
        apart = all(run.end <= other.start or other.end <= run.start for other in chosen)
        if apart and 0 < len(ids.get(run.norm, ())) <= MOST_CARRIERS:
            chosen.append(run)
    return sorted(chosen, key=lambda run: run.start), ids


def _may_name(run: Run) -> bool:
    alone = run.end - run.start == 1
    return len(run.norm) > 2 and not (alone and (run.norm in FUNCTION_WORDS or run.norm.isdigit()))


def _named(ask: Ask, run: Run, carriers: list[str], where: Where, nodes: dict[str, Node]) -> NamedInCue:
    """A name of the cue; who says it is come across."""
    found = ask.store.text(ask.scope, TextQuery("", (run.norm,)), MOST_SAYING, where, nodes=True)
    nodes |= {one.id: one.node for one in found if one.node is not None}
    return NamedInCue(run.norm, tuple(carriers), 1 / (1 + math.log(1 + len(found))), 1.0 if run.capital else UNSURE)


def _beyond(query: TextQuery, names: list[Run]) -> str:
    """The words of the cue without its names."""
    gone = {word for run in names if run.capital for word in run.norm.split()}
    words = query.words.split()
    bare = [(word, word.strip(".,;:!?'\"()“”’").casefold()) for word in words]
    return " ".join(word for word, plain in bare if plain.removesuffix("'s").removesuffix("’s") not in gone)
