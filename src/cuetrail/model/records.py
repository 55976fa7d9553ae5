"""The nouns of cuetrail: frozen dataclasses, no behaviour beyond small derived values.

Times are UTC integer milliseconds. Ids are strings chosen by the caller or derived from content.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

Provenance = Literal["internal", "external", "quarantine"]
Origin = Literal["user", "auto", "temporal", "infected"]
State = Literal["candidate", "active", "core", "archived"]
Retention = Literal["decay", "ephemeral", "keep_forever"]
FactStatus = Literal["staged", "confirmed", "superseded", "retracted"]
Direction = Literal["out", "in", "both"]
LinkKind = Literal["wikilink", "name"]
Rank = Literal["idf", "gravity"]
Claim = Literal["energy", "frontier"]
End = Literal["complete", "seed_not_found", "failed", "cancelled"]


DATE_ONLY = "day"
"""The property of an atom whose time is a date that was stated without a time of day."""

FROM_FILE = "from_file"
"""The property of a source node that lists the tags, buckets, aliases and properties its file states.

Everything else on the nodes of that source was added by users or by dreams.
"""

UNKNOWN_WEIGHT = 0.01
"""The weight used for an edge whose weight is None."""

DERIVED = ("storyline", "macro")
"""Kinds of nodes that dreams write about other memories. A search returns them only if their kind is asked for."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Who is asking. A row is visible iff it has the same tenant and is mine or belongs to one of my teams.

    `share` names the team new rows are written for; None keeps them private.
    """

    tenant: str = "default"
    user: str = "me"
    teams: tuple[str, ...] = ()
    share: str | None = None


@dataclass(frozen=True, slots=True)
class Tag:
    """One tag on a node: the normalised name, what the user typed, and who put it there."""

    name: str
    display: str
    origin: Origin = "user"


@dataclass(frozen=True, slots=True)
class Life:
    """How alive a memory is: importance, use, and how fast it fades."""

    salience: float = 0.5
    state: State = "candidate"
    confidence: float = 1.0
    accesses: int = 0
    last_access: int | None = None
    last_decay: int | None = None
    interval: int | None = None
    gradient: float = 1.0
    retention: Retention = "decay"


# The very object that is the default, so that most nodes are told apart by identity.
NEWBORN = Life()


@dataclass(frozen=True, slots=True)
class Node:
    """Anything that can be remembered: an atom of text, a person, a concept, a source, a storyline.

    `tags` are normalised names; `tag_details` adds display form and origin. The first bucket is the primary one.
    """

    id: str
    kind: str = "atom"
    name: str | None = None
    text: str = ""
    aliases: tuple[str, ...] = ()
    tag_details: tuple[Tag, ...] = ()
    buckets: tuple[str, ...] = ()
    source: str | None = None
    seq: int = 0
    at: int = 0
    provenance: Provenance = "internal"
    simhash: int | None = None
    props: Mapping[str, Any] = field(default_factory=dict)
    life: Life = NEWBORN
    created: int = 0
    updated: int = 0
    valid_from: int | None = None
    valid_until: int | None = None
    owner: str = "me"
    team: str | None = None

    @property
    def tags(self) -> tuple[str, ...]:
        """The normalised tag names, in the order they were given."""
        return tuple(tag.name for tag in self.tag_details)


@dataclass(frozen=True, slots=True)
class Edge:
    """A link between two nodes, walked both ways. `weight` None means unknown (walked as .01).

    `via` is the name through which a rule made the edge; None for edges a caller made.
    """

    id: str
    src: str
    dst: str
    kind: str = "relates"
    weight: float | None = None
    tags: tuple[str, ...] = ()
    text: str = ""
    type: str | None = None
    attitude: int | None = None
    proximity: int | None = None
    confidence: float = 1.0
    via: str | None = None
    props: Mapping[str, Any] = field(default_factory=dict)
    created: int = 0
    updated: int = 0
    valid_from: int | None = None
    valid_until: int | None = None


@dataclass(frozen=True, slots=True)
class Fact:
    """Subject, predicate, and either an object node or a literal value. `stated_...`: see `store.timeline`."""

    id: str
    subject: str
    predicate: str
    object: str | None = None
    value: str | None = None
    confidence: float = 1.0
    status: FactStatus = "staged"
    source: str = "user_edit"
    source_ref: str | None = None
    provenance: str = "explicit"
    tags: tuple[str, ...] = ()
    access_count: int = 0
    last_accessed: int | None = None
    created: int = 0
    valid_from: int | None = None
    valid_until: int | None = None
    superseded_by: str | None = None
    stated_from: int | None = None
    stated_until: int | None = None
    stated_status: FactStatus | None = None
    restated: int | None = None


@dataclass(frozen=True, slots=True)
class Note:
    """A remark on a node or an edge that may expire."""

    id: str
    target: str
    text: str
    on: Literal["node", "edge"] = "node"
    created: int = 0
    expires: int | None = None


@dataclass(frozen=True, slots=True)
class Mention:
    """A source names a node, at the source's own time. One per (source, node)."""

    source: str
    node: str
    at: int


