"""The OpenAI Agents SDK keeps its conversations in a memory, with the real library and a fake model."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from cuetrail import Memory
from cuetrail.errors import InputError

agents = pytest.importorskip("agents", reason="an extra: pip install 'cuetrail[openai-agents]'")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    agents.set_tracing_disabled(True)
    with Memory(tmp_path / "memory", embedder=None) as opened:
        yield opened


def session(memory: Memory, name: str = "support-42", **options: Any) -> Any:
    from cuetrail.integrations.openai_agents import CuetrailSession

    return CuetrailSession(name, memory, **options)


def fake_model(answers: list[Any]) -> Any:
    """A model that gives these answers, texts or calls of a tool, and notes what it is asked."""
    from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

    class Fake(agents.Model):  # type: ignore[name-defined,misc]  # loaded above
        asked: list[Any] = []  # noqa: RUF012  # one object per class here

        async def get_response(self, *_: Any, **given: Any) -> Any:
            self.asked.append(given["input"])
            said = answers.pop(0)
            text = ResponseOutputText(text=str(said), type="output_text", annotations=[])
            out: Any = ResponseOutputMessage(
                id=f"m{len(self.asked)}", content=[text], role="assistant", status="completed", type="message"
            )
            if isinstance(said, tuple):
                out = ResponseFunctionToolCall(call_id="c1", name=said[0], arguments=said[1], type="function_call")
            return agents.ModelResponse(output=[out], usage=agents.Usage(), response_id=None)

        def stream_response(self, *_: Any, **__: Any) -> Any:
            raise NotImplementedError

    return Fake()


def test_an_agent_remembers_a_conversation_from_one_run_to_the_next(memory: Memory) -> None:
    model = fake_model(["Noted.", "On the lee side."])
    agent = agents.Agent("helper", model=model)

    async def run(said: str) -> str:
        result = await agents.Runner.run(agent, said, session=session(memory))
        return str(result.final_output)

    assert anyio.run(run, "The antenna stands on the lee side.") == "Noted."
    assert anyio.run(run, "Where is it?") == "On the lee side."
    told = [one.get("content") for one in model.asked[1]]
    assert told[0] == "The antenna stands on the lee side."
    assert told[1][0]["text"] == "Noted."
    assert told[2] == "Where is it?"
    hit = memory.recall("antenna").hits[0].node
    assert (hit.text, hit.source, hit.props["speaker"]) == ("The antenna stands on the lee side.", "support-42", "user")


def test_an_agent_recalls_other_conversations_by_a_tool(memory: Memory) -> None:
    from cuetrail.integrations.openai_agents import recall_tool

    memory.add("The antenna stands on the lee side.", source="notes.md")
    model = fake_model([("recall_memory", '{"question": "antenna"}'), "On the lee side."])
    agent = agents.Agent("helper", model=model, tools=[recall_tool(memory)])

    async def run() -> Any:
        return await agents.Runner.run(agent, "Where is the antenna?", session=session(memory, "new"))

    assert anyio.run(run).final_output == "On the lee side."
    assert "lee side" in model.asked[1][-1]["output"]
    items = anyio.run(session(memory, "new").get_items)
    assert [one.get("type", one.get("role")) for one in items] == [
        "user", "function_call", "function_call_output", "message"
    ]  # fmt: skip


def test_items_come_back_exactly_in_order_and_are_popped_from_the_end(memory: Memory) -> None:
    items: list[Any] = [{"role": "user", "content": f"ok {number % 3}"} for number in range(30)]
    items.append({"type": "reasoning", "id": "r", "summary": [], "encrypted_content": "abc"})
    one, other = session(memory), session(memory, "other")
    assert isinstance(one, agents.Session)

    async def use() -> None:
        await one.add_items([])
        assert await one.get_items() == []
        assert await one.pop_item() is None
        for start in range(0, 31, 7):
            await one.add_items(items[start : start + 7])
        await other.add_items(items[:3])
        assert await one.get_items() == items
        assert await one.get_items(limit=4) == items[-4:]
        assert await one.get_items(limit=0) == []
        assert await one.get_items(limit=99) == items
        assert await one.pop_item() == items[-1]
        assert await one.pop_item() == items[-2]
        assert await one.get_items() == items[:-2]
        assert await other.get_items() == items[:3], "the same texts in another conversation stay"
        await one.clear_session()
        assert await one.get_items() == []
        await one.add_items(items[:2])
        assert await one.get_items() == items[:2]
        await asyncio.gather(*(other.add_items([{"role": "user", "content": str(n)}]) for n in range(5)))
        assert len(await other.get_items()) == 8

    anyio.run(use)
    assert memory.doctor() == []


def test_settings_limit_the_items_and_wrong_items_are_refused(memory: Memory) -> None:
    from agents.memory import SessionSettings

    limited = session(memory, session_settings=SessionSettings(limit=2))

    async def use() -> Any:
        await limited.add_items([{"role": "user", "content": str(n)} for n in range(5)])
        return await limited.get_items()

    assert [one["content"] for one in anyio.run(use)] == ["3", "4"]
    for wrong, said in (([{"role": "user", "content": object()}], "JSON"), (["hello"], "must be a mapping")):
        with pytest.raises(InputError, match=said):
            anyio.run(limited.add_items, wrong)
    with pytest.raises(InputError, match="session_id must name"):
        session(memory, "")
