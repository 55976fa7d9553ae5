"""Looking through a memory and tending it on the command line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from click.testing import Result

Run = Callable[..., Result]
Ask = Callable[..., Any]


def test_edit_corrects_and_keeps_what_was_said(run: Run, ask: Ask) -> None:
    node = ask("add", "The mast fell", "--tag", "radio")
    after = ask("edit", node["id"][:8], "--text", "The mast stands")
    assert (after["text"], after["tags"]) == ("The mast stands", ["radio"])
    assert "The mast fell" in run("get", node["id"], "--history").stdout
    assert "say what to change" in run("edit", node["id"], code=2).stderr
