"""The fields of a message or a conversation under the names that different systems give them: speaker, text, time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from cuetrail.ingest.readers.chats.left_out import HIDDEN
from cuetrail.text import document_dates
from cuetrail.text.normalise import clean

_SPEAKER_KEYS = ("role", "speaker", "sender", "author", "from", "name", "user")
# Fields with the name of the person, if the role is only "user" or "human".
_NAME_KEYS = ("name", "speaker", "sender", "author", "from")
_PERSON = frozenset({"user", "human"})
_CONTENT_KEYS = ("content", "text", "message", "value", "parts")
_TIME_KEYS = ("created_at", "create_time", "timestamp", "time", "date", "ts", "at")
_TITLE_KEYS = ("title", "name", "subject")
_ID_KEYS = ("id", "uuid", "conversation_id", "session_id")
_LIST_KEYS = ("messages", "chat_messages", "conversations", "conversation", "turns")
_SPACE = re.compile(r"\s+")


def speaker_of(message: Mapping[str, Any]) -> str:
    """Returns who speaks: the name of the person if there is one, else the role; "" if neither is known."""
    speaker = next((name for key in _SPEAKER_KEYS if (name := _name(message.get(key)))), "")
    if speaker.casefold() in _PERSON:
        speaker = next((name for key in _NAME_KEYS if (name := _name(message.get(key)))), speaker)
    return speaker


def text_of(message: Mapping[str, Any]) -> str:
    """Returns the text of a message; "" if it has none."""
    return next((text for key in _CONTENT_KEYS if (text := _content(message.get(key)))), "")


def time_of(item: Mapping[str, Any]) -> int | None:
    """Returns the time of a message or a conversation in UTC milliseconds; None if it states none."""
    return next((at for key in _TIME_KEYS if (at := document_dates.parse(item.get(key))) is not None), None)


def id_of(conversation: Mapping[str, Any]) -> str:
    """Returns the id of a conversation; "" if it has none."""
    return _word(conversation, _ID_KEYS)


def title_of(conversation: Mapping[str, Any]) -> str:
    """Returns the title of a conversation; "" if it has none."""
    return _word(conversation, _TITLE_KEYS)


def messages_of(conversation: Mapping[str, Any]) -> Iterable[Any]:
    """Returns the list of messages of a conversation; () if it has none."""
    return next((conversation[key] for key in _LIST_KEYS if isinstance(conversation.get(key), list)), ())


def names_a_speaker(message: Any) -> bool:
    """True for a JSON object that names a speaker. It counts as a message even without text, such as a tool call."""
    return isinstance(message, dict) and any(_name(message.get(key)) for key in ("role", "sender", "speaker", "author"))


def _name(value: Any) -> str:
    if isinstance(value, dict):
        value = value.get("name") or value.get("role")
    return _SPACE.sub(" ", clean(value)).strip()[:80] if isinstance(value, str) else ""


def _content(value: Any) -> str:
    """Returns the text of a content field: a string, a list of blocks, or an object with either."""
    if isinstance(value, str):
        return clean(value).strip()
    if isinstance(value, list):
        return "\n\n".join(
            text for block in value[:10_000] if not isinstance(block, list) and (text := _content(block))
        )
    if not isinstance(value, dict) or value.get("content_type") in HIDDEN or value.get("type") in HIDDEN:
        return ""
    inner = value.get("parts") or value.get("text") or value.get("result")
    return _content(inner) if isinstance(inner, (str, list)) else ""


def _word(item: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    """Returns as text the first of these fields that is a whole number or a text that is not blank; "" if none is."""
    for key in keys:
        value = item.get(key)
        if isinstance(value, (str, int)) and not isinstance(value, bool) and str(value).strip():
            return _SPACE.sub(" ", clean(str(value))).strip()
    return ""
