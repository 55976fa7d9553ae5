"""Conversion between rows and dataclasses: the layout of each record in its table."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import xxhash

from cuetrail.model import NEW_LIFE, Edge, Fact, Life, Node, Tag
from cuetrail.model.records import maker
from cuetrail.store.shared.stored_values import GIVEN, TWO64, pack, signed

# The number of unpacked tags to cache.
KEPT_TAGS = 1 << 16
_node = maker(Node)
_GROUP, _ITEM, _IN = "\x1d", "\x1e", "\x1f"
_SEPARATORS = re.compile(f"[{_GROUP}{_ITEM}{_IN}]")

NODE = """SELECT n.key, n.part, n.id, n.kind, n.name, n.text, n.check_sum, n.aliases, n.labels, s.path, n.seq, n.at,
  n.provenance, n.simhash, n.props, n.created, n.updated, n.valid_from, n.valid_until, p.owner, p.team,
  l.salience, l.state, l.confidence, l.accesses, l.last_access, l.last_decay, l.interval, l.gradient, l.retention,
  l.check_sum FROM nodes n JOIN parts p ON p.part = n.part LEFT JOIN sources s ON s.source = n.source
  LEFT JOIN life l ON l.key = n.key"""
LIFE = "salience, state, confidence, accesses, last_access, last_decay, interval, gradient, retention"
"""The columns of `life`, the usage of nodes: a node has a row only once its usage differs from that of a new node."""
PUT_LIFE = "INSERT OR REPLACE INTO life VALUES (?,?,?,?,?,?,?,?,?,?,?)"

INSERT_NODE = "INSERT INTO nodes VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
REPLACE_NODE = INSERT_NODE.replace("INSERT", "INSERT OR REPLACE")

EDGE = """SELECT e.key, e.part, e.id, a.id, b.id, e.kind, e.weight, e.tags, e.text, e.type, e.attitude, e.proximity,
  e.confidence, e.via, e.props, e.created, e.updated, e.valid_from, e.valid_until, e.src, e.dst,
  e.check_sum FROM edges e JOIN nodes a ON a.key = e.src JOIN nodes b ON b.key = e.dst"""
INSERT_EDGE = "INSERT OR REPLACE INTO edges VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"

FACT = """SELECT f.key, f.part, f.id, a.id, f.predicate, b.id, f.value, f.confidence, f.status, f.source, f.source_ref,
  f.provenance, f.tags, f.access_count, f.last_accessed, f.created, f.valid_from, f.valid_until, f.superseded_by,
  f.subject, f.object, f.stated_from, f.stated_until, f.stated_status, f.restated, f.check_sum
  FROM facts f JOIN nodes a ON a.key = f.subject LEFT JOIN nodes b ON b.key = f.object"""
INSERT_FACT = "INSERT OR REPLACE INTO facts VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"


def hash64(data: bytes) -> int:
    """Returns a 64-bit hash of bytes, as the signed number that SQLite can store."""
    return int.from_bytes(xxhash.xxh3_64_digest(data), "big", signed=True)


class RowDamaged(ValueError):
    """Raised for a row that differs from its checksum. `connection.explained` turns it into CorruptMemory."""


def row_sum(row: Iterable[Any]) -> int:
    """Returns the checksum of a row, given without its column `check_sum`: a 64-bit hash. Rows of `nodes` and of the
    tables of vectors have other checksums.

    A number has the same hash as integer and as float, because the type depends on the column.
    """
    said = "\0".join([str(value) if value.__class__ is not float else _number(value) for value in row])
    return hash64(said.encode())


def _number(value: float) -> str:
    return str(int(value)) if value.is_integer() else repr(value)


def vector_sum(key: int, vector: Any) -> int:
    """Returns the checksum of a row of a table of vectors. In a damaged row `vector` may not be bytes."""
    return hash64(b"%d\0" % key + vector) if isinstance(vector, bytes) else row_sum((key, vector))


def summed(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """Returns a row with its checksum as the last column."""
    return (*row, row_sum(row))


def verify(table: str, row: Sequence[Any], check_sum: int) -> None:
    """Raises RowDamaged if a row, given without its checksum, differs from it."""
    if row_sum(row) != check_sum:
        raise RowDamaged(f"a row of {table} changed on disk")


def verified_vectors(found: Iterable[tuple[int, bytes, int]]) -> list[tuple[int, bytes]]:
    """Returns (key, vector) of rows of a table of vectors. Raises RowDamaged if one differs from its checksum."""
    kept = []
    for key, vector, check_sum in found:
        if vector_sum(key, vector) != check_sum:
            raise RowDamaged("a vector changed on disk")
        kept.append((key, vector))
    return kept


def check_sum(row: Sequence[Any]) -> int:
    """Returns the checksum of a node's row, a 64-bit hash of all columns but the source; it detects bits that flip on
    disk.

    `row` has the columns of `nodes` or of the NODE query.
    """
    key, part, id_, kind, name, text, _, aliases, labels, _, *rest = row[:19]
    said = f"{key}\0{part}\0{id_}\0{kind}\0{name}\0{text}\0{aliases}\0{labels}\0{_listed(*rest)}"
    return hash64(said.encode())


def _listed(a: Any, b: Any, text: Any, c: Any, props: Any, d: Any, e: Any, f: Any, g: Any) -> str:
    """Returns the last nine columns of a node's row as Python prints a list, in a third of the time. All but two are
    integers or None.

    >>> print(_listed(1, -2, "internal", None, '{"a":"b"}', 3, 4, None, 5))
    [1, -2, 'internal', None, '{"a":"b"}', 3, 4, None, 5]
    """
    return f"[{a}, {b}, {text!r}, {c}, {props!r}, {d}, {e}, {f}, {g}]"


def relabelled_sums(row: Sequence[Any], labels: str | None) -> tuple[int, int]:
    """Returns the checksums of a node's row with its present labels and with other packed `labels`."""
    key, part, id_, kind, name, text, _, aliases, old, _, *rest = row[:19]
    before = f"{key}\0{part}\0{id_}\0{kind}\0{name}\0{text}\0{aliases}\0".encode()
    after = f"\0{_listed(*rest)}"
    return hash64(before + f"{old}{after}".encode()), hash64(before + f"{labels}{after}".encode())


