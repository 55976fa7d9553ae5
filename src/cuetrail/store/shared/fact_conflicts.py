"""Fact conflicts: how a new fact, a verdict or a removal changes the facts that are stored.

A topic is the facts of one subject with one predicate. A verdict confirms or retracts a stored fact. The values of a
single-valued predicate share one timeline (`fact_timeline`). For other predicates each value has a timeline of its
own, on which it is valid once at any time, however many texts state it.
"""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from cuetrail.formulas import source_weight
from cuetrail.model import Fact
from cuetrail.model.ids import fact_id
from cuetrail.store.shared.fact_fields import ACTIVE, CERTAIN, begins, holds, until, value_of
from cuetrail.store.shared.fact_timeline import Statement, as_stated, key_of, statements, stretches, weight, written
from cuetrail.store.write import Stated, Verdict
from cuetrail.text.normalise import norm_name

H = TypeVar("H", bound=Hashable)
Settled = tuple[list[tuple[Fact, H | None]], dict[H, Fact | None]]
"""What a decision changes: the facts to insert, each with the handle of a stored fact of the same value and partition
(None if there is none); and the stored facts that change, by handle, None for one to remove.
"""


def settle(stated: Sequence[Stated], present: Iterable[tuple[H, Fact]]) -> Settled[H]:
    """Merges stated facts with the stored ones, `present`; returns the facts to insert and the stored facts that
    change.

    `present` must contain all facts with the value of a stated one, and for a `single` one all facts of its topic.
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
    """Confirms or retracts facts of one topic; returns what changes. `present` are all facts of the topic, `single`
    says if its predicate has one value at a time. Facts retracted before are not changed.
    """
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
            # A statement removed with its text was valid until then; nobody retracted it.
            last_said = end if verdict.of == "statement" and not single else other.fact.restated
            other.fact = replace(other.fact, status="retracted", valid_until=end, restated=last_said)
    # Without a single value, other values are not affected.
    return written(said if single else [one for one in said if value_of(one.fact) in judged], single)


def _meant(verdict: Verdict, one: Statement[H], said: Sequence[Statement[H]], single: bool) -> list[Statement[H]]:
    """Returns the statements among `said` that a retraction of the statement `one` retracts, by `verdict.of`."""
    left = [other for other in said if other.fact.status != "retracted"]
    if verdict.of == "statement":
        return [one]
    if verdict.of == "topic" and single:
        return [other for other in left if weight(other.fact) <= weight(one.fact)]
    return [other for other in left if value_of(other.fact) == value_of(one.fact)]


def refit(present: Sequence[tuple[H, Fact]], single: bool) -> Settled[H]:
    """Decides again which facts of a topic are valid when, after some were removed or the predicate was declared anew.
    Returns what changes.
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
    """Returns the statements without redundant ones: those whose time another of the same value and text covers, with
    at least the same confidence and source weight.
    """
    by_value: dict[Hashable, list[Statement[H]]] = {}
    for one in sorted(said, key=lambda one: (one.fact.created, one.fact.id)):
        same = by_value.setdefault(value_of(one.fact), [])
        if not any(_is_one(other.fact, one.fact) and _is_as_sure(other, one) for other in same):
            same.append(one)
    return [one for some in by_value.values() for one in some]


def _is_as_sure(one: Statement[H], other: Statement[H]) -> bool:
    """True if `one` covers the whole time of `other`, an active one, with at least its confidence and source weight."""
    around = one.start <= other.start and other.end <= one.end and other.fact.status in ACTIVE
    return around and (one.fact.confidence, source_weight(one.fact.source)) >= (
        other.fact.confidence,
        source_weight(other.fact.source),
    )


