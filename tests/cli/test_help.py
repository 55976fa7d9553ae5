"""Commands and options have help, their examples parse, and docs/cli.md is up to date."""

from __future__ import annotations

import shlex

import click
import pytest

from cuetrail.cli import VERBS, main
from scripts import cli_docs

every_verb = pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)


def example_lines(command: click.Command) -> list[str]:
    return [line.strip() for line in (command.epilog or "").splitlines() if line.startswith("  ")]


def test_docs_are_what_the_commands_say() -> None:
    written = cli_docs.DOCUMENT.read_text(encoding="utf-8")
    assert written == cli_docs.page(), "docs/cli.md is old: run `python scripts/cli_docs.py`"


@every_verb
def test_every_command_and_option_has_help(verb: click.Command) -> None:
    assert verb.help
    assert 1 <= len(example_lines(verb)) <= 3
    silent = [p.opts[0] for p in verb.params if isinstance(p, click.Option) and not p.help]
    assert not silent


@every_verb
def test_every_command_has_the_shared_options(verb: click.Command) -> None:
    names = {name for parameter in verb.params for name in parameter.opts}
    assert {p.opts[0] for p in main.params} <= names


@pytest.mark.parametrize("line", [line for command in (main, *VERBS) for line in example_lines(command)])
def test_every_example_is_a_command_that_is_understood(line: str) -> None:
    words = shlex.split(line.replace("$(cuetrail completion bash)", "").replace("|", " | "))
    if "cuetrail" not in words:
        return
    words = words[words.index("cuetrail") + 1 :]
    ends = [words.index(mark) for mark in ("|", ">") if mark in words]
    # A question without a verb is understood too.
    _, verb, arguments = main.resolve_command(click.Context(main), words[: min(ends, default=len(words))])
    assert verb is not None
    # Parsing alone: files in examples need not exist.
    verb.make_parser(click.Context(verb)).parse_args(arguments)


def test_the_help_lists_commands_in_the_order_people_need_them() -> None:
    assert [verb.name for verb in VERBS][:4] == ["setup", "add", "ingest", "recall"]
    assert main.list_commands(click.Context(main)) == [verb.name for verb in VERBS]