def pack_labels(tags: tuple[Tag, ...], buckets: tuple[str, ...]) -> str | None:
    """Packs tags and buckets into one text; None if there are none. JSON would take a fifth of the time of writing a
    node.

    A user's tag whose display equals its name is packed as the name, others as name, display and origin. JSON is used
    only if a name is empty or contains a separator; it starts with a bracket, which the other form never does.
    """
    if not tags and not buckets:
        return None
    plain = _packed(tags, _packed_buckets(buckets))
    return plain or json.dumps([[[t.name, t.display, t.origin] for t in tags], buckets], ensure_ascii=False)


def repacked(packed: str | None, tags: tuple[Tag, ...]) -> str | None:
    """Returns a packed label column with other tags and the same buckets; None if it is empty."""
    if packed is not None and packed[0] != "[":
        buckets = packed.rpartition(_GROUP)[2]
        plain = _packed(tags, buckets) if tags or buckets else None
        if plain is not None:
            return plain
    return pack_labels(tags, packed_buckets(packed))


def _packed(tags: tuple[Tag, ...], buckets: str | None) -> str | None:
    """Returns tags packed in front of already packed buckets; None if a name is empty or contains a separator."""
    items = [_packed_tag(tag.name, tag.display, tag.origin) for tag in tags]
    if buckets is None or None in items:
        return None
    return f"{_ITEM.join(items)}{_GROUP}{buckets}"  # type: ignore[arg-type]  # none of them is None


@lru_cache(KEPT_TAGS)
def _packed_tag(name: str, display: str, origin: str) -> str | None:
    if not _is_plain(name) or _SEPARATORS.search(display):
        return None
    return name if display == name and origin == "user" else f"{name}{_IN}{display}{_IN}{origin}"


@lru_cache(KEPT_TAGS)
def _packed_buckets(buckets: tuple[str, ...]) -> str | None:
    return _ITEM.join(buckets) if all(map(_is_plain, buckets)) else None


