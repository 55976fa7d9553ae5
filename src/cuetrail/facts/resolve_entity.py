"""Resolves a name to the entity that is meant, also if it is spelt a little differently, or says when it is ambiguous.

- `resolve_entity`: the entity that a fact is about; also by a name that differs in case, accents or a slip of the pen.
- `link_target`: the node that a `[[wikilink]]` or a name in a text leads to.

A note (the node of a source file) is a text about something: if the user has one entity of the note's name, facts are
about that entity. An entity of another user's private memory is never meant, and a name that only resembles the given
one never means another user's entity.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal

from cuetrail.errors import InputError
from cuetrail.model import STORYLINE_KINDS, Node, Scope
from cuetrail.store.ports import Store
from cuetrail.store.search import NameMatch
from cuetrail.text.normalise import folded, name_words, norm_name
from cuetrail.text.similarity import levenshtein

How = Literal["id", "name", "alias", "folded", "fuzzy"]

THRESHOLD = 0.88
"""Names at least this similar mean the same: one slip in nine letters or more."""

WORD_THRESHOLD = 0.8
"""Each word must be more similar than this: a doubled letter makes a short word another one, and XI is not XII."""

UNTYPED = "entity"
"""The kind of an entity that nobody gave a kind."""

SHARED_NAME = "shared name"
"""The `found` property of an entity that exists only because several atoms share its name."""

CANDIDATES = 200
_PREFIX_LENGTH = 3
_NUMBER = re.compile(r"\d+")
_MOST_LISTED = 5
_TEXT_KINDS = ("atom", "source", "episode", *STORYLINE_KINDS)


# --- the node that a link leads to


def norms_of(node: Node) -> set[str]:
    """Returns the normalised name and aliases of a node."""
    return {norm for norm in map(norm_name, (node.name or "", *node.aliases)) if norm}


def is_shared_name(node: Node) -> bool:
    """True if the node is an entity made because atoms share its name, and nobody has stated anything about it yet."""
    return node.kind == UNTYPED and node.props.get("found") == SHARED_NAME


def link_target(nodes: Iterable[Node]) -> Node | None:
    """Returns the node that a link to this name leads to: a source before others, then the smallest id. Entities made
    only because atoms share a name (`is_shared_name`) are skipped.
    """
    return min(
        (node for node in nodes if not is_shared_name(node)),
        key=lambda node: (node.kind != "source", node.id),
        default=None,
    )


# --- the entity that a fact is about


@dataclass(frozen=True, slots=True)
class Resolved:
    """The entity that a name means, how it was found, and how similar the names are."""

    id: str
    how: How
    likeness: float = 1.0


def resolve_entity(
    store: Store, scope: Scope, name: str, kind: str | None = None, *, fuzzy: bool = True
) -> Resolved | None:
    """Returns the entity with this id or name, and of this kind if one is given; None if there is none.

    An entity without a kind of its own matches any kind. Raises InputError if the name is ambiguous, or if it is an
    alias of an entity of another kind.
    """
    found = _resolved(store, scope, name, kind, fuzzy)
    node = store.get(scope, [found.id]).get(found.id) if found is not None else None
    if found is None or node is None or node.kind != "source" or node.owner != scope.user:
        return found
    partition = (node.owner, node.team)
    subjects = subjects_of(store, scope, {node.id: node.name or ""}, partition)
    if node.id not in subjects and found.how != "id":
        _refuse_ambiguous_note(store, scope, node, name, partition)
    return replace(found, id=subjects.get(node.id, node.id))


def _refuse_ambiguous_note(
    store: Store, scope: Scope, note: Node, name: str, partition: tuple[str, str | None]
) -> None:
    """Raises InputError if the note could be about several entities: a fact must name one of them."""
    norm = norm_name(note.name or "")
    namesakes = store.get(scope, store.named(scope, [norm]).get(norm, []))
    entities = [node for node in namesakes.values() if (node.owner, node.team) == partition and _is_stated(node)]
    if len(entities) > 1:
        raise InputError(_ambiguous(name, [note, *entities]))


def subjects_of(
    store: Store, scope: Scope, titles: Mapping[str, str], partition: tuple[str, str | None]
) -> dict[str, str]:
    """Returns, by note id, the id of the entity that has the note's title and is in this partition (owner and team).

    `titles` maps note ids to titles. Notes without such an entity are left out.
    """
    norms = {norm for title in titles.values() if (norm := norm_name(title))}
    named = store.named(scope, sorted(norms)) if norms else {}
    nodes = store.get(scope, sorted({id_ for ids in named.values() for id_ in ids}))
    found: dict[str, str] = {}
    for note, title in titles.items():
        namesakes = (nodes[id_] for id_ in named.get(norm_name(title), ()) if id_ in nodes)
        entity = entity_of((node for node in namesakes if (node.owner, node.team) == partition), title)
        if entity is not None:
            found[note] = entity.id
    return found


def entity_of(nodes: Iterable[Node], title: str) -> Node | None:
    """Returns the entity that a note of this title is about: the only one of that name, else the only one with that
    alias. None if there are several, or only entities that a rule made.
    """
    norm = norm_name(title)
    entities = [node for node in nodes if _is_stated(node)]
    by_name = [node for node in entities if norm_name(node.name or "") == norm]
    by_alias = [node for node in entities if norm in map(norm_name, node.aliases)]
    return next(iter(by_name or by_alias)) if len(by_name or by_alias) == 1 else None


def _is_stated(node: Node) -> bool:
    """True if the node is neither a text (atom, source, episode, storyline) nor made by a rule."""
    return node.kind not in _TEXT_KINDS and "found" not in node.props


def _ambiguous(name: str, nodes: Sequence[Node]) -> str:
    several = "; ".join(f"{node.id} ({node.kind}, {node.name})" for node in nodes[:_MOST_LISTED])
    return f"{name!r} may mean several: give the id, or the kind of the one you mean: {several}"


def _resolved(store: Store, scope: Scope, name: str, kind: str | None, fuzzy: bool) -> Resolved | None:
    if name in (found := store.get(scope, [name])) and kind in (None, UNTYPED, found[name].kind):
        return Resolved(name, "id")
    norm = norm_name(name)
    ids = store.named(scope, [norm]).get(norm, [])
    named = list(store.get(scope, ids).values())
    for wanted in (kind, UNTYPED) if kind is not None else (None,):
        if nodes := [node for node in named if wanted in (None, node.kind)]:
            return _exact(nodes, name, scope)
    for node in named:
        if node.owner == scope.user and norm_name(node.name or "") != norm:
            raise InputError(
                f"{name!r} is an alias of {node.name!r}, a {node.kind}: leave out the kind if you mean that one, or"
                f" `add` the {kind} of that name first"
            )
    words = name_words(name)
    prefixes = {word[:_PREFIX_LENGTH] for word in words if len(word) > _PREFIX_LENGTH}
    alike = store.named_like(scope, words, prefixes, CANDIDATES)
    return _nearest(alike, name, kind, scope, THRESHOLD if fuzzy else 1.0)


def precedence(node: Node, norm: str, scope: Scope) -> tuple[bool, ...]:
    """Returns a sort key for nodes with the same name; the name means the node with the least key. Names come before
    aliases, the user's own nodes before shared ones, nodes that users made before those a rule made, notes first.
    """
    return (
        norm_name(node.name or "") != norm,
        node.owner != scope.user,
        node.team != scope.share,
        "found" in node.props,
        node.kind != "source",
    )


def _exact(nodes: Sequence[Node], name: str, scope: Scope) -> Resolved:
    norm = norm_name(name)
    first = min(precedence(node, norm, scope) for node in nodes)
    best = sorted((n for n in nodes if precedence(n, norm, scope) == first), key=lambda n: n.id)
    # Of teammates' nodes of one name and kind the first is taken: the user cannot tell them apart.
    if len(best) > 1 and (best[0].owner == scope.user or len({node.kind for node in best}) > 1):
        raise InputError(_ambiguous(name, best))
    return Resolved(best[0].id, "name" if norm_name(best[0].name or "") == norm else "alias")


def _nearest(
    found: Iterable[NameMatch], name: str, kind: str | None, scope: Scope, threshold: float
) -> Resolved | None:
    """Returns the user's own entity with the name most similar to `name`. None if no similarity reaches `threshold`, or
    if the best are tied and differ in kind: then the name is ambiguous.
    """
    wanted = folded(name)
    alike = [
        (max(likeness(wanted, folded(other)) for other in (one.name, *one.aliases)), one)
        for one in found
        if one.owner == scope.user and (kind is None or one.kind in (kind, UNTYPED))
    ]
    near = sorted((pair for pair in alike if pair[0] >= threshold), key=lambda pair: (-pair[0], pair[1].id))
    if not near or len({one.kind for score, one in near if score == near[0][0]}) > 1:
        return None
    score, best = near[0]
    return Resolved(best.id, "folded" if score == 1.0 else "fuzzy", score)


def likeness(a: str, b: str) -> float:
    """Returns how similar two names in folded form (lower case, no accents) are, from 0 to 1. 0 if their numbers
    differ, or a word by more than a typo.

    >>> [round(likeness("project jackdaw", b), 2) for b in ("project jacckdaw", "project jackdwa", "project jack daw")]
    [0.94, 0.93, 0.94]
    >>> [likeness("project jackdaw", b) for b in ("project jackdaws", "project jackal", "project jackdaw 2")]
    [0.0, 0.0, 0.0]
    """
    if _NUMBER.findall(a) != _NUMBER.findall(b):
        return 0.0
    words, others = a.split(), b.split()
    if len(words) != len(others):
        return levenshtein(a, b) if "".join(words) == "".join(others) else 0.0
    if not all(one == other or _is_slip(one, other) for one, other in zip(words, others, strict=True)):
        return 0.0
    return _similarity(a, b)


def _similarity(a: str, b: str) -> float:
    """Returns the similarity by letters; two swapped letters count as one difference."""
    return 1 - 1 / len(a) if len(a) == len(b) and a != b else levenshtein(a, b)


def _is_slip(a: str, b: str) -> bool:
    """True if two words differ by a typo: a letter doubled or left single, or two neighbouring letters swapped.

    A different or additional letter makes another name: Peterson is not Petersen, nor Asymptomatic Symptomatic.
    """
    if _similarity(a, b) <= WORD_THRESHOLD:
        return False
    if len(a) == len(b):
        first, *rest = (n for n in range(len(a)) if a[n] != b[n])
        return rest == [first + 1] and (a[first], a[first + 1]) == (b[first + 1], b[first])
    return abs(len(a) - len(b)) == 1 and [x for x, _ in groupby(a)] == [x for x, _ in groupby(b)]
