"""Dreaming again and again, at even intervals, until told to stop."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol


class Stop(Protocol):
    """What of a `threading.Event` is needed."""

    def is_set(self) -> bool: ...
    def wait(self, timeout: float) -> bool: ...


def again(once: Callable[[], None], seconds: float, stop: Stop, clock: Callable[[], float] = time.monotonic) -> None:
    """Call `once`, and again so many seconds after its last start, until `stop` is set.

    One that takes longer is followed by the next at once, never met by it.
    """
    while not stop.is_set():
        due = clock() + seconds
        once()
        stop.wait(max(0.0, due - clock()))
