"""Packed files of an import: gzip files are unpacked, zip archives and files that unpack to far too much refused."""

from __future__ import annotations

import contextlib
import gzip
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from cuetrail.errors import ReadError
from cuetrail.files import CHUNK_BYTES
from cuetrail.transfer.formats.text_files import MOST_BYTES

HEAD_BYTES = 1 << 16


_GZIP, _ZIP = b"\x1f\x8b", b"PK\x03\x04"


_DAMAGED = (EOFError, zlib.error, gzip.BadGzipFile)


# A file that unpacks to more than this is no export, but meant to fill the disk.
_MOST_TIMES, _ALWAYS_BYTES = 100, 2 * MOST_BYTES


def read_head(path: Path) -> bytes:
    """Returns the first HEAD_BYTES of a file, unpacked if it is an intact gzip file. Raises ReadError."""
    try:
        with path.open("rb") as file:
            data = file.read(HEAD_BYTES)
    except OSError as e:
        raise ReadError(f"{path} cannot be read ({e.strerror or e}). Check its permissions.") from e
    if data.startswith(_GZIP):
        with contextlib.suppress(*_DAMAGED), gzip.open(path) as packed:
            return packed.read(HEAD_BYTES)
    return data


def refuse_archives(path: Path) -> None:
    """Raises ReadError for a zip archive, which must be unpacked first, and for a damaged gzip file."""
    if path.is_file():
        with path.open("rb") as file:
            start = file.read(len(_ZIP))
        if start == _ZIP:
            raise ReadError(f"{path} is a zip archive. Unzip it, and import the file or folder that was in it.")
        if start.startswith(_GZIP):
            try:
                with gzip.open(path) as packed:
                    packed.read(HEAD_BYTES)
            except _DAMAGED as error:
                raise _damaged(path, error) from error


@contextlib.contextmanager
def unpacked(path: Path) -> Iterator[Path]:
    """Yields the path, or a temporary file with the content of a gzip file. Raises ReadError if that is damaged."""
    with path.open("rb") if path.is_file() else contextlib.nullcontext() as file:
        packed = file is not None and file.read(len(_GZIP)) == _GZIP
    if not packed:
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / (path.stem if path.suffix == ".gz" else path.name)
        try:
            with gzip.open(path) as source, plain.open("wb") as copy:
                most = max(_ALWAYS_BYTES, _MOST_TIMES * path.stat().st_size)
                while piece := source.read(CHUNK_BYTES):
                    copy.write(piece)
                    if copy.tell() > most:
                        raise ReadError(
                            f"{path} unpacks to more than {_MOST_TIMES} times its size. If it is an export, unpack it "
                            "with gunzip and import that."
                        )
        except _DAMAGED as error:
            raise _damaged(path, error) from error
        yield plain


def _damaged(path: Path, error: Exception) -> ReadError:
    return ReadError(f"{path} is packed with gzip and damaged ({error}). Make it again.")
