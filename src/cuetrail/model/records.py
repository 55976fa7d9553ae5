"""The records a memory stores, as frozen dataclasses, and the filter on them.

Times are UTC integer milliseconds. Ids are strings that the caller chose or that `model.ids` derived from content.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, make_dataclass, replace
from functools import lru_cache, partial
from typing import Any, Literal, NamedTuple, TypeVar

from cuetrail.text.normalise import snippet

Provenance = Literal["internal", "external", "quarantine"]
Origin = Literal["user", "auto", "temporal", "infected"]
State = Literal["candidate", "active", "core", "archived"]
Retention = Literal["decay", "ephemeral", "keep_forever"]
FactProvenance = Literal["explicit", "inference", "import"]
FactStatus = Literal["staged", "confirmed", "superseded", "retracted"]
LinkKind = Literal["wikilink", "name"]


REPR_CHARS = 60
"""The most characters of a text in a `repr`."""

DATE_ONLY = "day"
"""The property of an atom whose time is a date that was stated without a time of day."""

FROM_FILE = "from_file"
"""The property of a source node that lists the tags, buckets, aliases and properties its file states.

Everything else on the nodes of that source was added by users or by dreams.
"""

TITLE, HEADING, ALIASES = "title", "heading", "aliases"
"""Properties of a passage: the title of its note, the headings above it ("A › B"), and other titles of the note."""

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
    """The importance of a memory (`salience`), how often it was used, and how fast it decays.

    Times are in milliseconds. `interval` is the time between the last two accesses. A higher `gradient` slows decay of
    memories that are used often. `state` depends on use; archived memories are hidden unless asked for.
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


NEXT_IN_SOURCE = -(2**62)
"""The `seq` of a node that gets the next position in its source when it is stored. No caller can pass it."""


@dataclass(frozen=True, slots=True)
class Node:
    """One memory: an atom (a piece of text), a person, a concept, a source (a file), a storyline.

    The first bucket is the primary one. `seq` is the position in the source; NEXT_IN_SOURCE asks for the next one.
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

    def __repr__(self) -> str:
        """Returns what tells the node from others: id, kind, name and the beginning of its text."""
        name = f", name={self.name!r}" if self.name is not None else ""
        text = f", text={snippet(self.text, REPR_CHARS)!r}" if self.text else ""
        return f"Node(id={self.id!r}, kind={self.kind!r}{name}{text})"

    @property
    def tags(self) -> tuple[str, ...]:
        """Returns the normalised names of all tags, in the order given."""
        return tuple(tag.name for tag in self.tag_details)

    @property
    def own_tags(self) -> tuple[str, ...]:
        """Returns the names of the tags that people gave, in a file or by a call."""
        return tuple(tag.name for tag in self.tag_details if tag.origin == "user")

    @property
    def automatic_tags(self) -> tuple[str, ...]:
        """Returns the names of the tags that a rule gave: from the path, the time or the text."""
        return tuple(tag.name for tag in self.tag_details if tag.origin != "user")


@dataclass(frozen=True, slots=True)
class Edge:
    """A link from the node `src` to the node `dst`; activation follows it both ways, a traversal can be limited to one.
    `weight` None counts as UNKNOWN_WEIGHT.

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

    `valid_from`, `valid_until` and `status` are computed from all facts of the same subject and predicate.
    `stated_from`, `stated_until` and `stated_status` keep what was stated, where that differs. `restated` is the time
    of the last restatement.
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

    def __repr__(self) -> str:
        """Returns the statement, its status and its id."""
        value = (
            f"object={self.object!r}" if self.object is not None else f"value={snippet(self.value or '', REPR_CHARS)!r}"
        )
        said = f"subject={self.subject!r}, predicate={self.predicate!r}, {value}"
        return f"Fact(id={self.id!r}, {said}, status={self.status!r})"


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


SEMANTIC_ROLES: Mapping[str, str] = {
    "person": "person",
    **dict.fromkeys(("concept", "decision", "preference"), "concept"),
    **dict.fromkeys(("entity", "project", "file", "conversation"), "entity"),
}
"""What nodes of each of these kinds count as in explorations and relationships."""

SEMANTIC_KINDS = tuple(SEMANTIC_ROLES)
"""The kinds of nodes that represent people and things. All other kinds record what happened."""

STORYLINE_KINDS = ("storyline", "macro")
"""Kinds of nodes that dreams write about other memories. A search returns them only if their kind is asked for."""


