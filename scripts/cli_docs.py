"""Writes docs/cli.md from the help of the commands: `python scripts/cli_docs.py`. A test fails if it is outdated."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click

from cuetrail.cli import VERBS, main
from cuetrail.cli.command import SharedOption

DOCUMENT = Path(__file__).parents[1] / "docs" / "cli.md"
EXIT_CODES = """\
## Exit codes

| code | meaning |
|---|---|
| 0 | done; also when a recall found nothing |
| 1 | partly done (some files failed, doctor found something), or failed for another reason |
| 2 | wrong use: an option, an id that is not there, a path that is not there |
| 3 | the memory cannot be used: damaged, busy, or written by a newer cuetrail |
| 130 | interrupted with Ctrl-C |

Results go to stdout, everything else to stderr. With `--json` the result is one JSON document on stdout (with
`ingest --watch` one after each change), and an error is the last line of stderr:
`{"error": "...", "kind": "NotFound"}`.
"""


def page() -> str:
    """Returns the text of docs/cli.md."""
    context = click.Context(main, info_name="cuetrail")
    parts = [
        "<!-- Made by scripts/cli_docs.py from the commands' own help. Change that, not this. -->",
        "# Command line",
        *_body(main),
        "## Options everywhere",
        "They may stand before or after the command's name.",
        _table(p for p in main.get_params(context) if isinstance(p, SharedOption)),
        EXIT_CODES.rstrip(),
    ]
    for verb in VERBS:
        parts += _section(verb, context, "##")
    return "\n\n".join(parts) + "\n"


def _section(verb: click.Command, context: click.Context, sign: str) -> list[str]:
    """Returns the parts of the section of a command and of its subcommands."""
    inner = click.Context(verb, parent=context, info_name=verb.name)
    usage = " ".join(verb.collect_usage_pieces(inner)).replace("[OPTIONS] ", "").replace("[OPTIONS]", "")
    name = inner.command_path.removeprefix("cuetrail ")
    parts = [f"{sign} {name}", f"```\n{inner.command_path} {usage} [OPTIONS]\n```".replace("  ", " "), *_body(verb)]
    own = [p for p in verb.params if isinstance(p, click.Option) and not isinstance(p, SharedOption)]
    parts += [_table(own)] if own else []
    for below in verb.commands.values() if isinstance(verb, click.Group) else ():
        parts += _section(below, inner, f"{sign}#")
    return parts


def _body(command: click.Command) -> Iterator[str]:
    for paragraph in (command.help or "").split("\n\n"):
        yield " ".join(paragraph.split())
    lines = [line.strip() for line in (command.epilog or "").splitlines() if line.startswith("  ")]
    yield "```console\n" + "\n".join(f"$ {line}" for line in lines) + "\n```"


def _table(options: Iterator[click.Option] | list[click.Option]) -> str:
    rows = ["| option | meaning |", "|---|---|"]
    for option in options:
        name = option.opts[0] + (f" {_value(option)}" if not option.is_flag else "")
        shown = f" (default: {option.default})" if option.show_default else ""
        rows.append(f"| `{name}` | {_cell((option.help or '') + shown)} |")
    return "\n".join(rows)


def _value(option: click.Option) -> str:
    choices = getattr(option.type, "choices", None)
    return option.metavar or ("/".join(choices) if choices else "VALUE")


def _cell(text: str) -> str:
    """Returns a help text for a table cell, with environment variables as code."""
    return re.sub(r"\[(CUETRAIL_\w+)\]", r"[`\1`]", text).replace("|", "\\|")


if __name__ == "__main__":
    DOCUMENT.parent.mkdir(exist_ok=True)
    DOCUMENT.write_text(page(), encoding="utf-8")
