"""Where the trails lead: from the strongest anchors and the memories the cue names, along names, edges, tags and facts.

Energy goes one hop: from each start to whom its text names, to who of those come across says its name, along its
edges, to what shares rare tags with it, and along what is believed of it. `onward.py` goes on from there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from cuetrail.model import UNKNOWN_WEIGHT, Node, WalkQuery, WalkSeed
from cuetrail.model.tags import is_topic
from cuetrail.recall.anchor.hybrid_search import Ask
from cuetrail.recall.anchor.name_lookup import carriers
from cuetrail.recall.anchor.trail import Finds
from cuetrail.recall.names import forms_of, holders, names_said, says, spaced
from cuetrail.recall.spread.tag_walk import labels_of
from cuetrail.store.graph import StepQuery, Ties

# A name that more memories carry leads to none of them.
FAN = 5
# Of each start so many edges are followed, the strongest first.
EDGES = 30
# Where more edges than this lead, one of them tells little.
HUB = 10
# Of each start so many facts are followed, the most certain first.
FACTS = 10
# So many memories are looked at that share tags with a start, and say no word of the cue.
TAGGED = 10
# What shares every tag of a start is tied to it as by a topical edge.
TAG_WEIGHT = 0.45
# How much of its energy a start keeps.
KEPT = 0.15
Tied = tuple[str, str, float, str]
"""A start, the other end, the weight of the tie, and its kind."""


@dataclass(frozen=True, slots=True)
class Way:
    """From where energy came to a memory, by what, and how much."""

    start: str
    via: str
    energy: float


@dataclass(slots=True)
class Web:
    """The memories that may answer, and the ties of the starts: weight and what kind by start and other end."""

    nodes: dict[str, Node]
    ties: dict[str, dict[str, tuple[float, str]]] = field(default_factory=dict)
    said: dict[str, str] = field(default_factory=dict)

    def tie(self, start: str, other: str, weight: float, via: str) -> None:
        """Note a tie; of several between two memories the strongest counts."""
        if start != other and weight > self.ties.setdefault(start, {}).get(other, (0.0, ""))[0]:
            self.ties[start][other] = (weight, via)

    def text(self, id_: str) -> str:
        """What a memory says, as names are looked for in it."""
        if id_ not in self.said:
            self.said[id_] = spaced(self.nodes[id_].text)
        return self.said[id_]

    def join(self, nodes: Mapping[str, Node]) -> None:
        """Take in more memories; in one order whatever the engine's is, so that equals are chosen alike."""
        self.nodes = dict(sorted({**self.nodes, **nodes}.items()))


def weave(ask: Ask, finds: Finds, starts: Sequence[str], strong: Sequence[str], along: Sequence[str]) -> Web:
    """The ties of the starts, and all memories come across; also those that stand next to a strong one.

    `along` says which ties there are: "names", "edges", "tags", "facts".
    """
    web = Web(dict(finds.nodes))
    also: dict[str, list[tuple[str, float, str]]] = {id_: [] for id_ in _beside(ask, strong)}
    for kind in along:
        for start, id_, weight, via in _TIES[kind](ask, web, starts):
            also.setdefault(id_, []).append((start, weight, via))
    nodes = ask.store.get(ask.scope, [id_ for id_ in also if id_ not in web.nodes])
    web.join({id_: node for id_, node in nodes.items() if ask.cue.where.finds(node)})
    for id_, ties in also.items():
        for start, weight, via in ties if id_ in web.nodes else ():
            web.tie(start, id_, weight, via)
    if "names" in along:
        _tie_sayers(web, starts)
    return web


def _tie_sayers(web: Web, starts: Sequence[str]) -> None:
    """Ties to who of those come across says the name of a start."""
    forms = {start: forms_of(web.nodes[start]) for start in starts}
    holding = holders(frozenset[str]().union(*forms.values()), {id_: web.text(id_) for id_ in web.nodes})
    for start, mine in forms.items():
        for form in mine:
            for id_ in holding[form]:
                if says(web.nodes[id_].text, form):
                    web.tie(start, id_, 1.0, "name")


def _beside(ask: Ask, strong: Sequence[str]) -> list[str]:
    """Who stands before or behind one of these in a file or a conversation."""
    steps = ask.store.steps(ask.scope, StepQuery(tuple(strong), 2, "both", Ties(kinds=("next",)), ask.cue.where))
    return [step.other for some in steps.values() for step in some]


