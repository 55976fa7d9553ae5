"""Whatever is stated, in whatever order: at any time no fact is believed twice, and of a single-valued predicate at
most one value.
"""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from cuetrail.model import Fact
from cuetrail.model.ids import fact_id
from cuetrail.store.shared.fact_conflicts import Settled, judge, settle
from cuetrail.store.shared.fact_fields import begins, holds, until
from cuetrail.store.write import Stated, Verdict

told = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", "A ", "c"]),
        st.integers(0, 9),
        st.none() | st.integers(0, 9),
        st.none() | st.integers(0, 9),
        st.sampled_from([0.5, 0.9, 1.0]),
        st.sampled_from(["user_edit", "file"]),
    ),
    min_size=1,
    max_size=8,
)


said = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", "A "]),
        st.integers(0, 9),
        st.none() | st.integers(0, 9),
        st.none() | st.integers(0, 9),
        st.sampled_from([0.5, 1.0]),
        st.sampled_from(["user_edit", "file", "retract"]),
    ),
    min_size=1,
    max_size=6,
)


def _put(rows: dict[int, Fact], settled: Settled[int]) -> dict[int, Fact]:
    new, changed = settled
    first = max(rows, default=0) + 1
    left = {**rows, **changed, **{first + n: one for n, (one, _) in enumerate(new)}}
    return {key: one for key, one in left.items() if one is not None}


def _after(statements: list[Any], single: bool = True) -> dict[int, Fact]:
    """What is in a memory after these were stated one after the other."""
    rows: dict[int, Fact] = {}
    for value, at, start, end, confidence, source in statements:
        if source == "retract":
            verdicts = [Verdict(one.id, "retracted", at) for one in rows.values()]
            rows = _put(rows, judge(verdicts, list(rows.items()), single))
            continue
        fact = Fact(
            fact_id("s", "status", None, value), "s", "status", value=value, confidence=confidence, source=source,
            created=at, valid_from=start, valid_until=end,
        )  # fmt: skip
        rows = _put(rows, settle([Stated(fact, single)], list(rows.items())))
    return rows


@settings(max_examples=300)
@given(statements=told)
def test_at_any_time_at_most_one_value_holds_and_no_two_facts_share_an_id(statements: list[Any]) -> None:
    rows = _after(statements).values()
    for at in range(-1, 11):
        values = [fact.value for fact in rows if holds(fact, at)]
        assert len(values) <= 1, f"at {at}: {values}"
    assert len({fact.id for fact in rows}) == len(rows)


@settings(max_examples=300)
@given(statements=said)
def test_of_many_values_none_is_believed_twice_at_a_time(statements: list[Any]) -> None:
    rows = _after(statements, single=False).values()
    for at in range(-1, 11):
        values = [(fact.value or "").strip().casefold() for fact in rows if holds(fact, at)]
        assert len(values) == len(set(values)), f"at {at}: {values}"
    assert len({fact.id for fact in rows}) == len(rows)


@settings(max_examples=300)
@given(statements=said)
def test_what_is_stated_of_many_values_holds_from_when_it_is_said_to(statements: list[Any]) -> None:
    value, at, start, end, *_ = statements[-1]
    rows = _after([*statements, (value, at, start, end, 1.0, "user_edit")], single=False).values()
    moment = at if start is None else start
    if end is None or end > moment:
        assert value.strip().casefold() in {(f.value or "").strip().casefold() for f in rows if holds(f, moment)}


@settings(max_examples=300)
@given(statements=told)
def test_what_was_stated_last_and_surely_by_a_user_holds_from_when_he_says(statements: list[Any]) -> None:
    statements = sorted(statements, key=lambda one: one[1])
    value, at, start, end, _, _ = statements[-1]
    rows = _after([*statements, (value, at, start, end, 1.0, "user_edit")]).values()
    moment = at if start is None else start
    if end is None or end > moment:
        assert {(f.value or "").strip().casefold() for f in rows if holds(f, moment)} == {value.strip().casefold()}


@settings(max_examples=300)
@given(statements=told)
def test_stating_all_in_one_batch_is_stating_one_after_the_other(statements: list[Any]) -> None:
    # Each has a moment of its own: of what is stated at one moment only the last is known to be so afterwards.
    statements = [(v, at + number / 100, *rest) for number, (v, at, *rest) in enumerate(statements)]
    facts = [
        Fact(fact_id("s", "status", None, v), "s", "status", value=v, confidence=c, source=source, created=at,
             valid_from=start, valid_until=end)
        for v, at, start, end, c, source in statements
    ]  # fmt: skip
    together = _put({}, settle([Stated(fact, single=True) for fact in facts], [])).values()
    apart = _after(statements).values()

    def told_of(rows: Any) -> list[Any]:
        return sorted((f.value, begins(f), until(f), f.status) for f in rows)

    assert told_of(together) == told_of(apart)


@settings(max_examples=400)
@given(statements=said, more=said, single=st.booleans())
def test_what_comes_in_from_another_memory_a_second_time_changes_nothing(
    statements: list[Any], more: list[Any], single: bool
) -> None:
    # Each has a moment of its own.
    first = [(value, 2 * number, *rest) for number, (value, _, *rest) in enumerate(statements)]
    there = _after(first, single)
    here = _after([(value, 2 * number + 1, *rest) for number, (value, _, *rest) in enumerate(more)], single)
    coming = [Stated(fact, single, settled=True) for fact in there.values()]
    assert _changes(there, settle(coming, list(there.items()))) == {}
    once = _put(here, settle(coming, list(here.items())))
    assert _changes(once, settle(coming, list(once.items()))) == {}


@settings(max_examples=400)
@given(statements=said, more=said, single=st.booleans())
def test_an_earlier_state_that_comes_in_again_brings_nothing_back(
    statements: list[Any], more: list[Any], single: bool
) -> None:
    done = [
        (value, number, *rest)
        for number, (value, _, *rest) in enumerate([*statements, *more, (*more[0][:5], "retract")])
    ]
    before, after = _after(done[: len(statements)], single), _after(done, single)
    coming = [Stated(fact, single, settled=True) for fact in before.values()]
    again = _put(after, settle(coming, list(after.items()))).values()
    assert [fact for fact in again if holds(fact, 99)] == [], "all was taken back"


def _changes(rows: dict[int, Fact], settled: Settled[int]) -> dict[int, Any]:
    new, changed = settled
    return {**changed, **{-n: fact for n, (fact, _) in enumerate(new, 1)}}
