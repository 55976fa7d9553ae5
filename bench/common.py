"""Helpers of all benchmarks: child processes with their peak memory, timing, tables and result files."""

from __future__ import annotations

import argparse
import contextlib
import importlib.metadata
import json
import multiprocessing
import os
import platform
import resource
import shutil
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

A = TypeVar("A")
T = TypeVar("T")

RESULTS = Path(__file__).parent / "results"
SMALL, MEDIUM, LARGE = 10_000, 100_000, 1_000_000
MB = 1 << 20


@dataclass(frozen=True, slots=True)
class Phase(Generic[T]):
    """The result of a child process, and its peak resident memory."""

    value: T
    peak: int


@dataclass(frozen=True, slots=True)
class Result:
    """One table of one benchmark; `size` 0 means that it has none.

    `figures` are the numbers the published bounds are checked against.
    """

    bench: str
    size: int
    columns: list[str]
    rows: list[list[str]]
    figures: dict[str, float]
    notes: list[str] = field(default_factory=list)
    machine: dict[str, str] = field(default_factory=dict)


class Stopwatch:
    """Adds up the time spent inside its `with` blocks."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __enter__(self) -> None:
        self._start = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self.seconds += time.perf_counter() - self._start


def phase(function: Callable[..., T], *args: object) -> Phase[T]:
    """Runs a function in a new process, to measure its peak memory alone."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawn) as pool:
        value, peak = pool.submit(_in_child, function, args).result()
    return Phase(value, peak)


def _in_child(function: Callable[..., T], args: tuple[object, ...]) -> tuple[T, int]:
    value = function(*args)
    return value, peak_rss()


def peak_rss() -> int:
    """Returns the peak resident memory of this process in bytes, with mapped files."""
    with contextlib.suppress(OSError):
        # On Linux getrusage also counts what the parent had before the exec; this counts the process alone.
        for line in Path("/proc/self/status").read_text("ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def timed(function: Callable[[A], T], argument: A) -> tuple[float, T]:
    """Returns the seconds and the result of one call."""
    start = time.perf_counter()
    value = function(argument)
    return time.perf_counter() - start, value


def p50(seconds: Sequence[float]) -> float:
    return statistics.median(seconds)


def p95(seconds: Sequence[float]) -> float:
    return statistics.quantiles(seconds, n=20, method="inclusive")[-1]


def ms(seconds: float) -> str:
    return f"{seconds * 1000:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def times(ratio: float) -> str:
    return f"{ratio:.2f}x" if ratio < 10 else f"{ratio:,.0f}x"


def percent(share: float) -> str:
    return f"{share:.0%}"


def megabytes(size: int) -> str:
    return f"{size / MB:,.0f} MB"


def rate(count: int, seconds: float) -> str:
    return f"{count / seconds:,.0f}"


def machine() -> dict[str, str]:
    """Returns the versions and hardware that the numbers depend on."""
    packages = {name: importlib.metadata.version(name) for name in ("cuetrail", "tantivy", "numpy")}
    return {
        "cpu": f"{os.cpu_count()} x {_cpu()}",
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        **packages,
    }


def _cpu() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def publish(result: Result) -> None:
    """Prints the table and stores it in bench/results."""
    stamped = Result(**{**asdict(result), "machine": machine()})
    RESULTS.mkdir(exist_ok=True)
    name = f"{result.bench}-{result.size}" if result.size else result.bench
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps(asdict(stamped), indent=1) + "\n", "utf-8")
    print(f"\n{title(result)}")
    print(aligned(result.columns, result.rows))
    for note in result.notes:
        print(f"  {note}")


def title(result: Result) -> str:
    return f"{result.bench} {result.size:,}" if result.size else result.bench


def load_results() -> list[Result]:
    """Returns every stored result, by benchmark and size."""
    found = [Result(**json.loads(path.read_text("utf-8"))) for path in RESULTS.glob("*.json")]
    return sorted(found, key=lambda result: (result.bench, result.size))


def aligned(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Returns a text table: the first column aligned left, the others right."""
    widths = [max(len(row[n]) for row in (columns, *rows)) for n in range(len(columns))]
    lines = []
    for row in (columns, ["-" * width for width in widths], *rows):
        first, *rest = (
            cell.rjust(width) if n else cell.ljust(width)
            for n, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        lines.append("  " + "  ".join((first, *rest)))
    return "\n".join(lines)


def arguments(about: str | None, sizes: bool = True) -> argparse.ArgumentParser:
    """The options every benchmark has."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    if sizes:
        parser.add_argument("sizes", type=int, nargs="*", default=[SMALL, MEDIUM], metavar="SIZE", help="atoms")
    parser.add_argument("--work", type=Path, help="folder to build in and to reuse; a temporary one when absent")
    return parser


@contextlib.contextmanager
def workplace(given: Path | None) -> Iterator[Path]:
    """Yields the folder to build in: the given one, or a temporary one."""
    if given is not None:
        given.mkdir(parents=True, exist_ok=True)
        yield given
        return
    with tempfile.TemporaryDirectory(prefix="cuetrail-bench-") as made:
        yield Path(made)


def emptied(folder: Path) -> Path:
    """Empties the folder and returns it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def disk(path: Path) -> int:
    """Bytes of a file, or of all files below a folder."""
    files = [path] if path.is_file() else [p for p in path.rglob("*") if p.is_file()]
    return sum(p.stat().st_size for p in files)
