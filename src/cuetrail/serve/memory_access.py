"""Access of the servers to their memory: opened at first use, used in threads; deletion as in other systems."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

import anyio
import anyio.to_thread

if TYPE_CHECKING:
    from cuetrail.memory import Memory
    from cuetrail.model import Node, Scope

T = TypeVar("T")


class LazyMemory:
    """A memory that is opened when it is first used. `remote`: it is stored in a database server, not in files here."""

    def __init__(self, open_memory: Callable[[], Memory], *, remote: bool = False) -> None:
        self._open, self.remote, self._lock = open_memory, remote, threading.Lock()
        self._memory: Memory | None = None

    def get(self, scope: Scope | None = None) -> Memory:
        """Opens the memory if needed and returns it, limited to `scope` if given. A failed opening is tried again."""
        with self._lock:
            if self._memory is None:
                self._memory = self._open()
        return self._memory.scoped(scope) if scope else self._memory

    async def run(
        self, work: Callable[[Memory], T], limiter: anyio.CapacityLimiter | None = None, scope: Scope | None = None
    ) -> T:
        """Runs work on the memory in a thread, when the limiter allows it, and returns its result."""
        return await anyio.to_thread.run_sync(lambda: work(self.get(scope)), limiter=limiter)

    async def run_quick(self, work: Callable[[Memory], T]) -> T:
        """Runs short work without a thread, unless the memory is remote or not open yet."""
        memory = self._memory
        return await self.run(work) if memory is None or self.remote else work(memory)

    def close(self) -> None:
        """Closes the memory if it is open."""
        with self._lock:
            if self._memory is not None:
                self._memory.close()


def last_forgotten(memory: Memory) -> str:
    """Returns a text that changes when something is forgotten, by anyone in any process. "" if nothing ever was."""
    # Imported here: a server answers its first request without the stores.
    from cuetrail.store.upkeep import LAST_FORGOTTEN

    return memory.store.settings.get(LAST_FORGOTTEN, "")


def delete_nodes(memory: Memory, nodes: Sequence[Node], atoms: Sequence[Node]) -> None:
    """Deletes these nodes and atoms, as mem0 and the reference MCP memory server do. Equal texts that belong to other
    nodes stay; `forget` would remove those too.
    """
    # Imported here: a server answers its first request without the stores.
    from cuetrail.text.timestamps import now_ms
    from cuetrail.write.forget import delete_one_copy

    delete_one_copy(memory.session, nodes, atoms, now_ms())
