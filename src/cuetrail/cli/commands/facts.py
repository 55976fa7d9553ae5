"""The verbs on facts: `fact` and what may follow it, and `narrate`."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Any

import click

from cuetrail.cli import parse, present
from cuetrail.cli.command import Run, examples, pass_run, shared, verb
from cuetrail.cli.commands.recall import budget_of
from cuetrail.cli.node_argument import SHORTEST, known, nearest
from cuetrail.errors import InputError, NotFound

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cuetrail.memory import Memory
    from cuetrail.model import Fact

_DIGITS = re.compile(rf"[0-9a-f]{{{SHORTEST},32}}")


class Facts(click.Group):
    """A group that takes three words without a command as what is to be stated."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """The names in the order people need them."""
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is named, else `add`."""
        return super().resolve_command(ctx, args if args[0] in self.commands else ["add", *args])


@shared
@click.group(
    "fact",
    cls=Facts,
    epilog=examples(
        "cuetrail fact 'Ines Okafor' repairs 'ship radios'",
        "cuetrail fact list 'Ines Okafor' --as-of 2025-03-04",
        "cuetrail fact retract 5f0c1d2e",
    ),
)
def fact() -> None:
    """State facts, and see what is and was believed.

    `cuetrail fact SUBJECT PREDICATE OBJECT` is short for `cuetrail fact add SUBJECT PREDICATE OBJECT`.
    """


@verb(
    "add",
    "cuetrail fact add 'Ines Okafor' repairs 'ship radios'",
    "cuetrail fact add Skarholm 'looked after by' 'Marek Dvorak' --confidence .8",
)
@click.argument("subject")
@click.argument("predicate")
@click.argument("object")
@click.option("--confidence", metavar="0-1", type=float, default=0.9, show_default=True, help="How sure it is.")
@click.option(
    "--source", metavar="NAME", default="user_edit", show_default=True,
    help="Who says so: user_edit, file, system, conversation. What you say yourself is confirmed at once.",
)  # fmt: skip
@click.option("--kind", metavar="KIND", help="What a new subject is: person, project, concept ... [default: entity]")
@click.option("--from", "valid_from", metavar="WHEN", callback=parse.start, help="Since when it holds. [default: now]")
@click.option("--until", "valid_until", metavar="WHEN", callback=parse.start, help="Until when it holds.")
@pass_run
def add(run: Run, /, subject: str, predicate: str, object: str, **options: Any) -> None:
    """State that SUBJECT - PREDICATE - OBJECT.

    Subject and object are ids or names (the subject also the first 6 or more digits of an id); an unknown subject
    becomes a node, an unknown object is kept as a text. Of a predicate that has one value at a time, such as lives_in,
    a value that is sure (.9 or more) ends the one before.
    """
    from cuetrail.model import fact_dict
    from cuetrail.store.shared.fact_validity import CERTAIN

    with run.open(vectors=True, new=True) as memory:
        meant = _subject(memory, subject)
        known = memory.get(meant)
        stated = memory.fact(meant, predicate, object, **options)
        named = memory.get(stated.subject)
    # The first thing stated of an entity, and the entity, are made at the same moment.
    is_new = known is None and named is not None and named.created == stated.created
    of = "" if named is None else f" of {present.title(named)}" + (", which is new" if is_new else "")
    if stated.status == "superseded" and options["confidence"] < CERTAIN:
        run.notice("another value holds: this one is kept as history (a confidence of .9 or more would replace it)")
    elif stated.status == "superseded":
        run.notice("another value followed it: `cuetrail fact history` shows when each of them held")
    run.result(fact_dict(stated), stated.id if run.quiet else f"stated {stated.id}{of}")


def _subject(memory: Memory, word: str) -> str:
    """The id that a word begins, else the word itself: a name, which the memory resolves."""
    found = known(memory, word) if _DIGITS.fullmatch(word.lower()) else None
    return found.id if found is not None else word


@verb("list", "cuetrail fact list Skarholm", "cuetrail fact list Skarholm --as-of 2025-03-04 --json")
@click.argument("subject")
@click.option("--as-of", metavar="WHEN", callback=parse.start, help="What was believed then. [default: now]")
@pass_run
def list_(run: Run, subject: str, as_of: int | None) -> None:
    """Show what is believed of SUBJECT, the most certain first.

    Of what nothing is called nothing is believed: that is no error.
    """
    with run.open() as memory:
        _show(run, memory, subject, memory.facts(_subject(memory, subject), as_of=as_of))


@verb("history", "cuetrail fact history Skarholm", "cuetrail fact history 'Ines Okafor' lives_in")
@click.argument("subject")
@click.argument("predicate", required=False)
@pass_run
def history(run: Run, subject: str, predicate: str | None) -> None:
    """Show all that was ever stated of SUBJECT.

    Also what was superseded or retracted, with the times it held; of one PREDICATE if it is named.
    """
    from cuetrail.store.shared.fact_validity import begins

    with run.open() as memory:
        every = memory.fact_history(_subject(memory, subject), predicate=predicate)
        _show(run, memory, subject, sorted(every, key=lambda one: (one.predicate, begins(one), one.id)))


