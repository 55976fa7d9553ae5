"""The records a memory stores, as frozen dataclasses.

Times are UTC integer milliseconds. Ids are strings that the caller chose or that `model.ids` derived from content.
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
LinkKind = Literal["wikilink", "name"]


DATE_ONLY = "day"
"""The property of an atom whose time is a date that was stated without a time of day."""

FROM_FILE = "from_file"
"""The property of a source node that lists the tags, buckets, aliases and properties its file states.

Everything else on the nodes of that source was added by users or by dreams.
"""

UNKNOWN_WEIGHT = 0.01
"""The weight used for an edge whose weight is None."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The tenant, the user and the user's teams. A record is visible if the tenant is the same and the user or one of
    the teams owns it.

    New records belong to the team `share`; None makes them private.
    """

    tenant: str = "default"
    user: str = "me"
    teams: tuple[str, ...] = ()
    share: str | None = None


@dataclass(frozen=True, slots=True)
class Tag:
    """One tag on a node: its normalised name, its spelling as given, and its origin (a user or a rule)."""

    name: str
    display: str
    origin: Origin = "user"


@dataclass(frozen=True, slots=True)
class Life:
    """The importance of a memory, how often it was used, and how fast it decays.

    Times are in milliseconds. `interval` is the time between the last two accesses. A higher `gradient` slows decay of
    memories that are used often.
    """

    salience: float = 0.5
    state: State = "candidate"
    confidence: float = 1.0
    accesses: int = 0
    last_access: int | None = None
    last_decay: int | None = None
    interval: int | None = None
    gradient: float = 1.0
    retention: Retention = "decay"


# One shared object: most nodes have exactly this life, and comparing by identity is fast.
NEW_LIFE = Life()


@dataclass(frozen=True, slots=True)
class Node:
    """One memory: an atom (a piece of text), a person, a concept, a source (a file), a storyline.

    The first bucket is the primary one. `seq` is the position in the source.
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
    life: Life = NEW_LIFE
    created: int = 0
    updated: int = 0
    valid_from: int | None = None
    valid_until: int | None = None
    owner: str = "me"
    team: str | None = None

    @property
    def tags(self) -> tuple[str, ...]:
        """Returns the normalised tag names in the order given."""
        return tuple(tag.name for tag in self.tag_details)


@dataclass(frozen=True, slots=True)
class Edge:
    """A link between two nodes, followed in both directions. `weight` None counts as UNKNOWN_WEIGHT.

    `via` names the rule that created the edge; None if a caller added it.
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
    """Subject, predicate, and either an object node or a literal value.

    `valid_from`, `valid_until` and `status` follow from all facts of the timeline. `stated_from`, `stated_until` and
    `stated_status` keep what was stated, where that differs. `restated` is the time of the last restatement.
    """

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
    """A remark on a node or an edge. It is removed after `expires`, if that is set."""

    id: str
    target: str
    text: str
    on: Literal["node", "edge"] = "node"
    created: int = 0
    expires: int | None = None


@dataclass(frozen=True, slots=True)
class Mention:
    """A source that names a node, with the time of the source. There is one per source and node."""

    source: str
    node: str
    at: int


@dataclass(frozen=True, slots=True)
class Link:
    """A reference from an atom to a name: a `[[wikilink]]` or a proper name in its text.

    While the name resolves to a node, an edge leads there. `norm` is the normalised name.
    """

    src: str
    norm: str
    display: str
    kind: LinkKind


@dataclass(frozen=True, slots=True)
class SourceFile:
    """Size, time and hash of an ingested file, so that an unchanged file is skipped without reading it."""

    path: str
    size: int
    mtime_ns: int
    hash: str
    ingested: int


@dataclass(frozen=True, slots=True)
class Tombstone:
    """The hash of a forgotten text. It keeps the text from being added again, without storing it."""

    hash: str
    at: int


@dataclass(frozen=True, slots=True)
class Version:
    """Name and text of a node before it was corrected at `at`. Recall never returns it."""

    id: str
    at: int
    name: str | None
    text: str


class Label(NamedTuple):
    """A tag or a bucket that connects nodes. A tag and a bucket of the same name are two labels.

    It is a tuple, because walks hash labels often and a tuple is hashed ten times as fast as a dataclass.
    """

    what: Literal["tag", "bucket"]
    name: str
