"""The verbs that ask: recall, get, stats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cuetrail.cli import parse, present
from cuetrail.cli.command import Run, pass_run, verb
from cuetrail.cli.node_argument import meant

if TYPE_CHECKING:
    from cuetrail.memory import Memory
    from cuetrail.model import Node
    from cuetrail.recall.recipes import Recipe

LINKS_SHOWN = 10


@verb(
    "recall",
    "cuetrail recall why does the receiver go silent in frost",
    "cuetrail recall '#decision battery' --since 2025-01-01 --explain",
    "cuetrail recall antenna --recipe tag-walk --budget-chars 4000 --json",
)
@click.argument("cue", metavar="CUE...", nargs=-1, required=True)
@click.option("--budget-chars", metavar="N", type=click.IntRange(0), help="Print at most this many characters.")
@click.option(
    "--budget-tokens",
    metavar="N",
    type=click.IntRange(0),
    help="Print at most this many tokens. [default: 2000; with tag-walk 8000 characters]",
)
@click.option(
    "--limit",
    metavar="N",
    type=click.IntRange(1),
    help="At most this many hits. [default: 10; with tag-walk as many as the budget has room for]",
)
@click.option(
    "--recipe",
    type=click.Choice(["trail", "tag-walk", "energy", "explore"]),
    default="trail",
    show_default=True,
    help="By words, meaning, names and edges; by words and then along the tags and buckets of what they find; "
    "by words and meaning and then along links, as far as energy flows; or by words and meaning, time and "
    "salience.",
)
@click.option(
    "--mode",
    type=click.Choice(["all", "internal", "external"]),
    help="With tag-walk: rather your own memories (all, more so internal) or the others. [default: all]",
)
@click.option(
    "--rank",
    type=click.Choice(["idf", "gravity"]),
    help="With tag-walk: order what is walked to by the rarity of what it shares, or by its number, time and likeness. "
    "[default: idf]",
)
@click.option("--spill", is_flag=True, help="With tag-walk: what is found and what is walked to share their room.")
@click.option(
    "--min-results",
    metavar="N",
    type=click.IntRange(0),
    help="With tag-walk: read a cue that finds fewer again, more forgivingly. [default: 10]",
)
@click.option(
    "--tag", "tags", metavar="TAG", multiple=True, help="Only what has this tag; repeatable, all must be there."
)
@click.option("--bucket", "buckets", metavar="BUCKET", multiple=True, help="Only what is in this bucket; repeatable.")
@click.option("--kind", "kinds", metavar="KIND", multiple=True, help="Only nodes of this kind; repeatable.")
@click.option(
    "--since", metavar="WHEN", callback=parse.start, help="Only from this time on: an ISO date or time, or ms."
)
@click.option("--until", metavar="WHEN", callback=parse.end, help="Only up to this time; a date includes its day.")
@click.option("--quarantined", "include_quarantined", is_flag=True, help="Also what is in quarantine.")
@click.option("--archived", "include_archived", is_flag=True, help="Also what has faded into the archive.")
@click.option("--now", metavar="WHEN", callback=parse.end, help="When it is asked: what 'last week' is seen from.")
@click.option("--fuzzy", is_flag=True, help="Forgive typos in the words; nothing is then found by meaning.")
@click.option("--explain", is_flag=True, help="Draw why each hit is there, with its id.")
@click.option("--no-touch", is_flag=True, help="Do not count this as a use of what is found.")
@pass_run
def recall(run: Run, /, cue: tuple[str, ...], explain: bool, no_touch: bool, **options: Any) -> None:
    """Ask what is remembered on a cue.

    All words of the CUE belong to one question; "quoted words" must stand together, #tag and @bucket narrow it down,
    and a last word that ends in * stands for all that begin so. Where nothing is found, stderr says so and what was
    looked for.
    """
    recipe, walking = _walking(options)
    budget = budget_of(options)
    with run.open(vectors=walking is None) as memory:
        asked: dict[str, Any] = {**budget, **options, "record_access": not no_touch}
        if walking is None:
            found = memory.recall(" ".join(cue), recipe=_recipe(recipe), **asked)
        else:
            found = memory.tag_walk(" ".join(cue), **walking, **asked)
    for line in (*found.notices, *present.reading(found)):
        run.notice(line)
    if run.json or found.hits:
        run.result(found.to_dict(), present.explained(found) if explain else found.text)
    else:
        # Who reads the output must not take this for something remembered.
        run.notice(present.unanswered(found, options["fuzzy"]))


def _recipe(name: str) -> Recipe:
    from cuetrail.recall.recipes import BY_NAME

    return BY_NAME[name]


def _walking(options: dict[str, Any]) -> tuple[str, dict[str, Any] | None]:
    """The recipe and the options of a tag walk, taken out; None for other recipes, which have none of them."""
    recipe = options.pop("recipe")
    given = {name: options.pop(name) for name in ("mode", "rank", "spill", "min_results")}
    given = {name: value for name, value in given.items() if value is not None and value is not False}
    if recipe == "tag-walk":
        return recipe, given
    if given:
        raise click.UsageError(f"--{next(iter(given)).replace('_', '-')} goes with --recipe tag-walk")
    return recipe, None


def budget_of(options: dict[str, Any]) -> dict[str, Any]:
    """The budget that was asked for, taken out; nothing where the recipe's own will do."""
    from cuetrail.model import Budget

    chars, tokens = options.pop("budget_chars"), options.pop("budget_tokens")
    if chars is not None and tokens is not None:
        raise click.UsageError("give --budget-chars or --budget-tokens, not both")
    return {} if chars is None and tokens is None else {"budget": Budget(chars, tokens)}


