"""Reads PDF files: the text of each page, as paragraphs."""

from __future__ import annotations

import contextlib
import ctypes
import io
import logging
import threading
from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from cuetrail.errors import ReadError
from cuetrail.ingest import split
from cuetrail.ingest.document import Document, Part, aliases, stem
from cuetrail.ingest.passages import compose
from cuetrail.text import document_dates
from cuetrail.text.normalise import clean

if TYPE_CHECKING:
    from pypdf import PdfReader


# A few kilobytes can describe hours of work. A file may take so long, and more for each byte.
SECONDS, SECONDS_PER_MEGABYTE = 30.0, 20.0


class _TooLong(BaseException):
    """Raised when reading a PDF takes too long. A BaseException, because pypdf catches every Exception."""


@contextlib.contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """Raises _TooLong inside the `with` block if it takes longer than `seconds`."""
    thread, over = threading.get_ident(), threading.Event()

    def interrupt() -> None:
        # Repeated, because a destructor may swallow it.
        while not over.wait(seconds if not late else 1.0):
            late.append(True)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(_TooLong))

    late: list[bool] = []
    watch = threading.Thread(target=interrupt, daemon=True)
    watch.start()
    try:
        try:
            yield
        finally:
            over.set()
            watch.join()
    finally:
        # One that is still on its way would hit the caller.
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), None)


def read(data: bytes, source: str) -> Document:
    """Returns one document of kind `pdf`. Raises ReadError for encrypted, broken and scanned files, and for files that
    take too long.
    """
    # Imported here: it takes 130 ms, and most folders have no PDF.
    from pypdf import PdfReader
    from pypdf.errors import DependencyError, PyPdfError

    # pypdf logs a line for each oddity of a file; users can do nothing about them.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    seconds = SECONDS + SECONDS_PER_MEGABYTE * len(data) / 1_000_000
    try:
        with _at_most(seconds):
            reader = PdfReader(io.BytesIO(data))
            if reader.is_encrypted and not reader.decrypt(""):
                raise ReadError(f"{source} is encrypted. Save a copy without a password and read that.")
            pages = [clean(page.extract_text() or "") for page in reader.pages]
            title, at = _metadata(reader)
    except _TooLong:
        raise ReadError(
            f"{source} takes more than {seconds:.0f} s to read. Print it to a new PDF and read that."
        ) from None
    except DependencyError as e:
        raise ReadError(
            f"{source} is encrypted in a way this cannot open. Save a copy without a password and read that."
        ) from e
    except (PyPdfError, OSError) as e:
        raise ReadError(f"{source} is a broken PDF ({e}). Open it in a PDF viewer and save it again.") from e
    parts = [
        Part(one, apart=not i, props={"page": number})
        for number, page in enumerate(pages, 1)
        for i, one in enumerate(split.prose(page))
    ]
    if not parts:
        raise ReadError(
            f"{source} holds no text, it may be a scan. Run OCR on it (for example ocrmypdf) and read the result."
        )
    title = title or stem(source)
    document = Document(
        path=source,
        title=title,
        kind="pdf",
        aliases=aliases(source, title),
        at=document_dates.from_name(stem(source)) if at is None else at,
        props={"pages": len(pages)},
    )
    return compose(document, parts)


def _metadata(reader: PdfReader) -> tuple[str, int | None]:
    """Returns the title and the creation date; "" or None if missing or invalid."""
    info = reader.metadata
    if info is None:
        return "", None
    title = clean(str(info.title or "")).strip()
    try:
        created: datetime | None = info.creation_date
    except (ValueError, TypeError):
        created = None
    return title, document_dates.parse(created)
