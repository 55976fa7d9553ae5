"""Writes docs/mcp_tools.md from the tools themselves: `python -m scripts.mcp_docs`. A test fails if it is outdated."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from cuetrail.serve.mcp import reference_tools, tools
from cuetrail.serve.tool import Tool
from cuetrail.serve.verbs import every_tool
from scripts.schema_docs import table

DOCUMENT = Path(__file__).parents[1] / "docs" / "mcp_tools.md"
INTRODUCTION = """\
<!-- Made by `python -m scripts.mcp_docs` from the tools themselves. Change those, not this. -->

# MCP tools

What `tools/list` answers, for reading. How to give them to an agent: [mcp.md](mcp.md)."""
DEFAULT = """\
## Default

`cuetrail mcp` offers these, and `cuetrail serve` at `/mcp`."""
FULL = """\
## Full profile

`cuetrail mcp --profile full` offers the default tools and these: the other verbs of the [library](api.md)."""
REFERENCE = """\
## In place of the reference memory server

`cuetrail mcp --compat mcp-memory` offers these alone ([how](mcp.md#in-place-of-the-reference-memory-server))."""


def page() -> str:
    """Returns the text of docs/mcp_tools.md."""
    known = {tool.name for tool in tools.TOOLS}
    others = [tool for name, tool in every_tool().items() if name not in known]
    parts = [INTRODUCTION, DEFAULT, *_tools(tools.TOOLS), FULL, *_tools(others)]
    return "\n\n".join([*parts, REFERENCE, *_tools(reference_tools.TOOLS)]) + "\n"


def _tools(given: Iterable[Tool]) -> Iterator[str]:
    for tool in given:
        yield f"### {tool.name}"
        yield f"{tool.description} *{_effect(tool)}.*"
        if tool.properties:
            yield table(tool.properties, tool.required)


def _effect(tool: Tool) -> str:
    if not tool.writes:
        return "Only reads"
    return "Writes" + ("; may destroy" if tool.destroys else "") + ("; may be repeated" if tool.repeatable else "")


if __name__ == "__main__":
    DOCUMENT.write_text(page(), encoding="utf-8")
