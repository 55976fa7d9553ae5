"""Spread of TRAIL: activation flows one hop from the best anchors and the nodes the cue names, along their ties.

Ties are names (entities mentioned in a text, and texts that mention them), edges, rare shared tags and facts. From the
best candidates after that hop, `second_hop.py` goes on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from cuetrail.model import UNKNOWN_WEIGHT, Node, WalkQuery, WalkSeed
from cuetrail.model.records import is_topic
from cuetrail.recall.anchor.trail import TrailAnchors, relax_query
from cuetrail.recall.names import fold_padded, mentions, nodes_named, possible_names, texts_with, variants_of
from cuetrail.recall.relevance import Relevance, TermCoverage, blend_anchors, term_coverage
from cuetrail.recall.spread.second_hop import FAN, SecondHop, follow_up_search, second_hops
from cuetrail.recall.spread.tag_walk import labels_of
from cuetrail.recall.stages import Anchored, Reached, RecallContext
from cuetrail.recall.weights import Trail, Weights, is_bare, kinds_of
from cuetrail.store.graph import StepQuery, Ties

# How many edges of each start are followed, strongest first, and how many facts, most certain first.
EDGES, FACTS = 30, 10
# A node with more edges is a hub; an edge to it carries less.
HUB = 10
# How many nodes that share tags with a start, but no word with the cue, become candidates.
TAGGED = 10
# The weight of a tie between nodes that share all tags.
TAG_WEIGHT = 0.45
# The share of its energy that a start keeps at least.
RETAINED = 0.15
Tie = tuple[str, str, float, str]
"""The id of a start, the id of the other node, the weight of the tie, and its kind."""


@dataclass(frozen=True, slots=True)
class ActivationSource:
    """The start that most of a node's energy came from, the kind of tie, and how much energy that was."""

    start: str
    via: str
    energy: float


@dataclass(slots=True)
class CandidateGraph:
    """The candidates by id, and the ties of the starts: weight and kind, by start and other node."""

    nodes: dict[str, Node]
    ties: dict[str, dict[str, tuple[float, str]]] = field(default_factory=dict)

    def tie(self, start: str, other: str, weight: float, via: str) -> None:
        """Adds a tie; of several between two nodes the strongest stays."""
        if start != other and weight > self.ties.setdefault(start, {}).get(other, (0.0, ""))[0]:
            self.ties[start][other] = (weight, via)

    def add(self, nodes: Mapping[str, Node]) -> None:
        """Adds candidates. They stay sorted by id, so that results do not depend on the engine's order."""
        self.nodes = dict(sorted({**self.nodes, **nodes}.items()))


@dataclass(frozen=True, slots=True)
class TrailCandidates(Reached):
    """Result of the spread stage of TRAIL: all candidates, and everything the signals are computed from.

    `blend` and `coverage` compare candidates with the query. `named` are the scores of nodes that the cue names,
    `activation` those of nodes that energy reached, `sources` where most of it came from. `found` are the ids that the
    cue found directly. A literal query has no `named`, `activation` or `second_hops`.
    """

    nodes: Mapping[str, Node] = field(default_factory=dict)
    weights: Weights = field(default_factory=Weights)
    blend: Mapping[str, float] = field(default_factory=dict)
    coverage: TermCoverage = field(default_factory=lambda: TermCoverage({}, {}, {}))
    named: Mapping[str, float] = field(default_factory=dict)
    activation: Mapping[str, float] = field(default_factory=dict)
    sources: Mapping[str, ActivationSource] = field(default_factory=dict)
    second_hops: Mapping[str, SecondHop] = field(default_factory=dict)
    found: frozenset[str] = frozenset()


