"""Hooks: commands that Claude Code and Codex run by themselves when a conversation starts and when it ends.

    SessionStart -> the brief, which the agent reads     SessionEnd, Stop -> what was said is kept

Both commands are `cuetrail mcp hook`. Each program keeps its hooks in a JSON file, in the same form.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from cuetrail.config import folder
from cuetrail.errors import InputError
from cuetrail.serve.mcp.client_install import Client, SettingsChange, difference, program, read_text
from cuetrail.serve.mcp.settings_json import parse_json, remove_member, set_member

KEY = "hooks"
STARTS = "startup|clear|compact"
"""The starts at which the agent is briefed: when it resumes a conversation, it has the brief already."""

Groups = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Event:
    """An event at which a program runs a hook: its name, what it must match, and the seconds that the hook may take."""

    name: str
    matcher: str
    seconds: int


_START = Event("SessionStart", STARTS, 15)
# Claude Code gives a hook at the end little time, unless it states its own. Codex has no end, only turns that stop.
EVENTS: Mapping[Client, tuple[Event, ...]] = {
    "claude": (_START, Event("SessionEnd", "", 60)),
    "claude-code": (_START, Event("SessionEnd", "", 60)),
    "codex": (_START, Event("Stop", "", 30)),
}
"""The clients that have hooks."""


def hooks_file(client: Client) -> Path:
    """Returns the file in which a client keeps its hooks."""
    if client == "codex":
        return folder("CODEX_HOME", ".codex") / "hooks.json"
    return folder("CLAUDE_CONFIG_DIR", ".claude") / "settings.json"


def has_hooks(client: Client) -> bool:
    """True if a client seems to have hooks here: of Claude, only Claude Code does."""
    return client in EVENTS and (client != "claude" or hooks_file(client).parent.is_dir())


def hook_command(arguments: Sequence[str]) -> str:
    """Returns the shell command of a hook: `cuetrail mcp hook` with these arguments.

    It never ends with 2, by which a hook would stop the agent; a program that is gone would do so with 127.
    """
    words = [*program(), "mcp", "hook", *arguments]
    return subprocess.list2cmdline(words) if sys.platform == "win32" else f"{shlex.join(words)} || exit 1"


def hook_change(client: Client, command: str) -> SettingsChange:
    """Returns the change that adds the hooks to a client's settings, in place of earlier ones of cuetrail. Nothing is
    written yet. Raises InputError for a file that cannot be read or changed safely.
    """
    path = hooks_file(client)
    before, held = _read(path)
    wanted: dict[str, Groups] = {}
    for event in EVENTS[client]:
        hook = {"type": "command", "command": command, "timeout": event.seconds}
        matcher = {"matcher": event.matcher} if event.matcher else {}
        wanted[event.name] = [*_others(held.get(event.name, [])), {**matcher, "hooks": [hook]}]
    return _change(path, before, held, {**_without_ours(held), **wanted})


def hook_removal(client: Client) -> SettingsChange | None:
    """Returns the change that removes all hooks of cuetrail; None if there are none. Raises InputError as `hook_change`
    does.
    """
    path = hooks_file(client)
    before, held = _read(path)
    change = _change(path, before, held, _without_ours(held))
    return change if change.needed else None


def _read(path: Path) -> tuple[str | None, dict[str, Groups]]:
    """Returns the text of a file and the hooks in it by event. Raises InputError if it has another form."""
    before = read_text(path)
    try:
        settings = parse_json(before or "")
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not JSON ({error}): it is left as it is. Mend it first") from None
    hooks = settings.get(KEY, {}) if isinstance(settings, dict) else None
    if not isinstance(hooks, dict) or not all(_are_groups(groups) for groups in hooks.values()):
        raise InputError(f"{path} has no object {KEY!r} with lists of hooks: it is left as it is. Mend it first")
    return before, hooks


def _are_groups(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, dict) for one in value)


def _change(path: Path, before: str | None, held: Mapping[str, Groups], wanted: Mapping[str, Groups]) -> SettingsChange:
    """Returns the change of a file from the hooks that it has to those that are wanted."""
    after = before or ""
    for event in {**held, **wanted}:
        if event not in wanted:
            after = remove_member(after, KEY, event)
        elif wanted[event] != held.get(event):
            after = set_member(after, KEY, event, wanted[event])
    found = parse_json(after)
    if {**found, KEY: found.get(KEY, {})} != {**parse_json(before or ""), KEY: dict(wanted)}:
        raise InputError(f"{path} is written in a way that cuetrail cannot change safely: change its hooks by hand")
    return SettingsChange(path, before, after, difference(path, before, after))


def _without_ours(held: Mapping[str, Groups]) -> dict[str, Groups]:
    """Returns the hooks by event without those of cuetrail, and without events that have no other."""
    kept = {event: (_others(groups), groups) for event, groups in held.items()}
    return {event: others for event, (others, groups) in kept.items() if others or others == groups}


def _others(groups: Groups) -> Groups:
    """Returns the groups of one event without the hooks of cuetrail, and without groups that have no other."""
    kept: Groups = []
    for group in groups:
        hooks = group.get(KEY)
        if not isinstance(hooks, list) or not any(map(_is_ours, hooks)):
            kept.append(group)
        elif others := [hook for hook in hooks if not _is_ours(hook)]:
            kept.append({**group, KEY: others})
    return kept


def _is_ours(hook: Any) -> bool:
    """True for a hook that runs `cuetrail mcp hook`."""
    command = hook.get("command") if isinstance(hook, dict) else None
    try:
        words = shlex.split(command, posix=sys.platform != "win32") if isinstance(command, str) else []
    except ValueError:
        return False
    own = bool(words) and ("cuetrail" in Path(words[0].strip('"')).name or words[1:3] == ["-m", "cuetrail"])
    return own and any(pair == ("mcp", "hook") for pair in pairwise(words))
