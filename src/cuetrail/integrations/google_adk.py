"""A memory service of Google's Agent Development Kit that keeps sessions in a memory.

    runner = Runner(app_name="app", agent=agent, session_service=sessions, memory_service=CuetrailMemoryService(memory))
    await runner.memory_service.add_session_to_memory(session)

Each user of each app has memories of their own. A session may be added again as it grows. `delete_memory` forgets: what
it deletes does not come back when the session is added again. `options` are those of `Memory.recall`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from google.adk.events.event import Event
from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.sessions.session import Session
from google.genai import types

from cuetrail.errors import InputError
from cuetrail.integrations.shared import Message, made_id, remember, retrieve
from cuetrail.memory import Memory

__all__ = ["CuetrailMemoryService"]

NO_SESSION = "memories"


class CuetrailMemoryService(BaseMemoryService):  # type: ignore[misc]  # ADK has no types here
    """Sessions of an app's users, in a memory."""

    def __init__(self, memory: Memory, **options: Any) -> None:
        self.memory, self.options = memory, {"limit": 10, **options}

    def of_user(self, app_name: str, user_id: str) -> Memory:
        """Returns the memory as a user of an app sees it; its user is `app/user`."""
        user = f"{quote(app_name, safe='')}/{quote(user_id, safe='')}"
        return self.memory.scoped(replace(self.memory.scope, user=user, teams=(), share=None))

    async def add_session_to_memory(self, session: Session) -> None:
        """Remembers the events of a session that have a text; those that are known stay as they are."""
        await self._add(session.app_name, session.user_id, session.events, session.id)

    async def add_events_to_memory(
        self, *, app_name: str, user_id: str, events: Sequence[Event], session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,  # noqa: ARG002  # ADK's signature
    ) -> None:  # fmt: skip
        """Remembers single events of a session."""
        await self._add(app_name, user_id, events, session_id or NO_SESSION)

    async def add_memory(
        self, *, app_name: str, user_id: str, memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,  # noqa: ARG002  # ADK's signature
    ) -> None:  # fmt: skip
        """Remembers texts as they are."""
        said = [
            Message(one.id or made_id(NO_SESSION, _text(one.content)), one.author or "user", _text(one.content))
            for one in memories
        ]
        await asyncio.to_thread(remember, self.of_user(app_name, user_id), NO_SESSION, said)

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """Returns what a user's memory holds on a query, best first; nothing if it does not answer it."""
        return await asyncio.to_thread(self._search, self.of_user(app_name, user_id), query)

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Forgets a memory, with the copies of its text. Raises NotFound for an unknown id, InputError without one."""
        if memory_id is None:
            raise InputError("say what to delete: give the id of a memory that search_memory returned")
        await asyncio.to_thread(self.of_user(app_name, user_id).forget, memory_id)

    async def _add(self, app_name: str, user_id: str, events: Sequence[Event], session_id: str) -> None:
        said = [
            Message(
                made_id(session_id, event.id), event.author or "user", _text(event.content),
                round(event.timestamp * 1000), {"author": event.author},
            )
            for event in events
        ]  # fmt: skip
        await asyncio.to_thread(remember, self.of_user(app_name, user_id), session_id, said)

    def _search(self, memory: Memory, query: str) -> SearchMemoryResponse:
        found = retrieve(memory, query, self.options) if query.strip() else []
        nodes = memory.nodes(*(one.id for one in found)) if found else {}
        entries = []
        for one in found:
            author = nodes[one.id].props.get("author") if one.id in nodes else None
            role = "user" if author in (None, "user") else "model"
            time = datetime.fromtimestamp(one.metadata["at"] / 1000, UTC).isoformat()
            content = types.Content(role=role, parts=[types.Part(text=one.text)])
            entries.append(MemoryEntry(content=content, id=one.id, author=author, timestamp=time))
        return SearchMemoryResponse(memories=entries)


def _text(content: types.Content | None) -> str:
    """Returns the texts of a content, without the thoughts of the model."""
    parts = (content.parts or []) if content is not None else []
    return "\n".join(part.text for part in parts if part.text and not part.thought)
