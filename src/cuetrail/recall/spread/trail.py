"""Spread of TRAIL: activation flows one hop from the best anchors and the nodes the cue names, along their ties.

Ties are names (entities mentioned in a text, and texts that mention them), edges, the order in a file or conversation,
rare shared tags and facts.

A second hop leads from the best candidates, through the names in their texts, to nodes that match the rest of the cue.
"Where was the wife of the inventor of X born?" names X alone. The text about X names the inventor, so the answer is in
texts that contain that name and words such as "wife" or "born".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from cuetrail.model import UNKNOWN_WEIGHT, Label, Node, TextQuery, WalkQuery, WalkSeed
from cuetrail.model.searched_fields import searched_heading, searched_title
from cuetrail.model.tags import is_topic
from cuetrail.recall.anchor.hybrid_search import Matches, Relevance, TrailAnchors, blend_anchors, relax_query
from cuetrail.recall.anchor.names_in_cue import nodes_named
from cuetrail.recall.anchor.term_coverage import TermCoverage, term_coverage
from cuetrail.recall.stage_types import Anchored, Reached, RecallContext
from cuetrail.recall.trail_constants import BODY, Trail, is_bare
from cuetrail.store.graph import EdgeFilter, StepQuery
from cuetrail.store.read import HeldAt
from cuetrail.text.names import (
    MOST_ALIASES,
    fold,
    fold_padded,
    mentions,
    name_variants,
    possible_names,
    proper_names,
    texts_with,
)
from cuetrail.text.normalise import topic_names

# How many edges of each start are followed, strongest first, and how many facts, most certain first.
EDGES, FACTS = 30, 10
# A node with more edges is a hub; an edge to it carries less.
HUB = 10
# How many nodes that share tags with a start, but no word with the cue, become candidates.
TAGGED = 10
# The weight of a tie between nodes that share all tags.
TAG_WEIGHT = 0.45
# The weight of a tie between nodes that follow each other in a file or conversation.
BESIDE_WEIGHT = 0.35
# The share of its energy that a start keeps at least.
RETAINED = 0.15
# A name that more nodes carry is not followed to any of them.
FAN = 5
# How many of the best candidates get a follow-up search, and how many results of each are read.
SEARCHES, RESULTS = 3, 20
SECOND_HOP = ("link", "hop", "left", "further")
"""The signals of the second hop; `SecondHop` has a field for each."""
SEARCH = "search"
"""The `via` of a node that a follow-up search found without a shared whole name."""
Nodes = Mapping[str, Node]
Tie = tuple[str, str, float, str]
"""The id of a start, the id of the other node, the weight of the tie, and its kind."""


@dataclass(frozen=True, slots=True)
class ActivationSource:
    """The start that most of a node's energy came from, the kind of the tie between them, and that energy.

    A start is a node where activation begins. A tie is a connection along which it flows.
    """

    start: str
    via: str
    energy: float


@dataclass(slots=True)
class CandidateGraph:
    """The candidates by id, and the ties of the starts: `ties[start][other]` is the weight and the kind of a tie."""

    nodes: dict[str, Node]
    ties: dict[str, dict[str, tuple[float, str]]] = field(default_factory=dict)

    def tie(self, start: str, other: str, weight: float, via: str) -> None:
        """Adds a tie, unless the two nodes have a stronger one."""
        if start != other and weight > self.ties.setdefault(start, {}).get(other, (0.0, ""))[0]:
            self.ties[start][other] = (weight, via)

    def add(self, nodes: Mapping[str, Node]) -> None:
        """Adds candidates. They stay sorted by id, so that results do not depend on the engine's order."""
        self.nodes = dict(sorted({**self.nodes, **nodes}.items()))


