"""Plots of the stored results. matplotlib is needed for nothing else: pip install 'cuetrail[bench]'."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bench.quality.run import Measured

WIDTH, ROW_HEIGHT, DPI = 9.0, 0.34, 110
FIRST, OTHERS = "#1f5f8b", "#b9c7d1"


def draw(results: Sequence[Measured], folder: Path) -> list[Path]:
    """One picture an embedder: a panel a set as it is, a bar a row. Returns the files."""
    found = []
    results = [result for result in results if not result.triples]
    for embedder in dict.fromkeys(result.embedder for result in results):
        path = folder / f"quality-{embedder}.png"
        _panels([result for result in results if result.embedder == embedder], path)
        found.append(path)
    return found


def _panels(results: Sequence[Measured], path: Path) -> None:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise SystemExit("plots need matplotlib: pip install 'cuetrail[bench]'") from None
    most = max(len(result.rows) for result in results)
    lines = -(-len(results) // 3)
    figure = Figure(figsize=(WIDTH, lines * (most * ROW_HEIGHT + 0.9)), layout="constrained")
    for number, result in enumerate(results, 1):
        axes = figure.add_subplot(lines, 3, number)
        names = [row["name"] for row in result.rows]
        values = [100 * row["figures"][result.by] for row in result.rows]
        bars = axes.barh(names, values, color=[FIRST, *[OTHERS] * (len(names) - 1)])
        axes.bar_label(bars, fmt="%.1f", padding=2, fontsize=7)
        axes.set_title(f"{result.title}, {result.by}", fontsize=9)
        axes.set_xlim(0, 112)
        axes.invert_yaxis()
        axes.tick_params(labelsize=7)
        axes.spines[["top", "right"]].set_visible(False)
    # Without the time of drawing, the same results give the same file.
    figure.savefig(path, dpi=DPI, metadata={"Software": None})
