"""The counts of open connections and requests of all readers, in memory that the processes share.

Each reader has rows of its own. The supervisor fills the row of a connection before it hands it over; from then on only
the reader changes it. Reads of other rows may be a moment old, which a limit can bear.
"""

from __future__ import annotations

import mmap
import time
from functools import lru_cache
from hashlib import blake2b

import numpy as np

ROWS = 1024
"""Connections, and requests, that one reader can have."""
READ_LATELY = 1.0
"""Seconds after a read during which the writer expects more."""


@lru_cache(maxsize=4096)
def address_code(address: str) -> int:
    """Returns a number for a client's address, never 0, which stands for a free row."""
    return int.from_bytes(blake2b(address.encode(), digest_size=8).digest(), "big") or 1


class SharedCounts:
    """The shared memory of a server with so many readers.

    `address` and `since` are the rows of connections: the code of the client, and the time from which it waits for a
    request, 0 while it does not. `closing` marks those that the supervisor told the reader to close. `request` has the
    codes of the clients of open requests, `read` the time of each reader's last read.
    """

    def __init__(self, handle: int, readers: int) -> None:
        self.readers = readers
        self._shared = mmap.mmap(handle, size_of(readers))
        shape, size = (readers, ROWS), 8 * readers * ROWS
        self.address = np.ndarray(shape, np.uint64, self._shared, 0)
        self.since = np.ndarray(shape, np.float64, self._shared, size)
        self.closing = np.ndarray(shape, np.uint64, self._shared, 2 * size)
        self.request = np.ndarray(shape, np.uint64, self._shared, 3 * size)
        self.read = np.ndarray((readers,), np.float64, self._shared, 4 * size)

    def connections(self) -> list[int]:
        """Returns the number of open connections of each reader."""
        return [int(number) for number in np.count_nonzero(self.address, axis=1)]

    def requests(self, code: int | None = None) -> int:
        """Returns the number of open requests, of all clients or of one."""
        return int(np.count_nonzero(self.request if code is None else self.request == np.uint64(code)))

    def read_lately(self) -> bool:
        """True if a reader has read within the last second."""
        return bool(self.read.max() > time.monotonic() - READ_LATELY)

    def wipe(self, reader: int) -> None:
        """Empties the rows of a reader that has ended."""
        for rows in (self.address, self.since, self.closing, self.request, self.read):
            rows[reader] = 0


def size_of(readers: int) -> int:
    """Returns the bytes of shared memory for so many readers."""
    return 4 * 8 * readers * ROWS + 8 * readers


def free_row(rows: np.ndarray[tuple[int], np.dtype[np.uint64]]) -> int | None:
    """Returns the number of the first free row, None if there is none."""
    row = int(np.argmin(rows != 0))
    return row if not rows[row] else None
