"""From the arguments of a caller to records that every engine can store.

An argument that cannot be stored raises an InputError that says what is wrong with it. Nothing below the validation
package checks again. `arguments` has the rule for each argument of the verbs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any, Literal

from cuetrail.errors import InputError
from cuetrail.formulas import DAY
from cuetrail.model import NEW_LIFE, Edge, Fact, Life, Node, Note, Scope, When
from cuetrail.model.ids import atom_id, fact_id, named_node_id, note_id, stated_edge_id
from cuetrail.model.records import NEXT_IN_SOURCE, maker
from cuetrail.model.tags import make_tags, norm_buckets
from cuetrail.text.names import speaker_in
from cuetrail.text.normalise import clean, norm_name, norm_tag, storable
from cuetrail.text.titles import topics_in
from cuetrail.validation.arguments import (
    LEVELS,
    PROVENANCES,
    RETENTIONS,
    check,
    check_share,
    is_list,
    is_number,
    is_time,
    is_whole,
    refusal,
    words,
)
from cuetrail.validation.convert_arguments import TERMS, ms_of, time_of
from cuetrail.validation.limits import TIMES
from cuetrail.validation.ready_records import WEIGHTS, make_props, ready_node

_FIELDS = (
    "text", "id", "kind", "name", "aliases", "tags", "buckets", "source", "seq", "at", "provenance", "props",
    "retention", "confidence", "vector",
)  # fmt: skip
_KNOWN = frozenset(_FIELDS)
# The usual class first: a check for an abstract one takes longer.
_MAPPINGS = (dict, Mapping)
_GIVEN = (
    "id",
    "kind",
    "name",
    "text",
    "aliases",
    "tag_details",
    "buckets",
    "source",
    "seq",
    "at",
    "provenance",
    "props",
)
_node = maker(Node, *_GIVEN, "life", "created", "updated")


def make_node(item: str | Mapping[str, Any], now: int) -> Node:
    """Returns a node made from a text or from the arguments of `Memory.add`; None counts as not given.

    Raises InputError for an argument that is not valid.
    """
    fields: Any = item
    if isinstance(item, str):
        fields = {"text": item}
    elif not isinstance(fields, _MAPPINGS) or not _KNOWN.issuperset(fields):
        raise _wrong_item(fields)
    get = fields.get
    text, name, source = _text("text", get("text")), _optional("name", get("name")), _optional("source", get("source"))
    if name is None and (not text or text.isspace()):
        raise InputError("there is nothing to remember: give a text or a name")
    kind, at, provenance = get("kind"), get("at"), get("provenance")
    aliases, tags, buckets, props = get("aliases"), get("tags"), get("buckets"), get("props")
    kind = "atom" if kind is None else norm_tag(_text("kind", kind)) or "atom"
    if kind == "source" and isinstance(props, _MAPPINGS) and "keywords" in props:
        # The keywords of a source find it as its tags do.
        tags = [*words("tags", tags or ()), *words("keywords", props["keywords"])]
    if provenance is not None and provenance not in PROVENANCES:
        raise refusal("provenance", provenance)
    at = now if at is None else time_of(at, now)
    if not is_time(at):
        raise refusal("at", at)
    return _node(
        _identity(get("id"), kind, name, text, source),
        kind,
        name,
        text,
        _aliases(aliases) if aliases is not None else (),
        make_tags(words("tags", tags)) if tags is not None else (),
        norm_buckets(words("buckets", buckets)) if buckets is not None else (),
        source,
        _position(get("seq"), source),
        at,
        provenance or "internal",
        _known_by(make_props(props) if props is not None else {}, kind, name, text),
        _life(get("retention"), get("confidence")),
        now,
        now,
    )


def _position(seq: Any, source: str | None) -> int:
    """Returns the given position in the source. Raises InputError if it is not valid.

    Without one, returns NEXT_IN_SOURCE, which the store replaces by the next position; 0 if there is no source.
    """
    if seq is None:
        return 0 if source is None else NEXT_IN_SOURCE
    check("seq", seq)
    position: int = seq
    return position


def _known_by(props: dict[str, Any], kind: str, name: str | None, text: str) -> dict[str, Any]:
    """Returns the properties; for an atom without a name, with the title of its text and the names it is about.

    Given properties win. For a turn of a conversation nothing is added: it begins with its speaker, not its topic.
    """
    if kind != "atom" or name is not None or "about" in props:
        return props
    if "speaker" in props or speaker_in(text):
        return props
    return {**topics_in(text, props.get("title")), **props}


def _life(retention: Any, confidence: Any) -> Life:
    """Returns the life (salience, confidence, retention) of a new node: the shared default unless arguments differ.

    Raises InputError for an unknown retention, and a confidence that is not from 0 to 1.
    """
    if retention in (None, "decay") and confidence in (None, 1.0) and not isinstance(confidence, bool):
        return NEW_LIFE
    if retention is not None and retention not in RETENTIONS:
        raise refusal("retention", retention)
    check_share("confidence", 1.0 if confidence is None else confidence)
    salience = 1.0 if retention == "keep_forever" else NEW_LIFE.salience
    return Life(salience, confidence=1.0 if confidence is None else confidence, retention=retention or "decay")


def make_vector(given: Any, dim: int) -> tuple[float, ...]:
    """Returns the numbers of a vector that a caller gives, divided by the largest absolute value among them.
    Raises InputError if it has not `dim` numbers, or only zeros.
    """
    numbers = tuple(islice(given, dim + 1)) if is_list(given) else ()
    if len(numbers) != dim or not all(map(is_number, numbers)):
        raise InputError(f"vector must be a list of {dim} numbers, as this memory's embedder makes them")
    if not any(numbers):
        raise InputError("vector cannot be all zeros: it would be like nothing")
    # Scaled, so that no square is too large for a float.
    largest = max(map(abs, numbers))
    return tuple(number / largest for number in numbers)


def make_nodes(items: Iterable[str | Mapping[str, Any] | Node], now: int) -> Iterator[tuple[Node, Any]]:
    """Yields nodes from the items of `Memory.add_many`, each with the vector that it was given, or None. Raises
    InputError with the number of a wrong item.
    """
    for number, item in enumerate(items, 1):
        try:
            if isinstance(item, Node):
                yield _own_node(item), None
            else:
                yield make_node(item, now), item.get("vector") if isinstance(item, _MAPPINGS) else None
        except InputError as error:
            raise InputError(f"item {number}: {error}") from error


def _own_node(node: Node) -> Node:
    """Returns a node that the caller made. Raises InputError if an engine could not store it."""
    given: Any = node
    try:
        texts = [given.id, given.kind, given.text, given.name or "", given.source or "", *given.aliases, *given.buckets]
        texts += [text for tag in given.tag_details for text in (tag.name, tag.display)]
        times = [given.at, given.created, given.updated, given.seq, *_ends(given)]
        fits = (
            {*map(type, texts)} == {str}
            and {*map(type, times)} == {int}
            and is_whole(min(times))
            and is_whole(max(times))
        )
        fits = fits and (given.simhash is None or 0 <= given.simhash < 2**64) and isinstance(given.life, Life)
        fits = fits and given.provenance in PROVENANCES and bool(given.id.strip()) and storable("".join(texts))
    except (TypeError, AttributeError):
        fits = False
    if not fits:
        raise InputError(f"the node {given.id!r:.60} has a field that cannot be stored: make it with `add`, or mend it")
    return ready_node(node)


def _ends(node: Node) -> list[int]:
    return [time for time in (node.valid_from, node.valid_until) if time is not None]


def make_edge(src: str, dst: str, given: Mapping[str, Any], now: int) -> Edge:
    """Returns an edge between two ids from the arguments of `Memory.link`. Raises InputError for numbers out of range,
    an empty kind, and an end that is not after the beginning.
    """
    weight, kind = given["weight"], clean(given["kind"]).strip()
    if weight is not None and not WEIGHTS[0] <= weight <= WEIGHTS[1]:
        raise InputError(f"weight must be from {WEIGHTS[0]} to {WEIGHTS[1]}, not {weight}")
    for name in ("attitude", "proximity"):
        if given[name] is not None and not LEVELS[0] <= given[name] <= LEVELS[1]:
            raise InputError(f"{name} must be from {LEVELS[0]} to {LEVELS[1]}, not {given[name]}")
    if not kind:
        raise InputError("an edge needs a kind, such as relates")
    check_share("confidence", given["confidence"])
    begin, end = given["valid_from"], given["valid_until"]
    if begin is not None and end is not None and end <= begin:
        raise InputError("an edge cannot end before it begins: valid_until must be later than valid_from")
    return Edge(
        id=_optional("id", given["id"]) or stated_edge_id(src, dst, kind),
        src=src,
        dst=dst,
        kind=kind,
        weight=weight,
        tags=tuple(tag.name for tag in make_tags(words("tags", given["tags"]))),
        text=clean(given["text"]),
        type=_optional("type", given["type"]),
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
    """Returns a fact about the node `subject` from the arguments of `Memory.fact`.

    `value` is the object as text; it is stored if the object is no node (`object_id` is None). Raises InputError for an
    empty predicate or source, and for an end that is not after the beginning.
    """
    check_share("confidence", given["confidence"])
    predicate, source = norm_tag(predicate), clean(given["source"]).strip()
    if not predicate:
        raise InputError("a fact needs a predicate, such as uses")
    if not source:
        raise InputError("a fact needs a source: user_edit, file, system, conversation, or a name of your own")
    if value.strip() and not clean(value).strip():
        raise InputError("the object is nothing but broken characters: give a text or the name of an entity")
    start, end = given["valid_from"], given["valid_until"]
    if end is not None and end <= (now if start is None else start):
        raise InputError(
            "a fact cannot end before it begins: valid_until (--until) must be later than valid_from (--from), or than "
            "now where that is not given"
        )
    status: Literal["confirmed", "staged"] = "confirmed" if source == "user_edit" else "staged"
    return Fact(
        id=fact_id(subject, predicate, object_id, clean(value)),
        subject=subject,
        predicate=predicate,
        object=object_id,
        value=None if object_id is not None else clean(value),
        confidence=given["confidence"],
        status=status,
        source=source,
        source_ref=_optional("source_ref", given["source_ref"]),
        provenance=given["provenance"],
        tags=tuple(tag.name for tag in make_tags(words("tags", given["tags"]))),
        created=now,
        valid_from=given["valid_from"],
        valid_until=given["valid_until"],
    )


def make_note(target: str, text: str, expires: When | None, now: int, on: Literal["node", "edge"] = "node") -> Note:
    """Returns a note on the node or edge `target`. `expires` is a time, or a key of TERMS, counted from `now`. Raises
    InputError for an empty text.
    """
    said = clean(text)
    if not said.strip():
        raise InputError("there is nothing to note: give a text")
    if isinstance(expires, str) and expires in TERMS:
        days = TERMS[expires]
        expires = None if days is None else min(now + days * DAY, TIMES[1])
    return Note(note_id(target, text, now), target, said, on, now, ms_of(expires))


def make_scope(scope: Scope) -> Scope:
    """Returns the scope with its teams as a tuple. Raises InputError if the tenant, user or a team is not a name, or if
    `share` is not one of the teams.
    """
    if not (_is_name(scope.tenant) and _is_name(scope.user)):
        raise InputError(f"a scope needs the names of a tenant and a user, not {scope.tenant!r} and {scope.user!r}")
    if not is_list(scope.teams) or not all(map(_is_name, scope.teams)):
        raise InputError(f'the teams of a scope must be a list of names, such as ("ops",), not {scope.teams!r}')
    if scope.share is not None and scope.share not in scope.teams:
        raise InputError(
            f"cannot share with {scope.share!r}: this scope is not in that team. Name it among the teams as well: "
            f"--team {scope.share}, CUETRAIL_TEAMS, or Scope(teams=({scope.share!r},), ...)"
        )
    return replace(scope, teams=tuple(scope.teams))


def _is_name(value: object) -> bool:
    return isinstance(value, str) and bool(value) and storable(value)


def _wrong_item(item: object) -> InputError:
    """Returns the error for an item that is neither a text nor a mapping with the fields of a node."""
    if not isinstance(item, Mapping):
        return InputError(f"an item must be a text, a Node or a mapping with the arguments of add, not {item!r:.60}")
    if "content" in item:
        return InputError(
            'this is a message of a chat: add it with chat([{"role": ..., "content": ...}], source="...")'
        )
    strange = ", ".join(repr(key) for key in item if key not in _KNOWN)
    return InputError(f"an item has no field {strange:.60}: use {', '.join(_FIELDS)}")


def _text(field: str, value: object) -> str:
    """Returns the text without broken characters, empty for None. Raises InputError for what is no text."""
    if isinstance(value, str):
        return clean(value)
    if value is None:
        return ""
    raise refusal(field, value)


def _optional(field: str, value: object) -> str | None:
    """Returns the text without broken characters and outer white space, None if it is empty. Raises InputError for what
    is no text.
    """
    if value is None:
        return None
    if isinstance(value, str):
        return clean(value).strip() or None
    raise refusal(field, value)


def _aliases(given: Any) -> tuple[str, ...]:
    names = (_optional("aliases", name) for name in words("aliases", given))
    return tuple(dict.fromkeys(name for name in names if name))


def _identity(given: object, kind: str, name: str | None, text: str, source: str | None) -> str:
    """Returns the given id; otherwise one made from the name or, without a name, from the text and its source."""
    if given is not None:
        id_ = _text("id", given)
        if not id_.strip():
            raise InputError("an id cannot be empty")
        return id_
    return named_node_id(kind, norm_name(name)) if name is not None else atom_id(source or "", text)
