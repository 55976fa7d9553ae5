"""`cuetrail activate`: spreads activation along links and prints the paths."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from cuetrail.cli.command import Run, verb
from cuetrail.cli.options import choice, find_node, no_touch, node_filters, number, several, share
from cuetrail.cli.output import hashtags, node_title, short_id
from cuetrail.config import on_server

if TYPE_CHECKING:
    from cuetrail.memory import Memory
    from cuetrail.model import Activation, Hop, Node


@verb(
    "cuetrail activate why does the receiver go silent --explain",
    "cuetrail activate --seed A0=0.9 --seed B0 --query-tag camp --depth 3",
    "cuetrail activate silent receiver --as cypher > paths.cypher",
)
@click.argument("cue", metavar="[CUE]...", nargs=-1)
@several(
    "--seed", "seeds", metavar="ID[=SCORE]",
    help="Start at this node with this much energy [default: 1], instead of a cue; repeatable.",
)  # fmt: skip
@several(
    "--query-tag", "tags", metavar="TAG",
    help="Edges with this tag pass more energy; repeatable. [default: tags in the cue]",
)  # fmt: skip
@number("--depth", "max_depth", default=5, help="Hops.")
@number("--branches", "max_branches", default=3, help="Neighbours to which a node passes energy.")
@share("--min-activation", default=0.005, help="Stop below this energy.")
@share(
    "--tag-floor", "tag_sim_floor", default=0.15, help="The share of energy that an edge without a matching tag passes."
)
@choice(
    "--claim", values=["energy", "frontier"], default="energy",
    help="Which path claims a shared node: the one with the most energy, or the first.",
)  # fmt: skip
@number("--limit", default=5, help="Seeds from a cue.")
@node_filters("through nodes", "tag")
@click.option("--explain", is_flag=True, help="Draw the tree of paths with the energy of each step.")
@choice(
    "--as", "form", values=["context", "graph", "cypher"], default="context",
    help="Lines of paths; nodes and edges as JSON; a statement for Neo4j Browser, which writes nothing.",
)  # fmt: skip
@no_touch
def activate(
    run: Run, /, cue: tuple[str, ...], seeds: tuple[str, ...], explain: bool, form: str, no_touch: bool, **options: Any
) -> None:
    """Spread activation along links.

    Energy starts at the hits of a CUE, or at the given seeds. Each step reduces it by the weight of the link, the
    number of links of the node, and the match of the link's tags.
    """
    if not cue and not seeds:
        raise click.UsageError("say where energy starts: give a CUE, or --seed ID")
    if cue and seeds:
        raise click.UsageError("give a CUE or --seed, not both")
    if explain and form != "context":
        raise click.UsageError("give --explain or --as, not both")
    options["tags"] = list(options["tags"]) or None
    with run.open(vectors=bool(cue)) as memory:
        start: Any = (
            [(find_node(memory, name).id, energy) for name, energy in map(parse_seed, seeds)]
            if seeds
            else " ".join(cue)
        )
        found = list(memory.activate(start, record_access=not no_touch, **options))
        from cuetrail.recall.render.graph import ids_of

        nodes = memory.nodes(*ids_of(found))
        cypher = _cypher(run, memory, found) if form == "cypher" else ""
    print_activations(run, found, nodes, explain=explain, form=form, cypher=cypher)


def _cypher(run: Run, memory: Memory, found: list[Activation]) -> str:
    """Returns the Cypher statement that draws the paths. Prints a notice if this memory is not in a Neo4j database."""
    from cuetrail.recall.render.graph import to_cypher

    if not on_server(memory.address):
        run.notice(
            "this memory is a folder, and the statement draws what is in a Neo4j database: `cuetrail copy` it there"
        )
    return to_cypher(found, scope=memory.scope)


def parse_seed(given: str) -> tuple[str, float]:
    """Parses ID[=SCORE] to an id and its energy, 1 without a score. What follows `=` is part of the id if it is no
    number.
    """
    name, sign, score = given.rpartition("=")
    try:
        return (name, float(score)) if sign else (given, 1.0)
    except ValueError:
        return given, 1.0


def print_activations(
    run: Run, found: list[Activation], nodes: dict[str, Node], *, explain: bool, form: str, cypher: str
) -> None:
    """Prints activations in the form of `--as`, or as trees with `explain`; `cypher` is the statement that draws
    them.
    """
    from cuetrail.recall.render.graph import to_context, to_graph
    from cuetrail.recall.spread.activation import merge

    for one in found:
        if one.error is not None:
            run.notice(f"energy from {short_id(one.seed)} was lost: {one.error}")
    data: dict[str, Any] = {
        "activations": [one.to_dict() for one in found],
        "merged": [{"id": one.id, "energy": one.energy, "from": list(one.paths)} for one in merge(found)],
    }
    if form == "graph":
        # A graph is for programs, so it is JSON with or without --json.
        run.json, data = True, to_graph(found, nodes)
    if form == "cypher":
        run.result({"cypher": cypher}, cypher)
    elif run.json or any(one.paths for one in found):
        run.result(data, "\n\n".join(_tree(one, nodes) for one in found) if explain else to_context(found, nodes))
    else:
        run.notice(
            "no link passed on energy" if found else "nothing is remembered on this, so energy has nowhere to start"
        )


def _tree(one: Activation, nodes: Mapping[str, Node]) -> str:
    """Returns a seed with the tree of its paths and the energy of each step."""
    about = f"  about {hashtags(one.tags)}" if one.tags else ""
    head = f"{click.style(_id_and_title(one.seed, nodes), bold=True)}  {one.score:.3f}{about}"
    lines = [head if one.reason == "complete" else f"{head}  {one.reason}"]
    branches: dict[str, dict[str, Hop]] = {}
    for hop in (hop for path in one.paths for hop in path.hops):
        branches.setdefault(hop.src, {})[hop.dst] = hop

    def draw(id_: str, before: str) -> None:
        steps = sorted(branches.get(id_, {}).values(), key=lambda hop: -hop.energy)
        for position, hop in enumerate(steps, 1):
            last = position == len(steps)
            weight = "?" if hop.weight is None else f"{hop.weight:g}"
            edge = click.style(f"{hop.kind} {weight} {hashtags(hop.tags)}".rstrip(), dim=True)
            arrow = "→" if hop.outgoing else "←"
            lines.append(
                f"{before}{'└' if last else '├'}─ {hop.energy:.3f} {arrow} {_id_and_title(hop.dst, nodes)}  {edge}"
            )
            draw(hop.dst, before + ("   " if last else "│  "))

    draw(one.seed, "")
    return "\n".join(lines)


def _id_and_title(id_: str, nodes: Mapping[str, Node]) -> str:
    name = node_title(nodes[id_], 60) if id_ in nodes else ""
    return short_id(id_) if name in ("", id_) else f"{short_id(id_)}  {name}"
