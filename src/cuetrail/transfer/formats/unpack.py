"""Packed files of an import: gzip files and zip archives are unpacked; what unpacks to far too much is refused."""

from __future__ import annotations

import contextlib
import gzip
import lzma
import os
import tempfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

from cuetrail.errors import ReadError
from cuetrail.files import CHUNK_BYTES
from cuetrail.transfer.formats.text_files import MOST_BYTES

HEAD_BYTES = 1 << 16


_GZIP, _ZIP, _ENTRY, _SQLITE = b"\x1f\x8b", b"PK\x03\x04", b"PK\x01\x02", b"SQLite format 3\x00"
# Documents and programs that are packed as zip archives.
_OTHER_ZIPS = frozenset({".docx", ".xlsx", ".pptx", ".odt", ".ods", ".odp", ".epub", ".jar", ".whl"})


_DAMAGED = (EOFError, zlib.error, gzip.BadGzipFile)


# A file that unpacks to more than this is no export, but meant to fill the disk.
_MOST_TIMES, _ALWAYS_BYTES = 100, 2 * MOST_BYTES


def read_head(path: Path) -> bytes:
    """Returns the first HEAD_BYTES of a file, unpacked if it is an intact gzip file. Raises ReadError if it cannot be
    read.
    """
    try:
        with path.open("rb") as file:
            data = file.read(HEAD_BYTES)
    except OSError as e:
        raise ReadError(f"{path} cannot be read ({e.strerror or e}). Check its permissions.") from e
    if data.startswith(_GZIP):
        with contextlib.suppress(*_DAMAGED), gzip.open(path) as packed:
            return packed.read(HEAD_BYTES)
    return data


def is_zip(path: Path) -> bool:
    """True for a zip archive, except one that is a document, an e-book or a program (.docx, .epub, .jar ...)."""
    return path.is_file() and _start(path) == _ZIP and path.suffix.lower() not in _OTHER_ZIPS


def _start(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(len(_ZIP))


def refuse_others(path: Path) -> None:
    """Raises ReadError for what cannot be imported: a database, a document or e-book, a damaged gzip file."""
    if path.is_file():
        with path.open("rb") as file:
            start = file.read(len(_SQLITE))
        if start == _SQLITE:
            raise ReadError(
                f"{path} is a database of SQLite. Export its content from the app that wrote it, as JSON or Markdown. "
                "A memory of cuetrail is copied with `cuetrail copy`."
            )
        if start.startswith(_ZIP) and path.suffix.lower() in _OTHER_ZIPS:
            raise ReadError(
                f"{path} is a {path.suffix.lower()} file, not an export. Save it as PDF or HTML, and ingest that."
            )
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


# --- zip archives

MOST_MEMBERS = 200_000
"""The most files of an archive."""
_MOST_NESTED = 3
_SETTINGS = (".obsidian/", "logseq/config.edn")
_SKIPPED = ("__MACOSX", ".git", ".trash", "node_modules")


@contextlib.contextmanager
def unzipped(path: Path, wanted: Callable[[str], bool]) -> Iterator[tuple[Path, Counter[str]]]:
    """Yields a temporary folder with the files of an archive whose names are wanted, and counts the others by type.

    Archives inside it are unpacked in place, three levels deep. The settings of Obsidian and Logseq are always kept.
    Raises ReadError for an archive that is damaged, encrypted, has too many files, or unpacks to far too much.
    """
    with tempfile.TemporaryDirectory() as folder:
        others = Counter[str]()
        budget = _Budget(path, max(_ALWAYS_BYTES, _MOST_TIMES * path.stat().st_size))
        _unzip(path, Path(folder), wanted, budget, others, 0)
        yield _only_folder(Path(folder)), others


class _Budget:
    """How many bytes and files an archive may still unpack to. Archives inside it share its budget."""

    def __init__(self, path: Path, most_bytes: int) -> None:
        self._path, self._bytes, self._members = path, most_bytes, MOST_MEMBERS

    def spend(self, size: int, members: int = 0) -> None:
        """Takes bytes and files from the budget. Raises ReadError if there are more than it has."""
        self._bytes -= size
        self._members -= members
        if self._bytes < 0:
            raise ReadError(
                f"{self._path} unpacks to more than {_MOST_TIMES} times its size. If it is an export, unpack it with "
                "unzip and import the folder."
            )
        if self._members < 0:
            raise ReadError(f"{self._path} has more than {MOST_MEMBERS} files. Unzip it and import parts of it.")


def _unzip(
    path: Path, folder: Path, wanted: Callable[[str], bool], budget: _Budget, others: Counter[str], depth: int
) -> None:
    try:
        if _count_entries(path) > 2 * MOST_MEMBERS:
            # `zipfile` would make an object of each, which takes ten times as much memory as the archive. Twice as
            # many, because entries of archives inside this one are among those counted.
            budget.spend(0, MOST_MEMBERS + 1)
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            budget.spend(0, len(members))
            for member in members:
                name = _safe_name(member)
                if name is None:
                    continue
                if name.lower().endswith(".zip"):
                    _unzip_inner(archive, member, folder / PurePosixPath(name).parent, wanted, budget, others, depth)
                elif wanted(name) or any(mark in f"/{name}" for mark in _SETTINGS):
                    _extract(archive, member, folder / name, budget)
                else:
                    others[f"{PurePosixPath(name).suffix.lower() or 'other'} files"] += 1
    except _ZIP_DAMAGED as error:
        raise ReadError(f"{path.name} is a zip archive and damaged ({error}). Download or make it again.") from error
    except RuntimeError as error:
        raise ReadError(f"{path.name} is encrypted. Unzip it with its password, and import the folder.") from error


def _count_entries(path: Path) -> int:
    """Returns how often the mark of an entry in the list of files is in an archive: at least once for each file."""
    count, end = 0, b""
    with path.open("rb") as file:
        while piece := file.read(CHUNK_BYTES):
            count += (end + piece).count(_ENTRY)
            end = piece[-len(_ENTRY) + 1 :]
    return count


_ZIP_DAMAGED = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, UnicodeDecodeError)


