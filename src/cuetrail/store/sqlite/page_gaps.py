"""Clears the gaps of pages: SQLite leaves copies of moved rows there, which `secure_delete` does not overwrite.

When a page of a b-tree fills up or empties, SQLite moves rows to other pages. The bytes of a moved row stay between the
page's list of cells and its content, in a part of the page that is not in use. A row that is forgotten later is
overwritten only where it is. So all gaps of `memory.db` are examined after a forgetting; this reads the file once.
"""

from __future__ import annotations

import os
import struct
import threading
from collections import Counter
from pathlib import Path
from typing import BinaryIO

Place = tuple[int, int]
"""The device number and inode number of a file."""

# The sizes of the headers of b-tree pages by their first byte; other pages are overflow pages or free, and have no gap.
_HEADERS = {2: 12, 5: 12, 10: 8, 13: 8}
_FIRST_HEADER = 100
_HEADER = struct.Struct(">BHHH")
_ZEROS = bytes(1 << 16)
_AT_ONCE = 1 << 23
# From this number of pages on, the first byte of an overflow page, which is part of a page number, may be that of a
# b-tree page.
MOST_PAGES = 1 << 24


class RawFiles:
    """Handles of database files that are opened without SQLite. A handle is closed when nobody in this process uses its
    file any more.

    Closing any handle of a file drops all locks that the process has on it, so it must not happen while SQLite has the
    file open.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users: Counter[Place] = Counter()
        self._handles: dict[Place, BinaryIO] = {}

    def enter(self, place: Place) -> None:
        """Counts one more user of a file, until `leave`."""
        with self._lock:
            self._users[place] += 1

    def leave(self, place: Place) -> None:
        """Counts one user of a file less. When the last one leaves, the file's handle is closed."""
        with self._lock:
            self._users[place] -= 1
            if not self._users[place]:
                del self._users[place]
                handle = self._handles.pop(place, None)
                if handle is not None:
                    handle.close()

    def clear_gaps(self, path: Path, place: Place) -> int:
        """Overwrites the gaps of all pages with zeros; returns how many held anything else.

        Bytes that are in use do not change, so others may read meanwhile. The caller holds SQLite's write lock while
        the write-ahead log is empty, and commits a change afterwards, so that nobody keeps an older page in a cache.
        """
        with self._lock:
            handle = self._handles.get(place)
            if handle is None:
                handle = self._handles[place] = path.open("r+b", buffering=0)
            cleared = _clear(handle)
            if cleared:
                # The caller's commit says that the gaps are clear; so they must be on disk before it.
                os.fsync(handle.fileno())
            return cleared


def _clear(file: BinaryIO) -> int:
    file.seek(0)
    head = file.read(_FIRST_HEADER)
    size = int.from_bytes(head[16:18], "big")
    size = 1 << 16 if size == 1 else size
    usable = size - head[20]
    if file.seek(0, 2) // size >= MOST_PAGES:
        return 0
    pages = max(1, _AT_ONCE // size)
    cleared = first = 0
    while True:
        file.seek(first * size)
        data = file.read(pages * size)
        if len(data) < size:
            return cleared
        for start, end in _gaps(data, size, usable, _FIRST_HEADER if not first else 0):
            file.seek(first * size + start)
            file.write(_ZEROS[: end - start])
            cleared += 1
        first += len(data) // size


def _gaps(data: bytes, size: int, usable: int, first_header: int) -> list[tuple[int, int]]:
    """Returns (start, end), as offsets in `data`, of the gaps that hold a byte other than zero. A gap is the unused
    part of a b-tree page, between its list of cells and its content.

    `data` is a run of whole pages of `size` bytes, of which SQLite uses the first `usable`. `first_header` is the size
    of the file header in front of the first page, 0 if there is none.
    """
    found = []
    for page in range(0, len(data) - size + 1, size):
        at = page + (first_header if not page else 0)
        kind, free, cells, content = _HEADER.unpack_from(data, at)
        header = _HEADERS.get(kind)
        if header is None:
            continue
        start, end = at + header + 2 * cells, page + (content or 1 << 16)
        if start < end <= page + usable and data[start:end] != _ZEROS[: end - start]:
            begins = struct.unpack_from(f">{cells}H", data, at + header)
            # Nothing is changed on a page that does not read like one of a b-tree.
            if all(page + begin >= end for begin in begins) and (not free or page + free >= end):
                found.append((start, end))
    return found


RAW_FILES = RawFiles()
