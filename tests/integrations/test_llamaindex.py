"""LlamaIndex retrieves from a memory, with the real library."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from cuetrail import Memory

pytest.importorskip("llama_index.core", reason="an extra: pip install 'cuetrail[llamaindex]'")


def test_a_query_engine_gets_what_the_memory_holds_with_its_score(tmp_path: Path) -> None:
    from llama_index.core.schema import MetadataMode

    from cuetrail.integrations.llamaindex import CuetrailRetriever

    with Memory(tmp_path / "memory", embedder=None) as memory:
        memory.add("The antenna stands on the lee side.", id="a", tags=["radio"], source="notes.md")
        memory.add("Tea is in the cupboard.", id="b")
        retriever = CuetrailRetriever(memory, limit=5)
        (found,) = retriever.retrieve("antenna")
        assert (found.node.node_id, found.node.get_content()) == ("a", "The antenna stands on the lee side.")
        assert found.node.metadata["source"] == "notes.md"
        assert "radio" in found.node.get_content(MetadataMode.ALL)
        assert found.score is not None
        assert found.score > 0
        assert [one.node.node_id for one in anyio.run(retriever.aretrieve, "tea")] == ["b"]
        assert retriever.retrieve("nothing of the kind") == []


def test_current_facts_are_the_first_node_and_what_no_longer_holds_is_marked(tmp_path: Path) -> None:
    from cuetrail.integrations.llamaindex import CuetrailRetriever

    with Memory(tmp_path / "memory", embedder=None) as memory:
        memory.add("Ann lives in Berlin.", id="old")
        for home in ("Berlin", "Lisbon"):
            memory.fact("Ann", "lives_in", home)
        facts, old = CuetrailRetriever(memory).retrieve("where does Ann live now?")
        assert facts.node.get_content().startswith("Ann lives in Lisbon (since ")
        assert facts.node.node_id == "facts"
        assert old.node.get_content() == f"[{old.node.metadata['mark']}] Ann lives in Berlin."
