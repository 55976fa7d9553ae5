"""The verbs that look around: along edges, and from every side."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from cuetrail.cli import parse, present
from cuetrail.cli.command import Run, pass_run, verb
from cuetrail.cli.node_argument import meant

if TYPE_CHECKING:
    from cuetrail.explore.explore import Exploration, Item, Relationship
    from cuetrail.recall.spread.traversal import Arrival

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
    "--damping", metavar="X", type=click.FloatRange(0, 0.99), default=0.85, show_default=True,
    help="With --rank: how likely a step goes on rather than home.",
)  # fmt: skip
@click.option("--top", "top_k", metavar="N", type=click.IntRange(1), default=20, show_default=True, help="With --rank.")
@click.option("--limit", metavar="N", type=click.IntRange(1), default=100, show_default=True, help="At most so many.")
@filtered
@click.option("--kind", "kinds", metavar="KIND", multiple=True, help="Only through nodes of this kind; repeatable.")
@click.option("--tag", "tags", metavar="TAG", multiple=True, help="Only through what has this tag; repeatable.")
@click.option("--bucket", "buckets", metavar="BUCKET", multiple=True, help="Only through what is in it; repeatable.")
@click.option("--since", metavar="WHEN", callback=parse.start, help="Only through what is from this time on.")
@click.option("--until", metavar="WHEN", callback=parse.end, help="Only through what is up to this time.")
@click.option("--quarantined", "include_quarantined", is_flag=True, help="Also through what is in quarantine.")
@click.option("--archived", "include_archived", is_flag=True, help="Also through what has faded into the archive.")
@click.option("--no-touch", is_flag=True, help="Do not count this as a use of what is found.")
@pass_run
def traverse(run: Run, /, start: tuple[str, ...], rank: bool, no_touch: bool, **options: Any) -> None:
    """Follow links from nodes, given by id or name."""
    given = _given()
    strange = given & ({"max_hops"} if rank else {"depth", "damping", "top_k"})
    if strange:
        name = {"max_hops": "hops", "top_k": "top"}.get(min(strange), min(strange))
        rest = "counts links: leave out --rank, or say --depth" if rank else "is of a random walk: say --rank with it"
        raise click.UsageError(f"--{name} {rest}")
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
        narrow = given - {"start", "rank", "max_hops", "depth", "damping", "top_k", "limit", "no_touch"}
        run.notice("no link leads from there to what you ask for" if narrow else "no link leads on from there")


def _given() -> set[str]:
    """The parameters that were said, not left as they are."""
    context = click.get_current_context()
    default = click.core.ParameterSource.DEFAULT
    return {name for name in context.params if context.get_parameter_source(name) is not default}


def _line(one: Arrival) -> str:
    lead = f"{one.hops}" if one.score is None else f"{one.score:.4f}"
    return f"{lead}  {present.short(one.node.id)}  {one.node.kind}  {present.title(one.node, 60)}"


@verb(
    "explore",
    "cuetrail explore the job offer",
    "cuetrail explore --match 'Ines Okafor' --min-attitude 4",
    "cuetrail explore the antenna --granularity 2 --deep --explain",
)
@click.argument("query", metavar="[QUERY]...", nargs=-1)
@click.option("--also", "more", metavar="QUERY", multiple=True, help="Another query; repeatable.")
@click.option(
    "--match", "text_matches", metavar="TEXT", multiple=True, help="A name, a tag, or what a relationship says."
)
@click.option(
    "--threshold",
    metavar="X",
    type=click.FloatRange(0, 1),
    help="How near to a query something must be. [default: 0.2]",
)
@click.option(
    "--granularity", metavar="N", type=click.IntRange(1, 3), default=1, show_default=True,
    help="1: single sources; 2: storylines; 3: macros.",
)  # fmt: skip
@click.option("--multi", "multi_query", is_flag=True, help="Ask from two or three more sides.")
@click.option("--deep", is_flag=True, help="The same, and look at more of what is found.")
@filtered
@click.option(
    "--weight", "weights", metavar="PART=X", multiple=True,
    help="How much a part counts: semantic, time or salience; repeatable. [default: 0.3, 0.3, 0.4]",
)  # fmt: skip
@click.option(
    "--fuzzy", type=click.Choice(["levenshtein", "jaro_winkler", "token_overlap", "phonetic"]), default="levenshtein",
    show_default=True, help="How names are compared.",
)  # fmt: skip
@click.option("--tag", "tags", metavar="TAG", multiple=True, help="Only what has this tag; repeatable.")
@click.option("--bucket", "buckets", metavar="BUCKET", multiple=True, help="Only what is in this bucket; repeatable.")
@click.option("--since", metavar="WHEN", callback=parse.start, help="Only what is from this time on.")
@click.option("--until", metavar="WHEN", callback=parse.end, help="Only what is up to this time.")
@click.option("--quarantined", "include_quarantined", is_flag=True, help="Also what is in quarantine.")
@click.option("--archived", "include_archived", is_flag=True, help="Also what has faded into the archive.")
@click.option("--explain", is_flag=True, help="Show what each score is made of.")
@click.option("--no-touch", is_flag=True, help="Do not count this as a use of what is found.")
@pass_run
def explore(
    run: Run, /, query: tuple[str, ...], more: tuple[str, ...], threshold: float | None, deep: bool, no_touch: bool,
    weights: tuple[str, ...], **options: Any,
) -> None:  # fmt: skip
    """Look at a topic from every side.

    People, concepts and entities with their relationships, what happened, and artifacts: found by what a QUERY means
    and by names that match, scored by meaning, time and salience.
    """
    asked = [text for text in (" ".join(query), *more) if text.strip()]
    if not asked and not options["text_matches"]:
        raise click.UsageError("say what to explore: give a QUERY, or --match TEXT")
    queries = [{"query": text, "threshold": threshold} for text in asked]
    filters = relationship_filters(options)
    with run.open(vectors=bool(asked)) as memory:
        found = memory.explore(
            queries,
            mode="deep" if deep else "fast",
            weights=_weights(weights),
            relationship_filters=filters,
            record_access=not no_touch,
            **options,
        )
    for notice in found.meta["notices"]:
        run.notice(notice)
    if found.answerable or run.json:
        run.result(found.to_dict(), "\n".join(_explored(found, options["explain"])))
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


def _explored(found: Exploration, explain: bool) -> list[str]:
    """The parts of an exploration that have something in them, a line for each thing."""
    lines: list[str] = []
    parts = (
        ("people", found.semantic.people), ("concepts", found.semantic.concepts), ("entities", found.semantic.entities),
        ("sources", found.episodic.sources), ("storylines", found.episodic.storylines),
        ("macros", found.episodic.macros), ("artifacts", found.artifacts),
    )  # fmt: skip
    for name, items in parts:
        lines += [name, *(line for item in items for line in _item(item, explain))] if items else []
    related = found.semantic.relationships
    return lines + (["relationships", *(line for one in related for line in _related(one, explain))] if related else [])


def _item(item: Item, explain: bool) -> list[str]:
    told = f"  {item.score:.3f}  {present.short(item.node.id)}  {present.title(item.node, 70)}"
    if item.detail == "minimal":
        return [f"  {present.short(item.node.id)}  {present.title(item.node, 70)}"]
    lines = [told + (f"  {_parts(item.why)}" if explain else "")]
    lines += [f"      note: {note}" for note in item.notes]
    for name in ("sources", "storylines", "mentioned", "neighbours"):
        names = [one.name or one.summary or one.id for one in getattr(item, name)]
        lines += [f"      {name}: {', '.join(names)}"] if names else []
    return lines


def _related(one: Relationship, explain: bool) -> list[str]:
    edge = one.edge
    levels = [
        f"{name} {value}" for name, value in (("attitude", edge.attitude), ("proximity", edge.proximity)) if value
    ]
    told = f"  {one.score:.3f}  {present.short(edge.src)} - {edge.type or edge.kind} - {present.short(edge.dst)}"
    told = "  ".join([told, *levels, *([edge.text] if edge.text else []), *([_parts(one.why)] if explain else [])])
    return [told, *(f"      note: {note}" for note in one.notes)]


def _parts(why: Any) -> str:
    return "(" + ", ".join(f"{name} {why[name]:.3f}" for name in ("semantic", "time", "salience")) + ")"


@verb("brief", "cuetrail brief", "cuetrail brief --tokens 600 --json")
@click.option("--tokens", metavar="N", type=click.IntRange(0), default=1300, show_default=True, help="At most so long.")
@click.option("--no-touch", is_flag=True, help="Do not count this as a use of what is told.")
@pass_run
def brief(run: Run, /, tokens: int, no_touch: bool) -> None:
    """What to know at the start of a conversation.

    Whose memory this is, 10 core beliefs, 5 goals, 10 relationships, and the last 7 days.
    """
    from cuetrail.model import Budget

    with run.open(vectors=False) as memory:
        found = memory.brief(budget=Budget(tokens=tokens), record_access=not no_touch)
    run.result(found.to_dict(), found.text)


@verb(
    "relate",
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
@click.option("--text", metavar="TEXT", default="", help="What it is, in your own words.")
@click.option("--weight", metavar="NUMBER", type=float, help="How strong it is, from 0.25 to 1. Else unknown.")
@click.option("--confidence", metavar="0-1", type=float, help="How sure it is; at first 1, unless said.")
@click.option("--tag", "tags", metavar="TAG", multiple=True, help="A tag; repeatable.")
@click.option("--from", "valid_from", metavar="WHEN", callback=parse.start, help="Since when it is so.")
@click.option("--until", "valid_until", metavar="WHEN", callback=parse.end, help="Until when it was, or will be, so.")
@pass_run
def relate(run: Run, /, src: str, dst: str, **options: Any) -> None:
    """State how two people, concepts or entities stand to each other.

    What is not said stays as it was. Another type, attitude or proximity than was held begins a new relationship; the
    old one is history.
    """
    from cuetrail.explore.explore import Relationship

    with run.open(vectors=bool(options["text"]), anyway=True) as memory:
        one, other = meant(memory, src), meant(memory, dst)
        edge = memory.relate(one.id, other.id, **options)
    told = Relationship(edge, 0.0, {}).to_dict()
    told.pop("score")
    told |= {"valid_from": edge.valid_from, "valid_until": edge.valid_until}
    run.result(
        told, edge.id if run.quiet else f"{present.short(edge.src)} {edge.type or edge.kind} {present.short(edge.dst)}"
    )


@verb(
    "note",
    "cuetrail note 'Ines Okafor' 'on leave until Monday' --expires week",
    "cuetrail note 'Ines Okafor' 'likes tea'",
)
@click.argument("target", metavar="NODE")
@click.argument("text")
@click.option(
    "--expires", type=click.Choice(["week", "month", "year", "never"]), default="never", show_default=True,
    help="How long it stays.",
)  # fmt: skip
@pass_run
def note(run: Run, /, target: str, text: str, expires: str) -> None:
    """Put a remark on a node, or on a relationship by its id."""
    with run.open(vectors=True, anyway=True) as memory:
        on_edge = memory.get(target) is None and memory.edge(target) is not None
        made = memory.note(target if on_edge else meant(memory, target).id, text, expires=expires)
    told = {"id": made.id, "target": made.target, "on": made.on, "text": made.text, "expires": made.expires}
    run.result(told, made.id if run.quiet else f"noted on {present.short(made.target)}")
