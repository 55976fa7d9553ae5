"""The log of the HTTP server: one line for each request and each error, without texts or secrets.

The line is for people, or JSON for programs.
"""

from __future__ import annotations

import contextlib
import json
import logging
import sys
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Literal

LogFormat = Literal["lines", "json"]
# The most characters of a path that are shown.
LONGEST_PATH = 80


class _JsonFormatter(logging.Formatter):
    """Formats a record as a line of JSON. Errors show type and location, not the message, which may be private."""

    def format(self, record: logging.LogRecord) -> str:
        row: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
        }
        row |= record.msg if isinstance(record.msg, dict) else {"message": record.getMessage()}
        if record.exc_info and record.exc_info[0] is not None:
            where = traceback.extract_tb(record.exc_info[2])
            row |= {
                "error": record.exc_info[0].__name__,
                "where": [f"{one.filename}:{one.lineno} {one.name}" for one in where],
            }
        return json.dumps(row, ensure_ascii=False)


class _LineFormatter(logging.Formatter):
    """Formats a record as a line: the local time, method, path, status and milliseconds of a request, or a message.

    Errors show type and location, not the message, which may be private.
    """

    def format(self, record: logging.LogRecord) -> str:
        time = f"{datetime.fromtimestamp(record.created).astimezone():%H:%M:%S}"
        row: dict[str, Any] = record.msg if isinstance(record.msg, dict) else {"event": record.getMessage()}
        if "verb" in row:
            return f"{time}  {row['method']:6} {row['path']:24}  {row['status']}  {row['ms']:>8.1f} ms"
        details = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in row.items() if name != "event")
        line = f"{time}  {record.levelname.lower()}: {row.get('event', '')}{f' ({details})' if details else ''}"
        if record.exc_info and record.exc_info[0] is not None:
            where = traceback.extract_tb(record.exc_info[2])[-1]
            line += (
                f": {record.exc_info[0].__name__} at {where.filename}:{where.lineno} (--log json shows the way there)"
            )
        return line


def loggable_path(path: str) -> str:
    """Returns a path as it may be logged: short, and without characters that break a line or control a terminal.

    >>> loggable_path("/v1/recall"), loggable_path("/a\x1b[31m b")
    ('/v1/recall', '/a?[31m b')
    """
    shown = "".join(char if char.isprintable() else "?" for char in path[: LONGEST_PATH + 1])
    return shown if len(shown) <= LONGEST_PATH else f"{shown[:LONGEST_PATH]}…"


@contextlib.contextmanager
def request_log(form: LogFormat = "json") -> Iterator[None]:
    """Logs requests and errors of the server to stderr while the context is open: as lines for people, or as JSON."""
    logger, handler = logging.getLogger("cuetrail.rest"), logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonFormatter() if form == "json" else _LineFormatter())
    before = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before[0])
        logger.propagate = before[1]
