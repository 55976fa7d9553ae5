"""The timeline of a topic, that is of one subject and predicate: which statement is valid when.

A statement claims its value from its beginning until its end, which is stated or comes with its retraction. For a
single-valued predicate at most one statement is valid at any time: of the certain ones the last, else the first of the
others. "Last" goes by the time a statement begins, so notes may arrive in any order; a statement that a user makes
directly counts from when it is made. For other predicates each value has a timeline of its own: of the texts that state
it the one with the highest score is valid, then the first; if that text is removed, the next.

The stored rows follow from the statements alone, in whatever order facts were stated, retracted, deleted or forgotten.
Each row is a period in which a statement is valid. `stated_from`, `stated_until` and `stated_status` hold the original
statement where it differs. `restated` is the last time it was repeated; for a statement that was removed with its text,
that is its end.
"""

from __future__ import annotations

import heapq
from bisect import bisect_right
from collections.abc import Container, Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Generic, NamedTuple, TypeVar

from cuetrail.formulas import fact_score
from cuetrail.model import Fact, FactStatus
from cuetrail.store.shared.fact_fields import CERTAIN, ENDED, EVER, begins, past_id, until, value_of

H = TypeVar("H", bound=Hashable)


class Stretch(NamedTuple):
    """A period in which one statement is the valid one; `number` is its index in the list of statements."""

    start: int
    end: int
    number: int


@dataclass(slots=True)
class Statement(Generic[H]):
    """A fact as it was stated, and the rows that store it, as (handle, row).

    `last` and `first` order statements with the same time: of certain ones the highest `last` wins, of uncertain ones
    the lowest `first`.
    """

    fact: Fact
    rows: list[tuple[H, Fact]] = field(default_factory=list)
    last: int = 0
    first: int = 0

    @property
    def start(self) -> int:
        """Returns the time from which the fact was stated to be valid."""
        return begins(self.fact)

    @property
    def end(self) -> int:
        """Returns the time until which the fact was stated to be valid, EVER if it has no end."""
        return until(self.fact)


@dataclass(slots=True)
class FactRow(Generic[H]):
    """A row to store. It replaces the row under `handle`. If that is None the row is new, and belongs to the same
    partition and nodes as the stored row `like`, if there is one.
    """

    fact: Fact
    handle: H | None
    like: H | None


def as_stated(row: Fact) -> Fact:
    """Returns the fact as it was originally stated; `row` stores one period in which it is valid."""
    superseded = row.status == "superseded"
    status = (row.stated_status or _first_status(row)) if superseded else row.status
    end = row.valid_until if row.stated_until is None else row.stated_until
    if superseded and row.stated_until is None:
        end = None
    elif end is None and status == "retracted":
        end = begins(row)
    start = row.valid_from if row.stated_from is None else row.stated_from
    return replace(
        row,
        status=status,
        valid_from=None if start == row.created else start,
        valid_until=None if end == EVER else end,
        superseded_by=None,
        stated_from=None,
        stated_until=None,
        stated_status=None,
    )


def statements(present: Iterable[tuple[H, Fact]]) -> list[Statement[H]]:
    """Reconstructs the original statements from the stored rows of one topic, given as (handle, row)."""
    found: dict[Hashable, Statement[H]] = {}
    for handle, row in sorted(present, key=lambda pair: (begins(pair[1]), until(pair[1]), pair[1].id)):
        fact = as_stated(row)
        one = found.setdefault(key_of(fact), Statement(fact))
        # The last row of a statement has its latest status.
        one.fact = fact
        one.rows.append((handle, row))
    # Of statements with the same time, the valid one counts as last, or as first if none is certain.
    ranked = sorted(found.values(), key=_standing)
    for number, one in enumerate(ranked):
        one.last, one.first = number, len(ranked) - number
    return list(found.values())


def _standing(one: Statement[H]) -> tuple[bool, bool, int, str]:
    """Returns a sort key for statements with the same time. The one whose stored rows are valid comes last."""
    held = [row for _, row in one.rows if begins(row) < until(row)]
    return any(begins(row) == one.start for row in held), bool(held), one.start, one.fact.id


def key_of(fact: Fact) -> tuple[Hashable, ...]:
    """Returns a key that is equal for two rows of the same topic if they store the same statement."""
    return (value_of(fact), fact.created, begins(fact), fact.source_ref, fact.status == "retracted")


