"""Facts are merged, judged, found by entity and time, and forgotten in the same way on every engine."""

from __future__ import annotations

import random
from typing import Any

import pytest

from cuetrail.errors import InputError, NotFound
from cuetrail.model import Fact, Node, Scope, Where
from cuetrail.model.ids import fact_id
from cuetrail.store.ports import Store
from cuetrail.store.read import Around, HeldAt, PageRequest, facts_by_id
from cuetrail.store.shared.fact_fields import MADE_FOR_A_FACT, holds
from cuetrail.store.vector_space import VectorSpace
from cuetrail.store.write import Batch, Stated, Verdict
from tests.store.contract.test_records import vector

ME = Scope()
NOW = 1_700_000_000_000
DAY = 86_400_000


def most_used(store: Store, limit: int) -> list[str]:
    """The entities whose facts are used most."""
    return [one.node.id for one in store.page(ME, PageRequest(limit, order="fact use"))]


def fact(predicate: str, value: str, at: int = NOW, subject: str = "jacq", **fields: Any) -> Fact:
    object_ = fields.pop("object", None)
    id_ = fact_id(subject, predicate, object_, value)
    known = {"confidence": 0.9, "source": "conversation", **fields}
    return Fact(id_, subject, predicate, object_, None if object_ else value, created=at, **known)


def state(store: Store, *facts: Fact, single: bool = False, scope: Scope = ME) -> None:
    store.write(scope, Batch(stated=[Stated(one, single) for one in facts]))


def extracted(store: Store, ref: str) -> list[Fact]:
    return store.facts(ME, [ref], "source_ref").get(ref, [])


def values(store: Store, at: int, subject: str = "jacq", limit: int = 10) -> list[str | None]:
    return [f.value or f.object for f in store.facts(ME, [subject], held=HeldAt(at, limit, "both")).get(subject, [])]


@pytest.fixture
def known(store: Store) -> Store:
    names = {"jacq": "JACQ Project", "duckdb": "DuckDB", "user": "user", "málaga": "Café Málaga"}
    store.write(ME, Batch(nodes=[Node(id_, "entity", name) for id_, name in names.items()]))
    return store


def test_a_new_value_of_a_single_valued_predicate_follows_the_old_one(known: Store) -> None:
    state(known, fact("status", "draft"), single=True)
    state(known, fact("status", "active", NOW + DAY), single=True)
    draft, active = (facts_by_id(known, ME, [fact("status", value).id]) for value in ("draft", "active"))
    (old,), (new,) = draft.values(), active.values()
    assert (old.status, old.valid_until, old.superseded_by) == ("superseded", NOW + DAY, new.id)
    assert new.status == "staged"
    assert values(known, NOW) == ["draft"]
    assert values(known, NOW + DAY - 1) == ["draft"]
    assert values(known, NOW + DAY) == ["active"]
    assert values(known, NOW - 1) == []


def test_an_unsure_value_does_not_replace_what_holds(known: Store) -> None:
    state(known, fact("status", "draft"), single=True)
    state(known, fact("status", "active", NOW + DAY, confidence=0.89), single=True)
    assert values(known, NOW + 2 * DAY) == ["draft"]
    assert [f.status for f in known.facts(ME, ["jacq"])["jacq"]] == ["staged", "superseded"]


def test_a_value_that_comes_back_keeps_its_first_time_as_history(known: Store) -> None:
    for days, value in enumerate(("draft", "active", "draft")):
        state(known, fact("status", value, NOW + days * DAY), single=True)
    assert [values(known, NOW + days * DAY) for days in range(3)] == [["draft"], ["active"], ["draft"]]
    assert len(known.facts(ME, ["jacq"])["jacq"]) == 3


def test_what_is_told_later_of_an_earlier_time_holds_until_the_next_value_began(known: Store) -> None:
    state(known, fact("status", "active", NOW + 5 * DAY), single=True)
    state(known, fact("status", "draft", NOW + 6 * DAY, valid_from=NOW), single=True)
    assert [values(known, NOW + days * DAY) for days in (0, 4, 5, 6)] == [["draft"], ["draft"], ["active"], ["active"]]


def test_many_values_live_together_and_a_restatement_is_no_second_fact(known: Store) -> None:
    state(known, fact("uses", "Rust"), fact("uses", "Go"))
    state(known, fact("uses", "Rust", NOW + DAY, confidence=0.5))
    found = known.facts(ME, ["jacq"])["jacq"]
    assert sorted((f.value, f.confidence, f.created) for f in found) == [("Go", 0.9, NOW), ("Rust", 0.9, NOW)]