def _found_by_value(rows: Mapping[H, Fact], gone: Container[str | None]) -> dict[H, Fact]:
    """Returns the rows that change so that every value is found by its plain id again, the id made from subject,
    predicate and value.

    If the row with that id is `gone`, the row of the value that is valid longest takes the id, and `superseded_by` of
    other rows follows.
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
    """Adds a stated fact to the statements `said`, in place. A repetition of a valid one changes that instead."""
    same = [one for one in said if _says(one.fact, stated)]
    new = _as_spelt(as_stated(stated.fact), same)
    if stated.settled and _is_known(same, new):
        return
    for one in same:
        # Its object may be stored as text so far; it refers to an entity now.
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
    """Returns the new fact with its value spelt as in the first statement of the same value."""
    known = [one.fact for one in same if one.fact.object == new.object]
    return replace(new, value=min(known, key=lambda fact: fact.created).value) if known else new


def _is_known(same: Sequence[Statement[H]], new: Fact) -> bool:
    """True if an imported statement need not be added: it is stored already, or was retracted here after it was made.

    A stored one takes over a confirmation or retraction from the import.
    """
    twins = [one for one in same if one.fact.created == new.created]
    for one in [one for one in twins if key_of(one.fact) == key_of(new)] or twins:
        one.fact = _reconciled(one.fact, new)
    ended = [one.fact for one in same if one.fact.status == "retracted" and new.created <= until(one.fact)]
    return bool(twins) or any(new.source_ref == fact.source_ref or fact.source == "user_edit" for fact in ended)


def _reconciled(here: Fact, there: Fact) -> Fact:
    """Merges a statement with its imported copy: a retraction of either counts, so does the import's confirmation."""
    if "retracted" not in (here.status, there.status):
        return replace(here, status="confirmed") if there.status == "confirmed" else here
    if here.status == "retracted":
        return here
    return replace(here, status="retracted", valid_until=there.valid_until, restated=there.restated)


def _surer(holding: Statement[H], stated: Stated, new: Fact) -> Fact | None:
    """Returns the statement that holds from the repetition on, if the repetition changes the confidence; else None. The
    time before keeps the old confidence.
    """
    again = _restated(holding.fact, stated)
    if again.confidence == holding.fact.confidence or begins(new) <= holding.start:
        return None
    return replace(again, id=new.id, created=new.created, valid_from=new.valid_from, restated=None)


def _make_way(said: Statement[H], same: Sequence[Statement[H]]) -> None:
    """Shortens other statements of the same value to the time that the user's statement `said` does not cover."""
    for one in same:
        if one is not said and one.start < said.start < one.end:
            one.fact = replace(one.fact, valid_until=said.start)
        elif one is not said and said.start <= one.start < said.end < one.end:
            one.fact = replace(one.fact, valid_from=said.end)


def _is_within(one: Statement[H], said: Statement[H], same: Sequence[Statement[H]]) -> bool:
    """True if the user's statement `said` covers the time of `one`, which has the same value and is then redundant."""
    return any(one is other for other in same) and said.start <= one.start and one.end <= said.end


def _believed(said: Sequence[Statement[H]], same: Sequence[Statement[H]], new: Fact) -> Statement[H] | None:
    """Returns the statement that is valid when the new one begins, if both have the same value and count as one
    (`_is_one`); else None.
    """
    for stretch in stretches(said, True):
        one = said[stretch.number]
        if stretch.start <= begins(new) < stretch.end and any(one is other for other in same):
            return one if {one.fact.status, new.status} <= set(ACTIVE) and _is_one(one.fact, new) else None
    return None


def _overlapping(_said: Sequence[Statement[H]], same: Sequence[Statement[H]], new: Fact) -> Statement[H] | None:
    """Returns an active (staged or confirmed) statement of the same value that overlaps the new one in time and counts
    as one with it: both are from the same text, or one is by a user (`_is_one`). Returns None if there is none, or
    if the new fact is not active.
    """
    active = [one for one in same if one.fact.status in ACTIVE and _is_one(one.fact, new)]
    there = [one for one in active if one.start < until(new) and begins(new) < one.end]
    return min(there, key=lambda one: not holds(one.fact, begins(new)), default=None) if new.status in ACTIVE else None


def _was_taken_back(same: Sequence[Statement[H]], new: Fact) -> bool:
    """True if the new fact repeats a retracted statement for a time before the retraction. A statement that ended
    because its text was removed does not count: the text may come back.
    """
    ended = [one.fact for one in same if one.fact.status not in ACTIVE and holds(one.fact, begins(new))]
    ended = [fact for fact in ended if fact.restated != fact.valid_until]
    return any(_is_one(fact, new) for fact in ended)


def _is_one(old: Fact, new: Fact) -> bool:
    """True if two statements of the same value count as one: both from the same text, or one of them by a user."""
    return old.source_ref == new.source_ref or "user_edit" in (old.source, new.source)


def _says(one: Fact, stated: Stated) -> bool:
    """True if `one`, a fact of the same topic, has the stated value, without regard to case and spacing."""
    new = stated.fact
    if one.object is not None or new.object is None:
        return value_of(one) == value_of(new)
    return stated.words is not None and norm_name(one.value or "") == norm_name(stated.words)


def _restated(old: Fact, stated: Stated) -> Fact:
    """Returns the statement `old` after its repetition. The better source wins; only a user lowers the confidence."""
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
