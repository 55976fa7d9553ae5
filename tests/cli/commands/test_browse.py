"""The commands timeline, labels, dreams and edit."""

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


def test_the_timeline_is_read_page_by_page(run: Run, ask: Ask) -> None:
    for day in (1, 2, 3):
        run("add", f"Day {day}", "--id", f"d{day}", "--at", f"2025-03-0{day}", "--tag", "log")
    first = ask("timeline", "--limit", "2")
    assert [node["id"] for node in first["nodes"]] == ["d3", "d2"]
    shown = run("timeline", "--limit", "2", "--after", first["more"])
    assert shown.stdout == "2025-03-01        d1        Day 1\n"
    assert "nothing is here" in run("timeline", "--tag", "other").stdout
    assert "after must be" in run("timeline", "--after", "x", code=2).stderr


def test_labels_and_dreams_are_listed(run: Run, ask: Ask) -> None:
    run("add", "The mast fell", "--tag", "radio", "--bucket", "field")
    assert ask("labels") == [{"name": "radio", "nodes": 1}]
    assert run("labels", "bucket").stdout == "       1  field\n"
    assert "nothing was dreamt yet" in run("dreams").stdout
    run("dream")
    (dreamt,) = ask("dreams")
    assert dreamt["report"]["passes"][0]["name"] == "temporal"
    assert "temporal +" in run("dreams").stdout


def test_automatic_tags_are_shown_apart_from_those_that_people_gave(run: Run, ask: Ask) -> None:
    run("add", "The mast fell", "--id", "a", "--tag", "radio", "--at", "2025-03-01")
    run("dream")
    assert ask("labels") == [{"name": "radio", "nodes": 1}]
    automatic = [one["name"] for one in ask("labels", "automatic")]
    assert {"2025", "march", "saturday"} <= set(automatic)
    counts = ask("stats")
    assert (counts["tags"], counts["automatic_tags"]) == (1, len(automatic))
    assert f"tags       1  (and {len(automatic)} automatic)" in run("stats").stdout
    shown = ask("get", "a")["node"]
    assert (shown["tags"], set(shown["automatic_tags"])) == (["radio"], set(automatic))
    lines = run("get", "a").stdout.splitlines()
    assert [line for line in lines if line.startswith("tags")] == ["tags       #radio"]
    assert next(line for line in lines if line.startswith("automatic")).count("#") == len(automatic)
