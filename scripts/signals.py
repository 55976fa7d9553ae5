"""Writes the table of signals where it is read without Python: `docs/recipes.md` and `web/src/signals.json`.

python scripts/signals.py
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from cuetrail.recall.score.ranker import load_ranker
from cuetrail.recall.score.signals import READ_BY, SIGNALS

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "web" / "src" / "signals.json"
DOCUMENT = ROOT / "docs" / "recipes.md"
START, END = "<!-- signals: python scripts/signals.py -->", "<!-- end of signals -->"


def page() -> str:
    """Returns the labels of all signals for the page."""
    labels = {signal.name: signal.label for signal in (*SIGNALS, *READ_BY)}
    return json.dumps(labels, indent=2) + "\n"


def document() -> str:
    """Returns docs/recipes.md with the table of signals as it is now."""
    weights = dict(zip((ranker := load_ranker("reranked")).signals, ranker.weights.tolist(), strict=True))
    plain = dict(zip((ranker := load_ranker("plain")).signals, ranker.weights.tolist(), strict=True))
    rows = [
        f"| `{one.name}` | {one.measures} | {_number(plain.get(one.name))} | {_number(weights.get(one.name))} |"
        for one in (*SIGNALS, *READ_BY)
    ]
    table = "\n".join(
        [START, "", "| signal | measures | weight | with a reranker |", "|---|---|---:|---:|", *rows, "", END]
    )
    return re.sub(f"{START}.*?{END}", lambda _: table, DOCUMENT.read_text("utf-8"), flags=re.DOTALL)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
    DOCUMENT.write_text(document(), "utf-8")
