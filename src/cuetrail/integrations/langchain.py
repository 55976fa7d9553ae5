"""A LangChain retriever that reads from a memory.

    retriever = CuetrailRetriever(memory=memory, k=5)
    documents = retriever.invoke("what did we decide about the antenna?")

If current facts fit the query, the first document has them, a line each; its id and kind are "facts". `k` is the most
documents, also for one call: `retriever.invoke(query, k=3)`. `options` are those of `Memory.recall`. `ainvoke` runs the
same in a thread.
"""

from __future__ import annotations

from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import Field, SkipValidation

from cuetrail.integrations.shared import retrieve
from cuetrail.memory import Memory

__all__ = ["CuetrailRetriever"]


class CuetrailRetriever(BaseRetriever):
    """Returns the hits of a query as documents, best first, with id, source, tags and score as metadata."""

    memory: SkipValidation[Memory]
    k: int | None = None
    options: dict[str, Any] = Field(default_factory=dict)

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002  # LangChain's signature
        k: int | None = None,
    ) -> list[Document]:
        most = self.k if k is None else k
        found = retrieve(self.memory, query, self.options if most is None else {**self.options, "limit": most})
        return [Document(page_content=one.text, id=one.id, metadata=one.metadata) for one in found]
