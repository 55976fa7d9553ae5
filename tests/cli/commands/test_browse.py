"""The commands timeline, labels, dreams and edit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from click.testing import Result

from cuetrail.cli.commands.browse import _lines
from cuetrail.model import Saved, Savings

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


def test_savings_say_what_agents_were_handed_and_what_whole_notes_would_have_been(
    run: Run, ask: Ask, vault: Path
) -> None:
    run("ingest", vault)
    assert run("savings").stdout.startswith("no answers yet")
    run("recall", "frost")
    run("recall", "frost", "--no-touch")
    found = ask("savings", "--since", "yesterday")
    assert (found["answers"], found["notes"], len(found["days"])) == (1, 2, 1)
    assert run("savings").stdout == (
        f"1 answer, {found['tokens']} tokens; reading their 2 notes whole would have been {found['whole']} tokens\n"
    )


def test_savings_of_many_days_are_listed_by_day_or_by_month() -> None:
    days = [Saved(f"2026-01-{day:02}", 1, 10, 2, 100) for day in range(1, 32)]
    few = _lines(Savings(tuple(days[:2])))
    assert few[0] == "2 answers, 20 tokens; reading their 4 notes whole would have been 200 tokens"
    assert [line.split() for line in few[3:]] == [[day.day, "1", "10", "2", "100"] for day in days[:2]]
    many = _lines(Savings((*days, Saved("2026-02-01", 1, 10, 2, 1000))))
    assert [line.split() for line in many[3:]] == [
        ["2026-01", "31", "310", "62", "3,100"],
        ["2026-02", "1", "10", "2", "1,000"],
    ]
