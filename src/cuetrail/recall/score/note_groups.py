"""Groups the hits of TRAIL by note or conversation: one entry each, the best passage first, the others folded."""

from __future__ import annotations

from collections.abc import Sequence

from cuetrail.model import Node
from cuetrail.model.records import TITLE
from cuetrail.recall.score.signals import speaker_of
from cuetrail.recall.trail_constants import is_in_note

# Passages are folded under the best one of their note if they are among the first `DEPTH * limit`.
DEPTH = 3


def group_by_note(ranked: Sequence[Node], limit: int) -> list[list[Node]]:
    """Returns the ranked nodes in at most `limit` groups, by rank: the passages of one note or conversation form a
    group, any other node is a group of its own. Only the first `DEPTH * limit` nodes join a group that exists.

    >>> nodes = [Node(id_, source=id_[0], props={"title": "T"}) for id_ in ("a1", "b1", "a2")] + [Node("c")]
    >>> [[node.id for node in group] for group in group_by_note(nodes, 2)]
    [['a1', 'a2'], ['b1']]
    """
    groups: dict[object, list[Node]] = {}
    for rank, node in enumerate(ranked):
        key = (node.owner, node.team, node.source) if _is_passage(node) else node.id
        if key in groups and rank < DEPTH * limit:
            groups[key].append(node)
        elif key not in groups and len(groups) < limit:
            groups[key] = [node]
    return list(groups.values())


def _is_passage(node: Node) -> bool:
    """True for a passage of a note and for a turn of a conversation."""
    return node.source is not None and (is_in_note(node) or TITLE in node.props or bool(speaker_of(node)))
