"""An import writes only where its scope may, and only what `add`, `link` and `fact` would have taken."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cuetrail.embed.vectors import Vectors
from cuetrail.model import Edge, Fact, Life, Node, Note, Scope, Tag, TextQuery, Where
from cuetrail.session import Session
from cuetrail.store.ports import Store
from cuetrail.store.write import Batch
from cuetrail.transfer.import_file import How, ImportReport, import_file
from cuetrail.validation.stored_records import find_faulty

ANN, BOB = Scope("acme", "ann"), Scope("acme", "bob", ("ops",), "ops")
NODE = {"type": "node", "id": "x", "text": "a text"}
EDGE = {"type": "edge", "id": "e", "src": "a", "dst": "b"}
FACT = {"type": "fact", "id": "f", "subject": "a", "predicate": "uses", "value": "SQLite"}


def imported(store: Store, scope: Scope, folder: Path, *lines: dict[str, Any] | str) -> ImportReport:
    path = folder / "in.jsonl"
    raw = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("\n".join(['{"cuetrail": 1}', *raw]) + "\n")
    session = Session("memory", store, scope, Vectors(store, None), None)
    return import_file(session, path, None, How(), 5)


def nested(depth: int) -> str:
    return '{"a":' * depth + "1" + "}" * depth


def test_a_line_of_a_team_that_the_scope_is_not_in_is_left_out(store: Store, tmp_path: Path) -> None:
    store.write(BOB, Batch(nodes=[Node("plan", text="the plan")]))
    forged = {**NODE, "id": "plan", "text": "another plan", "team": "ops"}
    unknown = {**NODE, "id": "nothing", "team": "ops"}
    tie = {**EDGE, "src": "plan", "dst": "plan", "team": "ops"}
    note = {"type": "note", "id": "n", "target": "plan", "text": "a remark", "team": "ops"}
    fact = {**FACT, "subject": "plan", "team": "ops"}
    report = imported(store, ANN, tmp_path, forged, unknown, tie, note, fact)
    assert report.records == 0
    messages = [error.error.partition(": ")[2] for error in report.errors]
    assert len(messages) == 5, "each line is reported"
    assert len(set(messages)) == 1, "and in the same words, whether or not its node exists"
    assert "the team 'ops', which this scope is not in" in messages[0]
    assert [store.get(BOB, ["plan"])["plan"].text, store.get(BOB, ["nothing"])] == ["the plan", {}]
    assert imported(store, BOB, tmp_path, unknown).added == 1, "a member of the team may"


def test_a_record_on_another_users_node_is_refused_as_one_on_a_node_that_is_not_there(
    store: Store, tmp_path: Path
) -> None:
    store.write(BOB, Batch(nodes=[Node("a", text="Bob's")]))
    store.write(ANN, Batch(nodes=[Node("b", text="Ann's")]))
    there = imported(store, ANN, tmp_path, EDGE, FACT).errors
    missing = imported(store, ANN, tmp_path, {**EDGE, "src": "no"}, {**FACT, "subject": "no"}).errors
    assert [e.error for e in there] == [e.error.replace("'no'", "'a'") for e in missing]
    assert len(there) == 2


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({**NODE, "life": {"salience": 44}}, "salience must be from 0 to 1, not 44"),
        ({**NODE, "life": {"confidence": 3}}, "confidence must be from 0 to 1, not 3"),
        ({**NODE, "life": {"gradient": 99}}, "gradient must be from 0.5 to 3.0, not 99"),
        ({**NODE, "at": 10**15}, "at must be a time in UTC milliseconds"),
        ({**NODE, "seq": -(2**63)}, "seq must be from -1 to 1000000000000000, not -9223372036854775808"),
        ({**NODE, "tag_details": [[f"t{n}", "t", "user"] for n in range(1001)]}, "tags may have at most 1000 items"),
        (json.dumps(NODE)[:-1] + f', "props": {nested(900)}}}', "props are too large: they are nested more than 32"),
        ({**NODE, "props": {"a": "x" * 1_000_001}}, "props are too large: more than 1000000 bytes"),
        ({**EDGE, "weight": 7}, "weight must be from 0.25 to 1.0, not 7"),
        ({**EDGE, "attitude": 9}, "attitude must be from 1 to 5, not 9"),
        ({**EDGE, "confidence": 3}, "confidence must be from 0 to 1, not 3"),
        ({**FACT, "confidence": 3}, "confidence must be from 0 to 1, not 3"),
        ({**FACT, "valid_from": -(10**15)}, "valid_from must be a time in UTC milliseconds"),
    ],
)
def test_a_number_out_of_range_costs_its_line_and_no_other(
    store: Store, tmp_path: Path, line: dict[str, Any] | str, message: str
) -> None:
    ends = [{**NODE, "id": "a"}, {**NODE, "id": "b"}]
    report = imported(store, ANN, tmp_path, *ends, line)
    assert report.added == 2
    assert [error.error.startswith(f"line 4: {message}") for error in report.errors] == [True], report.errors
    assert store.get(ANN, ["x"]) == {}
    assert find_faulty(store) == []


def test_words_of_an_import_are_stored_in_their_normal_form(store: Store, tmp_path: Path) -> None:
    node = {**NODE, "kind": "Person", "name": "Ada", "tag_details": [["Big Red", "Big Red"]], "buckets": ["My Work"]}
    fact = {**FACT, "subject": "x", "predicate": "Works At", "tags": ["Big Red"]}
    assert imported(store, ANN, tmp_path, node, fact).errors == ()
    found = store.get(ANN, ["x"])["x"]
    assert (found.kind, found.tags, found.buckets) == ("person", ("big_red",), ("my_work",))
    stated = store.facts(ANN, ["x"])["x"][0]
    assert (stated.predicate, stated.tags) == ("works_at", ("big_red",))


def test_the_doctor_finds_and_mends_what_an_older_version_let_in(store: Store) -> None:
    life = Life(salience=44.0)
    nodes = [
        Node("a", text="a", life=life),
        Node("c", text="c", seq=-9),
        Node("b", "Person", text="b", tag_details=(Tag("Big Red", "Big Red"),), life=Life(confidence=3.0)),
    ]
    fact = Fact("f", "a", "uses", value="SQLite", confidence=3.0)
    tie = Edge("e", "a", "b", weight=7.0, attitude=9, text="a tie", tags=("Big Red",))
    store.write(BOB, Batch(nodes=nodes, edges=[tie], facts=[fact], notes=[Note("n", "e", "a note", "edge")]))
    found = {one.problem: one.fix for one in find_faulty(store)}
    assert set(found) == {
        "the node 'a' of acme/bob in the team ops: salience must be from 0 to 1, not 44.0",
        "the node 'c' of acme/bob in the team ops: seq must be from -1 to 1000000000000000, not -9",
        "the node 'b' of acme/bob in the team ops: confidence must be from 0 to 1, not 3.0",
        "the edge 'e' of acme/bob in the team ops: weight must be from 0.25 to 1.0, not 7.0",
        "the fact 'f' of acme/bob in the team ops: confidence must be from 0 to 1, not 3.0",
    }
    assert set(found.values()) == {"run `cuetrail doctor --repair`"}
    assert {one.fix for one in find_faulty(store, store.write)} == {"mended"}
    assert find_faulty(store) == []
    a, b, c = store.get(BOB, ["a", "b", "c"]).values()
    assert c.seq == -1
    assert (a.life, b.life, b.kind, b.tags) == (Life(salience=1.0), Life(), "person", ("big_red",))
    (edge,) = store.edges(BOB, ["e"])["e"]
    assert (edge.weight, edge.attitude, edge.tags, edge.text) == (1.0, 5, ("big_red",), "a tie")
    assert [note.text for note in store.notes(BOB, ["e"], "edge", 0, 9)["e"]] == ["a note"]
    assert store.facts(BOB, ["a"])["a"][0].confidence == 1.0
    assert [hit.id for hit in store.text(BOB, TextQuery(""), 9, Where(tags=("big_red",)))] == ["b"]
    assert store.history(BOB, "b") == []
    assert store.doctor(repair=False, progress=None) == []


def test_the_doctor_says_what_to_do_with_a_record_that_it_cannot_mend(store: Store) -> None:
    store.write(ANN, Batch(nodes=[Node("a", text="a", props=json.loads(nested(40)))]))
    for write in (None, store.write):
        (found,) = find_faulty(store, write)
        assert "nested more than 32" in found.problem
        assert found.fix == "`add` it again under its id, or `forget` it"
