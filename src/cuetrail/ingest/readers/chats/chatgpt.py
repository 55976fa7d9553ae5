"""Reads what only exports of ChatGPT have: conversations that branch, hidden messages, and marks of citations."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from cuetrail.ingest.readers.chats.left_out import (
    CITATIONS,
    HIDDEN,
    NO_TEXT,
    SYSTEM,
    THOUGHTS,
    TOOL_CALLS,
    TOOL_OUTPUTS,
)
from cuetrail.ingest.readers.chats.message_fields import time_of

_TOOL_CONTENT = frozenset(
    {"execution_output", "tether_browsing_display", "tether_quote", "system_error", "computer_output"}
)
# ChatGPT writes references to sources in characters of private use; an "entity" has a name to read.
_ENTITY = re.compile('\ue200entity\ue202\\["[^"\ue201]{0,60}","([^"\ue201]{1,200})"[^\ue201]{0,500}\ue201')
_CITATION = re.compile(
    "\ue200[^\ue201]{0,2000}\ue201|【\\d{1,4}(?::\\d{1,4})?†[^】\\n]{0,200}】|:contentReference\\[oaicite:\\d+\\]\\{index=\\d+\\}"
    "|\\[oaicite:\\d+\\]|[\ue200-\ue206]"
)


def messages_of_branch(mapping: Mapping[str, Any], current: Any) -> list[Any]:
    """Returns the messages from the root to the current node of a conversation, or to the latest leaf if that is not
    stated. Other branches are discarded edits.
    """
    if not isinstance(current, str) or current not in mapping:
        leaves = [k for k, node in mapping.items() if isinstance(node, dict) and not node.get("children")]
        current = max(leaves, key=lambda k: _node_time(mapping[k]), default=None)
    chain: list[Any] = []
    seen: set[str] = set()
    while isinstance(current, str) and current not in seen and isinstance(mapping.get(current), dict):
        seen.add(current)
        chain.append(mapping[current].get("message"))
        current = mapping[current].get("parent")
    chain.reverse()
    return chain


def _node_time(node: Mapping[str, Any]) -> int:
    message = node.get("message")
    return (time_of(message) or 0) if isinstance(message, dict) else 0


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


def without_citations(text: str, left_out: Counter[str]) -> str:
    """Returns a text without marks of citations, which are counted in `left_out`. A marked name stays as plain text,
    and notes on blocks that could not be shown are removed.
    """
    if "\ue200" in text or "【" in text or "oaicite" in text:
        text = _ENTITY.sub(r"\1", text)
        text, count = _CITATION.subn("", text)
        left_out[CITATIONS] += count
    return text


def count_attachments(message: Mapping[str, Any], left_out: Counter[str]) -> None:
    """Counts the attachments of a message: their texts are not in the export."""
    metadata = message.get("metadata")
    names = metadata.get("attachments") if isinstance(metadata, dict) else None
    left_out[NO_TEXT] += len(names) if isinstance(names, list) else 0
