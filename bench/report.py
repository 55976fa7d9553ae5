"""Puts the stored results into docs/benchmarks.md, between its markers.

python -m bench.report
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bench.bounds import COLUMNS, verdicts
from bench.common import Result, load_results, title

DOCUMENT = Path(__file__).parent.parent / "docs" / "benchmarks.md"
START, END = "<!-- results: python -m bench.report -->", "<!-- end of results -->"


def main() -> None:
    text = DOCUMENT.read_text("utf-8")
    before, start, rest = text.partition(START)
    _, end, after = rest.partition(END)
    if not start or not end:
        raise SystemExit(f"docs/benchmarks.md needs the lines {START!r} and {END!r}")
    results = load_results()
    DOCUMENT.write_text(before + START + "\n" + filled(results) + END + after, "utf-8")
    print(f"docs/benchmarks.md: {len(results)} results")


def filled(results: Sequence[Result]) -> str:
    """The bounds, then one section per result."""
    if not results:
        return "\nNo results yet.\n\n"
    parts = ["\n### Bounds\n", _markdown(COLUMNS, [verdict.cells() for verdict in verdicts(results)])]
    for result in results:
        parts += [f"### {title(result)}\n", _markdown(result.columns, result.rows)]
        parts += [f"{note[0].upper()}{note[1:]}.\n" for note in result.notes]
    machines = dict.fromkeys(", ".join(f"{k} {v}" for k, v in result.machine.items()) for result in results)
    return "\n".join([*parts, *(f"Measured with: {one}.\n" for one in machines), ""])


def _markdown(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    rule = ["---", *("---:" for _ in columns[1:])]
    return "".join(f"| {' | '.join(row)} |\n" for row in (columns, rule, *rows))


if __name__ == "__main__":
    main()
