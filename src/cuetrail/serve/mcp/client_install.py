"""`cuetrail mcp install`: adds cuetrail to the MCP settings of Claude, Cursor, VS Code or Codex.

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
from itertools import count
from pathlib import Path
from typing import Any, Literal, NamedTuple

from cuetrail.config import folder
from cuetrail.errors import InputError
from cuetrail.files import replacing

Client = Literal["claude", "cursor", "vscode", "codex"]
CLIENTS: tuple[Client, ...] = ("claude", "cursor", "vscode", "codex")
_NAME = re.compile(r"[A-Za-z0-9_-]{1,60}")


@dataclass(frozen=True, slots=True)
class ServerEntry:
    """The name of the server and the command that starts it."""

    name: str
    command: str
    args: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SettingsChange:
    """A settings file before (None: it does not exist) and after. `entry_text` is the text that is added."""

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
        if _read(copy) == before:
            return copy
    raise AssertionError("there is always a next number")


# --- JSON with comments and trailing commas, as settings files have it

# Strings come first, because a string may contain what looks like a comment.
_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/|[{}\[\]:,]|[^\s"{}\[\]:,/]+|.', re.DOTALL)
_DEFAULT_INDENT = 2


class _JsonToken(NamedTuple):
    """A piece of JSON text: punctuation or a value, and its position."""

    text: str
    start: int


@dataclass(frozen=True, slots=True)
class _Object:
    """The positions of an object in a JSON text: its start and end, and those of the value of each member."""

    start: int
    end: int
    members: dict[str, tuple[int, int]]


def parse_json(text: str) -> Any:
    """Returns the value of a JSON text that may have comments and trailing commas; {} if empty. Raises ValueError."""
    return json.loads(_plain_json(text)) if _plain_json(text).strip() else {}


def set_member(text: str, key: str, name: str, value: Any) -> str:
    """Returns the JSON text with `value` as the member `name` of the object under `key`, which is made if missing.

    Raises ValueError if the text is no object, or has no object under the key.
    """
    if not _plain_json(text).strip():
        return text + json.dumps({key: {name: value}}, indent=_DEFAULT_INDENT, ensure_ascii=False) + "\n"
    tokens = _tokens(text)
    outer = _object(tokens, 0)
    if key not in outer.members:
        return _add_member(text, outer, key, {name: value})
    at = outer.members[key][0]
    inner = _object(tokens, next(i for i, token in enumerate(tokens) if token.start == at))
    if name not in inner.members:
        return _add_member(text, inner, name, value)
    start, end = inner.members[name]
    return text[:start] + _format_value(text, start, value, "\n" in text[inner.start : inner.end]) + text[end:]


def _tokens(text: str) -> list[_JsonToken]:
    """Returns the punctuation and values of a text, without spaces and comments."""
    found = (_JsonToken(one[0], one.start()) for one in _TOKEN.finditer(text))
    return [
        one for one in found if not one.text[0].isspace() and one.text[:2] not in ("//", "/*") and one.text != "\ufeff"
    ]


def _plain_json(text: str) -> str:
    """Returns the text without comments and without commas before a closing bracket."""
    tokens = _tokens(text)
    closed = {number for number, one in enumerate(tokens, -1) if one.text in ("]", "}")}
    return " ".join(one.text for number, one in enumerate(tokens) if one.text != "," or number not in closed)


def _object(tokens: list[_JsonToken], first: int) -> _Object:
    """Returns the object that begins at a token. Raises ValueError if none does."""
    if tokens[first].text != "{":
        raise ValueError("there is no object")
    members: dict[str, tuple[int, int]] = {}
    depth, name, begun = 0, "", 0
    for before, token in zip(tokens[first:], tokens[first + 1 :], strict=False):
        if depth == 0 and token.text == ":":
            name, begun = json.loads(before.text), 0
        elif depth == 0 and name and not begun:
            begun = token.start
        if token.text in ("{", "["):
            depth += 1
        elif depth == 0 and token.text in (",", "}"):
            if name:
                members[name] = begun, before.start + len(before.text)
            name = ""
            if token.text == "}":
                return _Object(tokens[first].start, token.start, members)
        elif token.text in ("}", "]"):
            depth -= 1
    raise ValueError("an object has no end")


def _add_member(text: str, within: _Object, name: str, value: Any) -> str:
    """Returns the text with one more member at the end of an object, formatted like its other members."""
    last = max((end for _, end in within.members.values()), default=within.start + 1)
    tail = text[last : within.end]
    if within.members and "\n" not in text[within.start : within.end]:
        return f"{text[:last]}, {json.dumps(name)}: {_format_value(text, last, value, multiline=False)}{text[last:]}"
    comma = "," if within.members and not _tokens(tail) else ""
    line = "\r\n" if "\r\n" in text else "\n"
    outer = _indent(text, within.start)
    starts = [start for start, _ in within.members.values()]
    inner = _indent(text, starts[-1]) if starts else outer + _indent_unit(text)
    member = _indented(
        f"{json.dumps(name)}: {json.dumps(value, indent=_indent_unit(text), ensure_ascii=False)}", inner, line
    )
    return f"{text[:last]}{comma}{tail.rstrip()}{line}{inner}{member}{line}{outer}{text[within.end :]}"


def _format_value(text: str, at: int, value: Any, multiline: bool) -> str:
    """Returns a value as JSON: on several lines with the indent of the position, or on one line."""
    if not multiline:
        return json.dumps(value, ensure_ascii=False)
    line = "\r\n" if "\r\n" in text else "\n"
    return _indented(json.dumps(value, indent=_indent_unit(text), ensure_ascii=False), _indent(text, at), line)


def _indented(text: str, indent: str, line: str) -> str:
    return f"{line}{indent}".join(text.split("\n"))


def _indent(text: str, at: int) -> str:
    """Returns the indent of the line at a position."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _indent_unit(text: str) -> str:
    """Returns one level of indent as the text uses it."""
    found = re.search(r"\n([ \t]+)\S", text)
    return found[1] if found else " " * _DEFAULT_INDENT


