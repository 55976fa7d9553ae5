"""`cuetrail fact` with its subcommands, and `narrate`."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from cuetrail.cli.command import OrderedGroup, Run, group, verb
from cuetrail.cli.commands.recall import budget_of
from cuetrail.cli.options import choice, find_node_or_none, is_id_prefix, no_touch, number, start_time, suggestion
from cuetrail.cli.output import node_title, short_id, utc_time
from cuetrail.errors import InputError, NotFound
from cuetrail.model import Fact, fact_dict

if TYPE_CHECKING:
    from cuetrail.memory import Memory
    from cuetrail.recall.narrative import Narrative


class FactGroup(OrderedGroup):
    """A group whose default subcommand is `add`."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Returns the named command, else `add`."""
        return super().resolve_command(ctx, args if args[0] in self.commands else ["add", *args])


@group(
    "cuetrail fact 'Ines Okafor' repairs 'ship radios'",
    "cuetrail fact list 'Ines Okafor' --as-of 2025-03-04",
    "cuetrail fact retract 5f0c1d2e",
    cls=FactGroup,
)
def fact() -> None:
    """State facts, and list current and past ones.

    `cuetrail fact SUBJECT PREDICATE OBJECT` is short for `cuetrail fact add SUBJECT PREDICATE OBJECT`.
    """


@verb(
    "cuetrail fact add 'Ines Okafor' repairs 'ship radios'",
    "cuetrail fact add Skarholm 'looked after by' 'Marek Dvorak' --confidence .8",
)
@click.argument("subject")
@click.argument("predicate")
@click.argument("object")
@click.option("--confidence", metavar="0-1", type=float, default=0.9, show_default=True, help="The confidence.")
@click.option(
    "--source", metavar="NAME", default="user_edit", show_default=True,
    help="The origin: user_edit, file, system, conversation. A user_edit is confirmed at once.",
)  # fmt: skip
@choice(
    "--provenance", values=["explicit", "inference", "import"], default="explicit",
    help="Whether it was stated, concluded or imported.",
)  # fmt: skip
@click.option(
    "--kind", metavar="KIND", help="The kind of a new subject: person, project, concept ... [default: entity]"
)
@click.option(
    "--from", "valid_from", metavar="WHEN", callback=start_time, help="When it begins to hold. [default: now]"
)
@click.option("--until", "valid_until", metavar="WHEN", callback=start_time, help="When it ends.")
def add(run: Run, /, subject: str, predicate: str, object: str, **options: Any) -> None:
    """State that SUBJECT - PREDICATE - OBJECT.

    Subject and object are ids or names; the subject may also be the first 6 or more digits of an id. An unknown subject
    becomes a node, an unknown object is stored as text. For a predicate with one value at a time, such as lives_in, a
    new value with a confidence of .9 or more ends the old one.
    """
    from cuetrail.store.shared.fact_fields import CERTAIN

    with run.open(vectors=True, new=True) as memory:
        subject_id = _subject_id(memory, subject)
        known = memory.get(subject_id)
        stated = memory.fact(subject_id, predicate, object, **options)
        named = memory.get(stated.subject)
    # A new entity is created in the same millisecond as its first fact.
    is_new = known is None and named is not None and named.created == stated.created
    of = "" if named is None else f" of {node_title(named)}" + (", which is new" if is_new else "")
    if stated.status == "superseded" and options["confidence"] < CERTAIN:
        run.notice("another value holds: this one is kept as history (a confidence of .9 or more would replace it)")
    elif stated.status == "superseded":
        run.notice("another value followed it: `cuetrail fact history` shows when each of them held")
    run.result(fact_dict(stated), stated.id if run.quiet else f"stated {stated.id}{of}")


def _subject_id(memory: Memory, word: str) -> str:
    """Returns the id that the word is a prefix of, else the word itself, which the memory resolves as a name."""
    found = find_node_or_none(memory, word) if is_id_prefix(word) else None
    return found.id if found is not None else word


@verb("cuetrail fact list Skarholm", "cuetrail fact list Skarholm --as-of 2025-03-04 --json")
@click.argument("subject")
@click.option("--as-of", metavar="WHEN", callback=start_time, help="The facts that held then. [default: now]")
def list_(run: Run, subject: str, as_of: int | None) -> None:
    """List the current facts about SUBJECT, most certain first.

    An unknown name has no facts; that is no error.
    """
    with run.open() as memory:
        _print_facts(run, memory, subject, memory.facts(_subject_id(memory, subject), as_of=as_of))


@verb("cuetrail fact history Skarholm", "cuetrail fact history 'Ines Okafor' lives_in")
@click.argument("subject")
@click.argument("predicate", required=False)
def history(run: Run, subject: str, predicate: str | None) -> None:
    """List all facts ever stated about SUBJECT, or those with one PREDICATE.

    Superseded and retracted facts are included, with the times they held.
    """
    from cuetrail.store.shared.fact_fields import begins

    with run.open() as memory:
        every = memory.fact_history(_subject_id(memory, subject), predicate=predicate)
        _print_facts(run, memory, subject, sorted(every, key=lambda one: (one.predicate, begins(one), one.id)))


def _print_facts(run: Run, memory: Memory, subject: str, found: Sequence[Fact]) -> None:
    objects = memory.nodes(*[one.object for one in found if one.object is not None])
    names = {id_: node_title(node) for id_, node in objects.items()}
    if run.json or found:
        data = [{**fact_dict(one), "object_name": names.get(one.object or "")} for one in found]
        run.result(data, _fact_table(found, names))
    else:
        run.notice(_no_facts_text(memory, subject))