@dataclass(frozen=True, slots=True)
class Link:
    """An atom's reference to a name: a `[[wikilink]]` or a proper name found in its text.

    It becomes an edge while the name resolves to a node, and waits while it does not.
    """

    src: str
    norm: str
    display: str
    kind: LinkKind


@dataclass(frozen=True, slots=True)
class SourceFile:
    """What is known of an ingested file, so that an unchanged one is skipped without reading it."""

    path: str
    size: int
    mtime_ns: int
    hash: str
    ingested: int


@dataclass(frozen=True, slots=True)
class Tombstone:
    """What a forgotten memory leaves: a hash, no content."""

    hash: str
    at: int


@dataclass(frozen=True, slots=True)
class Version:
    """What a node said before it was corrected at `at`: history, never an answer."""

    id: str
    at: int
    name: str | None
    text: str


@dataclass(frozen=True, slots=True)
class Where:
    """Filters that hold in every phase of a recall. Empty means no restriction. `saying`: not what is only a name."""

    tags: tuple[str, ...] = ()
    buckets: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    since: int | None = None
    until: int | None = None
    quarantined: bool = False
    archived: bool = False
    saying: bool = False

    def admits(self, node: Node) -> bool:
        """Whether all filters let a node through."""
        return (
            set(self.tags) <= set(node.tags)
            and (not self.buckets or not set(self.buckets).isdisjoint(node.buckets))
            and (not self.kinds or node.kind in self.kinds)
            and (self.since is None or node.at >= self.since)
            and (self.until is None or node.at <= self.until)
            and (self.quarantined or node.provenance != "quarantine")
            and (self.archived or node.life.state != "archived")
            and (not self.saying or node.text != "" or node.kind == "source")
        )

    def finds(self, node: Node) -> bool:
        """Whether a search gives a node: what dreams tell of others only where its kind is asked for."""
        return self.admits(node) and (bool(self.kinds) or node.kind not in DERIVED)


@dataclass(frozen=True, slots=True)
class TextQuery:
    """A text search: words are OR-ed, phrases must match; `prefix` completes the last word, `fuzzy` forgives typos.

    `mend` forgives them only in words that no memory has.
    """

    words: str
    phrases: tuple[str, ...] = ()
    prefix: bool = False
    fuzzy: bool = False
    mend: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """One row of a text or vector search. `factor` is what the node's provenance multiplied the score by.

    `node` is there where it was asked for; `key` is the engine's own number for it, where it has one.
    """

    id: str
    score: float
    boosted: bool = False
    factor: float = 1.0
    node: Node | None = None
    key: int | None = None


class Label(NamedTuple):
    """A tag or a bucket, as what joins nodes: tags match tags, buckets match buckets.

    A tuple, because a walk looks labels up all the time, and a tuple is hashed ten times faster than a dataclass.
    """

    what: Literal["tag", "bucket"]
    name: str


@dataclass(frozen=True, slots=True)
class Foothold:
    """Where a walk starts: an anchor, with the labels that lead on from it, and the engine's own number for it."""

    id: str
    labels: tuple[Label, ...]
    at: int = 0
    simhash: int | None = None
    key: int | None = None


@dataclass(frozen=True, slots=True)
class WalkQuery:
    """A walk along labels, away from the footholds, to nodes that match no word of `unlike`."""

    footholds: tuple[Foothold, ...]
    unlike: TextQuery
    rank: Rank = "idf"


@dataclass(frozen=True, slots=True)
class Walked:
    """A node that a walk came to."""

    node: Node
    score: float


