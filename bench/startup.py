"""Measures how long `cuetrail --help` takes, against a Python that does nothing: medians of alternating runs.

python -m bench.startup
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.common import Result, arguments, ms, p50, publish, timed, times

RUNS = 20
ALLOWANCE = 0.150
COLUMNS = ["command", "median", "fastest", "ours / python"]


def main() -> None:
    arguments(__doc__, sizes=False).parse_args()
    script = Path(sys.executable).with_name("cuetrail")
    ours = [str(script), "--help"] if script.exists() else [sys.executable, "-m", "cuetrail", "--help"]
    nothing = [sys.executable, "-c", "pass"]
    _run(ours)  # the first run writes bytecode
    taken: tuple[list[float], list[float]] = ([], [])
    for _ in range(RUNS):
        for command, seconds in zip((nothing, ours), taken, strict=True):
            seconds.append(timed(_run, command)[0])
    publish(_result(*taken))


def _run(command: Sequence[str]) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def _result(nothing: list[float], ours: list[float]) -> Result:
    base, own = p50(nothing), p50(ours)
    rows = [
        ["python -c pass", ms(base), ms(min(nothing)), ""],
        ["cuetrail --help", ms(own), ms(min(ours)), times(own / base)],
    ]
    figures = {"help / (2 x python + 150 ms)": own / (2 * base + ALLOWANCE)}
    return Result("startup", 0, COLUMNS, rows, figures)


if __name__ == "__main__":
    main()
