"""`cuetrail explore`, `brief` and `traverse`: survey a topic, sum up the owner, follow links."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from cuetrail.cli.command import Run, verb
from cuetrail.cli.options import choice, find_node, no_touch, node_filters, number, several, share
from cuetrail.cli.output import node_title, short_id
from cuetrail.model import Budget

if TYPE_CHECKING:
    from cuetrail.explore.explore import Exploration, Item, Relationship
    from cuetrail.recall.spread.traversal_pagerank import Arrival

F = TypeVar("F", bound=Callable[..., Any])
_LEVEL = click.IntRange(1, 5)
_FILTERS = ("min_attitude", "max_attitude", "min_proximity", "max_proximity")


def with_relationship_filters(command: F) -> F:
    """Adds the options that filter relationships to a command."""
    for option in (
        several("--not-type", "exclude", metavar="TYPE", help="Not along this type; repeatable."),
        several("--type", "types_", help="Only along this type; repeatable."),
        *(
            click.option(f"--{bound}-{level}", metavar="1-5", type=_LEVEL, help=f"{level.capitalize()} at {word}.")
            for level in ("proximity", "attitude")
            for bound, word in (("max", "most"), ("min", "least"))
        ),
    ):
        command = option(command)
    return command


def relationship_filters(options: dict[str, Any]) -> dict[str, Any]:
    """Removes the relationship filters from the options and returns them."""
    found = {name: options.pop(name) for name in _FILTERS}
    types_, without = list(options.pop("types_")), list(options.pop("exclude"))
    return {**found, "relationship_types": types_ or None, "exclude_relationship_types": without or None}


@verb(
    "cuetrail explore the job offer",
    "cuetrail explore --match 'Ines Okafor' --min-attitude 4",
    "cuetrail explore the antenna --granularity 2 --deep --explain",
)
@click.argument("query", metavar="[QUERY]...", nargs=-1)
@several("--also", "more", metavar="QUERY", help="Another query; repeatable.")
@several("--match", "text_matches", metavar="TEXT", help="A name, a tag, or the text of a relationship; repeatable.")
@share("--threshold", help="The least similarity to a query. [default: 0.2]")
@number("--granularity", least=1, most=3, default=1, help="1: single sources; 2: storylines; 3: macros.")
@click.option("--multi", "multi_query", is_flag=True, help="Also search with two or three variants of each query.")
@click.option("--deep", is_flag=True, help="Like --multi, with more candidates.")
@with_relationship_filters
@several(
    "--weight", "weights", metavar="PART=X",
    help="The weight of semantic, time or salience; repeatable. [default: 0.3, 0.3, 0.4]",
)  # fmt: skip
@choice(
    "--fuzzy", values=["levenshtein", "jaro_winkler", "token_overlap", "phonetic"], default="levenshtein",
    help="How names are compared.",
)  # fmt: skip
@node_filters("nodes", "kind")
@click.option("--explain", is_flag=True, help="Show the parts of each score.")
@no_touch
def explore(
    run: Run, /, query: tuple[str, ...], more: tuple[str, ...], threshold: float | None, deep: bool, no_touch: bool,
    weights: tuple[str, ...], **options: Any,
) -> None:  # fmt: skip
    """Survey a topic.

    Finds people, concepts and entities with their relationships, events, and artifacts: by the meaning of a QUERY and
    by matching names, scored by meaning, time and salience.
    """
    texts = [text for text in (" ".join(query), *more) if text.strip()]
    if not texts and not options["text_matches"]:
        raise click.UsageError("say what to explore: give a QUERY, or --match TEXT")
    queries = [{"query": text, "threshold": threshold} for text in texts]
    filters = relationship_filters(options)
    with run.open(vectors=bool(texts)) as memory:
        found = memory.explore(
            queries, mode="deep" if deep else "fast", weights=_weights(weights), relationship_filters=filters,
            record_access=not no_touch, **options,
        )  # fmt: skip
    for notice in found.meta["notices"]:
        run.notice(notice)
    if found.answerable or run.json:
        run.result(found.to_dict(), "\n".join(_exploration_lines(found, options["explain"])))
    else:
        run.notice("nothing is remembered on this")


def _weights(given: tuple[str, ...]) -> dict[str, float] | None:
    found = {}
    for one in given:
        name, sign, value = one.partition("=")
        try:
            found[name.strip()] = float(value) if sign else float("nan")
        except ValueError:
            found[name.strip()] = float("nan")
    return found or None


def _exploration_lines(found: Exploration, explain: bool) -> list[str]:
    """Returns the lines of all parts of an exploration that are not empty."""
    lines: list[str] = []
    for name, items in found.groups.items():
        lines += [name, *(line for item in items for line in _item_lines(item, explain))] if items else []
    relationships = found.semantic.relationships
    return lines + (
        ["relationships", *(line for one in relationships for line in _relationship_lines(one, explain))]
        if relationships
        else []
    )


def _item_lines(item: Item, explain: bool) -> list[str]:
    line = f"  {item.score:.3f}  {short_id(item.node.id)}  {node_title(item.node, 70)}"
    if item.detail == "minimal":
        return [f"  {short_id(item.node.id)}  {node_title(item.node, 70)}"]
    lines = [line + (f"  {_score_parts(item.why)}" if explain else "")]
    lines += [f"      note: {note}" for note in item.notes]
    for name in ("sources", "storylines", "mentioned", "neighbours"):
        names = [one.name or one.summary or one.id for one in getattr(item, name)]
        lines += [f"      {name}: {', '.join(names)}"] if names else []
    return lines


def _relationship_lines(one: Relationship, explain: bool) -> list[str]:
    edge = one.edge
    levels = [
        f"{name} {value}" for name, value in (("attitude", edge.attitude), ("proximity", edge.proximity)) if value
    ]
    line = f"  {one.score:.3f}  {short_id(edge.src)} - {edge.type or edge.kind} - {short_id(edge.dst)}"
    line = "  ".join(
        [line, *levels, *([edge.text] if edge.text else []), *([_score_parts(one.why)] if explain else [])]
    )
    return [line, *(f"      note: {note}" for note in one.notes)]


def _score_parts(why: Any) -> str:
    return "(" + ", ".join(f"{name} {why[name]:.3f}" for name in ("semantic", "time", "salience")) + ")"


@verb("cuetrail brief", "cuetrail brief --tokens 600 --json")
@number("--tokens", default=1300, help="The most tokens to print.")
@no_touch
def brief(run: Run, /, tokens: int, no_touch: bool) -> None:
    """Print a summary for the start of a conversation.

    The owner of the memory, 10 core beliefs, 5 goals, 10 relationships, and the last 7 days. What is printed counts as
    used, unless --no-touch is given.
    """
    with run.open(vectors=False) as memory:
        found = memory.brief(budget=Budget(tokens=tokens), record_access=not no_touch)
    run.result(found.to_dict(), found.text)


def with_traversal(command: F) -> F:
    """Adds the options that say how far, and in which way, edges are followed."""
    options = (
        click.option("--rank", is_flag=True, help="Rank nodes by a random walk (PageRank) instead of hops."),
        number("--hops", "max_hops", least=1, most=3, default=1, help="The number of hops, 1 to 3."),
        choice("--direction", values=["out", "in", "both"], default="both", help="The direction of edges."),
        number("--depth", most=10, default=3, help="With --rank: the number of hops the walk goes, up to 10."),
        click.option(
            "--damping", metavar="X", type=click.FloatRange(0, 0.99), default=0.85, show_default=True,
            help="With --rank: the chance that the walk continues instead of restarting.",
        ),
        number("--top", "top_k", least=1, default=20, help="With --rank: at most this many nodes."),
        number("--limit", least=1, default=100, help="Without --rank: at most this many nodes."),
    )  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


@verb(
    "cuetrail traverse 'Ines Okafor' --hops 2",
    "cuetrail traverse A0 B0 --rank --top 10",
    "cuetrail traverse 'Ines Okafor' --direction out --min-attitude 4",
)
@click.argument("start", metavar="NODE...", nargs=-1, required=True)
@with_traversal
@with_relationship_filters
@node_filters("through nodes")
@no_touch
def traverse(run: Run, /, start: tuple[str, ...], rank: bool, no_touch: bool, **options: Any) -> None:
    """Follow links from nodes, given by id or name."""
    given = given_parameters()
    check_extent(rank)
    filters = relationship_filters(options)
    with run.open(vectors=False) as memory:
        found = memory.traverse(
            [find_node(memory, one).id for one in start], mode="ppr" if rank else "hops",
            relationship_filters=filters, record_access=not no_touch, **options,
        )  # fmt: skip
    if found.arrivals or run.json:
        run.result(found.to_dict(), "\n".join(map(arrival_line, found.arrivals)))
    else:
        filters_given = given - {"start", "rank", "max_hops", "depth", "damping", "top_k", "limit", "no_touch"}
        run.notice("no link leads from there to what you ask for" if filters_given else "no link leads on from there")


def check_extent(rank: bool) -> None:
    """Raises UsageError for an option of hops together with --rank, or one of a random walk without it."""
    given = given_parameters()
    if rank and "max_hops" in given:
        raise click.UsageError("--hops counts links: leave out --rank, or say --depth")
    if rank and "limit" in given:
        raise click.UsageError("--limit is of hops: leave out --rank, or say --top")
    if not rank and (wrong := given & {"depth", "damping", "top_k"}):
        name = min(wrong).removesuffix("_k")
        raise click.UsageError(f"--{name} is of a random walk: say --rank with it")


def given_parameters() -> set[str]:
    """Returns the names of parameters that were given on the command line."""
    context = click.get_current_context()
    default = click.core.ParameterSource.DEFAULT
    return {name for name in context.params if context.get_parameter_source(name) is not default}


def arrival_line(one: Arrival) -> str:
    """Returns the line of a node that a traversal reached."""
    lead = f"{one.hops}" if one.score is None else f"{one.score:.4f}"
    return f"{lead}  {short_id(one.node.id)}  {one.node.kind}  {node_title(one.node, 60)}"
