"""The verbs that keep a memory: export, import, backup, restore, reembed, doctor, completion."""

from __future__ import annotations

import contextlib
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cuetrail.cli import output
from cuetrail.cli import present as show
from cuetrail.cli.command import INTERRUPTED, Run, pass_run, verb
from cuetrail.errors import InputError

if TYPE_CHECKING:
    from cuetrail.memory import Memory

FORMATS = ("cuetrail", "mcp-memory", "mem0", "basic-memory")
IMPORTS = (*FORMATS, "obsidian", "chatgpt", "claude")


@verb(
    "export",
    "cuetrail export memory.jsonl",
    "cuetrail export notes/ --format basic-memory",
    "cuetrail export - | gzip > memory.jsonl.gz",
)
@click.argument("file")
@click.option(
    "--format", type=click.Choice(FORMATS), default="cuetrail", show_default=True, help="Whose format to write."
)
@click.option("--vectors", is_flag=True, help="Write the vectors too (cuetrail's own format only).")
@pass_run
def export(run: Run, file: str, format: str, vectors: bool) -> None:
    """Write everything you own to a file.

    A FILE of - is standard output, which is then the export itself, also with --json. It comes back with `cuetrail
    import`; the formats of other systems let you leave.
    """
    if vectors and format != "cuetrail":
        raise click.UsageError("--vectors goes with the format cuetrail")
    if file == "-" and format == "basic-memory":
        raise click.UsageError("basic-memory keeps its notes in a folder: name one instead of -")
    with run.open() as memory:
        if file == "-":
            _to_stdout(memory, format, vectors)
            return
        written = memory.export(file, format=format, vectors=vectors)
    data = {"file": file, "format": format, "records": written}
    run.summary(data, f"wrote {show.count(written, 'record')} to {file}")


def _to_stdout(memory: Memory, format: str, vectors: bool) -> None:
    """The very bytes of the file, whatever the terminal's encoding is."""
    with tempfile.TemporaryDirectory() as place:
        whole = Path(place) / "export"
        memory.export(whole, format=format, vectors=vectors)
        with whole.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)
        sys.stdout.buffer.flush()


@verb(
    "import",
    "cuetrail import memory.jsonl",
    "cuetrail import memories.json --format mem0",
    "ssh ship cuetrail export - | cuetrail import -",
)
@click.argument("path", type=click.Path(exists=True, allow_dash=True))
@click.option("--format", type=click.Choice(IMPORTS), help="Whose format it is. Else told by content.")
@pass_run
@click.pass_context
def import_(ctx: click.Context, run: Run, path: str, format: str | None) -> None:
    """Take in an export of cuetrail or of another system.

    A PATH of - is standard input; a file may be packed with gzip. It says what is new, what changed and what was here
    already. What was forgotten here stays forgotten. The exit code is 1 when some records could not be taken.
    """
    from dataclasses import asdict

    from cuetrail.cli.commands.write import SAFE
    from cuetrail.transfer.formats import INGESTED
    from cuetrail.transfer.formats.detect import recognise

    try:
        with _readable(path) as file:
            # Before a memory is made for it.
            if recognise(Path(file).expanduser(), format) in INGESTED and path == "-":
                raise InputError("chats and notes are followed in their own files: give their path instead of -")
            with run.open(vectors=True, new=True) as memory, output.progress(run.quiet) as step:
                report = memory.import_(file, format=format, progress=step)
    except KeyboardInterrupt:
        output.warn(f"stopped: {SAFE}")
        ctx.exit(INTERRUPTED)
    run.summary(asdict(report), show.imported(report))
    run.remarks(report.notices, report.errors)
    ctx.exit(1 if report.errors else 0)


@contextlib.contextmanager
def _readable(path: str) -> Iterator[str]:
    """The path, or a file with what stands on the standard input."""
    if path != "-":
        yield path
        return
    with tempfile.TemporaryDirectory() as place:
        whole = Path(place) / "standard input"
        with whole.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield str(whole)


@verb("backup", "cuetrail backup ~/backups/memory-$(date +%F).tar", "cuetrail backup memory.tar.gz")
@click.argument("file", type=click.Path(dir_okay=False))
@pass_run
def backup(run: Run, file: str) -> None:
    """Copy the whole memory to one tar file.

    The copy is consistent while others go on writing. A FILE that ends in .gz is compressed; an older FILE is
    replaced when the new one is complete.
    """
    with run.open() as memory:
        memory.backup(file)
    size = Path(file).expanduser().stat().st_size
    run.summary({"file": file, "bytes": size}, f"backed up to {file} ({size:,} bytes)")


