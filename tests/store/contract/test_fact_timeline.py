"""A single-valued predicate has one value at any time, whatever is stated, retracted, removed or declared."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cuetrail.model import Fact, Node, Scope
from cuetrail.model.predicates import declaration
from cuetrail.store.ports import Store
from cuetrail.store.read import HeldAt
from cuetrail.store.shared.fact_fields import begins, until
from cuetrail.store.write import Batch, Verdict
from tests.store.contract.test_facts import DAY, ME, NOW, extracted, fact, state

_SUBJECTS = count()


@pytest.fixture
def known(store: Store) -> Store:
    store.write(ME, Batch(nodes=[Node(id_, "entity", id_.title()) for id_ in ("jacq", "oslo", "rome")]))
    return store


def lives(store: Store, days: int, subject: str = "jacq", scope: Scope = ME) -> list[str | None]:
    found = store.facts(scope, [subject], held=HeldAt(NOW + days * DAY, 20, "out")).get(subject, [])
    return [f.value or f.object for f in found if f.predicate == "lives_in"]


def say(store: Store, value: str, at: int = 0, subject: str = "jacq", scope: Scope = ME, **fields: Any) -> Fact:
    """State where somebody lives, at a day; times are days, too."""
    times = {name: NOW + fields.pop(name) * DAY for name in ("valid_from", "valid_until") if name in fields}
    one = fact("lives_in", value, NOW + at * DAY, subject, **times, **fields)
    state(store, one, single=True, scope=scope)
    return one


def judge(store: Store, one: Fact, at: int, of: Any = "value", scope: Scope = ME) -> None:
    store.write(scope, Batch(verdicts=[Verdict(one.id, "retracted", NOW + at * DAY, of)]))


def test_a_value_that_ends_gives_way_to_the_one_that_it_had_superseded(known: Store) -> None:
    say(known, "Oslo")
    say(known, "Rome", at=3, valid_from=2, valid_until=4)
    assert [lives(known, day) for day in range(6)] == [["Oslo"]] * 2 + [["Rome"]] * 2 + [["Oslo"]] * 2
    assert [f.status for f in sorted(known.facts(ME, ["jacq"])["jacq"], key=begins)] == [
        "superseded",
        "staged",
        "staged",
    ]


@pytest.mark.parametrize("begins_at", [1, 9])
def test_the_value_before_holds_again_when_a_mistaken_or_future_one_is_taken_back(known: Store, begins_at: int) -> None:
    say(known, "Oslo")
    rome = say(known, "Rome", at=1, valid_from=begins_at)
    judge(known, rome, 3)
    assert [lives(known, day) for day in range(3, 12)] == [["Oslo"]] * 9
    assert lives(known, 2) == (["Rome"] if begins_at <= 2 else ["Oslo"])
    known.touch(ME, [], NOW, [f.id for f in known.facts(ME, ["jacq"])["jacq"]])
    say(known, "Bonn", at=4)
    assert [lives(known, day) for day in (0, 3, 4)] == [["Oslo"], ["Oslo"], ["Bonn"]]


def test_a_value_with_the_beginning_of_one_that_ended_begins_there_too(known: Store) -> None:
    say(known, "Oslo", at=1, valid_from=2, valid_until=4)
    say(known, "Rome", at=9, valid_from=2)
    assert [lives(known, day) for day in (1, 2, 3, 4, 9)] == [[], ["Rome"], ["Rome"], ["Rome"], ["Rome"]]
    say(known, "Bonn", at=9, valid_from=2, valid_until=4, source="user_edit")
    assert [lives(known, day) for day in (2, 3, 4, 9)] == [["Bonn"], ["Bonn"], ["Rome"], ["Rome"]]


def test_a_plan_outlives_what_is_stated_of_now(known: Store) -> None:
    say(known, "Oslo", source="user_edit")
    say(known, "Rome", valid_from=9, source="user_edit")
    say(known, "oslo", at=1, source="user_edit")
    say(known, "Bonn", at=2, source="user_edit")
    assert [lives(known, day) for day in (0, 1, 2, 9)] == [["Oslo"], ["Oslo"], ["Bonn"], ["Rome"]]


def test_what_holds_until_a_day_to_come_is_as_active_as_before(known: Store) -> None:
    say(known, "Oslo", source="user_edit", status="confirmed")
    rome = say(known, "Rome", valid_from=9)
    (oslo,) = known.facts(ME, ["jacq"], held=HeldAt(NOW, 5, "out"))["jacq"]
    assert (oslo.status, until(oslo), oslo.superseded_by) == ("confirmed", NOW + 9 * DAY, rome.id)
    judge(known, rome, 1)
    assert lives(known, 12) == ["Oslo"]


def test_what_is_left_when_a_text_is_gone_is_what_the_others_say(known: Store) -> None:
    say(known, "Oslo", source="file", source_ref="a")
    rome = say(known, "Rome", at=1, source="file", source_ref="b")
    again = say(known, "Rome", at=2, source="file", source_ref="c")
    (last,) = (f for f in extracted(known, "c") if f.status == "staged")
    judge(known, last, 3, "statement")
    assert [lives(known, day) for day in range(5)] == [["Oslo"], ["Rome"], ["Rome"], ["Rome"], ["Rome"]]
    (before,) = {f.source_ref: f for f in extracted(known, "b")}.values()
    judge(known, before, 4, "statement")
    assert (lives(known, 3), lives(known, 4), rome.id == again.id) == (["Rome"], ["Oslo"], True)
    (first,) = {f.source_ref: f for f in extracted(known, "a")}.values()
    judge(known, first, 5, "statement")
    assert (lives(known, 4), lives(known, 5)) == (["Oslo"], [])


def test_what_was_taken_back_does_not_come_back_with_an_older_statement_of_it(known: Store) -> None:
    for day, city in enumerate(("Oslo", "Rome", "Oslo")):
        say(known, city, at=day)
    (oslo,) = (f for f in known.facts(ME, ["jacq"])["jacq"] if f.status == "staged")
    judge(known, oslo, 3)
    (rome,) = (f for f in known.facts(ME, ["jacq"])["jacq"] if f.status == "staged")
    assert lives(known, 3) == ["Rome"]
    judge(known, rome, 4)
    assert [lives(known, day) for day in range(6)] == [["Oslo"], ["Rome"], ["Oslo"], ["Rome"], [], []]


def test_what_fades_takes_along_what_it_had_superseded(known: Store) -> None:
    say(known, "Oslo")
    judge(known, say(known, "Rome", at=1), 2, "topic")
    assert [lives(known, day) for day in range(3)] == [["Oslo"], ["Rome"], []]


def test_forgetting_a_value_or_its_text_leaves_what_else_was_stated(known: Store) -> None:
    known.write(ME, Batch(nodes=[Node("atom", text="Jacq lives in Rome")]))
    say(known, "Bonn")
    say(known, "", at=1, object="oslo")
    say(known, "", at=2, object="rome", source_ref="atom")
    known.forget(ME, ["atom"], NOW)
    assert [lives(known, day) for day in range(4)] == [["Bonn"], ["oslo"], ["oslo"], ["oslo"]]
    known.write(ME, Batch(remove_nodes=["oslo"]))
    assert [lives(known, day) for day in range(4)] == [["Bonn"]] * 4


def test_what_is_stated_in_private_changes_nothing_for_the_team(known: Store) -> None:
    ops, private = Scope(user="ann", teams=("ops",), share="ops"), Scope(user="ann", teams=("ops",))
    bob = Scope(user="bob", teams=("ops",))
    known.write(ops, Batch(nodes=[Node("tower", "entity", "Tower")]))
    shared = say(known, "Oslo", subject="tower", scope=ops)
    before = known.facts(bob, ["tower"])
    say(known, "Rome", at=1, subject="tower", scope=private, source="user_edit")
    say(known, "Oslo", at=2, subject="tower", scope=private, source="user_edit", confidence=1.0)
    assert known.facts(bob, ["tower"]) == before
    assert lives(known, 3, "tower", bob) == ["Oslo"]
    version = known.version(bob).writes
    known.write(private, Batch(verdicts=[Verdict(shared.id, "confirmed", NOW)]))
    assert lives(known, 3, "tower", bob) == ["Oslo"]
    say(known, "Bonn", at=4, subject="tower", scope=ops)
    assert (lives(known, 4, "tower", bob), known.version(bob).writes != version) == (["Bonn"], True)


def test_a_declaration_reaches_what_was_stated_and_can_be_taken_back(known: Store) -> None:
    for day, city in enumerate(("Oslo", "Rome", "Bonn")):
        state(known, fact("lives_in", city, NOW + day * DAY))
    state(known, fact("lives_in", "Kiel", NOW + 3 * DAY, confidence=0.5))
    assert len(lives(known, 3)) == 4
    before = known.version(ME).writes
    known.write(ME, Batch(declared={"lives_in": True}))
    assert [lives(known, day) for day in range(5)] == [["Oslo"], ["Rome"], ["Bonn"], ["Bonn"], ["Bonn"]]
    assert known.version(ME).writes != before
    known.write(ME, Batch(declared={"lives_in": False}))
    assert [len(lives(known, day)) for day in range(4)] == [1, 2, 3, 4]
    assert all(f.status == "staged" for f in known.facts(ME, ["jacq"])["jacq"])


def test_what_is_left_is_fitted_by_what_its_user_declared(known: Store) -> None:
    known.write(ME, Batch(nodes=[Node("atom", text="Jacq works at Beta and is happy")]))
    for predicate, how in (("works_at", "single"), ("status", "many")):
        known.settings[declaration(ME.tenant, ME.user, predicate)] = how
    acme, beta = (fact("works_at", name, NOW + day * DAY) for day, name in enumerate(("Acme", "Beta")))
    state(known, acme, beta, single=True)
    judge(known, beta, 2)
    assert [[f.value for f in _held(known, day)] for day in (0, 1, 2)] == [["Acme"], ["Beta"], ["Acme"]]
    for ref in ("atom", "other"):
        state(known, fact("status", "happy", source="file", source_ref=ref), fact("status", "busy", source_ref="other"))
    known.forget(ME, ["atom"], NOW)
    assert sorted(str(f.value) for f in _held(known, 3)) == ["Acme", "busy", "happy"]


def _held(store: Store, days: int) -> list[Fact]:
    return store.facts(ME, ["jacq"], held=HeldAt(NOW + days * DAY, 20, "out")).get("jacq", [])


def test_every_use_is_known_of_and_is_no_write(known: Store) -> None:
    one = say(known, "Oslo")
    seen = [known.version(ME).uses]
    version = known.version(ME).writes
    known.touch(ME, [], NOW, [one.id])
    seen.append(known.version(ME).uses)
    known.touch(ME, ["jacq"], NOW)
    seen.append(known.version(ME).uses)
    assert len(set(seen)) == 3
    assert (known.version(ME).writes, known.version(Scope(user="bob")).uses) == (version, ())


notes = st.lists(
    st.tuples(
        st.sampled_from("abc"),
        st.integers(0, 8),
        st.one_of(st.none(), st.integers(1, 5)),
        st.sampled_from([0.5, 0.9, 1.0]),
        st.booleans(),
    ),
    min_size=1,
    max_size=6,
    unique_by=lambda note: note[1],
)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(told=notes)
def test_what_is_believed_is_the_last_certain_statement_that_is_left(known: Store, told: list[Any]) -> None:
    subject = f"s{next(_SUBJECTS)}"
    known.write(ME, Batch(nodes=[Node(subject, "entity", subject)]))
    for number, (value, start, length, confidence, _) in enumerate(told):
        end = {} if length is None else {"valid_until": start + length}
        given: Any = {"source": "file", "source_ref": f"{subject} {number}", "confidence": confidence}
        say(known, value, number, subject, valid_from=start, **end, **given)
    for number, (*_, gone) in enumerate(told):
        for one in extracted(known, f"{subject} {number}")[:1] if gone else ():
            judge(known, one, 0, "statement")

    def believed(day: int) -> list[str]:
        left = [(n, *one) for n, one in enumerate(told) if not one[4]]
        here = [one for one in left if one[2] <= day < one[2] + (one[3] or 99)]
        sure = [one for one in here if one[4] >= 0.9]
        return [max(sure, key=lambda one: one[2])[1]] if sure else [here[0][1]] if here else []

    assert [lives(known, day, subject) for day in range(14)] == [believed(day) for day in range(14)]
    for one in known.facts(ME, [subject]).get(subject, []):
        assert begins(one) <= until(one)
