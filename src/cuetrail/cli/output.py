"""Writing to the terminal: results to stdout, everything else to stderr, and nothing that a note could hide in it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TextIO

import click

# Notes come from anywhere; an escape sequence in one must not drive the terminal. Colours are harmless.
_CONTROL = re.compile(r"\x1b(?!\[[0-9;]*m)|[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f]")


def open_streams() -> None:
    """Put nothing in the place of a stream that was closed before the start.

    Python has None there, and the next file to be opened, such as memory.db, would get the number of the stream.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115  # open to the end


def say(text: str) -> None:
    """Print a result."""
    click.echo(_printable(_CONTROL.sub("\N{REPLACEMENT CHARACTER}", text), sys.stdout))


def say_json(data: Any, err: bool = False) -> None:
    """Print one JSON document; on stderr it is one line."""
    stream = sys.stderr if err else sys.stdout
    utf8 = (stream.encoding or "").lower().replace("-", "") == "utf8"
    text = json.dumps(data, ensure_ascii=not utf8, indent=None if err else 2, default=str)
    click.echo(_printable(text, stream), err=err)


def warn(text: str) -> None:
    """Print a line about the run to stderr."""
    click.echo(_printable(_CONTROL.sub("\N{REPLACEMENT CHARACTER}", f"cuetrail: {text}"), sys.stderr), err=True)


def _printable(text: str, stream: TextIO) -> str:
    """The text with what the stream's encoding cannot say written as escapes."""
    encoding = stream.encoding or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def abandon_stdout() -> None:
    """After a failed write: drop what is still buffered, or Python would complain again when it exits."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextlib.contextmanager
def warnings(quiet: bool) -> Iterator[None]:
    """Show the library's warnings as lines on stderr while a verb runs."""
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
    """A callback that draws a bar on stderr; None where nobody would see it."""
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