@dataclass(frozen=True, slots=True)
class TrailCandidates(Reached):
    """Result of the spread stage of the default recipe TRAIL: all candidates, and what their signals are computed from.

    `matches`, `blend` and `coverage` compare candidates with the query. `named` are the scores of nodes the cue names,
    `activation` those of nodes that energy reached, `sources` where most of that energy came from. `second_hops` are
    the signals of the second hop, `found` the ids that the cue found directly. For a literal query (phrases, a prefix,
    fuzzy words or only filters) all but the first four are empty.
    """

    nodes: Mapping[str, Node] = field(default_factory=dict)
    matches: Matches = field(default_factory=Matches)
    blend: Mapping[str, float] = field(default_factory=dict)
    coverage: TermCoverage = field(default_factory=lambda: TermCoverage({}, {}, {}))
    named: Mapping[str, float] = field(default_factory=dict)
    activation: Mapping[str, float] = field(default_factory=dict)
    sources: Mapping[str, ActivationSource] = field(default_factory=dict)
    second_hops: Mapping[str, SecondHop] = field(default_factory=dict)
    found: frozenset[str] = frozenset()


def follow_trails(context: RecallContext, anchored: Anchored, *, how: Trail) -> TrailCandidates:
    """Returns the candidates: anchors (direct matches), nodes the cue names, nodes connected with these, and nodes that
    a second search finds by names in the best candidates (the second hop).
    """
    assert isinstance(anchored, TrailAnchors), "TRAIL spreads from the anchors of `find_anchors`"
    context = relax_query(context)
    share = how.text_share(anchored.query_embedding)
    relevance = Relevance(
        context, anchored.anchors, anchored.query_embedding, anchored.residual_query, anchored.residual_scores,
        share, how.fusion,
    )  # fmt: skip
    if anchored.literal:
        nodes = dict(sorted(anchored.nodes.items()))
        return TrailCandidates(
            nodes=nodes,
            blend=relevance.of(nodes)[0],
            coverage=query_coverage(context.cue.query.words, nodes),
            matches=relevance.matches(),
        )
    named = {id_: value for id_, value in anchored.name_scores().items() if id_ in anchored.nodes}
    first = blend_anchors([one for one in anchored.anchors if not how.is_weak(one)], share, how.fusion)
    order = _by_value(first)
    starts = list(dict.fromkeys([*order[: how.starts], *_by_value(named)[: how.starts]]))
    graph = build_graph(context, anchored.nodes, starts, order[: how.expanded], how.along)
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
    of_best = query_coverage(context.cue.query.words, {id_: graph.nodes[id_] for id_ in best})
    searched, more = follow_up_search(context, graph.nodes, strength, of_best)
    graph.add(more)
    coverage = query_coverage(context.cue.query.words, graph.nodes)
    blend, residual = relevance.of(graph.nodes)
    return TrailCandidates(
        nodes=graph.nodes, matches=relevance.matches(), blend=blend, coverage=coverage, named=named,
        activation=activation,
        sources={id_: source for id_, (_, source) in activated.items()},
        second_hops=second_hops(graph.nodes, strength, residual, coverage, searched),
        found=frozenset(first) | named.keys(),
    )  # fmt: skip


def _by_value(values: Mapping[str, float]) -> list[str]:
    return sorted(values, key=lambda id_: (-values[id_], id_))


def query_coverage(words: str, nodes: Mapping[str, Node]) -> TermCoverage:
    """Returns which query terms nodes contain in their text and names, and in the titles and headings above them."""
    texts = {
        id_: "".join(map(fold_padded, filter(None, (node.text, node.name, *_above(node)))))
        for id_, node in nodes.items()
    }
    return term_coverage(words, texts)


def _above(node: Node) -> tuple[str, ...]:
    """Returns the titles of a passage's note, and the headings above it."""
    return (searched_title(None, (), node.props), searched_heading(node.props)) if node.props else ()


