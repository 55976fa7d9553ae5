"""Pieces of text for people: counts, times, titles, ids and tags."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cuetrail.model import FileError, Node

ERRORS_SHOWN = 20
SHORT_ID_LENGTH = 8
_DIGEST = re.compile(r"[0-9a-f]{32}")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def count_of(number: int, one: str, many: str | None = None) -> str:
    """Returns a number with its noun.

    >>> count_of(1, "file"), count_of(2000, "memory", "memories")
    ('1 file', '2,000 memories')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Returns the lines of a table: the first column aligned to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for first, *others in rows:
        cells = (cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))
        lines.append("  ".join((first.ljust(widths[0]), *cells)).rstrip())
    return lines


def utc_time(ms: int) -> str:
    """Returns a time in UTC without needless zeros, or the number itself if it is outside the calendar."""
    try:
        time = _EPOCH + timedelta(milliseconds=ms)
    except OverflowError:
        return str(ms)
    return f"{time:%Y-%m-%d}" if (time.hour, time.minute, time.second) == (0, 0, 0) else f"{time:%Y-%m-%d %H:%M}"


def node_title(node: Node, width: int = 70) -> str:
    """Returns the name of a node, else the start of its text, else its id."""
    from cuetrail.text.normalise import snippet

    return node.name or snippet(node.text, width) or node.id


def short_id(id_: str) -> str:
    """Returns the first digits of an id made by cuetrail; other ids stay whole.

    >>> short_id("6b36198f5df82cee3802573ee1339927"), short_id("mem0:1")
    ('6b36198f', 'mem0:1')
    """
    return id_[:SHORT_ID_LENGTH] if _DIGEST.fullmatch(id_) else id_


def hashtags(names: Iterable[str]) -> str:
    """Returns tags with # before each."""
    return " ".join(f"#{name}" for name in names)


def failed_files(errors: Sequence[FileError]) -> list[str]:
    """Returns one line for each of the first failed files, and how many more there are."""
    lines = [
        error.error if error.error.startswith(error.path) else f"{error.path}: {error.error}"
        for error in errors[:ERRORS_SHOWN]
    ]
    more = len(errors) - ERRORS_SHOWN
    return [*lines, f"... and {count_of(more, 'more', 'more')} (--json lists all)"] if more > 0 else lines


def first_of(names: Sequence[str], most: int = 10) -> str:
    """Returns the first names, and how many more there are."""
    more = [f"and {len(names) - most:,} more"] if len(names) > most else []
    return ", ".join([*names[:most], *more])
