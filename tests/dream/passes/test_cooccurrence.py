"""Co-occurrence counts are updated incrementally and equal a full count."""

from __future__ import annotations

import random
from datetime import UTC
from pathlib import Path

import pytest

from cuetrail import Memory
from cuetrail.dream.context import DreamContext, Work
from cuetrail.dream.passes import cooccurrence
from cuetrail.dream.passes import mentions as naming
from cuetrail.dream.taggers import RULE
from cuetrail.store.dream import Book, Entry, Writes
from tests.dream.tools import MONDAY

PEOPLE = ("Ada", "Babbage", "Cleo", "Dora", "Emil", "Fritz", "Greta", "Hanne", "Ingrid", "Jonas")
PASSES = ("mentions", "cooccurrence")


def counted(memory: Memory) -> set[Entry]:
    """What every node chooses by all texts that name it."""
    work = Work(DreamContext(memory.store, memory.scope, MONDAY, UTC, RULE), "looking")
    called = {one.key: one.id for one in work.names()}
    return cooccurrence._from_texts(work, called.keys(), called)


def noted(memory: Memory) -> set[Entry]:
    return set(memory.store.dream_pass(memory.scope, "looking").all(Book.CO_OCCURS))


def spoiled(rows: set[Entry]) -> int:
    return sum(not row.fourth for row in rows)


@pytest.mark.parametrize(("seed", "each", "most"), [(1, 1, 2_000), (2, 3, 2_000), (3, 2, 4)])
def test_company_that_is_kept_up_is_the_company_that_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, each: int, most: int
) -> None:
    monkeypatch.setattr(cooccurrence, "PER_NODE", each)
    monkeypatch.setattr(cooccurrence, "MOST", most)
    monkeypatch.setattr(naming, "FEW", most)
    chance = random.Random(seed)
    with Memory(tmp_path / "memory", embedder=None) as memory:
        memory.add_many({"name": name, "id": name, "kind": "person"} for name in PEOPLE[:-2])
        for night in range(9):
            for _ in range(chance.choice((1, 2, 6))):
                said = " met ".join(chance.sample(PEOPLE, chance.randint(1, 5)))
                memory.add(said, id=f"text {chance.randrange(14)}", at=MONDAY, allow_again=True)
            if night % 3 == 2:
                memory.forget(chance.choice([id_ for n in range(14) if memory.get(id_ := f"text {n}")]))
            if night == 4:
                # They stand in texts already, and one leaves them.
                memory.add_many({"name": name, "id": name, "kind": "person"} for name in PEOPLE[-2:])
                memory.forget("Ada")
            memory.dream(only=PASSES, now=MONDAY)
            assert noted(memory) == counted(memory)
            assert not spoiled(noted(memory))


def test_company_noted_without_counts_is_counted(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory", embedder=None) as memory:
        memory.add_many({"name": name, "id": name, "kind": "person"} for name in PEOPLE)
        for n in range(3):
            memory.add("Ada met Babbage and Cleo", id=f"text {n}", at=MONDAY)
        memory.dream(only=PASSES, now=MONDAY)
        bare = [(Book.CO_OCCURS, row._replace(fourth=0)) for row in noted(memory)]
        memory.store.dream_pass(memory.scope, "looking").save(Writes(put=bare))
        memory.add("Ada met Dora", id="text 9", at=MONDAY)
        memory.dream(only=PASSES, now=MONDAY)
        ada = next(row.first for row in counted(memory) if row.fourth == 1)
        assert {row for row in noted(memory) if row.first == ada} == {r for r in counted(memory) if r.first == ada}
