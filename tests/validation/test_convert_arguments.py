"""What people pass: times, budgets and recipes in every form, the same at every door."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, timedelta, timezone
from pathlib import Path

import pytest

from cuetrail import Budget, Memory, recipes
from cuetrail.errors import InputError
from cuetrail.formulas import DAY
from cuetrail.recall.recipes import recipe_of
from cuetrail.validation.convert_arguments import budget_of, end_of, time_of

MARCH_4 = 1_741_046_400_000
NOW = MARCH_4 + DAY // 2  # a Tuesday


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "memory", embedder=None) as opened:
        yield opened


@pytest.mark.parametrize(
    ("given", "first", "last"),
    [
        (MARCH_4, MARCH_4, MARCH_4),
        (str(MARCH_4), MARCH_4, MARCH_4),
        ("2025-03-04", MARCH_4, MARCH_4 + DAY - 1),
        (date(2025, 3, 4), MARCH_4, MARCH_4 + DAY - 1),
        (datetime(2025, 3, 4), MARCH_4, MARCH_4),
        (datetime(2025, 3, 4, 1, tzinfo=timezone(timedelta(hours=1))), MARCH_4, MARCH_4),
        ("2025-03-04T10:30Z", MARCH_4 + 630 * 60_000, MARCH_4 + 630 * 60_000),
        ("now", NOW, NOW),
        ("today", MARCH_4, MARCH_4 + DAY - 1),
        ("Yesterday", MARCH_4 - DAY, MARCH_4 - 1),
        ("3 days ago", MARCH_4 - 3 * DAY, MARCH_4 - 2 * DAY - 1),
        ("2 hours ago", NOW - DAY // 12, NOW - DAY // 12),
        ("last week", MARCH_4 - 8 * DAY, MARCH_4 - DAY - 1),
        ("February 2025", MARCH_4 - 31 * DAY, MARCH_4 - 3 * DAY - 1),
    ],
)
def test_a_time_is_read_in_every_form(given: object, first: int, last: int) -> None:
    assert (time_of(given, NOW), end_of(given, NOW)) == (first, last)


@pytest.mark.parametrize("given", ["soon", "", "week", "what happened yesterday", "2025-13-01", "May and June 2024"])
def test_a_text_that_is_no_time_is_refused_with_what_to_write(given: str) -> None:
    with pytest.raises(InputError, match=r"is no time: write 2025-03-04, .* or words such as"):
        time_of(given, NOW)


def test_budgets_and_recipes_are_taken_by_number_and_name() -> None:
    assert budget_of(500) == Budget(tokens=500)
    assert budget_of({"chars": 900}) == Budget(chars=900)
    assert recipe_of("TRAIL") is recipe_of(" trail ") is recipes.TRAIL
    with pytest.raises(InputError, match="there is no recipe 'best': use energy, explore"):
        recipe_of("best")
    with pytest.raises(InputError, match="a budget must be a number of tokens"):
        budget_of({"words": 5})


def test_the_verbs_take_them(memory: Memory) -> None:
    memory.add("The mast is made of ash.", id="old", at="2025-03-01", now=NOW)
    memory.add("The mast was painted.", id="new", at=date(2025, 3, 3), now=NOW)
    assert [hit.node.id for hit in memory.recall("mast", since="yesterday", now=NOW).hits] == ["new"]
    assert [hit.node.id for hit in memory.recall("mast", until=datetime(2025, 3, 2), recipe="tag-walk").hits] == ["old"]
    assert [node.id for node in memory.timeline(since="2025-02-01", until="2025-03-01").nodes] == ["old"]
    assert len(memory.recall("mast", budget={"chars": 20}).text) <= 20
    memory.fact("Ann", "lives_in", "Oslo", valid_from="2024-05-01", now="2025-03-04")
    assert memory.facts("Ann", as_of="2024-04-30") == []
    assert [fact.value for fact in memory.facts("Ann", as_of=date(2024, 5, 2))] == ["Oslo"]
    assert memory.note("old", "look again", expires=date(2025, 4, 1), now=NOW).expires == time_of("2025-04-01")
    with pytest.raises(InputError, match="since: 'someday' is no time"):
        memory.recall("mast", since="someday")


def test_a_name_that_a_verb_does_not_have_is_refused(memory: Memory) -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'tag'"):
        memory.recall("mast", tag="boat")  # type: ignore[call-arg]  # that is what is tested
    with pytest.raises(InputError, match="kinds must be a list of texts"):
        memory.tag_walk("mast", kinds="atom")
