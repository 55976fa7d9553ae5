"""Which pages clients follow, and telling them when one has changed, whoever changed it."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

import anyio
from mcp.server.subscriptions import InMemorySubscriptionBus, ResourceUpdated

from cuetrail.errors import CuetrailError
from cuetrail.serve.mcp.resources import Pages

if TYPE_CHECKING:
    from mcp.server.session import ServerSession

    from cuetrail.memory import Memory

T = TypeVar("T")
Work = Callable[[Callable[["Memory"], T]], Awaitable[T]]

EVERY = 2.0
"""Seconds between two looks at whether another process has written, while anybody follows a page."""


class Updates:
    """The pages that are followed, with what they said last. `look` tells who follows one that says something else."""

    def __init__(self, pages: Pages, use: Callable[[Callable[[Memory], object]], Awaitable[object]]) -> None:
        self.bus = InMemorySubscriptionBus()
        self._pages, self._use = pages, use
        self._sessions: dict[str, ServerSession] = {}
        self._listening = Counter[str]()
        self._said: dict[str, int] = {}
        self._version: object = None
        self._looking = anyio.Lock()

    async def follow(self, uri: str, session: ServerSession) -> None:
        """Tell this client of the page from now on. Raises NotFound."""
        await self._remember(uri)
        self._sessions[uri] = session

    def leave(self, uri: str) -> None:
        """No longer tell of the page."""
        self._sessions.pop(uri, None)

    @contextlib.asynccontextmanager
    async def listening(self, uris: list[str]) -> AsyncIterator[None]:
        """Pages that a stream of events follows, as long as it is open."""
        for uri in uris:
            # A page that is not there may come; that is then a change of it.
            with contextlib.suppress(CuetrailError):
                await self._remember(uri)
        self._listening.update(uris)
        try:
            yield
        finally:
            self._listening.subtract(uris)
            self._listening = +self._listening

    async def _remember(self, uri: str) -> None:
        self._said[uri] = hash(await self._use(lambda memory: self._pages.read(memory, uri)))

    async def watch(self) -> None:
        """Look again and again, as long as somebody follows a page."""
        while True:
            await anyio.sleep(EVERY)
            if self._sessions or self._listening:
                with contextlib.suppress(CuetrailError):
                    await self.look()

    async def look(self) -> None:
        """Tell of the pages that have changed since the last look."""
        followed = {*self._sessions, *self._listening}
        if not followed:
            return
        async with self._looking:
            version = await self._use(lambda memory: memory.store.version(memory.scope).writes)
            if version == self._version:
                return
            self._version = version
            for uri in sorted(followed):
                if await self._has_changed(uri):
                    await self._tell(uri)

    async def _has_changed(self, uri: str) -> bool:
        before = self._said.get(uri)
        try:
            await self._remember(uri)
        except CuetrailError:
            # It was forgotten, or its node was; whoever reads it now is told so.
            self._said.pop(uri, None)
        return self._said.get(uri) != before

    async def _tell(self, uri: str) -> None:
        await self.bus.publish(ResourceUpdated(uri=uri))
        session = self._sessions.get(uri)
        if session is not None:
            try:
                await session.send_resource_updated(uri)
            except (anyio.ClosedResourceError, anyio.BrokenResourceError):
                self.leave(uri)
