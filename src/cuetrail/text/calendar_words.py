"""Names of months, weekdays, seasons and times of day, and numbers written as words."""

from __future__ import annotations

MONTH_NAMES = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
MONTHS = {
    **{name: number for number, name in enumerate(MONTH_NAMES, 1)},
    **{name[:3]: number for number, name in enumerate(MONTH_NAMES, 1)},
    "sept": 9,
}
"""Month names and their abbreviations, with the number of the month."""

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
SEASONS = ("winter", "spring", "summer", "autumn")
"""The seasons north of the equator, from December on, three months each."""

SEASON_STARTS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
"""The first month of each season."""

QUARTERS = ("q1", "q2", "q3", "q4")
TIMES_OF_DAY = ((0, "night"), (5, "morning"), (12, "afternoon"), (17, "evening"), (22, "night"))
"""The hour at which each time of day begins."""

CALENDAR_WORDS = frozenset({*MONTH_NAMES, *WEEKDAYS, *SEASONS, *QUARTERS, *(name for _, name in TIMES_OF_DAY)})
"""Every word that names a time in a temporal tag."""

NUMBER_WORDS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "couple of": 2, "three": 3, "few": 3, "several": 4, "four": 4, "five": 5,
    "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
}  # fmt: skip
UNIT_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}
"""The length of each unit of time in days."""