def _by_name(ask: Ask, web: Web, starts: Sequence[str]) -> Iterable[Tied]:
    """Whom the text of a start names."""
    said = {id_: names_said(web.nodes[id_].text) for id_ in starts}
    norms = sorted(frozenset[str]().union(*said.values()))
    carrying = carriers(ask, norms, FAN + 1)
    for start, mine in said.items():
        for norm in sorted(mine & carrying.keys()):
            ids = carrying[norm]
            if len(ids) <= FAN:
                yield from ((start, id_, 1 / math.sqrt(len(ids)), "name") for id_ in ids)


def _by_edge(ask: Ask, _web: Web, starts: Sequence[str]) -> Iterable[Tied]:
    """Where the edges of a start lead; to a hub, less of its energy goes."""
    query = StepQuery(tuple(starts), EDGES, "both", Ties(), ask.cue.where)
    found = ask.store.steps(ask.scope, query)
    others = sorted({step.other for steps in found.values() for step in steps})
    degrees = {id_: one.degree for id_, one in ask.store.neighbours(ask.scope, others, 0).items()}
    for start, steps in found.items():
        for step in steps:
            weight = UNKNOWN_WEIGHT if step.edge.weight is None else step.edge.weight
            yield start, step.other, weight / _hub(degrees.get(step.other, 0)), step.edge.kind


def _hub(degree: int) -> float:
    """What the weight of an edge is divided by that leads to a node with so many edges.

    >>> _hub(10), round(_hub(1_000), 1)
    (1.0, 5.6)
    """
    return 1 + math.log(max(degree, HUB) / HUB)


def _by_tag(ask: Ask, web: Web, starts: Sequence[str]) -> Iterable[Tied]:
    """What shares tags with a start, the rarer the more: of those come across, and of those that have no word of it."""
    # What is a condition of the cue, all share.
    given = frozenset(ask.cue.where.tags)
    tags = {
        id_: [
            one
            for one in labels_of(web.nodes[id_])
            if one.what == "tag" and is_topic(one.name) and one.name not in given
        ]
        for id_ in starts
    }
    seeds = tuple(WalkSeed(id_, tuple(some), web.nodes[id_].at, None) for id_, some in tags.items() if some)
    if not seeds:
        return
    walk = ask.store.walk(ask.scope, WalkQuery(seeds, ask.cue.query), TAGGED, ask.cue.where)
    nodes = {**web.nodes, **{one.node.id: one.node for one in walk.found}}
    rarity = {label: max(walk.idfs.get(label, 0.0), 0.0) for some in tags.values() for label in some}
    of = {id_: frozenset(labels_of(node)) for id_, node in nodes.items()}
    for start, mine in tags.items():
        whole = sum(rarity[label] for label in mine)
        for id_, theirs in of.items() if whole else ():
            shared = sum(rarity[label] for label in mine if label in theirs)
            if shared and id_ != start:
                yield start, id_, TAG_WEIGHT * shared / whole, "tag"


def _by_fact(ask: Ask, _web: Web, starts: Sequence[str]) -> Iterable[Tied]:
    """Of whom something is believed together with a start, and the text that says so."""
    for start, facts in ask.store.beliefs(ask.scope, starts, ask.now, FACTS, "both").items():
        for fact in facts:
            for other in (fact.subject, fact.object, fact.source_ref):
                if other is not None and other != start:
                    yield start, other, fact.confidence, "fact"


_TIES: dict[str, Callable[[Ask, Web, Sequence[str]], Iterable[Tied]]] = {
    "names": _by_name, "edges": _by_edge, "tags": _by_tag, "facts": _by_fact,
}  # fmt: skip


def flow(web: Web, energies: Mapping[str, float]) -> dict[str, tuple[float, Way]]:
    """How much energy each memory holds after one hop, and the way by which most of it came.

    Where no start leads anywhere, nothing flows: that some are starts is no news.
    """
    if not any(web.ties.get(start) for start in energies):
        return {}
    held: dict[str, float] = {}
    ways: dict[str, Way] = {}
    for start, energy in sorted(energies.items()):
        ties = web.ties.get(start, {})
        total = sum(weight for weight, _ in ties.values())
        given = [(other, (1 - KEPT) * weight / total, via) for other, (weight, via) in sorted(ties.items())]
        # What only one start leads to, and this alone, is not more than the start.
        kept = max((share for _, share, _ in given), default=1.0)
        arriving = [(start, max(KEPT, kept), "start"), *given]
        for other, share, via in arriving:
            held[other] = held.get(other, 0.0) + energy * share
            if other not in ways or ways[other].energy < energy * share:
                ways[other] = Way(start, via, energy * share)
    return {id_: (energy, ways[id_]) for id_, energy in held.items()}
