"""A LlamaIndex retriever and a block of its memory, both on a memory of cuetrail.

    retriever = CuetrailRetriever(memory, limit=5)
    nodes = retriever.retrieve("what did we decide about the antenna?")

    block = CuetrailMemoryBlock(memory=memory)
    agent_memory = llama_index.core.memory.Memory.from_defaults(session_id="42", memory_blocks=[block])

If current facts fit the query, the first node has them, a line each; its id and kind are "facts". The options are those
of `Memory.recall`. The block remembers the messages that leave the chat history, and tells the agent what the memory
holds on its last question.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.memory import BaseMemoryBlock
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from pydantic import Field, SkipValidation

from cuetrail.integrations.shared import Message, recalled_text, remember, retrieve
from cuetrail.memory import Memory

__all__ = ["CuetrailMemoryBlock", "CuetrailRetriever"]

CHARS_PER_TOKEN = 4


class CuetrailRetriever(BaseRetriever):
    """Returns the hits of a query as nodes, best first, with source, tags and times as metadata."""

    def __init__(self, memory: Memory, **options: Any) -> None:
        super().__init__()
        self._recalled, self._options = memory, options

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        found = retrieve(self._recalled, query_bundle.query_str, self._options)
        return [
            NodeWithScore(node=TextNode(id_=one.id, text=one.text, metadata=one.metadata), score=one.score)
            for one in found
        ]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)


class CuetrailMemoryBlock(BaseMemoryBlock[str]):
    """A block of LlamaIndex's memory. `options` are those of `Memory.recall`; messages without a session belong to the
    conversation `name`.
    """

    name: str = "cuetrail"
    description: str | None = "What is remembered from earlier conversations and notes."
    memory: SkipValidation[Memory]
    options: dict[str, Any] = Field(default_factory=dict)

    async def _aget(self, messages: list[ChatMessage] | None = None, **_: Any) -> str:
        """Returns what the memory holds on the last message of the user, "" if nothing."""
        asked = [one.content or "" for one in messages or () if one.role == MessageRole.USER]
        return await asyncio.to_thread(recalled_text, self.memory, asked[-1], self.options) if asked else ""

    async def _aput(self, messages: list[ChatMessage]) -> None:
        """Remembers messages, each session as a conversation."""
        await asyncio.to_thread(self._remember, messages)

    def _remember(self, messages: Sequence[ChatMessage]) -> None:
        sessions: dict[str, list[Message]] = {}
        for one in messages:
            source = str(one.additional_kwargs.get("session_id") or self.name)
            said = Message(uuid4().hex, one.role.value, one.content or "", outside=one.role == MessageRole.TOOL)
            sessions.setdefault(source, []).append(said)
        for source, said_there in sessions.items():
            remember(self.memory, source, said_there)

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """Returns the text without its last lines, None if no line fits."""
        most = len(content) - tokens_to_truncate * CHARS_PER_TOKEN
        return content[: most + 1].rpartition("\n")[0] or None if most > 0 else None
