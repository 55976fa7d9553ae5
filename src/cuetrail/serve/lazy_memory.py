"""Opening a memory when it is first needed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import anyio
import anyio.to_thread

if TYPE_CHECKING:
    from cuetrail.memory import Memory

T = TypeVar("T")


class Opener:
    """The memory of a server: opened by whoever asks first, closed at the end. `far`: a server of its own keeps it."""

    def __init__(self, make: Callable[[], Memory], *, far: bool = False) -> None:
        self._make, self.far, self._lock = make, far, threading.Lock()
        self._memory: Memory | None = None

    def get(self) -> Memory:
        """The memory. Raises what opening it raises; the next one to ask tries again."""
        with self._lock:
            if self._memory is None:
                self._memory = self._make()
            return self._memory

    async def use(self, work: Callable[[Memory], T], turns: anyio.CapacityLimiter | None = None) -> T:
        """What some work on the memory gives, done in a thread."""
        return await anyio.to_thread.run_sync(lambda: work(self.get()), limiter=turns)

    async def glance(self, work: Callable[[Memory], T]) -> T:
        """What some work gives that takes no time: done here and now, unless the memory is yet to be opened or far."""
        memory = self._memory
        if memory is None or self.far:
            return await self.use(work)
        return work(memory)

    def close(self) -> None:
        """Close it if it was opened."""
        with self._lock:
            if self._memory is not None:
                self._memory.close()
