"""Entering cuetrail in the settings of programs that speak MCP. What else is in a file stays as it is."""

from __future__ import annotations

import json
import re
import shutil
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, Literal

from cuetrail.config import folder
from cuetrail.errors import InputError
from cuetrail.files import replacing
from cuetrail.serve.mcp import json_with_comments

Client = Literal["claude", "cursor", "vscode", "codex"]
CLIENTS: tuple[Client, ...] = ("claude", "cursor", "vscode", "codex")
_NAME = re.compile(r"[A-Za-z0-9_-]{1,60}")


@dataclass(frozen=True, slots=True)
class Entry:
    """How a program starts the server."""

    name: str
    command: str
    args: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """A file of settings as it is (None: there is none) and as it will be. `shown` is what is entered."""

    path: Path
    before: str | None
    after: str
    shown: str

    @property
    def needed(self) -> bool:
        return self.before != self.after


def program() -> tuple[str, ...]:
    """How to start cuetrail from anywhere: the program beside this Python, else this Python itself."""
    beside = shutil.which("cuetrail", path=str(Path(sys.executable).parent))
    return (beside,) if beside else (sys.executable, "-m", "cuetrail")


def make_entry(name: str, arguments: Sequence[str]) -> Entry:
    """An entry of this name for `cuetrail` with these arguments. Raises InputError."""
    if not _NAME.fullmatch(name):
        raise InputError(f"{name!r:.80} is no name for a server: use letters, digits, - and _")
    command, *first = program()
    return Entry(name, command, (*first, *arguments))


def changes(client: Client, entry: Entry, *, replace: bool = False) -> list[Change]:
    """What to write so that a program finds the server. Nothing is written yet.

    Raises InputError for a file that cannot be read, or that has another entry of the name, unless `replace`.
    """
    return [make(path, entry, replace) for path, make in _PLACES[client]()]


def write(change: Change) -> Path | None:
    """Write a file of settings; the copy that was made of the one before comes back, None where there was none."""
    if not change.needed:
        return None
    copy = None
    if change.before is not None:
        copy = _copied(change.path, change.before)
    try:
        with replacing(change.path) as file:
            file.write(change.after.encode())
    except OSError as error:
        raise InputError(f"{change.path} cannot be written ({error.strerror}): check its permissions") from error
    return copy


def _copied(path: Path, before: str) -> Path:
    """A copy of a file beside it; older copies stay, and one that says the same is enough."""
    for number in count(1):
        copy = path.with_name(f"{path.name}.before-cuetrail{f'-{number}' if number > 1 else ''}")
        if not copy.exists():
            shutil.copy2(path, copy)
        if _read(copy) == before:
            return copy
    raise AssertionError("there is always a next number")


# --- where programs keep their settings

_Maker = Callable[[Path, Entry, bool], Change]


def _application(name: str, *inner: str) -> Path:
    """The folder of a desktop program's settings."""
    match sys.platform:
        case "darwin":
            return Path.home().joinpath("Library", "Application Support", name, *inner)
        case "win32":
            return folder("APPDATA", "AppData", "Roaming").joinpath(name, *inner)
    return folder("XDG_CONFIG_HOME", ".config").joinpath(name, *inner)


def _claude() -> list[tuple[Path, _Maker]]:
    """Claude Code, and Claude Desktop where it is installed."""
    code, desktop = folder("CLAUDE_CONFIG_DIR") / ".claude.json", _application("Claude")
    places: list[tuple[Path, _Maker]] = []
    if desktop.is_dir():
        places.append((desktop / "claude_desktop_config.json", _in_servers))
    if code.exists() or not places:
        places.append((code, _in_servers))
    return places


def _in_servers(path: Path, entry: Entry, replace: bool) -> Change:
    return _in_json(path, entry, "mcpServers", {}, replace)


def _in_vscode(path: Path, entry: Entry, replace: bool) -> Change:
    return _in_json(path, entry, "servers", {"type": "stdio"}, replace)


_PLACES: dict[Client, Callable[[], list[tuple[Path, _Maker]]]] = {
    "claude": _claude,
    "cursor": lambda: [(Path.home() / ".cursor" / "mcp.json", _in_servers)],
    "vscode": lambda: [(_application("Code", "User") / "mcp.json", _in_vscode)],
    "codex": lambda: [(folder("CODEX_HOME", ".codex") / "config.toml", _in_toml)],
}


