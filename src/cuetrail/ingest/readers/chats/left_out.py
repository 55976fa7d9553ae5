"""Names what is left out of exports of ChatGPT and Claude, and refuses their files without chats.

Tool calls and their output, marks of citations, thoughts of the model and account data are left out and counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from cuetrail.ingest.document import LeftOut, stem
from cuetrail.ingest.readers.app_folders import Place

TOOL_OUTPUTS, TOOL_CALLS, THOUGHTS = "tool outputs", "tool calls", "thoughts and settings of the model"
CITATIONS, NO_TEXT = "marks of citations", "attachments without text"
SYSTEM = "messages of the system"
ACCOUNT, OTHER_FILES = "files with account data", "files of the export without chats"
SAME_CHATS = "pages with the same chats"

# Content that the model keeps to itself; the user never saw it.
HIDDEN = frozenset({"thoughts", "reasoning_recap", "user_editable_context", "model_editable_context", "thinking"})
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


def refuse_without_chats(items: Sequence[Mapping[str, Any]], source: str) -> None:
    """Raises LeftOut for account data, and for chats without any message."""
    if any(keys <= items[0].keys() for keys in _ACCOUNT_KEYS):
        raise LeftOut(source, ACCOUNT)
    if all(isinstance(item.get("chat_messages"), list) or {"mapping", "create_time"} <= item.keys() for item in items):
        raise LeftOut(source, "files of chats without messages")