def _is_plain(name: str) -> bool:
    return name != "" and name[0] != "[" and not _SEPARATORS.search(name)


def unpack_labels(packed: str | None) -> tuple[tuple[Tag, ...], tuple[str, ...]]:
    """Returns the tags and buckets of packed labels: the inverse of `pack_labels`."""
    if packed is None:
        return (), ()
    if packed[0] == "[":
        return tuple(map(unpack_tag, packed_tags(packed))), packed_buckets(packed)
    tags, _, buckets = packed.partition(_GROUP)
    return (tuple(map(unpack_tag, tags.split(_ITEM))) if tags else (), tuple(buckets.split(_ITEM)) if buckets else ())


def given_names(tags: Iterable[Tag], provenance: str) -> set[str]:
    """Returns the names of the tags that people, files or rules gave a node; none if the node is quarantined."""
    return {tag.name for tag in tags if tag.origin in GIVEN} if provenance != "quarantine" else set()


def own_label_names(packed: str | None) -> tuple[list[str], list[str]]:
    """Returns the names of the tags that people gave and of the buckets in packed labels."""
    tags, buckets = unpack_labels(packed)
    return [tag.name for tag in tags if tag.origin == "user"], list(buckets)


def packed_tags(packed: str) -> list[str]:
    """Returns the tags of packed labels as separate texts, for `unpack_tag`; equal tags have equal texts."""
    if packed[0] == "[":
        return [_GROUP + json.dumps(tag) for tag in json.loads(packed)[0]]
    tags = packed.partition(_GROUP)[0]
    return tags.split(_ITEM) if tags else []


def packed_buckets(packed: str | None) -> tuple[str, ...]:
    """Returns the buckets in a packed label column, which has tags and buckets in one text."""
    if packed is None or packed[0] == "[":
        return tuple(label_names(packed)[1])
    buckets = packed.rpartition(_GROUP)[2]
    return tuple(buckets.split(_ITEM)) if buckets else ()


@lru_cache(KEPT_TAGS)
def unpack_tag(item: str) -> Tag:
    """Returns the tag that a text of `packed_tags` stands for. Cached, because few tags occur very often."""
    parts = json.loads(item[1:]) if item.startswith(_GROUP) else item.split(_IN)
    return Tag(parts[0], parts[0]) if len(parts) == 1 else Tag(parts[0], parts[1], parts[2])  # type: ignore[arg-type]  # an origin is what was packed as one


def label_names(packed: str | None) -> tuple[list[str], list[str]]:
    """Returns the names of the tags and of the buckets in a packed label column."""
    if packed is None:
        return [], []
    if packed[0] == "[":
        listed, named = json.loads(packed)
        return [tag[0] for tag in listed], named
    tags, _, buckets = packed.partition(_GROUP)
    names = tags.split(_ITEM) if tags else []
    if _IN in tags:
        names = [name.partition(_IN)[0] for name in names]
    return names, buckets.split(_ITEM) if buckets else []


def node_row(node: Node, key: int, part: int, source: int | None) -> tuple[Any, ...]:
    """Returns a node as a row of `nodes`, with its checksum; `source` is the key of its file."""
    aliases = pack(node.aliases)
    labels = pack_labels(node.tag_details, node.buckets)
    rest = (
        node.seq,
        node.at,
        node.provenance,
        None if node.simhash is None else signed(node.simhash),
        pack(node.props),
        node.created,
        node.updated,
        node.valid_from,
        node.valid_until,
    )
    said = (key, part, node.id, node.kind, node.name, node.text)
    row = (*said, 0, aliases, labels, source, *rest)
    return (*said, check_sum(row), *row[7:])


def to_node(row: tuple[Any, ...]) -> Node:
    """Converts a row of the NODE query to a node. Raises RowDamaged if its usage differs from its checksum; the caller
    compares the rest.
    """
    (
        _, _, id_, kind, name, text, _, aliases, labels, source, seq, at, provenance, simhash, props, created, updated,
        valid_from, valid_until, owner, team, salience, *life, life_sum,
    ) = row  # fmt: skip
    if salience is not None:
        verify("life", (row[0], salience, *life), life_sum)
    return _node(
        id_, kind, name, text, tuple(json.loads(aliases)) if aliases else (), *unpack_labels(labels), source, seq, at,
        provenance, None if simhash is None else simhash % TWO64, json.loads(props) if props else {},
        NEW_LIFE if salience is None else Life(salience, *life), created, updated, valid_from, valid_until, owner,
        team or None,
    )  # fmt: skip


