"""What a new fact does to those that are there, and what a verdict does; the same on every engine.

Values of a single-valued predicate share one line of time, see `timeline`. Of any other predicate each value has a line
of its own: it is believed once at any time, however often and by however many texts it is stated.
"""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from cuetrail.formulas import source_weight
from cuetrail.model import Fact
from cuetrail.model.ids import fact_id
from cuetrail.store.shared.fact_timeline import Statement, as_stated, key_of, statements, stretches, weight, written
from cuetrail.store.shared.fact_validity import ACTIVE, CERTAIN, begins, holds, until, value_of
from cuetrail.store.write import Stated, Verdict
from cuetrail.text.normalise import norm_name

H = TypeVar("H", bound=Hashable)
Settled = tuple[list[tuple[Fact, H | None]], dict[H, Fact | None]]
"""The facts to insert, each with the handle of a row that is of the same value and place, if there is one; and the rows
that change, as they are then, None for one that is to go."""


def settle(stated: Sequence[Stated], present: Iterable[tuple[H, Fact]]) -> Settled[H]:
    """Fit facts in.

    `present` are, for each stated fact, all that say the same, and where it is `single` all of its subject and
    predicate, in the place that is written to.
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
        more, others = _fitted(some, by_topic.get(topic, []), any(one.single for one in some))
        new += more
        changed |= others
    return new, changed


def judge(verdicts: Sequence[Verdict], present: Sequence[tuple[H, Fact]], single: bool) -> Settled[H]:
    """Confirm or retract facts of one subject and predicate, all of which are `present`. What is gone stays so."""
    said = statements(present)
    judged: set[Hashable] = set()
    for verdict in verdicts:
        one = next((one for one in said for _, row in one.rows if row.id == verdict.fact), None)
        if one is None or one.fact.status == "retracted":
            continue
        judged.add(value_of(one.fact))
        if verdict.status == "confirmed":
            one.fact = replace(one.fact, status="confirmed")
            continue
        for other in _meant(verdict, one, said, single):
            end = min(other.end, max(verdict.at, other.start))
            # What goes with its text was said until then; nobody took it back.
            last_said = end if verdict.of == "statement" and not single else other.fact.restated
            other.fact = replace(other.fact, status="retracted", valid_until=end, restated=last_said)
    # Values that live side by side do not concern each other.
    return written(said if single else [one for one in said if value_of(one.fact) in judged], single)


def _meant(verdict: Verdict, one: Statement[H], said: Sequence[Statement[H]], single: bool) -> list[Statement[H]]:
    """The statements that are taken back with one."""
    left = [other for other in said if other.fact.status != "retracted"]
    if verdict.of == "statement":
        return [one]
    if verdict.of == "topic" and single:
        return [other for other in left if weight(other.fact) <= weight(one.fact)]
    return [other for other in left if value_of(other.fact) == value_of(one.fact)]


def refit(present: Sequence[tuple[H, Fact]], single: bool) -> Settled[H]:
    """What changes among the facts of one subject and predicate when some are gone, or when their predicate is declared
    to be single-valued or not.
    """
    said = _once(statements(present))
    new, changed = written(said, single)
    left = {handle for one in said for handle, _ in one.rows}
    changed |= dict.fromkeys(handle for handle, _ in present if handle not in left)
    if single:
        return new, changed
    rows = {handle: fact for handle, fact in {**dict(present), **changed}.items() if fact is not None}
    gone = {fact.superseded_by for _, fact in present} - {fact.id for fact, _ in new}
    return new, {**changed, **_found_by_value(rows, gone)}


def _once(said: Sequence[Statement[H]]) -> list[Statement[H]]:
    """The statements without those that say nothing more than an earlier one of the same text."""
    by_value: dict[Hashable, list[Statement[H]]] = {}
    for one in sorted(said, key=lambda one: (one.fact.created, one.fact.id)):
        same = by_value.setdefault(value_of(one.fact), [])
        if not any(_is_one(other.fact, one.fact) and _is_as_sure(other, one) for other in same):
            same.append(one)
    return [one for some in by_value.values() for one in some]


def _is_as_sure(one: Statement[H], other: Statement[H]) -> bool:
    """Whether one holds as long, as surely and by as good a word as another."""
    around = one.start <= other.start and other.end <= one.end and other.fact.status in ACTIVE
    return around and (one.fact.confidence, source_weight(one.fact.source)) >= (
        other.fact.confidence,
        source_weight(other.fact.source),
    )


def _found_by_value(rows: Mapping[H, Fact], gone: Container[str | None]) -> dict[H, Fact]:
    """Of values the fact of which is gone that had the plain id, by which the same is found when it is stated again,
    the one that holds longest under that id, and what refers to it.
    """
    plain = {handle: fact_id(fact.subject, fact.predicate, fact.object, fact.value) for handle, fact in rows.items()}
    lost = set(plain.values()) - {fact.id for fact in rows.values()}
    longest = {plain[handle]: handle for handle in sorted(rows, key=lambda handle: until(rows[handle]))}
    changed = {longest[id_]: replace(rows[longest[id_]], id=id_) for id_ in lost if id_ in gone}
    renamed = {rows[handle].id: fact.id for handle, fact in changed.items()}
    for handle, row in rows.items():
        if row.superseded_by in renamed:
            changed[handle] = replace(changed.get(handle, row), superseded_by=renamed[row.superseded_by])
    return changed


def _fitted(stated: Sequence[Stated], present: Sequence[tuple[H, Fact]], single: bool) -> Settled[H]:
    said = statements(present)
    for one in stated:
        _add(said, one, single)
    new, changed = written(said, single)
    left = {handle for one in said for handle, _ in one.rows}
    return new, {**changed, **{handle: None for handle, _ in present if handle not in left}}


def _add(said: list[Statement[H]], stated: Stated, single: bool) -> None:
    """Put a statement to the others; what holds and is said again is no second one."""
    same = [one for one in said if _says(one.fact, stated)]
    new = _as_spelt(as_stated(stated.fact), same)
    if stated.settled and _is_known(same, new):
        return
    for one in same:
        # So far its object may be known as a text: it leads to an entity now.
        if one.fact.object != new.object:
            one.fact = replace(one.fact, id=new.id, object=new.object, value=new.value)
    moved = next((one for one in same if one.fact.source_ref in stated.gone and one.fact.status in ACTIVE), None)
    twin = next((one for one in same if key_of(one.fact) == key_of(new)), None)
    holding = twin or moved
    if holding is None and not stated.settled:
        holding = (_believed if single else _overlapping)(said, same, new)
        if holding is None and not single and not stated.by_user and _was_taken_back(same, new):
            return
    last = max((one.last for one in said), default=0) + 1
    first = max((one.first for one in said), default=0) + 1
    if holding is None:
        holding = Statement(new, [], last, first)
        said.append(holding)
    elif holding is moved:
        kept = replace(_restated(moved.fact, stated), valid_from=new.valid_from)
        moved.fact = kept if "user_edit" in (kept.source, new.source) else replace(kept, source_ref=new.source_ref)
    elif (again := _surer(holding, stated, new)) is not None:
        holding.fact = replace(holding.fact, valid_until=begins(new))
        holding = Statement(again, [], last, first)
        said.append(holding)
    else:
        start = holding.fact.valid_from if single else _start(holding.fact, stated)
        last_said = max(weight(new), holding.fact.restated or weight(new)) if single else holding.fact.restated
        holding.fact = replace(_restated(holding.fact, stated), valid_from=start, restated=last_said)
        holding.last = last
    if stated.by_user and not single:
        _make_way(holding, same)
    if stated.by_user and (new.confidence >= CERTAIN or not single):
        said[:] = [one for one in said if one is holding or not _is_within(one, holding, same)]


def _as_spelt(new: Fact, same: Sequence[Statement[H]]) -> Fact:
    """The fact with its value as it was spelt first."""
    known = [one.fact for one in same if one.fact.object == new.object]
    return replace(new, value=min(known, key=lambda fact: fact.created).value) if known else new


def _is_known(same: Sequence[Statement[H]], new: Fact) -> bool:
    """Whether what comes from another memory, or from an earlier state of this one, was stated here as well, or taken
    back since it was stated. What became of it there is then so here, too.
    """
    twins = [one for one in same if one.fact.created == new.created]
    for one in [one for one in twins if key_of(one.fact) == key_of(new)] or twins:
        one.fact = _reconciled(one.fact, new)
    ended = [one.fact for one in same if one.fact.status == "retracted" and new.created <= until(one.fact)]
    return bool(twins) or any(new.source_ref == fact.source_ref or fact.source == "user_edit" for fact in ended)


def _reconciled(here: Fact, there: Fact) -> Fact:
    """A statement as it stands after both: what ended here has ended, and what was confirmed or ended there, too."""
    if "retracted" not in (here.status, there.status):
        return replace(here, status="confirmed") if there.status == "confirmed" else here
    if here.status == "retracted":
        return here
    return replace(here, status="retracted", valid_until=there.valid_until, restated=there.restated)


def _surer(holding: Statement[H], stated: Stated, new: Fact) -> Fact | None:
    """What holds from when it is said again, where that is more or less sure: its past stays as sure as it was."""
    again = _restated(holding.fact, stated)
    if again.confidence == holding.fact.confidence or begins(new) <= holding.start:
        return None
    return replace(again, id=new.id, created=new.created, valid_from=new.valid_from, restated=None)


def _make_way(said: Statement[H], same: Sequence[Statement[H]]) -> None:
    """Let what says the same hold only while a user's word does not."""
    for one in same:
        if one is not said and one.start < said.start < one.end:
            one.fact = replace(one.fact, valid_until=said.start)
        elif one is not said and said.start <= one.start < said.end < one.end:
            one.fact = replace(one.fact, valid_from=said.end)


