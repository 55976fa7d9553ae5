"""Library, command line, HTTP and MCP have the same verbs."""

from __future__ import annotations

import inspect

from cuetrail import Memory
from cuetrail.cli import main
from cuetrail.serve.rest.file_routes import FILE_VERBS
from cuetrail.serve.rest.server import VERBS
from cuetrail.serve.verbs import every_tool

COMMANDS: dict[str, str] = {
    "add_many": "import", "confirm": "fact", "declare": "fact", "doomed": "forget", "edge": "get",
    "end_mirror": "mirror", "fact_history": "fact", "fact_ids": "fact", "facts": "fact", "has_traces": "forget",
    "history": "get", "ids": "get", "import_": "import", "ingest_bytes": "ingest", "ingest_text": "ingest",
    "mirrors": "mirror", "neighbours": "get", "nodes": "get", "prewarm": "narrate", "refresh": "ingest",
    "retract": "fact", "tag_walk": "recall",
}  # fmt: skip
"""The command that does what a verb of another name does."""

NO_SERVICE = {"mirror", "mirrors", "end_mirror", "ingest"}
"""Verbs on places of the server's disk. Files that are sent come to `ingest_bytes`, under the name `ingest`."""

NO_TOOL = {"ingest_bytes"}
"""Bytes cannot be said in JSON; `memory_ingest` takes the file."""


def verbs() -> set[str]:
    found = {name for name, _ in inspect.getmembers(Memory, inspect.isfunction) if not name.startswith("_")}
    return found - {"close", "scoped"}


def test_every_verb_is_a_command_or_part_of_one() -> None:
    assert {COMMANDS.get(verb, verb) for verb in verbs()} <= set(main.commands)
    assert set(COMMANDS) <= verbs()
    assert not {verb for verb in COMMANDS if verb in main.commands}


def test_every_verb_is_offered_over_http_but_those_on_the_servers_disk() -> None:
    files = {file.verb for file in FILE_VERBS.values()}
    assert {name if name in verbs() else f"{name}_" for name in VERBS} | files == verbs() - NO_SERVICE


def test_every_verb_is_a_tool_of_the_full_profile() -> None:
    assert {f"memory_{verb.rstrip('_')}" for verb in verbs() - NO_TOOL} <= set(every_tool())
