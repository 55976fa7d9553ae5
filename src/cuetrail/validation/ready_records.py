"""Checks records that were made elsewhere: lines of an import, nodes of the caller's own, records that are stored.

They must meet the same rules as the arguments of `add`, `link` and `fact`. Tags, buckets, kinds and predicates are
brought into their stored form; anything else that breaks a rule raises an InputError that names the field.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

from cuetrail.errors import InputError
from cuetrail.model import Edge, Fact, Life, Mention, Node, Note, SourceFile, Tag, Tombstone, Version
from cuetrail.model.records import NEW_LIFE
from cuetrail.model.salience import GRADIENTS
from cuetrail.model.tags import make_tags, norm_buckets
from cuetrail.store.read import Record
from cuetrail.text.normalise import clean, norm_tag, storable
from cuetrail.validation.arguments import (
    LEVELS,
    check,
    check_length,
    check_share,
    is_number,
    is_time,
    is_whole,
    refusal,
)
from cuetrail.validation.limits import MOST, PROPS_BYTES, nesting_fault

_TOMBSTONE = re.compile(r"[0-9a-f]{32}")
_FILE_HASH = re.compile(r"\S{0,200}", re.ASCII)
WEIGHTS = (0.25, 1.0)
"""The range of the weight of an edge that a caller states. Rules and dreams also make weaker ones."""
SEQ = (-1, MOST["seq"])
"""The range of the position of a node: that of a file stands before its passages."""


def make_props(given: Any) -> dict[str, Any]:
    """Returns properties as they are when read back from JSON. Raises InputError if they are too large or no JSON."""
    check("props", given)
    if fault := nesting_fault(given):
        raise InputError(f"props are too large: {fault}. Put the rest into a text, or into nodes of their own")
    try:
        packed = clean(json.dumps(dict(given), ensure_ascii=False, allow_nan=False))
        size = len(packed.encode())
        props = dict(json.loads(packed)) if size <= PROPS_BYTES else {}
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"props must be plain JSON data: {error}") from error
    if size > PROPS_BYTES:
        raise InputError(f"props are too large: more than {PROPS_BYTES} bytes. Put the rest into a text")
    return props


def ready_record(record: Record) -> Record:
    """Returns the record with tags, kinds and the like in stored form. Raises InputError if a field breaks a rule."""
    if isinstance(record, Node):
        return ready_node(record)
    if isinstance(record, Edge):
        return _edge(record)
    if isinstance(record, Fact):
        return _fact(record)
    if isinstance(record, Note):
        _check_times(created=record.created, expires=record.expires)
        if not record.text.strip():
            raise InputError("there is nothing to note: give a text")
    elif isinstance(record, Mention | Version | Tombstone):
        _check_times(at=record.at)
        if isinstance(record, Tombstone) and not _TOMBSTONE.fullmatch(record.hash):
            raise InputError(f"hash must be 32 digits from 0 to f, not {record.hash!r:.40}")
    elif isinstance(record, SourceFile):
        _check_times(ingested=record.ingested)
        if not _FILE_HASH.fullmatch(record.hash):
            raise InputError(f"hash must be a word without spaces, not {record.hash!r:.40}")
    _check_texts(record)
    return record


def ready_node(node: Node) -> Node:
    """Returns the node with tags, buckets and kind in stored form. Raises InputError if a field breaks a rule."""
    _check_texts(node)
    _check_times(
        at=node.at, created=node.created, updated=node.updated, valid_from=node.valid_from, valid_until=node.valid_until
    )
    if not SEQ[0] <= node.seq <= SEQ[1]:
        raise InputError(f"seq must be from {SEQ[0]} to {SEQ[1]}, not {node.seq}")
    if not node.id.strip():
        raise InputError("an id cannot be empty")
    if node.life is not NEW_LIFE:
        _check_life(node.life)
    for name, listed in (("tags", node.tag_details), ("buckets", node.buckets), ("aliases", node.aliases)):
        check_length(name, listed)
    changes: dict[str, Any] = {}
    if node.props:
        props = make_props(node.props)
        changes |= {"props": props} if props != node.props else {}
    kind, buckets, tags = norm_tag(node.kind) or "atom", norm_buckets(node.buckets), _tags(node.tag_details)
    changes |= {"kind": kind} if kind != node.kind else {}
    changes |= {"buckets": buckets} if buckets != node.buckets else {}
    changes |= {"tag_details": tags} if tags != node.tag_details else {}
    return replace(node, **changes) if changes else node


def _tags(given: tuple[Tag, ...]) -> tuple[Tag, ...]:
    """Returns the tags with normalised names, each name once."""
    found: dict[str, Tag] = {}
    for tag in given:
        name = norm_tag(tag.name)
        if name:
            found.setdefault(name, tag if name == tag.name else replace(tag, name=name))
    return tuple(found.values())


def _edge(edge: Edge) -> Edge:
    _check_texts(edge)
    _check_times(created=edge.created, updated=edge.updated, valid_from=edge.valid_from, valid_until=edge.valid_until)
    least = WEIGHTS[0] if edge.via is None else 0.0
    if edge.weight is not None and not (is_number(edge.weight) and least <= edge.weight <= WEIGHTS[1]):
        raise InputError(f"weight must be from {least} to {WEIGHTS[1]}, not {edge.weight!r:.40}")
    for name in ("attitude", "proximity"):
        level = getattr(edge, name)
        if level is not None and not (is_whole(level) and LEVELS[0] <= level <= LEVELS[1]):
            raise InputError(f"{name} must be from {LEVELS[0]} to {LEVELS[1]}, not {level!r:.40}")
    check_share("confidence", edge.confidence)
    kind = clean(edge.kind).strip()
    if not kind or not edge.id.strip():
        raise InputError("an edge needs an id, and a kind such as relates")
    return replace(edge, kind=kind, tags=_names(edge.tags), props=make_props(edge.props) if edge.props else {})


def _fact(fact: Fact) -> Fact:
    _check_texts(fact)
    times = ("created", "valid_from", "valid_until", "stated_from", "stated_until", "restated", "last_accessed")
    _check_times(**{name: getattr(fact, name) for name in times})
    check_share("confidence", fact.confidence)
    predicate = norm_tag(fact.predicate)
    if not predicate:
        raise InputError("a fact needs a predicate, such as uses")
    if not is_whole(fact.access_count) or fact.access_count < 0:
        raise InputError(f"access_count must be a whole number from 0 on, not {fact.access_count!r:.40}")
    return replace(fact, predicate=predicate, tags=_names(fact.tags))


def _names(tags: tuple[str, ...]) -> tuple[str, ...]:
    check_length("tags", tags)
    return tuple(tag.name for tag in make_tags(tags))


def _check_life(life: Life) -> None:
    check_share("salience", life.salience)
    check_share("confidence", life.confidence)
    if not is_whole(life.accesses) or life.accesses < 0:
        raise InputError(f"accesses must be a whole number from 0 on, not {life.accesses!r:.40}")
    if not is_number(life.gradient) or not GRADIENTS[0] <= life.gradient <= GRADIENTS[1]:
        raise InputError(f"gradient must be from {GRADIENTS[0]} to {GRADIENTS[1]}, not {life.gradient!r:.40}")
    if life.interval is not None and (not is_whole(life.interval) or life.interval < 0):
        raise InputError(f"interval must be a whole number from 0 on, not {life.interval!r:.40}")
    _check_times(last_access=life.last_access, last_decay=life.last_decay)


def _check_times(**times: int | None) -> None:
    for name, time in times.items():
        if time is not None and not is_time(time):
            error = refusal("at", time)
            raise InputError(str(error).replace("at must", f"{name} must", 1))


def _check_texts(record: Record) -> None:
    """Raises InputError if a text has characters that cannot be stored."""
    for name in record.__slots__:
        value = getattr(record, name)
        texts = (value,) if isinstance(value, str) else value if isinstance(value, tuple) else ()
        if not all(storable(text) for text in texts if isinstance(text, str)):
            raise InputError(f"{name} must be a text without broken characters")
