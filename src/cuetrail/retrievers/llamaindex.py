"""A LlamaIndex retriever that reads from a memory.

    retriever = CuetrailRetriever(memory, limit=5)
    nodes = retriever.retrieve("what did we decide about the antenna?")

If current facts fit the query, the first node has them, a line each; its id and kind are "facts". The options are those
of `Memory.recall`.
"""

from __future__ import annotations

import asyncio
from typing import Any

from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from cuetrail.memory import Memory
from cuetrail.retrievers import retrieve

__all__ = ["CuetrailRetriever"]


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
