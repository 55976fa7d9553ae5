"""Retries of transactions on the server: after which errors, how often and how fast they are run again."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

ATTEMPTS, FIRST_WAIT = 3, 0.05
# The server reports a deadlock of two writers at once and lets one continue; the other soon succeeds as well.
MEETINGS, LONGEST_WAIT = 8, 0.4
# After so many seconds nothing is retried: the caller has waited long enough.
PATIENCE = 5.0


def retry_transaction(run_once: Callable[[], T]) -> T:
    """Runs a transaction and returns its result. Runs it again, after a pause, if it fails with an error that may pass.

    Raises the last error of the driver or of the connection if that does not help.
    """
    from neo4j.exceptions import DriverError, Neo4jError

    began = time.monotonic()
    attempt = 0
    while True:
        try:
            return run_once()
        except (Neo4jError, DriverError, OSError) as error:
            attempt += 1
            if time.monotonic() - began > PATIENCE or attempt >= _attempts(error):
                raise
        # Random, so that writers that collided do not collide again.
        time.sleep(min(FIRST_WAIT * 2 ** (attempt - 1), LONGEST_WAIT) * random.uniform(0.5, 1.5))


def _attempts(error: BaseException) -> int:
    """Returns how often work that fails with this error is tried in all; 1 if trying again cannot help."""
    code = str(getattr(error, "code", None) or "")
    if code.endswith("Transaction.DeadlockDetected"):
        return MEETINGS
    # Another process deleted a node between the read and the write, or switched to a new index: reading again helps.
    if code.endswith("Statement.EntityNotFound") or "no such fulltext schema index" in str(error):
        return ATTEMPTS
    retryable = getattr(error, "is_retryable", None)
    return ATTEMPTS if isinstance(error, OSError) or (retryable and retryable()) else 1
