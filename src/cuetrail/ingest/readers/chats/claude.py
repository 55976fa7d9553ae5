"""Reads what only exports of Claude have: messages in blocks, attachments with texts, projects and memories."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cuetrail.ingest.document import Document, Part, aliases
from cuetrail.ingest.passages import compose
from cuetrail.ingest.readers import markdown
from cuetrail.ingest.readers.chats.left_out import NO_TEXT, THOUGHTS, TOOL_CALLS, TOOL_OUTPUTS
from cuetrail.text import document_dates
from cuetrail.text.normalise import clean

_BLOCKS = {"tool_use": TOOL_CALLS, "tool_result": TOOL_OUTPUTS, "server_tool_use": TOOL_CALLS, "thinking": THOUGHTS}
# Claude writes this where its page shows an artifact or the use of a tool.
_UNSUPPORTED = re.compile(r"```\nThis block is not supported on your current device yet\.\n```")


def count_blocks(message: Mapping[str, Any], left_out: Counter[str]) -> None:
    """Counts in `left_out` the blocks of a message of Claude that are no text, such as tool calls."""
    content = message.get("content")
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and block.get("type") in _BLOCKS:
            left_out[_BLOCKS[block["type"]]] += 1


def without_unsupported(text: str) -> str:
    """Returns a text without the blocks that stand for an artifact or the use of a tool."""
    return _UNSUPPORTED.sub("", text) if "not supported on your current device" in text else text


def attached_texts(message: Mapping[str, Any], left_out: Counter[str]) -> Iterator[tuple[str, str]]:
    """Yields the names and extracted texts of a message's attachments; counts those without a text."""
    given = message.get("attachments")
    for one in given if isinstance(given, list) else ():
        if not isinstance(one, dict):
            continue
        text, name = one.get("extracted_content"), one.get("file_name")
        if isinstance(text, str) and text.strip():
            yield clean(name).strip()[:200] if isinstance(name, str) else "", clean(text).strip()
        else:
            left_out[NO_TEXT] += 1
    files = message.get("files")
    left_out[NO_TEXT] += len(files) if isinstance(files, list) else 0


def projects_and_memories(items: Sequence[Mapping[str, Any]], source: str) -> list[Document]:
    """Returns the documents of projects and of what Claude remembers; [] for any other JSON."""
    if all({"uuid", "name", "docs"} <= item.keys() for item in items):
        return [document for item in items for document in _project(item, source)]
    if all({"conversations_memory", "project_memories"} & item.keys() for item in items):
        return [document for item in items for document in _memories(item, source)]
    return []


def _project(item: Mapping[str, Any], source: str) -> Iterator[Document]:
    """Yields a project: its description and instructions, then each of its documents, which link to it."""
    title, at = _text(item, "name") or "Project", document_dates.parse(item.get("created_at"))
    path = f"{source}#{_text(item, 'uuid') or title}"
    words = [f"{name}: {text}" for name, key in (("Description", "description"), ("Instructions", "prompt_template"))
             if (text := _text(item, key))]  # fmt: skip
    docs = [one for one in _list(item.get("docs")) if isinstance(one, dict)]
    project = Document(path, title, "note", at=at, buckets=(title,), props={"project": title}, read={"projects": 1})
    yield compose(project, [Part(text, apart=True) for text in words])
    for number, one in enumerate(docs, 1):
        name, text = _text(one, "filename") or f"document {number}", _text(one, "content")
        if not text:
            continue
        key = _text(one, "uuid") or str(number)
        made = markdown.read(text, name)
        yield _replaced(made, f"{path}:{key}", name, title, document_dates.parse(one.get("created_at")) or at)


def _replaced(document: Document, path: str, name: str, project: str, at: int | None) -> Document:
    return Document(
        path, name, "note", document.pieces, aliases=aliases(name, name, [document.title, *document.aliases]),
        tags=document.tags,
        buckets=(project,), own_tags=document.own_tags, own_links=(*document.own_links, project),
        at=document.at if document.at is not None else at, props={**document.props, "project": project},
        read={"documents of projects": 1},
    )  # fmt: skip


def _memories(item: Mapping[str, Any], source: str) -> Iterator[Document]:
    """Yields what Claude remembers: of all conversations, and of each project."""
    projects = item.get("project_memories")
    texts = [("Claude's memory of you", "conversations", _text(item, "conversations_memory"))]
    for key, text in projects.items() if isinstance(projects, dict) else ():
        texts.append((f"Claude's memory of the project {key}", str(key), clean(text) if isinstance(text, str) else ""))
    for title, key, text in texts:
        if text.strip():
            made = markdown.read(text, title)
            yield Document(f"{source}#{key}", title, "note", made.pieces, read={"memories": 1})


def _text(item: Mapping[str, Any], key: str) -> str:
    value = item.get(key)
    return clean(value).strip() if isinstance(value, str) else ""


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
