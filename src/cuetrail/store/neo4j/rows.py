"""Conversion between records and properties on the server: the layout of each record, and the search words of a node.

A property that is None is absent. Props are JSON, because the server has no maps; every other field is stored directly.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import xxhash

from cuetrail.formulas import bands
from cuetrail.model import NEW_LIFE, STORYLINE_KINDS, Edge, Fact, Life, Node, Tag
from cuetrail.model.searched_fields import searched_heading, searched_title
from cuetrail.store.shared.fact_fields import ACTIVE, until
from cuetrail.store.shared.stored_values import pack, signed, unsigned
from cuetrail.store.vector_space import vector_kind
from cuetrail.text.normalise import indexed_terms, searchable_text, terms_of, unique_terms

Props = dict[str, Any]

LIFE = ("salience", "state", "confidence", "accesses", "last_access", "last_decay", "interval", "gradient", "retention")
REAL = frozenset(("salience", "confidence", "gradient", "weight"))
EDGE = (
    "id", "kind", "weight", "tags", "text", "type", "attitude", "proximity", "confidence", "via", "props", "created",
    "updated", "valid_from", "valid_until",
)  # fmt: skip
# All properties of an edge except those only searches need.
EDGE_MAP = f"e {{.uid, .part, {', '.join(f'.{name}' for name in EDGE)}}}"
FACT = (
    "id", "predicate", "value", "confidence", "status", "source", "source_ref", "provenance", "tags", "access_count",
    "last_accessed", "created", "valid_from", "valid_until", "superseded_by", "stated_from",
    "stated_until", "stated_status", "restated",
)  # fmt: skip
# All properties of a node except those only searches need, which may be as long as the text.
NODE = (
    "n {.key, .part, .id, .kind, .name, .text, .aliases, .tags, .tag_shows, .tag_origins, .buckets, .source, .seq, .at,"
    " .provenance, .simhash, .props, .created, .updated, .valid_from, .valid_until, .check, .salience, .state,"
    " .confidence, .accesses, .last_access, .last_decay, .interval, .gradient, .retention}"
)

# The server's indexes hold no value of more than eight thousand bytes.
LONGEST = 3_500


def short(text: str) -> str:
    """Returns the text; if it is too long for an index, its beginning and a digest."""
    if len(text) * 4 <= LONGEST or len(text.encode()) <= LONGEST:
        return text
    return f"{text[:100]}\x1f{hashlib.blake2b(text.encode(), digest_size=16).hexdigest()}"


def uid(part: int, *texts: str) -> str:
    """Returns an identifier, unique in the whole database, made of a partition's number and one or several texts."""
    return f"{part}:" + "\x1f".join(map(short, texts))


def unpack(packed: str | None) -> Props:
    """Returns the value of a JSON text, {} for None: the inverse of `pack`."""
    found: Props = json.loads(packed) if packed else {}
    return found


def _fields(record: Life | Edge | Fact, names: Sequence[str]) -> Props:
    """Returns fields of a record by name. Real numbers become floats, because the server distinguishes 1 from 1.0."""
    found = {name: getattr(record, name) for name in names}
    return {name: float(value) if name in REAL and value is not None else value for name, value in found.items()}


def node_props(node: Node, key: int, part: int) -> Props:
    """Returns a node's properties, with the search words made from it; without its usage record and its vectors."""
    parts: Sequence[int | None] = bands(node.simhash) if node.simhash is not None else (None, None, None)
    return {
        "key": key,
        "uid": uid(part, node.id),
        "ref": short(node.id),
        "part": part,
        "id": node.id,
        "kind": node.kind,
        "name": node.name,
        "text": node.text,
        "aliases": list(node.aliases) or None,
        **label_props(node.tag_details, node.buckets),
        "source": node.source,
        "file": short(node.source) if node.source is not None else None,
        "seq": node.seq,
        "at": node.at,
        "provenance": node.provenance,
        "simhash": None if node.simhash is None else signed(node.simhash),
        **{f"band{number}": value for number, value in enumerate(parts)},
        "props": pack(node.props),
        "created": node.created,
        "updated": node.updated,
        "valid_from": node.valid_from,
        "valid_until": node.valid_until,
        "silent": True if is_silent(node) else None,
        "check": check_sum(node),
        "body": " ".join(terms_of(searchable_text(node.name, node.aliases, node.text))),
        **field_props(node.name, node.aliases, node.props),
        "marks": marks(node, key, part),
        "moment": moment(node.at),
    }


def field_props(name: str | None, aliases: Sequence[str], props: Mapping[str, Any]) -> Props:
    """Returns the search words of a node's titles and headings, as properties."""
    title, heading = searched_title(name, aliases, props), searched_heading(props)
    return {"title": indexed_terms(title), "heading": indexed_terms(heading)}


def label_props(tags: Sequence[Tag], buckets: Sequence[str]) -> Props:
    """Returns the properties for tags and buckets, and their search words."""
    words = terms_of(" ".join((*(tag.name for tag in tags), *buckets)))
    return {
        "tags": [tag.name for tag in tags] or None,
        "tag_shows": [tag.display for tag in tags] or None,
        "tag_origins": [tag.origin for tag in tags] or None,
        "buckets": list(buckets) or None,
        "labels": " ".join(words) or None,
    }


def is_silent(node: Node) -> bool:
    """True if a tag walk cannot show the node, because it has no text or is only a heading."""
    return not node.text or bool(node.props.get("level"))