def life_row(key: int, life: Life) -> tuple[Any, ...]:
    """Returns a node's usage record as a row of `life`, with its checksum."""
    return summed((
        key, life.salience, life.state, life.confidence, life.accesses, life.last_access, life.last_decay,
        life.interval, life.gradient, life.retention,
    ))  # fmt: skip


def edge_row(edge: Edge, key: int, part: int, src: int, dst: int) -> tuple[Any, ...]:
    """Returns an edge as a row of `edges`, with its checksum. `src` and `dst` are the keys of its nodes."""
    return summed((
        key, part, edge.id, src, dst, edge.kind, edge.weight, pack(edge.tags), edge.text, edge.type, edge.attitude,
        edge.proximity, edge.confidence, edge.via, pack(edge.props), edge.created, edge.updated, edge.valid_from,
        edge.valid_until,
    ))  # fmt: skip


def to_edge(row: tuple[Any, ...]) -> Edge:
    """Converts a row of the EDGE query to an edge. Raises RowDamaged if the row differs from its checksum."""
    verify("edges", (*row[:3], row[19], row[20], *row[5:19]), row[21])
    tags = tuple(json.loads(row[7])) if row[7] else ()
    props = json.loads(row[14]) if row[14] else {}
    fields = (*row[2:7], tags, *row[8:14], props, *row[15:19])
    return Edge(*fields)


def fact_row(fact: Fact, key: int, part: int, subject: int, object_: int | None) -> tuple[Any, ...]:
    """Returns a fact as a row of `facts`, with its checksum. `subject` and `object_` are keys of nodes."""
    return summed((
        key, part, fact.id, subject, fact.predicate, object_, fact.value, fact.confidence, fact.status, fact.source,
        fact.source_ref, fact.provenance, pack(fact.tags), fact.access_count, fact.last_accessed, fact.created,
        fact.valid_from, fact.valid_until, fact.superseded_by, fact.stated_from, fact.stated_until,
        fact.stated_status, fact.restated,
    ))  # fmt: skip


def to_fact(row: tuple[Any, ...]) -> Fact:
    """Converts a row of the FACT query to a fact. Raises RowDamaged if the row differs from its checksum."""
    verify("facts", (*row[:3], row[19], row[4], row[20], *row[6:19], *row[21:25]), row[25])
    tags = tuple(json.loads(row[12])) if row[12] else ()
    fields = (*row[2:12], tags, *row[13:19], *row[21:25])
    return Fact(*fields)


NOTE = """SELECT o.id, coalesce(n.id, e.id), o.text, o.target_on, o.created, o.expires,
  CASE o.target_on WHEN 'node' THEN o.target END, e.key, e.part FROM notes o
  LEFT JOIN nodes n ON o.target_on = 'node' AND n.key = o.target
  LEFT JOIN edges e ON o.target_on = 'edge' AND e.key = o.target"""
INSERT_SOURCE = "INSERT INTO sources (part, path, size, mtime_ns, hash, ingested, check_sum) VALUES (?,?,?,?,?,?,?)"


def source_row(part: int, path: str, *file: Any) -> tuple[Any, ...]:
    """Returns a file as the columns of INSERT_SOURCE. `file` has size, time, hash and ingest time; nothing for a path
    that was not ingested.
    """
    # Without the key, which SQLite gives: the index of paths has it too, and SQLite's check compares both.
    return summed((part, path, *(file or (None,) * 4)))


MENTION = """SELECT a.id, b.id, m.at, m.source, m.node FROM mentions m
  JOIN nodes a ON a.key = m.source JOIN nodes b ON b.key = m.node"""
LINK = "SELECT n.id, l.norm, l.display, l.kind, l.src FROM links l JOIN nodes n ON n.key = l.src"
SOURCE = "SELECT path, size, mtime_ns, hash, ingested FROM sources s"
