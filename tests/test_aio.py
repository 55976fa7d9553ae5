"""AsyncMemory: every verb runs in a thread, and activation is an async stream."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import threading
from pathlib import Path
from typing import Any, assert_type

import pytest

from cuetrail import AsyncMemory, CuetrailError, Memory
from cuetrail.errors import InputError, NotFound
from cuetrail.model import Activation, Fact, Node, Recollection, Scope
from cuetrail.recall import recipes
from cuetrail.store.graph import Expanded, Frontier


async def chain(memory: AsyncMemory) -> None:
    """Three nodes in a row, and one that stands alone."""
    await memory.add_many([{"text": f"the {id_}", "id": id_} for id_ in ("a", "b", "c", "alone")])
    await memory.link("a", "b", weight=1.0)
    await memory.link("b", "c", weight=1.0)


def test_every_verb_is_awaited_with_the_same_arguments(tmp_path: Path) -> None:
    async def use() -> None:
        async with AsyncMemory(tmp_path / "m", embedder=None) as memory:
            await chain(memory)
            node, found = await asyncio.gather(memory.get("a"), memory.recall("the b", limit=1))
            assert (node.text, found.hits[0].node.id) == ("the a", "b")
            assert (await memory.stats()).nodes == 4
            assert memory.scope == Scope()
            with pytest.raises(NotFound, match="nobody"):
                await memory.link("a", "nobody")
            with pytest.raises(InputError, match="limit must be a whole number"):
                await memory.recall("x", limit="3")  # type: ignore[arg-type]  # wrong on purpose
            assert (await memory.recall("the a", recipe=recipes.ENERGY)).answerable

    asyncio.run(use())


def test_every_verb_of_a_memory_is_there(tmp_path: Path) -> None:
    async def use() -> None:
        async with AsyncMemory(tmp_path / "m", embedder=None) as memory:
            verbs = [name for name, _ in inspect.getmembers(Memory, inspect.isfunction) if not name.startswith("_")]
            for name in verbs:
                verb = getattr(memory, name)
                assert inspect.iscoroutinefunction(verb) or name == "activate", name

    asyncio.run(use())


def test_activation_streams_one_seed_after_the_other(tmp_path: Path) -> None:
    async def use() -> None:
        async with AsyncMemory(tmp_path / "m", embedder=None) as memory:
            await chain(memory)
            found = [(one.seed, one.reason, one.depth) async for one in memory.activate(["a", "nobody", "alone"])]
            assert found == [("nobody", "seed_not_found", 0), ("alone", "complete", 0), ("a", "complete", 2)]
            with pytest.raises(InputError, match=r"stop must be a threading\.Event"):
                await anext(memory.activate(["a"], stop=True))  # type: ignore[arg-type]  # wrong on purpose
            with pytest.raises(InputError, match="max_depth must be 0 or more"):
                await anext(memory.activate(["a"], max_depth=-1))

    asyncio.run(use())


class Slow:
    """An engine whose second expansion waits until it is let go."""

    def __init__(self, store: Any) -> None:
        self.store, self.levels = store, 0
        self.begun, self.go = threading.Event(), threading.Event()

    def expand(self, scope: Scope, level: Frontier) -> Expanded:
        self.levels += 1
        if self.levels == 2:
            self.begun.set()
            assert self.go.wait(20)
        found: Expanded = self.store.expand(scope, level)
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)


def test_leaving_the_stream_early_cancels_the_rest(tmp_path: Path) -> None:
    async def use() -> None:
        async with AsyncMemory(tmp_path / "m", embedder=None) as memory:
            await chain(memory)
            engine = memory._memory.store = Slow(memory._memory.store)
            async with contextlib.aclosing(memory.activate(["a", "alone"])) as stream:
                async for one in stream:
                    assert one.seed == "alone"
                    break
            assert engine.levels == 1

    asyncio.run(use())


def test_a_cancelled_task_ends_its_walk_with_the_level_it_is_at(tmp_path: Path) -> None:
    async def use() -> None:
        async with AsyncMemory(tmp_path / "m", embedder=None) as memory:
            await chain(memory)
            engine = memory._memory.store = Slow(memory._memory.store)
            task = asyncio.ensure_future(anext(memory.activate(["a"])))
            await asyncio.to_thread(engine.begun.wait, 20)
            task.cancel()
            # The loop takes a few turns to hand the cancellation through; only then may the engine go on.
            for _ in range(20):
                await asyncio.sleep(0)
            engine.go.set()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert engine.levels == 2
            node = await memory.get("a")
            assert node is not None
            assert node.id == "a"

    asyncio.run(use())


def test_a_memory_that_is_not_open_says_so(tmp_path: Path) -> None:
    async def use() -> None:
        memory = AsyncMemory(tmp_path / "m", embedder=None)
        with pytest.raises(CuetrailError, match="not open"):
            await memory.get("a")
        await memory.open()
        assert await memory.get("a") is None
        await memory.close()

    asyncio.run(use())


async def _typed(memory: AsyncMemory) -> None:
    """Not called: mypy checks that arguments and results have the types of `Memory`."""
    assert_type(await memory.recall("cue", limit=3), Recollection)
    assert_type(await memory.tag_walk("cue", mode="all", kinds=["atom"]), Recollection)
    assert_type(await memory.get("a"), Node | None)
    assert_type(await memory.forget("a", source="notes.md"), list[str])
    assert_type(await memory.facts("Ann"), list[Fact])
    assert_type(await memory.refresh(), None)
    async for one in memory.activate([("a", 0.9)], max_depth=2):
        assert_type(one, Activation)
    await memory.recall("cue", limit="3")  # type: ignore[arg-type]  # a wrong type is seen
    await memory.recal("cue")  # type: ignore[attr-defined]  # a misspelt verb is seen
    AsyncMemory("notes", embeder=None)  # type: ignore[call-arg]  # so is a misspelt option
