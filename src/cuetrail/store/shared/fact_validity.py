"""When a fact is valid, and which predicates have one value at a time.

A fact is valid from `valid_from` (default: when it was stated) until `valid_until`. A superseded or retracted fact is
history: it answers only questions about the time in which it was valid. `fact_conflicts` and `fact_supersession` decide
how a new fact changes the stored ones.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping

from cuetrail.model import Fact, FactStatus
from cuetrail.model.ids import past_fact_id
from cuetrail.text.normalise import norm_name

ACTIVE: tuple[FactStatus, ...] = ("staged", "confirmed")
ENDED: tuple[FactStatus, ...] = ("superseded", "retracted")
CERTAIN = 0.9
"""The least confidence with which a new fact supersedes another value of a single-valued predicate."""

SINGLE_VALUED = frozenset(
    {
        "age", "based_in", "birthday", "born_in", "born_on", "deadline", "due", "email", "lives_in", "located_in",
        "name", "status", "timezone", "type",
    }
)  # fmt: skip
"""Predicates that have one value at a time unless declared otherwise: a new value ends the previous one."""

MADE_FOR_A_FACT = {"found": "fact"}
"""The properties of an entity that a rule created because a fact named it. It is forgotten with its last fact."""

EVER = 2**62


def declaration(tenant: str, user: str, predicate: str = "") -> str:
    """Returns the name of the setting in which a user declares how many values a predicate has at a time. Without a
    predicate, returns the beginning of all such names of the user.
    """
    return "\x1f".join((f"predicate:{tenant}", user, predicate))


def is_single(predicate: str, settings: Mapping[str, str]) -> bool:
    """True if a predicate has one value at a time: as the user declared in `settings`, else as SINGLE_VALUED says."""
    declared = {name.rpartition("\x1f")[2]: value == "single" for name, value in settings.items()}
    return declared.get(predicate, predicate in SINGLE_VALUED)


def ends_of(fact: Fact) -> Iterator[str]:
    """Yields the id of the fact's subject, and of its object if it has one."""
    yield fact.subject
    if fact.object is not None:
        yield fact.object


def begins(fact: Fact) -> int:
    """Returns the time at which the fact becomes valid."""
    return fact.created if fact.valid_from is None else fact.valid_from


def until(fact: Fact) -> int:
    """Returns the time at which the fact stops being valid: EVER if it has no end. A superseded or retracted fact
    without an end was never valid, so its beginning is returned.
    """
    if fact.valid_until is not None:
        return fact.valid_until
    return EVER if fact.status in ACTIVE else begins(fact)


def holds(fact: Fact, at: int) -> bool:
    """True if the fact is valid at the time `at`."""
    return begins(fact) <= at < until(fact)


def value_of(fact: Fact) -> Hashable:
    """Returns object and normalised value of a fact. Two facts of a topic say the same if these are equal."""
    return fact.object, norm_name(fact.value or "")


def past_id(fact: Fact) -> str:
    """Returns another id for a period of a fact that ended, because the plain id belongs to the valid one."""
    return past_fact_id(fact.id, str(begins(fact)))
