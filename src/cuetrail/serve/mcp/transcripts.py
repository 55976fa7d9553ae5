"""Transcripts of Claude Code and Codex: what the user and the agent said to each other, without all else in them.

Both are JSON lines that grow while the program runs, so the last line may be incomplete.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from cuetrail.errors import ReadError
from cuetrail.text.secrets import mask_secrets

Message = dict[str, Any]

# Text that the program writes into messages of the user: reminders, commands and their output, the surroundings.
_OF_PROGRAM = re.compile(
    r"<(system-reminder|command-[a-z]+|local-command-[a-z]+|bash-[a-z]+|task-notification|environment_context"
    r"|user_instructions)\b[^>]*>.*?(?:</\1>|\Z)",
    re.DOTALL,
)
_INTERRUPTED = "[Request interrupted by user"
_PRIVATE = re.compile(r"<private>.*?(?:</private>|\Z)", re.DOTALL)
# Lines of Claude Code that nobody said: of subagents, of the program, summaries of what was said before, errors.
_NOT_SAID = ("isSidechain", "isMeta", "isCompactSummary", "isApiErrorMessage")
_CODEX_ROLES = {"user_message": "user", "agent_message": "assistant"}


def read_transcript(path: Path) -> list[Message]:
    """Returns the messages of a transcript in the form that `Memory.chat` takes, oldest first.

    What stands between <private> and </private> is left out, and secrets are masked. Raises ReadError if the file
    cannot be read.
    """
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return [message for line in file if (message := _message(line)) is not None]
    except OSError as error:
        raise ReadError(f"{path} cannot be read ({error.strerror}): nothing of it is kept") from error


def _message(line: str) -> Message | None:
    """Returns the message in a line, or None if there is none."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(row, dict):
        return None
    found = _of_codex(row) if row.get("type") == "event_msg" else _of_claude_code(row)
    if found is None:
        return None
    role, said = found
    text = mask_secrets(_PRIVATE.sub("", _OF_PROGRAM.sub("", said))).strip()
    if not text or text.startswith(_INTERRUPTED):
        return None
    own = {"id": row.get("uuid"), "at": row.get("timestamp")}
    return {"role": role, "content": text, **{name: value for name, value in own.items() if isinstance(value, str)}}


def _of_claude_code(row: Mapping[str, Any]) -> tuple[str, str] | None:
    """Returns the speaker and the text of a line of Claude Code; None if nobody says something in it."""
    message = row.get("message")
    if row.get("type") not in ("user", "assistant") or not isinstance(message, dict) or any(map(row.get, _NOT_SAID)):
        return None
    return str(row["type"]), "\n\n".join(_texts(message.get("content")))


def _texts(content: Any) -> Iterator[str]:
    """Yields the texts of a message: no tool calls, results, thoughts or images."""
    for part in [content] if isinstance(content, str) else content if isinstance(content, list) else ():
        if isinstance(part, str):
            yield part
        elif isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("text"), str):
            yield part["text"]


def _of_codex(row: Mapping[str, Any]) -> tuple[str, str] | None:
    """Returns the speaker and the text of an event of Codex; None if nobody says something in it."""
    payload = row.get("payload")
    if not isinstance(payload, dict):
        return None
    role, text = _CODEX_ROLES.get(str(payload.get("type"))), payload.get("message")
    return (role, text) if role and isinstance(text, str) else None
