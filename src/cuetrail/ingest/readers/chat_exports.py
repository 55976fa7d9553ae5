"""The exports of ChatGPT and Claude beside their chats: projects, memories, attachments, and what is no memory.

Tool calls and their output, marks of citations, thoughts of the model and account data are left out and counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from cuetrail.ingest.document import Document, LeftOut, Part, aliases, stem
from cuetrail.ingest.passages import compose
from cuetrail.ingest.readers import markdown
from cuetrail.ingest.readers.app_folders import Place
from cuetrail.text import document_dates
from cuetrail.text.normalise import clean

TOOL_OUTPUTS, TOOL_CALLS, THOUGHTS = "tool outputs", "tool calls", "thoughts and settings of the model"
CITATIONS, NO_TEXT = "marks of citations", "attachments without text"
SYSTEM = "messages of the system"
ACCOUNT, OTHER_FILES = "files with account data", "files of the export without chats"
SAME_CHATS = "pages with the same chats"

# Content that the model keeps to itself; the user never saw it.
HIDDEN = frozenset({"thoughts", "reasoning_recap", "user_editable_context", "model_editable_context", "thinking"})
_TOOL_CONTENT = frozenset(
    {"execution_output", "tether_browsing_display", "tether_quote", "system_error", "computer_output"}
)
_BLOCKS = {"tool_use": TOOL_CALLS, "tool_result": TOOL_OUTPUTS, "server_tool_use": TOOL_CALLS, "thinking": THOUGHTS}
# ChatGPT writes references to sources in characters of private use; an "entity" has a name to read.
_ENTITY = re.compile('\ue200entity\ue202\\["[^"\ue201]{0,60}","([^"\ue201]{1,200})"[^\ue201]{0,500}\ue201')
_CITATION = re.compile(
    "\ue200[^\ue201]{0,2000}\ue201|【\\d{1,4}(?::\\d{1,4})?†[^】\\n]{0,200}】|:contentReference\\[oaicite:\\d+\\]\\{index=\\d+\\}"
    "|\\[oaicite:\\d+\\]|[\ue200-\ue206]"
)
# Claude writes this where its page shows an artifact or the use of a tool.
_UNSUPPORTED = re.compile(r"```\nThis block is not supported on your current device yet\.\n```")
_ACCOUNT_KEYS = (
    {"full_name", "email_address"},
    {"chatgpt_plus_user"},
    {"email", "phone_number"},
    {"verified_phone_number"},
)
_WITHOUT_CHATS = frozenset({
    "message_feedback", "model_comparisons", "shared_conversations", "user_settings", "sora", "shopping", "group_chats",
    "export_manifest", "conversation_asset_file_names", "library_files",
})  # fmt: skip
_ACCOUNT_NAMES = frozenset({"user", "users", "account", "login_history"})


def reason_to_hide(message: Mapping[str, Any]) -> str:
    """Returns under which name a message is counted as left out, such as "tool outputs"; "" if it is to be read."""
    author, content, metadata = message.get("author"), message.get("content"), message.get("metadata")
    kind = content.get("content_type") if isinstance(content, dict) else None
    if kind in HIDDEN or message.get("type") in HIDDEN:
        return THOUGHTS
    if (isinstance(author, dict) and author.get("role") == "tool") or kind in _TOOL_CONTENT:
        return TOOL_OUTPUTS
    hidden = isinstance(metadata, dict) and metadata.get("is_visually_hidden_from_conversation") is True
    if hidden or (isinstance(author, dict) and author.get("role") == "system"):
        return SYSTEM
    return TOOL_CALLS if isinstance(author, dict) and message.get("recipient") not in (None, "all", "") else ""


def count_blocks(message: Mapping[str, Any], left_out: Counter[str]) -> None:
    """Counts in `left_out` the blocks of a message of Claude that are no text, such as tool calls."""
    content = message.get("content")
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and block.get("type") in _BLOCKS:
            left_out[_BLOCKS[block["type"]]] += 1


def without_citations(text: str, left_out: Counter[str]) -> str:
    """Returns a text without marks of citations, which are counted in `left_out`. A marked name stays as plain text,
    and notes on blocks that could not be shown are removed.
    """
    if "\ue200" in text or "【" in text or "oaicite" in text:
        text = _ENTITY.sub(r"\1", text)
        text, count = _CITATION.subn("", text)
        left_out[CITATIONS] += count
    return _UNSUPPORTED.sub("", text) if "not supported on your current device" in text else text


def attached(message: Mapping[str, Any], left_out: Counter[str]) -> Iterator[tuple[str, str]]:
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
    metadata = message.get("metadata")
    names = metadata.get("attachments") if isinstance(metadata, dict) else None
    for files in (message.get("files"), names):
        left_out[NO_TEXT] += len(files) if isinstance(files, list) else 0


def refuse_by_name(source: str, place: Place) -> None:
    """Raises LeftOut for a file of an unpacked export without chats of its own, known by its name, such as `chat.html`,
    which repeats them.
    """
    if place.app != "chats":
        return
    name = PurePosixPath(source).name.casefold()
    if name == "chat.html":
        raise LeftOut(source, SAME_CHATS)
    if name.endswith(".json") and stem(name) in _ACCOUNT_NAMES:
        raise LeftOut(source, ACCOUNT)
    if name.endswith(".json") and stem(name) in _WITHOUT_CHATS:
        raise LeftOut(source, OTHER_FILES)


def other_documents(value: Any, source: str) -> list[Document]:
    """Returns the documents of projects and memories of Claude; [] for any other JSON.

    Raises LeftOut for account data and for chats without any message.
    """
    items = [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, dict)]
    if not items or (isinstance(value, list) and len(items) != len(value)):
        return []
    if any(keys <= items[0].keys() for keys in _ACCOUNT_KEYS):
        raise LeftOut(source, ACCOUNT)
    if all(isinstance(item.get("chat_messages"), list) or {"mapping", "create_time"} <= item.keys() for item in items):
        raise LeftOut(source, "files of chats without messages")
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
