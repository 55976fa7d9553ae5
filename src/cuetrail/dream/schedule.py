"""Repeats a call at even intervals until a stop event is set."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol


class Stop(Protocol):
    """The methods of `threading.Event` that are used here."""

    def is_set(self) -> bool: ...
    def wait(self, timeout: float) -> bool: ...


def repeat(once: Callable[[], None], seconds: float, stop: Stop, clock: Callable[[], float] = time.monotonic) -> None:
    """Calls `once` every `seconds` until `stop` is set.

    A call that takes longer is followed by the next immediately. Calls never overlap.
    """
    while not stop.is_set():
        due = clock() + seconds
        once()
        stop.wait(max(0.0, due - clock()))
