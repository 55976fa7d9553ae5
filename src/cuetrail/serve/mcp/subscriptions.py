"""Subscriptions: clients are notified of changes of the resources they subscribed to."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
from mcp.server.subscriptions import InMemorySubscriptionBus, ResourceUpdated

from cuetrail.errors import CuetrailError
from cuetrail.serve.mcp.resources import Resources

if TYPE_CHECKING:
    from mcp.server.session import ServerSession

    from cuetrail.memory import Memory


POLL_SECONDS = 2.0
"""The time between two checks for changes by other processes, while there are subscribers."""


class Subscriptions:
    """The subscribed resources with a hash of their last content."""

    def __init__(self, resources: Resources, run: Callable[[Callable[[Memory], object]], Awaitable[object]]) -> None:
        self.bus = InMemorySubscriptionBus()
        self.resources, self._run = resources, run
        self._sessions: dict[str, ServerSession] = {}
        self._listening = Counter[str]()
        self._hashes: dict[str, int] = {}
        self._version: object = None
        self._checking = anyio.Lock()

    async def subscribe(self, uri: str, session: ServerSession) -> None:
        """Notifies this client of changes of the resource from now on. Raises NotFound for an unknown resource."""
        await self._update_hash(uri)
        self._sessions[uri] = session

    def unsubscribe(self, uri: str) -> None:
        """Ends the subscription to a resource."""
        self._sessions.pop(uri, None)

    @contextlib.asynccontextmanager
    async def listening(self, uris: list[str]) -> AsyncIterator[None]:
        """Subscribes an event stream to resources while the context is open."""
        for uri in uris:
            # A missing resource may appear later, which is a change.
            with contextlib.suppress(CuetrailError):
                await self._update_hash(uri)
        self._listening.update(uris)
        try:
            yield
        finally:
            self._listening.subtract(uris)
            self._listening = +self._listening

    async def _update_hash(self, uri: str) -> None:
        self._hashes[uri] = hash(await self._run(lambda memory: self.resources.read(memory, uri)))

    async def watch(self) -> None:
        """Notifies subscribers of changes at intervals, for ever."""
        while True:
            await anyio.sleep(POLL_SECONDS)
            if self._sessions or self._listening:
                with contextlib.suppress(CuetrailError):
                    await self.notify_changes()

    async def notify_changes(self) -> None:
        """Notifies subscribers of the resources that changed since the last call."""
        subscribed = {*self._sessions, *self._listening}
        if not subscribed:
            return
        async with self._checking:
            version = await self._run(lambda memory: memory.store.version(memory.scope).writes)
            if version == self._version:
                return
            self._version = version
            for uri in sorted(subscribed):
                if await self._has_changed(uri):
                    await self._notify(uri)

    async def _has_changed(self, uri: str) -> bool:
        before = self._hashes.get(uri)
        try:
            await self._update_hash(uri)
        except CuetrailError:
            # The node was forgotten; reading the resource now raises NotFound.
            self._hashes.pop(uri, None)
        return self._hashes.get(uri) != before

    async def _notify(self, uri: str) -> None:
        await self.bus.publish(ResourceUpdated(uri=uri))
        session = self._sessions.get(uri)
        if session is not None:
            try:
                await session.send_resource_updated(uri)
            except (anyio.ClosedResourceError, anyio.BrokenResourceError):
                self.unsubscribe(uri)