def test_verdicts_confirm_and_retract_and_leave_the_past_as_it_was(known: Store) -> None:
    rust = fact("uses", "Rust")
    state(known, rust)
    known.write(ME, Batch(verdicts=[Verdict(rust.id, "confirmed", NOW + 1)]))
    assert facts_by_id(known, ME, [rust.id])[rust.id].status == "confirmed"
    known.write(ME, Batch(verdicts=[Verdict(rust.id, "retracted", NOW + DAY)]))
    known.write(ME, Batch(verdicts=[Verdict(rust.id, "confirmed", NOW + DAY)]))
    assert facts_by_id(known, ME, [rust.id])[rust.id].status == "retracted"
    assert (values(known, NOW), values(known, NOW + DAY)) == (["Rust"], [])


def test_the_most_certain_facts_of_every_entity_come_in_one_request(known: Store) -> None:
    sure = [fact("uses", f"tool {n}", confidence=n / 20) for n in range(12)]
    state(known, *sure, fact("likes", "", object="jacq", subject="user", confidence=0.33))
    found = known.facts(ME, ["jacq", "user", "nobody"], held=HeldAt(NOW, 10, "both"))
    assert [f.confidence for f in found["jacq"]] == [n / 20 for n in range(11, 6, -1)] + [0.33] + [
        n / 20 for n in range(6, 2, -1)
    ]
    assert [f.predicate for f in found["user"]] == ["likes"]
    assert known.facts(ME, ["jacq"], held=HeldAt(NOW, 10, "in"))["jacq"][0].subject == "user"
    assert "likes" not in {f.predicate for f in known.facts(ME, ["jacq"], held=HeldAt(NOW, 20, "out"))["jacq"]}
    assert known.facts(ME, ["jacq"], held=HeldAt(NOW, 0, "both")) == {}


def test_a_text_that_becomes_an_entity_is_the_same_fact_from_then_on(known: Store) -> None:
    state(known, fact("uses", "DuckDB", confidence=0.7), fact("uses", "Go"))
    known.touch(ME, [], NOW, [fact("uses", "DuckDB").id])
    entity = fact("uses", "", NOW + DAY, object="duckdb", confidence=0.8)
    known.write(ME, Batch(stated=[Stated(entity, words="duckdb ")]))
    assert [set(values(known, NOW + days * DAY)) for days in (0, 1)] == [{"Go", "duckdb"}] * 2
    (found,) = facts_by_id(known, ME, [entity.id]).values()
    assert (found.access_count, found.confidence, found.value) == (1, 0.8, None)
    assert known.facts(ME, ["duckdb"], held=HeldAt(NOW, 5, "in")).keys() == {"duckdb"}


@pytest.mark.parametrize("predicate", ["uses", "status"])
def test_the_same_value_in_another_case_is_the_same_fact_as_it_was_spelt_first(known: Store, predicate: str) -> None:
    single = predicate == "status"
    state(known, fact(predicate, "Oslo"), single=single)
    state(known, fact(predicate, " OSLO", NOW + DAY), single=single)
    state(known, fact(predicate, "oslo", NOW + DAY, source="user_edit"), single=single)
    state(known, fact(predicate, "oslo", NOW + 2 * DAY, source="file", source_ref="a"), single=single)
    state(known, fact(predicate, "oslo", NOW + 3 * DAY, source="user_edit", confidence=1.0), single=single)
    assert [values(known, NOW + days * DAY) for days in range(4)] == [["Oslo"]] * 4


@pytest.mark.parametrize("predicate", ["uses", "status"])
@pytest.mark.parametrize(("source", "then"), [("conversation", 1.0), ("user_edit", 0.3), ("user_edit", 1.0)])
def test_who_says_it_again_more_or_less_surely_does_not_change_how_sure_it_was(
    known: Store, predicate: str, source: str, then: float
) -> None:
    single = predicate == "status"
    state(known, fact(predicate, "Rust", confidence=0.5), single=single)
    known.touch(ME, [], NOW, [fact(predicate, "Rust").id])
    state(known, fact(predicate, "Rust", NOW + 5 * DAY, source=source, confidence=then), single=single)
    sure = [known.facts(ME, ["jacq"], held=HeldAt(NOW + days * DAY, 5, "out"))["jacq"] for days in (0, 4, 5)]
    assert [[(f.confidence, f.access_count) for f in some] for some in sure] == [[(0.5, 1)], [(0.5, 1)], [(then, 1)]]
    (now,) = sure[2]
    known.write(ME, Batch(verdicts=[Verdict(now.id, "retracted", NOW + 7 * DAY)]))
    assert [values(known, NOW + days * DAY) for days in (4, 6, 7)] == [["Rust"], ["Rust"], []]