def _start_energies(anchors: Mapping[str, float], named: Mapping[str, float], share: float) -> dict[str, float]:
    """Returns the energy of each start, in all 1: at most `share` for nodes the cue names, the rest for the anchors.

    Each part is divided in proportion to the values. Nodes named with less confidence get less than `share`.
    """
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
    expanded: Sequence[str],
    along: Sequence[str],
) -> CandidateGraph:
    """Returns the graph of these nodes, the nodes tied to the starts, and the nodes directly before and behind those in
    `expanded`.

    `along` names the kinds of ties to follow: "names", "edges", "order", "tags", "facts".
    """
    graph = CandidateGraph(dict(nodes))
    ties: dict[str, list[tuple[str, float, str]]] = {id_: [] for id_ in _neighbours(context, expanded)}
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
    return [other for some in context.store.beside(context.scope, ids).values() for other in some]


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
    """Yields a tie for each of the strongest edges of a start; the weight of an edge to a hub is reduced.

    Edges that a dream made are left out: most follow from names in a text, which are ties themselves.
    """
    query = StepQuery(tuple(starts), EDGES, "both", EdgeFilter(undreamt=True), context.cue.where)
    found = context.store.steps(context.scope, query)
    others = sorted({step.other for steps in found.values() for step in steps})
    degrees = {id_: one.degree for id_, one in context.store.neighbours(context.scope, others, 0).items()}
    for start, steps in found.items():
        for step in steps:
            weight = UNKNOWN_WEIGHT if step.edge.weight is None else step.edge.weight
            yield start, step.other, weight / _hub_divisor(degrees.get(step.other, 0)), step.edge.kind


def _order_ties(context: RecallContext, _nodes: Mapping[str, Node], starts: Sequence[str]) -> Iterable[Tie]:
    """Yields ties from each start to the nodes directly before and behind it in a file or conversation."""
    for start, others in context.store.beside(context.scope, starts).items():
        yield from ((start, other, BESIDE_WEIGHT, "next") for other in others)


def _hub_divisor(degree: int) -> float:
    """Returns the divisor for the weight of an edge that leads to a node with so many edges.

    >>> _hub_divisor(10), round(_hub_divisor(1_000), 1)
    (1.0, 5.6)
    """
    return 1 + math.log(max(degree, HUB) / HUB)


def _tag_ties(context: RecallContext, nodes: Mapping[str, Node], starts: Sequence[str]) -> Iterable[Tie]:
    """Yields ties from each start to nodes that share tags with it, with more weight for rarer tags. These nodes are
    candidates, and others that a tag walk finds.

    Only tags that people gave count: automatic ones follow from words, which the text search has compared already.
    """
    # Tags that the cue filters by are on every candidate.
    filters = frozenset(context.cue.where.tags)
    tags = {id_: [label for label in _given_tags(nodes[id_]) if label.name not in filters] for id_ in starts}
    seeds = tuple(WalkSeed(id_, tuple(some), nodes[id_].at, None) for id_, some in tags.items() if some)
    if not seeds:
        return
    walk = context.store.walk(context.scope, WalkQuery(seeds, context.cue.query), TAGGED, context.cue.where)
    others = {**nodes, **{one.node.id: one.node for one in walk.found}}
    rarity = {label: max(walk.idfs.get(label, 0.0), 0.0) for some in tags.values() for label in some}
    labels = {id_: frozenset(_given_tags(node)) for id_, node in others.items()}
    for start, own in tags.items():
        total = sum(rarity[label] for label in own)
        for id_, theirs in labels.items() if total else ():
            shared = sum(rarity[label] for label in own if label in theirs)
            if shared and id_ != start:
                yield start, id_, TAG_WEIGHT * shared / total, "tag"


def _given_tags(node: Node) -> list[Label]:
    """Returns the tags about a topic that people gave a node."""
    return [Label("tag", tag.name) for tag in node.tag_details if tag.origin == "user" and is_topic(tag.name)]


