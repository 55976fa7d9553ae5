"""Checks the published bounds against the stored results. The exit code is 1 if a promised bound is missed.

python -m bench.bounds 10000 100000 1000000
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bench.common import LARGE, MEDIUM, SMALL, Result, aligned, arguments, load_results

COLUMNS = ["bound", "size", "measured", "promised", "verdict"]


@dataclass(frozen=True, slots=True)
class Bound:
    """A published promise. `at` is the size it is made for, None for benchmarks without sizes."""

    claim: str
    bench: str
    figure: str
    holds: Callable[[float, float], bool]
    limit: float
    at: int | None

    @property
    def promised(self) -> str:
        sign = "<=" if self.holds is operator.le else ">="
        return f"{sign} {self.limit:g}"


BOUNDS = (
    Bound("text search p50 / plain tantivy's", "search", "p50, ours / tantivy", operator.le, 2.0, LARGE),
    Bound("FTS5's p50 / text search p50", "search", "p50, FTS5 / ours", operator.ge, 50.0, LARGE),
    Bound("text search p50 / its p50 at 10,000", "search", f"p50 / p50 at {SMALL}", operator.le, 5.0, LARGE),
    Bound("tag walk p50 / plain tantivy's", "tag_walk", "p50, ours / tantivy", operator.le, 4.0, LARGE),
    Bound("odd cues p95 / ordinary p95", "tag_walk", "odd p95 / ordinary p95", operator.le, 5.0, LARGE),
    Bound("activation p50 / fetching its rows", "energy", "p50, ours / bound", operator.le, 3.0, LARGE),
    Bound("activation p50 / its p50 at 10,000", "energy", f"p50 / p50 at {SMALL}", operator.le, 3.0, LARGE),
    Bound("Neo4j's activation p50 / ours", "energy", "p50, Neo4j / ours", operator.ge, 10.0, LARGE),
    Bound("explore p50 / its p50 at 10,000", "explore", f"p50 / p50 at {SMALL}", operator.le, 3.0, LARGE),
    Bound("dream of the last day / of day 30", "year", "last / day 30", operator.le, 3.0, None),
    Bound("narrative p50 / its p50 at 10,000", "narrate", f"p50 / p50 at {SMALL}", operator.le, 2.0, LARGE),
    Bound("narrative p50 / told again", "narrate", "miss / hit, p50", operator.ge, 20.0, LARGE),
    Bound("facts of an entity of 100,000 / of 100", "narrate", "hub / entity of 100", operator.le, 3.0, LARGE),
    Bound("ingest rate / sqlite + tantivy", "ingest", "share of bound, cuetrail", operator.ge, 0.4, LARGE),
    Bound("infection's speed / bare matcher's", "dream", "infection / bare matcher", operator.ge, 0.3, MEDIUM),
    Bound("mirror, unchanged / writing its files", "mirror", "unchanged / bound", operator.le, 1.0, MEDIUM),
    Bound("mirror, new / writing its files", "mirror", "first sync / bound", operator.le, 12.0, MEDIUM),
    Bound("hub of 100,000 edges / node of 100", "hub", "degree 100,000 / degree 100", operator.le, 3.0, None),
    Bound(
        "initialize / loading the MCP library", "greeting", "initialize / loading the library", operator.le, 0.5, LARGE
    ),
    Bound("initialize at 1,000,000 atoms, s", "greeting", "initialize, s", operator.le, 1.0, LARGE),
    Bound("32 clients' requests / recalls inside", "serve", "requests / recalls in-process", operator.ge, 0.5, MEDIUM),
    Bound("--help / (2 x python + 150 ms)", "startup", "help / (2 x python + 150 ms)", operator.le, 1.0, None),
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """A bound and its value in one result; None if the result lacks the figure."""

    bound: Bound
    size: int
    value: float | None

    @property
    def missed(self) -> bool:
        return self.binding and self.value is not None and not self.bound.holds(self.value, self.bound.limit)

    @property
    def binding(self) -> bool:
        return self.bound.at in (None, self.size)

    def cells(self) -> list[str]:
        if self.value is None:
            word = "not measured"
        elif not self.binding:
            word = "not promised here"
        else:
            word = "MISSED" if self.missed else "holds"
        measured = "" if self.value is None else f"{self.value:.3g}"
        return [self.bound.claim, f"{self.size:,}" if self.size else "", measured, self.bound.promised, word]


def verdicts(results: Sequence[Result]) -> list[Verdict]:
    """Returns every bound with its value in each result that it applies to."""
    found = [
        Verdict(bound, result.size, result.figures.get(bound.figure))
        for bound in BOUNDS
        for result in results
        if result.bench == bound.bench
    ]
    # Growth needs a larger size than the one it is measured from.
    return [v for v in found if not (v.bound.figure.endswith(str(SMALL)) and v.size <= SMALL)]


def main() -> int:
    sizes = arguments(__doc__).parse_args().sizes
    results = [r for r in load_results() if r.size in sizes or r.bench in ("hub", "startup")]
    found = verdicts(results)
    print("\nbounds")
    print(aligned(COLUMNS, [verdict.cells() for verdict in found]))
    return 1 if any(verdict.missed for verdict in found) else 0


if __name__ == "__main__":
    sys.exit(main())
