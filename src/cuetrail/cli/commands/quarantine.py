"""The verb that says what is not trusted: quarantine."""

from __future__ import annotations

import click

from cuetrail.cli import present
from cuetrail.cli.command import Run, pass_run, verb
from cuetrail.cli.node_argument import meant


@verb(
    "quarantine",
    "cuetrail quarantine 6b36198f",
    "cuetrail quarantine --source inbox/scraped.html",
    "cuetrail quarantine --undo 6b36198f",
)
@click.argument("ids", metavar="[ID]...", nargs=-1)
@click.option("--source", metavar="PATH", help="Everything that came from this file.")
@click.option("--undo", is_flag=True, help="Let back what was set aside.")
@pass_run
def quarantine(run: Run, ids: tuple[str, ...], source: str | None, undo: bool) -> None:
    """Set memories aside without losing them.

    They are named by id, by the first 6 or more digits of one, or by name. Recall leaves them out unless it is asked
    for them with --quarantined. What they were before is remembered, and --undo makes them so again.
    """
    if not ids and source is None:
        raise click.UsageError("name what to set aside: ids, or --source PATH")
    with run.open() as memory:
        moved = memory.quarantine(*(meant(memory, id_).id for id_ in ids), source=source, undo=undo)
    done = "let back" if undo else "set aside"
    count = present.count(len(moved), "memory", "memories")
    run.summary({"moved": [node.id for node in moved], "undo": undo}, f"{done} {count}")
