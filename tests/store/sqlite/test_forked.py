"""A child process that was forked while a memory was open does not use the connections of its parent."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from cuetrail.memory import Memory
from tests.store.sqlite.tools import open_memory, search

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


def in_child(work: Callable[[], object]) -> str:
    """What a forked process returns or raises, as text."""
    back, there = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            said = f"fine: {work()}"
        except BaseException as error:  # noqa: BLE001  # the parent judges it
            said = f"{type(error).__name__}: {error}"
        os.write(there, said.encode())
        os._exit(0)
    os.close(there)
    with os.fdopen(back, encoding="utf-8") as file:
        said = file.read()
    os.waitpid(child, 0)
    return said


USES: dict[str, Callable[[Memory], object]] = {
    "get": lambda memory: memory.get("a"),
    "recall": lambda memory: memory.recall("walrus"),
    "add": lambda memory: memory.add("by the child", id="b"),
    "forget": lambda memory: memory.forget("a"),
    "refresh": lambda memory: memory.refresh(),
    "stats": lambda memory: memory.stats(),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_process_is_told_to_open_the_memory_again(tmp_path: Path, use: str) -> None:
    with open_memory(tmp_path / "m") as memory:
        memory.add("the word is walrus", id="a")
        memory.recall("walrus")
        said = in_child(lambda: USES[use](memory))
        assert "MemoryError_" in said
        assert "Open the memory again" in said
        assert search(memory, "walrus") == ["a"]


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_process_may_close_the_memory_and_open_it_again(tmp_path: Path) -> None:
    def again() -> list[str]:
        memory.close()
        with open_memory(tmp_path / "m") as own:
            own.add("the word is ocelot", id="b")
            return search(own, "walrus") + search(own, "ocelot")

    with open_memory(tmp_path / "m") as memory:
        memory.add("the word is walrus", id="a")
        assert in_child(again) == "fine: ['a', 'b']"
        memory.add("the word is lynx", id="c")
        assert [search(memory, word) for word in ("walrus", "ocelot", "lynx")] == [["a"], ["b"], ["c"]]
        assert memory.doctor() == []
