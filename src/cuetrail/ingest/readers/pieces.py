"""Turns the parts of a text into pieces: finds their tags, links, names and dates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from cuetrail.extract import links, tags
from cuetrail.ingest.document import Piece
from cuetrail.text import dates, names
from cuetrail.text.normalise import norm_name
from cuetrail.text.prose import prose_only


@dataclass(frozen=True, slots=True)
class Part:
    """A piece before its tags, links, names and dates are found. If `prose` is False, they are not searched for."""

    text: str
    level: int = 0
    prose: bool = True
    links: tuple[str, ...] = ()
    at: int | None = None
    speaker: str | None = None
    props: Mapping[str, Any] = field(default_factory=dict)


def stem(source: str) -> str:
    """Returns the file name of a source without its suffix."""
    return PurePath(source.replace("\\", "/")).stem or source


def aliases(source: str, title: str, given: Sequence[str] = ()) -> tuple[str, ...]:
    """Returns the given aliases and the file's stem, without repeats and without the title."""
    unique: dict[str, str] = {}
    for alias in (*given, stem(source)):
        if norm_name(alias) and norm_name(alias) != norm_name(title):
            unique.setdefault(norm_name(alias), alias.strip())
    return tuple(unique.values())


def make_pieces(parts: Sequence[Part]) -> tuple[Piece, ...]:
    """Returns the pieces of one document. Names are found with the whole document, everything else piece by piece."""
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
            # Dates in code and addresses do not count. Masking those is slow, so it is only done if there is a date.
            at = dates.first(prose_only(part.text))
    if linked and found:
        # A link to a name replaces the name.
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
