"""Tables and plots of the stored results: docs/benchmarks/quality.md between its markers, and PNG files beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.common import megabytes, ms
from bench.quality.plots import draw
from bench.quality.published import PUBLISHED
from bench.quality.run import Measured

DOCUMENT = Path(__file__).parents[2] / "docs" / "benchmarks" / "quality.md"
START, END = "<!-- results: python -m bench.quality --report -->", "<!-- end of results -->"
EMBEDDERS = {"static": "the default embedder", "bge": "bge-small-en-v1.5 int8"}


def publish(results: Sequence[Measured], document: Path = DOCUMENT) -> str:
    """Fill the document and draw the plots; what was written comes back. Raises SystemExit without the markers."""
    before, start, rest = document.read_text("utf-8").partition(START)
    _, end, after = rest.partition(END)
    if not start or not end:
        raise SystemExit(f"{document.name} needs the lines {START!r} and {END!r}")
    pictures = draw(results, document.parent)
    document.write_text(before + START + "\n\n" + filled(results, pictures) + END + after, "utf-8")
    return f"{document.name}: {len(results)} results, {len(pictures)} plots"


def filled(results: Sequence[Measured], pictures: Sequence[Path] = ()) -> str:
    """An overview and the plots, then a section for each result."""
    if not results:
        return "No results yet.\n\n"
    parts = [overview(results), *(f"![{path.stem}]({path.name})\n" for path in pictures)]
    for result in results:
        parts += [f"### {titled(result)}, {EMBEDDERS[result.embedder]}\n", markdown(*table(result)), told(result)]
        parts += [markdown(*by_group(result))] if result.rows[0]["groups"] else []
    machines = dict.fromkeys(", ".join(f"{k} {v}" for k, v in result.machine.items()) for result in results)
    return "\n".join([*parts, *(f"Measured with: {one}.\n" for one in machines), ""])


def overview(results: Sequence[Measured]) -> str:
    """One line a row, one column a set, by the set's own measure."""
    parts = []
    for embedder in dict.fromkeys(result.embedder for result in results):
        some = [result for result in results if result.embedder == embedder]
        names = list(dict.fromkeys(row["name"] for result in some for row in result.rows))
        rows = [[name, *(_figure(result, name) for result in some)] for name in names]
        columns = [f"with {EMBEDDERS[embedder]}", *(f"{titled(result)} {result.by}" for result in some)]
        parts.append(markdown(columns, rows))
    return "\n".join(parts)


def titled(result: Measured) -> str:
    """The name of a set, and what its memory held besides."""
    return f"{result.title}{' with given triples' if result.triples else ''}"


def _figure(result: Measured, name: str) -> str:
    row = next((row for row in result.rows if row["name"] == name), None)
    return "" if row is None else _percent(row["figures"][result.by])


def table(result: Measured) -> tuple[list[str], list[list[str]]]:
    """Our rows, then the published ones, which have neither intervals nor times."""
    first = result.rows[0]["name"]
    columns = ["row", *result.measures, f"{first} is higher by ({result.by}, 95 %)", "p50", "p95"]
    rows = [
        [
            row["name"],
            *(_percent(row["figures"][name]) for name in result.measures),
            "" if row["name"] == first or row["lead"] is None else _lead(row["lead"]),
            ms(row["p50"]),
            ms(row["p95"]),
        ]
        for row in result.rows
    ]
    for other in PUBLISHED.get(result.set, ()):
        figures = (f"{other.figures[name]:.1f}" if name in other.figures else "" for name in result.measures)
        rows.append([f"{other.method}: needs {other.needs}", *figures, "", "", ""])
    return columns, rows


def by_group(result: Measured) -> tuple[list[str], list[list[str]]]:
    """Every kind of question, by every measure that was taken, a line a row."""
    groups = result.rows[0]["groups"]
    titles = [f"{group} ({one['questions']})" for group, one in groups.items()]
    by = result.measures[min(1, len(result.measures) - 1)]
    rows = [[row["name"], *(_percent(row["groups"][group][by]) for group in groups)] for row in result.rows]
    return [f"{by} by kind", *titles], rows


def told(result: Measured) -> str:
    """Returns the costs of building and asking as text."""
    dreamt = f", then {result.dream_seconds:.0f} s of dreaming" if result.dreamt else ""
    return (
        f"{result.questions:,} questions, {result.nodes:,} nodes. "
        f"Taken in within {result.index_seconds:.1f} s{dreamt}, with at most {megabytes(result.index_peak)} of memory; "
        f"asked with {megabytes(result.ask_peak)}. "
        f"Tokens of a language model: {result.tokens}.\n"
    )


def _lead(lead: dict[str, Any]) -> str:
    """Returns how much higher the first row scores; the stored lead has the opposite sign."""
    mean, low, high = (_signed(-100 * lead[name]) for name in ("mean", "high", "low"))
    return f"{mean} ({low} to {high})"


def _signed(number: float) -> str:
    # Round first, to avoid "-0.0".
    return f"{round(number, 1) + 0.0:+.1f}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


def markdown(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    rule = ["---", *("---:" for _ in columns[1:])]
    return "".join(f"| {' | '.join(row)} |\n" for row in (columns, rule, *rows))
