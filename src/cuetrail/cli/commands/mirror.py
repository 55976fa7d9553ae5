"""`cuetrail mirror`: writes the memory as Markdown files and keeps them up to date."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cuetrail.cli import output
from cuetrail.cli.command import Run, verb
from cuetrail.cli.exit_codes import interruptible
from cuetrail.cli.options import choice
from cuetrail.cli.output import count_of
from cuetrail.errors import InputError

if TYPE_CHECKING:
    from cuetrail.mirror import MirrorReport


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
