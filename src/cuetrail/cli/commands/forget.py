"""`cuetrail forget` and `quarantine`: remove memories for good, or set them aside."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from cuetrail.cli import output
from cuetrail.cli.command import Run, verb
from cuetrail.cli.options import find_node, find_source
from cuetrail.cli.output import count_of, first_of, node_title

if TYPE_CHECKING:
    from cuetrail.write.forget import Doomed

MOST_LISTED = 20


@verb(
    "cuetrail forget 5f0c1d2e",
    "cuetrail forget --source notes/diary.md --yes",
    "cuetrail forget --everything --dry-run",
)
@click.argument("ids", metavar="[ID]...", nargs=-1)
@click.option("--source", metavar="PATH", help="Forget everything from this file or conversation.")
@click.option("--everything", is_flag=True, help="Forget all memories of this user.")
@click.option("--dry-run", is_flag=True, help="Show what would be forgotten, and forget nothing.")
@click.option("--purge", is_flag=True, help="Rewrite a large text index now, so that no forgotten word stays in it.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation. Required without a terminal.")
def forget(
    run: Run, ids: tuple[str, ...], source: str | None, everything: bool, dry_run: bool, purge: bool, yes: bool
) -> None:
    """Remove nodes for good.

    They are given by id, by the first 6 or more digits of an id, or by name; the name of a note means its whole file.
    Copies in other files are removed too, and memories that contain the text among other sentences lose it. The next
    ingest or import does not bring it back. `cuetrail add 'The text' --allow-again` adds a forgotten text again.
    """
    if not ids and source is None and not everything:
        raise click.UsageError("name what to forget: ids, --source PATH, or --everything")
    if everything and (ids or source is not None):
        raise click.UsageError("--everything is more than ids and --source: give one or the other")
    if not yes and not dry_run and not sys.stdin.isatty():
        raise click.UsageError("forgetting cannot be undone and there is no terminal to ask on: add --yes")
    with run.open(vectors=True, anyway=True) as memory:
        named = [find_node(memory, id_).id for id_ in ids]
        source = find_source(memory, source)
        doomed = memory.doomed(*named, source=source, everything=everything)
        if dry_run:
            data = {"would_forget": doomed.ids, **_beside(doomed)}
            run.result(data, "\n".join([f"would forget {_memories(len(doomed.ids))}:", *_listed(doomed)]))
            return
        if not yes:
            _confirm(doomed)
        with output.progress(run.quiet) as step:
            forgotten = memory.forget(*named, source=source, everything=everything, purge=purge, progress=step)
        # With --yes no confirmation has shown them.
        for line in _side_effects(doomed) if yes else ():
            run.notice(line)
        if memory.has_traces():
            run.notice(
                "no search finds it any more; its words stay in the text index until the next ingest, or until "
                "`cuetrail doctor --repair` (`forget --purge` does both at once)"
            )
    run.summary({"forgotten": forgotten, **_beside(doomed)}, f"forgot {_memories(len(forgotten))}")


def _memories(number: int) -> str:
    return count_of(number, "memory", "memories")


def _beside(doomed: Doomed) -> dict[str, list[str]]:
    """Returns as data the copies that go, the memories that lose a part, and the texts that stay elsewhere."""
    return {
        "copies": [node.id for node in doomed.copies],
        "cut": [node.id for node in doomed.cut],
        "kept": [node.text for node in doomed.common],
    }


def _confirm(doomed: Doomed) -> None:
    """Shows what would be forgotten and asks. Raises ClickException if the answer is no."""
    output.warn("this will be forgotten for good:\n" + "\n".join(_listed(doomed)))
    if not click.confirm("Forget it?", err=True):
        raise click.ClickException("nothing was forgotten")


def _listed(doomed: Doomed) -> list[str]:
    """Returns a line for each file and each other memory that goes, and for what happens to others."""
    files = {node.source for node in doomed.meant if node.kind == "source"}
    others = [f"  {node_title(node)}" for node in doomed.meant if node.source not in files]
    lines = [*others[:MOST_LISTED], f"  and {_memories(len(others) - MOST_LISTED)} more"][: len(others)]
    for file in sorted(filter(None, files)):
        number = sum(node.source == file and node.kind != "source" for node in doomed.meant)
        lines.append(f"  everything from {file}: {count_of(number, 'passage')}")
    return [*lines, *map("  {}".format, _side_effects(doomed))]


def _side_effects(doomed: Doomed) -> list[str]:
    """Returns lines on copies that are removed too, on memories that lose a part, and on texts that stay elsewhere."""
    lines = []
    if doomed.copies:
        where = first_of(sorted({node.source or "memories of no file" for node in doomed.copies}))
        lines.append(f"{count_of(len(doomed.copies), 'copy', 'copies')} of it elsewhere: {where}")
    if doomed.cut:
        where = first_of(sorted({node.source or "memories of no file" for node in doomed.cut}))
        lines.append(f"{count_of(len(doomed.cut), 'other memory loses', 'other memories lose')} it as a part: {where}")
    if doomed.common:
        texts = first_of([f'"{node_title(node, 40)}"' for node in doomed.common])
        lines.append(f"many other files say this too and keep it: {texts}. To forget it there, forget it by its id")
    return lines


@verb(
    "cuetrail quarantine 6b36198f",
    "cuetrail quarantine --source inbox/scraped.html",
    "cuetrail quarantine --undo 6b36198f",
)
@click.argument("ids", metavar="[ID]...", nargs=-1)
@click.option("--source", metavar="PATH", help="Everything from this file.")
@click.option("--undo", is_flag=True, help="Undo: recall finds them again.")
def quarantine(run: Run, ids: tuple[str, ...], source: str | None, undo: bool) -> None:
    """Set memories aside without losing them.

    They are given by id, by the first 6 or more digits of an id, or by name. Recall leaves them out unless
    --quarantined is given. --undo restores their earlier trust level.
    """
    if not ids and source is None:
        raise click.UsageError("name what to set aside: ids, or --source PATH")
    with run.open() as memory:
        named = (find_node(memory, id_).id for id_ in ids)
        moved = memory.quarantine(*named, source=find_source(memory, source), undo=undo)
    done = "let back" if undo else "set aside"
    count = count_of(len(moved), "memory", "memories")
    run.summary({"moved": [node.id for node in moved], "undo": undo}, f"{done} {count}")
