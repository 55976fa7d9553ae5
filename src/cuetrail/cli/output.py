"""Output to the terminal: results to stdout, all else to stderr; counts, times, titles and ids as
text for people."""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from cuetrail.text.timestamps import EPOCH

if TYPE_CHECKING:
    from cuetrail.model import FileError, Node

# An escape sequence in a note must not control the terminal. Colours are harmless.
_CONTROL = re.compile(r"\x1b(?!\[[0-9;]*m)|[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f]")


def open_streams() -> None:
    """Opens the null device for each standard stream that was closed before the start.

    Otherwise the next file to be opened, such as memory.db, would get the descriptor of the stream.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115  # open to the end


def harmless(text: str) -> str:
    """Returns a text with a sign in place of each character that could control the terminal; colours stay."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)


def say(text: str) -> None:
    """Prints a result to stdout."""
    click.echo(_printable(harmless(text), sys.stdout))


def say_drawn(text: str) -> None:
    """Prints a text with the styles and links that were drawn for this terminal; its contents are harmless already."""
    click.echo(_printable(text, sys.stdout), color=True)


def say_json(data: Any, err: bool = False) -> None:
    """Prints one JSON document; on stderr it is one line."""
    stream = sys.stderr if err else sys.stdout
    utf8 = (stream.encoding or "").lower().replace("-", "") == "utf8"
    text = json.dumps(data, ensure_ascii=not utf8, indent=None if err else 2, default=str)
    click.echo(_printable(text, stream), err=err)


def warn(text: str) -> None:
    """Prints a message to stderr, after "cuetrail: "."""
    click.echo(_printable(harmless(f"cuetrail: {text}"), sys.stderr), err=True)


def _printable(text: str, stream: TextIO) -> str:
    """Returns the text with escapes for characters that the stream's encoding lacks."""
    encoding = stream.encoding or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def abandon_stdout() -> None:
    """Drops buffered output after a failed write, or Python would report the error again when it exits."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextlib.contextmanager
def warnings(quiet: bool) -> Iterator[None]:
    """Prints the library's warnings to stderr inside the `with` block; only errors if `quiet`."""
    import logging

    class Lines(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            warn(record.getMessage())

    handler = Lines(logging.ERROR if quiet else logging.WARNING)
    logger = logging.getLogger("cuetrail")
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


@contextlib.contextmanager
def progress(quiet: bool) -> Iterator[Callable[[str, int, int], None] | None]:
    """Yields a callback that draws a progress bar on stderr; None if stderr is no terminal."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=None)

        def step(what: str, done: int, total: int) -> None:
            bar.update(task, description=what, completed=done, total=total or None)

        yield step


ERRORS_SHOWN = 20
SHORT_ID_LENGTH = 8
_DIGEST = re.compile(r"[0-9a-f]{32}")


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
        time = EPOCH + timedelta(milliseconds=ms)
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


def shown_bucket(name: str) -> str:
    """Returns a bucket with spaces, as people write it; options take this form too.

    >>> shown_bucket("04_-_guides,_workflows")
    '04 - guides, workflows'
    """
    return name.replace("_", " ")


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


def listed_counts(counts: Mapping[str, int]) -> str:
    """Returns counts as text, the largest first: "messages (340), conversations (12)"."""
    return ", ".join(
        f"{name} ({number:,})" for name, number in sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    )
