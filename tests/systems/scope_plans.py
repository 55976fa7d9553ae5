"""Runs random plans of `scope_model` through a door, each on a new memory.

By hand: `python -m tests.systems.scope_plans library|rest|mcp SEED OPERATIONS [--neo4j]`. A plan has 500 steps; the
next one has the next seed. With TMPDIR in memory (`/dev/shm`) it is several times faster.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from starlette.testclient import TestClient

from cuetrail import Memory
from cuetrail.serve.memory_access import LazyMemory
from cuetrail.serve.rest.requests import RequestRules
from cuetrail.serve.rest.server import make_app
from tests.servers import running, wipe
from tests.systems.scope_doors import Library, Rest, mcp_door
from tests.systems.scope_model import Door, Plan

STEPS, CENSUS = 500, 100
"""The length of a plan by hand, and after how many of its steps everyone lists everything."""


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


def run_plan(address: str | Path, folder: Path, door: str, seed: int, steps: int, every: int) -> Plan:
    """Runs a plan; returns it with its counts. Raises AssertionError at the first leak."""
    folder.mkdir(exist_ok=True)
    with Memory(address, embedder=None) as memory, DOORS[door](memory, folder) as opened:
        plan = Plan(seed, memory, opened, folder)
        plan.run(steps, every)
        found = memory.doctor()
        assert found == [], found
    return plan


@contextmanager
def an_address(neo4j: bool) -> Iterator[Callable[[Path], str]]:
    """A function that returns the address of an empty memory: in the folder, or on a server."""
    if not neo4j:
        yield lambda folder: str(folder / "memory")
        return
    with running() as login:
        os.environ["NEO4J_USER"], os.environ["NEO4J_PASSWORD"] = login.user, login.password

        def emptied(_folder: Path) -> str:
            wipe(login)
            return login.uri

        yield emptied


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("door", choices=DOORS)
    parser.add_argument("seed", type=int)
    parser.add_argument("operations", type=int)
    parser.add_argument("--neo4j", action="store_true")
    given = parser.parse_args()
    done, worked, seed = Counter[str](), Counter[str](), given.seed
    with an_address(given.neo4j) as address:
        while done.total() < given.operations:
            with tempfile.TemporaryDirectory(prefix="cuetrail-scopes-") as made:
                try:
                    plan = run_plan(address(Path(made)), Path(made) / "files", given.door, seed, STEPS, CENSUS)
                except BaseException:
                    sys.stderr.write(f"{given.door}, seed {seed}, after {done.total()} operations of other seeds\n")
                    raise
            done, worked, seed = done + plan.done, worked + plan.worked, seed + 1
    sys.stdout.write(
        f"{given.door}, seeds {given.seed} to {seed - 1}: {done.total()} operations, {worked.total()} with a result; "
        f"{dict(done.most_common())}\n"
    )


if __name__ == "__main__":
    main()