def _show(run: Run, memory: Memory, subject: str, found: Sequence[Fact]) -> None:
    from cuetrail.model import fact_dict

    objects = memory.nodes(*[one.object for one in found if one.object is not None])
    names = {id_: present.title(node) for id_, node in objects.items()}
    if run.json or found:
        data = [{**fact_dict(one), "object_name": names.get(one.object or "")} for one in found]
        run.result(data, present.fact_table(found, names))
    else:
        run.notice(_nothing(memory, subject))


def _nothing(memory: Memory, subject: str) -> str:
    """Why there is nothing to show of a subject."""
    if memory.fact_history(_subject(memory, subject)):
        return f"nothing of this holds; `cuetrail fact history {shlex.quote(subject)}` shows all that was stated"
    if known(memory, subject) is None:
        return f"nothing is stated of {subject!r}, and nothing is called so{nearest(memory, subject)}"
    return f"nothing is stated of {subject!r}"


@verb("confirm", "cuetrail fact confirm 5f0c1d2e")
@click.argument("id")
@pass_run
def confirm(run: Run, id: str) -> None:
    """Confirm a fact.

    It is given by its id, or the first 6 or more digits of it, as `fact list` shows them.
    """
    _judge(run, id, "confirm")


@verb("retract", "cuetrail fact retract 5f0c1d2e")
@click.argument("id")
@pass_run
def retract(run: Run, id: str) -> None:
    """Take a fact back.

    From now on it is history: `fact history` and `--as-of` still know it. It is given by its id, or the first 6 or more
    digits of it.
    """
    _judge(run, id, "retract")


def _judge(run: Run, word: str, what: str) -> None:
    from cuetrail.model import fact_dict

    with run.open() as memory:
        done: Fact = getattr(memory, what)(_fact_meant(memory, word))
    run.summary(fact_dict(done), f"{done.status} {done.id}: {done.predicate}")


def _fact_meant(memory: Memory, word: str) -> str:
    """The id of a fact that is given by its first digits."""
    ids = memory.fact_ids(word.lower(), limit=3) if _DIGITS.fullmatch(word.lower()) else [word]
    if len(ids) > 1:
        raise InputError(f"{word!r} begins several ids of facts, give more digits")
    if not ids:
        raise NotFound(f"there is no fact {word!r} in this scope; `cuetrail fact list SUBJECT` shows their ids")
    return ids[0]


@verb("declare", "cuetrail fact declare works_at --single", "cuetrail fact declare email --many")
@click.argument("predicate")
@click.option("--single/--many", default=True, help="One value at a time, or many.  [default: single]")
@pass_run
def declare(run: Run, predicate: str, single: bool) -> None:
    """Declare how many values PREDICATE has at a time.

    Of one with a single value a new value ends the one before. It holds for what is stated and for what was, by you
    alone: what others declare is theirs.
    """
    with run.open() as memory:
        norm = memory.declare(predicate, single=single)
    many = "one value at a time" if single else "any number of values"
    run.summary({"predicate": norm, "single": single}, f"{norm} has {many}")


for command in (add, list_, confirm, retract, history, declare):
    fact.add_command(command)


@verb(
    "narrate",
    "cuetrail narrate what is JACQ",
    "cuetrail narrate where does Ines live --as-of 2025-03-04 --explain",
    "cuetrail narrate JACQ --hops 1 --max-facts 10 --json",
)
@click.argument("cue", metavar="CUE...", nargs=-1, required=True)
@click.option("--hops", metavar="N", type=click.IntRange(1), default=2, show_default=True,
    help="How far to go: 1 tells the facts of the entities themselves, 2 those of their neighbours, too.",
)  # fmt: skip
@click.option(
    "--anchors", metavar="N", type=click.IntRange(1), default=3, show_default=True, help="Entities to start from."
)
@click.option("--max-facts", metavar="N", type=click.IntRange(0), default=30, show_default=True, help="Facts in all.")
@click.option(
    "--per-entity", metavar="N", type=click.IntRange(0), default=10, show_default=True, help="Facts of one entity."
)
@click.option(
    "--direction", type=click.Choice(["both", "out", "in"]), default="both", show_default=True,
    help="Whether an entity is the subject of a fact (out), its object (in), or either.",
)  # fmt: skip
@click.option("--as-of", metavar="WHEN", callback=parse.start, help="What was believed then. [default: now]")
@click.option("--budget-chars", metavar="N", type=int, help="The most characters to print.")
@click.option("--budget-tokens", metavar="N", type=int, help="The most tokens to print. [default: 2000]")
@click.option("--explain", is_flag=True, help="Show the score of each line and where it comes from.")
@click.option("--no-touch", is_flag=True, help="Do not count this as a use of what is told.")
@pass_run
def narrate(run: Run, /, cue: tuple[str, ...], explain: bool, no_touch: bool, **options: Any) -> None:
    """Tell what is believed about what CUE means.

    Entities are found by meaning, else by name; told are their facts and those of their neighbours, a section for each.
    """
    options |= budget_of(options)
    with run.open(vectors=True, anyway=True) as memory:
        told = memory.narrate(" ".join(cue), record_access=not no_touch, **options)
    for line in told.notices:
        run.notice(line)
    if run.json or told.answerable:
        run.result(told.to_dict(), present.told(told) if explain else told.text)
    elif not told.believed:
        run.notice("nothing is believed about this")
