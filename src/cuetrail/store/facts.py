"""When a fact holds, and what a new one does to those that are there; the same on every engine.

A fact holds from `valid_from` (where none is given, from when it was stated) until `valid_until`. One that was
superseded or retracted holds until then: it is history, and an answer only to who asks what was believed at that time.

Values of a single-valued predicate follow each other: at any time at most one of them holds.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Generic, Literal, TypeVar

from cuetrail.errors import InputError, NotFound
from cuetrail.formulas import source_weight
from cuetrail.model import Fact, FactStatus
from cuetrail.text import digest, fact_id, norm_name

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
    """A fact that somebody states, to be fitted into what is known. `single`: its predicate has one value at a time.

    `words` are what its object was called: where that is known as a text so far, it is the same fact. One that was
    `settled` in another memory gives way to what is known here, whoever stated it there.
    """

    fact: Fact
    single: bool = False
    words: str | None = None
    settled: bool = False

    @property
    def by_user(self) -> bool:
        """Whether a user states it himself, against all that is known."""
        return self.fact.source == "user_edit" and not self.settled

    @property
    def ids(self) -> Iterator[str]:
        """The ids under which it may be known."""
        yield self.fact.id
        if self.fact.object is not None and self.words is not None:
            yield fact_id(self.fact.subject, self.fact.predicate, None, self.words)

    @property
    def meets_all(self) -> bool:
        """Whether it may change any fact of its subject and predicate, and not only those of its ids."""
        return self.single or (self.by_user and self.fact.valid_from is not None)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What becomes of an active fact at a time: it is confirmed, or it is retracted."""

    fact: str
    status: Literal["confirmed", "retracted"]
    at: int


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

    `present` are, for each stated fact, those of its `ids`, and where it `meets_all` all of its subject and predicate.
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
    same = sorted((e for e in alike if _says(e.fact, stated)), key=lambda e: e.fact.status not in ACTIVE)
    others = [e for e in alike if e not in same]
    holding = next((e for e in same if _overlaps(e.fact, new, stated.single)), None)
    if holding is not None and holding.fact.status not in ACTIVE and not stated.by_user:
        return None
    if holding is not None and holding.fact.status in ACTIVE:
        again = _again(stated, holding, [e for e in alike if e is not holding])
        same.remove(holding)
        if not stated.single:
            _make_way(again, same)
        if again.object == holding.fact.object:
            holding.fact = again
            return None
        # So far its object was known as a text: the fact leads to an entity now.
        holding.dropped = True
        return _under_its_id(_renamed(again, new, alike), same)
    if stated.single:
        new = _on_the_timeline(stated, others, same)
    else:
        _make_way(new, same)
    if same and _never_held(new):
        return None
    for entry in same:
        entry.dropped = entry.dropped or _never_held(entry.fact)
    return _under_its_id(new, same)


def _again(stated: Stated, holding: _Entry[H], others: Sequence[_Entry[H]]) -> Fact:
    """What holds, stated again."""
    again = _restated(holding.fact, stated)
    if stated.single:
        again = replace(again, valid_from=holding.fact.valid_from)
        again = _before_the_next(again, others, stated.by_user)
    return again


def _renamed(fact: Fact, new: Fact, alike: Sequence[_Entry[H]]) -> Fact:
    """The fact under the id of the new one, also where others name it as what superseded them."""
    for entry in alike:
        if entry.fact.superseded_by == fact.id:
            entry.fact = replace(entry.fact, superseded_by=new.id)
    return replace(fact, id=new.id, object=new.object, value=new.value)


def _under_its_id(new: Fact, same: Sequence[_Entry[H]]) -> Fact:
    """The fact as a new row. The plain id is of what holds longest; another row of it gets one of the past."""
    taken = next((e for e in same if e.fact.id == new.id and not e.dropped), None)
    if taken is None:
        return new
    if until(new) <= until(taken.fact):
        return replace(new, id=past_id(new))
    taken.fact = replace(taken.fact, id=past_id(taken.fact))
    return new


