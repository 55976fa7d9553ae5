"""Reads plain text by paragraphs, or in pieces cut by length if it has none."""

from __future__ import annotations

from cuetrail.ingest import split
from cuetrail.ingest.document import Document, Part, stem
from cuetrail.ingest.passages import compose
from cuetrail.text import document_dates


def read(text: str, source: str, prose: bool = True) -> Document:
    """Returns one document of kind `text`, dated by the file's name.

    With `prose=False` the text is data: it is cut by length, and no tags, links or names are looked for.
    """
    name = stem(source)
    parts = [Part(piece, prose=prose) for piece in (split.plain(text) if prose else split.blob(text))]
    return compose(Document(source, name, "text", at=document_dates.from_name(name)), parts)