def weight(fact: Fact) -> int:
    """Returns the time that ranks a certain statement: the later one is valid. It is when the statement begins; for one
    that a user makes directly, when it was made, if that is later.
    """
    return max(begins(fact), fact.created) if fact.source == "user_edit" else begins(fact)


def believed_of(facts: Sequence[Fact], single: bool) -> list[Fact]:
    """Returns which of these facts of a topic, all valid at one time, are current: one, or without `single` one per
    value.
    """
    if not single:
        first: dict[Hashable, Fact] = {}
        for fact in facts:
            first.setdefault(value_of(fact), fact)
        return list(first.values())
    sure = [fact for fact in facts if fact.confidence >= CERTAIN]
    if sure:
        return [max(sure, key=lambda f: (max(weight(f), f.restated or 0), f.created, f.id))]
    return [min(facts, key=lambda f: (f.created, f.id))]


def stretches(said: Sequence[Statement[H]], single: bool) -> list[Stretch]:
    """Returns the periods in which each statement is valid, in order. Without `single` all must have the same value."""
    claims = [claim for number, one in enumerate(said) for claim in _claims(number, one, single)]
    # Of certain statements the later wins. Of others the earlier wins, because they end nothing.
    late = {claim: rank for rank, claim in enumerate(sorted(claims, key=lambda c: c.late))}
    early = {claim: rank for rank, claim in enumerate(sorted(claims, key=lambda c: c.early))}
    waiting = sorted(claims, key=lambda c: c.start, reverse=True)
    heap: list[tuple[int, int, _Claim]] = []
    found: list[Stretch] = []
    for start, end in pairwise(sorted({time for claim in claims for time in (claim.start, claim.end)})):
        while waiting and waiting[-1].start <= start:
            claim = waiting.pop()
            heapq.heappush(heap, (0, -late[claim], claim) if claim.certain else (1, early[claim], claim))
        while heap and heap[0][2].end <= start:
            heapq.heappop(heap)
        if heap:
            number = heap[0][2].number
            if found and (found[-1].end, found[-1].number) == (start, number):
                start = found.pop().start
            found.append(Stretch(start, end, number))
    return found


class _Claim(NamedTuple):
    """The period that a statement, or its repetition, claims. `late` and `early` are sort keys: of certain claims the
    one with the highest `late` wins, of others the one with the lowest `early`.
    """

    start: int
    end: int
    certain: bool
    late: tuple[Any, ...]
    early: tuple[int, int]
    number: int


def _claims(number: int, one: Statement[H], single: bool) -> Iterable[_Claim]:
    fact, certain = one.fact, one.fact.confidence >= CERTAIN
    early = (fact.created, one.first)
    if not single:
        score = fact_score(fact.confidence, fact.source, 0, 0, confirmed=fact.status == "confirmed")
        yield _Claim(one.start, one.end, True, (score, -fact.created, -one.first), early, number)
        return
    yield _Claim(one.start, one.end, certain, (weight(fact), fact.created, one.last), early, number)
    if fact.restated is not None:
        again = max(fact.restated, one.start)
        yield _Claim(again, max(again, one.end), certain, (again, fact.created, one.last), early, number)


def written(said: Sequence[Statement[H]], single: bool) -> tuple[list[tuple[Fact, H | None]], dict[H, Fact | None]]:
    """Returns how the statements of one topic are stored: the rows to insert, each with the handle of a stored row of
    the same value (None if there is none), and the stored rows that change, by handle, None for one to remove.
    """
    groups: list[list[Statement[H]]] = [list(said)] if single else list(_by_value(said).values())
    rows = [row for group in groups for row in _rows(group, single)]
    before = {handle: row for one in said for handle, row in one.rows}
    changed: dict[H, Fact | None] = {row.handle: row.fact for row in rows if row.handle is not None}
    changed = {handle: fact for handle, fact in changed.items() if fact != before[handle]}
    changed |= dict.fromkeys(before.keys() - {row.handle for row in rows})
    return [(row.fact, row.like) for row in rows if row.handle is None], changed


