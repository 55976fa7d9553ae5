"""A session of the OpenAI Agents SDK that keeps its conversation in a memory.

    session = CuetrailSession("support-42", memory)
    await Runner.run(agent, "Hello", session=session)

The items come back exactly as they were added, in their order. Messages and the results of tools are memories too,
which every recall of the memory finds: `recall_tool(memory)` makes that a tool of an agent. An item whose text was
forgotten stays out.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from agents import FunctionTool, function_tool
from agents.memory import SessionSettings

from cuetrail.errors import InputError
from cuetrail.integrations.shared import Message, conversation, recalled_text, remember, remove
from cuetrail.memory import Memory

if TYPE_CHECKING:
    from agents.items import TResponseInputItem

__all__ = ["CuetrailSession", "recall_tool"]

KEPT = "openai_agents"
"""The property that has an item as the SDK made it."""


class CuetrailSession:
    """A conversation in a memory: the protocol `Session` of the SDK. `session_id` is its source there."""

    session_settings: SessionSettings | None = None

    def __init__(self, session_id: str, memory: Memory, *, session_settings: SessionSettings | None = None) -> None:
        if not session_id:
            raise InputError("session_id must name the conversation, such as support-42")
        self.session_id, self.memory = session_id, memory
        self.session_settings = session_settings or SessionSettings()

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Returns the items in their order, at most the last `limit` of them. None: as many as the settings of the
        session say, else all.
        """
        most = limit if limit is not None or self.session_settings is None else self.session_settings.limit
        nodes = await asyncio.to_thread(conversation, self.memory, self.session_id)
        items = [node.props[KEPT] for node in nodes if KEPT in node.props]
        return items if most is None else items[len(items) - most :] if 0 < most < len(items) else items[: max(most, 0)]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Adds items at the end, all or none. Raises InputError for one that is no JSON."""
        messages = [_message(item) for item in items]
        if messages:
            await asyncio.to_thread(remember, self.memory, self.session_id, messages)

    async def pop_item(self) -> TResponseInputItem | None:
        """Removes the last item and returns it, None if there is none."""
        return await asyncio.to_thread(self._pop)

    def _pop(self) -> TResponseInputItem | None:
        nodes = [node for node in conversation(self.memory, self.session_id) if KEPT in node.props]
        if not nodes:
            return None
        remove(self.memory, [nodes[-1].id])
        item: TResponseInputItem = nodes[-1].props[KEPT]
        return item

    async def clear_session(self) -> None:
        """Removes all items of this conversation."""
        await asyncio.to_thread(self._clear)

    def _clear(self) -> None:
        remove(self.memory, [node.id for node in conversation(self.memory, self.session_id) if KEPT in node.props])


def recall_tool(memory: Memory, **options: Any) -> FunctionTool:
    """Returns a tool with which an agent recalls from the memory, all conversations included.

    The options are those of `Memory.recall`.
    """

    @function_tool
    async def recall_memory(question: str) -> str:
        """Recall what is remembered from earlier conversations and notes.

        Args:
            question: What to look for, as a question or a few words.
        """
        found = await asyncio.to_thread(recalled_text, memory, question, options)
        return found or "Nothing is remembered on this."

    return recall_memory


def _message(item: TResponseInputItem) -> Message:
    """Returns an item as a message with a text to find it by."""
    try:
        data = json.loads(json.dumps(item, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise InputError(f"an item cannot be stored as JSON ({error}): add plain data") from error
    if not isinstance(data, dict):
        raise InputError(f"an item must be a mapping, such as {{'role': 'user', 'content': 'Hello'}}, not {item!r:.60}")
    said = "\n".join(_texts(data.get("content")))
    if "role" in data and said:
        return Message(uuid4().hex, str(data["role"]), said, props={KEPT: data})
    kind = str(data.get("type", "item"))
    texts = [str(data[name]) for name in ("name", "arguments", "output") if data.get(name)]
    return Message(uuid4().hex, "tool", " ".join([kind.replace("_", " "), *texts]), props={KEPT: data}, outside=True)


def _texts(content: Any) -> list[str]:
    """Returns the texts of a message's content, which is a text or a list of parts."""
    if isinstance(content, str):
        return [content] if content else []
    parts = content if isinstance(content, list) else []
    return [part["text"] for part in parts if isinstance(part, Mapping) and isinstance(part.get("text"), str)]
