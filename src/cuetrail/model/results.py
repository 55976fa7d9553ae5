"""Results of reads: hits of searches, walks along labels, activations and recollections.

They also have a form as plain data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from cuetrail.model.queries import TextQuery
    from cuetrail.model.records import Fact, Label, Node

ActivationEnd = Literal["complete", "seed_not_found", "failed", "cancelled"]


@dataclass(frozen=True, slots=True)
class SearchHit:
    """One row of a text or vector search. `boosted`: the score was doubled, because a tag or bucket matches the query.

    `factor` is the part of the score that depends on the node's provenance. `node` is set if the caller asked for
    nodes. `key` is the engine's own number for it, if the engine has one.
    """

    id: str
    score: float
    boosted: bool = False
    factor: float = 1.0
    node: Node | None = None
    key: int | None = None


@dataclass(frozen=True, slots=True)
class WalkHit:
    """A node that a walk reached, with its score."""

    node: Node
    score: float


@dataclass(frozen=True, slots=True)
class Walk:
    """The nodes a walk reached, best first, and the inverse document frequency of each label of its seeds."""

    found: tuple[WalkHit, ...] = ()
    idfs: Mapping[Label, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A node at the other end of an edge. `outgoing` is True if the edge leads to it."""

    id: str
    edge: str
    kind: str
    weight: float | None
    tags: tuple[str, ...]
    outgoing: bool


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """The strongest edges of a node, and the number of all its edges. A self-loop counts once."""

    degree: int
    neighbours: tuple[Neighbour, ...]


@dataclass(frozen=True, slots=True)
class Hop:
    """One step of spreading activation: the energy that reached `dst` from `src` along an edge."""

    src: str
    dst: str
    energy: float
    edge: str
    kind: str = "relates"
    weight: float | None = None
    tags: tuple[str, ...] = ()
    outgoing: bool = True


@dataclass(frozen=True, slots=True)
class Path:
    """The hops of energy from a seed to the node where it stopped."""

    hops: tuple[Hop, ...]

    @property
    def ids(self) -> tuple[str, ...]:
        """Returns the ids of the nodes on the path, the seed first."""
        return (self.hops[0].src, *(hop.dst for hop in self.hops)) if self.hops else ()


@dataclass(frozen=True, slots=True)
class Activation:
    """The paths along which the energy of one seed spread, in the order in which they ended, and why it stopped.

    `reason` is `seed_not_found` if no visible node has the id, `failed` if the engine failed with `error`, and
    `cancelled` if the caller stopped it. The paths that had ended by then are included.
    """

    seed: str
    score: float
    reason: ActivationEnd
    paths: tuple[Path, ...] = ()
    error: str | None = None
    tags: tuple[str, ...] = ()

    @property
    def depth(self) -> int:
        """Returns the number of hops of the longest path."""
        return max((len(path.hops) for path in self.paths), default=0)

    def to_dict(self) -> dict[str, Any]:
        """Returns plain data for JSON."""
        return {
            "seed": self.seed,
            "score": self.score,
            "reason": self.reason,
            "error": self.error,
            "tags": list(self.tags),
            "depth": self.depth,
            "paths": [[hop_dict(hop) for hop in path.hops] for path in self.paths],
        }


def hop_dict(hop: Hop) -> dict[str, Any]:
    """Returns a hop as plain data for JSON."""
    return {
        "src": hop.src,
        "dst": hop.dst,
        "energy": hop.energy,
        "edge": hop.edge,
        "kind": hop.kind,
        "weight": hop.weight,
        "tags": list(hop.tags),
        "outgoing": hop.outgoing,
    }


@dataclass(frozen=True, slots=True)
class Hit:
    """A recalled node with its score; `why` explains how it was found and what the score consists of.

    `more` are other passages of the same note or conversation that the text shows too. `cut`: the text shows only the
    beginning of this one. `mark` is "" or says which fact of its text is no longer valid, such as "superseded
    2026-03-02: lives in Lisbon".
    """

    node: Node
    score: float
    why: Mapping[str, Any]
    more: tuple[Hit, ...] = ()
    cut: bool = False
    mark: str = ""

    def __repr__(self) -> str:
        """Returns the score and the node; `why` and `more` are attributes."""
        return f"Hit(score={self.score:.3f}, node={self.node!r})"


