"""`cuetrail get`, `timeline`, `labels`, `stats`, `savings`: look through a memory, and at its counts, without a
question.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from cuetrail.cli.command import Run, verb
from cuetrail.cli.options import choice, find_node, node_filters, number, start_time
from cuetrail.cli.output import count_of, first_of, hashtags, node_title, short_id, shown_bucket, table, utc_time
from cuetrail.model import Edge, Fact, Neighbour, Node, Savings, Stats, Version, node_dict
from cuetrail.store.read import LABEL_KINDS

if TYPE_CHECKING:
    from cuetrail.memory import Memory

# A link takes one line of a terminal of 80 columns.
LINKS_SHOWN, LINK_WIDTH = 10, 55
# The savings of more days than this are added up by month.
MOST_DAYS = 31


@verb("cuetrail get 'Cold connector'", "cuetrail get A0 --history --json")
@click.argument("id")
@click.option("--history", is_flag=True, help="Also show earlier versions.")
def get(run: Run, id: str, history: bool) -> None:
    """Show one node with its text, tags, strongest links and facts.

    The node is given by id, by the first 6 or more digits of its id, or by name.
    """
    with run.open() as memory:
        data, text = _describe(memory, find_node(memory, id), history)
    run.result(data, text)


def _describe(memory: Memory, node: Node, with_history: bool) -> tuple[dict[str, Any], str]:
    """Returns a node with its links and facts, `with_history` also its versions, as data and as text."""
    around = memory.neighbours(node.id, LINKS_SHOWN)
    steps = [
        (step, other, edge)
        for step in around.neighbours
        if (other := memory.get(step.id)) is not None and (edge := memory.edge(step.edge)) is not None
    ]
    facts = memory.facts(node.id)
    objects = {fact.object: memory.get(fact.object) for fact in facts if fact.object is not None}
    names = {id_: node_title(other) for id_, other in objects.items() if other is not None}
    data: dict[str, Any] = {
        "node": node_dict(node),
        "degree": around.degree,
        "neighbours": [
            {**asdict(step), "name": node_title(other), "type": edge.type, "text": edge.text}
            for step, other, edge in steps
        ],
        "facts": [asdict(fact) for fact in facts],
    }
    parts = [_node_text(node)]
    parts += [_neighbours_text(around.degree, steps)] if steps else []
    parts += [_facts_text(facts, names)] if facts else []
    if with_history:
        versions = memory.history(node.id)
        data["history"] = [asdict(version) for version in versions]
        parts.append(_history_text(versions))
    return data, "\n\n".join(parts)


def _node_text(found: Node) -> str:
    """Returns the fields and the text of a node."""
    rows = [
        *(("id", found.id), ("kind", found.kind), ("name", found.name or ""), ("aliases", ", ".join(found.aliases))),
        *(("tags", hashtags(found.own_tags)), ("automatic", hashtags(found.automatic_tags))),
        ("buckets", ", ".join(map(shown_bucket, found.buckets))),
        *(("from", found.source or ""), ("time", utc_time(found.at))),
        ("state", f"{found.life.state}, salience {found.life.salience:.2f}, {found.provenance}"),
        # Lists and mappings are left to --json.
        *((f"  {name}", str(value)) for name, value in found.props.items() if not isinstance(value, dict | list)),
    ]
    head = "\n".join(f"{label:<10} {value}" for label, value in rows if value)
    return f"{head}\n\n{found.text}" if found.text else head


def _neighbours_text(degree: int, found: Sequence[tuple[Neighbour, Node, Edge]]) -> str:
    """Returns the strongest links of a node, with their type, text and levels."""
    lines = [f"Links ({len(found)} of {degree}, the strongest first)"]
    for step, other, edge in found:
        weight = "  ?  " if step.weight is None else f"{step.weight:.3f}"
        arrow = "→" if step.outgoing else "←"
        lines.append(
            f"  {arrow} {weight} {step.kind:<10} {node_title(other, LINK_WIDTH)}  {hashtags(step.tags)}".rstrip()
        )
        details = [f"({edge.type})" if edge.type else "", edge.text]
        levels = ("attitude", edge.attitude), ("proximity", edge.proximity)
        details += [f"{name} {level}" for name, level in levels if level is not None]
        if any(details):
            lines.append(" " * 21 + " ".join(filter(None, details)))
    return "\n".join(lines)


def _facts_text(found: Sequence[Fact], names: Mapping[str, str]) -> str:
    """Returns the facts of a node, one per line; `names` are the titles of object nodes."""
    lines = ["Facts"]
    for fact in found:
        value = names.get(fact.object, fact.object) if fact.object is not None else fact.value
        lines.append(f"  {fact.predicate} {value}  ({fact.confidence:.2f}, {fact.status})")
    return "\n".join(lines)


def _history_text(found: Sequence[Version]) -> str:
    """Returns the earlier versions of a node, oldest first."""
    lines = ["Before" if found else "Never corrected"]
    for version in found:
        text = f"{version.name}: {version.text}" if version.name else version.text
        lines.append(f"  until {utc_time(version.at)}: {text}")
    return "\n".join(lines)


@verb(
    "cuetrail timeline --limit 20",
    "cuetrail timeline --tag radio --since 2025-01-01",
    "cuetrail timeline --provenance quarantine",
)
@node_filters("memories")
@choice("--provenance", values=["internal", "external", "quarantine"], help="Only memories of this trust level.")
@number("--limit", least=1, default=50, help="At most this many.")
@click.option("--after", metavar="PLACE", help="Continue after this position, which the previous page printed.")
def timeline(run: Run, /, **options: Any) -> None:
    """List memories, newest first."""
    with run.open() as memory:
        found = memory.timeline(**options)
    lines = [f"{utc_time(node.at):16}  {short_id(node.id):8}  {node_title(node)}" for node in found.nodes]
    run.result(found.to_dict(), "\n".join(lines) or "nothing is here")
    if found.more is not None:
        run.notice(f"there is more: --after {found.more}")


@verb("cuetrail labels", "cuetrail labels bucket", "cuetrail labels automatic --prefix project:")
@click.argument("what", type=click.Choice(LABEL_KINDS), default="tag")
@click.option("--prefix", metavar="TEXT", default="", help="Only those that begin with this text.")
@number("--limit", least=1, default=1000, help="At most this many.")
def labels(run: Run, /, what: Any, prefix: str, limit: int) -> None:
    """List tags or buckets, with how many memories have each.

    They are the tags that people gave, unless automatic tags or buckets are asked for. Ingest and dreams give automatic
    tags, from paths, times and texts. A tag that came both ways is in both lists.
    """
    with run.open() as memory:
        found = memory.labels(what, prefix=prefix, limit=limit)
    shown = shown_bucket if what == "bucket" else str
    lines = (f"{one.nodes:>8,}  {shown(one.name)}" for one in found)
    run.result([{"name": one.name, "nodes": one.nodes} for one in found], "\n".join(lines) or "there are none")


@verb("cuetrail stats", "cuetrail stats --json --user anna --team birds")
def stats(run: Run) -> None:
    """Count what the memory holds, and name the models in use.

    Counts nodes, edges, facts, tags, vectors and forgotten texts.
    """
    with run.open(rerank=True) as memory:
        found = memory.stats()
        run.result({"memory": memory.address, **asdict(found)}, _stats_table(found, memory.address))


def _stats_table(found: Stats, address: str) -> str:
    """Returns the counts as a table."""
    kinds = ", ".join(f"{name} {number:,}" for name, number in found.kinds.items())
    largest = sorted(found.buckets.items(), key=lambda one: (-one[1], one[0]))
    buckets = first_of([f"{shown_bucket(name)} {number:,}" for name, number in largest])
    cache = found.narratives
    rows = [
        ("memory", address),
        ("holds", _holdings(found.kinds)),
        ("nodes", f"{found.nodes:,}" + (f"  ({kinds})" if kinds else "")),
        ("edges", f"{found.edges:,}"),
        ("facts", f"{found.facts:,}"),
        ("remarks", f"{found.notes:,}"),
        ("mentions", f"{found.mentions:,}"),
        ("tags", f"{found.tags:,}  (and {found.automatic_tags:,} automatic)"),
        ("buckets", buckets or "none"),
        ("vectors", f"{found.vectors:,}" + (f"  ({found.embedder})" if found.embedder else "")),
        ("reranker", found.reranker or "none"),
        ("forgotten", f"{found.tombstones:,}"),
        ("narratives", f"cache: {cache.get('hits', 0):,} hits, {cache.get('misses', 0):,} builds"),
        ("schema", str(found.schema)),
    ]
    return "\n".join(f"{label:<10} {value}" for label, value in rows)


# How people call the nodes of a kind: one, and several.
_KINDS = {
    "source": ("note", "notes"), "atom": ("passage", "passages"), "person": ("person", "people"),
    "entity": ("name", "names"), "concept": ("concept", "concepts"),
}  # fmt: skip


def _holdings(kinds: Mapping[str, int]) -> str:
    """Returns what a memory holds in the words of people; without files, a text is a memory and no passage.

    >>> _holdings({"atom": 18261, "source": 6571}), _holdings({"atom": 1})
    ('6,571 notes, 18,261 passages', '1 memory')
    """
    names = _KINDS if kinds.get("source") else {**_KINDS, "atom": ("memory", "memories")}
    parts = [count_of(kinds[kind], *names[kind]) for kind in _KINDS if kinds.get(kind)]
    others = sum(number for kind, number in kinds.items() if kind not in _KINDS)
    return ", ".join([*parts, *([count_of(others, "other")] if others else [])]) or "nothing yet"


@verb("cuetrail savings", "cuetrail savings --since '30 days ago'", "cuetrail savings --json")
@click.option("--since", metavar="WHEN", callback=start_time, help="Only answers from this day on: a date, or words.")
def savings(run: Run, since: int | None) -> None:
    """Show how many tokens agents were spared.

    Counts what recall, explore and brief handed to programs, per day (UTC): how many answers, their tokens, and the
    tokens of the notes they were made from, had an agent read those whole. What you read on the terminal or the page
    does not count. The counts stay on this machine, beside the memory.
    """
    with run.open() as memory:
        found = memory.savings(since=since)
    run.result(found.to_dict(), "\n".join(_lines(found)))


def _lines(found: Savings) -> list[str]:
    if not found.answers:
        return ["no answers yet: they count when a program asks, such as an agent over MCP or a pipe"]
    notes = f"their {count_of(found.notes, 'note')}" if found.notes else "no notes"
    first = (
        f"{count_of(found.answers, 'answer')}, {count_of(found.tokens, 'token')}; reading {notes} whole would have been"
        f" {count_of(found.whole, 'token')}"
    )
    return [first] if len(found.days) == 1 else [first, "", *_periods(found)]


def _periods(found: Savings) -> list[str]:
    """Returns a table by day; by month if there are many days."""
    by_day = len(found.days) <= MOST_DAYS
    sums: dict[str, list[int]] = {}
    for day in found.days:
        row = sums.setdefault(day.day if by_day else day.day[:7], [0, 0, 0, 0])
        row[:] = map(sum, zip(row, (day.answers, day.tokens, day.notes, day.whole), strict=True))
    rows = [(period, *(f"{number:,}" for number in row)) for period, row in sums.items()]
    return table([("day" if by_day else "month", "answers", "tokens", "notes", "read whole"), *rows])
