"""LangChain retrieves from a memory, with the real library."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from cuetrail import Memory

pytest.importorskip("langchain_core", reason="an extra: pip install 'cuetrail[langchain]'")


def test_a_chain_gets_what_the_memory_holds_with_where_it_is_from(tmp_path: Path) -> None:
    from langchain_core.documents import Document
    from langchain_core.runnables import RunnableLambda

    from cuetrail.integrations.langchain import CuetrailRetriever

    def ids(found: list[Document]) -> list[str | None]:
        return [one.id for one in found]

    with Memory(tmp_path / "memory", embedder=None) as memory:
        memory.add("The antenna stands on the lee side.", id="a", tags=["radio"], source="notes.md")
        memory.add("Tea is in the cupboard.", id="b")
        retriever = CuetrailRetriever(memory=memory, options={"limit": 5})
        (document,) = retriever.invoke("antenna")
        assert (document.id, document.page_content) == ("a", "The antenna stands on the lee side.")
        assert document.metadata["tags"] == ["radio"]
        assert (document.metadata["source"], document.metadata["found"]) == ("notes.md", "directly")
        chain: Any = retriever | RunnableLambda(ids)
        assert chain.invoke("tea") == ["b"]
        assert anyio.run(retriever.ainvoke, "antenna") == [document]
        assert retriever.invoke("nothing of the kind") == []


def test_current_facts_are_the_first_document_and_what_no_longer_holds_is_marked(tmp_path: Path) -> None:
    from cuetrail.integrations.langchain import CuetrailRetriever

    with Memory(tmp_path / "memory", embedder=None) as memory:
        memory.add("Ann lives in Berlin.", id="old")
        for home in ("Berlin", "Lisbon"):
            fact = memory.fact("Ann", "lives_in", home)
        facts, old = CuetrailRetriever(memory=memory).invoke("where does Ann live now?")
        assert facts.page_content.startswith("Ann lives in Lisbon (since ")
        assert (facts.id, facts.metadata["kind"], facts.metadata["facts"]) == ("facts", "facts", [fact.id])
        assert (old.id, old.page_content) == ("old", f"[{old.metadata['mark']}] Ann lives in Berlin.")
        assert old.metadata["mark"].endswith(": lives in Lisbon")
        (first,) = CuetrailRetriever(memory=memory, options={"limit": 1}).invoke("where does Ann live now?")
        assert first == facts
