"""Which entity a name means: by its name, an alias, the same without case and accents, or nearly the same letters.

Never one of another type where a type is asked for, and never one that another user keeps for himself; what comes near
is never another user's at all. A note is a text about something: where the user has an entity of its name, that is what
is meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal

from cuetrail.errors import InputError
from cuetrail.model import DERIVED, Node, Scope
from cuetrail.store.ports import Store
from cuetrail.store.search import Alike
from cuetrail.text.normalise import folded, name_words, norm_name
from cuetrail.text.similarity import levenshtein

How = Literal["id", "name", "alias", "folded", "fuzzy"]

THRESHOLD = 0.88
"""Names of which so much is alike mean the same: one slip in nine letters or more."""

WORD_THRESHOLD = 0.8
"""Each word must be more alike than this: a short one is not the same with a letter doubled, nor XI with XII."""

UNTYPED = "entity"
"""The kind of what nobody gave one."""

CANDIDATES = 200
_BEGINNING = 3
_NUMBER = re.compile(r"\d+")
_MOST_NAMED = 5
_TEXTS = ("atom", "source", "episode", *DERIVED)


@dataclass(frozen=True, slots=True)
class Resolved:
    """The entity that a name means, how that is known, and how alike the names are."""

    id: str
    how: How
    likeness: float = 1.0


def resolve_entity(
    store: Store, scope: Scope, name: str, kind: str | None = None, *, fuzzy: bool = True
) -> Resolved | None:
    """The entity of this id or name, and of this kind if one is given; None where there is none.

    One that nobody gave a kind may be of any. Raises InputError where the name is that of several, and nothing tells
    which is meant, or where it is an alias of something of another kind.
    """
    found = _resolved(store, scope, name, kind, fuzzy)
    node = store.get(scope, [found.id]).get(found.id) if found is not None else None
    if found is None or node is None or node.kind != "source" or node.owner != scope.user:
        return found
    place = (node.owner, node.team)
    about = subjects_of(store, scope, {node.id: node.name or ""}, place)
    if node.id not in about and found.how != "id":
        _refuse_several(store, scope, node, name, place)
    return replace(found, id=about.get(node.id, node.id))


def _refuse_several(store: Store, scope: Scope, note: Node, name: str, place: tuple[str, str | None]) -> None:
    """Raises InputError where a note may be about several: what was stated of its name is of one of them."""
    norm = norm_name(note.name or "")
    alike = store.get(scope, store.named(scope, [norm]).get(norm, []))
    made = [node for node in alike.values() if (node.owner, node.team) == place and _is_made(node)]
    if len(made) > 1:
        raise InputError(_several(name, [note, *made]))


def subjects_of(store: Store, scope: Scope, titles: Mapping[str, str], place: tuple[str, str | None]) -> dict[str, str]:
    """The entities that notes, given by id and title, are about: the user's own of that name in the same place."""
    norms = {norm for title in titles.values() if (norm := norm_name(title))}
    named = store.named(scope, sorted(norms)) if norms else {}
    nodes = store.get(scope, sorted({id_ for ids in named.values() for id_ in ids}))
    found: dict[str, str] = {}
    for note, title in titles.items():
        alike = (nodes[id_] for id_ in named.get(norm_name(title), ()) if id_ in nodes)
        entity = entity_of((node for node in alike if (node.owner, node.team) == place), title)
        if entity is not None:
            found[note] = entity.id
    return found


def entity_of(nodes: Iterable[Node], title: str) -> Node | None:
    """The one that a note of this title is about: who is called so, else who is also called so. None where there are
    several, or what a rule made alone.
    """
    norm = norm_name(title)
    made = [node for node in nodes if _is_made(node)]
    named = [node for node in made if norm_name(node.name or "") == norm]
    also = [node for node in made if norm in map(norm_name, node.aliases)]
    return next(iter(named or also)) if len(named or also) == 1 else None


def _is_made(node: Node) -> bool:
    """Whether somebody made an entity of it; a text is none."""
    return node.kind not in _TEXTS and "found" not in node.props


def _several(name: str, nodes: Sequence[Node]) -> str:
    several = "; ".join(f"{node.id} ({node.kind}, {node.name})" for node in nodes[:_MOST_NAMED])
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
    return _near(_candidates(store, scope, name), name, kind, scope, THRESHOLD if fuzzy else 1.0)


def precedence(node: Node, norm: str, scope: Scope) -> tuple[bool, ...]:
    """Which of the nodes of a name is meant: the least. Who is called so comes before who is also called so, the
    user's own before what is shared, what somebody made before what a rule made, and a note before anything else.
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
    # Of what teammates call the same, the first will do: none of it is the user's to tell apart.
    if len(best) > 1 and (best[0].owner == scope.user or len({node.kind for node in best}) > 1):
        raise InputError(_several(name, best))
    return Resolved(best[0].id, "name" if norm_name(best[0].name or "") == norm else "alias")


def _candidates(store: Store, scope: Scope, name: str) -> list[Alike]:
    words = name_words(name)
    return store.named_like(scope, words, {w[:_BEGINNING] for w in words if len(w) > _BEGINNING}, CANDIDATES)


def _near(found: Iterable[Alike], name: str, kind: str | None, scope: Scope, threshold: float) -> Resolved | None:
    """The one that is most alike. Where two types are as near, nobody knows which is meant."""
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
    """How alike two folded names are; 0 where a number or a word tells them apart.

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
    return _alike(a, b)


def _alike(a: str, b: str) -> float:
    """By letters, two that are swapped counted as one."""
    return 1 - 1 / len(a) if len(a) == len(b) and a != b else levenshtein(a, b)


def _is_slip(a: str, b: str) -> bool:
    """Whether two words are one but for a slip of the pen: a letter doubled or left single, or two that are swapped.

    Another letter, or one more, makes another name: Peterson is not Petersen, nor Asymptomatic Symptomatic.
    """
    if _alike(a, b) <= WORD_THRESHOLD:
        return False
    if len(a) == len(b):
        first, *rest = (n for n in range(len(a)) if a[n] != b[n])
        return rest == [first + 1] and (a[first], a[first + 1]) == (b[first + 1], b[first])
    return abs(len(a) - len(b)) == 1 and [x for x, _ in groupby(a)] == [x for x, _ in groupby(b)]
