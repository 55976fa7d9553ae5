"""Detects the encoding of a file, and the format of a text that has no file suffix."""

from __future__ import annotations

import codecs
import json
import re

from cuetrail.errors import ReadError
from cuetrail.text.normalise import clean

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
            if json.loads(candidate):
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
