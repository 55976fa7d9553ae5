"""Which entity a name means: by its name, an alias, the same without case and accents, or nearly the same letters.

Never one of another type where a type is asked for, and never one that another user keeps for himself; what comes near
is never another user's at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from cuetrail.errors import InputError
from cuetrail.likeness import levenshtein
from cuetrail.model import Node, Scope
from cuetrail.store.base import Alike, Store
from cuetrail.text import folded, name_words, norm_name

How = Literal["id", "name", "alias", "folded", "fuzzy"]

THRESHOLD = 0.88
"""Names of which so much is alike mean the same: one letter of nine or more may differ."""

WORD_THRESHOLD = 0.8
"""Each word must be more alike than this: Anna Schmidt is not Anne Schmidt, nor Sprint XI Sprint XII."""

CANDIDATES = 200
_BEGINNING = 3
_NUMBER = re.compile(r"\d+")
_MOST_NAMED = 5


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

    Raises InputError where the name is that of several, and nothing tells which is meant.
    """
    if name in (found := store.get(scope, [name])) and kind in (None, found[name].kind):
        return Resolved(name, "id")
    norm = norm_name(name)
    ids = store.named(scope, [norm]).get(norm, [])
    nodes = [node for node in store.get(scope, ids).values() if kind in (None, node.kind)]
    if nodes:
        return _exact(nodes, name, scope)
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
        several = "; ".join(f"{node.id} ({node.kind}, {node.name})" for node in best[:_MOST_NAMED])
        raise InputError(f"{name!r} may mean several: give the id, or the kind of the one you mean: {several}")
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
        if one.owner == scope.user and kind in (None, one.kind)
    ]
    near = sorted((pair for pair in alike if pair[0] >= threshold), key=lambda pair: (-pair[0], pair[1].id))
    if not near or len({one.kind for score, one in near if score == near[0][0]}) > 1:
        return None
    score, best = near[0]
    return Resolved(best.id, "folded" if score == 1.0 else "fuzzy", score)


def likeness(a: str, b: str) -> float:
    """How alike two folded names are; 0 where a number or a word tells them apart.

    >>> [round(likeness("project jackdaw", b), 2) for b in ("project jackdaws", "project jackal", "project jackdaw 2")]
    [0.94, 0.0, 0.0]
    """
    if _NUMBER.findall(a) != _NUMBER.findall(b):
        return 0.0
    words, others = a.split(), b.split()
    pairs = zip(words, others, strict=True) if len(words) == len(others) else ()
    if any(levenshtein(word, other) <= WORD_THRESHOLD for word, other in pairs):
        return 0.0
    return levenshtein(a, b)
