"""Reads files into documents: one small module a format, and this one door to them.

A file that cannot be read raises ReadError, whose message says what is wrong with it and what to do.

May import: errors, extract, files, ingest.chunk, ingest.document, text.
"""

from __future__ import annotations

import json
import re
from pathlib import Path, PurePath

from cuetrail.errors import InputError, ReadError
from cuetrail.files import read_at_most
from cuetrail.ingest.document import Document
from cuetrail.ingest.readers import chat, code, html, markdown, pdf, plain
from cuetrail.ingest.readers.pieces import decode
from cuetrail.text.normalise import clean

__all__ = ["FORMATS", "MAX_BYTES", "load", "read", "read_string", "supported"]

MAX_BYTES = 64 * 2**20
FORMATS = ("code", "html", "json", "markdown", "pdf", "text")

_SUFFIXES = {
    **dict.fromkeys(("md", "markdown", "mdx"), "markdown"),
    **dict.fromkeys(("txt", "text", "rst", "org"), "text"),
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
_SNIFFED = 65536


def supported(path: PurePath) -> bool:
    """Whether a file is of a known format, judged by its suffix."""
    return _suffix(path.name) in _SUFFIXES


def load(path: Path, source: str, max_bytes: int = MAX_BYTES) -> bytes:
    """The bytes of a file. Raises ReadError when it cannot be opened or is larger than `max_bytes`."""
    try:
        if not path.exists():
            raise ReadError(f"{source} does not exist. Check the path.")
        if not path.is_file():
            raise ReadError(f"{source} is not a regular file. Give a file or a folder of files.")
        # The size is checked on what was read: the file may grow between asking and reading.
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


def read(data: bytes, source: str) -> list[Document]:
    """The documents in a file's bytes: one, or one for each chat. Raises ReadError when they cannot be read."""
    if data.startswith(b"%PDF-") or _suffix(source) == "pdf":
        return _guarded("pdf", data, "", source)
    return read_string(decode(data, source), source)


def read_string(text: str, source: str, format: str | None = None) -> list[Document]:
    """The documents in a text. Without a format it is told by the source's suffix, then by the text itself.

    Raises InputError for an unknown format and ReadError for a text that cannot be read as its format.
    """
    if format is not None and _NAMES.get(format.lower().lstrip(".")) in (None, "pdf"):
        raise InputError(f"unknown text format {format!r}; use one of code, html, json, markdown, text")
    text = clean(text)
    name = format.lower().lstrip(".") if format is not None else _suffix(source)
    return _guarded(_NAMES.get(name) or _sniff(text), b"", text, source)


def _guarded(kind: str, data: bytes, text: str, source: str) -> list[Document]:
    """Reads by kind; whatever a parser raises on a malformed file becomes a ReadError."""
    try:
        match kind:
            case "pdf":
                return [pdf.read(data, source)]
            case "json":
                return chat.read(text, source)
            case "html":
                return [html.read(text, source)]
            case "markdown":
                return [markdown.read(text, source)]
            case "code":
                return [code.read(text, source)]
            case _:
                return [plain.read(text, source)]
    except ReadError:
        raise
    except Exception as e:  # parsers of malformed files raise anything; the user needs the file's name
        detail = f"{type(e).__name__}: {e}" if str(e) else type(e).__name__
        raise ReadError(f"{source} could not be read as {kind} ({detail}). Save it again or convert it to text.") from e


def _suffix(name: str) -> str:
    return PurePath(name).suffix.lower().lstrip(".")


def _sniff(text: str) -> str:
    """The format a text looks like; text when nothing tells."""
    head = text[:_SNIFFED]
    if _LOOKS_HTML.match(head):
        return "html"
    if text.startswith("#!"):
        return "code"
    if head.lstrip()[:1] in ("{", "[") and _is_json(text):
        return "json"
    return "markdown" if _LOOKS_MARKDOWN.search(head) else "text"


def _is_json(text: str) -> bool:
    """Whether the text, or its first line, is a JSON object or list with something in it."""
    for candidate in (text, text.strip().split("\n", 1)[0]):
        try:
            if json.loads(candidate):
                return True
        except (ValueError, RecursionError):
            continue
    return False
