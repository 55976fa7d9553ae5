"""The log of the HTTP server: one line of JSON for each request and each error, without texts or secrets."""

from __future__ import annotations

import contextlib
import json
import logging
import sys
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime


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


@contextlib.contextmanager
def json_log() -> Iterator[None]:
    """Logs requests and errors of the server to stderr while the context is open."""
    logger, handler = logging.getLogger("cuetrail.rest"), logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonFormatter())
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
