"""The verbs that change what is remembered: add, ingest, link, forget."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from cuetrail.cli import output, parse
from cuetrail.cli import present as show
from cuetrail.cli.command import INTERRUPTED, Run, pass_run, verb
from cuetrail.cli.node_argument import meant
from cuetrail.errors import InputError, ReadError

if TYPE_CHECKING:
    from cuetrail.memory import Memory
    from cuetrail.model import IngestReport
    from cuetrail.write.forget import Doomed

SAFE = "everything up to here is stored; run the same command again to go on"


def standard_input(limit: int | None = None) -> str:
    """The text on stdin. Raises ReadError when it is binary, InputError when it is longer than `limit` bytes."""
    from cuetrail.files import read_at_most
    from cuetrail.ingest.readers import MAX_BYTES
    from cuetrail.ingest.readers.encoding import decode

    limit = MAX_BYTES if limit is None else limit
    data = read_at_most(sys.stdin.buffer, limit + 1)
    if len(data) > limit:
        raise InputError(f"the standard input is longer than {limit:,} bytes: raise --max-size, or split it")
    return decode(data, "the standard input")


def typed(text: str) -> str:
    """A text from the command line; one that is not UTF-8 is read as a file with these bytes would be."""
    from cuetrail.ingest.readers.encoding import decode
    from cuetrail.text.normalise import storable

    return text if storable(text) else decode(os.fsencode(text), "the text")


trusted = click.option(
    "--provenance",
    type=click.Choice(["internal", "external", "quarantine"]),
    default="internal",
    show_default=True,
    help="How far it is trusted; what is in quarantine is not recalled. What is taken in again needs it again.",
)


@verb(
    "add",
    "cuetrail add 'Ines traced the outages to a cold connector' --tag radio --at 2025-02-20",
    "cuetrail add --name 'Ines Okafor' --kind person --alias Ines",
    "pbpaste | cuetrail add - --source clipboard",
)
@click.argument("text", default="")
@click.option("--id", metavar="ID", help="Its id; the same id again corrects it. Else made from the content.")
@click.option(
    "--retention", type=click.Choice(["decay", "ephemeral", "keep_forever"]), default="decay", show_default=True,
    help="How it fades: while nobody uses it, after its time, or never.",
)  # fmt: skip
@click.option(
    "--kind", metavar="KIND", default="atom", show_default=True, help="What it is: atom, person, concept, ..."
)
@click.option("--name", metavar="NAME", help="What it is called; links and facts find it by name.")
@click.option("--alias", "aliases", metavar="NAME", multiple=True, help="Another name; repeatable.")
@click.option("--tag", "tags", metavar="TAG", multiple=True, help="A tag; repeatable.")
@click.option(
    "--bucket", "buckets", metavar="BUCKET", multiple=True, help="A bucket; repeatable, the first is primary."
)
@click.option("--source", metavar="PATH", help="Where it comes from.")
@trusted
@click.option(
    "--at", metavar="WHEN", callback=parse.start, help="When it was: an ISO date or time, or UTC milliseconds."
)
@click.option(
    "--prop",
    "props",
    metavar="NAME=TEXT",
    multiple=True,
    callback=parse.properties,
    help="A property; repeatable.",
)
@click.option("--allow-again", is_flag=True, help="Remember it anew although it was forgotten.")
@pass_run
def add(run: Run, /, text: str, **options: Any) -> None:
    """Remember one thing: a TEXT, a name, or both.

    A TEXT of - is read from standard input. Its id is printed.
    """
    from cuetrail.model import node_dict
    from cuetrail.validation.records import make_node

    text = standard_input() if text == "-" else typed(text)
    # Nothing to remember is said before a memory is made for it.
    make_node({"text": text, **{name: value for name, value in options.items() if name != "allow_again"}}, 0)
    with run.open(vectors=True, new=True) as memory:
        node = memory.add(text, **options)
    run.result(node_dict(node), node.id if run.quiet else f"remembered {node.id}")


@verb(
    "ingest",
    "cuetrail ingest ~/notes --bucket work",
    "cuetrail ingest ~/notes --watch",
    "curl -s https://example.org | cuetrail ingest - --format html --source example.org",
)
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@click.option("--bucket", metavar="BUCKET", help="Put everything into this bucket. Else notes choose, or their folder.")
@click.option("--watch", is_flag=True, help="Go on and follow changes until Ctrl-C (one path only).")
@click.option("--max-size", metavar="SIZE", callback=parse.size, help="Leave out larger files. [default: 64MB]")
@trusted
@click.option(
    "--format", metavar="FORMAT", help="For - only: code, html, json, markdown or text. Else told by content."
)
@click.option("--source", metavar="NAME", help="For - only: what to call it; the same name again replaces it.")
@pass_run
@click.pass_context
def ingest(
    ctx: click.Context,
    run: Run,
    /,
    paths: tuple[str, ...],
    watch: bool,
    format: str | None,
    source: str | None,
    **options: Any,
) -> None:
    """Take in files and folders, or standard input as -.

    Markdown, text, HTML, PDF, code and chat exports are read. What is unchanged is skipped, what changed is replaced,
    what is gone is removed, so the same command can run as often as you like. Files that cannot be read are listed at
    the end, and the exit code is then 1.
    """
    if watch and (len(paths) > 1 or "-" in paths):
        raise click.UsageError("--watch follows one file or folder")
    if (format or source) and "-" not in paths:
        raise click.UsageError("--format and --source go with - (standard input)")
    try:
        with run.open(vectors=True, new=True) as memory:
            if watch:
                _watch(run, memory, paths[0], options)
                ctx.exit(INTERRUPTED)
            report = _ingest_all(run, memory, paths, format, source, options)
    except KeyboardInterrupt:
        output.warn(f"stopped: {SAFE}")
        ctx.exit(INTERRUPTED)
    _report(run, report)
    ctx.exit(1 if report.errors else 0)


def _watch(run: Run, memory: Memory, path: str, options: dict[str, Any]) -> None:
    """Follow a path until Ctrl-C, with a line for each round that changed something."""
    import contextlib
    import logging

    # It would say on its own that it was stopped.
    logging.getLogger("watchfiles").setLevel(logging.ERROR)
    max_bytes = options.pop("max_size")
    with contextlib.ExitStack() as bar:
        step = bar.enter_context(output.progress(run.quiet))

        def tell(report: IngestReport) -> None:
            bar.close()
            _report(run, report)

        memory.ingest(path, watch=True, max_bytes=max_bytes, progress=step, on_report=tell, **options)
    output.warn(f"stopped watching: {SAFE}")


def _ingest_all(
    run: Run, memory: Memory, paths: Sequence[str], format: str | None, source: str | None, options: dict[str, Any]
) -> IngestReport:
    """One report on all paths. A path that cannot be used is an error in it, unless all of them are: then it raises."""
    from cuetrail.model import FileError, IngestReport

    max_bytes = options.pop("max_size")
    total, refused = IngestReport(), list[tuple[str, InputError | ReadError]]()
    with output.progress(run.quiet) as step:
        for path in paths:
            try:
                if path == "-":
                    text = standard_input(max_bytes)
                    report = memory.ingest_text(text, source=source or "stdin", format=format, **options)
                else:
                    report = memory.ingest(path, max_bytes=max_bytes, progress=step, **options)
                total = _plus(total, report)
            except (InputError, ReadError) as error:
                refused.append((path, error))
    if len(refused) == len(paths):
        raise refused[0][1]
    return _plus(
        total, IngestReport(files=len(refused), errors=tuple(FileError(path, str(error)) for path, error in refused))
    )


def _plus(a: IngestReport, b: IngestReport) -> IngestReport:
    from dataclasses import fields, replace

    return replace(a, **{field.name: getattr(a, field.name) + getattr(b, field.name) for field in fields(a)})


def _report(run: Run, report: IngestReport) -> None:
    from dataclasses import asdict

    run.summary(asdict(report), show.ingested(report))
    left_out = (f"left out what was forgotten: {listed(report.left_out)}",) if report.left_out else ()
    run.remarks((*report.notices, *left_out), report.errors)


@verb(
    "link",
    "cuetrail link 'Cold connector' 'Ines Okafor' --weight .9 --text 'she found it'",
    "cuetrail link A0 A1 --tag camp --kind causes",
)
@click.argument("src")
@click.argument("dst")
@click.option("--weight", metavar="NUMBER", type=float, help="How strong it is, from 0.25 to 1. Else unknown.")
@click.option("--tag", "tags", metavar="TAG", multiple=True, help="A tag on the link; repeatable.")
@click.option("--kind", metavar="KIND", default="relates", show_default=True, help="What joins them.")
@click.option("--text", metavar="TEXT", default="", help="Why they belong together.")
@click.option("--type", metavar="TYPE", help="What sort of relation it is, in your own words.")
@click.option("--attitude", metavar="1-5", type=int, help="How SRC stands to DST, from 1 (hostile) to 5 (devoted).")
@click.option("--proximity", metavar="1-5", type=int, help="How close they are, from 1 (far) to 5 (inseparable).")
@pass_run
def link(run: Run, /, src: str, dst: str, **options: Any) -> None:
    """Join two nodes, SRC and DST.

    Each is given by id, by the first 6 or more digits of one, or by name. The same two with the same kind again replace
    the link.
    """
    from dataclasses import asdict

    with run.open(vectors=bool(options["text"]), anyway=True) as memory:
        one, other = meant(memory, src), meant(memory, dst)
        edge = memory.link(one.id, other.id, **options)
    joined = f"{show.title(one, 40)} → {show.title(other, 40)}"
    run.result(asdict(edge), edge.id if run.quiet else f"linked {joined}: {edge.id}")


@verb("unlink", "cuetrail unlink 9d3a77c01b52", "cuetrail unlink 9d3a77c01b52 44e0c2f1a870 --json")
@click.argument("ids", metavar="ID...", nargs=-1, required=True)
@pass_run
def unlink(run: Run, ids: tuple[str, ...]) -> None:
    """Take links away, each given by its own id.

    `cuetrail link` tells the id of a link, and so does `cuetrail get NODE --json`. The nodes stay.
    """
    with run.open() as memory:
        gone = memory.unlink(*ids)
    run.summary({"unlinked": gone}, f"took away {show.count(len(gone), 'link')}")


@verb(
    "forget",
    "cuetrail forget 5f0c1d2e",
    "cuetrail forget --source notes/diary.md --yes",
    "cuetrail add 'The text after all' --allow-again",
)
@click.argument("ids", metavar="[ID]...", nargs=-1)
@click.option("--source", metavar="PATH", help="Forget everything that came from this file.")
@click.option("--purge", is_flag=True, help="Rewrite a large text index now, so that no word of it is left there.")
@click.option("--yes", is_flag=True, help="Do not ask. Needed where there is no terminal to ask on.")
@pass_run
def forget(run: Run, ids: tuple[str, ...], source: str | None, purge: bool, yes: bool) -> None:
    """Remove nodes for good.

    They are named by id, by the first 6 or more digits of one, or by name; the name of a note means all of its file.
    Copies elsewhere go with them, and they do not come back with the next ingest or import. To remember one anew, put
    it in with `cuetrail add --allow-again`.
    """
    if not ids and source is None:
        raise click.UsageError("name what to forget: ids, or --source PATH")
    if not yes and not sys.stdin.isatty():
        raise click.UsageError("forgetting cannot be undone and there is no terminal to ask on: add --yes")
    with run.open(vectors=True, anyway=True) as memory:
        named = [meant(memory, id_).id for id_ in ids]
        doomed = memory.doomed(*named, source=source)
        if not yes:
            _confirm(doomed)
        with output.progress(run.quiet) as step:
            gone = memory.forget(*named, source=source, purge=purge, progress=step)
        _tell_more(run, doomed, yes)
        if memory.has_traces():
            run.notice(
                "no search finds it any more; its words stay in the text index until the next ingest, or until "
                "`cuetrail doctor --repair` (`forget --purge` does both at once)"
            )
    done = {"forgotten": gone, "copies": [node.id for node in doomed.copies], "kept": [n.text for n in doomed.common]}
    run.summary(done, f"forgot {show.count(len(gone), 'memory', 'memories')}")


def _confirm(doomed: Doomed) -> None:
    """Ask on the terminal, showing what would go. Raises ClickException when the answer is no."""
    files = {node.source for node in doomed.meant if node.kind == "source"}
    lines = [f"  {show.title(node)}" for node in doomed.meant if node.source not in files]
    for file in sorted(filter(None, files)):
        number = sum(node.source == file for node in doomed.meant)
        lines.append(f"  everything from {file}: {show.count(number, 'memory', 'memories')}")
    output.warn("this will be forgotten for good:\n" + "\n".join([*lines, *map("  {}".format, _elsewhere(doomed))]))
    if not click.confirm("Forget it?", err=True):
        raise click.ClickException("nothing was forgotten")


def _tell_more(run: Run, doomed: Doomed, unasked: bool) -> None:
    """Say after forgetting what a person who was asked knows already."""
    for line in _elsewhere(doomed) if unasked else ():
        run.notice(line)


def _elsewhere(doomed: Doomed) -> list[str]:
    """What happens outside of what was named: copies that go with it, and boilerplate that stays."""
    lines = []
    if doomed.copies:
        where = listed(sorted({node.source or "memories of no file" for node in doomed.copies}))
        lines.append(f"{show.count(len(doomed.copies), 'copy', 'copies')} of it elsewhere: {where}")
    if doomed.common:
        said = listed([f'"{show.title(node, 40)}"' for node in doomed.common])
        lines.append(f"many other files say this too and keep it: {said}. To forget it there, forget it by its id")
    return lines


def listed(names: Sequence[str], most: int = 10) -> str:
    """The first names, and how many more there are."""
    more = [f"and {len(names) - most:,} more"] if len(names) > most else []
    return ", ".join([*names[:most], *more])
