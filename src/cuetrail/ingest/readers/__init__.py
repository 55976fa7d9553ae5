"""Reads files into documents, with one module per format.

A file that cannot be read raises ReadError; the message says what is wrong and what to do.

May import: errors, extract, files, ingest.split, ingest.document, ingest.passages, text.
"""

from __future__ import annotations

import codecs
import re
from pathlib import Path, PurePath

from cuetrail.errors import InputError, ReadError
from cuetrail.files import read_at_most
from cuetrail.ingest.document import Document
from cuetrail.ingest.readers import (
    canvas,
    chat,
    chat_exports,
    code,
    foreign,
    html,
    logseq,
    markdown,
    notion,
    org,
    pdf,
    plain,
)
from cuetrail.ingest.readers.app_folders import NOWHERE, Place
from cuetrail.text.json_text import load_json
from cuetrail.text.normalise import clean

__all__ = ["FORMATS", "MAX_BYTES", "decode", "load", "read", "read_string", "supported"]

MAX_BYTES = 64 * 2**20
FORMATS = ("canvas", "code", "html", "json", "markdown", "org", "pdf", "text")

_SUFFIXES = {
    **dict.fromkeys(("md", "markdown", "mdx"), "markdown"),
    **dict.fromkeys(("txt", "text", "rst"), "text"),
    "org": "org",
    "canvas": "canvas",
    **dict.fromkeys(("html", "htm", "xhtml"), "html"),
    **dict.fromkeys(("json", "jsonl", "ndjson"), "json"),
    "pdf": "pdf",
    **dict.fromkeys(code.LANGUAGES, "code"),
}
_NAMES = {**{name: name for name in FORMATS}, **_SUFFIXES}
_LOOKS_HTML = re.compile(
    r"\s*(?:<\?xml[^>]{0,200}>\s*)?(?:<!--.{0,500}?-->\s*)?<(?:!doctype\s+html|html|head|body)\b", re.I | re.S
)
_LOOKS_MARKDOWN = re.compile(
    r"\A---[ \t]*\n|^#{1,6} \S|^(?:```|~~~)|\[\[[^\[\]\n]{1,200}\]\]|\]\([^()\s]{1,200}\)", re.M
)
# The characters, or bytes, at the beginning that are looked at.
_SAMPLE = 65536
# UTF-32 first: its little-endian byte order mark begins with that of UTF-16.
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\b\x1b")) + b"\x7f"


def supported(path: PurePath) -> bool:
    """True if the suffix of a file is that of a known format. Tables (.csv) are read if they are Notion's databases."""
    suffix = _suffix(path.name)
    return suffix in _SUFFIXES or (suffix == "csv" and notion.is_page(path.name))


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
    foreign.refuse_database(data, source)
    if data.startswith(b"%PDF-") or _suffix(source) == "pdf":
        return _guarded("pdf", data, "", source, place)
    return read_string(decode(data, source), source, place=place)


def read_string(text: str, source: str, format: str | None = None, place: Place = NOWHERE) -> list[Document]:
    """Returns the documents in a text. The default format is that of the source's suffix, else it is detected.

    Raises InputError for an unknown format, ReadError for a text that cannot be read in its format.
    """
    if format is not None and _NAMES.get(format.lower().lstrip(".")) in (None, "pdf"):
        raise InputError(f"unknown text format {format!r}; use one of canvas, code, html, json, markdown, org, text")
    text = clean(text)
    name = format.lower().lstrip(".") if format is not None else _suffix(source)
    if format is None and name == "csv" and notion.is_page(source):
        return _guarded("notion database", b"", text, source, place)
    return _guarded(_NAMES.get(name) or detect_format(text), b"", text, source, place)


def _guarded(kind: str, data: bytes, text: str, source: str, place: Place) -> list[Document]:
    """Returns the documents that the reader of a format finds. Turns every error of a parser into a ReadError."""
    chat_exports.refuse_by_name(source, place)
    try:
        match kind:
            case "pdf":
                return [pdf.read(data, source)]
            case "json":
                return chat.read(text, source, place)
            case "html":
                return [html.read(text, source)]
            case "markdown":
                return [_note(text, source, place)]
            case "canvas":
                return [canvas.read(text, source)]
            case "org":
                return [org.read(text, source)]
            case "notion database":
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
    """Returns a Markdown file as the app reads it that wrote it."""
    if place.app == "logseq":
        return logseq.read(text, source, place)
    if notion.is_page(source):
        return notion.finished(markdown.read(notion.prepared(text), source, place), text, source)
    return markdown.read(text, source, place)


def _suffix(name: str) -> str:
    return PurePath(name).suffix.lower().lstrip(".")


def detect_format(text: str) -> str:
    """Returns html, code, json or markdown; text if there is no sign of another format."""
    head = text[:_SAMPLE]
    if _LOOKS_HTML.match(head):
        return "html"
    if text.startswith("#!"):
        return "code"
    if head.lstrip()[:1] in ("{", "[") and _is_json(text):
        return "json"
    return "markdown" if _LOOKS_MARKDOWN.search(head) else "text"


def _is_json(text: str) -> bool:
    """True if the text, or its first line, is JSON that is not empty."""
    for candidate in (text, text.strip().split("\n", 1)[0]):
        try:
            if load_json(candidate):
                return True
        except (ValueError, RecursionError):
            continue
    return False


def decode(data: bytes, source: str) -> str:
    """Returns the cleaned text. Raises ReadError if the bytes are not text."""
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return clean(data[len(bom) :].decode(encoding, "replace"))
    sample = data[:_SAMPLE]
    controls = len(sample) - len(sample.translate(None, _CONTROLS))
    if controls * 50 > len(sample) + 50:
        raise ReadError(
            f"{source} is binary, not text. Convert it to text, Markdown, HTML or PDF first, or leave it out."
        )
    try:
        return clean(data.decode("utf-8"))
    except UnicodeDecodeError:
        pass
    # Old Western files: cp1252 has curly quotes where Latin-1 has control codes, but leaves five bytes undefined.
    try:
        return clean(data.decode("cp1252"))
    except UnicodeDecodeError:
        return clean(data.decode("latin-1"))
