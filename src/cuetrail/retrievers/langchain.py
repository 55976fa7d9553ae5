"""A LangChain retriever that reads from a memory.

    retriever = CuetrailRetriever(memory=memory, options={"limit": 5})
    documents = retriever.invoke("what did we decide about the antenna?")

If current facts fit the query, the first document has them, a line each; its id and kind are "facts". `options` are
those of `Memory.recall`. `ainvoke` runs the same in a thread.
"""

from __future__ import annotations

from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import Field, SkipValidation

from cuetrail.memory import Memory
from cuetrail.retrievers import retrieve

__all__ = ["CuetrailRetriever"]


class CuetrailRetriever(BaseRetriever):
    """Returns the hits of a query as documents, best first, with id, source, tags and score as metadata."""

    memory: SkipValidation[Memory]
    options: dict[str, Any] = Field(default_factory=dict)

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:  # noqa: ARG002  # LangChain's signature
        found = retrieve(self.memory, query, self.options)
        return [Document(page_content=one.text, id=one.id, metadata=one.metadata) for one in found]
