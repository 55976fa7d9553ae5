"""Writes files atomically, reads files and JSON up to a limit, and names the files that mark a memory and a mirror."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from cuetrail.errors import ReadError

CHUNK_BYTES = 2**20
# The modes of new files and folders: memories are private. Those that exist keep their mode.
PRIVATE, PRIVATE_FOLDER = 0o600, 0o700
# The file in the folder of every SQLite memory, and the one in the folder of every mirror. Ingest skips both folders.
MEMORY_FILE = "memory.db"
MIRROR_MARKER = ".cuetrail-mirror"


def read_at_most(file: BinaryIO, most: int) -> bytes:
    """Returns at most `most` bytes of a file, read in chunks so that a small file allocates little."""
    data = bytearray()
    while len(data) < most and (chunk := file.read(min(CHUNK_BYTES, most - len(data)))):
        data += chunk
    return bytes(data)


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Yields a temporary file that replaces `path` when the `with` block ends without an error.

    The permissions of `path` stay; a new file and a new folder are private. A pipe or a device is opened itself.
    """
    if is_special(path):
        with path.open("wb") as file:
            yield file
        return
    path.parent.mkdir(PRIVATE_FOLDER, parents=True, exist_ok=True)
    target = path.resolve()
    temporary = target.with_name(f".{uuid.uuid4().hex}.tmp")
    try:
        with temporary.open("wb") as file:
            _set_mode(temporary, target)
            yield file
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def replace_with(finished: Path, path: Path) -> None:
    """Replaces `path` with a finished file on the same disk."""
    if is_special(path):
        with finished.open("rb") as whole, path.open("wb") as file:
            shutil.copyfileobj(whole, file)
    else:
        # Replace the target of a symbolic link, not the link.
        _set_mode(finished, path.resolve())
        finished.replace(path.resolve())


def _set_mode(new: Path, target: Path) -> None:
    if target.exists():
        shutil.copymode(target, new)
    else:
        new.chmod(PRIVATE)


def is_special(path: Path) -> bool:
    """True for a pipe or a device such as /dev/stdout, which must be written to, not replaced, and may be endless. True
    for a folder too.
    """
    # Unlike those of Path, these are False for what may not be looked at.
    return os.path.exists(path) and not os.path.isfile(path)  # noqa: PTH110, PTH113


def sync_file(path: Path) -> None:
    """Waits until the content of a file is on the disk, so that it survives a power cut."""
    with path.open("rb") as file:
        os.fsync(file.fileno())


def sync_folder(path: Path) -> None:
    """Makes new names in a folder survive a power cut, if the system can do that."""
    with contextlib.suppress(OSError):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


# About what a value of each kind takes in memory beside its text, in bytes.
_COMMA_BYTES, _LIST_BYTES, _MAPPING_BYTES = 60, 60, 230
JSON_BYTES, JSON_TIMES = 512 * 2**20, 10
"""JSON whose values would take more bytes than this is read only if that is at most so many times its text."""


def load_json(text: str, parse_constant: Callable[[str], Any] | None = None) -> Any:
    """Returns the value of a JSON text. Raises ReadError, before it is read, for one that consists of brackets and
    commas to fill the memory; ValueError or RecursionError for one that is no JSON.

    >>> load_json('{"a": [1]}')
    {'a': [1]}
    """
    taken = _COMMA_BYTES * text.count(",") + _LIST_BYTES * text.count("[") + _MAPPING_BYTES * text.count("{")
    if taken > max(JSON_BYTES, JSON_TIMES * len(text)):
        raise ReadError(f"this JSON would take more than {taken >> 20} MB of memory. Split it, and import the parts.")
    return json.loads(text, parse_constant=parse_constant)
