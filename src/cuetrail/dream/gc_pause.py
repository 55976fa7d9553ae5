"""Python looks for garbage after every few hundred new objects; a pass that holds thousands of atoms pays for it."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

# New objects between two looks. Atoms and tags lead to no cycles, so what waits meanwhile is little.
PATIENCE = 1_000_000

_guard = threading.Lock()
_before: list[tuple[int, int, int]] = []


@contextmanager
def few_collections() -> Iterator[None]:
    """Have Python look for garbage seldom. Where several threads ask for it, until the last of them is done."""
    with _guard:
        _before.append(gc.get_threshold())
        gc.set_threshold(max(PATIENCE, _before[0][0]) if _before[0][0] else 0, *_before[0][1:])
    try:
        yield
    finally:
        with _guard:
            first = _before[0]
            _before.pop()
            if not _before:
                gc.set_threshold(*first)
