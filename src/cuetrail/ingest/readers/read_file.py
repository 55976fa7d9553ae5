"""Reads a file: its bytes up to a limit, then its documents with the reader of its format."""

from __future__ import annotations

from pathlib import Path

from cuetrail.errors import ReadError
from cuetrail.files import read_at_most
from cuetrail.ingest.document import Document
from cuetrail.ingest.encoding import decode
from cuetrail.ingest.readers import (
    canvas,
    code,
    file_format,
    html,
    logseq,
    markdown,
    notion,
    org,
    pdf,
    plain,
    refused_exports,
)
from cuetrail.ingest.readers.app_folders import NOWHERE, Place
from cuetrail.ingest.readers.chats import chat_json, left_out
from cuetrail.ingest.readers.file_format import format_of, is_pdf
from cuetrail.text.normalise import clean

MAX_BYTES = 64 * 2**20


def load(path: Path, source: str, max_bytes: int = MAX_BYTES) -> bytes:
    """Returns the bytes of a file. Raises ReadError if it cannot be opened or is larger than `max_bytes`."""
    try:
        if not path.exists():
            raise ReadError(f"{source} does not exist. Check the path.")
        if not path.is_file():
            raise ReadError(f"{source} is not a regular file. Give a file or a folder of files.")
        # Check the size of the data read: the file may grow meanwhile.
        with path.open("rb") as file:
            data = read_at_most(file, max_bytes + 1)
    except (OSError, ValueError) as e:
        raise ReadError(
            f"{source} cannot be opened ({getattr(e, 'strerror', None) or e}). Check its permissions."
        ) from e
    if len(data) > max_bytes:
        limit = f"{max_bytes / 2**20:g} MB" if max_bytes >= 2**20 else f"{max_bytes} bytes"
        raise ReadError(f"{source} is larger than {limit}. Raise the limit with --max-size, or split the file.")
    return data


def read(data: bytes, source: str, place: Place = NOWHERE) -> list[Document]:
    """Returns the documents in the bytes of a file: one, or one per chat or page.

    Raises ReadError; LeftOut for a file that is no memory, such as a template.
    """
    refused_exports.refuse_database(data, source)
    if is_pdf(data, source):
        return _guarded("pdf", data, "", source, place)
    return read_string(decode(data, source), source, place=place)


def read_string(text: str, source: str, format: str | None = None, place: Place = NOWHERE) -> list[Document]:
    """Returns the documents in a text. The default format is that of the source's suffix, else it is detected.

    Raises InputError for an unknown format, ReadError for a text that cannot be read in its format.
    """
    text = clean(text)
    return _guarded(format_of(text, source, format), b"", text, source, place)


def _guarded(kind: str, data: bytes, text: str, source: str, place: Place) -> list[Document]:
    """Returns the documents that the reader of a format finds. Turns every error of a parser into a ReadError."""
    left_out.refuse_by_name(source, place)
    try:
        match kind:
            case "pdf":
                return [pdf.read(data, source)]
            case "json":
                return chat_json.read(text, source, place)
            case "html":
                return [html.read(text, source)]
            case "markdown":
                return [_note(text, source, place)]
            case "canvas":
                return [canvas.read(text, source)]
            case "org":
                return [org.read(text, source)]
            case file_format.NOTION_DATABASE:
                return [notion.read_database(text, source, place)]
            case "code":
                return [code.read(text, source)]
            case _:
                return [plain.read(text, source)]
    except ReadError:
        raise
    except Exception as e:  # parsers may raise anything on a malformed file; the user needs its name
        detail = f"{type(e).__name__}: {e}" if str(e) else type(e).__name__
        raise ReadError(f"{source} could not be read as {kind} ({detail}). Save it again or convert it to text.") from e


def _note(text: str, source: str, place: Place) -> Document:
    """Returns a Markdown file as a document, by the rules of the app that wrote it."""
    if place.app == "logseq":
        return logseq.read(text, source, place)
    if notion.is_page(source):
        return notion.finished(markdown.read(notion.prepared(text), source, place), text, source)
    return markdown.read(text, source, place)
