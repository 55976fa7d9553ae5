"""Gives every atom temporal tags, such as 2026, january, monday, winter, q1, afternoon; their origin is `temporal`.

Day and time of day are those of the given zone. Seasons are whole months, as north of the equator. A date without a
time is stored as midnight UTC. It is the same day in every zone and gets no time of day.
"""

from __future__ import annotations

from datetime import UTC, timedelta, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo

from cuetrail.dream.context import DreamContext, Work
from cuetrail.dream.tags import retag
from cuetrail.errors import InputError
from cuetrail.model import PassReport, Tag
from cuetrail.store.dream import Writes
from cuetrail.text.timestamps import EPOCH
from cuetrail.text.word_lists import MONTH_NAMES, QUARTERS, SEASONS, TIMES_OF_DAY, WEEKDAYS

_HOURS = [next(name for hour, name in reversed(TIMES_OF_DAY) if hour <= at) for at in range(24)]


def zone_of(name: str) -> tzinfo:
    """Returns the time zone of this name. Raises InputError if the system does not know it."""
    # UTC works even where the system has no time zone database.
    if name.upper() == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise InputError(f"{name!r} is no time zone: write one such as Europe/Oslo, or UTC") from error


def labels(at: int, zone: tzinfo, is_day: bool = False) -> tuple[Tag, ...]:
    """Returns the temporal tags of a time in a zone. Returns () for times no calendar can express.

    With `is_day`, `at` is the midnight in UTC that stands for a date: returns the tags of that date, without the time
    of day, whatever the zone.
    >>> from datetime import UTC
    >>> [tag.name for tag in labels(1768831200000, UTC)]
    ['2026', 'january', 'monday', 'winter', 'q1', 'afternoon']
    >>> [tag.name for tag in labels(1768780800000, zone_of("America/New_York"), is_day=True)]
    ['2026', 'january', 'monday', 'winter', 'q1']
    """
    try:
        # Some systems refuse fromtimestamp for times before 1970.
        moment = EPOCH + timedelta(milliseconds=at)
        moment = moment if is_day else moment.astimezone(zone)
    except (OverflowError, ValueError):
        return ()
    return _tags(moment.year, moment.month, moment.weekday(), None if is_day else moment.hour)


@lru_cache(maxsize=65_536)
def _tags(year: int, month: int, day: int, hour: int | None) -> tuple[Tag, ...]:
    quarter, season = QUARTERS[(month - 1) // 3], SEASONS[month % 12 // 3]
    time_of_day = () if hour is None else (_HOURS[hour],)
    names = (f"{year:04}", MONTH_NAMES[month - 1], WEEKDAYS[day], season, quarter, *time_of_day)
    return tuple(Tag(name, name, "temporal") for name in names)


NAME = "temporal"
VERSION = "2"


def temporal(context: DreamContext) -> PassReport:
    """Gives every atom the tags of its time."""
    work = Work(context, NAME)
    for some in work.slices(f"{VERSION} {context.zone}"):
        writes = Writes(mark=some.mark)
        for atom in some.atoms:
            tags = retag(atom, "temporal", labels(atom.at, context.zone, atom.is_day))
            if tags is not None:
                writes.relabelled.append((atom, tags))
        work.save(writes)
    return work.report()
