"""Makes Python's garbage collector run less often while a pass holds thousands of atoms."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

# New objects between two collections. Atoms and tags form no cycles, so little garbage piles up.
THRESHOLD = 1_000_000

_guard = threading.Lock()
_before: list[tuple[int, int, int]] = []


@contextmanager
def fewer_collections() -> Iterator[None]:
    """Raises the garbage collection threshold inside the block. With several threads, until the last block ends."""
    with _guard:
        _before.append(gc.get_threshold())
        gc.set_threshold(max(THRESHOLD, _before[0][0]) if _before[0][0] else 0, *_before[0][1:])
    try:
        yield
    finally:
        with _guard:
            first = _before[0]
            _before.pop()
            if not _before:
                gc.set_threshold(*first)
