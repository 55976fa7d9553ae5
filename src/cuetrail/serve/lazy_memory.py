"""A memory that is opened when it is first used."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import anyio
import anyio.to_thread

if TYPE_CHECKING:
    from cuetrail.memory import Memory

T = TypeVar("T")


class LazyMemory:
    """The memory of a server. `remote`: it is stored in a database server, not in files on this machine."""

    def __init__(self, open_memory: Callable[[], Memory], *, remote: bool = False) -> None:
        self._open, self.remote, self._lock = open_memory, remote, threading.Lock()
        self._memory: Memory | None = None

    def get(self) -> Memory:
        """Opens the memory if it is not open, and returns it. After an error the next call tries again."""
        with self._lock:
            if self._memory is None:
                self._memory = self._open()
            return self._memory

    async def run(self, work: Callable[[Memory], T], limiter: anyio.CapacityLimiter | None = None) -> T:
        """Runs the work in a thread, when the limiter allows it, and returns its result."""
        return await anyio.to_thread.run_sync(lambda: work(self.get()), limiter=limiter)

    async def run_quick(self, work: Callable[[Memory], T]) -> T:
        """Runs short work without a thread, unless the memory is remote or not open yet."""
        memory = self._memory
        if memory is None or self.remote:
            return await self.run(work)
        return work(memory)

    def close(self) -> None:
        """Closes the memory if it is open."""
        with self._lock:
            if self._memory is not None:
                self._memory.close()