@dataclass(frozen=True, slots=True)
class Where:
    """Filters that apply in every stage of a recall. An empty filter does not restrict.

    A node must have all `tags`, one of the `buckets` and one of the `kinds`. `quarantined` and `archived` include nodes
    that are otherwise hidden. `with_text` excludes nodes without text, except sources. `props` are names of properties,
    each with its value as JSON: a node must have them all, at the top or nested.
    """

    tags: tuple[str, ...] = ()
    buckets: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    since: int | None = None
    until: int | None = None
    quarantined: bool = False
    archived: bool = False
    with_text: bool = False
    props: tuple[tuple[str, str], ...] = ()

    def admits(self, node: Node) -> bool:
        """True if a node passes all filters."""
        return (
            set(self.tags) <= set(node.tags)
            and (not self.buckets or not set(self.buckets).isdisjoint(node.buckets))
            and (not self.kinds or node.kind in self.kinds)
            and (self.since is None or node.at >= self.since)
            and (self.until is None or node.at <= self.until)
            and (self.quarantined or node.provenance != "quarantine")
            and (self.archived or node.life.state != "archived")
            and (not self.with_text or node.text != "" or node.kind == "source")
            and (not self.props or self.admits_props(node))
        )

    def admits_props(self, node: Node) -> bool:
        """True if the node has the properties that are asked for."""
        return not self.props or set(self.props) <= set(_pairs(node.props))

    def finds(self, node: Node) -> bool:
        """True if a search may return a node. Storylines and macros (their summaries) only if `kinds` names them."""
        return self.admits(node) and (bool(self.kinds) or node.kind not in STORYLINE_KINDS)


def _pairs(value: object) -> Iterator[tuple[str, str]]:
    """Yields the properties in a value, also nested ones, each with its value as JSON; those that are lists or mappings
    only with what is in them.
    """
    if isinstance(value, Mapping):
        for name, one in value.items():
            if not isinstance(one, Mapping | list | tuple):
                yield str(name), json.dumps(one, ensure_ascii=False)
        yield from (pair for one in value.values() for pair in _pairs(one))
    elif isinstance(value, list | tuple):
        yield from (pair for one in value for pair in _pairs(one))


def labels_of(node: Node) -> list[Label]:
    """Returns the labels that connect a node to others: its tags, except temporal ones, and its buckets, each once."""
    labels = [_tag_label(tag.name) for tag in node.tag_details if tag.origin != "temporal"]
    labels += [_bucket_label(bucket) for bucket in node.buckets]
    return labels if len(set(labels)) == len(labels) else list(dict.fromkeys(labels))


_tag_label = lru_cache(1 << 14)(partial(Label, "tag"))
_bucket_label = lru_cache(1 << 10)(partial(Label, "bucket"))


# --- fast construction, for the few functions that make thousands of records

T = TypeVar("T")


def maker(cls: type[T], *names: str) -> Callable[..., T]:
    """Returns a function that makes instances of a frozen dataclass with slots, five times as fast as its constructor.

    That function takes the values of the fields in `names`, or of all fields, in this order. The constructor of a
    frozen dataclass sets each field by a slow call. Here an unfrozen twin is filled and then changes its class.

    >>> from cuetrail.model import Tag
    >>> make = maker(Tag, "display", "name")
    >>> make("Rain", "rain")
    Tag(name='rain', display='Rain', origin='user')
    >>> make("Rain", "rain").name = "snow"
    Traceback (most recent call last):
    dataclasses.FrozenInstanceError: cannot assign to field 'name'
    """
    known: dict[str, Field[Any]] = {one.name: one for one in fields(cls)}  # type: ignore[arg-type]  # it is a dataclass
    wanted = names or tuple(known)
    others = [(name, Any, _default(one)) for name, one in known.items() if name not in wanted]
    twin: Any = make_dataclass(f"Open{cls.__name__}", [*((name, Any) for name in wanted), *others], slots=True)

    def make(*values: Any) -> T:
        made = twin(*values)
        made.__class__ = cls
        return made  # type: ignore[no-any-return]  # its class is now T

    return make


def _default(one: Field[Any]) -> Any:
    """Returns a field with the same default as the given one."""
    return field(default=one.default) if one.default is not MISSING else field(default_factory=one.default_factory)


# --- quarantine

FORMER = "quarantined_from"
"""The property that holds a node's provenance from before its quarantine."""


def into_quarantine(node: Node) -> Node:
    """Returns the node in quarantine; unchanged if it is there already."""
    if node.provenance == "quarantine":
        return node
    return replace(node, provenance="quarantine", props={**node.props, FORMER: node.provenance})


def out_of_quarantine(node: Node) -> Node:
    """Returns the node with its provenance from before the quarantine; external if that is unknown."""
    if node.provenance != "quarantine":
        return node
    provenance: Provenance = "internal" if node.props.get(FORMER) == "internal" else "external"
    return replace(node, provenance=provenance, props={k: v for k, v in node.props.items() if k != FORMER})
