"""Dates in content, names and fields."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuetrail.text import document_dates

DAY = 1710201600000  # 2024-03-12T00:00Z


@pytest.mark.parametrize(
    "text",
    [
        "on 2024-03-12.",
        "12 March 2024",
        "the 12th of March 2024",
        "March 12, 2024",
        "mar. 12th 2024",
        "2024-03-12T00:00:00Z",
        "2024-03-12 02:00+02:00",
        "(2024-03-12)",
    ],
)
def test_a_stated_date_is_found(text: str) -> None:
    assert document_dates.find(text) == (DAY,)


@pytest.mark.parametrize(
    "text",
    ["2024-13-01", "2023-02-29", "31 April 2024", "id-2024-03-12-x", "12024-03-12", "1.2024-03-12", "March 2024"],
)
def test_what_is_no_date_is_ignored(text: str) -> None:
    assert document_dates.find(text) == ()


def test_dates_come_in_the_order_they_stand() -> None:
    assert document_dates.find("March 12, 2024, then 2024-03-11, then 13 March 2024") == (
        DAY,
        DAY - 86400000,
        DAY + 86400000,
    )


@pytest.mark.parametrize("name", ["2024-03-12", "2024-03-12 standup", "notes_2024_03_12", "20240312", "2024.03.12"])
def test_a_file_name_may_hold_a_date(name: str) -> None:
    assert document_dates.from_name(name) == DAY


@pytest.mark.parametrize("name", ["2024", "20241399", "12345678901", "standup", "10000101"])
def test_a_number_in_a_file_name_is_not_always_a_date(name: str) -> None:
    assert document_dates.from_name(name) is None


@pytest.mark.parametrize(
    "value",
    [
        DAY,
        DAY // 1000,
        DAY / 1000,
        str(DAY),
        "2024-03-12",
        "20240312",
        datetime(2024, 3, 12),
        datetime(2024, 3, 12, tzinfo=UTC),
    ],
)
def test_a_field_may_hold_a_time_in_any_usual_form(value: object) -> None:
    assert document_dates.parse(value) == DAY


@pytest.mark.parametrize("value", [None, True, 3, "soon", "", float("nan"), float("inf"), [], {"a": 1}])
def test_a_field_without_a_time_gives_none(value: object) -> None:
    assert document_dates.parse(value) is None


@given(st.datetimes(min_value=datetime(1000, 1, 1), timezones=st.just(UTC)))
def test_every_iso_time_comes_back_exactly(moment: datetime) -> None:
    [found] = document_dates.find(moment.isoformat())
    assert found == (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)
