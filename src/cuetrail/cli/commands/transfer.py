"""`cuetrail export`, `import` and `mirror`: memories as files, for other systems and for people."""

from __future__ import annotations

import contextlib
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cuetrail.cli import output
from cuetrail.cli.command import Run, verb
from cuetrail.cli.exit_codes import interruptible
from cuetrail.cli.options import choice
from cuetrail.cli.output import count_of, listed_counts
from cuetrail.errors import InputError
from cuetrail.files import replacing

if TYPE_CHECKING:
    from cuetrail.memory import Memory
    from cuetrail.mirror import MirrorReport
    from cuetrail.transfer.import_file import ImportReport, OnLine

FORMATS = ("cuetrail", "mcp-memory", "mem0", "basic-memory")
IMPORTS = (*FORMATS, "cozodb", "obsidian", "logseq", "notion", "roam", "org", "chatgpt", "claude")


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
    "cuetrail import chatgpt-export.zip --dry-run",
    "cuetrail import memories.json --format mem0",
    "ssh ship cuetrail export - | cuetrail import -",
)
@click.argument("path", type=click.Path(exists=True, allow_dash=True))
@choice("--format", values=IMPORTS, help="The format. [default: detected]")
@click.option("--dry-run", is_flag=True, help="Count what would come in, and write nothing.")
@click.option(
    "--report", metavar="FILE", help="Write what became of each line of an export of cuetrail, as JSON lines."
)
@click.pass_context
def import_(ctx: click.Context, run: Run, path: str, format: str | None, dry_run: bool, report: str | None) -> None:
    """Import an export of cuetrail or of another system.

    A PATH of - is standard input. A file may be compressed with gzip, and exports of apps may be zip archives as they
    are downloaded. The summary counts new, changed and known records, what was read and what was left out. Forgotten
    texts stay forgotten. The exit code is 1 if some records could not be imported. The formats are in docs/import.md.
    """
    from cuetrail.cli.commands.write import STOPPED
    from cuetrail.transfer.formats.detect_format import INGESTED
    from cuetrail.transfer.import_file import format_of

    with interruptible(f"stopped: {STOPPED}"), _local_file(path) as file:
        # Checked before a new memory is created.
        if format_of(Path(file).expanduser(), format) in INGESTED and path == "-":
            raise InputError("chats and notes are followed in their own files: give their path instead of -")
        with _opened(run, dry_run) as memory, output.progress(run.quiet) as step, _line_log(report) as on_line:
            found = memory.import_(file, format=format, dry_run=dry_run, on_line=on_line, progress=step)
    run.summary(asdict(found), _import_summary(found))
    run.remarks(found.notices, found.errors)
    ctx.exit(1 if found.errors else 0)


@contextlib.contextmanager
def _opened(run: Run, dry_run: bool) -> Iterator[Memory]:
    """Opens the memory. For a dry run without one, opens an empty memory that is deleted afterwards."""
    if not dry_run or run.has_memory():
        with run.open(vectors=not dry_run, new=not dry_run) as memory:
            yield memory
        return
    from cuetrail.memory import Memory

    with tempfile.TemporaryDirectory() as folder, Memory(folder, scope=run.settings().scope, embedder=None) as empty:
        yield empty


@contextlib.contextmanager
def _line_log(path: str | None) -> Iterator[OnLine | None]:
    """Yields a function that writes the report of a line to the file (- is standard output); None without a file."""
    if path is None:
        yield None
    elif path == "-":
        yield lambda line: output.say(json.dumps(asdict(line), ensure_ascii=False))
    else:
        with replacing(Path(path).expanduser()) as file:
            yield lambda line: file.write(f"{json.dumps(asdict(line), ensure_ascii=False)}\n".encode())


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
    first = f"dry run, nothing was written: {records}" if report.dry_run else f"{records} read"
    lines = [f"{first}: {', '.join(parts) or 'nothing new'}"]
    lines += [
        f"{title}: {listed_counts(some)}"
        for title, some in (("found", report.read), ("left out", report.skipped))
        if some
    ]
    return "\n".join(lines)


# --- mirrors


@verb("cuetrail mirror ~/brain", "cuetrail mirror ~/brain --placement all --dry-run", "cuetrail mirror")
@click.argument("directory", metavar="[DIR]", required=False)
@choice(
    "--placement", values=["first", "all"],
    help="Write an atom under the first tag of people, or under all. [default: as before in DIR; first for a new one]",
)  # fmt: skip
@click.option("--once", is_flag=True, help="Do not keep DIR up to date from now on.")
@click.option("--end", is_flag=True, help="Stop keeping DIR up to date; its files stay. Works also if DIR is missing.")
@click.option("--dry-run", is_flag=True, help="Only print what would be written and removed.")
def mirror(run: Run, /, directory: str | None, once: bool, end: bool, **options: Any) -> None:
    """Write the memory as Markdown files, @bucket/#tag/source.md.

    DIR must be empty, new or a mirror; files in it that do not come from the memory are removed. From then on ingest,
    dream and forget keep it up to date, until you delete it. Without DIR, all mirrors of the memory are updated.
    """
    if end:
        _end(run, directory)
        return
    if directory == "-":
        raise click.UsageError("a mirror is a folder: name one instead of -")
    with interruptible("stopped: the mirror is as it was"), run.open() as memory, output.progress(run.quiet) as step:
        known = memory.mirrors()
        folders = [directory] if directory is not None else _existing(known)
        reports = [memory.mirror(folder, follow=not once, progress=step, **options) for folder in folders]
    found = [asdict(report) for report in reports]
    run.summary(found if directory is None else found[0], "\n".join(map(_summary, reports)))
    for report in reports:
        if not (once or report.dry_run or report.directory in known):
            run.notice(
                f"{report.directory} is kept up to date by ingest, dream and forget from now on; delete it to end that"
            )


def _end(run: Run, directory: str | None) -> None:
    if directory is None:
        raise InputError("--end needs the folder, as in `cuetrail mirror ~/brain --end`")
    with run.open() as memory:
        folder = memory.end_mirror(directory)
    run.summary({"directory": folder, "ended": True}, f"{folder} is no longer kept up to date; its files stay")


def _existing(known: Sequence[str]) -> list[str]:
    """Returns the mirrors whose folders exist, and warns of the others. Raises InputError if there is no mirror."""
    from cuetrail.mirror import is_mirror

    if not known:
        raise InputError("this memory has no mirror yet: name a folder for one, as in `cuetrail mirror ~/brain`")
    existing = [folder for folder in known if is_mirror(Path(folder))]
    for folder in (folder for folder in known if folder not in existing):
        output.warn(
            f"the mirror in {folder} is not there: bring it back, make it again with `cuetrail mirror {folder}`, "
            f"or end it with `cuetrail mirror {folder} --end`"
        )
    return existing


def _summary(report: MirrorReport) -> str:
    action = "would write" if report.dry_run else "wrote"
    removed = f", {'would remove' if report.dry_run else 'removed'} {report.removed:,}" if report.removed else ""
    files = count_of(report.written, "file")
    return (
        f"{report.directory}: {count_of(report.atoms, 'atom')} in {count_of(report.files, 'file')}; "
        f"{action} {files} ({report.bytes:,} bytes){removed} in {report.seconds:.1f} s"
    )