def _is_within(one: Statement[H], said: Statement[H], same: Sequence[Statement[H]]) -> bool:
    """Whether a user says the same of all the time that another statement claims: then that is of no more use."""
    return any(one is other for other in same) and said.start <= one.start and one.end <= said.end


def _believed(said: Sequence[Statement[H]], same: Sequence[Statement[H]], new: Fact) -> Statement[H] | None:
    """The statement that is believed when a new one begins, and says the same."""
    for stretch in stretches(said, True):
        one = said[stretch.number]
        if stretch.start <= begins(new) < stretch.end and any(one is other for other in same):
            return one if {one.fact.status, new.status} <= set(ACTIVE) and _is_one(one.fact, new) else None
    return None


def _overlapping(_said: Sequence[Statement[H]], same: Sequence[Statement[H]], new: Fact) -> Statement[H] | None:
    """The statement that holds while a new one does, and says the same."""
    active = [one for one in same if one.fact.status in ACTIVE and _is_one(one.fact, new)]
    there = [one for one in active if one.start < until(new) and begins(new) < one.end]
    return min(there, key=lambda one: not holds(one.fact, begins(new)), default=None) if new.status in ACTIVE else None


def _was_taken_back(same: Sequence[Statement[H]], new: Fact) -> bool:
    """Whether a text says again what was taken back, of a time before that. A text that was gone may come back."""
    ended = [one.fact for one in same if one.fact.status not in ACTIVE and holds(one.fact, begins(new))]
    ended = [fact for fact in ended if fact.restated != fact.valid_until]
    return any(_is_one(fact, new) for fact in ended)


def _is_one(old: Fact, new: Fact) -> bool:
    """Whether two that say the same are one: each text counts for itself, but a user's word for all."""
    return old.source_ref == new.source_ref or "user_edit" in (old.source, new.source)


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
        value=None if new.object is not None else old.value,
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