def test_a_fact_of_many_values_stands_while_any_text_states_it(known: Store) -> None:
    refs = ("a", "b", "c")
    for day, ref in enumerate(refs):
        state(known, fact("uses", "Rust", NOW + day * DAY, source="file", source_ref=ref, confidence=0.75))
    state(known, fact("uses", "Go", source="file", source_ref="a"))
    for day, ref in enumerate(("c", "a"), 4):
        gone = [f for f in extracted(known, ref) if f.value == "Rust"]
        known.write(ME, Batch(verdicts=[Verdict(f.id, "retracted", NOW + day * DAY, "statement") for f in gone]))
        assert sorted(map(str, values(known, NOW + day * DAY))) == ["Go", "Rust"]
    (left,) = (f for f in known.facts(ME, ["jacq"], held=HeldAt(NOW + 5 * DAY, 5, "out"))["jacq"] if f.value == "Rust")
    assert left.source_ref == "b"
    known.write(ME, Batch(verdicts=[Verdict(left.id, "retracted", NOW + 6 * DAY, "statement")]))
    assert [sorted(map(str, values(known, NOW + day * DAY))) for day in (0, 3, 5, 6)] == [["Go", "Rust"]] * 3 + [["Go"]]


def test_a_surer_text_is_believed_while_it_is_there_and_then_the_one_before(known: Store) -> None:
    state(known, fact("uses", "Rust", source="file", source_ref="a", confidence=0.75))
    state(known, fact("uses", "Rust", NOW + DAY, source="file", source_ref="b", confidence=0.95))
    (sure,) = extracted(known, "b")
    known.write(ME, Batch(verdicts=[Verdict(sure.id, "retracted", NOW + 2 * DAY, "statement")]))
    told = [known.facts(ME, ["jacq"], held=HeldAt(NOW + days * DAY, 5, "out"))["jacq"] for days in range(4)]
    assert [[f.confidence for f in some] for some in told] == [[0.75], [0.95], [0.75], [0.75]]


def test_of_several_texts_the_one_of_the_better_source_is_believed_even_where_it_is_less_sure(known: Store) -> None:
    state(known, fact("uses", "Rust", source="conversation", source_ref="chat", confidence=0.8))
    state(known, fact("uses", "Rust", NOW + DAY, source="file", source_ref="note", confidence=0.75))
    state(known, fact("uses", "Rust", NOW + 2 * DAY, source="conversation", source_ref="talk", confidence=0.9))
    told = [known.facts(ME, ["jacq"], held=HeldAt(NOW + days * DAY, 5, "out"))["jacq"] for days in range(3)]
    assert [[f.source_ref for f in some] for some in told] == [["chat"], ["note"], ["note"]]


def test_what_a_user_takes_back_is_gone_whoever_else_states_it(known: Store) -> None:
    for ref in ("a", "b"):
        state(known, fact("uses", "Rust", source="file", source_ref=ref))
    known.write(ME, Batch(verdicts=[Verdict(fact("uses", "Rust").id, "retracted", NOW + DAY)]))
    assert (values(known, NOW), values(known, NOW + DAY)) == (["Rust"], [])


def test_forgetting_one_of_two_texts_leaves_what_both_state_and_its_id(known: Store) -> None:
    known.write(ME, Batch(nodes=[Node("a", text="JACQ uses Rust"), Node("b", text="JACQ uses Rust!")]))
    for day, ref in enumerate("ab"):
        state(known, fact("uses", "Rust", NOW + day * DAY, source="file", source_ref=ref))
    state(known, fact("uses", "Go"))
    known.forget(ME, ["a"], NOW)
    assert [f.source_ref for f in facts_by_id(known, ME, [fact("uses", "Rust").id]).values()] == ["b"]
    state(known, fact("uses", "rust", NOW + 2 * DAY, source="user_edit"))
    assert sorted(map(str, values(known, NOW + 2 * DAY))) == ["Go", "Rust"]
    assert known.doctor(False, None) == []


