"""Random sequences of fact verbs: the rules for current facts hold after each step."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cuetrail import Memory, Scope
from cuetrail.errors import NotFound
from cuetrail.formulas import DAY

NOW = 1_765_929_600_000
USERS = {
    "ann": Scope(user="ann", teams=("ops",)),
    "ann for all": Scope(user="ann", teams=("ops",), share="ops"),
    "bob": Scope(user="bob", teams=("ops",)),
    "eve": Scope(user="eve"),
}
WORDS = ("Oslo", "oslo ", "Rome", "Bonn")
CUES = ("user", "Tower", "user tower")

who = st.sampled_from(sorted(USERS))
days = st.integers(0, 9)
state = st.fixed_dictionaries(
    {
        "do": st.just("state"),
        "who": who,
        "subject": st.sampled_from(["user", "Tower"]),
        "predicate": st.sampled_from(["lives_in", "works_at", "likes"]),
        "word": st.sampled_from(WORDS),
        "begin": st.one_of(st.none(), days),
        "length": st.one_of(st.none(), st.integers(1, 4)),
        "confidence": st.sampled_from([0.5, 0.9, 1.0]),
        "source": st.sampled_from(["user_edit", "file", "conversation"]),
        "ref": st.sampled_from([None, "a", "b"]),
    }
)
others = st.fixed_dictionaries(
    {
        "do": st.sampled_from(["retract", "confirm", "declare", "undeclare", "forget", "dream", "ask", "recall"]),
        "who": who,
        "pick": st.integers(0, 7),
        "cue": st.sampled_from(CUES),
    }
)
steps = st.lists(st.one_of(state, state, others), min_size=3, max_size=14)


def carry_out(memory: Memory, step: dict[str, Any], now: int) -> None:
    what, pick = step["do"], step.get("pick", 0)
    if what == "state":
        begin = None if step["begin"] is None else NOW + step["begin"] * DAY
        first = now if begin is None else begin
        end = None if step["length"] is None else first + step["length"] * DAY
        given = {name: step[name] for name in ("confidence", "source")} | {"source_ref": step["ref"]}
        word = f"{step['word']} of {memory.scope.user}" if step["predicate"] == "likes" else step["word"]
        memory.fact(step["subject"], step["predicate"], word, valid_from=begin, valid_until=end, now=now, **given)
    elif what in ("retract", "confirm"):
        active = [f for f in memory.fact_history("user") if f.status in ("staged", "confirmed")]
        if active:
            # It may be a teammate's.
            with contextlib.suppress(NotFound):
                getattr(memory, what)(active[pick % len(active)].id, now=now)
    elif what in ("declare", "undeclare"):
        memory.declare("works_at", single=what == "declare")
    elif what == "forget":
        mine = [f.subject for f in memory.fact_history("Tower")][:1]
        if pick == 0 and mine and memory.nodes(*mine)[mine[0]].owner == memory.scope.user:
            memory.forget(mine[0])
            memory.add(name="Tower", kind="place", allow_again=True, now=now)
    elif what == "dream":
        memory.dream(only=["facts"], now=now)
    elif what == "ask":
        memory.narrate(step["cue"], now=now)
    elif what == "recall":
        memory.recall(step["cue"], now=now)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(done=steps)
def test_one_value_at_a_time_answers_as_if_made_anew_and_nothing_of_others(
    tmp_path_factory: pytest.TempPathFactory, done: list[dict[str, Any]]
) -> None:
    # One opened memory, and so one cache, for all of them.
    with Memory(tmp_path_factory.mktemp("m"), embedder=None) as memory:
        declared = dict.fromkeys(USERS, False)
        for number, step in enumerate(done):
            memory.scope = USERS[step["who"]]
            if step["do"] in ("declare", "undeclare"):
                declared |= {name: step["do"] == "declare" for name in USERS if USERS[name].user == memory.scope.user}
            carry_out(memory, step, NOW + number * 500)
            check(memory, NOW + number * 500, declared)


def check(memory: Memory, now: int, declared: dict[str, bool]) -> None:
    for name, scope in USERS.items():
        memory.scope = scope
        single = {"lives_in", "works_at"} if declared[name] else {"lives_in"}
        for subject in ("user", "Tower"):
            history = memory.fact_history(subject)
            for at in (now, *(NOW + day * DAY for day in range(0, 14, 2))):
                held = [f for f in memory.facts(subject, as_of=at) if f.subject == history[0].subject]
                said = [(f.predicate, (f.value or "").strip().casefold()) for f in held]
                assert len(set(said)) == len(said), "nothing is believed twice"
                for predicate in single:
                    assert sum(one == predicate for one, _ in said) <= 1, (subject, predicate, at)
        for cue in CUES:
            told = memory.narrate(cue, record_access=False, now=now)
            assert told == memory.narrate(cue, record_access=False, cache=False, now=now)
            hidden = {other.user for other in USERS.values() if other.user != scope.user}
            hidden -= {"ann"} if scope.user == "bob" else set()
            assert not any(f"of {user}" in str(told.to_dict()) for user in hidden)
