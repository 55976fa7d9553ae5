"""Records moved into quarantine and out of it are unchanged."""

from __future__ import annotations

from dataclasses import replace

from cuetrail import Node
from cuetrail.model.records import into_quarantine, out_of_quarantine


def test_moving_is_its_own_inverse() -> None:
    for node in (Node("a"), Node("a", provenance="external", props={"x": 1}), Node("a", provenance="quarantine")):
        assert into_quarantine(into_quarantine(node)) == into_quarantine(node)
        assert out_of_quarantine(into_quarantine(node)) == (
            node if node.provenance != "quarantine" else replace(node, provenance="external")
        )
