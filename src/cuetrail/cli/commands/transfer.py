"""`cuetrail export` and `import`: move memories between cuetrail and other systems."""

from __future__ import annotations

import contextlib
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cuetrail.cli import output
from cuetrail.cli.command import Run, verb
from cuetrail.cli.exit_codes import interruptible
from cuetrail.cli.options import choice
from cuetrail.cli.output import count_of
from cuetrail.errors import InputError

if TYPE_CHECKING:
    from cuetrail.memory import Memory
    from cuetrail.transfer.import_file import ImportReport

FORMATS = ("cuetrail", "mcp-memory", "mem0", "basic-memory")
IMPORTS = (*FORMATS, "obsidian", "chatgpt", "claude")


@verb(
    "cuetrail export memory.jsonl",
    "cuetrail export notes/ --format basic-memory",
    "cuetrail export - | gzip > memory.jsonl.gz",
)
@click.argument("file")
@choice("--format", values=FORMATS, default="cuetrail", help="The format to write.")
@click.option("--vectors", is_flag=True, help="Include the vectors (only with the format cuetrail).")
def export(run: Run, file: str, format: str, vectors: bool) -> None:
    """Write everything you own to a file.

    With FILE -, standard output contains only the export, also with --json. The default format is that of cuetrail, the
    others are for other systems; `cuetrail import` reads all of them.
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
    run.summary(data, f"wrote {count_of(written, 'record')} to {file}")


def _to_stdout(memory: Memory, format: str, vectors: bool) -> None:
    """Writes the bytes of the export to stdout, without re-encoding."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "export"
        memory.export(path, format=format, vectors=vectors)
        with path.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)
        sys.stdout.buffer.flush()


@verb(
    "cuetrail import memory.jsonl",
    "cuetrail import memories.json --format mem0",
    "ssh ship cuetrail export - | cuetrail import -",
)
@click.argument("path", type=click.Path(exists=True, allow_dash=True))
@choice("--format", values=IMPORTS, help="The format. [default: detected]")
@click.pass_context
def import_(ctx: click.Context, run: Run, path: str, format: str | None) -> None:
    """Import an export of cuetrail or of another system.

    A PATH of - is standard input; a file may be compressed with gzip. The summary counts new, changed and known
    records. Forgotten texts stay forgotten. The exit code is 1 if some records could not be imported.
    """
    from cuetrail.cli.commands.write import STOPPED
    from cuetrail.transfer.formats.registry import INGESTED, recognise

    with interruptible(f"stopped: {STOPPED}"), _local_file(path) as file:
        # Checked before a new memory is created.
        if recognise(Path(file).expanduser(), format) in INGESTED and path == "-":
            raise InputError("chats and notes are followed in their own files: give their path instead of -")
        with run.open(vectors=True, new=True) as memory, output.progress(run.quiet) as step:
            report = memory.import_(file, format=format, progress=step)
    run.summary(asdict(report), _import_summary(report))
    run.remarks(report.notices, report.errors)
    ctx.exit(1 if report.errors else 0)


@contextlib.contextmanager
def _local_file(path: str) -> Iterator[str]:
    """Yields the path, or a temporary file with the content of stdin for -."""
    if path != "-":
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "standard input"
        with copy.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield str(copy)


def _import_summary(report: ImportReport) -> str:
    """Returns the summary of an import in one line."""
    records = ", ".join(
        [count_of(report.nodes, "node"), count_of(report.edges, "edge"), count_of(report.facts, "fact")]
    )
    counts = [("new", report.added), ("changed", report.changed), ("here already", report.unchanged)]
    counts += [("forgotten earlier and left out", report.forgotten), ("without forgotten sentences", report.cut)]
    counts += [("failed", len(report.errors))]
    parts = [f"{number:,} {label}" for label, number in counts if number]
    return f"{records} read: {', '.join(parts) or 'nothing new'}"
