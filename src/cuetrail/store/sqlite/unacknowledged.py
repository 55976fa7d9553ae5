"""The changes that are committed and not acknowledged yet, told to all processes through a small file beside the
indexes.

A server writes what arrives together in one transaction, brings the indexes up to date, and only then answers. Searches
between the commit and the answer need not see these changes. With this record they use the indexes as they are, where
they would otherwise wait for the update.
"""

from __future__ import annotations

import contextlib
import mmap
import struct
import time
from pathlib import Path

import xxhash

from cuetrail.files import PRIVATE, PRIVATE_FOLDER

FILE = "unacknowledged"
SECONDS = 30.0
"""A record is believed for so long: the process that wrote it may have died."""
_RECORD = struct.Struct("<qqd")
_SIZE = _RECORD.size + 8


class Unacknowledged:
    """The record of one memory: the numbers of the changes that nobody has to see yet."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._shared: mmap.mmap | None = None

    def announce(self, low: int, high: int) -> None:
        """Records that the changes after `low` up to `high` are not acknowledged yet. If that fails, searches wait."""
        with contextlib.suppress(OSError, ValueError):
            body = _RECORD.pack(low, high, time.monotonic() + SECONDS)
            self._opened(make=True)[:_SIZE] = body + xxhash.xxh3_64_digest(body)

    def clear(self) -> None:
        """Records that every change is acknowledged."""
        if self._shared is not None:
            self._shared[:_SIZE] = bytes(_SIZE)

    def needed(self, target: int) -> int:
        """Returns the last change up to `target` that a search must see."""
        try:
            raw = self._opened()[:_SIZE]
        except (OSError, ValueError):
            return target
        body = raw[: _RECORD.size]
        # Half of a record, read while it was written, has another checksum.
        if raw[_RECORD.size :] != xxhash.xxh3_64_digest(body):
            return target
        low, high, until = _RECORD.unpack(body)
        return int(low) if low < target <= high and time.monotonic() < until <= time.monotonic() + SECONDS else target

    def _opened(self, make: bool = False) -> mmap.mmap:
        if self._shared is None:
            if make and not self._path.exists():
                self._path.parent.mkdir(PRIVATE_FOLDER, parents=True, exist_ok=True)
                with self._path.open("ab") as file:
                    file.truncate(_SIZE)
                self._path.chmod(PRIVATE)
            with self._path.open("r+b") as file:
                self._shared = mmap.mmap(file.fileno(), _SIZE)
        return self._shared

    def close(self) -> None:
        """Closes the file."""
        if self._shared is not None:
            self._shared.close()
            self._shared = None
