"""A memory as a retriever of LangChain.

    retriever = CuetrailRetriever(memory=memory, options={"limit": 5})
    documents = retriever.invoke("what did we decide about the antenna?")

`options` are those of `Memory.recall`. `ainvoke` does the same in a thread, as every retriever of LangChain does.
"""

from __future__ import annotations

from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import Field, SkipValidation

from cuetrail.memory import Memory
from cuetrail.retrievers import retrieve, said

__all__ = ["CuetrailRetriever"]


class CuetrailRetriever(BaseRetriever):
    """What a memory holds on a query, as documents: the best first, with id, source, tags and score as metadata."""

    memory: SkipValidation[Memory]
    options: dict[str, Any] = Field(default_factory=dict)

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:  # noqa: ARG002  # LangChain's signature
        found = retrieve(self.memory, query, self.options)
        return [Document(page_content=said(hit), id=hit.node.id, metadata=about) for hit, about in found]
