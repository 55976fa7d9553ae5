"""Validation at the boundary: from what a caller gives to records that every engine can store.

Whatever cannot be stored is an InputError that says what is wrong; nothing below this module checks again. What the
arguments of the verbs must be, one by one, is in `arguments`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeVar, get_args

from cuetrail.errors import InputError
from cuetrail.formulas import DAY
from cuetrail.model import NEW_LIFE, Claim, Direction, Edge, Fact, Life, Node, Note, Scope, Where
from cuetrail.model.fast_dataclass import maker
from cuetrail.model.ids import atom_id, fact_id, named_node_id, note_id, stated_edge_id
from cuetrail.model.tags import make_tags, norm_buckets
from cuetrail.recall.anchor.seeds import Seeding
from cuetrail.recall.spread.activation import Flow
from cuetrail.store.graph import Ties
from cuetrail.text.normalise import clean, norm_name, norm_tag, storable
from cuetrail.validation.arguments import PROVENANCES, RETENTIONS, TERMS, check, is_list, is_number, is_whole, refusal

C = TypeVar("C", bound=str)

WEIGHTS = (0.25, 1.0)
LEVELS = (1, 5)
_BOUNDS = ("min_attitude", "max_attitude", "min_proximity", "max_proximity")
_TIES = (*_BOUNDS, "relationship_types", "exclude_relationship_types")
_FIELDS = (
    "text", "id", "kind", "name", "aliases", "tags", "buckets", "source", "at", "provenance", "props", "retention",
    "confidence",
)  # fmt: skip
_KNOWN = frozenset(_FIELDS)
# The usual classes first: asking an abstract one takes longer.
_MAPPINGS = (dict, Mapping)
_LISTS = (list, tuple)
_GIVEN = ("id", "kind", "name", "text", "aliases", "tag_details", "buckets", "source", "at", "provenance", "props")
_node = maker(Node, *_GIVEN, "life", "created", "updated")


def make_node(item: str | Mapping[str, Any], now: int) -> Node:
    """A node from a text or from the arguments of `Memory.add`; one that is None counts as not given."""
    fields: Any = item
    if isinstance(item, str):
        fields = {"text": item}
    elif not isinstance(fields, _MAPPINGS) or not _KNOWN.issuperset(fields):
        raise _no_item(fields)
    get = fields.get
    text, name, source = _text("text", get("text")), _optional("name", get("name")), _optional("source", get("source"))
    if name is None and (not text or text.isspace()):
        raise InputError("there is nothing to remember: give a text or a name")
    kind, at, provenance = get("kind"), get("at"), get("provenance")
    aliases, tags, buckets, props = get("aliases"), get("tags"), get("buckets"), get("props")
    kind = "atom" if kind is None else norm_tag(_text("kind", kind)) or "atom"
    if kind == "source" and isinstance(props, _MAPPINGS) and "keywords" in props:
        # By its keywords a source is found as by its tags.
        tags = [*_words("tags", tags or ()), *_words("keywords", props["keywords"])]
    if provenance is not None and provenance not in PROVENANCES:
        raise refusal("provenance", provenance)
    if at is None:
        at = now
    elif not is_whole(at):
        raise refusal("at", at)
    return _node(
        _identity(get("id"), kind, name, text, source),
        kind,
        name,
        text,
        _aliases(aliases) if aliases is not None else (),
        make_tags(_words("tags", tags)) if tags is not None else (),
        norm_buckets(_words("buckets", buckets)) if buckets is not None else (),
        source,
        at,
        provenance or "internal",
        _props(props) if props is not None else {},
        _life(get("retention"), get("confidence")),
        now,
        now,
    )


def _life(retention: Any, confidence: Any) -> Life:
    """How a new memory fades. The very object that is the default where nothing else is said."""
    if retention in (None, "decay") and confidence in (None, 1.0) and not isinstance(confidence, bool):
        return NEW_LIFE
    if retention is not None and retention not in RETENTIONS:
        raise refusal("retention", retention)
    check_share("confidence", 1.0 if confidence is None else confidence)
    salience = 1.0 if retention == "keep_forever" else NEW_LIFE.salience
    return Life(salience, confidence=1.0 if confidence is None else confidence, retention=retention or "decay")


def make_nodes(items: Iterable[str | Mapping[str, Any] | Node], now: int) -> Iterator[Node]:
    """Nodes from what `Memory.add_many` takes. An InputError says which item is at fault."""
    for number, item in enumerate(items, 1):
        try:
            yield _own_node(item) if isinstance(item, Node) else make_node(item, now)
        except InputError as error:
            raise InputError(f"item {number}: {error}") from error


def _own_node(node: Node) -> Node:
    """A node the caller has made. Raises InputError where the engine could not store it."""
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
    if given.props:
        _props(given.props)
    return node


def _ends(node: Node) -> list[int]:
    return [time for time in (node.valid_from, node.valid_until) if time is not None]


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
    begin, end = given["valid_from"], given["valid_until"]
    if begin is not None and end is not None and end <= begin:
        raise InputError("an edge cannot end before it begins: valid_until must be later than valid_from")
    return Edge(
        id=_optional("id", given["id"]) or stated_edge_id(src, dst, kind),
        src=src,
        dst=dst,
        kind=kind,
        weight=weight,
        tags=tuple(tag.name for tag in make_tags(_words("tags", given["tags"]))),
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
    """A fact about the id `subject` from the arguments of `Memory.fact`; `value` counts where there is no object."""
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
        tags=tuple(tag.name for tag in make_tags(_words("tags", given["tags"]))),
        created=now,
        valid_from=given["valid_from"],
        valid_until=given["valid_until"],
    )


def make_telling(
    anchors: int, hops: int, per_entity: int, max_facts: int, direction: Direction, floor: float
) -> tuple[int, int, int, int, Direction, float]:
    """How a narrative is made, as `recipes.narrative` takes it. Raises InputError for what cannot be."""
    counts = {"anchors": anchors, "hops": hops, "per_entity": per_entity, "max_facts": max_facts}
    for name, count in counts.items():
        if count < 0:
            raise InputError(f"{name} must be 0 or more, not {count}")
    if hops == 0:
        raise InputError(
            "hops must be 1 or more: 1 tells the facts of the entities themselves, 2 their neighbours' too"
        )
    chosen("direction", direction, get_args(Direction))
    if not -1 <= floor <= 1:
        raise InputError(f"floor must be from -1 to 1, not {floor}")
    return anchors, hops, per_entity, max_facts, direction, floor


def make_note(
    target: str, text: str, expires: int | str | None, now: int, on: Literal["node", "edge"] = "node"
) -> Note:
    """A remark on the node or the edge `target`."""
    said = clean(text)
    if not said.strip():
        raise InputError("there is nothing to note: give a text")
    if isinstance(expires, str):
        days = TERMS[expires]
        expires = None if days is None else now + days * DAY
    return Note(note_id(target, text, now), target, said, on, now, expires)


def make_where(
    tags: Iterable[str], buckets: Iterable[str], kinds: Iterable[str], since: int | None, until: int | None,
    quarantined: bool, archived: bool,
) -> Where:  # fmt: skip
    """The filters of a recall, in the form in which tags, buckets and kinds are stored.

    Raises InputError for a time that ends before it begins.
    """
    if since is not None and until is not None and since > until:
        raise InputError(
            "nothing can be found: since (--since) is later than until (--until). Swap them, or leave one out"
        )
    return Where(
        tuple(tag.name for tag in make_tags(_words("tags", tags))),
        norm_buckets(_words("buckets", buckets)),
        norm_buckets(_words("kinds", kinds)),
        since, until, quarantined, archived,
    )  # fmt: skip


def make_ties(given: Mapping[str, Any] | None, now: int) -> Ties:
    """The filters on relationships. An edge that is not valid now never passes.

    Raises InputError for unknown ones, and for bounds that no relationship can be within.
    """
    given = {name: value for name, value in (given or {}).items() if value is not None}
    strange = [name for name in given if name not in _TIES]
    if strange:
        raise InputError(f"there is no relationship filter {strange[0]!r:.60}: use {', '.join(_TIES)}")
    for name in _BOUNDS:
        if name in given and (not is_whole(given[name]) or not LEVELS[0] <= given[name] <= LEVELS[1]):
            raise InputError(f"{name} must be a whole number from {LEVELS[0]} to {LEVELS[1]}, not {given[name]!r:.60}")
    for level in ("attitude", "proximity"):
        low, high = given.get(f"min_{level}", LEVELS[0]), given.get(f"max_{level}", LEVELS[1])
        if low > high:
            raise InputError(
                f"no relationship can be found: min_{level} {low} (--min-{level}) is more than max_{level} {high} "
                f"(--max-{level}). Swap them, or leave one out"
            )
    types, without = (
        tuple(clean(word).strip().lower() for word in _words(name, given.get(name, ())))
        for name in ("relationship_types", "exclude_relationship_types")
    )
    bounds: dict[str, Any] = {name: given.get(name) for name in _BOUNDS}
    return Ties(types=types, exclude_types=without, at=now, **bounds)


def chosen(name: str, value: C, choices: Sequence[str]) -> C:
    """The value, which is one of the choices. Raises InputError for another."""
    if value not in choices:
        raise InputError(f"{name} must be {' or '.join(choices)}, not {value!r:.60}")
    return value


def check_range(name: str, value: int, low: int, high: int) -> None:
    """Raises InputError unless the whole number is within these bounds."""
    if not low <= value <= high:
        raise InputError(f"{name} must be from {low} to {high}, not {value}")


def make_query_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Tags to compare with, in the form in which they are stored, each once."""
    return tuple(tag.name for tag in make_tags(_words("tags", tags)))


