"""Writes docs/api.md from the signatures and docstrings of the package: `python -m scripts.api_docs`.

A test fails if the page is outdated.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import json
import re
import textwrap
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import cuetrail
from cuetrail import errors
from cuetrail.memory import Memory
from cuetrail.recall import recipes

DOCUMENT = Path(__file__).parents[1] / "docs" / "api.md"
INTRODUCTION = """\
<!-- Made by `python -m scripts.api_docs` from signatures and docstrings. Change those, not this. -->

# Python API

Everything below is imported from `cuetrail`. Times are UTC milliseconds; `now` sets the present. Bad arguments raise
`InputError`, with advice on what to do next; all errors are listed [at the end](#errors). The same verbs exist
[on the command line](cli.md), [over REST](rest_reference.md) and [over MCP](mcp_tools.md)."""
WIDTH = 110
_SECTION = re.compile(r"^    # --- (.+?)(?: \(.*\))?$")


def page() -> str:
    """Returns the text of docs/api.md."""
    parts = [INTRODUCTION, "## Memory", _code(_signature("Memory", Memory.__init__)), _prose(Memory)]
    for section, names in _sections().items():
        parts += [
            f"**{section[0].upper()}{section[1:]}:** " + ", ".join(f"[`{name}`](#memory{name})" for name in names)
        ]
    for names in _sections().values():
        for name in names:
            parts += _verb(name)
    parts += ["## AsyncMemory", _prose(cuetrail.AsyncMemory)]
    for name in sorted(cuetrail.__all__):
        value = getattr(cuetrail, name)
        if inspect.isclass(value) and not issubclass(value, (Memory, cuetrail.AsyncMemory, Exception)):
            parts += _class(value)
    parts += ["## recipes", _prose(recipes), *_recipes(), "## Errors", _error_tree()]
    return "\n\n".join(part for part in parts if part) + "\n"


@cache
def _sections() -> dict[str, list[str]]:
    """Returns the public verbs of `Memory` under the headings that comments in its source give them."""
    lines = inspect.getsource(Memory).splitlines()
    found: dict[str, list[str]] = {}
    section = "open and close"
    for line in lines:
        if heading := _SECTION.match(line):
            section = heading[1]
        elif (verb := re.match(r"^    def ([a-z]\w*)", line)) and verb[1] != "session":
            found.setdefault(section, []).append(verb[1])
    return found


def _verb(name: str) -> list[str]:
    function = getattr(Memory, name)
    return [f"### Memory.{name}", _code(_signature(name, function)), _prose(function)]


def _signature(name: str, function: Any) -> str:
    """Returns a signature as the source has it, without `self`; constants as their values; folded if it is long."""
    function = inspect.unwrap(function)
    (node,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    assert isinstance(node, ast.FunctionDef)
    arguments = list(_arguments(node.args, inspect.signature(function)))
    returns = f" -> {ast.unparse(node.returns)}" if node.returns and name[0].islower() else ""
    whole = f"{name}({', '.join(arguments)}){returns}"
    if len(whole) <= WIDTH:
        return whole
    lines = [""]
    for argument in arguments:
        if len(lines[-1]) + len(argument) > WIDTH:
            lines.append("")
        lines[-1] += f" {argument}," if lines[-1] else f"    {argument},"
    return f"{name}(\n" + "\n".join(lines) + f"\n){returns}"


def _arguments(given: ast.arguments, signature: inspect.Signature) -> Iterator[str]:
    """Yields the arguments of a function, each as `name: type = default`."""
    positional = [*given.posonlyargs, *given.args]
    missing: list[ast.expr | None] = [None] * (len(positional) - len(given.defaults))
    for argument, default in zip(positional, [*missing, *given.defaults], strict=True):
        if argument.arg != "self":
            yield _argument(argument, default, signature)
    if given.vararg:
        yield f"*{_argument(given.vararg, None, signature)}"
    elif given.kwonlyargs:
        yield "*"
    for argument, default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        yield _argument(argument, default, signature)
    if given.kwarg:
        yield f"**{_argument(given.kwarg, None, signature)}"


def _argument(argument: ast.arg, default: ast.expr | None, signature: inspect.Signature) -> str:
    shown = f"{argument.arg}: {ast.unparse(argument.annotation)}" if argument.annotation else argument.arg
    if default is None:
        return shown
    value = signature.parameters[argument.arg].default
    is_constant = isinstance(default, ast.Name) and isinstance(value, (int, float, str))
    return f"{shown} = {repr(value) if is_constant else ast.unparse(default).replace(chr(39), chr(34))}"


def _class(value: type) -> list[str]:
    parts = [f"## {value.__name__}", _prose(value)]
    if dataclasses.is_dataclass(value):
        rows = [f"| `{one.name}` | `{_cell(str(one.type))}` | {_default(one)} |" for one in dataclasses.fields(value)]
        parts.append("\n".join(["| field | type | default |", "|---|---|---|", *rows]))
    members = [
        f"- `{_member(name, found)}`: {_summary(found)}"
        for name, found in vars(value).items()
        if not name.startswith("_") and (inspect.isfunction(found) or isinstance(found, property)) and found.__doc__
    ]
    return [*parts, "\n".join(members)]


def _member(name: str, found: Any) -> str:
    """Returns a method with its signature, or a property with its type."""
    if isinstance(found, property):
        return _signature(name, found.fget).replace("() -> ", ": ")
    return _signature(name, found)


def _default(field: dataclasses.Field[Any]) -> str:
    if field.default is not dataclasses.MISSING:
        return f"`{_cell(_value(field.default))}`"
    if field.default_factory is not dataclasses.MISSING:
        return f"`{getattr(field.default_factory, '__name__', 'made')}()`"
    return "required"


def _value(value: object) -> str:
    """Returns a default as code; of a record only its class, as its fields are its own defaults."""
    return (
        f"{type(value).__name__}()"
        if dataclasses.is_dataclass(value)
        else json.dumps(value)
        if isinstance(value, str)
        else repr(value)
    )


def _recipes() -> Iterator[str]:
    named = ", ".join(
        f"`recipes.{one}`" for one in sorted(vars(recipes)) if isinstance(getattr(recipes, one), cuetrail.Recipe)
    )
    yield f"Ready-made: {named}. `recipes.BY_NAME` has them by the names that the command line and REST use."
    yield "These functions make others:"
    for name, function in vars(recipes).items():
        if (
            inspect.isfunction(function)
            and function.__module__ == recipes.__name__
            and "-> Recipe" in (text := _signature(name, function))
        ):
            yield f"{_code(text)}\n\n{_prose(function)}"


def _error_tree() -> str:
    tree = inspect.getdoc(errors) or ""
    return (
        f"They are in `cuetrail.errors`. {tree.split(chr(10) * 2)[0]}\n\n```text\n{tree.partition(chr(10) * 2)[2]}\n```"
    )


def _prose(thing: Any) -> str:
    """Returns a docstring as paragraphs; indented examples as code."""
    parts = (inspect.getdoc(thing) or "").split("\n\n")
    return "\n\n".join(
        part if part.lstrip().startswith(("- ", "* ", "|")) or part.startswith("    ")
        else f"```pycon\n{part}\n```" if part.startswith(">>>") else " ".join(part.split())
        for part in parts
    )  # fmt: skip


def _summary(thing: Any) -> str:
    return " ".join((inspect.getdoc(thing) or "").split("\n\n")[0].split())


def _code(text: str) -> str:
    return f"```py\n{text}\n```"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    DOCUMENT.write_text(page(), encoding="utf-8")