def _no_facts_text(memory: Memory, subject: str) -> str:
    """Returns the message for a subject without facts to show."""
    if memory.fact_history(_subject_id(memory, subject)):
        return f"nothing of this holds; `cuetrail fact history {shlex.quote(subject)}` shows all that was stated"
    if find_node_or_none(memory, subject) is None:
        return f"nothing is stated of {subject!r}, and nothing is called so{suggestion(memory, subject)}"
    return f"nothing is stated of {subject!r}"


@verb("cuetrail fact confirm 5f0c1d2e")
@click.argument("id")
def confirm(run: Run, id: str) -> None:
    """Confirm a fact.

    It is given by its id or the first 6 or more digits of it; `fact list` shows them.
    """
    _change_status(run, id, "confirm")


@verb("cuetrail fact retract 5f0c1d2e")
@click.argument("id")
def retract(run: Run, id: str) -> None:
    """Retract a fact.

    `fact history` and `--as-of` still show it. It is given by its id or the first 6 or more digits of it.
    """
    _change_status(run, id, "retract")


def _change_status(run: Run, word: str, what: str) -> None:
    with run.open() as memory:
        done: Fact = getattr(memory, what)(_fact_id(memory, word))
    run.summary(fact_dict(done), f"{done.status} {done.id}: {done.predicate}")


def _fact_id(memory: Memory, word: str) -> str:
    """Returns the id of the fact with this id or these first digits of it. Any other word is returned unchanged.

    Raises InputError if the digits begin several ids, NotFound if they begin none.
    """
    ids = memory.fact_ids(word.lower(), limit=3) if is_id_prefix(word) else [word]
    if len(ids) > 1:
        raise InputError(f"{word!r} begins several ids of facts, give more digits")
    if not ids:
        raise NotFound(f"there is no fact {word!r} in this scope; `cuetrail fact list SUBJECT` shows their ids")
    return ids[0]


@verb("cuetrail fact declare works_at --single", "cuetrail fact declare email --many")
@click.argument("predicate")
@click.option("--single/--many", default=True, help="One value at a time, or many.  [default: single]")
def declare(run: Run, predicate: str, single: bool) -> None:
    """Declare how many values PREDICATE has at a time.

    With a single value, a new value ends the old one. The declaration applies to your own facts, past and future; other
    users declare their own.
    """
    with run.open() as memory:
        norm = memory.declare(predicate, single=single)
    many = "one value at a time" if single else "any number of values"
    run.summary({"predicate": norm, "single": single}, f"{norm} has {many}")


for command in (add, list_, confirm, retract, history, declare):
    fact.add_command(command)


@verb(
    "cuetrail narrate what is JACQ",
    "cuetrail narrate where does Ines live --as-of 2025-03-04 --explain",
    "cuetrail narrate JACQ --hops 1 --max-facts 10 --json",
)
@click.argument("cue", metavar="CUE...", nargs=-1, required=True)
@number("--hops", least=1, default=2, help="1: facts of the entities themselves; 2: also of their neighbours.")
@number("--anchors", least=1, default=3, help="Entities to start from.")
@number("--max-facts", default=30, help="Facts in all.")
@number("--per-entity", default=10, help="Facts of one entity.")
@choice(
    "--direction", values=["both", "out", "in"], default="both",
    help="Facts with the entity as subject (out), as object (in), or both.",
)  # fmt: skip
@click.option("--as-of", metavar="WHEN", callback=start_time, help="The facts that held then. [default: now]")
@click.option("--budget-chars", metavar="N", type=int, help="The most characters to print.")
@click.option("--budget-tokens", metavar="N", type=int, help="The most tokens to print. [default: 2000]")
@click.option("--explain", is_flag=True, help="Show the score and the path of each line.")
@no_touch
def narrate(run: Run, /, cue: tuple[str, ...], explain: bool, no_touch: bool, **options: Any) -> None:
    """Print the current facts about the entities of a CUE.

    Entities are found by meaning, else by name. Their facts and those of their neighbours are printed in sections.
    """
    options |= budget_of(options)
    with run.open(vectors=True, anyway=True) as memory:
        found = memory.narrate(" ".join(cue), record_access=not no_touch, **options)
    for line in found.notices:
        run.notice(line)
    if run.json or found.answerable:
        run.result(found.to_dict(), _explained_text(found) if explain else found.text)
    elif not found.believed:
        run.notice("there are no current facts about this")


def _fact_table(found: Sequence[Fact], names: Mapping[str, str]) -> str:
    """Returns facts one per line: id, predicate, value, confidence, status, source and time."""
    lines = []
    for fact in found:
        value = names.get(fact.object, fact.object) if fact.object is not None else fact.value
        start = fact.created if fact.valid_from is None else fact.valid_from
        end = f" until {utc_time(fact.valid_until)}" if fact.valid_until is not None else ""
        details = f"{fact.confidence:.2f}, {fact.status}, {fact.source}, since {utc_time(start)}{end}"
        lines.append(f"{short_id(fact.id)}  {fact.predicate}: {value}  ({details})")
    return "\n".join(lines)


def _explained_text(found: Narrative) -> str:
    """Returns a narrative with the score of each line and its parts."""
    lines: dict[str, list[str]] = {}
    for line in found.lines:
        parts = " * ".join(f"{value:.3g} {name}" for name, value in line.why["parts"].items())
        names = (found.entities[id_].name or short_id(id_) for id_ in line.why["path"])
        lines.setdefault(line.fact.subject, []).append(
            f"{line.text}\n    {line.score:.4f} = {parts}; {line.why['hop']} hops along {' → '.join(names)}"
        )
    sections = (f"{found.entities[id_].name or short_id(id_)}\n" + "\n".join(texts) for id_, texts in lines.items())
    return "\n\n".join(sections)
