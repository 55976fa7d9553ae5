"""Files written so that a reader sees the old one or the new one, never half of one; files read up to a limit."""

from __future__ import annotations

import contextlib
import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

PIECE = 2**20


def read_at_most(file: BinaryIO, most: int) -> bytes:
    """The bytes of a file up to so many. Asked for that many at once, Python would make room for all of them first."""
    data = bytearray()
    while len(data) < most and (piece := file.read(min(PIECE, most - len(data)))):
        data += piece
    return bytes(data)


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file to write to, which takes the place of `path` when it is whole; folders on the way are made.

    Who could not read the old one cannot read the new one.
    """
    if _is_special(path):
        with path.open("wb") as file:
            yield file
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    place = path.resolve()
    temporary = place.with_name(f".{uuid.uuid4().hex}.tmp")
    try:
        with temporary.open("wb") as file:
            if place.exists():
                shutil.copymode(place, temporary)
            yield file
        temporary.replace(place)
    finally:
        temporary.unlink(missing_ok=True)


def put(finished: Path, path: Path) -> None:
    """Let a finished file on the same disk take the place of `path`."""
    if _is_special(path):
        with finished.open("rb") as whole, path.open("wb") as file:
            shutil.copyfileobj(whole, file)
    else:
        # What a link leads to is replaced, not the link.
        finished.replace(path.resolve())


def _is_special(path: Path) -> bool:
    """Whether this is there and no plain file: /dev/stdout, a pipe. It is written to; to replace it would break it."""
    return path.exists() and not path.is_file()
