"""`cuetrail help`: the help of a command, as its --help prints it."""

from __future__ import annotations

import click

from cuetrail.cli.command import Run, verb


@verb("cuetrail help", "cuetrail help recall", "cuetrail help mcp install", name="help")
@click.argument("command", metavar="[COMMAND]...", nargs=-1)
@click.pass_context
def help_(ctx: click.Context, run: Run, /, command: tuple[str, ...]) -> None:
    """Show what a COMMAND does, or all commands."""
    assert ctx.parent is not None
    found = ctx.parent
    for name in command:
        group = found.command
        # The root group suggests a command for an unknown name, and knows other words for some.
        if not isinstance(group, click.Group):
            raise click.UsageError(f"{found.command_path} has no subcommands: see `cuetrail help {group.name}`", ctx)
        _, inner, _ = group.resolve_command(found, [name])
        assert inner is not None
        found = click.Context(inner, info_name=inner.name, parent=found)
    text = found.command.get_help(found)
    run.result({"command": found.command_path, "help": text}, text)