def make_seeds(given: Iterable[Any]) -> dict[str, float]:
    """Seeds by id with the energy they start with; one that is named twice starts with the larger."""
    seeds: dict[str, float] = {}
    for seed in given:
        id_, score = (seed, 1.0) if isinstance(seed, str) else _pair(seed)
        if not is_number(score) or not 0 < score <= 1:
            raise InputError(f"the score of seed {id_!r:.60} must be above 0 and at most 1, not {score!r:.60}")
        seeds[id_] = max(score, seeds.get(id_, 0.0))
    return seeds


def _pair(seed: Any) -> tuple[str, Any]:
    if isinstance(seed, _LISTS) and len(seed) == 2 and isinstance(seed[0], str):
        return seed[0], seed[1]
    raise InputError(f'a seed must be an id, or an id and a score such as ("A0", 0.9), not {seed!r:.60}')


def make_flow(max_depth: int, max_branches: int, min_activation: float, tag_sim_floor: float, claim: Claim) -> Flow:
    """How energy flows. Raises InputError for what cannot be."""
    for name, count in (("max_depth", max_depth), ("max_branches", max_branches)):
        if count < 0:
            raise InputError(f"{name} must be 0 or more, not {count}")
    check_share("min_activation", min_activation)
    check_share("tag_sim_floor", tag_sim_floor)
    return Flow(max_depth, max_branches, min_activation, tag_sim_floor, claim)


