"""What a new fact does to those that are there, and what a verdict does; the same on every engine.

Values of a single-valued predicate share one line of time, see `timeline`. Of any other predicate each value has a life
of its own: it is believed once at any time, however often it is stated.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from cuetrail.formulas import source_weight
from cuetrail.model import Fact
from cuetrail.store.facts import ACTIVE, CERTAIN, Stated, Verdict, begins, holds, past_id, until, value_of
from cuetrail.store.timeline import (
    Statement,
    as_stated,
    is_shadowed,
    key_of,
    statements,
    stretches,
    weight,
    written,
)
from cuetrail.text import norm_name

H = TypeVar("H", bound=Hashable)
Settled = tuple[list[tuple[Fact, H | None]], dict[H, Fact | None]]
"""The facts to insert, each with the handle of a row that is of the same value and place, if there is one; and the rows
that change, as they are then, None for one that is to go."""


def settle(stated: Sequence[Stated], present: Iterable[tuple[H, Fact]]) -> Settled[H]:
    """Fit facts in.

    `present` are, for each stated fact, those of its `ids`, and where it `meets_all` all of its subject and predicate,
    in the place that is written to.
    """
    by_topic: dict[tuple[str, str], list[tuple[H, Fact]]] = {}
    for handle, fact in present:
        by_topic.setdefault((fact.subject, fact.predicate), []).append((handle, fact))
    topics: dict[tuple[str, str], list[Stated]] = {}
    for one in stated:
        topics.setdefault((one.fact.subject, one.fact.predicate), []).append(one)
    new: list[tuple[Fact, H | None]] = []
    changed: dict[H, Fact | None] = {}
    for topic, some in topics.items():
        fitted = _on_one_line if any(one.single for one in some) else _side_by_side
        more, others = fitted(some, by_topic.get(topic, []))
        new += more
        changed |= others
    return new, changed


def judge(verdicts: Sequence[Verdict], present: Sequence[tuple[H, Fact]]) -> Settled[H]:
    """Confirm or retract facts of one subject and predicate, all of which are `present`. What is gone stays so."""
    declared = next((verdict.single for verdict in verdicts if verdict.single is not None), None)
    single = any(is_shadowed(fact) for _, fact in present) if declared is None else declared
    said = statements(present)
    for verdict in verdicts:
        one = next((one for one in said for _, row in one.rows if row.id == verdict.fact), None)
        if one is None or one.fact.status == "retracted":
            continue
        if verdict.status == "confirmed":
            one.fact = replace(one.fact, status="confirmed")
            continue
        for other in _meant(verdict, one, said, single):
            end = min(other.end, max(verdict.at, other.start))
            other.fact = replace(other.fact, status="retracted", valid_until=end)
    if single:
        return written(said, True)
    # Each row is a statement of its own: nothing keeps another from holding.
    return [], {handle: one.fact for one in said for handle, row in one.rows[-1:] if one.fact != row}


def _meant(verdict: Verdict, one: Statement[H], said: Sequence[Statement[H]], single: bool) -> list[Statement[H]]:
    """The statements that are taken back with one."""
    left = [other for other in said if other.fact.status != "retracted"]
    if verdict.of == "value":
        return [other for other in left if value_of(other.fact) == value_of(one.fact)]
    if verdict.of == "topic" and single:
        return [other for other in left if weight(other.fact) <= weight(one.fact)]
    return [one]


def refit(present: Sequence[tuple[H, Fact]], single: bool | None = None) -> Settled[H]:
    """What changes among the facts of one subject and predicate when some are gone, or when their predicate is declared
    to be single-valued or not.
    """
    if single is None:
        single = any(is_shadowed(fact) for _, fact in present)
        if not single:
            return [], {}
    return written(statements(present), single)


# --- one value at a time


def _on_one_line(stated: Sequence[Stated], present: Sequence[tuple[H, Fact]]) -> Settled[H]:
    said = statements(present)
    for one in stated:
        _add(said, one)
    new, changed = written(said, True)
    left = {handle for one in said for handle, _ in one.rows}
    return new, {**changed, **{handle: None for handle, _ in present if handle not in left}}


def _add(said: list[Statement[H]], stated: Stated) -> None:
    """Put a statement to the others; what holds and is said again is no second one."""
    new = as_stated(stated.fact)
    same = [one for one in said if _says(one.fact, stated)]
    twin = next((one for one in same if key_of(one.fact) == key_of(new)), None)
    if stated.settled and twin is not None:
        return
    for one in same:
        # So far its object may be known as a text: it leads to an entity now.
        if one.fact.object != new.object:
            one.fact = replace(one.fact, id=new.id, object=new.object, value=new.value)
    moved = next((one for one in same if one.fact.source_ref in stated.gone and one.fact.status in ACTIVE), None)
    holding = twin or moved or _holding(said, same, new)
    last = max((one.last for one in said), default=0) + 1
    if holding is None:
        holding = Statement(new, [], last, max((one.first for one in said), default=0) + 1)
        said.append(holding)
    elif holding is moved:
        kept = replace(_restated(moved.fact, stated), valid_from=new.valid_from)
        moved.fact = kept if "user_edit" in (kept.source, new.source) else replace(kept, source_ref=new.source_ref)
    else:
        kept = replace(_restated(holding.fact, stated), valid_from=holding.fact.valid_from)
        holding.fact = replace(kept, restated=max(weight(new), holding.fact.restated or weight(new)))
        holding.last = last
    if stated.by_user and new.confidence >= CERTAIN:
        said[:] = [one for one in said if one is holding or not _is_within(one, holding, same)]


def _is_within(one: Statement[H], said: Statement[H], same: Sequence[Statement[H]]) -> bool:
    """Whether a user says the same of all the time that another statement claims: then that is of no more use."""
    return any(one is other for other in same) and said.start <= one.start and one.end <= said.end


def _holding(said: Sequence[Statement[H]], same: Sequence[Statement[H]], new: Fact) -> Statement[H] | None:
    """The statement that holds when a new one begins, and says the same."""
    for stretch in stretches(said, True):
        one = said[stretch.number]
        if stretch.start <= begins(new) < stretch.end and any(one is other for other in same):
            return one if {one.fact.status, new.status} <= set(ACTIVE) and _is_one(one.fact, new) else None
    return None


def _is_one(old: Fact, new: Fact) -> bool:
    """Whether two that say the same are one: each text counts for itself, but a user's word for all."""
    return old.source_ref == new.source_ref or "user_edit" in (old.source, new.source)