@verb("get", "cuetrail get 'Cold connector'", "cuetrail get A0 --history --json")
@click.argument("id")
@click.option("--history", is_flag=True, help="Show what it said before it was corrected.")
@pass_run
def get(run: Run, id: str, history: bool) -> None:
    """Show one node.

    It is given by id, by the first 6 or more digits of one, or by name; its text, tags, strongest links and facts are
    printed.
    """
    with run.open() as memory:
        data, text = _described(memory, meant(memory, id), history)
    run.result(data, text)


def _described(memory: Memory, node: Node, with_history: bool) -> tuple[dict[str, Any], str]:
    """The node and what is around it, as data and as text."""
    from dataclasses import asdict

    from cuetrail.model import node_dict

    around = memory.neighbours(node.id, LINKS_SHOWN)
    steps = [
        (step, other, edge)
        for step in around.neighbours
        if (other := memory.get(step.id)) is not None and (edge := memory.edge(step.edge)) is not None
    ]
    facts = memory.facts(node.id)
    objects = {fact.object: memory.get(fact.object) for fact in facts if fact.object is not None}
    names = {id_: present.title(other) for id_, other in objects.items() if other is not None}
    data: dict[str, Any] = {
        "node": node_dict(node),
        "degree": around.degree,
        "neighbours": [
            {**asdict(step), "name": present.title(other), "type": edge.type, "text": edge.text}
            for step, other, edge in steps
        ],
        "facts": [asdict(fact) for fact in facts],
    }
    parts = [present.node(node)]
    parts += [present.neighbours(around.degree, steps)] if steps else []
    parts += [present.facts(facts, names)] if facts else []
    if with_history:
        versions = memory.history(node.id)
        data["history"] = [asdict(version) for version in versions]
        parts.append(present.history(versions))
    return data, "\n\n".join(parts)


@verb("stats", "cuetrail stats", "cuetrail stats --json --user anna --team birds")
@pass_run
def stats(run: Run) -> None:
    """Count what is remembered.

    Nodes, edges, facts, tags, vectors, and how much was forgotten.
    """
    from dataclasses import asdict

    with run.open() as memory:
        found = memory.stats()
        run.result({"memory": memory.address, **asdict(found)}, present.stats(found, memory.address))