def _safe_name(member: zipfile.ZipInfo) -> str | None:
    """Returns the path of a file below the archive's folder; None for folders, links, paths that lead out of it, and
    files of the system or of other programs, such as those in `.git`.
    """
    parts = [part for part in member.filename.replace("\\", "/").split("/") if part not in ("", ".")]
    is_link = (member.external_attr >> 16) & 0o170000 == 0o120000
    if member.is_dir() or is_link or not parts or ".." in parts or parts[0].endswith(":") or "\x00" in member.filename:
        return None
    return None if any(part in _SKIPPED for part in parts) else "/".join(part[:200] for part in parts)


def _unzip_inner(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, folder: Path, wanted: Callable[[str], bool], budget: _Budget,
    others: Counter[str], depth: int,
) -> None:  # fmt: skip
    if depth + 1 >= _MOST_NESTED:
        others["archives inside archives"] += 1
        return
    with tempfile.TemporaryDirectory() as own:
        inner = Path(own) / PurePosixPath(member.filename).name
        _extract(archive, member, inner, budget)
        _unzip(inner, folder, wanted, budget, others, depth + 1)


def _extract(archive: zipfile.ZipFile, member: zipfile.ZipInfo, path: Path, budget: _Budget) -> None:
    """Writes one file, with its time. What counts is what it really unpacks to, not the size that it states.

    Raises ReadError if it cannot be unpacked.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with archive.open(member) as packed, path.open("wb") as file:
            while piece := packed.read(CHUNK_BYTES):
                budget.spend(len(piece))
                file.write(piece)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ReadError(f"{member.filename[:200]} cannot be unpacked ({reason}). Unzip the archive by hand.") from error
    # An archive may state a time that is none.
    with contextlib.suppress(OSError, ValueError):
        stamp = datetime(*member.date_time, tzinfo=UTC).timestamp()
        os.utime(path, (stamp, stamp))


def _only_folder(folder: Path) -> Path:
    """Returns the folder inside if an archive has nothing but one folder, again and again."""
    while True:
        inside = list(folder.iterdir())
        if len(inside) != 1 or not inside[0].is_dir() or inside[0].name.startswith("."):
            return folder
        folder = inside[0]


def _damaged(path: Path, error: Exception) -> ReadError:
    return ReadError(f"{path} is packed with gzip and damaged ({error}). Make it again.")
