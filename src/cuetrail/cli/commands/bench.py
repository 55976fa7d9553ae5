"""The verb that measures: bench."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from cuetrail.cli import present
from cuetrail.cli.command import Run, pass_run, verb

if TYPE_CHECKING:
    from cuetrail.evaluate import Comparison, Row

RECIPES = ("trail", "tag-walk", "energy", "narrative", "explore")


@verb("bench", "cuetrail bench questions.jsonl", "cuetrail bench questions.jsonl --recipe trail --recipe energy --json")
@click.argument("questions", metavar="QUESTIONS_FILE", type=click.Path(path_type=Path))
@click.option(
    "--recipe",
    "only",
    type=click.Choice(RECIPES),
    multiple=True,
    help="Only this recipe; repeatable, the first is what the others are held against. [default: all]",
)
@click.option(
    "--limit", metavar="N", type=click.IntRange(1), default=10, show_default=True, help="Ask for this many hits."
)
@pass_run
def bench(run: Run, questions: Path, only: tuple[str, ...], limit: int) -> None:
    """Compare the recipes on your own questions.

    Each line of QUESTIONS_FILE is {"question": "...", "gold": ["..."]}; gold are the ids or names of what should be
    found, and a file counts as found with anything from it. R@5 is the share of it among the first five hits, All@10
    the share of questions with all of it among the first ten, MRR the mean of one over the place of the first.
    """

    def told(name: str, done: int, _total: int) -> None:
        run.notice(f"{name}: {present.count(done, 'question')} asked")

    with run.open(vectors=True) as memory:
        found = memory.bench(questions, only=only, limit=limit, progress=told)
    run.result(found.to_dict(), table(found))


def table(found: Comparison) -> str:
    """The rows for people, shares in per cent."""
    first = found.rows[0]
    columns = ["recipe", *first.figures, f"{found.by} against {first.name} (95 %)", "p50", "p95"]
    rows = [columns, *(_cells(row, row is first) for row in found.rows)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(columns))]
    lines = ("  ".join(_padded(row, widths)).rstrip() for row in rows)
    return "\n".join((*lines, f"{present.count(found.questions, 'question')}, no language model"))


def _cells(row: Row, is_first: bool) -> list[str]:
    lead = row.lead
    told = "" if is_first else f"{_signed(lead.mean)} ({_signed(lead.low)} to {_signed(lead.high)})"
    figures = (f"{100 * value:.1f}" for value in row.figures.values())
    return [row.name, *figures, told, f"{row.p50 * 1000:.1f} ms", f"{row.p95 * 1000:.1f} ms"]


def _signed(share: float) -> str:
    # Rounded first: there is no minus nothing.
    return f"{round(100 * share, 1) + 0.0:+.1f}"


def _padded(row: list[str], widths: list[int]) -> list[str]:
    return [
        cell.rjust(width) if place else cell.ljust(width)
        for place, (cell, width) in enumerate(zip(row, widths, strict=True))
    ]
