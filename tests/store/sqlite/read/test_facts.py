"""SQLite reads the facts of an entity in the order of an index, without a sort."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from cuetrail.model import Fact, Node, Scope
from cuetrail.store.read import HeldAt
from cuetrail.store.sqlite import SqliteStore
from cuetrail.store.sqlite.read.facts import SIDES, queries
from cuetrail.store.sqlite.reader import Reader
from cuetrail.store.sqlite.rows import FACT
from cuetrail.store.write import Batch

ME = Scope()


HUB = [Fact(f"f{n}", "hub", "p", value=f"v{n}", confidence=n / 300) for n in range(300)]


def test_what_says_the_same_is_found_without_reading_all_of_a_predicate(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    store.write(ME, Batch(nodes=[Node("hub", "entity", "Hub")], facts=HUB))
    store.close()
    with closing(sqlite3.connect(tmp_path / "memory.db")) as db:
        where = "f.part + 0 = 1 AND f.subject = 1 AND f.predicate = 'p' AND f.object IS NULL AND substr(f.value, 1, 64)"
        plan = [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {FACT} WHERE {where} IS substr('v7', 1, 64)")]
    assert "facts_by_value (subject=? AND predicate=? AND object=? AND <expr>=?)" in str(plan), plan


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("scope", [ME, Scope(teams=("ops",), share="ops")])
def test_the_facts_that_hold_are_read_without_a_sort(tmp_path: Path, side: str, scope: Scope) -> None:
    store = SqliteStore(tmp_path)
    for place in (ME, scope):
        facts = [Fact(f"f{n}", "hub", "p", object="hub", confidence=n / 3000) for n in range(3000)]
        store.write(place, Batch(nodes=[Node("hub", "entity", "Hub")], facts=facts))
    with store.db.reading() as db:
        active, _ = queries(Reader(db, scope, store.db.path), side)
        plan = [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {active}", (1, 0, 0, 10))]
    assert not [step for step in plan if "TEMP B-TREE" in step], plan
    assert any(SIDES[side][1] in step for step in plan)
    assert [f.confidence for f in store.facts(scope, ["hub"], held=HeldAt(0, 2, "both"))["hub"]] == [
        2999 / 3000,
        2998 / 3000,
    ]
    store.close()
