"""`cuetrail mcp --compat mcp-memory` answers as the reference memory server, which gets the same calls beside it.

CUETRAIL_COMPAT_CALLS=2000 compares a longer random script.
"""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import StdioServerParameters
from mcp_types import CallToolResult

from scripts import memory_server
from tests.serve.conftest import agent, command

CALLS = int(os.environ.get("CUETRAIL_COMPAT_CALLS", "60"))
SECONDS = 60 + CALLS / 5
NAMES = ["Ada", "Bob Lund", "Cafe\u0301 Nord", "Zoë", "東京", "project-x", "a\u00a0b", "#7", " Eve "]
TYPES = ["person", "Person", "Night Owl", "", "entity", "proje\u0301t", "source"]
TEXTS = [
    "Likes tea",
    "likes tea",
    " Likes tea ",
    "cafe\u0301",
    "café",
    "line\r\nline",
    "a\tb",
    "#tag @place",
    "8",
    "Ünïcode",
]
RELATIONS = ["knows", "Knows", "works at", "", " near ", "cafe\u0301", "has_relationship_with"]


@pytest.fixture
def reference(tmp_path: Path) -> StdioServerParameters:
    """The reference server, on a file of its own."""
    try:
        server = memory_server.install() if os.environ.get("CI") else memory_server.find()
    except memory_server.Missing as error:
        pytest.skip(str(error))
    file = tmp_path / "reference.jsonl"
    return StdioServerParameters(
        command=shutil.which("node") or "node", args=[str(server)],
        env={"MEMORY_FILE_PATH": str(file), "PATH": os.environ["PATH"]},
    )  # fmt: skip


def some(chance: random.Random, values: list[str], most: int = 3) -> list[str]:
    return chance.sample(values, chance.randint(0, most))


def random_call(chance: random.Random) -> tuple[str, dict[str, Any]]:
    """A call. Within one, no entity and no relation stands twice: there cuetrail makes one, as docs/mcp.md says."""

    def relations() -> list[dict[str, str]]:
        ends = {(chance.choice(NAMES), chance.choice(NAMES), chance.choice(RELATIONS)) for _ in range(3)}
        return [{"from": src, "to": dst, "relationType": kind} for src, dst, kind in sorted(ends)]

    match chance.randint(0, 11):
        case 0 | 1 | 2:
            rows = [
                {"name": name, "entityType": chance.choice(TYPES), "observations": chance.choices(TEXTS, k=3)}
                for name in some(chance, NAMES)
            ]
            return "create_entities", {"entities": rows}
        case 3 | 4:
            return "create_relations", {"relations": relations()}
        case 5 | 6:
            rows = [{"entityName": name, "contents": chance.choices(TEXTS, k=2)} for name in some(chance, NAMES, 2)]
            return "add_observations", {"observations": rows}
        case 7:
            return "delete_entities", {"entityNames": some(chance, [*NAMES, "Nobody"], 2)}
        case 8:
            rows = [{"entityName": name, "observations": some(chance, TEXTS)} for name in some(chance, NAMES, 2)]
            return "delete_observations", {"deletions": rows}
        case 9:
            return "delete_relations", {"relations": relations()}
        case 10:
            return "search_nodes", {"query": chance.choice([*TEXTS, *TYPES, "A", "o", "zebra"])}
        case _:
            return "open_nodes", {"names": some(chance, [*NAMES, "Nobody"])}


def answer(result: CallToolResult) -> Any:
    texts = [getattr(content, "text", None) for content in result.content]
    return bool(result.is_error), texts, None if result.is_error else result.structured_content


def test_a_random_script_is_answered_as_the_reference_server_answers_it(
    place: Path, reference: StdioServerParameters
) -> None:
    chance = random.Random(7)

    async def compare() -> None:
        async with (
            agent(command(place, "--compat", "mcp-memory"), seconds=SECONDS) as ours,
            agent(reference, seconds=SECONDS) as theirs,
        ):
            for number in range(CALLS):
                name, given = random_call(chance)
                ends: list[tuple[str, dict[str, Any]]] = [("read_graph", {})] if number % 10 == 9 else []
                for tool, arguments in [(name, given), *ends]:
                    got, wanted = [answer(await one.call(tool, **arguments)) for one in (ours, theirs)]
                    assert got == wanted, (number, tool, arguments)

    anyio.run(compare)
