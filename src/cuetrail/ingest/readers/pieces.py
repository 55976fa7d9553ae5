"""What all readers share: decoding bytes, and turning parts of a text into pieces with tags, links, names and dates."""

from __future__ import annotations

import codecs
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from cuetrail.errors import ReadError
from cuetrail.extract import links, tags
from cuetrail.ingest.document import Piece
from cuetrail.text import dates, markup, names
from cuetrail.text.normalise import clean, norm_name

_SAMPLE = 65536
# UTF-32 first: its little-endian BOM begins with the one of UTF-16.
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\b\x1b")) + b"\x7f"


@dataclass(frozen=True, slots=True)
class Part:
    """A piece before its tags, links, names and dates are known. `prose` False keeps the rules away from it."""

    text: str
    level: int = 0
    prose: bool = True
    links: tuple[str, ...] = ()
    at: int | None = None
    speaker: str | None = None
    props: Mapping[str, Any] = field(default_factory=dict)


def decode(data: bytes, source: str) -> str:
    """The text in stored form. Raises ReadError when the bytes are no text."""
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


def stem(source: str) -> str:
    """The name of a source without folders and suffix."""
    return PurePath(source.replace("\\", "/")).stem or source


def aliases(source: str, title: str, given: Sequence[str] = ()) -> tuple[str, ...]:
    """The given aliases and the file's stem, each once, without the title itself."""
    unique: dict[str, str] = {}
    for alias in (*given, stem(source)):
        if norm_name(alias) and norm_name(alias) != norm_name(title):
            unique.setdefault(norm_name(alias), alias.strip())
    return tuple(unique.values())


def make_pieces(parts: Sequence[Part]) -> tuple[Piece, ...]:
    """The pieces of one document. Names are judged over the whole document, everything else piece by piece."""
    found = names.find([part.text if part.prose else "" for part in parts])
    return tuple(_piece(part, part_names) for part, part_names in zip(parts, found, strict=True))


def _piece(part: Part, found: tuple[str, ...]) -> Piece:
    linked = part.links
    tagged: tuple[str, ...] = ()
    at = part.at
    if part.prose:
        linked = links.find(part.text)
        if part.links:
            linked = tuple(dict.fromkeys((*part.links, *linked)))
        tagged = tags.find(part.text)
        if at is None and dates.first(part.text) is not None:
            # A date in code or an address is not stated by the writer; masking is costly, so only where it may matter.
            at = dates.first(markup.prose_only(part.text))
    if linked and found:
        # A link says more than the bare name, so the same name is not reported twice.
        known = {norm_name(link) for link in linked}
        found = tuple(name for name in found if norm_name(name) not in known)
    return Piece(
        text=part.text,
        level=part.level,
        tags=tagged,
        links=linked,
        names=found,
        at=at,
        speaker=part.speaker,
        props=part.props,
    )