def follow_trails(context: RecallContext, anchored: Anchored, *, how: Trail) -> TrailCandidates:
    """Returns the candidates: anchors, nodes the cue names, nodes tied to these, and what the second hop finds."""
    assert isinstance(anchored, TrailAnchors), "TRAIL spreads from the anchors of `find_anchors`"
    context = relax_query(context)
    weights = how.weights(kinds_of(anchored.nodes.values()), anchored.query_embedding)
    relevance = Relevance(
        context, anchored.anchors, anchored.query_embedding, anchored.residual_query, anchored.residual_scores,
        weights.words, how.fusion,
    )  # fmt: skip
    if anchored.literal:
        nodes = dict(sorted(anchored.nodes.items()))
        return TrailCandidates(
            nodes=nodes, weights=weights, blend=relevance.of(nodes)[0], coverage=_coverage(context, nodes)
        )
    named = {id_: value for id_, value in anchored.name_scores().items() if id_ in anchored.nodes}
    first = blend_anchors([one for one in anchored.anchors if not how.is_weak(one)], weights.words, how.fusion)
    order = _by_value(first)
    starts = list(dict.fromkeys([*order[: how.starts], *_by_value(named)[: how.starts]]))
    graph = build_graph(context, anchored.nodes, starts, order[: how.strong], how.along)
    blend, _ = relevance.of(graph.nodes)
    energies = _start_energies({id_: blend[id_] for id_ in order[: how.starts]}, named, how.named_share)
    activated = spread_activation(graph, energies)
    most = max((energy for energy, _ in activated.values()), default=1.0)
    activation = {id_: math.sqrt(energy / most) for id_, (energy, _) in activated.items()}
    # The second hop starts neither at weak vector matches nor at nodes without text.
    unfit = {one.node.id for one in anchored.anchors if how.is_weak(one)} - activation.keys() - named.keys()
    unfit |= {id_ for id_, node in graph.nodes.items() if is_bare(node)}
    sums = {id_: blend[id_] + activation.get(id_, 0.0) + named.get(id_, 0.0) for id_ in graph.nodes if id_ not in unfit}
    best = _by_value(sums)[: how.best]
    strength = {id_: sums[id_] / (sums[best[0]] or 1.0) for id_ in best}
    of_best = _coverage(context, {id_: graph.nodes[id_] for id_ in best})
    searched, more = follow_up_search(context, graph.nodes, strength, of_best)
    graph.add(more)
    coverage = _coverage(context, graph.nodes)
    blend, residual = relevance.of(graph.nodes)
    return TrailCandidates(
        nodes=graph.nodes, weights=weights, blend=blend, coverage=coverage, named=named, activation=activation,
        sources={id_: source for id_, (_, source) in activated.items()},
        second_hops=second_hops(graph.nodes, strength, residual, coverage, searched),
        found=frozenset(first) | named.keys(),
    )  # fmt: skip


def _by_value(values: Mapping[str, float]) -> list[str]:
    return sorted(values, key=lambda id_: (-values[id_], id_))


def _coverage(context: RecallContext, nodes: Mapping[str, Node]) -> TermCoverage:
    """Returns which query terms nodes contain in their text and name."""
    texts = {
        id_: fold_padded(node.text) + fold_padded(node.name) if node.name else fold_padded(node.text)
        for id_, node in nodes.items()
    }
    return term_coverage(context.cue.query.words, texts)


def _start_energies(anchors: Mapping[str, float], named: Mapping[str, float], share: float) -> dict[str, float]:
    """Returns the energy of each start: `share` for nodes the cue surely names, the rest for the anchors."""
    energies: dict[str, float] = {}
    share *= max(named.values(), default=0.0)
    for part, values in ((1 - share, anchors), (share, named)):
        total = sum(values.values())
        for id_, value in values.items() if total > 0 else ():
            energies[id_] = energies.get(id_, 0.0) + part * value / total
    return energies


# --- the graph


def build_graph(
    context: RecallContext,
    nodes: Mapping[str, Node],
    starts: Sequence[str],
    strong: Sequence[str],
    along: Sequence[str],
) -> CandidateGraph:
    """Returns the graph of these nodes, of what the starts are tied to, and of the neighbours of strong anchors.

    `along` says which ties to follow: "names", "edges", "tags", "facts".
    """
    graph = CandidateGraph(dict(nodes))
    ties: dict[str, list[tuple[str, float, str]]] = {id_: [] for id_ in _neighbours(context, strong)}
    for kind in along:
        for start, id_, weight, via in _TIES[kind](context, graph.nodes, starts):
            ties.setdefault(id_, []).append((start, weight, via))
    others = context.store.get(context.scope, [id_ for id_ in ties if id_ not in graph.nodes])
    graph.add({id_: node for id_, node in others.items() if context.cue.where.finds(node)})
    for id_, some in ties.items():
        for start, weight, via in some if id_ in graph.nodes else ():
            graph.tie(start, id_, weight, via)
    if "names" in along:
        _tie_mentions(graph, starts)
    return graph


def _tie_mentions(graph: CandidateGraph, starts: Sequence[str]) -> None:
    """Adds ties from each start to the candidates whose text mentions its name."""
    names_of = {start: variants_of(graph.nodes[start]) for start in starts}
    texts = {id_: fold_padded(node.text) for id_, node in graph.nodes.items()}
    containing = texts_with(frozenset[str]().union(*names_of.values()), texts)
    for start, names in names_of.items():
        for name in names:
            for id_ in containing[name]:
                if mentions(graph.nodes[id_].text, name):
                    graph.tie(start, id_, 1.0, "name")


def _neighbours(context: RecallContext, ids: Sequence[str]) -> list[str]:
    """Returns the ids of the nodes directly before and behind these in a file or conversation."""
    query = StepQuery(tuple(ids), 2, "both", Ties(kinds=("next",)), context.cue.where)
    return [step.other for some in context.store.steps(context.scope, query).values() for step in some]


