"""The settings of agents: adds cuetrail and its hooks to them, shown first, or takes them out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cuetrail.cli import output
from cuetrail.cli.command import Run
from cuetrail.config import without_password

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cuetrail.serve.mcp.client_install import SettingsChange

CLIENTS = ("claude", "claude-code", "cursor", "vscode", "codex")
WITH_HOOKS = ("claude", "claude-code", "codex")


def client_name(client: str) -> str:
    """Returns the name under which conversations of a client are kept."""
    return "claude-code" if client == "claude" else client


def agrees_to_hooks(hooks: bool | None) -> bool:
    """Asks whether the hooks that were shown shall be written."""
    output.warn("These hooks brief the agent when a conversation starts, and keep what you and it said when it ends.")
    return bool(click.confirm("Write them?", default=bool(hooks), err=True))


def may_ask(run: Run) -> bool:
    return not run.json and sys.stdin.isatty() and sys.stderr.isatty()


def show_changes(run: Run, planned: Sequence[SettingsChange]) -> None:
    for one in () if run.json else planned:
        output.say(f"{one.path}\n{one.entry_text or 'nothing to change'}\n")


def write_changes(run: Run, planned: Sequence[SettingsChange], dry_run: bool) -> None:
    """Writes changes to settings files unless `dry_run`, and reports it."""
    from cuetrail.serve.mcp.client_install import write

    copies = [] if dry_run else [write(one) for one in planned]
    if run.json:
        output.say_json({"dry_run": dry_run, "files": entered_files(planned, dry_run=dry_run)})
    for line in () if dry_run else entered_lines(planned, copies):
        run.notice(line)


def enter_in_client(
    run: Run, client: Any, name: str = "cuetrail", *, dry_run: bool = False, replace: bool = False, **server: str | None
) -> tuple[list[SettingsChange], list[Path | None]]:
    """Enters the server in the settings of a client, unless `dry_run`. Returns the changes, and the copy of each file
    that was there before. Raises InputError for settings that cannot be read or written, and if they have another entry
    of this name, unless `replace`.
    """
    from cuetrail.serve.mcp.client_install import changes, make_entry, write

    planned = changes(client, make_entry(name, server_arguments(run, **server)), replace=replace)
    return planned, [] if dry_run else [write(one) for one in planned]


def entered_files(planned: Sequence[SettingsChange], *, dry_run: bool = False) -> list[dict[str, Any]]:
    """Returns the changes to settings files as data."""
    return [{"path": str(one.path), "entry": one.entry_text, "written": one.needed and not dry_run} for one in planned]


def entered_lines(planned: Sequence[SettingsChange], copies: Sequence[Path | None]) -> list[str]:
    """Returns a line on each settings file: that it was written, or has the entry already."""
    lines = []
    for one, copy in zip(planned, copies, strict=True):
        backup = f"; the old file is {copy.name}" if copy else ""
        lines.append(f"written to {one.path}{backup}" if one.needed else f"{one.path} has this entry already")
    return lines


def server_arguments(run: Run, profile: str | None = "default", compat: str | None = None) -> list[str]:
    """Returns the arguments with which a client starts the server for this memory and scope, from any folder."""
    more = [("--compat", compat), ("--profile", profile if profile != "default" else None)]
    return ["mcp", *memory_arguments(run), *(word for option, value in more if value for word in (option, value))]


def memory_arguments(run: Run) -> list[str]:
    """Returns the arguments that name this memory and scope, from any folder."""
    address = run.settings().memory
    # A password is left out: the server reads it from the keyring or the environment.
    address = without_password(address) if "://" in address else str(Path(address).expanduser().absolute())
    given = [
        ("--memory", address),
        ("--embedder", run.embedder),
        ("--reranker", run.reranker),
        ("--user", run.user),
        ("--tenant", run.tenant),
    ]
    given += [("--team", team) for team in run.team] + [("--share", run.share)]
    return [word for option, value in given if value for word in (option, value)]
