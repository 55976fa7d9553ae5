"""The verbs of who looks through a memory and tends it: edit."""

from __future__ import annotations

from typing import Any

import click

from cuetrail.cli import types
from cuetrail.cli.base import Run, pass_run, verb
from cuetrail.cli.nodes import meant


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
@click.option("--at", metavar="WHEN", callback=types.start, help="When it was: an ISO date or time.")
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
