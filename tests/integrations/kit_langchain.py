"""LangChain's own tests for retrievers. `test_own_environment` runs them where `langchain-tests` is installed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_tests.integration_tests import RetrieversIntegrationTests

from cuetrail import Memory
from cuetrail.integrations.langchain import CuetrailRetriever


class TestCuetrailRetriever(RetrieversIntegrationTests):  # type: ignore[misc]  # it need not be installed
    """The kit, on a memory with some texts."""

    memory: Memory

    @pytest.fixture(autouse=True)
    def filled(self, tmp_path: Path) -> Iterator[None]:
        """A memory that answers the example with several texts."""
        with Memory(tmp_path / "memory", embedder=None) as memory:
            for number in range(6):
                memory.add(f"The antenna number {number} stands on the lee side.")
            type(self).memory = memory
            yield

    @property
    def retriever_constructor(self) -> type[CuetrailRetriever]:
        """The class under test."""
        return CuetrailRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        """Its arguments."""
        return {"memory": self.memory}

    @property
    def retriever_query_example(self) -> str:
        """A query."""
        return "where does the antenna stand?"
