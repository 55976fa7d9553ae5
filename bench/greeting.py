"""Measures the wait for `initialize` against loading the MCP library alone: medians of alternating runs.

    python -m bench.greeting --work FOLDER 1000000

The memory at FOLDER/1000000/memory is named and never opened: neither answer needs it.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import IO, Any

from bench.common import Result, arguments, ms, p50, publish, times, workplace

RUNS = 9
COLUMNS = ["what", "median", "slowest", "/ loading the library"]
CLIENT = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}


def main() -> None:
    options = arguments(__doc__).parse_args()
    with workplace(options.work) as work:
        size = max(options.sizes)
        publish(measure(work / str(size) / "memory", size))


def measure(place: Path, size: int) -> Result:
    library: list[float] = []
    waits: tuple[list[float], list[float]] = ([], [])
    for _ in range(RUNS + 1):
        begun = time.perf_counter()
        subprocess.run([sys.executable, "-c", "import mcp.server.stdio, mcp.server.lowlevel"], check=True)
        library.append(time.perf_counter() - begun)
        for taken, wait in zip(waits, _session(place), strict=True):
            taken.append(wait)
    # The first of each writes bytecode.
    base = p50(library[1:])
    names = ("initialize", "tools/list")
    rows = [["loading the library", ms(base), ms(max(library[1:])), ""]]
    rows += [
        [name, ms(p50(taken[1:])), ms(max(taken[1:])), times(p50(taken[1:]) / base)]
        for name, taken in zip(names, waits, strict=True)
    ]
    figures = {"initialize / loading the library": p50(waits[0][1:]) / base, "initialize, s": p50(waits[0][1:])}
    return Result("greeting", size, COLUMNS, rows, figures)


def _session(place: Path) -> tuple[float, float]:
    """Seconds from the start of the command to its answers."""
    words = [sys.executable, "-m", "cuetrail", "mcp", "--memory", str(place), "--embedder", "none"]
    begun = time.perf_counter()
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        _say(server.stdin, "initialize", CLIENT)
        server.stdout.readline()
        greeted = time.perf_counter() - begun
        _say(server.stdin, "tools/list", {})
        server.stdout.readline()
        listed = time.perf_counter() - begun
        server.stdin.close()
    return greeted, listed


def _say(pipe: IO[str], method: str, params: dict[str, Any]) -> None:
    pipe.write(json.dumps({"jsonrpc": "2.0", "id": method, "method": method, "params": params}) + "\n")
    if method == "initialize":
        pipe.write(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}) + "\n")
    pipe.flush()


if __name__ == "__main__":
    main()
