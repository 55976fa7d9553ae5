"""The verbs that look around: along edges, and from every side."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from cuetrail.cli import show, types
from cuetrail.cli.base import Run, pass_run, verb
from cuetrail.cli.nodes import meant

if TYPE_CHECKING:
    from cuetrail.traversal import Arrival

F = TypeVar("F", bound=Callable[..., Any])
_LEVEL = click.IntRange(1, 5)
_FILTERS = ("min_attitude", "max_attitude", "min_proximity", "max_proximity")


def filtered(command: F) -> F:
    """Give a verb the options that filter relationships."""
    for option in (
        click.option("--not-type", "exclude", metavar="TYPE", multiple=True, help="Not along this type; repeatable."),
        click.option("--type", "types_", metavar="TYPE", multiple=True, help="Only along this type; repeatable."),
        *(
            click.option(f"--{name.replace('_', '-')}", name, metavar="1-5", type=_LEVEL, help=f"{said} at {bound}.")
            for name, said, bound in (
                ("max_proximity", "Proximity", "most"),
                ("min_proximity", "Proximity", "least"),
                ("max_attitude", "Attitude", "most"),
                ("min_attitude", "Attitude", "least"),
            )
        ),
    ):
        command = option(command)
    return command


def relationship_filters(options: dict[str, Any]) -> dict[str, Any]:
    """The filters among the options, taken out of them."""
    found = {name: options.pop(name) for name in _FILTERS}
    types_, without = list(options.pop("types_")), list(options.pop("exclude"))
    return {**found, "relationship_types": types_ or None, "exclude_relationship_types": without or None}


@verb(
    "traverse",
    "cuetrail traverse 'Ines Okafor' --hops 2",
    "cuetrail traverse A0 B0 --rank --top 10",
    "cuetrail traverse 'Ines Okafor' --direction out --min-attitude 4",
)
@click.argument("start", metavar="NODE...", nargs=-1, required=True)
@click.option("--rank", is_flag=True, help="Where a random walk is most often, instead of so many hops away.")
@click.option(
    "--hops", "max_hops", metavar="N", type=click.IntRange(1, 3), default=1, show_default=True, help="How far, 1 to 3."
)
@click.option(
    "--direction", type=click.Choice(["out", "in", "both"]), default="both", show_default=True, help="Along edges."
)
@click.option("--depth", metavar="N", type=click.IntRange(0, 10), default=3, show_default=True, help="With --rank.")
@click.option(
    "--damping", metavar="X", type=click.FloatRange(0, 1, max_open=True), default=0.85, show_default=True,
    help="With --rank: how likely a step goes on rather than home.",
)  # fmt: skip
@click.option("--top", "top_k", metavar="N", type=click.IntRange(1), default=20, show_default=True, help="With --rank.")
@click.option("--limit", metavar="N", type=click.IntRange(1), default=100, show_default=True, help="At most so many.")
@filtered
@click.option("--kind", "kinds", metavar="KIND", multiple=True, help="Only through nodes of this kind; repeatable.")
@click.option("--since", metavar="WHEN", callback=types.start, help="Only through what is from this time on.")
@click.option("--until", metavar="WHEN", callback=types.end, help="Only through what is up to this time.")
@click.option("--archived", "include_archived", is_flag=True, help="Also through what has faded into the archive.")
@click.option("--no-touch", is_flag=True, help="Do not count this as a use of what is found.")
@pass_run
def traverse(run: Run, /, start: tuple[str, ...], rank: bool, no_touch: bool, **options: Any) -> None:
    """Follow links from nodes, given by id or name."""
    filters = relationship_filters(options)
    with run.open(vectors=False) as memory:
        found = memory.traverse(
            [meant(memory, one).id for one in start],
            mode="ppr" if rank else "hops",
            relationship_filters=filters,
            record_access=not no_touch,
            **options,
        )
    if found.arrivals or run.json:
        run.result(found.to_dict(), "\n".join(map(_line, found.arrivals)))
    else:
        run.notice("no link leads on from there")


def _line(one: Arrival) -> str:
    lead = f"{one.hops}" if one.score is None else f"{one.score:.4f}"
    return f"{lead}  {show.short(one.node.id)}  {one.node.kind}  {show.title(one.node, 60)}"
