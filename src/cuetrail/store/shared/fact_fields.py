"""When a fact is valid.

A fact is valid from `valid_from` (default: when it was stated) until `valid_until`. A superseded or retracted fact is
history: it answers only questions about the time in which it was valid. `fact_conflicts` and `fact_timeline` decide
how a new fact changes the stored ones.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from cuetrail.model import Fact, FactStatus
from cuetrail.model.ids import past_fact_id
from cuetrail.text.normalise import norm_name

ACTIVE: tuple[FactStatus, ...] = ("staged", "confirmed")
ENDED: tuple[FactStatus, ...] = ("superseded", "retracted")
CERTAIN = 0.9
"""The least confidence with which a new fact supersedes another value of a single-valued predicate."""


MADE_FOR_A_FACT = {"found": "fact"}
"""The properties of an entity that a rule created because a fact named it. It is forgotten with its last fact."""

EVER = 2**62


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
