"""Nothing passes from one scope to another through any door; see `scope_model`.

SCOPE_STEPS sets the length of a plan and SCOPE_SEED its first seed, for long runs by hand.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from cuetrail import Memory
from cuetrail.serve.memory_access import LazyMemory
from cuetrail.serve.rest.requests import RequestRules
from cuetrail.serve.rest.server import make_app
from tests.systems.scope_doors import Library, Rest, mcp_door
from tests.systems.scope_model import Door, Plan

# Read at once: a fixture hides the settings of the developer.
STEPS = int(os.environ.get("SCOPE_STEPS", "0"))
SEED = int(os.environ.get("SCOPE_SEED", "1"))


@contextmanager
def library(memory: Memory, folder: Path) -> Iterator[Library]:
    yield Library(memory, folder)


@contextmanager
def rest(memory: Memory, _folder: Path) -> Iterator[Rest]:
    app = make_app(LazyMemory(lambda: memory.scoped(memory.scope)), RequestRules())
    with TestClient(app, "http://localhost") as client:
        yield Rest(memory, client)


DOORS: dict[str, Callable[[Memory, Path], AbstractContextManager[Door]]] = {
    "library": library, "rest": rest, "mcp": mcp_door,
}  # fmt: skip


def run_plan(address: str | Path, folder: Path, door: str, steps: int) -> None:
    folder.mkdir(exist_ok=True)
    memory = Memory(address, embedder=None)
    with DOORS[door](memory, folder) as opened:
        plan = Plan(SEED, memory, opened, folder)
        plan.run(STEPS or steps, 25 if not STEPS else 100)
        if STEPS:
            (folder / "counts.txt").write_text(f"{sum(plan.done.values())} operations: {plan.done}")
        assert memory.doctor() == []
    memory.close()
    assert plan.worked["add"] > 3, "too few writes to find anything"
    assert plan.done["import"] + plan.done["forget"] > 0


@pytest.mark.parametrize("door", DOORS)
def test_no_answer_of_a_random_plan_shows_or_hints_at_what_is_anothers(tmp_path: Path, door: str) -> None:
    run_plan(tmp_path / "memory", tmp_path / "files", door, 120 if door == "library" else 60)