def _by_value(said: Iterable[Statement[H]]) -> dict[Hashable, list[Statement[H]]]:
    found: dict[Hashable, list[Statement[H]]] = {}
    for one in said:
        found.setdefault(value_of(one.fact), []).append(one)
    return found


def _rows(said: Sequence[Statement[H]], single: bool) -> list[FactRow[H]]:
    line = stretches(said, single)
    times: list[list[Stretch]] = [[] for _ in said]
    for stretch in line:
        times[stretch.number].append(stretch)
    made = {number: _rows_of(one, times[number]) for number, one in enumerate(said)}
    _give_ids([row for rows in made.values() for row in rows])
    ids = {(number, begins(row.fact)): row.fact.id for number, rows in made.items() for row in rows}
    starts = [stretch.start for stretch in line]
    for row in (row for rows in made.values() for row in rows if row.fact.status in ENDED):
        end = until(row.fact)
        after = line[bisect_right(starts, end) - 1] if line else None
        if after is None or not after.start <= end < after.end:
            continue
        if row.fact.status == "retracted" and row.fact.stated_until is None and said[after.number].start == end:
            # Another value was stated in its place at the time it was retracted.
            row.fact = replace(row.fact, status="superseded", stated_status="retracted", stated_until=end)
        if row.fact.status == "superseded":
            row.fact = replace(row.fact, superseded_by=ids.get((after.number, after.start)))
            row.fact = _planned(row.fact, said[after.number].fact)
    return [row for rows in made.values() for row in rows]


def _planned(row: Fact, after: Fact) -> Fact:
    """Returns the row, not marked as superseded if `after` begins in the future: until then the row is active."""
    stated = as_stated(row)
    if until(row) <= max(row.created, after.created) or stated.status == "retracted":
        return row
    return replace(row, status=stated.status, stated_status=None, stated_until=until(stated))


def _rows_of(one: Statement[H], believed: Sequence[Stretch]) -> list[FactRow[H]]:
    """Returns a row for each period in which the statement is valid. Stored rows are reused, latest periods first."""
    times = list(believed) or [Stretch(one.start, one.start, 0)]
    known = [pair for pair in one.rows if pair[1].object == one.fact.object]
    like = known[-1][0] if known else None
    rows: list[FactRow[H]] = []
    for at, stretch in enumerate(reversed(times)):
        fact = _as_row(one, stretch, last=at == 0)
        if at < len(known):
            handle, row = known[-1 - at]
            fact = replace(fact, id=row.id, access_count=row.access_count, last_accessed=row.last_accessed)
            rows.append(FactRow(fact, handle, None))
        else:
            rows.append(FactRow(fact, None, like))
    return rows[::-1]


def _as_row(one: Statement[H], stretch: Stretch, last: bool) -> Fact:
    fact, start, end = one.fact, one.start, one.end
    whole = stretch.end == end
    status: FactStatus = fact.status if whole or (last and fact.status == "retracted") else "superseded"
    as_is = EVER if status == "superseded" else stretch.end
    return replace(
        fact,
        status=status,
        valid_from=None if stretch.start == start == fact.created else stretch.start,
        valid_until=None if stretch.end == EVER else stretch.end,
        stated_from=None if stretch.start == start else start,
        stated_until=None if as_is == end else end,
        stated_status=None if status != "superseded" or fact.status == _first_status(fact) else fact.status,
    )


def _first_status(fact: Fact) -> FactStatus:
    return "confirmed" if fact.source == "user_edit" else "staged"


def _give_ids(rows: Sequence[FactRow[H]]) -> None:
    """Gives new rows unique ids. Of two rows with the same id, the one that is valid longest keeps it."""
    taken = {row.fact.id: row for row in rows if row.handle is not None}
    news = [row for row in rows if row.handle is None]
    for row in sorted(news, key=lambda row: (until(row.fact), begins(row.fact)), reverse=True):
        other = taken.get(row.fact.id)
        if other is not None:
            moved = row if until(other.fact) >= until(row.fact) else other
            moved.fact = replace(moved.fact, id=_free_id(moved.fact, taken))
            taken[moved.fact.id] = moved
        if other is None or row is not moved:
            taken[row.fact.id] = row


def _free_id(fact: Fact, taken: Container[str]) -> str:
    while (id_ := past_id(fact)) in taken:
        fact = replace(fact, id=id_)
    return id_
