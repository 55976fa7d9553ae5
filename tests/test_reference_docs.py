"""The references of Python, REST and MCP are made from the code; each says all that the code has."""

from __future__ import annotations

from types import ModuleType

import pytest

import cuetrail
from cuetrail.serve.rest.openapi import openapi_document
from cuetrail.serve.verbs import EFFECTS, every_tool
from scripts import api_docs, mcp_docs, rest_docs


@pytest.mark.parametrize("made", [api_docs, rest_docs, mcp_docs], ids=lambda made: made.DOCUMENT.name)
def test_a_reference_is_what_the_code_says(made: ModuleType) -> None:
    written = made.DOCUMENT.read_text("utf-8")
    assert written == made.page(), f"{made.DOCUMENT.name} is old: run `python -m {made.__name__}`"


def test_the_python_reference_has_every_verb_and_every_public_name() -> None:
    headings = {line.lstrip("# ") for line in api_docs.page().splitlines() if line.startswith("#")}
    assert {f"Memory.{verb}" for verb in EFFECTS} <= headings
    assert set(cuetrail.__all__) - {"__version__", "CuetrailError"} <= headings


def test_the_rest_reference_has_every_path_and_every_result() -> None:
    lines = set(rest_docs.page().splitlines())
    document = openapi_document()
    assert {f"### {m.upper()} {path}" for path, verbs in document["paths"].items() for m in verbs} <= lines
    assert {f"### {name}" for name in document["components"]["schemas"]} <= lines


def test_the_mcp_reference_has_every_tool() -> None:
    assert {f"### {name}" for name in every_tool()} <= set(mcp_docs.page().splitlines())
