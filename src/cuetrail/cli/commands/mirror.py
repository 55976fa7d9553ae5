"""The verb that shows a memory as files: mirror."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cuetrail.cli import output, present
from cuetrail.cli.command import INTERRUPTED, Run, pass_run, verb
from cuetrail.errors import InputError

if TYPE_CHECKING:
    from cuetrail.mirror import MirrorReport


@verb(
    "mirror",
    "cuetrail mirror ~/brain",
    "cuetrail mirror ~/brain --placement all --dry-run",
    "cuetrail mirror",
)
@click.argument("directory", metavar="[DIR]", required=False)
@click.option(
    "--placement",
    type=click.Choice(["first", "all"]),
    help="Show an atom under its first tag only, or under all. Else as it is in DIR, or first where it is new.",
)
@click.option("--once", is_flag=True, help="Do not keep DIR in step from now on.")
@click.option("--end", is_flag=True, help="No longer keep DIR in step, and leave it as it is; also when it is away.")
@click.option("--dry-run", is_flag=True, help="Only say what would be written and removed.")
@pass_run
@click.pass_context
def mirror(ctx: click.Context, run: Run, /, directory: str | None, once: bool, end: bool, **options: Any) -> None:
    """Show the memory as Markdown files, @bucket/#tag/source.md.

    DIR is a folder of its own: what is in it and does not come from the memory is removed, and a folder that is not
    empty and no mirror is refused. From then on ingest, dream and forget keep it in step, until you delete it. Without
    DIR, all mirrors of the memory are brought in step.
    """
    from dataclasses import asdict

    if end:
        _end(run, directory)
        return
    try:
        with run.open() as memory, output.progress(run.quiet) as step:
            known = memory.mirrors()
            places = [directory] if directory is not None else _present(known)
            reports = [memory.mirror(place, follow=not once, progress=step, **options) for place in places]
    except KeyboardInterrupt:
        output.warn("stopped: the mirror is as it was")
        ctx.exit(INTERRUPTED)
    found = [asdict(report) for report in reports]
    run.summary(found if directory is None else found[0], "\n".join(map(_said, reports)))
    for report in reports:
        if not (once or report.dry_run or report.directory in known):
            run.notice(
                f"{report.directory} is kept in step by ingest, dream and forget from now on; delete it to end that"
            )


def _end(run: Run, directory: str | None) -> None:
    if directory is None:
        raise InputError("--end needs the folder, as in `cuetrail mirror ~/brain --end`")
    with run.open() as memory:
        place = memory.end_mirror(directory)
    run.summary({"directory": place, "ended": True}, f"{place} is no longer kept in step; it stays as it is")


def _present(known: Sequence[str]) -> list[str]:
    """Those of the mirrors that are there. One that is away is named: to make it anew would hide that."""
    from cuetrail.mirror import is_mirror

    if not known:
        raise InputError("this memory has no mirror yet: name a folder for one, as in `cuetrail mirror ~/brain`")
    present = [place for place in known if is_mirror(Path(place))]
    away = [place for place in known if place not in present]
    for place in away:
        output.warn(
            f"the mirror in {place} is not there: bring it back, make it anew with `cuetrail mirror {place}`, "
            f"or end it with `cuetrail mirror {place} --end`"
        )
    return present


def _said(report: MirrorReport) -> str:
    done = "would write" if report.dry_run else "wrote"
    gone = f", {'would remove' if report.dry_run else 'removed'} {report.removed:,}" if report.removed else ""
    files = present.count(report.written, "file")
    return (
        f"{report.directory}: {present.count(report.atoms, 'atom')} in {present.count(report.files, 'file')}; "
        f"{done} {files} ({report.bytes:,} bytes){gone} in {report.seconds:.1f} s"
    )
