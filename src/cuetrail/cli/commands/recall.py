"""`cuetrail recall`: asks the memory and prints the hits."""

from __future__ import annotations

from typing import Any

import click

from cuetrail.cli.command import Run, verb
from cuetrail.cli.explanation import explained_text
from cuetrail.cli.options import choice, end_time, no_touch, node_filters, number
from cuetrail.model import Budget, Recollection

_RELAXED = {
    "nouns": "by its nouns and dates alone",
    "names": "by its proper nouns and dates alone",
    "typos": "with typos forgiven",
}


@verb(
    "cuetrail recall why does the receiver go silent in frost",
    "cuetrail recall '#decision battery' --since 2025-01-01 --explain",
    "cuetrail recall antenna --recipe tag-walk --budget-chars 4000 --json",
)
@click.argument("cue", metavar="CUE...", nargs=-1, required=True)
@number("--budget-chars", help="Print at most this many characters.")
@number("--budget-tokens", help="Print at most this many tokens. [default: 2000; with tag-walk 8000 characters]")
@number(
    "--limit", least=1, help="At most this many hits. [default: 10; with tag-walk as many as the budget has room for]"
)
@choice(
    "--recipe", values=["trail", "tag-walk", "energy", "explore"], default="trail",
    help="trail: words, meaning, names and edges. tag-walk: words, then the tags and buckets of the hits. energy: "
    "words and meaning, then activation along links. explore: words, meaning, time and salience.",
)  # fmt: skip
@choice(
    "--mode", values=["all", "internal", "external"],
    help="With tag-walk: prefer your own memories (all; internal even more) or external ones. [default: all]",
)  # fmt: skip
@choice(
    "--rank", values=["idf", "gravity"],
    help="With tag-walk: rank related results by the rarity of shared tags, or by their number, time and similarity. "
    "[default: idf]",
)  # fmt: skip
@click.option("--spill", is_flag=True, help="With tag-walk: direct and related results share one budget.")
@number("--min-results", help="With tag-walk: relax the cue if it finds fewer than this. [default: 10]")
@node_filters("memories")
@click.option(
    "--now", metavar="WHEN", callback=end_time, help="The time of the question, from which 'last week' is counted."
)
@click.option("--fuzzy", is_flag=True, help="Match words with typos; the search by meaning is off.")
@click.option("--explain", is_flag=True, help="Show why each hit was found, and its id.")
@no_touch
def recall(run: Run, /, cue: tuple[str, ...], explain: bool, no_touch: bool, **options: Any) -> None:
    """Find memories for a cue.

    All words of the CUE are one question. "Quoted words" must stand together, #tag and @bucket filter, and * at the end
    of the last word matches any ending. If nothing answers, stderr says so, lists the words that were searched, and
    shows the nearest memory.
    """
    recipe, walk_options = _tag_walk_options(options)
    budget = budget_of(options)
    with run.open(vectors=walk_options is None, rerank=walk_options is None) as memory:
        arguments: dict[str, Any] = {**budget, **options, "record_access": not no_touch}
        if walk_options is None:
            from cuetrail.recall.recipes import BY_NAME

            found = memory.recall(" ".join(cue), recipe=BY_NAME[recipe], **arguments)
        else:
            found = memory.tag_walk(" ".join(cue), **walk_options, **arguments)
    for line in (*found.notices, *_relaxed_notices(found)):
        run.notice(line)
    if run.json or (found.answerable and found.text):
        run.result(found.to_dict(), explained_text(found) if explain else found.text)
    else:
        # To stderr: a program that reads stdout must not take it for a memory.
        run.notice(_no_result_text(found, options["fuzzy"]))


def _tag_walk_options(options: dict[str, Any]) -> tuple[str, dict[str, Any] | None]:
    """Removes the recipe and the tag-walk options from the options and returns them; None for other recipes.

    Raises UsageError for a tag-walk option with another recipe.
    """
    recipe = options.pop("recipe")
    given = {name: options.pop(name) for name in ("mode", "rank", "spill", "min_results")}
    given = {name: value for name, value in given.items() if value is not None and value is not False}
    if recipe == "tag-walk":
        return recipe, given
    if given:
        raise click.UsageError(f"--{next(iter(given)).replace('_', '-')} goes with --recipe tag-walk")
    return recipe, None


def budget_of(options: dict[str, Any]) -> dict[str, Any]:
    """Removes the budget from the options and returns it as an argument; {} for the recipe's own budget."""
    chars, tokens = options.pop("budget_chars"), options.pop("budget_tokens")
    if chars is not None and tokens is not None:
        raise click.UsageError("give --budget-chars or --budget-tokens, not both")
    return {} if chars is None and tokens is None else {"budget": Budget(chars, tokens)}


def _no_result_text(found: Recollection, fuzzy: bool) -> str:
    """Returns the message for a recall without results."""
    if found.answerable:
        return "something is remembered on this, but the budget is too small to show it"
    if found.hits and found.text:
        return found.text
    words = ", ".join(found.looked_for)
    if not words:
        return "nothing to look for: give a word or two"
    mended = fuzzy or any(attempt.query.mend for attempt in found.attempts)
    hint = "" if mended else " (--fuzzy forgives typos)"
    return f"nothing is remembered on this; looked for: {words}{hint}"


def _relaxed_notices(found: Recollection) -> list[str]:
    """Returns a notice if the cue was relaxed because it found too little."""
    change = _RELAXED.get(found.attempt)
    return [f"few results; the cue was searched {change}"] if change and found.hits else []