def make_seeding(limit: int, text_weight: float, vector_weight: float) -> Seeding:
    """How a query finds seeds. Raises InputError for weights that cannot be."""
    check_share("text_weight", text_weight)
    check_share("vector_weight", vector_weight)
    if not text_weight and not vector_weight:
        raise InputError("text_weight and vector_weight cannot both be 0: nothing could be found")
    return Seeding(limit, text_weight=text_weight, vector_weight=vector_weight)


def make_scope(scope: Scope) -> Scope:
    """The scope, its teams as a tuple. Raises InputError for one nobody can be in."""
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


def check_share(name: str, value: float) -> None:
    """Raises InputError unless the value is from 0 to 1."""
    if not is_number(value) or not 0 <= value <= 1:
        raise InputError(f"{name} must be from 0 to 1, not {value!r}")


def _no_item(item: object) -> InputError:
    """The error for what is neither a text nor a mapping with the fields of a node."""
    if not isinstance(item, Mapping):
        return InputError(f"an item must be a text, a Node or a mapping with the arguments of add, not {item!r:.60}")
    strange = ", ".join(repr(key) for key in item if key not in _KNOWN)
    return InputError(f"an item has no field {strange:.60}: use {', '.join(_FIELDS)}")


def _text(field: str, value: object) -> str:
    """A cleaned text, empty for None."""
    if isinstance(value, str):
        return clean(value)
    if value is None:
        return ""
    raise refusal(field, value)


def _optional(field: str, value: object) -> str | None:
    """A cleaned text without white space around it, None for an empty one."""
    if value is None:
        return None
    if isinstance(value, str):
        return clean(value).strip() or None
    raise refusal(field, value)


def _words(field: str, given: Any) -> Sequence[str]:
    """The texts of a list. Raises InputError when it is no list, or not all of it is text."""
    if given.__class__ not in _LISTS:
        # A string is an iterable of its letters, which nobody means.
        if isinstance(given, str):
            raise InputError(f"{field} must be a list: write {field}=[{given!r:.60}]")
        check(field, given)
        given = list(given)
    for word in given:
        if not isinstance(word, str):
            raise InputError(f"{field} must be a list of texts; {word!r:.60} in it is none")
    words: Sequence[str] = given
    return words


def _aliases(given: Any) -> tuple[str, ...]:
    names = (_optional("aliases", name) for name in _words("aliases", given))
    return tuple(dict.fromkeys(name for name in names if name))


def _props(given: Any) -> dict[str, Any]:
    """The props as what comes back when they are read again."""
    check("props", given)
    try:
        packed = json.dumps(dict(given), ensure_ascii=False, allow_nan=False)
        return dict(json.loads(clean(packed)))
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"props must be plain JSON data: {error}") from error


def _identity(given: object, kind: str, name: str | None, text: str, source: str | None) -> str:
    """The id a caller gave; else things with a name are identified by it, texts by what they say and where."""
    if given is not None:
        id_ = _text("id", given)
        if not id_.strip():
            raise InputError("an id cannot be empty")
        return id_
    return named_node_id(kind, norm_name(name)) if name is not None else atom_id(source or "", text)
