"""Reads plain text as paragraphs, or as blobs if it has none."""

from __future__ import annotations

from cuetrail.ingest import chunk
from cuetrail.ingest.document import Document
from cuetrail.ingest.readers.pieces import Part, make_pieces, stem
from cuetrail.text import dates


def read(text: str, source: str) -> Document:
    """Returns one document of kind `text`, dated by the file's name."""
    name = stem(source)
    pieces = make_pieces([Part(piece) for piece in chunk.plain(text)])
    return Document(path=source, title=name, kind="text", pieces=pieces, at=dates.from_name(name))


def read_data(text: str, source: str) -> Document:
    """Returns one document of kind `text` for data that is not prose: blobs without tags, links or names."""
    name = stem(source)
    pieces = make_pieces([Part(piece, prose=False) for piece in chunk.blob(text)])
    return Document(path=source, title=name, kind="text", pieces=pieces, at=dates.from_name(name))
