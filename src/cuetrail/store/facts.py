"""When a fact holds, and what a new one does to those that are there; the same on every engine.

A fact holds from `valid_from` (where none is given, from when it was stated) until `valid_until`. One that was
superseded or retracted holds until then: it is history, and an answer only to who asks what was believed at that time.

Values of a single-valued predicate follow each other: at any time at most one of them holds.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, Literal, TypeVar

from cuetrail.formulas import source_weight
from cuetrail.model import Fact, FactStatus
from cuetrail.text import digest, norm_name

ACTIVE: tuple[FactStatus, ...] = ("staged", "confirmed")
ENDED: tuple[FactStatus, ...] = ("superseded", "retracted")
CERTAIN = 0.9
"""From this confidence on a new fact supersedes another value of a single-valued predicate."""

MADE_FOR_A_FACT = {"found": "fact"}
"""The properties of an entity that a rule made to state a fact of; it goes when its facts are forgotten."""

EVER = 2**62
H = TypeVar("H", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Stated:
    """A fact that somebody states, to be fitted into what is known. `single`: its predicate has one value at a time."""

    fact: Fact
    single: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """What becomes of an active fact at a time: it is confirmed, or it is retracted."""

    fact: str
    status: Literal["confirmed", "retracted"]
    at: int


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


def judged(fact: Fact, verdict: Verdict) -> Fact:
    """The fact as the verdict leaves it. One that has ended already stays as it is."""
    if fact.status not in ACTIVE:
        return fact
    if verdict.status == "confirmed":
        return replace(fact, status="confirmed")
    return replace(fact, status="retracted", valid_until=min(until(fact), max(verdict.at, begins(fact))))


def past_id(fact: Fact) -> str:
    """The id of a fact that ended, when the same is stated anew: the plain one is of what holds."""
    return digest("past fact", fact.id, str(begins(fact)))


@dataclass(slots=True)
class _Entry(Generic[H]):
    """A fact on its way into the memory, or in it already under a handle of the engine's."""

    handle: H | None
    fact: Fact
    dropped: bool = False


def settle(stated: Sequence[Stated], present: Iterable[tuple[H, Fact]]) -> tuple[list[Fact], dict[H, Fact | None]]:
    """The facts to insert, and those of the present ones that change, as they are then; None for one that is to go.

    `present` are, for each stated fact, the one of its id, and if it is single-valued all of its subject and predicate.
    """
    entries = [_Entry(handle, fact) for handle, fact in present]
    before = {entry.handle: entry.fact for entry in entries}
    for one in stated:
        alike = [
            e
            for e in entries
            if not e.dropped and (e.fact.subject, e.fact.predicate) == (one.fact.subject, one.fact.predicate)
        ]
        new = _fitted(one, alike)
        if new is not None:
            entries.append(_Entry(None, new))
    changed: dict[H, Fact | None] = {
        e.handle: None if e.dropped else e.fact
        for e in entries
        if e.handle is not None and (e.dropped or e.fact != before[e.handle])
    }
    return [e.fact for e in entries if e.handle is None and not e.dropped], changed


def _fitted(stated: Stated, alike: Sequence[_Entry[H]]) -> Fact | None:
    """The fact as a new row, after the others made way for it; None where one of them says the same by now."""
    new = stated.fact
    same = [e for e in alike if _says(e.fact, new, stated.single)]
    holding = next((e for e in same if _overlaps(e.fact, new, stated.single)), None)
    if holding is not None and (holding.fact.status in ACTIVE or new.source != "user_edit"):
        if holding.fact.status in ACTIVE:
            again = _restated(holding.fact, new)
            if stated.single:
                again = replace(again, valid_from=holding.fact.valid_from)
                again = _before_the_next(again, [e for e in alike if e is not holding])
            holding.fact = again
        return None
    if stated.single:
        new = _on_the_timeline(new, [e for e in alike if e not in same], same)
    if same and _never_held(new):
        return None
    for entry in same:
        entry.dropped = _never_held(entry.fact)
    taken = next((e for e in same if e.fact.id == new.id and not e.dropped), None)
    if taken is None:
        return new
    if until(new) <= until(taken.fact):
        return replace(new, id=past_id(new))
    taken.fact = replace(taken.fact, id=past_id(taken.fact))
    return new


def _never_held(fact: Fact) -> bool:
    return until(fact) <= begins(fact)


def _overlaps(one: Fact, new: Fact, single: bool) -> bool:
    """Whether two facts that say the same are one: it holds when the new one begins, or begins while that holds.

    Of a single-valued predicate another value may lie between the two.
    """
    if single or one.status not in ACTIVE:
        return holds(one, begins(new))
    return begins(one) < until(new) and begins(new) < until(one)


def _says(one: Fact, other: Fact, loosely: bool) -> bool:
    """Whether two facts of one subject and predicate state the same; loosely: whatever the case and the spaces."""
    if one.object is not None or other.object is not None:
        return one.object == other.object
    if loosely:
        return norm_name(one.value or "") == norm_name(other.value or "")
    return one.value == other.value


def _restated(old: Fact, new: Fact) -> Fact:
    """What is there, said again: the better source counts, and nothing makes it less sure but its user."""
    by_user = new.source == "user_edit"
    better = by_user or source_weight(new.source) >= source_weight(old.source)
    return replace(
        old,
        confidence=new.confidence if by_user else max(old.confidence, new.confidence),
        status="confirmed" if "confirmed" in (old.status, new.status) else "staged",
        source=new.source if better else old.source,
        source_ref=new.source_ref if better else old.source_ref,
        provenance=new.provenance if better else old.provenance,
        tags=tuple(dict.fromkeys((*old.tags, *new.tags))),
        valid_from=_start(old, new),
        valid_until=new.valid_until if by_user or new.valid_until is not None else old.valid_until,
    )


def _start(old: Fact, new: Fact) -> int | None:
    if new.valid_from is None or (new.source != "user_edit" and new.valid_from >= begins(old)):
        return old.valid_from
    return new.valid_from


def _on_the_timeline(new: Fact, others: Sequence[_Entry[H]], same: Sequence[_Entry[H]]) -> Fact:
    """The fact between the other values. One that is not certain does not put an end to what holds."""
    if new.source != "user_edit" and any(begins(e.fact) == begins(new) < until(e.fact) for e in others):
        # Both claim the same beginning: what was believed first was believed until now.
        new = replace(new, valid_from=max(begins(new), new.created))
    start = begins(new)
    before = [e for e in others if holds(e.fact, start)]
    if before and new.confidence < CERTAIN:
        return replace(new, status="superseded", valid_until=start, superseded_by=before[0].fact.id)
    for entry in (*before, *(e for e in same if holds(e.fact, start))):
        entry.fact = replace(entry.fact, status="superseded", valid_until=start, superseded_by=new.id)
    return _before_the_next(new, (*others, *same))


def _before_the_next(fact: Fact, others: Sequence[_Entry[H]]) -> Fact:
    """The fact, ending where the next value begins; the others give way to what a user states and is certain of."""
    start = begins(fact)
    behind = [e for e in others if start < begins(e.fact) < min(until(fact), until(e.fact))]
    if fact.source == "user_edit" and fact.confidence >= CERTAIN:
        for entry in behind:
            empty = begins(entry.fact)
            entry.fact = replace(entry.fact, status="superseded", valid_until=empty, superseded_by=fact.id)
        return fact
    if not behind:
        return fact
    following = min(behind, key=lambda e: (begins(e.fact), e.fact.id)).fact
    return replace(fact, status="superseded", valid_until=begins(following), superseded_by=following.id)