def test_a_fact_settled_elsewhere_gives_way_to_what_is_known(known: Store) -> None:
    state(known, fact("status", "active", NOW + DAY), single=True)
    old = fact("status", "draft", NOW, source="user_edit", confidence=1.0)
    known.write(ME, Batch(stated=[Stated(old, single=True, settled=True)]))
    assert [values(known, NOW + days * DAY) for days in range(3)] == [["draft"], ["active"], ["active"]]


def test_a_fact_has_an_object_or_a_value(known: Store) -> None:
    ends: list[dict[str, Any]] = [{"object": "duckdb", "value": "x"}, {}]
    for both in ends:
        with pytest.raises(InputError, match="either an object or a value"):
            state(known, Fact("f", "jacq", "uses", **both))
        with pytest.raises(InputError, match="either an object or a value"):
            known.write(ME, Batch(facts=[Fact("f", "jacq", "uses", **both)]))


def test_a_fact_on_an_unknown_node_changes_nothing(known: Store) -> None:
    with pytest.raises(NotFound, match="there is no node 'nobody'"):
        state(known, fact("uses", "Rust"), fact("uses", "Rust", subject="nobody"))
    assert values(known, NOW) == []


def test_use_is_counted_without_another_version_and_every_write_makes_one(known: Store) -> None:
    state(known, fact("uses", "Rust"))
    before, other = known.version(ME).writes, known.version(Scope(user="bob")).writes
    known.touch(ME, [], NOW + 7, [fact("uses", "Rust").id])
    known.touch(ME, ["jacq"], NOW)
    used = known.facts(ME, ["jacq"])["jacq"][0]
    assert (used.access_count, used.last_accessed) == (1, NOW + 7)
    assert known.version(ME).writes == before
    assert most_used(known, 5) == ["jacq"]
    state(known, fact("uses", "Go"))
    assert known.version(ME).writes != before
    assert known.version(Scope(user="bob")).writes == other


def test_names_are_found_by_words_and_how_they_begin_whatever_the_accents(known: Store) -> None:
    assert [(a.id, a.shared) for a in known.named_like(ME, ["malaga", "project", "cafe"], [], 5)] == [
        ("málaga", 2),
        ("jacq", 1),
    ]
    assert [a.id for a in known.named_like(ME, [], ["duck"], 5)] == ["duckdb"]
    assert known.named_like(Scope(user="bob"), ["project"], ["duck"], 5) == []
    known.write(ME, Batch(nodes=[Node("jacq", "entity", "Renamed")]))
    assert known.named_like(ME, ["project"], [], 5) == []
    assert known.doctor(False, None) == []


def test_the_nearest_of_what_has_a_name(known: Store) -> None:
    known.vector_spaces().start(VectorSpace("test", 2))
    nodes = [Node("atom", text="near"), Node("far", "entity", "Far"), Node("near", "entity", "Near")]
    vectors = {"atom": vector(1, 0), "far": vector(0, 1), "near": vector(1, 0.2)}
    known.write(ME, Batch(nodes=nodes, vectors=vectors))
    assert [f.id for f in known.vector(ME, vector(1, 0), 2, Where(), named=True)] == ["near", "far"]
    assert [f.id for f in known.vector(ME, vector(1, 0), 1, Where())] == ["atom"]
    known.write(ME, Batch(remove_nodes=["near"]))
    assert [f.id for f in known.vector(ME, vector(1, 0), 2, Where(), named=True)] == ["far"]


def test_what_was_read_out_of_a_forgotten_memory_is_forgotten_with_it(known: Store) -> None:
    made = [Node("rust", "entity", "Rust", props=MADE_FOR_A_FACT), Node("atom", text="JACQ uses Rust")]
    known.write(ME, Batch(nodes=made))
    state(known, fact("uses", "", object="rust", source_ref="atom"), fact("uses", "Go", source_ref="other"))
    assert [f.object for f in extracted(known, "atom")] == ["rust"]
    known.forget(ME, ["atom"], NOW)
    assert values(known, NOW) == ["Go"]
    assert known.get(ME, ["rust", "jacq"]).keys() == {"jacq"}


