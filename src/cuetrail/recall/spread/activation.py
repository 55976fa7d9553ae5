"""Spreading activation: energy flows from seeds along edges, level by level.

    for found in activate(store, scope, {"A0": 0.9}, ("camp",), Flow(max_depth=3), Where()):
        print(found.seed, found.reason, [path.ids for path in found.paths])

All seeds advance together, so each level is one request to the engine. The result of a seed is yielded as soon as its
last path has ended.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from cuetrail.errors import CuetrailError, MemoryError_
from cuetrail.model import Activation, ActivationEnd, Claim, Hop, Path, Scope, WalkHit, Where
from cuetrail.model.records import maker
from cuetrail.recall.anchor.activation_seeds import Chooser, Seeding, find_seeds, query_tags
from cuetrail.recall.query import parse_cue
from cuetrail.recall.stage_types import Anchored, Reached, RecallContext
from cuetrail.store.graph import Candidate, Expands, Frontier, FrontierNode
from cuetrail.text.timestamps import now_ms

if TYPE_CHECKING:
    from cuetrail.session import Session

log = logging.getLogger("cuetrail")

_hop = maker(Hop)

Stream = Generator[Activation, None, None]
"""Results as they are ready; closing the generator cancels the rest."""


@dataclass(frozen=True, slots=True)
class Flow:
    """Limits of an activation: hops, branches per node, and the least energy that flows on.

    `tag_sim_floor` is the factor for an edge that has no tag of the query; with all of them the factor is 1. `claim`
    decides between several steps to the same node: the one with the most energy takes it ("energy"), or the one from
    the node that comes first ("frontier"). The others take their next best edge.
    """

    max_depth: int = 5
    max_branches: int = 3
    min_activation: float = 0.005
    tag_sim_floor: float = 0.15
    claim: Claim = "energy"


@dataclass(slots=True)
class _Tip:
    """The last node of a path under way, its energy, and the hops to it."""

    id: str
    energy: float
    hops: tuple[Hop, ...] = ()


@dataclass(slots=True)
class _Walk:
    """The state of one seed: the tips of its paths, the nodes visited, and the paths that have ended."""

    seed: str
    score: float
    tags: tuple[str, ...]
    tips: list[_Tip] = field(init=False)
    visited: set[str] = field(init=False)
    ended: list[Path] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.tips, self.visited = [_Tip(self.seed, self.score)], {self.seed}

    def advance(self, claimed: Sequence[Sequence[Candidate]]) -> None:
        """Extends each path by its steps (`claimed`, in the order of `tips`). A path with several steps branches, one
        without steps ends.
        """
        tips: list[_Tip] = []
        for tip, steps in zip(self.tips, claimed, strict=True):
            if not steps:
                self._end(tip)
            for step in steps:
                hop = _hop(tip.id, step.id, step.energy, step.edge, step.kind, step.weight, step.tags, step.outgoing)
                tips.append(_Tip(step.id, step.energy, (*tip.hops, hop)))
        self.tips = tips
        self.visited.update(tip.id for tip in tips)

    def _end(self, tip: _Tip) -> None:
        if tip.hops:
            self.ended.append(Path(tip.hops))

    def result(self, reason: ActivationEnd = "complete", error: str | None = None) -> Activation:
        """Returns the activation of the seed. With the reason "complete", paths still under way end here and count."""
        for tip in self.tips if reason == "complete" else ():
            self._end(tip)
        return Activation(self.seed, self.score, reason, tuple(self.ended), error, self.tags)


def activate_seeds(
    graph: Expands, scope: Scope, seeds: Mapping[str, float], tags: Sequence[str], flow: Flow, where: Where,
    stop: threading.Event | None = None,
) -> Stream:  # fmt: skip
    """Yields one activation per seed, as soon as it ends. `seeds` maps node ids to energies.

    If the graph fails, all remaining seeds end as "failed"; once `stop` is set, as "cancelled".
    """
    live = [_Walk(seed, score, tuple(tags)) for seed, score in seeds.items()]
    # With a depth of 0 the graph is still asked which seeds exist.
    flow = flow if flow.max_depth else replace(flow, max_branches=0)
    known: Mapping[str, int] = {}
    for depth in range(flow.max_depth if flow.max_branches else 1):
        if not live:
            return
        if stop is not None and stop.is_set():
            yield from (walk.result("cancelled") for walk in live)
            return
        try:
            expanded = graph.expand(scope, _level(live, tags, flow, where, known))
        except CuetrailError as error:
            yield from (walk.result("failed", str(error)) for walk in live)
            return
        claimed, known = iter(expanded.candidates), expanded.known
        for walk in live:
            walk.advance([next(claimed) for _ in walk.tips])
        for walk in live:
            if not walk.tips:
                yield walk.result("complete" if depth or walk.seed not in expanded.missing else "seed_not_found")
        live = [walk for walk in live if walk.tips]
    yield from (walk.result() for walk in live)


def _level(live: Sequence[_Walk], tags: Sequence[str], flow: Flow, where: Where, known: Mapping[str, int]) -> Frontier:
    return Frontier(
        tuple(FrontierNode(tip.id, tip.energy, number) for number, walk in enumerate(live) for tip in walk.tips),
        tuple(frozenset(walk.visited) for walk in live),
        frozenset(tags),
        flow.max_branches,
        flow.min_activation,
        flow.tag_sim_floor,
        where,
        flow.claim,
        known,
    )


def follow_edges(
    context: RecallContext, anchored: Anchored, *, seeding: Seeding, flow: Flow, choose: Chooser | None
) -> Reached:
    """Returns the nodes that energy from the anchors reaches along edges that fit the tags of the query.

    Every node on a path passes the filters of the cue. Raises MemoryError_ if the engine fails.
    """
    tags = query_tags(context, anchored.anchors, choose)
    energies = {anchor.node.id: seeding.energy(anchor) for anchor in anchored.anchors}
    found = tuple(activate_seeds(context.store, context.scope, energies, tags, flow, context.cue.where))
    failure = next((one.error for one in found if one.error is not None), None)
    if failure is not None:
        raise MemoryError_(failure)
    reached = [one for one in merge(found) if one.id not in energies]
    nodes = context.store.get(context.scope, [one.id for one in reached])
    walked = tuple(WalkHit(nodes[one.id], one.energy) for one in reached if one.id in nodes)
    return Reached(walked, activations=found)


# --- the verb `activate`


def activate(
    session: Session, seeds: str | Mapping[str, float], *, tags: tuple[str, ...] | None, flow: Flow, seeding: Seeding,
    choose_tags: Chooser | None, where: Where, record_access: bool, stop: threading.Event | None, now: int | None,
) -> Stream:  # fmt: skip
    """Returns the stream of activations, one per seed. `seeds` maps ids to energies, or is a query that finds seeds.

    If `tags` is None, the query's own tags are used. With `record_access`, the nodes shown count as used.
    """
    if isinstance(seeds, str):
        context = RecallContext(
            session.store, session.scope, parse_cue(seeds, where), 0, len, 0, None, session.vectors.of_query
        )
        seeds, tags = _found_seeds(session, context, seeding, tags, choose_tags)
        where = context.cue.where
    found = activate_seeds(session.store, session.scope, seeds, tags or (), flow, where, stop)
    return _counted(session, found, now) if record_access else found


def _found_seeds(
    session: Session, context: RecallContext, seeding: Seeding, tags: tuple[str, ...] | None, choose: Chooser | None
) -> tuple[dict[str, float], tuple[str, ...]]:
    """Returns the energies of the seeds that a query finds, by id; and `tags`, or if they are None the tags that the
    query is about. Logs notices.
    """
    anchored = find_seeds(context, seeding=seeding)
    for notice in session.with_notice(context.cue.notices + anchored.notices):
        log.warning(notice)
    if tags is None:
        tags = query_tags(context, anchored.anchors, choose)
    return {anchor.node.id: seeding.energy(anchor) for anchor in anchored.anchors}, tags


def _counted(session: Session, found: Stream, now: int | None) -> Stream:
    """Yields the same activations; when the stream ends or is closed, counts all nodes that it showed as used once."""
    shown: dict[str, None] = {}
    try:
        for one in found:
            shown.update(dict.fromkeys(id_ for path in one.paths for id_ in path.ids))
            if one.reason == "complete":
                shown[one.seed] = None
            yield one
    finally:
        found.close()
        # The caller has the activations already: a count that fails must not take them away.
        with contextlib.suppress(CuetrailError):
            if shown:
                session.store.touch(session.scope, list(shown), now_ms() if now is None else now)


# --- results of all seeds together


@dataclass(frozen=True, slots=True)
class Activated:
    """A node that energy reached, the most energy that reached it from one seed, and the path from each seed.

    `paths` begins with the seed that sent most energy; the path of a seed to itself has no hops.
    """

    id: str
    energy: float
    paths: Mapping[str, Path]


def merge(found: Iterable[Activation]) -> list[Activated]:
    """Returns all nodes that energy reached, seeds included, those with the most energy first, then by id.

    Energies from several seeds are not summed: the largest counts.
    """
    reached: dict[str, dict[str, tuple[float, Path]]] = {}
    for activation in found:
        if activation.reason != "seed_not_found":
            reached.setdefault(activation.seed, {})[activation.seed] = (activation.score, Path(()))
        for path in activation.paths:
            for length, hop in enumerate(path.hops, 1):
                reached.setdefault(hop.dst, {})[activation.seed] = (hop.energy, Path(path.hops[:length]))
    merged = []
    for id_, by_seed in reached.items():
        order = sorted(by_seed, key=lambda seed: (-by_seed[seed][0], seed))
        merged.append(Activated(id_, by_seed[order[0]][0], {seed: by_seed[seed][1] for seed in order}))
    return sorted(merged, key=lambda one: (-one.energy, one.id))
