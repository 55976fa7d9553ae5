"""Files read by the readers, for the tests of this folder."""

from __future__ import annotations

from pathlib import Path

from cuetrail.ingest.document import Document
from cuetrail.ingest.readers.read_file import MAX_BYTES, load, read

DAY = 1710201600000  # 2024-03-12T00:00Z


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def read_file(path: Path, source: str, max_bytes: int = MAX_BYTES) -> list[Document]:
    return read(load(path, source, max_bytes), source)


def one(folder: Path, name: str, content: str | bytes) -> Document:
    [document] = read_file(write(folder, name, content), name)
    return document
