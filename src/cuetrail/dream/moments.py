"""Words for moments: 2026, january, monday, winter, q1, afternoon.

Day and time of day are those of the zone that is given. Seasons are whole months, as north of the equator.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo

from cuetrail.errors import InputError
from cuetrail.model import Tag

MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
SEASONS = ("winter", "spring", "summer", "autumn")
QUARTERS = ("q1", "q2", "q3", "q4")
# From this hour on.
TIMES_OF_DAY = ((0, "night"), (5, "morning"), (12, "afternoon"), (17, "evening"), (22, "night"))
WORDS = frozenset({*MONTHS, *DAYS, *SEASONS, *QUARTERS, *(name for _, name in TIMES_OF_DAY)})

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_HOURS = [next(name for hour, name in reversed(TIMES_OF_DAY) if hour <= at) for at in range(24)]


def zone_of(name: str) -> tzinfo:
    """The time zone of this name. Raises InputError where the system does not know it."""
    # Every system knows this one, also without a table of zones.
    if name.upper() == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise InputError(f"{name!r} is no time zone: write one such as Europe/Oslo, or UTC") from error


def labels(at: int, zone: tzinfo) -> tuple[Tag, ...]:
    """The labels of a moment; none of one that no calendar has.

    >>> from datetime import UTC
    >>> [tag.name for tag in labels(1768831200000, UTC)]
    ['2026', 'january', 'monday', 'winter', 'q1', 'afternoon']
    """
    try:
        # Not fromtimestamp, which some systems refuse for moments before 1970.
        moment = (_EPOCH + timedelta(milliseconds=at)).astimezone(zone)
    except (OverflowError, ValueError):
        return ()
    return _tags(moment.year, moment.month, moment.weekday(), moment.hour)


@lru_cache(maxsize=65_536)
def _tags(year: int, month: int, day: int, hour: int) -> tuple[Tag, ...]:
    quarter, season = QUARTERS[(month - 1) // 3], SEASONS[month % 12 // 3]
    names = (f"{year:04}", MONTHS[month - 1], DAYS[day], season, quarter, _HOURS[hour])
    return tuple(Tag(name, name, "temporal") for name in names)
