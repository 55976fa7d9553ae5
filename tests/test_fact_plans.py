"""An entity of 100,000 facts costs what one of 100 does: its most certain facts are read in order, and no more."""

from __future__ import annotations

from pathlib import Path

import pytest

from cuetrail.model import Fact, Node, Scope
from cuetrail.store.base import Batch
from cuetrail.store.local import LocalStore
from cuetrail.store.local.facts import SIDES, queries
from cuetrail.store.local.read import Reader

ME = Scope()


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("scope", [ME, Scope(teams=("ops",), share="ops")])
def test_the_facts_that_hold_are_read_without_a_sort(tmp_path: Path, side: str, scope: Scope) -> None:
    store = LocalStore(tmp_path)
    for place in (ME, scope):
        facts = [Fact(f"f{n}", "hub", "p", object="hub", confidence=n / 3000) for n in range(3000)]
        store.write(place, Batch(nodes=[Node("hub", "entity", "Hub")], facts=facts))
    with store.db.reading() as db:
        active, _ = queries(Reader(db, scope, store.db.path), side)
        plan = [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {active}", (1, 0, 0, 10))]
    assert not [step for step in plan if "TEMP B-TREE" in step], plan
    assert any(SIDES[side][1] in step for step in plan)
    assert [f.confidence for f in store.beliefs(scope, ["hub"], 0, 2, "both")["hub"]] == [2999 / 3000, 2998 / 3000]
    store.close()
