"""`cuetrail bench`: compares recipes on your own questions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from cuetrail.cli.command import Run, verb
from cuetrail.cli.options import number
from cuetrail.cli.output import count_of, table

if TYPE_CHECKING:
    from cuetrail.evaluate import Comparison, Row

RECIPES = ("trail", "tag-walk", "energy", "narrative", "explore")


@verb("cuetrail bench questions.jsonl", "cuetrail bench questions.jsonl --recipe trail --recipe energy --json")
@click.argument("questions", metavar="QUESTIONS_FILE", type=click.Path(path_type=Path))
@click.option(
    "--recipe", "only", type=click.Choice(RECIPES), multiple=True,
    help="Only this recipe; repeatable; the others are compared with the first. [default: all]",
)  # fmt: skip
@number("--limit", least=1, default=10, help="Ask for this many hits.")
def bench(run: Run, questions: Path, only: tuple[str, ...], limit: int) -> None:
    """Compare the recipes on your own questions.

    Each line of QUESTIONS_FILE is {"question": "...", "gold": ["..."]}. gold lists the ids or names of the expected
    results; any passage of a file counts for the file. R@5 is the share of gold among the first five hits, All@10 the
    share of questions with all gold among the first ten, MRR the mean of 1 / rank of the first gold hit.
    """

    def progress(name: str, done: int, _total: int) -> None:
        run.notice(f"{name}: {count_of(done, 'question')} asked")

    with run.open(vectors=True, rerank=True) as memory:
        found = memory.bench(questions, only=only, limit=limit, progress=progress)
    run.result(found.to_dict(), _comparison_table(found))


def _comparison_table(found: Comparison) -> str:
    """Returns the comparison as a table, shares in per cent."""
    first = found.rows[0]
    columns = ["recipe", *first.figures, f"{found.by} against {first.name} (95 %)", "p50", "p95"]
    lines = table([columns, *(_cells(row, row is first) for row in found.rows)])
    return "\n".join((*lines, f"{count_of(found.questions, 'question')}, no language model"))


def _cells(row: Row, is_first: bool) -> list[str]:
    lead = row.lead
    lead_text = "" if is_first else f"{_signed(lead.mean)} ({_signed(lead.low)} to {_signed(lead.high)})"
    figures = (f"{100 * value:.1f}" for value in row.figures.values())
    return [row.name, *figures, lead_text, f"{row.p50 * 1000:.1f} ms", f"{row.p95 * 1000:.1f} ms"]


def _signed(share: float) -> str:
    # Adding 0.0 to the rounded value turns -0.0 into 0.0.
    return f"{round(100 * share, 1) + 0.0:+.1f}"
