"""The verbs of who looks through a memory and tends it: timeline, labels, dreams, edit."""

from __future__ import annotations

from typing import Any

import click

from cuetrail.cli import parse, present
from cuetrail.cli.command import Run, pass_run, verb
from cuetrail.cli.node_argument import meant


@verb(
    "edit",
    "cuetrail edit 6b36198f --text 'The antenna stands on the lee side'",
    "cuetrail edit Wingbeat --alias tracker --tag project",
)
@click.argument("id")
@click.option("--text", metavar="TEXT", help="What it says from now on.")
@click.option("--name", metavar="NAME", help="What it is called.")
@click.option("--alias", "aliases", metavar="NAME", multiple=True, help="Another name, in place of all; repeatable.")
@click.option(
    "--tag", "tags", metavar="TAG", multiple=True, help="A tag, in place of all that people gave; repeatable."
)
@click.option("--bucket", "buckets", metavar="BUCKET", multiple=True, help="A bucket, in place of all; repeatable.")
@click.option("--at", metavar="WHEN", callback=parse.start, help="When it was: an ISO date or time.")
@click.option("--allow-again", is_flag=True, help="Also if it then says what was forgotten.")
@pass_run
def edit(run: Run, /, id: str, **options: Any) -> None:
    """Correct a memory, given by its id, the first digits of it, or its name. What is not given stays as it is.

    What it said before is kept as history, which `cuetrail get` shows.
    """
    from cuetrail.model import node_dict

    given = {name: value for name, value in options.items() if value not in (None, ())}
    if not given.keys() - {"allow_again"}:
        raise click.UsageError("say what to change: --text, --name, --alias, --tag, --bucket or --at")
    with run.open(vectors=True, anyway=True) as memory:
        node = memory.edit(meant(memory, id).id, **given)
    run.result(node_dict(node), node.id if run.quiet else f"corrected {node.id}")


@verb(
    "timeline",
    "cuetrail timeline --limit 20",
    "cuetrail timeline --tag radio --since 2025-01-01",
    "cuetrail timeline --provenance quarantine",
)
@click.option("--tag", "tags", metavar="TAG", multiple=True, help="Only what has this tag; repeatable.")
@click.option("--bucket", "buckets", metavar="BUCKET", multiple=True, help="Only what is in this bucket; repeatable.")
@click.option("--kind", "kinds", metavar="KIND", multiple=True, help="Only nodes of this kind; repeatable.")
@click.option("--since", metavar="WHEN", callback=parse.start, help="Only from this time on: an ISO date or time.")
@click.option("--until", metavar="WHEN", callback=parse.end, help="Only up to this time; a date includes its day.")
@click.option(
    "--provenance", type=click.Choice(["internal", "external", "quarantine"]), help="Only what is so trusted."
)
@click.option("--quarantined", "include_quarantined", is_flag=True, help="Also what is set aside.")
@click.option("--archived", "include_archived", is_flag=True, help="Also what has faded.")
@click.option("--limit", metavar="N", type=click.IntRange(1), default=50, show_default=True, help="At most so many.")
@click.option("--after", metavar="PLACE", help="Go on behind this place, which the list before ends with.")
@pass_run
def timeline(run: Run, /, **options: Any) -> None:
    """List memories, the newest first, without a question."""
    with run.open() as memory:
        found = memory.timeline(**options)
    lines = [f"{present.when(node.at):16}  {present.short(node.id):8}  {present.title(node)}" for node in found.nodes]
    run.result(found.to_dict(), "\n".join(lines) or "nothing is here")
    if found.more is not None:
        run.notice(f"there is more: --after {found.more}")


@verb("labels", "cuetrail labels", "cuetrail labels bucket", "cuetrail labels --prefix project:")
@click.argument("what", type=click.Choice(["tag", "bucket"]), default="tag")
@click.option("--prefix", metavar="TEXT", default="", help="Only those that begin so.")
@click.option("--limit", metavar="N", type=click.IntRange(1), default=1000, show_default=True, help="At most so many.")
@pass_run
def labels(run: Run, /, what: Any, prefix: str, limit: int) -> None:
    """List tags, or buckets, with how many memories have them."""
    with run.open() as memory:
        found = memory.labels(what, prefix=prefix, limit=limit)
    lines = (f"{one.nodes:>8,}  {one.name}" for one in found)
    run.result([{"name": one.name, "nodes": one.nodes} for one in found], "\n".join(lines) or "there are none")


@verb("dreams", "cuetrail dreams", "cuetrail dreams --json")
@pass_run
def dreams(run: Run, /) -> None:
    """Show what the last dreams did, the newest first."""
    from dataclasses import asdict

    with run.open() as memory:
        found = memory.dreams()
    lines = []
    for one in found:
        did = [
            f"{each.name} +{each.wrote:,} -{each.removed:,}" for each in one.report.passes if each.wrote or each.removed
        ]
        lines.append(f"{present.when(one.at)}  {one.report.seconds:.1f} s  {', '.join(did) or 'nothing changed'}")
    run.result([asdict(one) for one in found], "\n".join(lines) or "nothing was dreamt yet: `cuetrail dream`")