# --- values that live side by side


@dataclass(slots=True)
class _Entry(Generic[H]):
    """A fact on its way into the memory, or in it already under a handle of the engine's."""

    handle: H | None
    fact: Fact
    dropped: bool = False


def _side_by_side(stated: Sequence[Stated], present: Sequence[tuple[H, Fact]]) -> Settled[H]:
    entries = [_Entry(handle, fact) for handle, fact in present]
    before = {entry.handle: entry.fact for entry in entries}
    for one in stated:
        new = _fitted(one, [e for e in entries if not e.dropped])
        if new is not None:
            entries.append(_Entry(None, new))
    changed: dict[H, Fact | None] = {
        e.handle: None if e.dropped else e.fact
        for e in entries
        if e.handle is not None and (e.dropped or e.fact != before[e.handle])
    }
    return [(e.fact, None) for e in entries if e.handle is None and not e.dropped], changed


def _fitted(stated: Stated, alike: Sequence[_Entry[H]]) -> Fact | None:
    """The fact as a new row, after those that say the same made way for it; None where one of them says it by now."""
    new = stated.fact
    same = sorted((e for e in alike if _says(e.fact, stated)), key=lambda e: e.fact.status not in ACTIVE)
    holding = next((e for e in same if _overlaps(e.fact, new)), None)
    if holding is not None and holding.fact.status not in ACTIVE and not stated.by_user:
        return None
    if holding is not None and holding.fact.status in ACTIVE:
        again = replace(_restated(holding.fact, stated), valid_from=_start(holding.fact, stated))
        same.remove(holding)
        _make_way(again, same)
        if again.object == holding.fact.object:
            holding.fact = again
            return None
        # So far its object was known as a text: the fact leads to an entity now.
        holding.dropped = True
        return _under_its_id(replace(again, id=new.id), same)
    _make_way(new, same)
    if same and _never_held(new):
        return None
    for entry in same:
        entry.dropped = entry.dropped or _never_held(entry.fact)
    return _under_its_id(new, same)


def _never_held(fact: Fact) -> bool:
    return until(fact) <= begins(fact)


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


def _overlaps(one: Fact, new: Fact) -> bool:
    """Whether two facts that say the same are one: it holds when the new one begins, or begins while that holds."""
    if one.status not in ACTIVE:
        return holds(one, begins(new))
    return begins(one) < until(new) and begins(new) < until(one)


def _says(one: Fact, stated: Stated) -> bool:
    """Whether a fact of the same subject and predicate states the same, whatever the case and the spaces."""
    new = stated.fact
    if one.object is not None or new.object is None:
        return value_of(one) == value_of(new)
    return stated.words is not None and norm_name(one.value or "") == norm_name(stated.words)


def _restated(old: Fact, stated: Stated) -> Fact:
    """What is there, said again: the better source counts, also for its end, and only its user makes it less sure."""
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
        valid_until=new.valid_until if by_user or (better and new.valid_until is not None) else old.valid_until,
    )


def _start(old: Fact, stated: Stated) -> int | None:
    new = stated.fact
    if new.valid_from is None or (not stated.by_user and new.valid_from >= begins(old)):
        return old.valid_from
    return new.valid_from
