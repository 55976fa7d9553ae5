"""The format of a file: by its suffix, or detected from its text."""

from __future__ import annotations

import re
from pathlib import PurePath

from cuetrail.errors import InputError
from cuetrail.files import load_json
from cuetrail.ingest.readers import code, notion

FORMATS = ("canvas", "code", "html", "json", "markdown", "org", "pdf", "text")
NOTION_DATABASE = "notion database"
"""The format of a table (.csv) in a Notion export; nobody names it."""

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
# The characters at the beginning that are looked at.
_SAMPLE = 65536


def supported(path: PurePath) -> bool:
    """True if the suffix of a file is that of a known format. Tables (.csv) are read if they are Notion's databases."""
    suffix = _suffix(path.name)
    return suffix in _SUFFIXES or (suffix == "csv" and notion.is_page(path.name))


def is_pdf(data: bytes, source: str) -> bool:
    """True if a file begins as a PDF file or has its suffix."""
    return data.startswith(b"%PDF-") or _suffix(source) == "pdf"


def format_of(text: str, source: str, given: str | None = None) -> str:
    """Returns the format of a text: the given one, else that of the source's suffix, else it is detected.

    Raises InputError if the given format is unknown.
    """
    if given is not None and _NAMES.get(given.lower().lstrip(".")) in (None, "pdf"):
        raise InputError(f"unknown text format {given!r}; use one of canvas, code, html, json, markdown, org, text")
    name = given.lower().lstrip(".") if given is not None else _suffix(source)
    if given is None and name == "csv" and notion.is_page(source):
        return NOTION_DATABASE
    return _NAMES.get(name) or detect_format(text)


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