# --- formats of settings files


@dataclass(frozen=True, slots=True)
class _Format:
    """A format of settings files. `key` names the object that holds the servers; every entry has the fields `more` too.

    `show` makes the text of an entry from its name and fields, `insert` adds it to a file's text or replaces an old
    one, `by_hand` makes the text for an error message.
    """

    name: str
    key: str
    parse: Callable[[str], Any]
    show: Callable[[str, dict[str, Any]], str]
    insert: Callable[[str, str, dict[str, Any], bool], str]
    by_hand: Callable[[str, dict[str, Any]], str]
    more: Mapping[str, Any] = field(default_factory=dict)


def _json_format(key: str, more: Mapping[str, Any]) -> _Format:
    def show(name: str, fields: dict[str, Any]) -> str:
        return json.dumps({key: {name: fields}}, indent=2, ensure_ascii=False)

    def insert(text: str, name: str, fields: dict[str, Any], _exists: bool) -> str:
        return set_member(text, key, name, fields)

    return _Format("JSON", key, parse_json, show, insert, lambda name, fields: f": {show(name, fields)}", more)


def _toml_entry(name: str, fields: dict[str, Any]) -> str:
    return "\n".join([f"[mcp_servers.{name}]", *(f"{key} = {_toml_value(value)}" for key, value in fields.items())])


def _insert_toml(text: str, name: str, fields: dict[str, Any], exists: bool) -> str:
    """Returns a TOML text with the table of a server at its end, and without the old table of the same name."""
    if exists:
        header = rf'\[mcp_servers\."?{re.escape(name)}"?[].]'
        text = re.sub(rf"^{header}.*?(?=^\[|\Z)", "", text, flags=re.MULTILINE | re.DOTALL)
    line = "\r\n" if "\r\n" in text else "\n"
    return f"{text.rstrip()}\n\n{_toml_entry(name, fields)}\n".lstrip("\n").replace("\r\n", "\n").replace("\n", line)


def _toml_value(value: Any) -> str:
    """Returns a text, a list of texts or a table of them as one line of TOML."""
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{json.dumps(name)} = {_toml_value(one)}' for name, one in value.items())} }}"
    # Texts and lists of texts are written the same in JSON and TOML.
    return json.dumps(value, ensure_ascii=False, default=str)


_JSON, _VSCODE = _json_format("mcpServers", {}), _json_format("servers", {"type": "stdio"})
_TOML = _Format(
    "TOML", "mcp_servers", lambda text: tomllib.loads(text.removeprefix("\ufeff")), _toml_entry, _insert_toml,
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
    files = [(desktop / "claude_desktop_config.json", _JSON)] if desktop.is_dir() else []
    return [*files, (code, _JSON)] if code.exists() or not files else files


def installed_clients() -> list[Client]:
    """Returns the clients that seem to be installed: the folder or the file of their settings is there."""
    found = ((client, path) for client in CLIENTS for path, _ in _settings_files(client))
    home = Path.home()
    return list(
        dict.fromkeys(
            client for client, path in found if path.exists() or (path.parent != home and path.parent.is_dir())
        )
    )


# --- changes of settings files


def _read(path: Path) -> str | None:
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
    before = _read(path)
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
