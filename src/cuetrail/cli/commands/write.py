"""`cuetrail add`, `edit` and `ingest`: put texts and files into the memory."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cuetrail.cli import output
from cuetrail.cli.command import Run, verb
from cuetrail.cli.exit_codes import INTERRUPTED, interruptible
from cuetrail.cli.options import byte_size, choice, find_node, properties, several, start_time
from cuetrail.cli.output import count_of, first_of, listed_counts
from cuetrail.errors import InputError, ReadError
from cuetrail.model import FileError, IngestReport, node_dict

if TYPE_CHECKING:
    from cuetrail.memory import Memory

STOPPED = "everything up to here is stored; run the same command again to continue"


def read_stdin(limit: int | None = None) -> str:
    """Returns the text on stdin. Raises ReadError if it is binary, InputError if it is longer than `limit` bytes (None:
    MAX_BYTES).
    """
    from cuetrail.files import read_at_most
    from cuetrail.ingest.encoding import decode
    from cuetrail.ingest.readers.read_file import MAX_BYTES

    limit = MAX_BYTES if limit is None else limit
    data = read_at_most(sys.stdin.buffer, limit + 1)
    if len(data) > limit:
        raise InputError(f"the standard input is longer than {limit:,} bytes: raise --max-size, or split it")
    return decode(data, "the standard input")


def decoded_argument(text: str) -> str:
    """Returns a text from the command line; one that is not UTF-8 is decoded like a file with the same bytes."""
    from cuetrail.ingest.encoding import decode
    from cuetrail.text.normalise import storable

    return text if storable(text) else decode(os.fsencode(text), "the text")


provenance_option = choice(
    "--provenance", values=["internal", "external", "quarantine"], default="internal",
    help="The trust level; quarantined memories are not recalled. Repeat it when the same text is added again.",
)  # fmt: skip


@verb(
    "cuetrail add 'Ines traced the outages to a cold connector' --tag radio --at 2025-02-20",
    "cuetrail add --name 'Ines Okafor' --kind person --alias Ines",
    "pbpaste | cuetrail add - --source clipboard",
)
@click.argument("text", default="")
@click.option(
    "--id", metavar="ID", help="The id; the same id again replaces the text. [default: made from the content]"
)
@choice(
    "--retention", values=["decay", "ephemeral", "keep_forever"], default="decay",
    help="When it fades: while unused, after its time, or never.",
)  # fmt: skip
@click.option("--kind", metavar="KIND", default="atom", show_default=True, help="The kind: atom, person, concept, ...")
@click.option("--name", metavar="NAME", help="The name, by which links and facts find it.")
@several("--alias", "aliases", metavar="NAME", help="Another name; repeatable.")
@several("--tag", "tags", help="A tag; repeatable.")
@several("--bucket", "buckets", help="A bucket; repeatable, the first is primary.")
@click.option(
    "--source", metavar="PATH", help="Where it comes from: a file, or a conversation, which keeps the order of arrival."
)
@click.option("--seq", metavar="N", type=int, help="Its position in the source. [default: the next]")
@provenance_option
@click.option(
    "--at", metavar="WHEN", callback=start_time, help="The time of the event: an ISO date or time, or UTC milliseconds."
)
@click.option(
    "--prop", "props", metavar="NAME=TEXT", multiple=True, callback=properties, help="A property; repeatable."
)
@click.option("--allow-again", is_flag=True, help="Add it even if it was forgotten.")
def add(run: Run, /, text: str, **options: Any) -> None:
    """Add one memory: a TEXT, a name, or both. Its id is printed.

    A TEXT of - is read from standard input.
    """
    from cuetrail.validation.records import make_node

    text = read_stdin() if text == "-" else decoded_argument(text)
    # Invalid input is refused before a new memory is created.
    make_node({"text": text, **{name: value for name, value in options.items() if name != "allow_again"}}, 0)
    with run.open(vectors=True, new=True) as memory:
        node = memory.add(text, **options)
    run.result(node_dict(node), node.id if run.quiet else f"remembered {node.id}")


@verb(
    "cuetrail chat talk.json --source talk-42",
    "tail -n 2 talk.jsonl | cuetrail chat - --source talk-42",
)
@click.argument("file", metavar="FILE")
@click.option("--source", metavar="NAME", required=True, help="The conversation that the messages belong to.")
@click.option("--at", metavar="WHEN", callback=start_time, help="The time of messages that have none. [default: now]")
@several("--tag", "tags", help="A tag for each message; repeatable.")
@several("--bucket", "buckets", help="A bucket for each message; repeatable.")
@provenance_option
@click.option("--allow-again", is_flag=True, help="Add messages that were forgotten, too.")
def chat(run: Run, /, file: str, **options: Any) -> None:
    """Add the messages of a chat to a conversation.

    FILE, or standard input as -, is a JSON list of messages such as {"role": "user", "content": "..."}, an object with
    such a list as messages, or JSONL. They go behind those that the conversation has; what it has already is not added
    again, so the whole history may be given each time. Facts are read from what people say.
    """
    from cuetrail.ingest.conversation import messages_in, read_messages
    from cuetrail.ingest.encoding import decode
    from cuetrail.ingest.readers.read_file import load

    text = read_stdin() if file == "-" else decode(load(Path(file).expanduser(), file), file)
    messages = messages_in(text, "the standard input" if file == "-" else file)
    # Invalid input is refused before a new memory is created.
    read_messages(messages, 0)
    with run.open(vectors=True, new=True) as memory, output.progress(run.quiet) as step:
        report = memory.chat(messages, progress=step, **options)
    said = [f"{count_of(report.added, 'message')} added", f"{report.known} known"]
    said += [f"{count_of(report.facts, 'fact')} read"] if report.facts else []
    run.summary(asdict(report), ", ".join(said))
    run.remarks((*report.notices, *(f"left out: {one}" for one in report.left_out)), ())


@verb(
    "cuetrail edit 6b36198f --text 'The antenna stands on the lee side'",
    "cuetrail edit Wingbeat --alias tracker --tag project",
)
@click.argument("id")
@click.option("--text", metavar="TEXT", help="The new text.")
@click.option("--kind", metavar="KIND", help="The new kind: atom, person, concept, ...")
@click.option("--name", metavar="NAME", help="The new name.")
@several("--alias", "aliases", metavar="NAME", help="An alias; replaces all aliases; repeatable.")
@several("--tag", "tags", help="A tag; replaces all tags given by people; repeatable.")
@several("--bucket", "buckets", help="A bucket; replaces all buckets; repeatable.")
@click.option("--at", metavar="WHEN", callback=start_time, help="The time of the event: an ISO date or time.")
@click.option("--allow-again", is_flag=True, help="Allow a text that was forgotten.")
def edit(run: Run, /, id: str, **options: Any) -> None:
    """Change a memory, given by id, by the first 6 or more digits of its id, or by name.

    Options that are not given stay as they are. `cuetrail get --history` shows earlier versions.
    """
    given = {name: value for name, value in options.items() if value not in (None, ())}
    if not given.keys() - {"allow_again"}:
        raise click.UsageError("say what to change: --text, --kind, --name, --alias, --tag, --bucket or --at")
    with run.open(vectors=True, anyway=True) as memory:
        node = memory.edit(find_node(memory, id).id, **given)
    run.result(node_dict(node), node.id if run.quiet else f"corrected {node.id}")


@verb(
    "cuetrail ingest ~/notes --bucket work",
    "cuetrail ingest ~/notes --watch",
    "curl -s https://example.org | cuetrail ingest - --format html --source example.org",
)
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@click.option(
    "--bucket", metavar="BUCKET", help="Put everything into this bucket. [default: from the note or its folder]"
)
@click.option("--watch", is_flag=True, help="Keep running and ingest changes until Ctrl-C (one path only).")
@click.option("--max-size", metavar="SIZE", callback=byte_size, help="Skip larger files. [default: 64MB]")
@provenance_option
@click.option("--follow-links", is_flag=True, help="Also read links that lead out of the folder.")
@click.option(
    "--format",
    metavar="FORMAT",
    help="For - only: canvas, code, html, json, markdown, org or text. [default: detected]",
)
@click.option("--source", metavar="NAME", help="For - only: its name; the same name again replaces it.")
@click.pass_context
def ingest(
    ctx: click.Context, run: Run, /, paths: tuple[str, ...], watch: bool, format: str | None, source: str | None,
    **options: Any,
) -> None:  # fmt: skip
    """Ingest files and folders, or standard input as -.

    Markdown, text, HTML, PDF, code and chat exports are read. Unchanged files are skipped, changed ones replaced and
    deleted ones removed, so the same command can run as often as you like. Files that cannot be read are listed at the
    end, and the exit code is then 1.
    """
    if watch and (len(paths) > 1 or "-" in paths):
        raise click.UsageError("--watch follows one file or folder")
    if (format or source) and "-" not in paths:
        raise click.UsageError("--format and --source go with - (standard input)")
    with interruptible(f"stopped: {STOPPED}"), run.open(vectors=True, new=True) as memory:
        if watch:
            _watch(run, memory, paths[0], options)
            ctx.exit(INTERRUPTED)
        report = ingest_all(run, memory, paths, format, source, **options)
    print_report(run, report)
    ctx.exit(1 if report.errors else 0)


def _watch(run: Run, memory: Memory, path: str, options: dict[str, Any]) -> None:
    """Ingests a path, and again after each change until Ctrl-C; prints a report of each time."""
    import logging

    # The library would report the stop on its own.
    logging.getLogger("watchfiles").setLevel(logging.ERROR)
    max_bytes = options.pop("max_size")
    with contextlib.ExitStack() as bar:
        step = bar.enter_context(output.progress(run.quiet))

        def report_change(report: IngestReport) -> None:
            bar.close()
            print_report(run, report)

        memory.ingest(path, watch=True, max_bytes=max_bytes, progress=step, on_report=report_change, **options)
    output.warn(f"stopped watching: {STOPPED}")


def ingest_all(
    run: Run, memory: Memory, paths: Sequence[str], format: str | None = None, source: str | None = None, **options: Any
) -> IngestReport:
    """Ingests all paths and returns one report, which lists paths that cannot be used.

    Raises InputError or ReadError if no path can be used.
    """
    max_bytes, follow_links = options.pop("max_size", None), options.pop("follow_links", False)
    total, refused = IngestReport(), list[tuple[str, InputError | ReadError]]()
    with output.progress(run.quiet) as step:
        for path in paths:
            try:
                if path == "-":
                    text = read_stdin(max_bytes)
                    report = memory.ingest_text(text, source=source or "stdin", format=format, **options)
                else:
                    report = memory.ingest(
                        path, max_bytes=max_bytes, follow_links=follow_links, progress=step, **options
                    )
                total += report
            except (InputError, ReadError) as error:
                refused.append((path, error))
    if len(refused) == len(paths):
        raise refused[0][1]
    errors = tuple(FileError(path, str(error)) for path, error in refused)
    return total + IngestReport(files=len(refused), errors=errors)


def print_report(run: Run, report: IngestReport) -> None:
    """Prints the summary of an ingest, and what it could not read."""
    run.summary(asdict(report), ingest_summary(report))
    left_out = (f"left out what was forgotten: {first_of(report.left_out)}",) if report.left_out else ()
    skipped = (f"left out as no memories: {listed_counts(report.skipped)}",) if report.skipped else ()
    run.remarks((*report.notices, *left_out, *skipped), report.errors)


def ingest_summary(report: IngestReport) -> str:
    """Returns the summary of an ingest in one line."""
    read = report.files - report.unchanged_files - len(report.errors)
    parts = [f"{count_of(read, 'file')} read"]
    parts += _nonzero_counts("file", "files", (("unchanged", report.unchanged_files), ("gone", report.removed_files)))
    counts = [("added", report.added), ("kept", report.kept), ("removed", report.removed)]
    counts += [("near duplicates of others", report.merged), ("forgotten earlier and left out", report.forgotten)]
    counts += [("without forgotten sentences", report.cut)]
    passages = _nonzero_counts("passage", "passages", counts) or ["nothing changed"]
    if report.edges:
        passages.append(count_of(report.edges, "link"))
    parts += [f"{count_of(len(report.errors), 'file')} failed"] if report.errors else []
    return f"{', '.join(parts)}: {', '.join(passages)}"


def _nonzero_counts(one: str, many: str, counts: Iterable[tuple[str, int]]) -> list[str]:
    """Returns each (label, number) with a number other than 0 as text; the first has the noun: "3 files gone"."""
    nonzero = [(label, number) for label, number in counts if number]
    return [
        f"{count_of(number, one, many)} {label}" if at == 0 else f"{number:,} {label}"
        for at, (label, number) in enumerate(nonzero)
    ]