@dataclass(frozen=True, slots=True)
class RecalledFact:
    """A fact at the beginning of a recollection's text, with the name of its subject and the `line` that shows it.

    `value` is the object's name, or the literal value. `source` is the file or the text that states the fact, None if
    it was stated directly. `since` is the time from which it is valid. `why` says how it fits the cue.
    """

    fact: Fact
    subject: str
    value: str
    line: str
    source: str | None
    since: int
    score: float
    why: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Returns plain data for JSON."""
        return {
            "line": self.line, "subject": self.subject, "predicate": self.fact.predicate, "object": self.value,
            "source": self.source, "since": self.since, "score": self.score, "fact": fact_dict(self.fact),
            "why": dict(self.why),
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Attempt:
    """One form of the query that recall tried, and how many anchors it found.

    `found` is None if it was not searched, because an earlier form already finds as much.
    """

    name: str
    query: TextQuery
    found: int | None


@dataclass(frozen=True, slots=True)
class Recollection:
    """The result of a recall: text within the budget, and the facts and hits it was rendered from.

    `facts` come first in the text: current facts about names in the cue. `anchors` match the cue itself, `walkers` were
    reached from anchors; each list is in its own order. `attempt` names the form of the query that found them: "full",
    or another one in `attempts`. `confidence` estimates how likely they answer the cue, from 0 to 1. If that is too
    low, `answerable` is False, and the text says what was looked for and shows the nearest memory, marked as such.
    """

    cue: str
    text: str
    anchors: tuple[Hit, ...]
    walkers: tuple[Hit, ...]
    answerable: bool
    looked_for: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    attempt: str = "full"
    attempts: tuple[Attempt, ...] = ()
    confidence: float = 1.0
    facts: tuple[RecalledFact, ...] = ()

    def __repr__(self) -> str:
        """Returns how much was found, and how sure it is that it answers; `text` has the answer."""
        found = f"hits={len(self.hits)}, facts={len(self.facts)}, answerable={self.answerable}"
        return f"Recollection(cue={self.cue!r:.80}, {found}, confidence={self.confidence:.2f})"

    def is_direct(self, hit: Hit) -> bool:
        """True if the hit matches the cue itself, and was not only reached from another hit."""
        return bool(hit.why.get("direct", any(hit.node.id == one.node.id for one in self.anchors)))

    @property
    def hits(self) -> tuple[Hit, ...]:
        """Returns the anchors, then the walkers."""
        return self.anchors + self.walkers

    @property
    def passages(self) -> tuple[Hit, ...]:
        """Returns the hits and the other passages shown with them (`Hit.more`) in one list, highest score first."""
        flat = [one for hit in self.hits for one in (hit, *hit.more)]
        return tuple(sorted(flat, key=lambda hit: -hit.score))

    def to_dict(self) -> dict[str, Any]:
        """Returns plain data for JSON, the same in the CLI, REST and MCP."""
        return {
            "cue": self.cue,
            "text": self.text,
            "answerable": self.answerable,
            "confidence": self.confidence,
            "looked_for": list(self.looked_for),
            "notices": list(self.notices),
            "attempt": self.attempt,
            "attempts": [{"name": a.name, "words": a.query.words, "found": a.found} for a in self.attempts],
            "anchors": [hit.node.id for hit in self.anchors],
            "walkers": [hit.node.id for hit in self.walkers],
            "facts": [one.to_dict() for one in self.facts],
            "hits": [self._hit_dict(hit) for hit in self.hits],
        }

    def _hit_dict(self, hit: Hit) -> dict[str, Any]:
        return {
            "node": node_dict(hit.node),
            "score": hit.score,
            "direct": self.is_direct(hit),
            "mark": hit.mark,
            "why": dict(hit.why),
            "cut": hit.cut,
            "more": [self._hit_dict(one) for one in hit.more],
        }


@dataclass(frozen=True, slots=True)
class Merged:
    """The result of merging the node `gone` into `node`: the names, and how many facts, edges and notes passed on.

    Edges are all that `gone` had; those that rules made are made again for `node`.
    """

    node: Node
    gone: Node
    aliases: tuple[str, ...]
    facts: int
    edges: int
    notes: int

    def to_dict(self) -> dict[str, Any]:
        """Returns plain data for JSON."""
        return {
            "node": node_dict(self.node), "gone": node_dict(self.gone), "aliases": list(self.aliases),
            "facts": self.facts, "edges": self.edges, "notes": self.notes,
        }  # fmt: skip


def node_dict(node: Node) -> dict[str, Any]:
    """Returns a node as plain data for JSON."""
    return {
        "id": node.id, "kind": node.kind, "name": node.name, "text": node.text, "aliases": list(node.aliases),
        "tags": list(node.own_tags), "automatic_tags": list(node.automatic_tags), "buckets": list(node.buckets),
        "source": node.source, "seq": node.seq, "at": node.at,
        "provenance": node.provenance, "props": dict(node.props), "state": node.life.state,
        "salience": node.life.salience,
    }  # fmt: skip


def fact_dict(fact: Fact) -> dict[str, Any]:
    """Returns a fact as plain data for JSON."""
    return {**{name: getattr(fact, name) for name in fact.__slots__}, "tags": list(fact.tags)}
