"""The verb that lets energy flow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cuetrail.cli import parse, present
from cuetrail.cli.command import Run, pass_run, verb
from cuetrail.cli.node_argument import meant

if TYPE_CHECKING:
    from cuetrail.memory import Memory
    from cuetrail.model import Activation, Node


@verb(
    "activate",
    "cuetrail activate why does the receiver go silent --explain",
    "cuetrail activate --seed A0=0.9 --seed B0 --query-tag camp --depth 3",
    "cuetrail activate silent receiver --as cypher > paths.cypher",
)
@click.argument("cue", metavar="[CUE]...", nargs=-1)
@click.option(
    "--seed", "seeds", metavar="ID[=SCORE]", multiple=True,
    help="Start here instead of where a cue leads, with this much energy [default: 1]; repeatable.",
)  # fmt: skip
@click.option(
    "--query-tag", "tags", metavar="TAG", multiple=True,
    help="What it is about: edges with this tag let more through; repeatable. [default: tags the cue names]",
)  # fmt: skip
@click.option("--depth", "max_depth", metavar="N", type=click.IntRange(0), default=5, show_default=True, help="Hops.")
@click.option(
    "--branches", "max_branches", metavar="N", type=click.IntRange(0), default=3, show_default=True,
    help="Neighbours that a node passes energy on to.",
)  # fmt: skip
@click.option(
    "--min-activation", metavar="X", type=click.FloatRange(0, 1), default=0.005, show_default=True,
    help="Energy must be more than this to go on.",
)  # fmt: skip
@click.option(
    "--tag-floor", "tag_sim_floor", metavar="X", type=click.FloatRange(0, 1), default=0.15, show_default=True,
    help="What an edge lets through that fits no tag.",
)  # fmt: skip
@click.option(
    "--claim", type=click.Choice(["energy", "frontier"]), default="energy", show_default=True,
    help="Who gets a node that several could reach: the most energy, or the first in line.",
)  # fmt: skip
@click.option("--limit", metavar="N", type=click.IntRange(0), default=5, show_default=True, help="Seeds of a cue.")
@click.option("--bucket", "buckets", metavar="BUCKET", multiple=True, help="Only through this bucket; repeatable.")
@click.option("--kind", "kinds", metavar="KIND", multiple=True, help="Only through nodes of this kind; repeatable.")
@click.option("--since", metavar="WHEN", callback=parse.start, help="Only through what is from this time on.")
@click.option("--until", metavar="WHEN", callback=parse.end, help="Only through what is up to this time.")
@click.option("--quarantined", "include_quarantined", is_flag=True, help="Also through what is in quarantine.")
@click.option("--archived", "include_archived", is_flag=True, help="Also through what has faded into the archive.")
@click.option("--explain", is_flag=True, help="Draw the tree of paths with the energy of each step.")
@click.option(
    "--as", "form", type=click.Choice(["context", "graph", "cypher"]), default="context", show_default=True,
    help="Lines of paths; nodes and edges as JSON; a statement for Neo4j Browser.",
)  # fmt: skip
@click.option("--no-touch", is_flag=True, help="Do not count this as a use of what is found.")
@pass_run
def activate(
    run: Run, /, cue: tuple[str, ...], seeds: tuple[str, ...], explain: bool, form: str, no_touch: bool, **options: Any
) -> None:
    """Let energy flow along links.

    It starts at what a CUE finds, or at the seeds that are named, and gets less at every step: by the weight of the
    link, by how many links a node has, and by how badly the link's tags fit.
    """
    if not cue and not seeds:
        raise click.UsageError("say where energy starts: give a CUE, or --seed ID")
    if cue and seeds:
        raise click.UsageError("give a CUE or --seed, not both")
    if explain and form != "context":
        raise click.UsageError("give --explain or --as, not both")
    options["tags"] = list(options["tags"]) or None
    with run.open(vectors=bool(cue)) as memory:
        start: Any = [_seed(memory, seed) for seed in seeds] if seeds else " ".join(cue)
        found = list(memory.activate(start, record_access=not no_touch, **options))
        from cuetrail.recall.render.graph import ids_of

        nodes = memory.nodes(*ids_of(found))
    _tell(run, found, nodes, explain, form)


def _seed(memory: Memory, given: str) -> tuple[str, float]:
    """A node and the energy it starts with; `=` may be part of an id."""
    name, sign, score = given.rpartition("=")
    try:
        energy = float(score) if sign else 1.0
    except ValueError:
        name, sign, energy = given, "", 1.0
    return meant(memory, name if sign else given).id, energy


def _tell(run: Run, found: list[Activation], nodes: dict[str, Node], explain: bool, form: str) -> None:
    from cuetrail.recall.render.graph import to_context, to_cypher, to_graph
    from cuetrail.recall.spread.activation import merge

    for one in found:
        if one.error is not None:
            run.notice(f"energy from {present.short(one.seed)} was lost on the way: {one.error}")
    data: dict[str, Any] = {
        "activations": [one.to_dict() for one in found],
        "merged": [{"id": one.id, "energy": one.energy, "from": list(one.paths)} for one in merge(found)],
    }
    if form == "graph":
        # A graph is for programs, so it is JSON with or without --json.
        run.json, data = True, to_graph(found, nodes)
    if form == "cypher":
        data = {"cypher": to_cypher(found, nodes)}
        run.result(data, data["cypher"])
    elif run.json or any(one.paths for one in found):
        run.result(data, present.flowed(found, nodes) if explain else to_context(found, nodes))
    else:
        run.notice("energy came nowhere" if found else "nothing is remembered on this, so energy has nowhere to start")
