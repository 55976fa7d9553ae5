"""Finds any node by its id, or by its exact name or alias; nodes of a source file; and refuses those of other users.

`resolve_entity` finds the entity that a name means, also by a similar name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cuetrail.errors import NotFound
from cuetrail.model import Node, Scope
from cuetrail.store.ports import Store
from cuetrail.text.normalise import norm_name


def find_node(store: Store, scope: Scope, id_or_name: str) -> str | None:
    """Returns the id of the node with this id or, failing that, this name or alias; None if there is none."""
    if store.get(scope, [id_or_name]):
        return id_or_name
    norm = norm_name(id_or_name)
    found = store.named(scope, [norm]).get(norm)
    return found[0] if found else None


def get_node(store: Store, scope: Scope, id_or_name: str) -> Node | None:
    """Returns the node with this id or, failing that, this name or alias; None if there is none."""
    found = find_node(store, scope, id_or_name)
    return store.get(scope, [found]).get(found) if found is not None else None


def require_node(store: Store, scope: Scope, id_or_name: str) -> str:
    """Returns the id of the node with this id or name. Raises NotFound if there is none."""
    found = find_node(store, scope, id_or_name)
    if found is None:
        raise NotFound(
            f"there is no node with the id or name {id_or_name!r} in this scope; `recall` finds nodes and their ids"
        )
    return found


def nodes_of(store: Store, scope: Scope, ids: Iterable[str], source: str | None) -> list[str]:
    """Returns the ids of these nodes, given by id or name, and of all nodes of a source file. Raises NotFound for an
    unknown node, and for a source without nodes.
    """
    nodes = [] if source is None else store.atoms_of(scope, [source], everywhere=True)[source]
    of_file = [node.id for node in nodes]
    if source is not None and not of_file:
        raise NotFound(f"nothing in this scope came from {source!r}{_similar_source(store, scope, source)}")
    return [require_node(store, scope, id_) for id_ in ids] + of_file


def _similar_source(store: Store, scope: Scope, source: str) -> str:
    """Returns the end of an error message: a file whose path ends in this one, "" if there is none."""
    for name in sorted(store.ingested(scope).roots):
        for file in sorted(store.ingested(scope, name).files):
            if file.endswith(f"/{source}"):
                return f"; did you mean {file!r}?"
    return ""


def require_own(store: Store, scope: Scope, ids: Sequence[str], verb: str) -> list[Node]:
    """Returns the nodes with these ids. Raises NotFound if one belongs to another user; `verb` is for the message."""
    nodes = list(store.get(scope, ids).values())
    other = next((node for node in nodes if node.owner != scope.user), None)
    if other is not None:
        raise NotFound(f"{other.id!r} belongs to {other.owner!r}: only its owner can {verb} it")
    return nodes