# --- entering it


def _read(path: Path) -> str | None:
    try:
        # Line ends stay as they are.
        return path.read_bytes().decode()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeError) as error:
        raise InputError(f"{path} cannot be read ({error}): mend it, or enter cuetrail by hand") from error


def _in_json(path: Path, entry: Entry, key: str, more: Mapping[str, Any], replace: bool) -> Change:
    made = {**more, "command": entry.command, "args": list(entry.args)}
    before = _read(path)
    by_hand = f"it is left as it is. Enter this by hand: {_json(key, entry, made)}"
    try:
        whole = json_with_comments.parsed(before or "")
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not JSON ({error}): {by_hand}") from None
    servers = whole.get(key, {}) if isinstance(whole, dict) else None
    if not isinstance(servers, dict):
        raise InputError(f"{path} has no object {key!r} to enter it in: {by_hand}")
    there = servers.get(entry.name)
    made |= _variables(there)
    shown = _json(key, entry, made)
    if there == made:
        return Change(path, before, before or "", shown)
    _refuse(path, entry, there, replace)
    after = json_with_comments.entered(before or "", key, entry.name, made)
    if json_with_comments.parsed(after) != {**whole, key: {**servers, entry.name: made}}:
        raise InputError(f"{path} is written in a way that cuetrail cannot change safely: {by_hand}")
    return Change(path, before, after, shown)


def _json(key: str, entry: Entry, made: Mapping[str, Any]) -> str:
    return json.dumps({key: {entry.name: made}}, indent=2, ensure_ascii=False)


def _variables(there: object) -> dict[str, Any]:
    """The environment that an entry of the name gives its server. Whatever is entered, it is the user's and stays."""
    return {"env": there["env"]} if isinstance(there, dict) and isinstance(there.get("env"), dict) else {}


def _refuse(path: Path, entry: Entry, there: object, replace: bool) -> None:
    if there is not None and not replace:
        raise InputError(
            f"{path} has another server called {entry.name!r}: choose another --name, or --replace to change it"
        )


def _in_toml(path: Path, entry: Entry, replace: bool) -> Change:
    made: dict[str, Any] = {"command": entry.command, "args": list(entry.args)}
    before = _read(path)
    # What is wrong is told on one line, so that what to enter has to be one too.
    by_hand = f"it is left as it is. Enter this by hand under [mcp_servers]: {entry.name} = {_toml(made)}"
    try:
        old = _parsed(before or "")
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path} is not TOML ({error}): {by_hand}") from None
    there = old.get("mcp_servers", {}).get(entry.name)
    made |= _variables(there)
    shown = "\n".join([f"[mcp_servers.{entry.name}]", *(f"{name} = {_toml(value)}" for name, value in made.items())])
    if there == made:
        return Change(path, before, before or "", shown)
    _refuse(path, entry, there, replace)
    kept = _without(before or "", entry.name) if there is not None else before or ""
    line = "\r\n" if "\r\n" in kept else "\n"
    after = f"{kept.rstrip()}\n\n{shown}\n".lstrip("\n").replace("\r\n", "\n").replace("\n", line)
    servers = {**old.get("mcp_servers", {}), entry.name: made}
    try:
        safe = _parsed(after) == {**old, "mcp_servers": servers}
    except tomllib.TOMLDecodeError:
        safe = False
    if not safe:
        raise InputError(f"{path} is written in a way that cuetrail cannot change safely: {by_hand}")
    return Change(path, before, after, shown)


def _toml(value: Any) -> str:
    """A value on one line of TOML: texts, lists of them and tables of these."""
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{json.dumps(name)} = {_toml(one)}' for name, one in value.items())} }}"
    # JSON's texts and lists of texts are TOML's too.
    return json.dumps(value, ensure_ascii=False, default=str)


def _parsed(text: str) -> dict[str, Any]:
    return tomllib.loads(text.removeprefix("\ufeff"))


def _without(text: str, name: str) -> str:
    """A TOML text without the table of a server and the tables below it."""
    its = rf'\[mcp_servers\."?{re.escape(name)}"?[].]'
    return re.sub(rf"^{its}.*?(?=^\[|\Z)", "", text, flags=re.MULTILINE | re.DOTALL)
