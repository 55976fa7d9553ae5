"""Nothing passes from one scope to another through any door; see `scope_model`, and `scope_plans` for long runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.servers import Login
from tests.systems.scope_plans import DOORS, run_plan


@pytest.mark.parametrize("door", DOORS)
def test_no_answer_of_a_random_plan_shows_or_hints_at_what_is_anothers(tmp_path: Path, door: str) -> None:
    plan = run_plan(tmp_path / "memory", tmp_path / "files", door, 1, 120 if door == "library" else 60, 25)
    assert plan.worked["add"] > 3, "too few writes to find anything"
    assert plan.done["import"] + plan.done["forget"] > 0


def test_no_answer_of_a_random_plan_on_neo4j_shows_or_hints_at_what_is_anothers(server: Login, tmp_path: Path) -> None:
    plan = run_plan(server.uri, tmp_path / "files", "library", 3, 40, 40)
    assert plan.worked["add"] > 3, "too few writes to find anything"
    assert plan.done["import"] + plan.done["forget"] > 0