def life_props(life: Life) -> Props:
    """Returns a node's usage record as properties; for a new node all are None, that is absent."""
    return dict.fromkeys(LIFE) if life == NEW_LIFE else _fields(life, LIFE)


def to_node(found: Props, whose: tuple[str, str | None]) -> Node:
    """Converts the map NODE, read from the server, to a node; `whose` is the owner and team of its partition."""
    shows, origins = found["tag_shows"] or (), found["tag_origins"] or ()
    return Node(
        id=found["id"],
        kind=found["kind"],
        name=found["name"],
        text=found["text"],
        aliases=tuple(found["aliases"] or ()),
        tag_details=tuple(map(Tag, found["tags"] or (), shows, origins)),
        buckets=tuple(found["buckets"] or ()),
        source=found["source"],
        seq=found["seq"],
        at=found["at"],
        provenance=found["provenance"],
        simhash=None if found["simhash"] is None else unsigned(found["simhash"]),
        props=unpack(found["props"]),
        created=found["created"],
        updated=found["updated"],
        valid_from=found["valid_from"],
        valid_until=found["valid_until"],
        owner=whose[0],
        team=whose[1],
        life=NEW_LIFE if found["state"] is None else Life(*(found[name] for name in LIFE)),
    )


def check_sum(node: Node, tags: Iterable[Tag] | None = None) -> int:
    """Returns a checksum of a node, with `tags` in place of its own if given. It differs if anything changes that a
    mirror of the node shows.
    """
    labels = [(tag.name, tag.display, tag.origin) for tag in (node.tag_details if tags is None else tags)]
    said = (
        node.id, node.kind, node.name, node.text, node.aliases, labels, node.buckets, node.seq, node.at,
        node.provenance, pack(node.props), node.updated,
    )  # fmt: skip
    return signed(xxhash.xxh3_64_intdigest(repr(said).encode("utf-8", "surrogatepass")))


# --- search words


@lru_cache(maxsize=65536)
def mark(kind: str, name: str) -> str:
    """Returns a word that stands for a kind, tag or bucket in the text index: a letter and a hash of the name."""
    return kind + hashlib.blake2b(name.encode(), digest_size=10).hexdigest()


def marks(node: Node, key: int, part: int, tags: Iterable[Tag] | None = None) -> str:
    """Returns the words by which searches filter a node: its partition, key, kind, tags, buckets, and what hides it.
    `tags` replace the node's own if given.
    """
    found = [f"p{part}", f"n{key}", mark("k", node.kind)]
    found += [mark("t", tag.name) for tag in (node.tag_details if tags is None else tags)]
    found += [mark("b", bucket) for bucket in node.buckets]
    if node.provenance != "internal":
        found.append("xexternal")
    if node.provenance == "quarantine":
        found.append("xquarantine")
    if node.kind in STORYLINE_KINDS:
        found.append("xderived")
    if not node.text and node.kind != "source":
        found.append("xbare")
    if node.life.state == "archived":
        found.append("xarchived")
    return " ".join(found)


def moment(at: int) -> str:
    """Returns a time as a text of 20 digits, so that texts sort like times."""
    return f"{min(max(at, -(1 << 63)), (1 << 63) - 1) + (1 << 63):020d}"


# --- edges and facts


def edge_props(edge: Edge, part: int) -> Props:
    """Returns an edge's properties, without its two nodes."""
    found = _fields(edge, EDGE)
    return {
        **found, "tags": list(edge.tags) or None, "props": pack(edge.props), "part": part, "uid": uid(part, edge.id),
        "words": " ".join(unique_terms(edge.type or "", edge.text)) if edge.via is None else None,
        "described": part if vector_kind(edge) else None,
    }  # fmt: skip


def to_edge(found: Props, src: str, dst: str) -> Edge:
    """Converts properties read from the server to an edge between two nodes, given by their ids."""
    given = {name: found.get(name) for name in EDGE}
    tags, props = tuple(given["tags"] or ()), unpack(given["props"])
    fields: Props = {**given, "src": src, "dst": dst, "tags": tags, "props": props}
    return Edge(**fields)


def fact_props(fact: Fact, part: int) -> Props:
    """Returns a fact's properties, without its subject and object."""
    found = _fields(fact, FACT)
    tags = list(fact.tags) or None
    return {**found, "tags": tags, "part": part, "uid": uid(part, fact.id), "rank": rank(fact)}


def rank(fact: Fact) -> str:
    """Returns a sort key for the facts of one entity: active facts by confidence, highest first, then newer, then by
    id; ended ones by their end.

    >>> rank(Fact("a", "s", "p", confidence=0.9)) < rank(Fact("a", "s", "p", confidence=0.8))
    True
    """
    if fact.status not in ACTIVE:
        return moment(until(fact))
    # The bits of non-negative floats sort like the numbers.
    (bits,) = struct.unpack(">Q", struct.pack(">d", fact.confidence))
    return f"{2**64 - 1 - bits:016x}{2**63 - 1 - fact.created:016x}{short(fact.id)}"


def to_fact(found: Props, subject: str, object_: str | None) -> Fact:
    """Converts properties read from the server to a fact about nodes, given by their ids."""
    given = {name: found.get(name) for name in FACT}
    fields: Props = {**given, "subject": subject, "object": object_, "tags": tuple(given["tags"] or ())}
    return Fact(**fields)
