"""Reads Roam Research: its JSON export, a list of pages, each with an outline of blocks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from cuetrail.ingest.document import Document, aliases
from cuetrail.ingest.passages import compose
from cuetrail.ingest.readers import outline
from cuetrail.ingest.readers.outline import DEEPEST, Block
from cuetrail.text import document_dates
from cuetrail.text.normalise import clean

_MARKS = (("{{[[TODO]]}}", "TODO"), ("{{[[DONE]]}}", "DONE"), ("{{TODO}}", "TODO"), ("{{DONE}}", "DONE"), ("^^", ""))
_PAGE_KEYS = frozenset({"title", "children", "uid", "edit-time", "create-time", "edit-email", "create-email"})
_BLOCK_SIGNS = frozenset({"string", "uid"})


def is_graph(value: Any) -> bool:
    """True for the pages of a Roam graph: objects with a title, and blocks with `string` and `uid` below some."""
    if not isinstance(value, list) or not value:
        return False
    pages = [page for page in value if isinstance(page, dict) and isinstance(page.get("title"), str)]
    if len(pages) != len(value) or not all(_PAGE_KEYS & page.keys() - {"title"} for page in pages):
        return False
    return any(_is_block(block) for page in pages for block in _list(page.get("children"))[:1])


def _is_block(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() >= _BLOCK_SIGNS


def read(value: list[dict[str, Any]], source: str) -> list[Document]:
    """Returns one document per page that has a text."""
    known = {block["uid"]: _text(block) for page in value for block in _blocks_below(page) if _is_block(block)}
    used: set[str] = set()
    documents = []
    empty = 0
    for number, page in enumerate(value, 1):
        missed = Counter[str]()
        title = clean(page["title"]).strip() or f"page {number}"
        key = title if title not in used else f"{title}-{number}"
        used.add(key)
        tops = tuple(_block(one, 0) for one in _list(page.get("children")) if isinstance(one, dict))
        blocks = sum(1 for one in _blocks_below(page))
        if not blocks:
            empty += 1
            continue
        at = document_dates.first(title)
        document = Document(
            path=f"{source}#{key}", title=title, kind="note", aliases=aliases(title, title), own_links=_above(title),
            at=document_dates.parse(page.get("create-time") or page.get("edit-time")) if at is None else at,
            props={"uid": page["uid"]} if isinstance(page.get("uid"), str) else {},
            read={"pages": 1, "blocks": blocks},
        )  # fmt: skip
        parts = outline.parts(tops, known, lambda id_, missed=missed: missed.update([id_]))  # type: ignore[misc]  # the default binds this page's counter
        gone = {"references to unknown blocks": missed.total()} if missed else {}
        documents.append(compose(_with_left_out(document, gone), parts))
    if empty and documents:
        first = documents[0]
        documents[0] = _with_left_out(first, {**first.left_out, "pages without text": empty})
    return documents


def _with_left_out(document: Document, left_out: Mapping[str, int]) -> Document:
    return replace(document, left_out=left_out) if left_out else document


def _above(title: str) -> tuple[str, ...]:
    """Returns the page above a page of a namespace: `a/b` is below `a`."""
    return (title.rsplit("/", 1)[0],) if "/" in title.strip("/") else ()


def _blocks_below(page: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    stack = list(reversed(_list(page.get("children"))))
    while stack:
        block = stack.pop()
        if isinstance(block, dict):
            yield block
            stack += reversed(_list(block.get("children")))


def _block(value: Mapping[str, Any], depth: int) -> Block:
    below = [one for one in _list(value.get("children")) if isinstance(one, dict)]
    if depth >= DEEPEST:
        # What is nested deeper is kept, flat.
        inner = [one for child in below for one in (child, *_blocks_below(child))]
        children = tuple(Block(_text(one), id=_word(one.get("uid"))) for one in inner)
    else:
        children = tuple(_block(one, depth + 1) for one in below)
    level = value.get("heading")
    return Block(
        _text(value), children, _word(value.get("uid")), level if isinstance(level, int) and 0 < level < 7 else 0
    )


def _text(block: Mapping[str, Any]) -> str:
    text = _word(block.get("string"))
    for mark, word in _MARKS:
        text = text.replace(mark, word)
    # `Author:: Ann` is a field.
    field, colons, rest = text.partition("::")
    return f"{field.strip()}: {rest.strip()}" if colons and 0 < len(field) <= 60 and "\n" not in field else text


def _word(value: Any) -> str:
    return clean(value) if isinstance(value, str) else ""


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
