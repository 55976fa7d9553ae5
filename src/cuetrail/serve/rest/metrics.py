"""Counts and durations of requests, in the text format of Prometheus."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, field

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""The upper bounds, in seconds, of the duration histogram."""


@dataclass(slots=True)
class _Histogram:
    """Durations of requests: cumulative counts for BUCKETS, the total count and the sum of seconds."""

    up_to: list[int] = field(default_factory=lambda: [0] * len(BUCKETS))
    count: int = 0
    seconds: float = 0.0

    def add(self, taken: float) -> None:
        self.count += 1
        self.seconds += taken
        for bucket in range(bisect_left(BUCKETS, taken), len(BUCKETS)):
            self.up_to[bucket] += 1

    def add_all(self, other: _Histogram) -> None:
        self.count += other.count
        self.seconds += other.seconds
        self.up_to = [one + more for one, more in zip(self.up_to, other.up_to, strict=True)]


@dataclass(slots=True)
class Metrics:
    """Finished requests by verb and status, and their durations by verb."""

    requests: Counter[tuple[str, int]] = field(default_factory=Counter)
    durations: dict[str, _Histogram] = field(default_factory=dict)

    def add(self, verb: str, status: int, seconds: float) -> None:
        """Counts a finished request."""
        self.requests[verb, status] += 1
        self.durations.setdefault(verb, _Histogram()).add(seconds)

    def add_all(self, other: Metrics) -> None:
        """Adds the counts of another process."""
        self.requests.update(other.requests)
        for verb, times in other.durations.items():
            self.durations.setdefault(verb, _Histogram()).add_all(times)

    def text(self, in_progress: int) -> str:
        """Returns all metrics in the text format of Prometheus, with the number of unfinished requests."""
        lines = _heading("cuetrail_requests_total", "counter", "Finished requests, by verb and status.")
        lines += [
            f'cuetrail_requests_total{{verb="{verb}",status="{status}"}} {number}'
            for (verb, status), number in sorted(self.requests.items())
        ]
        lines += _heading("cuetrail_request_seconds", "histogram", "How long requests took, by verb.")
        for verb, times in sorted(self.durations.items()):
            bounds = [(f"{bound:g}", number) for bound, number in zip(BUCKETS, times.up_to, strict=True)]
            lines += [
                f'cuetrail_request_seconds_bucket{{verb="{verb}",le="{bound}"}} {number}'
                for bound, number in (*bounds, ("+Inf", times.count))
            ]
            lines.append(f'cuetrail_request_seconds_sum{{verb="{verb}"}} {times.seconds:.6f}')
            lines.append(f'cuetrail_request_seconds_count{{verb="{verb}"}} {times.count}')
        lines += _heading("cuetrail_requests_under_way", "gauge", "Requests that run or wait.")
        return "\n".join([*lines, f"cuetrail_requests_under_way {in_progress}"]) + "\n"


def _heading(name: str, kind: str, help_text: str) -> list[str]:
    return [f"# HELP {name} {help_text}", f"# TYPE {name} {kind}"]