def _fact_ties(context: RecallContext, _nodes: Mapping[str, Node], starts: Sequence[str]) -> Iterable[Tie]:
    """Yields ties from each start to the other end of its current facts, and to the texts that state them."""
    for start, facts in context.store.facts(context.scope, starts, held=HeldAt(context.now, FACTS, "both")).items():
        for fact in facts:
            for other in (fact.subject, fact.object, fact.source_ref):
                if other is not None and other != start:
                    yield start, other, fact.confidence, "fact"


_TIES: dict[str, Callable[[RecallContext, Mapping[str, Node], Sequence[str]], Iterable[Tie]]] = {
    "names": _name_ties, "edges": _edge_ties, "order": _order_ties, "tags": _tag_ties, "facts": _fact_ties,
}  # fmt: skip

TIE_WORDS: dict[str, tuple[str, str]] = {
    "mentions": ("mentions", "mentioned in"),
    "mentioned": ("is mentioned in", "mentions"),
    "links": ("links to", "linked from"),
    "linked": ("is linked from", "links to"),
    "relates": ("is related to", "related to"),
    "next": ("stands beside", "stands beside"),
    "shared": ("shares {} with", "shares {} with"),
    "fact": ("has a fact about", "in a fact about"),
    "search": ("leads a follow-up search to", "found by a follow-up search from"),
}
"""How a step of a path reads for people: from its start, and from the node that it reached. {} is a name or a tag."""


# --- activation


