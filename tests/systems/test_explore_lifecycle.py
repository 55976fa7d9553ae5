"""Explore, the life of memories: salience, states, gradient, decay, archive and retention. One test per claim."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuetrail import Memory
from cuetrail.dream.passes.decay import decay_rate, decayed
from cuetrail.formulas import DAY
from cuetrail.model import Life, Node
from cuetrail.model.salience import accessed

NOW = 1_768_831_200_000


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "memory", embedder="none") as opened:
        yield opened


def life(memory: Memory, id_: str) -> Life:
    node = memory.get(id_)
    assert node is not None
    return node.life


def use(memory: Memory, text: str, now: int) -> None:
    assert memory.recall(text, now=now).hits


def nights(memory: Memory, *days: float) -> None:
    for day in days:
        memory.dream(now=NOW + int(day * DAY))


# --- use


def test_salience_starts_at_a_half(memory: Memory) -> None:
    memory.add("the antenna", id="a", now=NOW)
    assert (life(memory, "a").salience, life(memory, "a").state) == (0.5, "candidate")


def test_a_returned_hit_adds_075_up_to_1(memory: Memory) -> None:
    memory.add("the antenna", id="a", now=NOW)
    use(memory, "antenna", NOW)
    assert life(memory, "a").salience == 0.575
    for n in range(6):
        use(memory, "antenna", NOW + n)
    assert life(memory, "a").salience == 1.0


def test_a_candidate_is_active_at_the_first_access_and_core_at_the_tenth(memory: Memory) -> None:
    memory.add("the antenna", id="a", now=NOW)
    states = []
    for n in range(10):
        use(memory, "antenna", NOW + n)
        states.append(life(memory, "a").state)
    assert states == ["active"] * 9 + ["core"]


def test_without_record_access_nothing_is_counted(memory: Memory) -> None:
    memory.add("the antenna", id="a", now=NOW)
    assert memory.recall("antenna", record_access=False).hits
    assert life(memory, "a") == Life()


def test_a_longer_interval_raises_the_gradient_and_a_shorter_lowers_it(memory: Memory) -> None:
    memory.add("the antenna", id="a", now=NOW)
    found = []
    for day in (0, 1, 3, 4):
        use(memory, "antenna", NOW + day * DAY)
        found.append(life(memory, "a").gradient)
    assert found == [1.0, 1.0, 1.1, 1.05]


@given(st.lists(st.integers(0, 100), min_size=1, max_size=80))
def test_the_gradient_stays_between_a_half_and_3(gaps: list[int]) -> None:
    one, now = Life(), 0
    for gap in gaps:
        now += gap
        one = accessed(one, now)
        assert 0.5 <= one.gradient <= 3
        assert one.salience <= 1


@pytest.mark.parametrize(("gaps", "end"), [(range(1, 40), 3.0), (range(40, 1, -1), 0.5)])
def test_the_gradient_goes_as_far_as_3_and_as_a_half(gaps: range, end: float) -> None:
    one, now = accessed(Life(), 0), 0
    for gap in gaps:
        now += gap
        one = accessed(one, now)
    assert one.gradient == end


# --- decay


def test_a_memory_loses_its_rate_per_day(memory: Memory) -> None:
    memory.add("the antenna", id="a", now=NOW)
    use(memory, "antenna", NOW)
    nights(memory, 35)
    assert life(memory, "a").salience == pytest.approx(0.575 * math.exp(-0.01 * 35))


def test_decay_runs_from_the_last_access_or_the_last_decay_whichever_is_later(memory: Memory) -> None:
    memory.add("the antenna", id="a", now=NOW)
    use(memory, "antenna", NOW)
    nights(memory, 10)
    faded_to = 0.575 * math.exp(-0.01 * 10)
    assert life(memory, "a").salience == pytest.approx(faded_to)
    use(memory, "antenna", NOW + 20 * DAY)
    lifted = life(memory, "a").salience
    nights(memory, 25)
    rate = decay_rate(2, life(memory, "a").gradient)
    assert life(memory, "a").salience == pytest.approx(lifted * math.exp(-rate * 5))


def test_more_recalls_make_it_fade_more_slowly() -> None:
    assert [decay_rate(n, 1.0) for n in (0, 1, 3)] == [0.02, 0.01, 0.005]
    assert decay_rate(3, 2.0) == pytest.approx(0.02 / 10)


def test_an_uncertain_candidate_fades_faster_and_a_certain_one_not_at_all(memory: Memory) -> None:
    memory.add("a rumour", id="rumour", confidence=0.5, now=NOW)
    memory.add("a certainty", id="certain", confidence=0.8, now=NOW)
    nights(memory, 10)
    assert life(memory, "rumour").salience == pytest.approx(0.5 * math.exp(-0.04 * 10))
    assert life(memory, "certain").salience == 0.5


def test_35_nights_of_one_day_equal_one_night_of_35_days(tmp_path: Path) -> None:
    found = []
    for name, days in (("nightly", range(1, 36)), ("once", range(35, 36))):
        with Memory(tmp_path / name, embedder="none") as memory:
            memory.add("the antenna", id="a", now=NOW)
            use(memory, "antenna", NOW)
            nights(memory, *days)
            found.append(life(memory, "a").salience)
    assert found[0] == pytest.approx(found[1], abs=1e-12)


lives = st.builds(
    lambda accesses, salience, confidence, gradient, retention: Life(
        1.0 if retention == "keep_forever" else salience,
        "candidate" if accesses == 0 else "core" if accesses >= 10 else "active",
        confidence,
        accesses,
        0 if accesses else None,
        gradient=gradient,
        retention=retention,
    ),
    st.integers(0, 20),
    st.floats(0.02, 1.0),
    st.floats(0, 1),
    st.floats(0.5, 3),
    st.sampled_from(["decay", "ephemeral", "keep_forever"]),
)


@given(lives, st.sampled_from(["person", "source"]), st.lists(st.integers(1, 400 * DAY), min_size=1, max_size=12))
def test_any_split_of_the_days_comes_to_the_same(one: Life, kind: str, moments: list[int]) -> None:
    days = sorted({0, *moments})
    step = one
    for before, now in pairwise(days):
        assert before < now
        step = decayed(step, kind, 0, now)
    whole = decayed(one, kind, 0, days[-1])
    assert step.salience == pytest.approx(whole.salience, rel=1e-9, abs=2e-6)
    assert step.state == whole.state or abs(whole.salience - 0.01) < 1e-9


def test_a_second_dream_of_the_night_writes_nothing(memory: Memory) -> None:
    memory.add("the antenna", id="a", now=NOW)
    use(memory, "antenna", NOW)
    nights(memory, 5)
    before = life(memory, "a")
    report = memory.dream(now=NOW + 5 * DAY)
    assert [(one.read, one.wrote, one.removed) for one in report.passes] == [(0, 0, 0)] * len(report.passes)
    assert life(memory, "a") == before


# --- the archive, and what is kept


def archived(memory: Memory) -> None:
    memory.add("the antenna stands alone", id="a", now=NOW)
    use(memory, "antenna", NOW)
    # .575 * exp(-.01 * days) is .01 after 405.2 days.
    nights(memory, 405)
    assert life(memory, "a").state == "active"
    nights(memory, 406)
    assert life(memory, "a").state == "archived"


def test_below_a_hundredth_it_is_hidden_but_there_by_id(memory: Memory) -> None:
    archived(memory)
    assert not memory.recall("antenna", record_access=False).answerable
    shown = memory.recall("antenna", include_archived=True, record_access=False)
    assert [hit.node.id for hit in shown.hits] == ["a"]


def test_an_archived_memory_that_is_used_is_active_again_and_found(memory: Memory) -> None:
    archived(memory)
    memory.recall("antenna", include_archived=True, now=NOW + 501 * DAY)
    assert life(memory, "a").state == "active"
    assert memory.recall("antenna", record_access=False).answerable


def test_what_is_kept_for_ever_has_salience_1_and_stays(memory: Memory) -> None:
    memory.add("my mother's name", id="a", retention="keep_forever", confidence=0.1, now=NOW)
    nights(memory, 5_000)
    assert (life(memory, "a").salience, life(memory, "a").state) == (1.0, "candidate")


@pytest.mark.parametrize(("kind", "days"), [("atom", 30), ("source", 30), ("person", 90), ("concept", 90)])
def test_what_is_ephemeral_goes_when_its_time_from_creation_is_over(memory: Memory, kind: str, days: int) -> None:
    memory.add("a parking ticket", id="a", kind=kind, name="ticket", retention="ephemeral", now=NOW)
    nights(memory, days)
    assert life(memory, "a").state == "candidate"
    nights(memory, days + 0.1)
    assert life(memory, "a").state == "archived"


def test_what_was_used_while_the_dream_was_reading_is_left_alone(memory: Memory) -> None:
    memory.add("the antenna", id="a", now=NOW)
    use(memory, "antenna", NOW)
    dreaming = memory.store.dream_pass(memory.scope, "decay")
    (one,) = dreaming.used(NOW + 10 * DAY, -1, 10)
    use(memory, "antenna", NOW + 10 * DAY)
    memory.store.get(memory.scope, ["a"])
    from cuetrail.store.dream import Writes

    dreaming.save(Writes(lives=[(one, decayed(one.life, one.kind, one.created, NOW + 10 * DAY))]))
    assert life(memory, "a").accesses == 2
    assert life(memory, "a").salience == 0.65


def test_notes_go_when_their_time_is_over(memory: Memory) -> None:
    memory.add(name="Ada", kind="person", id="ada", now=NOW)
    memory.note("ada", "on leave", expires=NOW + 7 * DAY, now=NOW)
    memory.note("ada", "likes tea", now=NOW)
    nights(memory, 6)
    assert memory.stats().notes == 2
    report = memory.dream(now=NOW + 7 * DAY)
    assert {one.name: one.removed for one in report.passes}["note_expiry"] == 1
    assert memory.stats().notes == 1


def test_a_node_carries_its_life_through_a_correction(memory: Memory) -> None:
    memory.add("the antenna", id="a", now=NOW)
    use(memory, "antenna", NOW)
    assert isinstance(memory.add("the antenna stands", id="a", now=NOW + 1), Node)
    assert life(memory, "a").salience == 0.575
