"""Reads the Markdown and CSV of a Notion export: names that end in an id, properties below the title, databases.

Reading list 0f3a...c1.csv          a database: each row becomes a passage
Reading list 0f3a...c1/Emma 9b...7e.md   the page of a row
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePath
from urllib.parse import unquote

from cuetrail.errors import ReadError
from cuetrail.ingest.document import Document, LeftOut, Part, aliases, stem
from cuetrail.ingest.passages import compose
from cuetrail.ingest.readers.app_folders import Place
from cuetrail.text import document_dates
from cuetrail.text.normalise import clean, norm_name

_NAMED = re.compile(r"^(.*?)[ _-]([0-9a-f]{32})(_all)?$")
_LINK = re.compile(r"\[([^\[\]\n]{0,300})\]\(([^()\s]{1,900}?[0-9a-f]{32}(?:_all)?\.(?:md|csv))\)")
_WEB_LINK = re.compile(r"\[([^\[\]\n]{1,300})\]\((https://www\.notion\.so/[^()\s]{1,500})\)")
_PROPERTY = re.compile(r"^([^\W\d_][^:\n]{0,59}): (.+)$")
_TAGS = frozenset({"tags", "tag", "labels", "label", "topics", "topic", "keywords"})
_DATES = ("created", "created time", "date", "date created", "created at", "last edited time", "last edited", "updated")
_NAMES = frozenset({"alias", "aliases", "also known as"})
MOST_ROWS, MOST_CELL = 200_000, 100_000
"""A larger database is read up to this row; a longer cell is cut."""


def is_page(source: str) -> bool:
    """True if the name of a file ends in the id that Notion gives every page and database."""
    return _NAMED.match(stem(source)) is not None


def title_of(source: str) -> str:
    """Returns the name of a file without Notion's id.

    >>> title_of("Notes/Reading list 0f3ad1c80f3ad1c80f3ad1c80f3ad1c8_all.csv")
    'Reading list'
    """
    named = _NAMED.match(stem(source))
    return named[1].strip() or "Untitled" if named else stem(source)


def prepared(text: str) -> str:
    """Returns the Markdown of a page with links to pages of the export as [[wikilinks]], and links to notion.so as
    their words.
    """
    text = _LINK.sub(lambda m: f"[[{title_of(unquote(m[2]).replace('[', '').replace(']', ''))}]]", text)
    return _WEB_LINK.sub(r"\1", text)


def finished(document: Document, text: str, source: str) -> Document:
    """Returns the document of a page with the tags, aliases and date that its properties state, and the title, the
    bucket and Notion's id from its path.
    """
    fields = {key.casefold().strip(): value for key, value in _properties(text)}
    tags = [word.strip() for key in sorted(_TAGS) for word in fields.get(key, "").split(",")]
    names = [word.strip() for key in sorted(_NAMES) for word in fields.get(key, "").split(",")]
    stated = (document_dates.first(fields[key]) for key in _DATES if key in fields)
    title = title_of(source) if document.title == stem(source) else document.title
    named = _NAMED.match(stem(source))
    return replace(
        document, title=title, aliases=aliases(title, title, [*names, *document.aliases]),
        tags=tuple(dict.fromkeys([*document.tags, *(tag for tag in tags if tag)])),
        buckets=document.buckets or _bucket(source),
        at=document.at if document.at is not None else next((at for at in stated if at is not None), None),
        props={**document.props, **({"notion_id": named[2]} if named else {})}, read={"pages": 1},
    )  # fmt: skip


def _bucket(source: str) -> tuple[str, ...]:
    """Returns the page or database at the top, below which this one lies, as its bucket."""
    above = PurePath(source).parts[1:-1]
    return (title_of(f"{above[0]}.md"),) if above else ()


def _properties(text: str) -> Iterator[tuple[str, str]]:
    """Yields the lines `Name: value` directly below the title."""
    lines = iter(text.lstrip("\n").split("\n"))
    if not next(lines, "").startswith("# "):
        return
    begun = False
    for line in lines:
        found = _PROPERTY.match(line)
        if found:
            begun = True
            yield found[1], found[2].strip()
        elif line.strip() or begun:
            return


def read_database(text: str, source: str, place: Place) -> Document:
    """Returns a database as one document, a passage per row. A row that has a page of its own is left to that page.

    Raises LeftOut if the export has the same database with all its rows, and ReadError if it is no CSV.
    """
    whole = None if place.file is None else place.file.with_name(f"{stem(place.file.name)}_all.csv")
    if whole is not None and whole.exists():
        raise LeftOut(source, "databases that another file has with all rows")
    title, at = title_of(source), document_dates.from_name(stem(source))
    pages = _pages_of(place.file)
    parts: list[Part] = []
    rows = own = cut = 0
    try:
        # Not in strict mode: Notion writes what its own reader accepts.
        reader = csv.reader(io.StringIO(text))
        header = [clean(name).strip() for name in next(reader, [])]
        for row in reader:
            rows += 1
            if rows > MOST_ROWS:
                cut += 1
            elif row and norm_name(row[0]) in pages:
                own += 1
            elif any(cell.strip() for cell in row):
                parts.append(_row(header, row))
    except csv.Error as error:
        raise ReadError(f"{source} is no CSV that can be read ({error}). Export it from Notion again.") from error
    gone = {"rows that have a page of their own": own, f"rows after the first {MOST_ROWS}": cut}
    document = Document(
        path=source, title=title, kind="note", aliases=aliases(title, title, (stem(source),)), at=at,
        read={"databases": 1, "rows": rows},
        left_out={name: count for name, count in gone.items() if count},
    )  # fmt: skip
    return compose(document, parts)


def _row(header: list[str], row: list[str]) -> Part:
    cells = {name: clean(cell).strip()[:MOST_CELL] for name, cell in zip(header, row, strict=False) if cell.strip()}
    fields = {name.casefold(): value for name, value in cells.items()}
    tags = tuple(word.strip() for key in sorted(_TAGS) for word in fields.get(key, "").split(",") if word.strip())
    stated = (document_dates.first(fields[key]) for key in _DATES if key in fields)
    first, *rest = cells.items() or [("", "")]
    lines = [first[1] if header and first[0] == header[0] else ": ".join(first)]
    lines += [f"{name}: {value}" for name, value in rest]
    return Part("\n".join(lines), apart=True, tags=tags, at=next((at for at in stated if at is not None), None))


def _pages_of(file: Path | None) -> frozenset[str]:
    """Returns the normalised titles of the pages in the folder of a database."""
    if file is None:
        return frozenset()
    whole = stem(file.name).removesuffix("_all")
    found: set[str] = set()
    for name in {whole, title_of(file.name)}:
        folder = file.with_name(name)
        if folder.is_dir():
            found |= {norm_name(title_of(page.name)) for page in folder.iterdir() if _is_markdown(page)}
    return frozenset(found)


def _is_markdown(path: PurePath) -> bool:
    return path.suffix.lower() == ".md"