@verb("copy", "cuetrail copy notes/ neo4j://ann@host/memories", "cuetrail copy neo4j://host notes/")
@click.argument("source", metavar="SRC")
@click.argument("target", metavar="DST")
@pass_run
def copy(run: Run, source: str, target: str) -> None:
    """Copy a whole memory, everyone's, to another address.

    SRC and DST are folders or Neo4j databases. DST must be empty. Ids, times, vectors, history and tombstones stay as
    they are; SRC is left alone.
    """
    from cuetrail.config import without_password
    from cuetrail.memory import copy_memory

    with output.progress(run.quiet) as step:
        count = copy_memory(source, target, progress=step)
    shown = without_password(source), without_password(target)
    run.summary({"source": shown[0], "target": shown[1], "records": count}, f"copied {count:,} records to {shown[1]}")


@verb("restore", "cuetrail restore memory.tar", "cuetrail restore memory.tar --memory ~/other --force")
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@click.option("--force", is_flag=True, help="Replace a healthy memory.")
@pass_run
def restore(run: Run, file: str, force: bool) -> None:
    """Put a backup in place of the memory.

    A healthy memory is replaced only with --force; a damaged one is kept beside it.
    """
    from cuetrail.memory import restore as put_back

    place = run.settings().memory
    kept = put_back(file, place, force=force)
    beside = f"; the damaged memory was kept as {kept}" if kept else ""
    run.summary({"memory": place, "kept": str(kept) if kept else None}, f"restored {place}{beside}")


@verb("reembed", "cuetrail reembed --embedder static", "cuetrail reembed --embedder onnx:models/bge-small")
@pass_run
@click.pass_context
def reembed(ctx: click.Context, run: Run) -> None:
    """Make vectors anew, or the missing ones.

    With --embedder, everyone's are made by that one; without it, only those that are missing. Recalls go on meanwhile
    with the old vectors, until all new ones are made; stopped, the same command goes on where it was. `--embedder none`
    drops all vectors: the memory is then searched by words alone. Later commands use the embedder that was named: it is
    kept in the memory's cuetrail.toml.
    """
    try:
        # Opened without an embedder where one is named: the memory may hold another one's vectors.
        with run.open(vectors=run.embedder is None) as memory, output.progress(run.quiet) as step:
            made = memory.reembed(run.embedder, progress=step)
            run.keep_embedder()
            embedder = memory.stats().embedder
    except KeyboardInterrupt:
        output.warn("stopped: the vectors made so far are kept; the same command again goes on from there")
        ctx.exit(INTERRUPTED)
    done = "dropped all vectors" if embedder == "none" else f"made {show.count(made, 'vector')} with {embedder}"
    run.summary({"vectors": made, "embedder": embedder}, done)


@verb("doctor", "cuetrail doctor", "cuetrail doctor --repair")
@click.option("--repair", is_flag=True, help="Make damaged indexes and tables anew from what is stored.")
@pass_run
@click.pass_context
def doctor(ctx: click.Context, run: Run, repair: bool) -> None:
    """Find out whether the memory is whole.

    Its tables and indexes are compared with what is stored. The exit code is 1 when something is wrong and was not
    mended.
    """
    from dataclasses import asdict

    with run.open() as memory, output.progress(run.quiet) as step:
        found = memory.doctor(repair=repair, progress=step)
    wrong = [finding for finding in found if finding.fix != "mended"]
    lines = [f"{finding.check}: {finding.problem} ({finding.fix})" for finding in found]
    data = {"healthy": not wrong, "findings": [asdict(finding) for finding in found]}
    run.result(data, "\n".join(lines) or "nothing is wrong")
    ctx.exit(1 if wrong else 0)


@verb(
    "completion",
    'eval "$(cuetrail completion bash)"',
    "cuetrail completion fish > ~/.config/fish/completions/cuetrail.fish",
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@pass_run
@click.pass_context
def completion(ctx: click.Context, run: Run, shell: str) -> None:
    """Print a script for your shell.

    It teaches it to complete cuetrail's commands and options with the tab key.
    """
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    assert found is not None, "click knows every shell of the choice"
    script = found(ctx.find_root().command, {}, "cuetrail", "_CUETRAIL_COMPLETE").source()
    run.result({"shell": shell, "script": script}, script)
