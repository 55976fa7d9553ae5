"""`cuetrail link`, `unlink`, `relate`, `merge` and `note`: edges between nodes, nodes that are one, and remarks."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import Any

import click

from cuetrail.cli import output
from cuetrail.cli.command import Run, verb
from cuetrail.cli.options import choice, end_time, find_node, several, start_time
from cuetrail.cli.output import count_of, first_of, node_title, short_id
from cuetrail.model import Merged

_LEVEL = click.IntRange(1, 5)


@verb(
    "cuetrail link 'Cold connector' 'Ines Okafor' --weight .9 --text 'she found it'",
    "cuetrail link A0 A1 --tag camp --kind causes",
)
@click.argument("src")
@click.argument("dst")
@click.option("--weight", metavar="NUMBER", type=float, help="The strength, from 0.25 to 1. [default: unknown]")
@several("--tag", "tags", help="A tag on the link; repeatable.")
@click.option("--kind", metavar="KIND", default="relates", show_default=True, help="The kind of link.")
@click.option("--text", metavar="TEXT", default="", help="Why they belong together.")
@click.option("--type", metavar="TYPE", help="The type of relation, in your own words.")
@click.option("--attitude", metavar="1-5", type=int, help="How SRC stands to DST, from 1 (hostile) to 5 (devoted).")
@click.option("--proximity", metavar="1-5", type=int, help="How close they are, from 1 (far) to 5 (inseparable).")
def link(run: Run, /, src: str, dst: str, **options: Any) -> None:
    """Link two nodes, SRC and DST.

    Each is given by id, by the first 6 or more digits of its id, or by name. A second link of the same kind between the
    same nodes replaces the first.
    """
    with run.open(vectors=bool(options["text"]), anyway=True) as memory:
        one, other = find_node(memory, src), find_node(memory, dst)
        edge = memory.link(one.id, other.id, **options)
    ends = f"{node_title(one, 40)} → {node_title(other, 40)}"
    run.result(asdict(edge), edge.id if run.quiet else f"linked {ends}: {edge.id}")


@verb("cuetrail unlink 9d3a77c01b52", "cuetrail unlink 9d3a77c01b52 44e0c2f1a870 --json")
@click.argument("ids", metavar="ID...", nargs=-1, required=True)
def unlink(run: Run, ids: tuple[str, ...]) -> None:
    """Remove links, each given by its id.

    `cuetrail link` prints the id of a link, and so does `cuetrail get NODE --json`. The nodes stay.
    """
    with run.open() as memory:
        removed = memory.unlink(*ids)
    run.summary({"unlinked": removed}, f"removed {count_of(len(removed), 'link')}")


@verb(
    "cuetrail relate 'Ines Okafor' 'Tomas Lund' colleague --attitude 4 --proximity 3",
    "cuetrail relate 'Ines Okafor' Telemetry --text 'has built most of it'",
)
@click.argument("src", metavar="NODE")
@click.argument("dst", metavar="NODE")
@click.argument("type", metavar="[TYPE]", required=False)
@click.option(
    "--attitude", metavar="1-5", type=_LEVEL, help="How they stand to each other, 1 (hostile) to 5 (devoted)."
)
@click.option("--proximity", metavar="1-5", type=_LEVEL, help="How close they are, 1 (far) to 5 (inseparable).")
@click.option("--text", metavar="TEXT", default="", help="A description in your own words.")
@click.option("--weight", metavar="NUMBER", type=float, help="The strength, from 0.25 to 1. [default: unknown]")
@click.option("--confidence", metavar="0-1", type=float, help="The confidence. [default of a new relationship: 1]")
@several("--tag", "tags", help="A tag; repeatable.")
@click.option("--from", "valid_from", metavar="WHEN", callback=start_time, help="When it began.")
@click.option("--until", "valid_until", metavar="WHEN", callback=end_time, help="When it ended or will end.")
def relate(run: Run, /, src: str, dst: str, **options: Any) -> None:
    """State the relationship of two people, concepts or entities.

    Options that are not given stay as they were. A different type, attitude or proximity ends the old relationship,
    which stays in the history, and begins a new one.
    """
    from cuetrail.explore.explore import Relationship

    with run.open(vectors=bool(options["text"]), anyway=True) as memory:
        one, other = find_node(memory, src), find_node(memory, dst)
        edge = memory.relate(one.id, other.id, **options)
    data = Relationship(edge, 0.0, {}).to_dict()
    data.pop("score")
    data |= {"valid_from": edge.valid_from, "valid_until": edge.valid_until}
    run.result(data, edge.id if run.quiet else f"{short_id(edge.src)} {edge.type or edge.kind} {short_id(edge.dst)}")


@verb("cuetrail note 'Ines Okafor' 'on leave until Monday' --expires week", "cuetrail note 'Ines Okafor' 'likes tea'")
@click.argument("target", metavar="NODE")
@click.argument("text")
@choice("--expires", values=["week", "month", "year", "never"], default="never", help="How long the remark stays.")
def note(run: Run, /, target: str, text: str, expires: str) -> None:
    """Put a remark on a node, or on a relationship by its id."""
    with run.open(vectors=True, anyway=True) as memory:
        on_edge = memory.get(target) is None and memory.edge(target) is not None
        made = memory.note(target if on_edge else find_node(memory, target).id, text, expires=expires)
    data = {"id": made.id, "target": made.target, "on": made.on, "text": made.text, "expires": made.expires}
    run.result(data, made.id if run.quiet else f"noted on {short_id(made.target)}")


@verb("cuetrail merge 'I. Okafor' --into 'Ines Okafor'", "cuetrail merge NYC --into 'New York' --dry-run")
@click.argument("gone", metavar="NODE")
@click.option("--into", metavar="OTHER", required=True, help="The node that stays.")
@click.option("--dry-run", is_flag=True, help="Show what would pass on, and change nothing.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation. Required without a terminal.")
def merge(run: Run, gone: str, into: str, dry_run: bool, yes: bool) -> None:
    """Merge two nodes that mean the same person, concept or thing.

    OTHER takes over the names, text, tags, facts, relationships, remarks and history of NODE, which is removed. Its
    name then means OTHER. This cannot be undone.
    """
    if not yes and not dry_run and not sys.stdin.isatty():
        raise click.UsageError("merging cannot be undone and there is no terminal to ask on: add --yes, or --dry-run")
    with run.open(vectors=True, anyway=True) as memory:
        one, other = find_node(memory, gone), find_node(memory, into)
        found = memory.merge(one.id, into=other.id, dry_run=True)
        if not dry_run and not yes:
            output.warn(_merged_text(found, "would pass on"))
            if not click.confirm("Merge them?", err=True):
                raise click.ClickException("nothing was merged")
        if not dry_run:
            found = memory.merge(one.id, into=other.id)
    run.summary(found.to_dict(), _merged_text(found, "would pass on" if dry_run else "passed on"))


def _merged_text(found: Merged, verb_: str) -> str:
    names = f"the names {first_of(found.aliases)}, " if found.aliases else ""
    counts = [count_of(getattr(found, name), name[:-1]) for name in ("facts", "edges", "notes")]
    return f"{node_title(found.gone, 40)} → {node_title(found.node, 40)}: {verb_} {names}{', '.join(counts)}"
