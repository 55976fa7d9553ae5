"""Output to the terminal: results to stdout, all else to stderr, without control sequences from notes."""

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

# An escape sequence in a note must not control the terminal. Colours are harmless.
_CONTROL = re.compile(r"\x1b(?!\[[0-9;]*m)|[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f]")


def open_streams() -> None:
    """Opens the null device for each standard stream that was closed before the start.

    Otherwise the next file to be opened, such as memory.db, would get the descriptor of the stream.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115  # open to the end


def say(text: str) -> None:
    """Prints a result to stdout."""
    click.echo(_printable(_CONTROL.sub("\N{REPLACEMENT CHARACTER}", text), sys.stdout))


def say_json(data: Any, err: bool = False) -> None:
    """Prints one JSON document; on stderr it is one line."""
    stream = sys.stderr if err else sys.stdout
    utf8 = (stream.encoding or "").lower().replace("-", "") == "utf8"
    text = json.dumps(data, ensure_ascii=not utf8, indent=None if err else 2, default=str)
    click.echo(_printable(text, stream), err=err)


def warn(text: str) -> None:
    """Prints a line about the run to stderr."""
    click.echo(_printable(_CONTROL.sub("\N{REPLACEMENT CHARACTER}", f"cuetrail: {text}"), sys.stderr), err=True)


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
    """Prints the library's warnings to stderr while the context is open."""
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
