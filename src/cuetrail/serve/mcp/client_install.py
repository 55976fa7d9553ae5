"""`cuetrail mcp install` and `uninstall`: cuetrail in the MCP settings of Claude, Cursor, VS Code or Codex.

The rest of a settings file stays as it is.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import unified_diff
from itertools import count
from pathlib import Path
from typing import Any, Literal

from cuetrail.config import folder
from cuetrail.errors import InputError
from cuetrail.files import replacing
from cuetrail.serve.mcp.settings_json import parse_json, remove_member, set_member

Client = Literal["claude", "claude-code", "cursor", "vscode", "codex"]
CLIENTS: tuple[Client, ...] = ("claude", "claude-code", "cursor", "vscode", "codex")
"""`claude` is Claude Desktop and Claude Code, `claude-code` the latter alone."""
_NAME = re.compile(r"[A-Za-z0-9_-]{1,60}")


@dataclass(frozen=True, slots=True)
class ServerEntry:
    """The name of the server and the command that starts it."""

    name: str
    command: str
    args: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SettingsChange:
    """A settings file before (None: it does not exist) and after. `entry_text` shows what is added or removed."""

    path: Path
    before: str | None
    after: str
    entry_text: str

    @property
    def needed(self) -> bool:
        return self.before != self.after


def program() -> tuple[str, ...]:
    """Returns the command for cuetrail: the program beside this Python, else this Python with `-m cuetrail`."""
    beside = shutil.which("cuetrail", path=str(Path(sys.executable).parent))
    return (beside,) if beside else (sys.executable, "-m", "cuetrail")


def make_entry(name: str, arguments: Sequence[str]) -> ServerEntry:
    """Returns the settings entry of a server with this name that runs `cuetrail` with these arguments.

    Raises InputError for an invalid name.
    """
    if not _NAME.fullmatch(name):
        raise InputError(f"{name!r:.80} is no name for a server: use letters, digits, - and _")
    command, *first = program()
    return ServerEntry(name, command, (*first, *arguments))


def changes(client: Client, entry: ServerEntry, *, replace: bool = False) -> list[SettingsChange]:
    """Returns the changes to a client's settings files that add the entry. Nothing is written yet.

    Raises InputError for a file that cannot be read, or that has another entry of the name, unless `replace`.
    """
    return [_plan(path, entry, replace, form) for path, form in _settings_files(client)]


def removals(client: Client, name: str) -> list[SettingsChange]:
    """Returns the changes to a client's settings files that remove the server of this name. Nothing is written yet.

    Raises InputError for a file that cannot be read or changed safely.
    """
    planned = (_plan_removal(path, name, form) for path, form in _settings_files(client))
    return [one for one in planned if one is not None]


def difference(path: Path, before: str | None, after: str) -> str:
    """Returns the lines that differ, with three lines around them, as `diff -u` shows them."""
    lines = unified_diff((before or "").splitlines(), after.splitlines(), str(path), str(path), lineterm="")
    return "\n".join(lines)


def write(change: SettingsChange) -> Path | None:
    """Writes a settings file. Returns the path of the copy of the old file, or None. Raises InputError."""
    if not change.needed:
        return None
    copy = _back_up(change.path, change.before) if change.before is not None else None
    try:
        with replacing(change.path) as file:
            file.write(change.after.encode())
    except OSError as error:
        raise InputError(f"{change.path} cannot be written ({error.strerror}): check its permissions") from error
    return copy


def _back_up(path: Path, before: str) -> Path:
    """Copies a file beside itself under a new name, unless an equal copy exists, and returns the copy."""
    for number in count(1):
        copy = path.with_name(f"{path.name}.before-cuetrail{f'-{number}' if number > 1 else ''}")
        if not copy.exists():
            shutil.copy2(path, copy)
        if read_text(copy) == before:
            return copy
    raise AssertionError("there is always a next number")


# --- formats of settings files


@dataclass(frozen=True, slots=True)
class _Format:
    """A format of settings files. `key` names the object that holds the servers; every entry has the fields `more` too.

    `show` makes the text of an entry from its name and fields, `insert` adds it to a file's text or replaces an old
    one, `remove` takes the entry of a name out of it, `by_hand` makes the text for an error message.
    """

    name: str
    key: str
    parse: Callable[[str], Any]
    show: Callable[[str, dict[str, Any]], str]
    insert: Callable[[str, str, dict[str, Any], bool], str]
    remove: Callable[[str, str], str]
    by_hand: Callable[[str, dict[str, Any]], str]
    more: Mapping[str, Any] = field(default_factory=dict)


def _json_format(key: str, more: Mapping[str, Any]) -> _Format:
    def show(name: str, fields: dict[str, Any]) -> str:
        return json.dumps({key: {name: fields}}, indent=2, ensure_ascii=False)

    def insert(text: str, name: str, fields: dict[str, Any], _exists: bool) -> str:
        return set_member(text, key, name, fields)

    def remove(text: str, name: str) -> str:
        return remove_member(text, key, name)

    return _Format("JSON", key, parse_json, show, insert, remove, lambda name, fields: f": {show(name, fields)}", more)


def _toml_entry(name: str, fields: dict[str, Any]) -> str:
    return "\n".join([f"[mcp_servers.{name}]", *(f"{key} = {_toml_value(value)}" for key, value in fields.items())])


def _insert_toml(text: str, name: str, fields: dict[str, Any], exists: bool) -> str:
    """Returns a TOML text with the table of a server at its end, and without the old table of the same name."""
    text = _without_toml(text, name) if exists else text
    line = "\r\n" if "\r\n" in text else "\n"
    return f"{text.rstrip()}\n\n{_toml_entry(name, fields)}\n".lstrip("\n").replace("\r\n", "\n").replace("\n", line)


def _without_toml(text: str, name: str) -> str:
    """Returns a TOML text without the table of a server, and without the tables in it."""
    header = rf'\[mcp_servers\."?{re.escape(name)}"?[].]'
    return re.sub(rf"^{header}.*?(?=^\[|\Z)", "", text, flags=re.MULTILINE | re.DOTALL)


def _toml_value(value: Any) -> str:
    """Returns a text, a list of texts or a table of them as one line of TOML."""
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{json.dumps(name)} = {_toml_value(one)}' for name, one in value.items())} }}"
    # Texts and lists of texts are written the same in JSON and TOML.
    return json.dumps(value, ensure_ascii=False, default=str)


_JSON, _VSCODE = _json_format("mcpServers", {}), _json_format("servers", {"type": "stdio"})
_TOML = _Format(
    "TOML", "mcp_servers", lambda text: tomllib.loads(text.removeprefix("\ufeff")),
    _toml_entry, _insert_toml, _without_toml,
    # Error messages have one line, so the entry in the message has one too.
    lambda name, fields: f" under [mcp_servers]: {name} = {_toml_value(fields)}",
)  # fmt: skip


# --- paths of settings files


def _application(name: str, *inner: str) -> Path:
    """Returns a path inside the settings folder of a desktop program."""
    match sys.platform:
        case "darwin":
            return Path.home().joinpath("Library", "Application Support", name, *inner)
        case "win32":
            return folder("APPDATA", "AppData", "Roaming").joinpath(name, *inner)
    return folder("XDG_CONFIG_HOME", ".config").joinpath(name, *inner)


def _settings_files(client: Client) -> list[tuple[Path, _Format]]:
    """Returns the settings files of a client: for Claude, those of Claude Desktop and Claude Code if installed, or that
    of Claude Code if neither is.
    """
    match client:
        case "cursor":
            return [(Path.home() / ".cursor" / "mcp.json", _JSON)]
        case "vscode":
            return [(_application("Code", "User") / "mcp.json", _VSCODE)]
        case "codex":
            return [(folder("CODEX_HOME", ".codex") / "config.toml", _TOML)]
    code, desktop = folder("CLAUDE_CONFIG_DIR") / ".claude.json", _application("Claude")
    if client == "claude-code":
        return [(code, _JSON)]
    files = [(desktop / "claude_desktop_config.json", _JSON)] if desktop.is_dir() else []
    return [*files, (code, _JSON)] if code.exists() or not files else files


def installed_clients() -> list[Client]:
    """Returns the clients that seem to be installed: the folder or the file of their settings is there."""
    # Claude Code is part of `claude`.
    found = ((client, path) for client in CLIENTS if client != "claude-code" for path, _ in _settings_files(client))
    home = Path.home()
    return list(
        dict.fromkeys(
            client for client, path in found if path.exists() or (path.parent != home and path.parent.is_dir())
        )
    )


# --- changes of settings files


def read_text(path: Path) -> str | None:
    """Returns the text of a settings file, None if there is none. Raises InputError if it cannot be read."""
    try:
        # Bytes, not text mode: line ends stay as they are.
        return path.read_bytes().decode()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeError) as error:
        raise InputError(f"{path} cannot be read ({error}): mend it, or enter cuetrail by hand") from error


def _plan(path: Path, entry: ServerEntry, replace: bool, format: _Format) -> SettingsChange:
    """Returns the change that adds the entry to a settings file. Raises InputError if that is not safe."""
    new: dict[str, Any] = {**format.more, "command": entry.command, "args": list(entry.args)}
    before = read_text(path)
    by_hand = f"it is left as it is. Enter this by hand{format.by_hand(entry.name, new)}"
    try:
        settings = format.parse(before or "")
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not {format.name} ({error}): {by_hand}") from None
    servers = settings.get(format.key, {}) if isinstance(settings, dict) else None
    if not isinstance(servers, dict):
        raise InputError(f"{path} has no object {format.key!r} to enter it in: {by_hand}")
    old = servers.get(entry.name)
    if isinstance(old, dict) and isinstance(old.get("env"), dict):
        # The user wrote it, and the new entry keeps it.
        new["env"] = old["env"]
    if old == new:
        return SettingsChange(path, before, before or "", format.show(entry.name, new))
    if old is not None and not replace:
        raise InputError(
            f"{path} has another server called {entry.name!r}: choose another --name, or --replace to change it"
        )
    after = format.insert(before or "", entry.name, new, old is not None)
    try:
        safe = format.parse(after) == {**settings, format.key: {**servers, entry.name: new}}
    except ValueError:
        safe = False
    if not safe:
        raise InputError(f"{path} is written in a way that cuetrail cannot change safely: {by_hand}")
    return SettingsChange(path, before, after, format.show(entry.name, new))


def _plan_removal(path: Path, name: str, format: _Format) -> SettingsChange | None:
    """Returns the change that removes the entry of a name, None if there is none. Raises InputError if not safe."""
    before = read_text(path)
    try:
        settings = format.parse(before or "")
        servers = settings.get(format.key) if isinstance(settings, dict) else None
        if before is None or not isinstance(servers, dict) or name not in servers:
            return None
        after = format.remove(before, name)
        rest = {one: entry for one, entry in servers.items() if one != name}
        safe = (format.parse(after).get(format.key) or {}) == rest
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not {format.name} ({error}): remove {name!r} by hand") from None
    if not safe:
        raise InputError(f"{path} is written in a way that cuetrail cannot change safely: remove {name!r} by hand")
    return SettingsChange(path, before, after, difference(path, before, after))
