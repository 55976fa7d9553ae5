"""Storylines and macros are the same on every engine."""

from __future__ import annotations

from datetime import UTC

from cuetrail.dream import RULE, DreamContext, dream
from cuetrail.formulas import DAY
from cuetrail.model import Life, Node, Scope, Where
from cuetrail.store.graph import EdgeFilter, StepQuery
from cuetrail.store.ports import Store
from cuetrail.store.write import Batch

ANN = Scope("t", "ann")
START = 1_768_780_800_000
PASSES = ["mentions", "storylines", "macros"]


def night(store: Store, day: int) -> list[tuple[str, int, int]]:
    report = dream(DreamContext(store, ANN, START + day * DAY, UTC, RULE), only=PASSES)
    return [(one.name, one.wrote, one.removed) for one in report.passes]


def test_sources_become_storylines_and_these_a_macro(store: Store) -> None:
    ada = Node("ada", "person", "Ada Lovelace", life=Life(state="active", accesses=1, last_access=START))
    days = [0, 1, 2, 3, 4, 5, 200, 201, 202, 203, 204]
    atoms = [Node(f"a{day}", text=f"Ada Lovelace on day {day}", at=START + day * DAY) for day in days]
    store.write(ANN, Batch(nodes=[ada, *atoms]))
    night(store, 205)
    assert {count for _, *counts in night(store, 205) for count in counts} == {0}
    about = store.steps(ANN, StepQuery(("ada",), 9, "in", EdgeFilter(kinds=("about",)), Where()))["ada"]
    told = store.get(ANN, sorted(step.other for step in about))
    macro, *stories = sorted(told.values(), key=lambda node: (node.kind != "macro", node.at))
    assert [node.kind for node in (macro, *stories)] == ["macro", "storyline", "storyline"]
    children = store.steps(ANN, StepQuery(tuple(told), 99, "in", EdgeFilter(kinds=("part_of",))))
    assert [sorted(step.other for step in children[node.id]) for node in stories] == [
        [f"a{day}" for day in days[:6]],
        [f"a{day}" for day in days[6:]],
    ]
    assert {step.other for step in children[macro.id]} == {node.id for node in stories}
    assert [node.props["open"] for node in stories] == [False, True]
    assert all(step.edge.via for step in about)
    # What was told of an atom that changes is told anew, and keeps no history.
    store.write(ANN, Batch(nodes=[Node("a0", text="Nobody came", at=START)]))
    night(store, 206)
    children = store.steps(ANN, StepQuery((stories[0].id,), 99, "in", EdgeFilter(kinds=("part_of",))))
    assert sorted(step.other for step in children[stories[0].id]) == [f"a{day}" for day in days[1:6]]
    assert store.get(ANN, [stories[0].id])[stories[0].id].props["sources"] == 5
    assert store.history(ANN, stories[0].id) == []
    # The others are not enough for one; and one storyline is no macro.
    store.write(ANN, Batch(nodes=[Node("a1", text="Nobody came again", at=START + DAY)]))
    night(store, 207)
    assert store.get(ANN, [macro.id, *(node.id for node in stories)]).keys() == {stories[1].id}
    assert {count for _, *counts in night(store, 207) for count in counts} == {0}