def _make_way(fact: Fact, same: Sequence[_Entry[H]]) -> None:
    """Let what says the same hold only while the fact does not: at any time it is believed once."""
    start, end = begins(fact), until(fact)
    for entry in same:
        first, last = begins(entry.fact), until(entry.fact)
        if first < start < last:
            entry.fact = replace(entry.fact, valid_until=start)
        elif start <= first < end < last:
            entry.fact = replace(entry.fact, valid_from=end)
        elif start <= first < end:
            entry.dropped = True


def _never_held(fact: Fact) -> bool:
    return until(fact) <= begins(fact)


def _overlaps(one: Fact, new: Fact, single: bool) -> bool:
    """Whether two facts that say the same are one: it holds when the new one begins, or begins while that holds.

    Of a single-valued predicate another value may lie between the two.
    """
    if single or one.status not in ACTIVE:
        return holds(one, begins(new))
    return begins(one) < until(new) and begins(new) < until(one)


def _says(one: Fact, stated: Stated) -> bool:
    """Whether a fact of the same subject and predicate states the same, whatever the case and the spaces."""
    new = stated.fact
    if one.object is not None or new.object is None:
        return one.object == new.object and norm_name(one.value or "") == norm_name(new.value or "")
    return stated.words is not None and norm_name(one.value or "") == norm_name(stated.words)


def _restated(old: Fact, stated: Stated) -> Fact:
    """What is there, said again: the better source counts, and nothing makes it less sure but its user."""
    new, by_user = stated.fact, stated.by_user
    better = by_user or source_weight(new.source) >= source_weight(old.source)
    return replace(
        old,
        object=new.object,
        value=new.value if by_user or new.object is not None else old.value,
        confidence=new.confidence if by_user else max(old.confidence, new.confidence),
        status="confirmed" if "confirmed" in (old.status, new.status) else "staged",
        source=new.source if better else old.source,
        source_ref=new.source_ref if better else old.source_ref,
        provenance=new.provenance if better else old.provenance,
        tags=tuple(dict.fromkeys((*old.tags, *new.tags))),
        valid_from=_start(old, stated),
        valid_until=new.valid_until if by_user or new.valid_until is not None else old.valid_until,
    )


def _start(old: Fact, stated: Stated) -> int | None:
    new = stated.fact
    if new.valid_from is None or (not stated.by_user and new.valid_from >= begins(old)):
        return old.valid_from
    return new.valid_from


def _on_the_timeline(stated: Stated, others: Sequence[_Entry[H]], same: Sequence[_Entry[H]]) -> Fact:
    """The fact between the other values. One that is not certain does not put an end to what holds."""
    new = stated.fact
    if not stated.by_user and any(begins(e.fact) == begins(new) < until(e.fact) for e in others):
        # Both claim the same beginning: what was believed first was believed until now.
        new = replace(new, valid_from=max(begins(new), new.created))
    start = begins(new)
    before = [e for e in others if holds(e.fact, start)]
    if before and new.confidence < CERTAIN:
        return replace(new, status="superseded", valid_until=start, superseded_by=before[0].fact.id)
    for entry in (*before, *(e for e in same if holds(e.fact, start))):
        entry.fact = replace(entry.fact, status="superseded", valid_until=start, superseded_by=new.id)
    return _before_the_next(new, (*others, *same), stated.by_user)


def _before_the_next(fact: Fact, others: Sequence[_Entry[H]], by_user: bool) -> Fact:
    """The fact, ending where the next value begins; the others give way to what a user states and is certain of."""
    start = begins(fact)
    behind = [e for e in others if start < begins(e.fact) < min(until(fact), until(e.fact))]
    if by_user and fact.confidence >= CERTAIN:
        for entry in behind:
            empty = begins(entry.fact)
            entry.fact = replace(entry.fact, status="superseded", valid_until=empty, superseded_by=fact.id)
        return fact
    if not behind:
        return fact
    following = min(behind, key=lambda e: (begins(e.fact), e.fact.id)).fact
    return replace(fact, status="superseded", valid_until=begins(following), superseded_by=following.id)