def _name_ties(context: RecallContext, nodes: Mapping[str, Node], starts: Sequence[str]) -> Iterable[Tie]:
    """Yields ties from each start to the nodes whose name occurs in its text."""
    names_of = {id_: possible_names(nodes[id_].text) for id_ in starts}
    norms = sorted(frozenset[str]().union(*names_of.values()))
    carriers = nodes_named(context, norms, FAN + 1)
    for start, names in names_of.items():
        for name in sorted(names & carriers.keys()):
            ids = carriers[name]
            if len(ids) <= FAN:
                yield from ((start, id_, 1 / math.sqrt(len(ids)), "name") for id_ in ids)


def _edge_ties(context: RecallContext, _nodes: Mapping[str, Node], starts: Sequence[str]) -> Iterable[Tie]:
    """Yields a tie for each of the strongest edges of a start; the weight of an edge to a hub is reduced."""
    query = StepQuery(tuple(starts), EDGES, "both", Ties(), context.cue.where)
    found = context.store.steps(context.scope, query)
    others = sorted({step.other for steps in found.values() for step in steps})
    degrees = {id_: one.degree for id_, one in context.store.neighbours(context.scope, others, 0).items()}
    for start, steps in found.items():
        for step in steps:
            weight = UNKNOWN_WEIGHT if step.edge.weight is None else step.edge.weight
            yield start, step.other, weight / _hub_divisor(degrees.get(step.other, 0)), step.edge.kind


def _hub_divisor(degree: int) -> float:
    """Returns the divisor for the weight of an edge that leads to a node with so many edges.

    >>> _hub_divisor(10), round(_hub_divisor(1_000), 1)
    (1.0, 5.6)
    """
    return 1 + math.log(max(degree, HUB) / HUB)


def _tag_ties(context: RecallContext, nodes: Mapping[str, Node], starts: Sequence[str]) -> Iterable[Tie]:
    """Yields ties to nodes that share tags with a start, weighted by rarity: candidates, and others of a tag walk."""
    # Tags that the cue filters by are on every candidate.
    filters = frozenset(context.cue.where.tags)
    tags = {
        id_: [
            label
            for label in labels_of(nodes[id_])
            if label.what == "tag" and is_topic(label.name) and label.name not in filters
        ]
        for id_ in starts
    }
    seeds = tuple(WalkSeed(id_, tuple(some), nodes[id_].at, None) for id_, some in tags.items() if some)
    if not seeds:
        return
    walk = context.store.walk(context.scope, WalkQuery(seeds, context.cue.query), TAGGED, context.cue.where)
    others = {**nodes, **{one.node.id: one.node for one in walk.found}}
    rarity = {label: max(walk.idfs.get(label, 0.0), 0.0) for some in tags.values() for label in some}
    labels = {id_: frozenset(labels_of(node)) for id_, node in others.items()}
    for start, own in tags.items():
        total = sum(rarity[label] for label in own)
        for id_, theirs in labels.items() if total else ():
            shared = sum(rarity[label] for label in own if label in theirs)
            if shared and id_ != start:
                yield start, id_, TAG_WEIGHT * shared / total, "tag"


def _fact_ties(context: RecallContext, _nodes: Mapping[str, Node], starts: Sequence[str]) -> Iterable[Tie]:
    """Yields ties from each start to the other end of its current facts, and to the texts that state them."""
    for start, facts in context.store.beliefs(context.scope, starts, context.now, FACTS, "both").items():
        for fact in facts:
            for other in (fact.subject, fact.object, fact.source_ref):
                if other is not None and other != start:
                    yield start, other, fact.confidence, "fact"


_TIES: dict[str, Callable[[RecallContext, Mapping[str, Node], Sequence[str]], Iterable[Tie]]] = {
    "names": _name_ties, "edges": _edge_ties, "tags": _tag_ties, "facts": _fact_ties,
}  # fmt: skip


# --- activation


def spread_activation(
    graph: CandidateGraph, energies: Mapping[str, float]
) -> dict[str, tuple[float, ActivationSource]]:
    """Returns the energy of each node after one hop, and the start that most of it came from.

    Returns {} if no start has ties.
    """
    if not any(graph.ties.get(start) for start in energies):
        return {}
    reached: dict[str, float] = {}
    sources: dict[str, ActivationSource] = {}
    for start, energy in sorted(energies.items()):
        ties = graph.ties.get(start, {})
        total = sum(weight for weight, _ in ties.values())
        shares = [(other, (1 - RETAINED) * weight / total, via) for other, (weight, via) in sorted(ties.items())]
        # A start keeps at least as much as it gives to any one node.
        retained = max((share for _, share, _ in shares), default=1.0)
        for other, share, via in [(start, max(RETAINED, retained), "start"), *shares]:
            reached[other] = reached.get(other, 0.0) + energy * share
            if other not in sources or sources[other].energy < energy * share:
                sources[other] = ActivationSource(start, via, energy * share)
    return {id_: (energy, sources[id_]) for id_, energy in reached.items()}
