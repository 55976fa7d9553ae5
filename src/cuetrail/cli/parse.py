"""What people type for times, sizes and properties, as values: option callbacks that fail as usage errors."""

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


def start(_ctx: click.Context, _param: click.Parameter, value: str | None) -> int | None:
    """An ISO date or time, or a number, as UTC milliseconds; a date is its first moment."""
    return None if value is None else _time(value, milliseconds)


def end(_ctx: click.Context, _param: click.Parameter, value: str | None) -> int | None:
    """The same, but a date is its last moment: `--until 2025-03-04` includes that day."""
    return None if value is None else _time(value, last_millisecond)


def _time(text: str, read: Callable[[str], int]) -> int:
    try:
        return read(text)
    except InputError as error:
        raise click.BadParameter(str(error)) from None


def size(_ctx: click.Context, _param: click.Parameter, value: str | None) -> int | None:
    """A number of bytes, from 200MB, 1.5G or a plain number."""
    if value is None:
        return None
    found = _SIZE.fullmatch(value.strip())
    if not found:
        raise click.BadParameter(f"{value!r} is no size: write 200MB, 1.5G or a number of bytes")
    return int(float(found[1]) * _UNITS[found[2].lower()])


def duration(_ctx: click.Context, _param: click.Parameter, value: str | None) -> float | None:
    """Seconds, from 90s, 15m, 1.5h or 1d."""
    if value is None:
        return None
    found = _DURATION.fullmatch(value.strip())
    seconds = float(found[1]) * _SECONDS[found[2].lower()] if found else 0.0
    if not seconds:
        raise click.BadParameter(f"{value!r} is no length of time: write 90s, 15m, 1h or 1d")
    return seconds


def properties(_ctx: click.Context, _param: click.Parameter, value: tuple[str, ...]) -> dict[str, str]:
    """Names and texts, from name=text."""
    found = {}
    for pair in value:
        name, equals, text = pair.partition("=")
        if not equals or not name.strip():
            raise click.BadParameter(f"{pair!r} is no property: write name=text")
        found[name.strip()] = text
    return found
