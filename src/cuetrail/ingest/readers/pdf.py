"""Reads PDF files: the text of each page, as paragraphs."""

from __future__ import annotations

import io
import logging
from datetime import datetime
from typing import TYPE_CHECKING

from cuetrail.errors import ReadError
from cuetrail.ingest import chunk
from cuetrail.ingest.document import Document, Part, aliases, stem
from cuetrail.ingest.passages import compose
from cuetrail.text import document_dates
from cuetrail.text.normalise import clean

if TYPE_CHECKING:
    from pypdf import PdfReader


def read(data: bytes, source: str) -> Document:
    """Returns one document of kind `pdf`. Raises ReadError for encrypted, broken and scanned files."""
    # Imported here: it takes 130 ms, and most folders have no PDF.
    from pypdf import PdfReader
    from pypdf.errors import DependencyError, PyPdfError

    # pypdf logs a line for each oddity of a file; users can do nothing about them.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        reader = PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise ReadError(f"{source} is encrypted. Save a copy without a password and read that.")
        pages = [clean(page.extract_text() or "") for page in reader.pages]
    except DependencyError as e:
        raise ReadError(
            f"{source} is encrypted in a way this cannot open. Save a copy without a password and read that."
        ) from e
    except (PyPdfError, OSError) as e:
        raise ReadError(f"{source} is a broken PDF ({e}). Open it in a PDF viewer and save it again.") from e
    parts = [
        Part(one, apart=not i, props={"page": number})
        for number, page in enumerate(pages, 1)
        for i, one in enumerate(chunk.prose(page))
    ]
    if not parts:
        raise ReadError(
            f"{source} holds no text, it may be a scan. Run OCR on it (for example ocrmypdf) and read the result."
        )
    title, at = _metadata(reader)
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