def spread_activation(
    graph: CandidateGraph, energies: Mapping[str, float]
) -> dict[str, tuple[float, ActivationSource]]:
    """Returns, by id, the energy of each node after one hop, and the start that most of it came from.

    A start divides its energy among its ties by weight, and keeps a part. Returns {} if no start has ties.
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


# --- the second hop


@dataclass(frozen=True, slots=True)
class SecondHop:
    """The signals of the second hop for one node, and where they come from.

    `link`: the text of a best candidate names the node. `hop`: the node shares the rare name `via` with the candidate
    `start` and matches the residual query (the query without its names). `left`: it shares `via` and has query terms
    that `start` lacks. `further`: the follow-up search from `start` found it. `via`, `start` and `energy` describe the
    strongest of several starts.
    """

    link: float = 0.0
    hop: float = 0.0
    left: float = 0.0
    further: float = 0.0
    via: str = ""
    start: str = ""
    energy: float = 0.0

    def merge(self, other: SecondHop) -> SecondHop:
        """Returns the larger value of each signal, with `via`, `start` and `energy` of the stronger of the two; a
        shared name wins over a follow-up search.
        """
        origin = max(self, other, key=lambda one: (one.energy > 0 and one.via != SEARCH, one.energy))
        return SecondHop(
            max(self.link, other.link),
            max(self.hop, other.hop),
            max(self.left, other.left),
            max(self.further, other.further),
            origin.via,
            origin.start,
            origin.energy,
        )


NONE = SecondHop()


def follow_up_search(
    context: RecallContext, candidates: Nodes, best: Mapping[str, float], coverage: TermCoverage
) -> tuple[dict[str, dict[str, float]], dict[str, Node]]:
    """Searches, for each of the first SEARCHES candidates of `best`, the names in its text that neither it nor the
    query has, together with the query words it lacks.

    Returns scores by the candidate's id and then by the id of the node found, as shares of the search's best hit, and
    the nodes found that were no candidates yet.
    """
    cue = f" {fold(context.cue.raw)} "
    where = replace(context.cue.where, with_text=not context.cue.where.kinds)
    found: dict[str, dict[str, float]] = {}
    nodes: dict[str, Node] = {}
    for start in list(best)[:SEARCHES]:
        own = candidates[start]
        names = [name for name in sorted(proper_names(own.text) - variants_of(own)) if f" {name} " not in cue]
        words = coverage.words_of(coverage.missing(start))
        if names and words:
            query = TextQuery(" ".join([*words, *names]), fields=BODY)
            hits = context.store.text(context.scope, query, RESULTS, where, nodes=True)
            top = hits[0].score if hits else 1.0
            found[start] = {hit.id: hit.score / top for hit in hits if hit.id != start}
            nodes |= {hit.id: hit.node for hit in hits if hit.node is not None}
    return found, {id_: node for id_, node in nodes.items() if id_ not in candidates}


def second_hops(
    candidates: Nodes,
    best: Mapping[str, float],
    residual: Mapping[str, float],
    coverage: TermCoverage,
    searched: Mapping[str, Mapping[str, float]],
) -> dict[str, SecondHop]:
    """Returns, by id, the second-hop signals of the nodes that share a name with one of the best candidates, or that
    its follow-up search found. Signals are multiplied by the score of that candidate, from 0 to 1.

    `residual` has the blends for the residual query, `searched` the scores of the follow-up searches.
    """
    found = _linked(candidates, best)
    names_of = {id_: proper_names(candidates[id_].text) | variants_of(candidates[id_]) for id_ in best}
    texts = {id_: fold_padded(node.text) + _own_names(node) for id_, node in candidates.items()}
    containing = texts_with(frozenset[str]().union(*names_of.values()), texts)
    for start, strength in best.items():
        missing = coverage.missing(start)
        rarest = _rarest_names(names_of[start], containing, len(candidates))
        results = searched.get(start, {})
        for id_ in (rarest.keys() | results.keys()) - {start}:
            rarity, name = rarest.get(id_, (0.0, ""))
            share = coverage.share(coverage.terms[id_] & missing, missing)
            hop, left = strength * rarity * residual.get(id_, 0.0), strength * rarity * share
            # A result that matched only part of a name, and no missing term, does not count.
            further = strength * results.get(id_, 0.0) if name or share else 0.0
            second = SecondHop(0.0, hop, left, further, name or SEARCH, start, max(hop, left, further))
            old = found.get(id_)
            found[id_] = second if old is None else old.merge(second)
    return found


def _rarest_names(names: Iterable[str], containing: Mapping[str, list[str]], size: int) -> dict[str, tuple[float, str]]:
    """Returns, by id, for each node that contains any of these names, how rare the rarest of them is, from 0 to 1, and
    that name. `containing` has the ids of the nodes with each name; `size` is the number of all nodes searched for
    them (the candidates of the recall).
    """
    found: dict[str, tuple[float, str]] = {}
    for name in sorted(names, key=lambda name: (len(containing[name]), name)):
        rarity = math.log((size + 1) / max(len(containing[name]), 1)) / math.log(size + 1)
        for id_ in containing[name]:
            found.setdefault(id_, (rarity, name))
    return found


def _linked(candidates: Nodes, best: Mapping[str, float]) -> dict[str, SecondHop]:
    """Returns, by id, the candidates whose name occurs in the text of a best candidate, with the signal `link`.

    Names that more than FAN candidates have do not count.
    """
    carriers: dict[str, list[str]] = {}
    for id_, node in candidates.items():
        for name in variants_of(node):
            carriers.setdefault(name, []).append(id_)
    rare = {name for name, ids in carriers.items() if len(ids) <= FAN}
    containing = texts_with(rare, {id_: fold_padded(candidates[id_].text) for id_ in best})
    found: dict[str, SecondHop] = {}
    for name in sorted(rare):
        for start in containing[name]:
            if mentions(candidates[start].text, name):
                for id_ in carriers[name]:
                    if id_ != start and found.get(id_, NONE).link < best[start]:
                        found[id_] = SecondHop(best[start], via=name, start=start, energy=best[start])
    return found


def _own_names(node: Node) -> str:
    return "".join(f" {name} " for name in sorted(variants_of(node)))


def variants_of(node: Node) -> frozenset[str]:
    """Returns the spellings under which a node's name and first aliases may occur in a text. For a node with neither,
    those of what its text is known by (`topic_names`).
    """
    names = [name for name in (node.name, *node.aliases[:MOST_ALIASES]) if name] or topic_names(node.props)
    return frozenset[str]().union(*map(name_variants, names)) if names else frozenset()
