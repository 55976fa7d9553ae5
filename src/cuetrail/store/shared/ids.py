"""Ids in a scope that sees several partitions, and the forms under which names are found.

A partition is what one user keeps privately or shares with one team. In a scope a plain id means one record: that of
the partition the scope writes to, else of the user's other partitions, else of a teammate, by team and owner. Any other
visible record with that id is called `id@@owner/team`, or `id@@owner` if it is private.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from cuetrail.errors import InputError
from cuetrail.model import Node, Scope
from cuetrail.store.read import Reads

SIGN = "@@"
"""Separates an id from its owner. No plain id contains it."""


def plain(id_: str) -> str:
    """Returns the id without the owner behind `@@`, as it is stored."""
    return id_.partition(SIGN)[0]


def place_labels(named: Sequence[tuple[int, str, str]]) -> dict[int, str]:
    """Returns, by partition number, the part of an id behind `@@` that names its owner and team. Partitions are given
    as (number, owner, team).

    >>> place_labels([(1, "ann", ""), (2, "ann", "ops"), (3, "ann/ops", "")])
    {1: 'ann', 2: 'ann/ops', 3: 'ann/ops@@3'}
    """
    seen: set[str] = set()
    labels: dict[int, str] = {}
    for part, owner, team in named:
        label = f"{owner}/{team}" if team else owner
        # A slash in a name must not make two labels equal.
        labels[part] = label if label not in seen else f"{label}{SIGN}{part}"
        seen.add(label)
    return labels


def check_ids(ids: Iterable[str], known: Callable[[Sequence[str]], Iterable[str]]) -> None:
    """Raises InputError if one of the ids for new records contains `@@`. `known` returns those that exist in other
    partitions; for them the message names the owner as the one who may change them.
    """
    named = [id_ for id_ in ids if SIGN in id_]
    for id_ in known(named) if named else ():
        raise InputError(
            f"{id_!r} belongs to another user or team: its owner changes it there, by its own id and with that team as "
            "--share. For one of your own choose another id"
        )
    if named:
        raise InputError(f"{named[0]!r} cannot be an id, because {SIGN!r} is used to tell whose one is: choose another")


def _age(node: Node) -> tuple[int, str, int, str]:
    return (node.created, node.source or "", node.seq, node.id)


def own_nodes(store: Reads, scope: Scope, ids: Sequence[str]) -> dict[Scope, list[Node]]:
    """Returns those of these nodes that the user owns, oldest first, under their plain ids. The keys are the scopes
    that write to their partitions.
    """
    found: dict[Scope, list[Node]] = {}
    for node in sorted(store.get(scope, ids).values(), key=_age):
        if node.owner == scope.user:
            found.setdefault(replace(scope, share=node.team), []).append(replace(node, id=plain(node.id)))
    return found