def test_a_teammate_sees_shared_facts_and_no_others(known: Store) -> None:
    ann, bob = Scope(user="ann", teams=("ops",), share="ops"), Scope(user="bob", teams=("ops",))
    known.write(ann, Batch(nodes=[Node("tower", "entity", "Tower")]))
    state(known, fact("uses", "shared", subject="tower"), scope=ann)
    state(known, fact("uses", "of bob", subject="tower"), scope=bob)
    both = known.facts(bob, ["tower"], held=HeldAt(NOW, 10, "both"))["tower"]
    assert {f.value for f in both} == {"shared", "of bob"}
    assert [f.value for f in known.facts(ann, ["tower"], held=HeldAt(NOW, 10, "both"))["tower"]] == ["shared"]
    assert known.facts(Scope(user="eve"), ["tower"], held=HeldAt(NOW, 10, "both")) == {}
    known.write(bob, Batch(verdicts=[Verdict(f.id, "retracted", NOW) for f in both]))
    assert [f.value for f in known.facts(bob, ["tower"], held=HeldAt(NOW, 10, "both"))["tower"]] == ["shared"]


def test_what_holds_at_a_time_is_found_whatever_was_stated(known: Store) -> None:
    chance = random.Random(4)
    for number in range(6):
        subject = f"s{number}"
        known.write(ME, Batch(nodes=[Node(subject, "entity", subject)]))
        for _ in range(6):
            start, end = chance.choice([None, 2, 4, 8]), chance.choice([None, None, 5])
            one = fact("status", chance.choice("abc"), chance.randrange(9), subject, valid_from=start, valid_until=end)
            state(known, one, single=chance.random() < 0.8)
    subjects = [f"s{number}" for number in range(6)]
    every = known.facts(ME, subjects)
    for at in range(-1, 11):
        found = known.facts(ME, subjects, held=HeldAt(at, 99, "both"))
        assert {s: {f.id for f in found.get(s, [])} for s in subjects} == {
            s: {f.id for f in every[s] if holds(f, at)} for s in subjects
        }


def test_facts_around_a_time_are_those_that_hold_then_those_that_ended_last(known: Store) -> None:
    for day, value in enumerate(("draft", "review", "active", "done")):
        state(known, fact("status", value, NOW + day * DAY), single=True)
    state(known, fact("uses", "DuckDB"))
    at = NOW + 2 * DAY

    def around(limit: int, time: int = at) -> list[str | None]:
        return [one.value for one in known.facts(ME, ["jacq"], held=Around(time, limit)).get("jacq", [])]

    assert around(10) == ["active", "DuckDB", "review", "draft"]
    assert around(1) == ["active", "review"]
    assert around(10, NOW - 1) == []
    assert known.facts(ME, ["duckdb"], held=Around(at, 10)) == {}


def test_ended_facts_are_found_by_the_text_they_were_extracted_from(known: Store) -> None:
    known.write(ME, Batch(nodes=[Node(id_, text=f"text {id_}") for id_ in ("old", "new", "tea")]))
    state(known, fact("status", "draft", source_ref="old"), single=True)
    state(known, fact("status", "active", NOW + DAY, source_ref="new"), single=True)
    tea = fact("likes", "tea", source_ref="tea")
    state(known, tea)
    known.write(ME, Batch(verdicts=[Verdict(tea.id, "retracted", NOW + DAY)]))
    found = known.facts(ME, (), held=Around(NOW + 2 * DAY, 10, ("old", "new", "tea", "nothing")))
    assert {ref: [(one.value, one.status) for one in some] for ref, some in found.items()} == {
        "old": [("draft", "superseded")],
        "tea": [("tea", "retracted")],
    }
    stranger = Scope(user="stranger")
    assert known.facts(stranger, ["jacq"], held=Around(NOW + 2 * DAY, 10, ("old", "tea"))) == {}


def test_active_facts_are_found_by_their_value_in_lower_case(known: Store) -> None:
    shed, draft = fact("owns", "The Kite Shed"), fact("status", "Äußerst vorläufig")
    state(known, shed, draft, fact("uses", "kite"))
    found = known.facts(ME, ["the kite shed", "äußerst vorläufig", "shed"], "value")
    assert {value: [one.id for one in some] for value, some in found.items()} == {
        "the kite shed": [shed.id], "äußerst vorläufig": [draft.id],
    }  # fmt: skip
    state(known, fact("status", "done", NOW + DAY), single=True)
    assert known.facts(ME, ["äußerst vorläufig"], "value") == {}
    assert known.facts(Scope(user="mallory"), ["the kite shed"], "value") == {}
