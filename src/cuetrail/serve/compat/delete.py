"""Deletion as other memory systems mean it: equal texts of other owners stay."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cuetrail.store.shared.tombstones import bare_words
from cuetrail.store.write import Batch

if TYPE_CHECKING:
    from cuetrail.memory import Memory
    from cuetrail.model import Node


def delete_nodes(memory: Memory, nodes: Sequence[Node], atoms: Sequence[Node]) -> None:
    """Forgets nodes and atoms. An atom whose text another owner has too is removed without forgetting the text."""
    copies = {bare_words(copy) for copy in memory.doomed(*(atom.id for atom in atoms)).copies} if atoms else set()
    shared = [atom.id for atom in atoms if bare_words(atom) in copies]
    if shared:
        memory.store.write(memory.scope, Batch(remove_nodes=shared))
    ids = [node.id for node in (*nodes, *atoms) if node.id not in shared]
    if ids:
        memory.forget(*ids)
