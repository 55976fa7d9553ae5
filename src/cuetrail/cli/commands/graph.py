"""`cuetrail graph check`, `activate`, `traverse` and `get`: a graph of your own on a Neo4j server, read in place."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from cuetrail.cli import output
from cuetrail.cli.command import Run, group, verb
from cuetrail.cli.commands.activate import parse_seed, print_activations
from cuetrail.cli.commands.explore import arrival_line, check_extent, with_traversal
from cuetrail.cli.options import choice, number, several, share
from cuetrail.cli.output import count_of
from cuetrail.errors import NotFound

if TYPE_CHECKING:
    from cuetrail.graph import Graph
    from cuetrail.model.graph_mapping import GraphFinding

F = TypeVar("F", bound=Callable[..., Any])

_TEXTS = {
    "id": "Property that is the id of a node; elementId() for the server's own.",
    "weight": "Property that is the weight of a relationship.",
    "tags": "Property that has the tags of a relationship.",
    "tag_separator": "What divides tags that are one text, such as a comma.",
    "edge_id": "Property that is the id of a relationship. [default: elementId()]",
    "name": "Property that is the name of a node.",
    "text": "Property that is the text of a node.",
    "time": "Property that is the time of a node.",
    "fulltext": "Full-text index, for questions in place of ids.",
}
_LISTS = {"labels": "--label", "types": "--type"}
_NUMBERS = {
    "weight_scale": "The largest weight; it counts as 1.",
    "missing_weight": "The weight of an edge without one.",
}


def with_mapping(command: F) -> F:
    """Adds the address of the server, and the options that make up a mapping."""
    for name, text in reversed(_NUMBERS.items()):
        command = click.option(f"--{name.replace('_', '-')}", metavar="X", type=float, help=text)(command)
    for name, text in reversed(_TEXTS.items()):
        command = click.option(f"--{name.replace('_', '-')}", name, metavar="NAME", help=text)(command)
    command = choice("--id-type", values=["text", "integer"], help="Type of the ids. [default: text]")(command)
    command = several("--type", "types", help="Only relationships of this type; repeatable.")(command)
    command = several("--label", "labels", help="Only nodes with this label; repeatable.")(command)
    command = click.option(
        "--map", "file", metavar="FILE", type=click.Path(path_type=Path),
        help="TOML file with the mapping; the options below win over it.",
    )(command)  # fmt: skip
    return click.argument("address")(command)


@group(
    "cuetrail graph check neo4j://reader@host:7687/research --label Memory --type RELATES --id uid",
    "cuetrail graph activate neo4j://reader@host --map graph.toml --seed A0=0.9 --query-tag camp",
)
def graph() -> None:
    """Activate, traverse and read a graph of your own, in place.

    The graph is in a Neo4j database; a mapping says which labels, relationship types and properties mean what. Nothing
    is copied, and nothing written. User name and password come from the address, or NEO4J_USER and NEO4J_PASSWORD.
    """


@contextlib.contextmanager
def _opened(run: Run, address: str, file: Path | None, options: dict[str, Any]) -> Iterator[Graph]:
    """Opens a graph and takes the options of its mapping out of `options`."""
    from cuetrail.graph import Graph
    from cuetrail.validation.graph_mapping import load_mapping, make_mapping

    given = {name: options.pop(name) for name in (*_LISTS, *_TEXTS, *_NUMBERS, "id_type")}
    base = load_mapping(file) if file is not None else None
    mapping = make_mapping({name: value for name, value in given.items() if value not in (None, ())}, base)
    with output.warnings(run.quiet), Graph(address, mapping) as opened:
        yield opened


@verb(
    "cuetrail graph check neo4j://reader@host:7687/research --label Memory --type RELATES --id uid",
    "cuetrail graph check bolt://localhost --map graph.toml --json",
)
@with_mapping
def check(run: Run, /, address: str, file: Path | None, **options: Any) -> None:
    """Say how a mapping fits a graph, and which index is missing.

    Looks at up to 10,000 nodes and relationships. Ends with exit code 1 if something does not fit.
    """
    with _opened(run, address, file, options) as opened:
        found = opened.check()
    lines = [f"{count_of(found.nodes, 'node')}, {count_of(found.edges, 'relationship')}"]
    run.result(found.to_dict(), "\n".join(lines + [line for one in found.findings for line in _finding_lines(one)]))
    if not found.fits:
        click.get_current_context().exit(1)


def _finding_lines(one: GraphFinding) -> list[str]:
    colour = {"fits": "green", "advice": "yellow", "fault": "red"}[one.level]
    lines = [f"{click.style(one.level.ljust(6), fg=colour)}  {one.check.ljust(8)}  {one.message}"]
    return [*lines, f"{' ' * 18}{one.fix}"] if one.fix else lines


@verb(
    "cuetrail graph activate neo4j://reader@host --map graph.toml --seed A0=0.9 --query-tag camp --depth 3",
    "cuetrail graph activate neo4j://reader@host --map graph.toml why is the receiver silent --explain",
)
@with_mapping
@click.argument("question", metavar="[QUESTION]...", nargs=-1)
@several(
    "--seed", "seeds", metavar="ID[=SCORE]",
    help="Start at this node with this much energy [default: 1], instead of a question; repeatable.",
)  # fmt: skip
@several("--query-tag", "query_tags", metavar="TAG", help="Edges with this tag pass more energy; repeatable.")
@number("--depth", "max_depth", default=5, help="Hops.")
@number("--branches", "max_branches", default=3, help="Neighbours to which a node passes energy.")
@share("--min-activation", default=0.005, help="Stop below this energy.")
@share("--tag-floor", "tag_sim_floor", default=0.15, help="The share of energy that an edge without a tag passes.")
@choice("--claim", values=["energy", "frontier"], default="energy", help="Which path claims a shared node.")
@number("--limit", default=5, help="Seeds from a question.")
@click.option("--explain", is_flag=True, help="Draw the tree of paths with the energy of each step.")
@choice(
    "--as", "form", values=["context", "graph", "cypher"], default="context",
    help="Lines of paths; nodes and edges as JSON; a statement that draws the paths and writes nothing.",
)  # fmt: skip
def activate(
    run: Run, /, address: str, file: Path | None, question: tuple[str, ...], seeds: tuple[str, ...],
    query_tags: tuple[str, ...], explain: bool, form: str, **options: Any,
) -> None:  # fmt: skip
    """Spread activation along the relationships of a graph of your own.

    Energy starts at the given seeds, or at what a QUESTION finds by the full-text index.
    """
    if bool(question) == bool(seeds):
        raise click.UsageError("say where energy starts: give --seed ID, or a QUESTION")
    if explain and form != "context":
        raise click.UsageError("give --explain or --as, not both")
    with _opened(run, address, file, options) as opened:
        start: Any = [parse_seed(seed) for seed in seeds] or " ".join(question)
        found = list(opened.activate(start, tags=query_tags, **options))
        from cuetrail.recall.render.graph import ids_of

        nodes = opened.nodes(*ids_of(found))
        cypher = opened.to_cypher(found) if form == "cypher" else ""
    for one in found:
        if one.reason == "seed_not_found":
            run.notice(f"no node of the graph has the id {one.seed!r}: `cuetrail graph check` says what is mapped")
    print_activations(run, found, nodes, explain=explain, form=form, cypher=cypher)


@verb("cuetrail graph traverse neo4j://reader@host --map graph.toml A0 --hops 2")
@with_mapping
@click.argument("start", metavar="ID...", nargs=-1, required=True)
@with_traversal
def traverse(run: Run, /, address: str, file: Path | None, start: tuple[str, ...], rank: bool, **options: Any) -> None:
    """Follow the relationships of a graph of your own from nodes, given by id."""
    check_extent(rank)
    with _opened(run, address, file, options) as opened:
        found = opened.traverse(start, mode="ppr" if rank else "hops", **options)
    if found.arrivals or run.json:
        run.result(found.to_dict(), "\n".join(map(arrival_line, found.arrivals)))
    else:
        run.notice("no relationship leads on from there")


@verb("cuetrail graph get neo4j://reader@host --map graph.toml A0")
@with_mapping
@click.argument("id_", metavar="ID")
def get(run: Run, /, address: str, file: Path | None, id_: str, **options: Any) -> None:
    """Show a node of a graph of your own."""
    from cuetrail.model import node_dict

    with _opened(run, address, file, options) as opened:
        node = opened.get(id_)
    if node is None:
        raise NotFound(f"no node of the graph has the id {id_!r}: `cuetrail graph check` says what is mapped")
    title = f"{node.id}  {node.kind}" + (f"  {node.name}" if node.name else "")
    lines = [title, *([node.text] if node.text else []), *(f"{key}: {value}" for key, value in node.props.items())]
    run.result(node_dict(node), "\n".join(lines))


for command in (check, activate, traverse, get):
    graph.add_command(command)
