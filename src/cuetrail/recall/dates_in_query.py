"""Reads the dates in a query: a day, a month, a season, a year, "two weeks ago", "since May".

>>> now = 1_700_000_000_000  # Tuesday 14 November 2023
>>> [str(span) for span in read_dates("What did we plan yesterday, and what in May?", now)[0]]
['2023-11-13 to 2023-11-13', '2023-05-01 to 2023-05-31']
>>> [str(span) for span in read_dates("Who called on 20230807 or two weeks ago?", now)[0]]
['2023-08-07 to 2023-08-07', '2023-10-28 to 2023-11-03']
>>> [str(span) for span in read_dates("What came two weeks before 11 August, and what is next Friday?", now)[0]]
['2023-07-25 to 2023-07-31', '2023-11-17 to 2023-11-17']
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from cuetrail.formulas import DAY
from cuetrail.text.word_lists import MONTHS, NUMBER_WORDS, SEASON_STARTS, UNIT_DAYS, WEEKDAYS

# Bounds of the distance from a span at which nearness is one half; people often tell of events a little later.
LEAST_DRIFT, MOST_DRIFT = 1 * DAY, 14 * DAY
# A cue with more dates is not about any of them.
MOST_SPANS = 4
LONGEST_DATED = 2_000

_MONTH = "(?P<month>" + "|".join(sorted(MONTHS, key=len, reverse=True)) + r")\b\.?"
_DAY_OF_MONTH = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_COUNT = r"(?P<count>\d{1,3}|" + "|".join(sorted(NUMBER_WORDS, key=len, reverse=True)) + ")"
_UNIT = r"(?P<unit>day|week|month|year)s?"
_RECENT = r"(?:last|past|previous)"
_WITHIN = "(?:in|over|during|within)"
_NO_YEAR = "(?P<year>(?!))?"
_SEASON = "(?P<season>" + "|".join(SEASON_STARTS) + ")"
_TIME_WORD = (
    "(?:"
    + "|".join(rf"(?<=\b{word} )" for word in ("in", "since", "during", "until", "before", "after"))
    + r"|\b(?P<last>last)\s|\bthis\s|\b(?:early|mid|late)[\s-])"
)


@dataclass(frozen=True, slots=True)
class Span:
    """A span of time in UTC milliseconds: `start` is inside, `end` is not."""

    start: int
    end: int

    def nearness(self, at: int) -> float:
        """Returns 1 for a time inside the span, and less the farther a time is outside.

        The value halves with every half of the span's length, taken as at least 1 and at most 14 days.

        >>> Span(0, DAY).nearness(DAY // 2), Span(0, DAY).nearness(2 * DAY - 1)
        (1.0, 0.5)
        """
        if self.start <= at < self.end:
            return 1.0
        away = self.start - at if at < self.start else at - self.end + 1
        drift = min(max((self.end - self.start) // 2, LEAST_DRIFT), MOST_DRIFT)
        return float(0.5 ** (away / drift))

    def __str__(self) -> str:
        first, last = (datetime.fromtimestamp(ms / 1000, UTC).date() for ms in (self.start, self.end - 1))
        return f"{first} to {last}"


def read_dates(cue: str, now: int) -> tuple[list[Span], str]:
    """Returns the spans of time that a cue names, in order, and the cue with these dates blanked out.

    With more than MOST_SPANS dates, returns no spans and the whole cue. A date without a year is the latest one up to
    now. Only the first LONGEST_DATED characters are read.
    """
    try:
        today = datetime.fromtimestamp(now / 1000, UTC).date()
    except (ValueError, OverflowError, OSError):
        # `now` is outside the calendar.
        return [], cue
    found: list[tuple[int, Span]] = []
    rest = cue[:LONGEST_DATED]
    for pattern, to_days in _FORMS:
        for match in pattern.finditer(rest):
            days = _days(to_days, match, today)
            if days is not None:
                found.append((match.start(), _extended(Span(_ms(days[0]), _ms(days[1])), match, cue, now)))
                # Blank what was read, so that the year of a day is not read again as a year.
                rest = rest[: match.start()] + "\0" * (match.end() - match.start()) + rest[match.end() :]
    found.sort(key=lambda pair: pair[0])
    return ([span for _, span in found], rest + cue[LONGEST_DATED:]) if len(found) <= MOST_SPANS else ([], cue)


def _extended(span: Span, match: re.Match[str], cue: str, now: int) -> Span:
    """Returns the span, changed by the words before it, such as "since", "until" or "two weeks before"."""
    if (offset := _OFFSET.search(cue, 0, match.start())) is not None and offset.end() == match.start():
        return _shifted(span, offset)
    before = _BOUND.search(cue, 0, match.start())
    if before is None or before.end() != match.start():
        return span
    word = before[1].lower()
    if word in ("since", "after"):
        return Span(span.start if word == "since" else span.end, max(now + 1, span.end + 1))
    return Span(0, span.start if word == "before" else span.end)


_BOUND = re.compile(r"\b(since|after|before|until)\s+$", re.IGNORECASE)


def _shifted(span: Span, offset: re.Match[str]) -> Span:
    """Returns the span, one unit long, at an offset such as "two weeks before" from the given span: its middle day is
    that far before the first day, or after the last day, of the given span.

    Without a number, as in "the week before" or "the week after", it adjoins the given span.
    """
    days = UNIT_DAYS[offset["unit"].lower()]
    is_before = offset["side"].lower() == "before"
    if offset["count"] is None:
        return Span(span.start - days * DAY, span.start) if is_before else Span(span.end, span.end + days * DAY)
    away = _count(offset) * days
    middle = span.start - away * DAY if is_before else span.end + (away - 1) * DAY
    return Span(middle - days // 2 * DAY, middle + (days - days // 2) * DAY)


_OFFSET = re.compile(rf"\b(?:{_COUNT}|the)\s+{_UNIT}\s+(?P<side>before|after)\s+$", re.IGNORECASE)
Days = tuple[date, date]
"""The first day, and the day after the last."""


def _days(to_days: Callable[[re.Match[str], date], Days], match: re.Match[str], today: date) -> Days | None:
    try:
        return to_days(match, today)
    except (ValueError, OverflowError):
        return None


def _ms(day: date) -> int:
    return (day.toordinal() - _EPOCH_DAY) * DAY


_EPOCH_DAY = date(1970, 1, 1).toordinal()


def _some_days(first: date, count: int = 1) -> Days:
    return first, first + timedelta(count)


def _months(year: int, month: int, count: int = 1) -> Days:
    last = year * 12 + month - 1 + count
    return date(year, month, 1), date(last // 12, last % 12 + 1, 1)


def _month_of(match: re.Match[str]) -> int:
    return MONTHS[match["month"].lower()]


def _exact(match: re.Match[str], _today: date) -> Days:
    return _some_days(date(int(match["year"]), int(match["m"]), int(match["day"])))


def _dated(match: re.Match[str], today: date) -> Days:
    """Returns the day of a date such as "12 April 2023"; without a year, the latest such day up to today."""
    month, day = _month_of(match), int(match["day"])
    if match["year"]:
        return _some_days(date(int(match["year"]), month, day))
    years = (today.year - back for back in range(5))
    return _some_days(next(found for found in _existing(years, month, day) if found <= today))


def _existing(years: Iterator[int], month: int, day: int) -> Iterator[date]:
    """Yields this month and day in each of the years; 29 February only in leap years."""
    for year in years:
        if (month, day) != (2, 29) or (year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)):
            yield date(year, month, day)


def _month(match: re.Match[str], today: date) -> Days:
    month = _month_of(match)
    if match["year"]:
        return _months(int(match["year"]), month)
    # "Last May" is never the current month.
    now = today.month - (1 if match["last"] else 0)
    return _months(today.year if month <= now else today.year - 1, month)


def _month_of_year(match: re.Match[str], today: date) -> Days:
    return _months(today.year - (1 if match["which"].lower() == "last" else 0), _month_of(match))


def _month_in_numbers(match: re.Match[str], _today: date) -> Days:
    return _months(int(match["year"]), int(match["m"]))


def _season(match: re.Match[str], today: date) -> Days:
    begins = SEASON_STARTS[match["season"].lower()]
    if match["year"]:
        return _months(int(match["year"]), begins, 3)
    year = today.year if begins <= today.month else today.year - 1
    found = _months(year, begins, 3)
    # "Last summer" is never the current season.
    return _months(year - 1, begins, 3) if match["last"] and today < found[1] else found


def _year(match: re.Match[str], _today: date) -> Days:
    return _months(int(match["year"]), 1, 12)


def _day_ago(match: re.Match[str], today: date) -> Days:
    words = match[0].lower()
    back = {"the day before yesterday": 2, "yesterday": 1, "last night": 1, "tomorrow": -1}.get(words, 0)
    return _some_days(today - timedelta(back))


def _weekday(match: re.Match[str], today: date) -> Days:
    back = (today.weekday() - WEEKDAYS.index(match["weekday"].lower())) % 7
    return _some_days(today + timedelta(7 - back) if match["next"] else today - timedelta(back or 7))


def _ago(match: re.Match[str], today: date) -> Days:
    """Returns the days that "three weeks ago" names: one unit (here a week) around the day so long ago."""
    unit = UNIT_DAYS[match["unit"].lower()]
    return _some_days(today - timedelta(_count(match) * unit + unit // 2), unit)


def _half_a_year_ago(_match: re.Match[str], today: date) -> Days:
    return _some_days(today - timedelta(182 + 30), 60)


def _recent(match: re.Match[str], today: date) -> Days:
    days = _count(match) * UNIT_DAYS[match["unit"].lower()]
    return today - timedelta(days), today + timedelta(1)


def _count(match: re.Match[str]) -> int:
    count = (match["count"] or "one").lower()
    return int(count) if count.isdigit() else NUMBER_WORDS[count]


def _period(match: re.Match[str], today: date) -> Days:
    """Returns this, the last or the next calendar week, weekend, month or year."""
    back = {"this": 0, "next": -1}.get(match["which"].lower(), 1)
    monday = today - timedelta(today.weekday() + 7 * back)
    period = match["period"].lower()
    if period == "week":
        return _some_days(monday, 7)
    if period == "weekend":
        return _some_days(monday + timedelta(5), 2)
    if period == "year":
        return _months(today.year - back, 1, 12)
    months = today.year * 12 + today.month - 1 - back
    return _months(months // 12, months % 12 + 1)


_FORMS: Sequence[tuple[re.Pattern[str], Callable[[re.Match[str], date], Days]]] = [
    (re.compile(form, re.IGNORECASE), to_days)
    for form, to_days in (
        (rf"(?<![\d.-]){_YEAR}(?P<sep>[-/.]?)(?P<m>\d\d)(?P=sep)(?P<day>\d\d)(?![\d-])", _exact),
        (rf"(?<![\w.])(?P<day>\d{{1,2}})\.(?P<m>\d{{1,2}})\.{_YEAR}\b", _exact),
        (rf"(?<![\w.-]){_YEAR}-(?P<m>0[1-9]|1[0-2])(?![\w-])", _month_in_numbers),
        (rf"(?<!\w){_DAY_OF_MONTH}\s+(?:of\s+)?{_MONTH}(?:,?\s+(?:of\s+)?{_YEAR}\b)?", _dated),
        (rf"(?<!\w){_MONTH}\s+(?:the\s+)?{_DAY_OF_MONTH}\b(?:,?\s+(?:of\s+)?{_YEAR}\b)?", _dated),
        (rf"(?<!\w)(?P<last>last\s+)?{_MONTH},?\s+(?:of\s+|in\s+)?{_YEAR}\b", _month),
        (rf"(?<!\w){_MONTH},?\s+(?:of\s+)?(?P<which>last|this)\s+year\b", _month_of_year),
        (rf"\b(?P<which>last|this)\s+year,?\s+in\s+{_MONTH}", _month_of_year),
        # Without a year "may" and "march" are months only behind words such as "in" and "last".
        (rf"{_TIME_WORD}\s*{_MONTH}{_NO_YEAR}", _month),
        (rf"\b{_SEASON}\s+(?:of\s+)?{_YEAR}\b", _season),
        (rf"\b(?:(?P<last>last|past)|this|{_WITHIN}(?:\s+the)?)\s+{_SEASON}\b(?!\s+of\b){_NO_YEAR}", _season),
        (r"\bhalf\s+a\s+year\s+ago\b", _half_a_year_ago),
        (rf"\b{_COUNT}\s+{_UNIT}\s+(?:ago|before\s+now|back)\b", _ago),
        (rf"\b{_WITHIN}\s+the\s+{_RECENT}\s+(?:{_COUNT}\s+)?{_UNIT}\b", _recent),
        (rf"\b{_RECENT}\s+{_COUNT}\s+{_UNIT}\b", _recent),
        (rf"\bpast\s+(?P<count>(?!))?{_UNIT}\b", _recent),
        (r"\b(?P<which>this|last|past|previous|next)\s+(?P<period>weekend|week|month|year)\b", _period),
        (r"\b(?:the day before yesterday|yesterday|tomorrow|today|tonight|last night|this morning)\b", _day_ago),
        (r"\b(?:last|this|past|on|(?P<next>next))\s+(?P<weekday>" + "|".join(WEEKDAYS) + r")\b", _weekday),
        (rf"(?:\bmid-|(?<![\w.,/-])){_YEAR}(?![\w/-])", _year),
    )
]  # fmt: skip
