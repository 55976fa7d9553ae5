"""Times in UTC milliseconds, as all records store them: the current time, and times parsed from ISO text.

Dates, datetimes and words such as "2 hours ago" that callers pass: `validation.convert_arguments`.
"""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime, timedelta

from cuetrail.errors import InputError
from cuetrail.formulas import DAY

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MS = timedelta(milliseconds=1)
_NUMBER = re.compile(r"-?\d{1,18}")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def now_ms() -> int:
    """Returns the current time in UTC milliseconds."""
    return time.time_ns() // 1_000_000


def since_epoch(moment: datetime) -> int:
    """Returns the UTC milliseconds of a time; one without a zone is UTC."""
    return ((moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - EPOCH) // _MS


def utc_date(ms: int) -> str:
    """Returns the UTC date of a time in milliseconds; the number as text if it is outside the calendar.

    >>> utc_date(1741046400000), utc_date(1 << 62)
    ('2025-03-04', '4611686018427387904')
    """
    try:
        return f"{EPOCH + timedelta(milliseconds=ms):%Y-%m-%d}"
    except OverflowError:
        return str(ms)


def milliseconds(text: str) -> int:
    """Parses an ISO time or date, or a number of milliseconds, and returns UTC milliseconds. Raises InputError.

    A time without a zone is UTC; a date gives its first millisecond.

    >>> milliseconds("2025-03-04"), milliseconds("2025-03-04T01:00+01:00"), milliseconds("1741046400000")
    (1741046400000, 1741046400000, 1741046400000)
    """
    text = text.strip()
    if _NUMBER.fullmatch(text):
        return int(text)
    try:
        parsed = datetime.fromisoformat(text)
        return since_epoch(parsed)
    except (ValueError, OverflowError):
        raise InputError(f"{text!r:.60} is no time: write 2025-03-04, 2025-03-04T10:30 or UTC milliseconds") from None


def last_millisecond(text: str) -> int:
    """Returns UTC milliseconds like `milliseconds`, but the last one of a date, so that "until" includes that day."""
    return milliseconds(text) + (DAY - 1 if _DATE.fullmatch(text.strip()) else 0)
