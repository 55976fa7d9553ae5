"""The verb that shows a memory as files: mirror."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cuetrail.cli import output, show
from cuetrail.cli.base import INTERRUPTED, Run, pass_run, verb
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
@click.option("--dry-run", is_flag=True, help="Only say what would be written and removed.")
@pass_run
@click.pass_context
def mirror(ctx: click.Context, run: Run, /, directory: str | None, once: bool, **options: Any) -> None:
    """Show the memory as Markdown files, @bucket/#tag/source.md.

    DIR is a folder of its own: what is in it and does not come from the memory is removed, and a folder that is not
    empty and no mirror is refused. From then on ingest, dream and forget keep it in step, until you delete it. Without
    DIR, all mirrors of the memory are brought in step.
    """
    from dataclasses import asdict

    try:
        with run.open() as memory, output.progress(run.quiet) as step:
            places = [directory] if directory is not None else memory.mirrors()
            if not places:
                raise InputError(
                    "this memory has no mirror yet: name a folder for one, as in `cuetrail mirror ~/brain`"
                )
            known = memory.mirrors()
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


def _said(report: MirrorReport) -> str:
    done = "would write" if report.dry_run else "wrote"
    gone = f", {'would remove' if report.dry_run else 'removed'} {report.removed:,}" if report.removed else ""
    files = show.count(report.written, "file")
    return (
        f"{report.directory}: {show.count(report.atoms, 'atom')} in {show.count(report.files, 'file')}; "
        f"{done} {files} ({report.bytes:,} bytes){gone} in {report.seconds:.1f} s"
    )