@dataclass(frozen=True, slots=True)
class Walk:
    """What a walk found, the best first, and how much each label of its footholds tells."""

    found: tuple[Walked, ...] = ()
    idfs: Mapping[Label, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Neighbour:
    """One step along an edge, seen from the node it was asked for."""

    id: str
    edge: str
    kind: str
    weight: float | None
    tags: tuple[str, ...]
    outgoing: bool


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """The strongest edges of a node and its degree (all incident edges; a self-loop counts once)."""

    degree: int
    neighbours: tuple[Neighbour, ...]


@dataclass(frozen=True, slots=True)
class Hop:
    """One step of energy: from where to where along which edge, and how much arrived. `weight` is None if unknown."""

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
    """The way energy took from a seed to where it ended."""

    hops: tuple[Hop, ...]

    @property
    def ids(self) -> tuple[str, ...]:
        """The nodes on the way, the seed first."""
        return (self.hops[0].src, *(hop.dst for hop in self.hops)) if self.hops else ()


@dataclass(frozen=True, slots=True)
class Activation:
    """Where the energy of one seed went: paths, in the order in which they ended, and how that came to its end.

    `seed_not_found`: no node in sight has the id. `failed`: the engine did, `error` says how. `cancelled`: it was told
    to stop. What had ended by then is there.
    """

    seed: str
    score: float
    reason: End
    paths: tuple[Path, ...] = ()
    error: str | None = None
    tags: tuple[str, ...] = ()

    @property
    def depth(self) -> int:
        """The hops of the longest path."""
        return max((len(path.hops) for path in self.paths), default=0)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
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
    """A hop as plain data for people and programs."""
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
class Budget:
    """How much may be rendered, in characters or in tokens. Give one."""

    chars: int | None = None
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """A remembered node, its score, and why it is here (data, not prose)."""

    node: Node
    score: float
    why: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Attempt:
    """One way in which a cue was read, and how much that found.

    None: it was not searched for, because it cannot find more than one before it.
    """

    name: str
    query: TextQuery
    found: int | None


@dataclass(frozen=True, slots=True)
class Recollection:
    """The answer to a cue: text within the budget, the hits it was made of, and what to know about it.

    `anchors` are what the cue found, `walkers` what was reached from them; two lists, each in its own order. `attempt`
    says how the cue had to be read to find them: as it is ("full"), or one of the others in `attempts`.
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

    def is_direct(self, hit: Hit) -> bool:
        """Whether the cue itself found this hit, and not a way from something else."""
        return bool(hit.why.get("direct", any(hit.node.id == one.node.id for one in self.anchors)))

    @property
    def hits(self) -> tuple[Hit, ...]:
        """The anchors, then the walkers."""
        return self.anchors + self.walkers

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON, the same in the CLI, REST and MCP."""
        return {
            "cue": self.cue,
            "text": self.text,
            "answerable": self.answerable,
            "looked_for": list(self.looked_for),
            "notices": list(self.notices),
            "attempt": self.attempt,
            "attempts": [{"name": a.name, "words": a.query.words, "found": a.found} for a in self.attempts],
            "anchors": [hit.node.id for hit in self.anchors],
            "walkers": [hit.node.id for hit in self.walkers],
            "hits": [
                {"node": node_dict(h.node), "score": h.score, "direct": self.is_direct(h), "why": dict(h.why)}
                for h in self.hits
            ],
        }


def node_dict(node: Node) -> dict[str, Any]:
    """A node as plain data for people and programs."""
    return {
        "id": node.id, "kind": node.kind, "name": node.name, "text": node.text, "aliases": list(node.aliases),
        "tags": list(node.tags), "buckets": list(node.buckets), "source": node.source, "seq": node.seq, "at": node.at,
        "provenance": node.provenance, "props": dict(node.props), "state": node.life.state,
        "salience": node.life.salience,
    }  # fmt: skip


def fact_dict(fact: Fact) -> dict[str, Any]:
    """A fact as plain data for people and programs."""
    return {**{name: getattr(fact, name) for name in fact.__slots__}, "tags": list(fact.tags)}


@dataclass(frozen=True, slots=True)
class FileError:
    """A file that could not be taken in, and why."""

    path: str
    error: str


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What an ingest did. `added + kept` atoms are now there; `forgotten` ones stayed away.

    `cut` atoms came in without sentences that were forgotten; `left_out` are the files that had any of these.
    """

    files: int = 0
    unchanged_files: int = 0
    removed_files: int = 0
    added: int = 0
    kept: int = 0
    removed: int = 0
    merged: int = 0
    forgotten: int = 0
    cut: int = 0
    edges: int = 0
    left_out: tuple[str, ...] = ()
    errors: tuple[FileError, ...] = ()
    notices: tuple[str, ...] = ()


PASSES = (
    "temporal", "auto_tags", "infection", "mentions", "cooccurrence", "episodes", "consolidation", "storylines",
    "macros", "decay", "note_expiry", "facts", "mirror",
)  # fmt: skip
"""The passes of a dream by name, in the order in which they run."""


@dataclass(frozen=True, slots=True)
class PassReport:
    """What one pass of a dream did: nodes read, tags, edges and nodes written and removed.

    `changes` are the first of these, in words, if it was a dry run. `problems` say what it could not do.
    """

    name: str
    read: int = 0
    wrote: int = 0
    removed: int = 0
    seconds: float = 0.0
    changes: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DreamReport:
    """What a dream did, pass by pass. `skipped`: another one was at work, so this one did nothing."""

    passes: tuple[PassReport, ...] = ()
    skipped: bool = False
    dry_run: bool = False
    seconds: float = 0.0
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts of what this scope can see. `narratives`: how often this process could tell one again, and could not."""

    nodes: int
    edges: int
    facts: int
    notes: int
    mentions: int
    vectors: int
    tombstones: int
    kinds: Mapping[str, int]
    tags: int
    buckets: Mapping[str, int]
    embedder: str | None
    schema: int
    narratives: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing `doctor` found. `fix` says what to do or what was done."""

    check: str
    problem: str
    fix: str
