"""The walk of energy from seeds along edges, level by level, and what it comes to over all seeds.

    for found in activate(store, scope, {"A0": 0.9}, frozenset({"camp"}), Flow(max_depth=3), Where()):
        print(found.seed, found.reason, [path.ids for path in found.paths])

All seeds go level by level together, so a level is one request to the engine however many there are. A seed's result
comes out as soon as its last path has ended.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from cuetrail.errors import CuetrailError
from cuetrail.model import Activation, ActivationEnd, Claim, Hop, Path, Scope, Where
from cuetrail.model.fast_dataclass import maker
from cuetrail.store.graph import Candidate, Level, Spark
from cuetrail.store.ports import Store

_hop = maker(Hop)

Stream = Generator[Activation, None, None]
"""Closing it cancels what has not come out yet."""


@dataclass(frozen=True, slots=True)
class Flow:
    """How energy flows: how far, along how many edges of a node, and how little of it goes on.

    `claim` says who gets a node that several could reach: of all steps of a level the one with the most energy, or the
    one from the node that comes first ("frontier"). Either way the others go on to their next best.
    """

    max_depth: int = 5
    max_branches: int = 3
    min_activation: float = 0.005
    tag_sim_floor: float = 0.15
    claim: Claim = "energy"


@dataclass(slots=True)
class _Tip:
    """A node that energy has come to, and the way it came."""

    id: str
    energy: float
    hops: tuple[Hop, ...] = ()


@dataclass(slots=True)
class _Walk:
    """One seed's walk: where its energy is, where it has been, and which paths have ended."""

    seed: str
    score: float
    tags: tuple[str, ...]
    tips: list[_Tip] = field(init=False)
    visited: set[str] = field(init=False)
    ended: list[Path] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.tips, self.visited = [_Tip(self.seed, self.score)], {self.seed}

    def advance(self, claimed: Sequence[Sequence[Candidate]]) -> None:
        """Go on to the next level; tips that lead no further are ends."""
        onward: list[_Tip] = []
        for tip, steps in zip(self.tips, claimed, strict=True):
            if not steps:
                self._end(tip)
            for step in steps:
                hop = _hop(tip.id, step.id, step.energy, step.edge, step.kind, step.weight, step.tags, step.outgoing)
                onward.append(_Tip(step.id, step.energy, (*tip.hops, hop)))
        self.tips = onward
        self.visited.update(tip.id for tip in onward)

    def _end(self, tip: _Tip) -> None:
        if tip.hops:
            self.ended.append(Path(tip.hops))

    def result(self, reason: ActivationEnd = "complete", error: str | None = None) -> Activation:
        """What came of it. Where the walk is over, the tips are ends too."""
        for tip in self.tips if reason == "complete" else ():
            self._end(tip)
        return Activation(self.seed, self.score, reason, tuple(self.ended), error, self.tags)


def activate(
    store: Store,
    scope: Scope,
    seeds: Mapping[str, float],
    tags: Sequence[str],
    flow: Flow,
    where: Where,
    stop: threading.Event | None = None,
) -> Stream:
    """One result per seed, as each comes to its end. An engine that fails ends all that are left as `failed`."""
    live = [_Walk(seed, score, tuple(tags)) for seed, score in seeds.items()]
    # Where nothing may flow, the engine is still asked which seeds there are.
    flow = flow if flow.max_depth else replace(flow, max_branches=0)
    known: Mapping[str, int] = {}
    for depth in range(flow.max_depth if flow.max_branches else 1):
        if not live:
            return
        if stop is not None and stop.is_set():
            yield from (walk.result("cancelled") for walk in live)
            return
        try:
            expanded = store.expand(scope, _level(live, tags, flow, where, known))
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


def _level(live: Sequence[_Walk], tags: Sequence[str], flow: Flow, where: Where, known: Mapping[str, int]) -> Level:
    return Level(
        tuple(Spark(tip.id, tip.energy, number) for number, walk in enumerate(live) for tip in walk.tips),
        tuple(frozenset(walk.visited) for walk in live),
        frozenset(tags),
        flow.max_branches,
        flow.min_activation,
        flow.tag_sim_floor,
        where,
        flow.claim,
        known,
    )


# --- over all seeds


@dataclass(frozen=True, slots=True)
class Activated:
    """A node that energy came to: the most of it that did from one seed, and from which seeds by which path.

    `paths` has every seed whose energy came here, the one with the most first; a seed's own path has no hops.
    """

    id: str
    energy: float
    paths: Mapping[str, Path]


def merge(found: Iterable[Activation]) -> list[Activated]:
    """All nodes that were reached, those with the most energy first, then by id. Energies of seeds are not added up."""
    ways: dict[str, dict[str, tuple[float, Path]]] = {}
    for activation in found:
        if activation.reason != "seed_not_found":
            ways.setdefault(activation.seed, {})[activation.seed] = (activation.score, Path(()))
        for path in activation.paths:
            for length, hop in enumerate(path.hops, 1):
                ways.setdefault(hop.dst, {})[activation.seed] = (hop.energy, Path(path.hops[:length]))
    merged = []
    for id_, by_seed in ways.items():
        order = sorted(by_seed, key=lambda seed: (-by_seed[seed][0], seed))
        merged.append(Activated(id_, by_seed[order[0]][0], {seed: by_seed[seed][1] for seed in order}))
    return sorted(merged, key=lambda one: (-one.energy, one.id))
