"""`cuetrail backup`, `restore`, `copy`, `reembed`, `doctor`; `completion` and `help`, about the command line itself."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from cuetrail.cli import output
from cuetrail.cli.command import Run, verb
from cuetrail.cli.exit_codes import interruptible
from cuetrail.cli.output import count_of
from cuetrail.model.reports import MENDED


@verb("cuetrail backup ~/backups/memory-$(date +%F).tar", "cuetrail backup memory.tar.gz")
@click.argument("file", type=click.Path(dir_okay=False))
def backup(run: Run, file: str) -> None:
    """Copy the whole memory to one tar file.

    The copy is consistent while others write. A FILE that ends in .gz is compressed; an older FILE is replaced when the
    new one is complete.
    """
    with run.open() as memory:
        memory.backup(file)
    size = Path(file).expanduser().stat().st_size
    run.summary({"file": file, "bytes": size}, f"backed up to {file} ({size:,} bytes)")


@verb("cuetrail copy notes/ neo4j://ann@host/memories", "cuetrail copy neo4j://host notes/")
@click.argument("source", metavar="SRC")
@click.argument("target", metavar="DST")
def copy(run: Run, source: str, target: str) -> None:
    """Copy a whole memory of all users to another address.

    SRC and DST are folders or Neo4j databases. DST must be empty. Ids, times, vectors, history and tombstones are
    copied unchanged; SRC does not change.
    """
    from cuetrail.config import without_password
    from cuetrail.memory import copy_memory

    with output.progress(run.quiet) as step:
        count = copy_memory(source, target, progress=step)
    shown = without_password(source), without_password(target)
    run.summary({"source": shown[0], "target": shown[1], "records": count}, f"copied {count:,} records to {shown[1]}")


@verb("cuetrail restore memory.tar", "cuetrail restore memory.tar --memory ~/other --force")
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@click.option("--force", is_flag=True, help="Replace a healthy memory.")
def restore(run: Run, file: str, force: bool) -> None:
    """Replace the memory with a backup.

    A healthy memory is replaced only with --force. A damaged one is moved aside.
    """
    from cuetrail.memory import restore as restore_memory

    address = run.settings().memory
    kept = restore_memory(file, address, force=force)
    beside = f"; the damaged memory was kept as {kept}" if kept else ""
    run.summary({"memory": address, "kept": str(kept) if kept else None}, f"restored {address}{beside}")


@verb("cuetrail reembed --embedder static", "cuetrail reembed --embedder onnx:models/bge-small")
def reembed(run: Run) -> None:
    """Make all vectors again, or only the missing ones.

    With --embedder, the vectors of all users are made with that embedder; without it, only missing vectors are made.
    Recall uses the old vectors until all new ones are ready. After a stop, the same command continues. `--embedder
    none` drops all vectors: search is then by words alone. The embedder is stored in the memory's cuetrail.toml for
    later commands.
    """
    stopped = "stopped: the vectors made so far are kept; the same command continues from there"
    # With --embedder the memory is opened without one: it may hold the vectors of another.
    with interruptible(stopped), run.open(vectors=run.embedder is None) as memory, output.progress(run.quiet) as step:
        made = memory.reembed(run.embedder, progress=step)
        run.keep_models()
        embedder = memory.stats().embedder
    done = "dropped all vectors" if embedder == "none" else f"made {count_of(made, 'vector')} with {embedder}"
    run.summary({"vectors": made, "embedder": embedder}, done)


@verb("cuetrail doctor", "cuetrail doctor --repair")
@click.option("--repair", is_flag=True, help="Rebuild damaged indexes and tables, and mend records.")
@click.pass_context
def doctor(ctx: click.Context, run: Run, repair: bool) -> None:
    """Check the memory for damage.

    Tables and indexes are compared with the stored data. Records that break a rule of today, because an older version
    let them in, are found too: --repair moves their numbers into range and their tags, buckets and kinds into their
    stored form. The exit code is 1 if damage was found and not repaired.
    """
    with run.open() as memory, output.progress(run.quiet) as step:
        found = memory.doctor(repair=repair, progress=step)
    wrong = [finding for finding in found if finding.fix != MENDED]
    lines = [f"{finding.check}: {finding.problem} ({finding.fix})" for finding in found]
    data = {"healthy": not wrong, "findings": [asdict(finding) for finding in found]}
    run.result(data, "\n".join(lines) or "nothing is wrong")
    ctx.exit(1 if wrong else 0)


@verb('eval "$(cuetrail completion bash)"', "cuetrail completion fish > ~/.config/fish/completions/cuetrail.fish")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, run: Run, shell: str) -> None:
    """Print a completion script for your shell.

    With it, the tab key completes the commands and options of cuetrail.
    """
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    assert found is not None, "click knows every shell of the choice"
    script = found(ctx.find_root().command, {}, "cuetrail", "_CUETRAIL_COMPLETE").source()
    run.result({"shell": shell, "script": script}, script)


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
