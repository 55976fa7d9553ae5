"""Reads dates in content, frontmatter and file names as UTC milliseconds. A time without a zone counts as UTC.

A date without a time of day becomes a `Day`.

>>> find("Met on 2024-03-12, again on March 13, 2024.")
(1710201600000, 1710288000000)
>>> from_name("2024-03-12 standup"), find("31 February 2024")
(1710201600000, ())
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

from cuetrail.text.timestamps import since_epoch
from cuetrail.text.word_lists import MONTHS

_MONTH = "(" + "|".join(sorted(MONTHS, key=len, reverse=True)) + r")\b\.?"
_DAY = r"(\d{1,2})(?:st|nd|rd|th)?"
_TIME = r"(?:T|t|[ ]{1,2})(\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(?:[ ]?(Z|z|UTC|[+-]\d{2}:?\d{2}))?"
_ISO = re.compile(rf"(?<![\w.\-/])(\d{{4}})-(\d{{2}})-(\d{{2}})(?:{_TIME})?(?![\w\-])")
_DAY_FIRST = re.compile(rf"(?<![\w.\-/]){_DAY}[ \n]{{1,2}}(?:of )?{_MONTH},?[ \n]{{1,2}}(\d{{4}})(?!\w)", re.IGNORECASE)
_MONTH_FIRST = re.compile(rf"(?<![\w\-/]){_MONTH}[ \n]{{1,2}}{_DAY},?[ \n]{{1,2}}(\d{{4}})(?!\w)", re.IGNORECASE)
_YEAR = re.compile(r"\d{4}")
_NAME = re.compile(r"(?<!\d)(\d{4})([-_.]?)(\d{2})\2(\d{2})(?!\d)")
_NUMBER = re.compile(r"-?\d{9,16}(?:\.\d+)?")


class Day(int):
    """A date without a time of day, stored as the UTC midnight at which it begins."""


def find(text: str) -> tuple[int, ...]:
    """Returns all dates stated in the text, in order. Ignores dates that do not exist."""
    # Every form contains a year. This check makes the common case, a text without dates, four times as fast.
    if not _YEAR.search(text):
        return ()
    found = [(m.start(), _iso(m)) for m in _ISO.finditer(text)]
    found += [(m.start(), _day(int(m[3]), MONTHS[m[2].lower()], int(m[1]))) for m in _DAY_FIRST.finditer(text)]
    found += [(m.start(), _day(int(m[3]), MONTHS[m[1].lower()], int(m[2]))) for m in _MONTH_FIRST.finditer(text)]
    return tuple(ms for _, ms in sorted(found, key=lambda pair: pair[0]) if ms is not None)


def first(text: str) -> int | None:
    """Returns the first date stated in the text, or None."""
    dates = find(text)
    return dates[0] if dates else None


def from_name(stem: str) -> int | None:
    """Returns the date in a file name (2024-03-12, 2024_03_12, 2024.03.12 or 20240312), or None."""
    for match in _NAME.finditer(stem):
        year = int(match[1])
        # Eight digits may be any number; only a plausible year makes them a date.
        if match[2] or 1900 <= year <= 2100:
            ms = _day(year, int(match[3]), int(match[4]))
            if ms is not None:
                return ms
    return None


def parse(value: object) -> int | None:
    """Returns the time in a field, or None: ISO text, a written date, or seconds or milliseconds since 1970."""
    if isinstance(value, datetime):
        return since_epoch(value)
    if isinstance(value, str):
        value = value.strip()
        if not _NUMBER.fullmatch(value):
            stated = first(value)
            return stated if stated is not None else from_name(value[:10])
        value = float(value)
    # Small numbers are counters or offsets into a recording, not times.
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 1e8 <= abs(value) <= 1e17:
        return None
    # 1e11 seconds is the year 5138 and 1e11 ms is 1973, so the size of a number shows its unit.
    for unit in (1000, 1, 1 / 1000):
        if abs(value * unit) < 1e14:
            return round(value * unit)
    return None


def _iso(match: re.Match[str]) -> int | None:
    year, month, day, hour, minute, second = (int(match[i] or 0) for i in range(1, 7))
    if match[4] is None:
        return _day(year, month, day)
    micros = int((match[7] or "0")[:6].ljust(6, "0"))
    return _ms(year, month, day, hour, minute, second, micros, _zone(match[8]))


def _day(year: int, month: int, day: int) -> Day | None:
    ms = _ms(year, month, day)
    return None if ms is None else Day(ms)


def _zone(text: str | None) -> timezone:
    if not text or text in ("Z", "z", "UTC"):
        return UTC
    digits = text[1:].replace(":", "")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    # With an impossible offset the date is still read, as UTC.
    return UTC if offset >= timedelta(hours=24) else timezone(-offset if text[0] == "-" else offset)


def _ms(
    year: int, month: int, day: int, hour: int = 0, minute: int = 0, second: int = 0, micros: int = 0,
    zone: timezone = UTC,
) -> int | None:  # fmt: skip
    try:
        return since_epoch(datetime(year, month, day, hour, minute, second, micros, tzinfo=zone))
    except (ValueError, OverflowError):
        return None
