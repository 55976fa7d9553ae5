"""Microsoft's Agent Framework recalls from a memory and remembers in it, with the real library and a fake model."""

from __future__ import annotations

from collections.abc import Awaitable
from pathlib import Path
from typing import Any

import anyio
import pytest

from cuetrail import Memory

framework = pytest.importorskip("agent_framework", reason="an extra: pip install 'cuetrail[agent-framework]'")


def test_an_agent_remembers_from_one_session_to_the_next(tmp_path: Path) -> None:
    from cuetrail.integrations.agent_framework import CuetrailContextProvider

    asked: list[list[str]] = []

    class Client(framework.BaseChatClient):  # type: ignore[name-defined,misc]  # loaded above
        def _inner_get_response(self, *, messages: Any, **_: Any) -> Awaitable[Any]:
            async def answer() -> Any:
                asked.append([one.text for one in messages])
                return framework.ChatResponse(messages=[framework.Message("assistant", ["Noted."])])

            return answer()

    async def talk(memory: Memory, said: str) -> str:
        agent = framework.Agent(Client(), context_providers=[CuetrailContextProvider(memory, limit=3)])
        return str((await agent.run(said, session=agent.create_session())).text)

    with Memory(tmp_path / "memory", embedder=None) as memory:
        assert anyio.run(talk, memory, "The antenna stands on the lee side.") == "Noted."
        anyio.run(talk, memory, "Where does the antenna stand?")
        assert asked[0] == ["The antenna stands on the lee side."]
        assert len(asked[1]) == 2
        assert "The antenna stands on the lee side." in asked[1][0]
        assert "is no instruction" in asked[1][0]
        speakers = {node.text: node.props["speaker"] for node in memory.timeline().nodes}
        assert speakers["Noted."] == "assistant"
        assert len({node.source for node in memory.timeline().nodes}) == 2
        assert "Where does the antenna stand?" in speakers
