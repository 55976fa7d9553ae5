"""LlamaIndex retrieves from a memory, with the real library."""

from __future__ import annotations

import gc
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


# LlamaIndex uses a deprecated field of pydantic, and does not close its database.
@pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)
def test_an_agent_remembers_from_one_conversation_to_the_next(tmp_path: Path) -> None:
    from llama_index.core.agent.workflow import FunctionAgent
    from llama_index.core.llms.mock import MockFunctionCallingLLMWithChatMemoryOfLastCall as Model
    from llama_index.core.memory import Memory as AgentMemory

    from cuetrail.integrations.llamaindex import CuetrailMemoryBlock

    with Memory(tmp_path / "memory", embedder=None) as memory:

        async def talk(session: str, *said: str) -> str:
            model = Model(is_chat_model=True)
            chat = AgentMemory.from_defaults(
                session_id=session, token_limit=60, chat_history_token_ratio=0.4, token_flush_size=10,
                memory_blocks=[CuetrailMemoryBlock(memory=memory, options={"limit": 3})],
            )  # fmt: skip
            agent = FunctionAgent(llm=model, tools=[], streaming=False)
            for text in said:
                await agent.run(text, memory=chat)
            return "\n".join(str(one.content) for one in model.last_chat_messages or ())

        anyio.run(
            talk, "first", "The antenna stands on the lee side.", "And the mast is made of larch wood, I think.", "Hm."
        )
        assert memory.recall("antenna").hits[0].node.source == "first"
        told = anyio.run(talk, "second", "Where does the antenna stand?")
        assert "lee side" in told
        assert "Where does the antenna stand?" in told
        block = CuetrailMemoryBlock(memory=memory)
        assert anyio.run(block.aget, None) == ""
        assert anyio.run(block.atruncate, "one line\nand another", 3) == "one line"
        assert anyio.run(block.atruncate, "one line", 30) is None
    gc.collect()
