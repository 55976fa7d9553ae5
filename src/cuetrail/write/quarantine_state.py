"""A node in and out of quarantine: its provenance, and the one it had before."""

from __future__ import annotations

from dataclasses import replace

from cuetrail.model import Node, Provenance

FORMER = "quarantined_from"
"""The property that holds a node's provenance from before its quarantine."""


def set_aside(node: Node) -> Node:
    """Returns the node in quarantine; unchanged if it is there already."""
    if node.provenance == "quarantine":
        return node
    return replace(node, provenance="quarantine", props={**node.props, FORMER: node.provenance})


def release(node: Node) -> Node:
    """Returns the node as it was before its quarantine. One that was written into quarantine becomes external."""
    if node.provenance != "quarantine":
        return node
    provenance: Provenance = "internal" if node.props.get(FORMER) == "internal" else "external"
    return replace(node, provenance=provenance, props={k: v for k, v in node.props.items() if k != FORMER})


def still_aside(node: Node) -> Node:
    """Returns a node that its file states anew; in quarantine if a person had put it there."""
    return set_aside(node) if FORMER in node.props else node
