"""Reads and writes the files of other systems: text, JSON and times. Reports bad lines and skips
them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cuetrail.errors import InputError, ReadError
from cuetrail.files import load_json, read_at_most, replacing
from cuetrail.model import FileError
from cuetrail.text.normalise import clean

_EPOCH_MS_FROM = 1e11  # larger numbers are milliseconds: as seconds they would be after the year 5000

Report = Callable[[str], None]


def reporter(path: Path, errors: list[FileError] | None) -> Report:
    """Returns a function that adds a problem of `path` to `errors`, or does nothing if that is None."""

    def report(message: str) -> None:
        if errors is not None:
            errors.append(FileError(str(path), message))

    return report


MOST_BYTES = 64_000_000
"""The largest file of another system: it is read as a whole, and takes many times its size in memory."""


def read_bytes(path: Path) -> bytes:
    """Returns the bytes of a file. Raises InputError if there is none, ReadError if it is too large or unreadable."""
    try:
        with path.open("rb") as file:
            data = read_at_most(file, MOST_BYTES + 1)
    except FileNotFoundError as e:
        raise InputError(f"There is no {path}. Check the path.") from e
    except IsADirectoryError as e:
        raise InputError(f"{path} is a folder. Give the file inside it.") from e
    except OSError as e:
        raise ReadError(f"{path} cannot be read ({e.strerror or e}). Check its permissions.") from e
    if len(data) > MOST_BYTES:
        raise ReadError(f"{path} has more than {MOST_BYTES} bytes unpacked. Split it, and import the parts.")
    return data


def decode_utf(data: bytes) -> str:
    """Decodes UTF-8, or UTF-16 with a byte order mark; guesses no other encoding. Raises ValueError for other bytes."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16")
    return data.decode("utf-8-sig")


def numbered_lines(data: bytes, report: Report) -> Iterator[tuple[int, str]]:
    """Yields (line number, text) of the lines that are not blank. Reports lines that are not UTF-8 and skips them."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        data = data.decode("utf-16", "replace").encode("utf-8", "replace")
    for number, raw in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        try:
            line = raw.decode("utf-8").strip(" \t\r")
        except UnicodeDecodeError:
            report(f"line {number}: not UTF-8 text. Save the file as UTF-8 and import it again.")
            continue
        if line:
            yield number, line


def parse_json(text: str) -> Any:
    """Parses JSON and cleans all its strings; NaN and infinities become null. Raises ValueError."""
    try:
        return cleaned(load_json(text, parse_constant=lambda _: None))
    except RecursionError:
        raise ValueError("nested too deeply") from None


def cleaned(value: Any) -> Any:
    """Returns a value of JSON or YAML with all its strings cleaned."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [cleaned(v) for v in value]
    if isinstance(value, dict):
        return {clean(str(k)): cleaned(v) for k, v in value.items()}
    return value


def to_ms(value: object) -> int | None:
    """Returns the UTC milliseconds of an ISO 8601 text or an epoch number (seconds or milliseconds), else None.

    >>> to_ms("1970-01-01T00:00:01Z"), to_ms(1), to_ms("soon")
    (1000, 1000, None)
    """
    try:
        if isinstance(value, str):
            parsed = datetime.fromisoformat(value.strip())
            return round((parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp() * 1000)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return round(value if abs(value) > _EPOCH_MS_FROM else value * 1000)
    except (ValueError, OverflowError):
        pass
    return None


def to_iso(ms: int) -> str | None:
    """Returns UTC milliseconds as ISO 8601 text; None for 0 (not stated) and for times out of range."""
    try:
        return datetime.fromtimestamp(ms / 1000, UTC).isoformat() if ms else None
    except (ValueError, OverflowError, OSError):
        return None


def write_text(path: Path, text: str) -> None:
    """Writes a file atomically. Raises InputError if the path cannot be written."""
    try:
        with replacing(path) as file:
            file.write(text.encode("utf-8", "ignore"))
    except OSError as e:
        raise InputError(f"{path} cannot be written ({e.strerror or e}). Choose another path.") from e
