"""Which entity a name means: by its name, an alias, the same without case and accents, or nearly the same letters.

Never one of another type where a type is asked for, and never one that another user keeps for himself; what comes near
is never another user's at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from cuetrail.likeness import levenshtein
from cuetrail.model import Node, Scope
from cuetrail.store.base import Alike, Store
from cuetrail.text import folded, name_words, norm_name

How = Literal["id", "name", "alias", "folded", "fuzzy"]

THRESHOLD = 0.88
"""Names of which so much is alike mean the same: one letter of eight or more may differ."""

CANDIDATES = 200
_BEGINNING = 3


@dataclass(frozen=True, slots=True)
class Resolved:
    """The entity that a name means, how that is known, and how alike the names are."""

    id: str
    how: How
    likeness: float = 1.0


def resolve_entity(
    store: Store, scope: Scope, name: str, kind: str | None = None, *, fuzzy: bool = True
) -> Resolved | None:
    """The entity of this id or name, and of this kind if one is given; None where there is none, or it is unclear."""
    if name in (found := store.get(scope, [name])) and kind in (None, found[name].kind):
        return Resolved(name, "id")
    norm = norm_name(name)
    ids = store.named(scope, [norm]).get(norm, [])
    nodes = [node for node in store.get(scope, ids).values() if kind in (None, node.kind)]
    if nodes:
        return _exact(nodes, norm, scope)
    return _near(_candidates(store, scope, name), name, kind, scope, THRESHOLD if fuzzy else 1.0)


def _exact(nodes: Sequence[Node], norm: str, scope: Scope) -> Resolved:
    """Who is called so before who is also called so, the user's own before what is shared, then by id."""
    best = min(nodes, key=lambda n: (norm_name(n.name or "") != norm, n.owner != scope.user, n.id))
    return Resolved(best.id, "name" if norm_name(best.name or "") == norm else "alias")


def _candidates(store: Store, scope: Scope, name: str) -> list[Alike]:
    words = name_words(name)
    return store.named_like(scope, words, {w[:_BEGINNING] for w in words if len(w) > _BEGINNING}, CANDIDATES)


def _near(found: Iterable[Alike], name: str, kind: str | None, scope: Scope, threshold: float) -> Resolved | None:
    """The one that is most alike. Where two types are as near, nobody knows which is meant."""
    wanted = folded(name)
    alike = [
        (max(levenshtein(wanted, folded(other)) for other in (one.name, *one.aliases)), one)
        for one in found
        if one.owner == scope.user and kind in (None, one.kind)
    ]
    near = sorted((pair for pair in alike if pair[0] >= threshold), key=lambda pair: (-pair[0], pair[1].id))
    if not near or len({one.kind for score, one in near if score == near[0][0]}) > 1:
        return None
    score, best = near[0]
    return Resolved(best.id, "folded" if score == 1.0 else "fuzzy", score)
