"""When a fact holds, how one is stated and judged; the same on every engine.

A fact holds from `valid_from` (where none is given, from when it was stated) until `valid_until`. One that was
superseded or retracted holds until then: it is history, and an answer only to who asks what was believed at that time.
What a new one does to those that are there is in `settling` and `timeline`.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Hashable, Iterable, Iterator, Mapping

from cuetrail.errors import InputError, NotFound
from cuetrail.model import Fact, FactStatus
from cuetrail.model.ids import past_fact_id
from cuetrail.store.write import Stated
from cuetrail.text.normalise import norm_name

ACTIVE: tuple[FactStatus, ...] = ("staged", "confirmed")
ENDED: tuple[FactStatus, ...] = ("superseded", "retracted")
CERTAIN = 0.9
"""From this confidence on a new fact supersedes another value of a single-valued predicate."""

SINGLE_VALUED = frozenset(
    {
        "age", "based_in", "birthday", "born_in", "born_on", "deadline", "due", "email", "lives_in", "located_in",
        "name", "status", "timezone", "type",
    }
)  # fmt: skip
"""Predicates that have one value at a time, unless declared otherwise: a new value ends the one before."""

MADE_FOR_A_FACT = {"found": "fact"}
"""The properties of an entity that a rule made to state a fact of; it goes when its facts are forgotten."""

EVER = 2**62


def declaration(tenant: str, user: str, predicate: str = "") -> str:
    """The name under which the memory keeps what a user declared of a predicate."""
    return "\x1f".join((f"predicate:{tenant}", user, predicate))


def is_single(predicate: str, kept: Mapping[str, str]) -> bool:
    """Whether a predicate has one value at a time, by what its user declared, else by nature."""
    said = {name.rpartition("\x1f")[2]: value == "single" for name, value in kept.items()}
    return said.get(predicate, predicate in SINGLE_VALUED)


def check_whole(fact: Fact) -> None:
    """Raises InputError unless the fact has either an object or a value."""
    if (fact.object is None) == (fact.value is None):
        raise InputError(f"fact {fact.id!r} needs either an object or a value, not both and not neither")


def remembered(stated: Iterable[Stated], forgotten: Collection[str]) -> list[Stated]:
    """What may be stated: nothing of what was forgotten, nor what was read out of that. Raises InputError."""
    gone = set(forgotten)
    kept = [one for one in stated if gone.isdisjoint((one.fact.subject, one.fact.object, one.fact.source_ref))]
    for one in kept:
        check_whole(one.fact)
    return kept


def ends_of(fact: Fact) -> Iterator[str]:
    """The nodes a fact is about."""
    yield fact.subject
    if fact.object is not None:
        yield fact.object


def check_ends(stated: Iterable[Stated], known: Container[str]) -> None:
    """Raises NotFound where one of the nodes the facts are about is not there."""
    for end in (end for one in stated for end in ends_of(one.fact)):
        if end not in known:
            raise NotFound(f"there is no node {end!r} in this scope: add it first")


def begins(fact: Fact) -> int:
    """From when on it holds."""
    return fact.created if fact.valid_from is None else fact.valid_from


def until(fact: Fact) -> int:
    """Until when it holds, EVER where no end is known; one that ended, nobody knows when, never held."""
    if fact.valid_until is not None:
        return fact.valid_until
    return EVER if fact.status in ACTIVE else begins(fact)


def holds(fact: Fact, at: int) -> bool:
    """Whether it is believed at a time."""
    return begins(fact) <= at < until(fact)


def value_of(fact: Fact) -> Hashable:
    """What a fact says of its subject, whatever the case and the spaces."""
    return fact.object, norm_name(fact.value or "")


def past_id(fact: Fact) -> str:
    """The id of a fact that ended, when the same is stated anew: the plain one is of what holds."""
    return past_fact_id(fact.id, str(begins(fact)))
