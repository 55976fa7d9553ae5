"""Guesses the encoding of a text from its bytes: a byte order mark, UTF-8, else the old Western encodings."""

from __future__ import annotations

import codecs

from cuetrail.errors import ReadError
from cuetrail.text.normalise import clean

# The bytes at the beginning in which control characters are counted.
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
