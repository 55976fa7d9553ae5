"""Whose voice a text is: the user's own, a machine's, or somebody else's. In the user's, "I" means the user."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from cuetrail.model import Node

# The speakers of a chat that are the user, and those whose words state no facts.
USERS = frozenset({"user", "human", "me"})
MACHINES = frozenset(
    {"assistant", "system", "developer", "tool", "function", "ai", "bot", "model", "chatgpt", "claude"}
)
# The roles of a chat that neither people nor assistants have: instructions, and output of programs.
SILENT_ROLES = frozenset({"system", "developer", "tool", "function"})
# The words that mark a note as the user's own voice.
_OWN_VOICES = frozenset({"i", "mine", "own", "self", "first person"})
_JOURNALS = frozenset({"journal", "journals", "diary", "diaries", "daily", "daily note", "daily notes", "logbook"})
_DAY = re.compile(r"\d{4}-?\d{2}-?\d{2}")


def is_own_voice(file: Node) -> bool:
    """True if "I" in a file is the user: in a chat, and in a note that is marked as a journal.

    A note is marked by its frontmatter (`type: journal`, `voice: me`), a tag (#journal, #diary), its folder (journal/),
    or the date that is its whole name (2026-03-02.md).
    """
    if file.props.get("format") == "chat":
        return True
    path = PurePosixPath((file.source or "").casefold())
    marks = {str(file.props.get(field, "")).strip().casefold() for field in ("type", "kind", "category")}
    marks |= {part.split("/")[0] for part in file.tags} | set(path.parts[:-1]) | set(file.buckets)
    voice = str(file.props.get("voice", "")).strip().casefold()
    return voice in USERS | _OWN_VOICES or not _JOURNALS.isdisjoint(marks) or _DAY.fullmatch(path.stem) is not None
