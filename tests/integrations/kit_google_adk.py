"""Google's ADK keeps sessions in a memory, with a fake model. `test_own_environment` runs this."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from typing import Any

import pytest
from google.adk.agents import Agent
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools.preload_memory_tool import PreloadMemoryTool
from google.genai import types

from cuetrail import Memory
from cuetrail.errors import InputError, NotFound
from cuetrail.integrations.google_adk import CuetrailMemoryService

ANN: Any = {"app_name": "camp", "user_id": "ann"}


class Model(BaseLlm):  # type: ignore[misc]  # ADK has no types here
    """Answers "Noted." and notes what it is asked."""

    asked: list[str] = []  # noqa: RUF012  # a field of pydantic, copied for each object

    async def generate_content_async(
        self,
        llm_request: LlmRequest,
        stream: bool = False,  # noqa: ARG002  # its signature
    ) -> AsyncGenerator[LlmResponse, None]:
        """Yields the answer."""
        said = [part.text or "" for one in llm_request.contents for part in one.parts or ()]
        self.asked.append("\n".join([str(llm_request.config.system_instruction or ""), *said]))
        yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text="Noted.")]))


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """An empty memory."""
    with Memory(tmp_path / "memory", embedder=None) as opened:
        yield opened


async def talk(service: CuetrailMemoryService, said: str, user: str = "ann") -> str:
    """Has a session with one message, adds it to the memory, and returns what the model was asked."""
    sessions, model = InMemorySessionService(), Model(model="fake")
    agent = Agent(name="helper", model=model, tools=[PreloadMemoryTool()])
    runner = Runner(app_name="camp", agent=agent, session_service=sessions, memory_service=service)
    session = await sessions.create_session(app_name="camp", user_id=user)
    message = types.Content(role="user", parts=[types.Part(text=said)])
    async for _ in runner.run_async(user_id=user, session_id=session.id, new_message=message):
        pass
    kept = await sessions.get_session(app_name="camp", user_id=user, session_id=session.id)
    assert kept is not None
    await service.add_session_to_memory(kept)
    await service.add_session_to_memory(kept)
    return model.asked[-1]


def test_an_agent_remembers_from_one_session_to_the_next_and_users_are_kept_apart(memory: Memory) -> None:
    service = CuetrailMemoryService(memory)
    asyncio.run(talk(service, "The antenna stands on the lee side."))
    assert "lee side" in asyncio.run(talk(service, "Where does the antenna stand?"))
    assert "lee side" not in asyncio.run(talk(service, "Where does the antenna stand?", user="bob"))
    texts = [node.text for node in service.of_user("camp", "ann").timeline().nodes]
    assert texts.count("The antenna stands on the lee side.") == 1, "a session that is added again is not doubled"
    assert memory.timeline().nodes == ()


def test_a_search_says_who_said_it_and_when_and_a_deleted_memory_does_not_come_back(memory: Memory) -> None:
    service = CuetrailMemoryService(memory)

    async def use() -> Any:
        entry = MemoryEntry(content=types.Content(parts=[types.Part(text="The mast is made of larch.")]))
        await service.add_memory(**ANN, memories=[entry])
        (found,) = (await service.search_memory(**ANN, query="what is the mast made of?")).memories
        assert found.content.parts[0].text == "The mast is made of larch."
        assert found.timestamp.startswith("20")
        assert (await service.search_memory(**ANN, query="  ")).memories == []
        assert (await service.search_memory(**ANN, query="elephants in Peru")).memories == []
        await service.delete_memory(**ANN, memory_id=found.id)
        await service.add_memory(**ANN, memories=[entry])
        assert (await service.search_memory(**ANN, query="what is the mast made of?")).memories == []
        with pytest.raises(NotFound):
            await service.delete_memory(**ANN, memory_id="nobody")
        with pytest.raises(InputError, match="give the id"):
            await service.delete_memory(**ANN)

    asyncio.run(use())


def test_names_with_a_slash_do_not_meet(memory: Memory) -> None:
    service = CuetrailMemoryService(memory)
    assert service.of_user("a/b", "c").scope != service.of_user("a", "b/c").scope
