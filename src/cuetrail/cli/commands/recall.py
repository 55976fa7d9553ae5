"""`cuetrail recall`: asks the memory and prints the hits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cuetrail.cli import output
from cuetrail.cli.command import Run, verb
from cuetrail.cli.options import choice, end_time, no_touch, node_filters, number
from cuetrail.cli.screen.terminal import is_terminal
from cuetrail.model import Budget, Recollection

if TYPE_CHECKING:
    from cuetrail.cli.screen.result_list import ResultList
    from cuetrail.memory import Memory

# A list shows two lines of each result, and how many other passages of its note were found.
LIST_BUDGET = {"budget": Budget(tokens=1_000_000)}
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
@click.option("--explain", is_flag=True, help="Draw the trail to each hit by titles, with its id.")
@click.option("-v", "--verbose", is_flag=True, help="With the trail, show all numbers; means --explain too.")
@click.option("--text", is_flag=True, help="Print the text for an agent on a terminal too, as a pipe gets it.")
@no_touch
def recall(
    run: Run, /, cue: tuple[str, ...], explain: bool, verbose: bool, text: bool, no_touch: bool, **options: Any
) -> None:
    """Find memories for a question.

    All words of the CUE are one question. "Quoted words" must stand together, #tag and @bucket filter, and * at the end
    of the last word matches any ending. A terminal shows a list of results; a pipe gets the text for an agent, within
    the budget. If nothing answers, this is said, with the words that were searched and the nearest memory.
    """
    explain = explain or verbose
    if text and explain:
        raise click.UsageError("give --text or --explain, not both")
    recipe, walk_options = _tag_walk_options(options)
    budget, listed = budget_of(options), explain or (is_terminal() and not text)
    with run.open(vectors=walk_options is None, rerank=walk_options is None) as memory:
        arguments: dict[str, Any] = {**options, **(budget or (LIST_BUDGET if listed and not run.json else {}))}
        arguments["record_access"] = not no_touch and (run.json or not listed)
        if walk_options is None:
            from cuetrail.recall.recipes import BY_NAME

            found = memory.recall(" ".join(cue), recipe=BY_NAME[recipe], **arguments)
        else:
            found = memory.tag_walk(" ".join(cue), **walk_options, **arguments)
        results = None if run.json or not listed else _results(memory, found, explain, verbose, touch=not no_touch)
    for line in (*found.notices, *_relaxed_notices(found)):
        run.notice(line)
    refused = not found.answerable and bool(found.looked_for)
    if results is not None and (found.hits or found.facts or refused):
        _print_list(run, results, found, _typo_hint(found, options["fuzzy"]))
    elif run.json or (found.answerable and found.text):
        run.result(found.to_dict(), found.text)
    else:
        # To stderr: a program that reads stdout must not take it for a memory.
        run.notice(_no_result_text(found, options["fuzzy"]))


def _results(memory: Memory, found: Recollection, explain: bool, verbose: bool, *, touch: bool) -> ResultList:
    """Returns the list of a recall. Counts the use of what it shows, which is less than the text for an agent has."""
    from cuetrail.cli.screen.result_list import result_list, shown_ids
    from cuetrail.text.timestamps import now_ms

    if touch and found.answerable:
        memory.store.touch(memory.scope, shown_ids(found), now_ms(), [one.fact.id for one in found.facts])
    return result_list(memory, found, explain=explain, verbose=verbose)


def _print_list(run: Run, results: ResultList, found: Recollection, hint: str) -> None:
    """Prints the list of a recall, or that nothing answers."""
    if found.answerable:
        output.say_drawn(results.drawn())
    elif not run.quiet:
        output.say_drawn(results.refusal("" if found.hits else hint))


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
    hint = _typo_hint(found, fuzzy)
    return f"nothing is remembered on this; looked for: {words}{f' ({hint})' if hint else ''}"


def _typo_hint(found: Recollection, fuzzy: bool) -> str:
    """Returns how to forgive typos, "" if that was done."""
    mended = fuzzy or any(attempt.query.mend for attempt in found.attempts)
    return "" if mended else "--fuzzy forgives typos"


def _relaxed_notices(found: Recollection) -> list[str]:
    """Returns a notice if the cue was relaxed because it found too little."""
    change = _RELAXED.get(found.attempt)
    return [f"few results; the cue was searched {change}"] if change and found.hits else []
