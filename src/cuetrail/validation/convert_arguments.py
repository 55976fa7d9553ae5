"""Converts the times and budgets that callers pass to those that the verbs take. Every door uses these functions.

A time may be UTC milliseconds, a datetime, a date, ISO text, or words such as "yesterday", "last week" and "3 days
ago". A datetime or text without a zone is UTC.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import Any

from cuetrail.errors import InputError
from cuetrail.formulas import DAY
from cuetrail.model import Budget, BudgetLike, When
from cuetrail.recall.dates_in_query import read_dates
from cuetrail.text.timestamps import last_millisecond, milliseconds, now_ms, since_epoch

SIZES = ("tokens", "chars")
TERMS: Mapping[str, int | None] = {"week": 7, "month": 30, "year": 365, "never": None}
"""How long a note stays, in days."""
# Days and more are read as in a cue.
_AGO = re.compile(r"(\d{1,6}) (second|minute|hour)s? ago", re.IGNORECASE)
_MS = {"second": 1_000, "minute": 60_000, "hour": 3_600_000}


def time_of(value: object, now: int | None = None) -> Any:
    """Returns UTC milliseconds for a date, a datetime or a text; anything else as it is. Raises InputError for a text
    that is no time. A day gives its first millisecond.

    >>> from datetime import date, datetime
    >>> time_of("2025-03-04") == time_of(date(2025, 3, 4)) == time_of(datetime(2025, 3, 4)) == 1741046400000
    True
    >>> time_of("yesterday", now=1741046400000 + 1) == time_of("2025-03-03")
    True
    """
    return _time(value, now, last=False)


def end_of(value: object, now: int | None = None) -> Any:
    """Returns UTC milliseconds like `time_of`; a day, week, month or year gives its last millisecond.

    >>> end_of("2025-03-04") - time_of("2025-03-04") + 1 == 24 * 60 * 60 * 1000
    True
    """
    return _time(value, now, last=True)


def _time(value: object, now: int | None, last: bool) -> Any:
    if isinstance(value, datetime):
        return since_epoch(value)
    if isinstance(value, date):
        return since_epoch(datetime(value.year, value.month, value.day)) + (DAY - 1 if last else 0)
    if not isinstance(value, str):
        return value
    try:
        return (last_millisecond if last else milliseconds)(value)
    except InputError:
        found = _said_time(value, now_ms() if now is None else now, last)
        if found is None:
            raise InputError(
                f"{value!r:.60} is no time: write 2025-03-04, 2025-03-04T10:30, UTC milliseconds, or words such as "
                "yesterday, last week or 3 days ago"
            ) from None
        return found


def _said_time(text: str, now: int, last: bool) -> int | None:
    """Returns the time that words such as "last week" say, None if they say none or more than one."""
    if text.strip().lower() == "now":
        return now
    if (ago := _AGO.fullmatch(text.strip())) is not None:
        return now - int(ago[1]) * _MS[ago[2].lower()]
    spans, rest = read_dates(text.strip(), now)
    if len(spans) != 1 or rest.strip("\0 "):
        return None
    return spans[0].end - 1 if last else spans[0].start


def ms_of(value: When | None) -> int | None:
    """Returns a time that a caller passed as UTC milliseconds, None for None. Raises InputError for a text that is no
    time.
    """
    found: int | None = time_of(value)
    return found


def budget_of(value: object) -> Any:
    """Returns a Budget for a number of tokens or a mapping; anything else as it is. Raises InputError for a mapping
    that has not exactly one of "tokens" and "chars".

    >>> budget_of(500), budget_of({"chars": 2000})
    (Budget(tokens=500), Budget(chars=2000))
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return Budget(tokens=value)
    if isinstance(value, Mapping):
        if len(value) != 1 or set(value) - set(SIZES):
            raise InputError(
                f'a budget must be a number of tokens, {{"tokens": 500}} or {{"chars": 2000}}: {value!r:.60}'
            )
        return Budget(**value)
    return value


def as_budget(value: BudgetLike) -> Budget:
    """Returns the Budget that a caller passed in any of its forms. Raises InputError as `budget_of` does."""
    found: Budget = budget_of(value)
    return found


Coercion = Callable[[object, int | None], Any]

STARTS = ("as_of", "at", "now", "since", "valid_from", "valid_until")
COERCIONS: Mapping[str, Coercion] = {
    **dict.fromkeys(STARTS, time_of),
    "until": end_of,
    "expires": lambda value, now: value if isinstance(value, str) and value in TERMS else time_of(value, now),
    "budget": lambda value, _now: budget_of(value),
}
"""How the argument of each name is turned into what the verbs take; the second argument is the caller's `now`."""


def coerced(given: Mapping[str, Any]) -> dict[str, Any]:
    """Returns arguments by name as the verbs take them. Words such as "yesterday" are counted from `now` if that is
    among them. Raises InputError with the name of the argument.
    """
    now = coerce("now", given.get("now"))
    return {
        name: coerce(name, value, now if isinstance(now, int) else None) if name in COERCIONS else value
        for name, value in given.items()
    }


def coerce(name: str, value: object, now: int | None = None) -> Any:
    """Returns one argument as the verbs take it. Raises InputError that begins with its name."""
    try:
        return COERCIONS[name](value, now)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None
