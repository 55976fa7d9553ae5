"""Records moved into quarantine and out of it are unchanged; a title is embedded before a text that lacks it."""

from __future__ import annotations

from dataclasses import replace

from cuetrail import Node
from cuetrail.model.records import into_quarantine, out_of_quarantine
from cuetrail.model.searched_fields import embedded_text


def test_moving_is_its_own_inverse() -> None:
    for node in (Node("a"), Node("a", provenance="external", props={"x": 1}), Node("a", provenance="quarantine")):
        assert into_quarantine(into_quarantine(node)) == into_quarantine(node)
        assert out_of_quarantine(into_quarantine(node)) == (
            node if node.provenance != "quarantine" else replace(node, provenance="external")
        )


def test_a_title_is_left_out_only_before_a_text_that_begins_with_it_as_a_whole_word() -> None:
    assert embedded_text(Node("a", text="Tea is brewed.", props={"title": "Tea"})) == "Tea is brewed."
    assert embedded_text(Node("a", text="Teas are brewed.", props={"title": "Tea"})) == "Tea: Teas are brewed."
