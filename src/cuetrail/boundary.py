"""Validation at the boundary: from what a caller gives to records that every engine can store.

Whatever cannot be stored is an InputError that says what is wrong; nothing below this module checks again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Literal, get_args

from cuetrail.errors import InputError
from cuetrail.model import Edge, Fact, Node, Provenance, Scope
from cuetrail.text import clean, digest, make_tags, norm_buckets, norm_name, norm_tag

WEIGHTS = (0.25, 1.0)
LEVELS = (1, 5)
_FAR = 2**62
_PROVENANCES = get_args(Provenance)


def make_node(item: str | Mapping[str, Any], now: int) -> Node:
    """A node from a text or from the arguments of `Memory.add`."""
    if isinstance(item, str):
        item = {"text": item}
    get = item.get
    text, name, source = clean(get("text") or ""), _optional(get("name")), _optional(get("source"))
    if name is None and not text.strip():
        raise InputError("there is nothing to remember: give a text or a name")
    provenance, kind, at = get("provenance", "internal"), get("kind") or "atom", get("at")
    if provenance not in _PROVENANCES:
        raise InputError(f"provenance is {' or '.join(_PROVENANCES)}, not {provenance!r}")
    check_time("now", now)
    if at is not None:
        check_time("at", at)
    aliases, tags, buckets, props = get("aliases"), get("tags"), get("buckets"), get("props")
    return Node(
        id=_identity(get("id"), kind, name, text, source),
        kind=norm_tag(kind) or "atom",
        name=name,
        text=text,
        aliases=tuple(dict.fromkeys(a for a in map(_optional, _words("aliases", aliases)) if a)) if aliases else (),
        tag_details=make_tags(_words("tags", tags)) if tags else (),
        buckets=norm_buckets(_words("buckets", buckets)) if buckets else (),
        source=source,
        at=now if at is None else at,
        provenance=provenance,
        props=_props(props) if props else {},
        created=now,
        updated=now,
    )


def make_edge(src: str, dst: str, given: Mapping[str, Any], now: int) -> Edge:
    """An edge between two ids from the arguments of `Memory.link`."""
    weight, kind = given["weight"], clean(given["kind"]).strip()
    if weight is not None and not WEIGHTS[0] <= weight <= WEIGHTS[1]:
        raise InputError(f"weight must be from {WEIGHTS[0]} to {WEIGHTS[1]}, not {weight}")
    for name in ("attitude", "proximity"):
        if given[name] is not None and not LEVELS[0] <= given[name] <= LEVELS[1]:
            raise InputError(f"{name} must be from {LEVELS[0]} to {LEVELS[1]}, not {given[name]}")
    if not kind:
        raise InputError("an edge needs a kind, such as relates")
    check_share("confidence", given["confidence"])
    for name, time in (("now", now), ("valid_from", given["valid_from"]), ("valid_until", given["valid_until"])):
        check_time(name, time)
    return Edge(
        id=_optional(given["id"]) or digest("edge", src, dst, kind),
        src=src,
        dst=dst,
        kind=kind,
        weight=weight,
        tags=tuple(tag.name for tag in make_tags(_words("tags", given["tags"]))),
        text=clean(given["text"]),
        type=_optional(given["type"]),
        attitude=given["attitude"],
        proximity=given["proximity"],
        confidence=given["confidence"],
        created=now,
        updated=now,
        valid_from=given["valid_from"],
        valid_until=given["valid_until"],
    )


def make_fact(
    subject: str, predicate: str, object_id: str | None, value: str, given: Mapping[str, Any], now: int
) -> Fact:
    """A fact about the id `subject` from the arguments of `Memory.fact`; `value` counts where there is no object."""
    check_share("confidence", given["confidence"])
    for name, time in (("now", now), ("valid_from", given["valid_from"]), ("valid_until", given["valid_until"])):
        check_time(name, time)
    predicate, source = norm_tag(predicate), clean(given["source"]).strip()
    if not predicate:
        raise InputError("a fact needs a predicate, such as uses")
    status: Literal["confirmed", "staged"] = "confirmed" if source == "user_edit" else "staged"
    return Fact(
        id=digest("fact", subject, predicate, object_id if object_id is not None else "=" + clean(value)),
        subject=subject,
        predicate=predicate,
        object=object_id,
        value=None if object_id is not None else clean(value),
        confidence=given["confidence"],
        status=status,
        source=source,
        source_ref=_optional(given["source_ref"]),
        tags=tuple(tag.name for tag in make_tags(_words("tags", given["tags"]))),
        created=now,
        valid_from=given["valid_from"],
        valid_until=given["valid_until"],
    )


def check_scope(scope: Scope) -> None:
    """Raises InputError for a scope nobody can be in."""
    if not scope.tenant or not scope.user:
        raise InputError("a scope needs a tenant and a user")
    if scope.share is not None and scope.share not in scope.teams:
        raise InputError(f"cannot share with team {scope.share!r}: it is not among this scope's teams")


def check_share(name: str, value: float) -> None:
    """Raises InputError unless the value is from 0 to 1."""
    if not 0 <= value <= 1:
        raise InputError(f"{name} must be from 0 to 1, not {value}")


def check_time(name: str, value: object) -> None:
    """Raises InputError unless the value is None or a time in whole milliseconds."""
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or not -_FAR < value < _FAR):
        raise InputError(f"{name} is a time in UTC milliseconds, not {value!r}")


def _optional(value: str | None) -> str | None:
    """A cleaned text, None for an empty one."""
    return clean(str(value)).strip() or None if value is not None else None


def _words(name: str, given: Iterable[str] | str | None) -> Iterable[str]:
    # A string is an iterable of its letters, which nobody means.
    if isinstance(given, str):
        raise InputError(f"{name} is a list: write {name}=[{given!r}]")
    return given or ()


def _props(given: Mapping[str, Any]) -> dict[str, Any]:
    """The props as what comes back when they are read again."""
    try:
        packed = json.dumps(dict(given), ensure_ascii=False, allow_nan=False)
        return dict(json.loads(clean(packed)))
    except (TypeError, ValueError) as error:
        raise InputError(f"props must be plain JSON data: {error}") from error


def _identity(given: object, kind: str, name: str | None, text: str, source: str | None) -> str:
    """The id a caller gave; else things with a name are identified by it, texts by what they say and where."""
    if given is not None:
        id_ = clean(str(given))
        if not id_.strip():
            raise InputError("an id cannot be empty")
        return id_
    return digest(kind, norm_name(name)) if name is not None else digest(source or "", text, "0")
