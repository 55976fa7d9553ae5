"""Option callbacks: parse times, sizes, durations and properties, or raise a usage error."""

from __future__ import annotations

import re
from collections.abc import Callable

import click

from cuetrail.errors import InputError
from cuetrail.text.timestamps import last_millisecond, milliseconds

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?", re.IGNORECASE)
_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)\s*([smhd])", re.IGNORECASE)
_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


def start_time(_ctx: click.Context, _param: click.Parameter, value: str | None) -> int | None:
    """Parses an ISO date or time, or a number, to UTC milliseconds; a date is its first millisecond."""
    return None if value is None else _time(value, milliseconds)


def end_time(_ctx: click.Context, _param: click.Parameter, value: str | None) -> int | None:
    """Parses a time like `start_time`, but a date is its last millisecond: `--until 2025-03-04` includes that day."""
    return None if value is None else _time(value, last_millisecond)


def _time(text: str, read: Callable[[str], int]) -> int:
    try:
        return read(text)
    except InputError as error:
        raise click.BadParameter(str(error)) from None


def byte_size(_ctx: click.Context, _param: click.Parameter, value: str | None) -> int | None:
    """Parses 200MB, 1.5G or a number to bytes."""
    if value is None:
        return None
    found = _SIZE.fullmatch(value.strip())
    if not found:
        raise click.BadParameter(f"{value!r} is no size: write 200MB, 1.5G or a number of bytes")
    return int(float(found[1]) * _UNITS[found[2].lower()])


def seconds(_ctx: click.Context, _param: click.Parameter, value: str | None) -> float | None:
    """Parses 90s, 15m, 1.5h or 1d to seconds."""
    if value is None:
        return None
    found = _DURATION.fullmatch(value.strip())
    number = float(found[1]) * _SECONDS[found[2].lower()] if found else 0.0
    if not number:
        raise click.BadParameter(f"{value!r} is no length of time: write 90s, 15m, 1h or 1d")
    return number


def properties(_ctx: click.Context, _param: click.Parameter, value: tuple[str, ...]) -> dict[str, str]:
    """Parses name=text pairs to a mapping."""
    found = {}
    for pair in value:
        name, equals, text = pair.partition("=")
        if not equals or not name.strip():
            raise click.BadParameter(f"{pair!r} is no property: write name=text")
        found[name.strip()] = text
    return found
