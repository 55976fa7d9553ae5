"""The one door for settings: environment variables and `cuetrail.toml` in the memory's directory."""

from __future__ import annotations

import hashlib
import json
import os
import re
import socket
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cuetrail.errors import InputError
from cuetrail.model import Scope

FILE = "cuetrail.toml"
EMBEDDER = "static"
# Also with a slip: without the slashes, or without the colon.
_SERVER = re.compile(r"(neo4j|bolt)(\+s|\+ssc)?(:/?/?|//)", re.IGNORECASE)
_ITS_LINE = re.compile(r"^[ \t]*embedder[ \t]*=.*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Settings:
    """What a program run starts with. Command line beats environment beats file beats default."""

    memory: str
    embedder: str = EMBEDDER
    api_key: str | None = None
    scope: Scope = field(default_factory=Scope)
    zone: str = "UTC"
    extractor: str = "rules"

    def __repr__(self) -> str:
        # Neither the key nor a server's password may end up in a log.
        return f"Settings(memory={without_password(self.memory)!r}, embedder={self.embedder!r}, scope={self.scope!r})"


def default_memory(env: Mapping[str, str]) -> str:
    """Where the memory lives unless told otherwise: the XDG data directory."""
    base = env.get("XDG_DATA_HOME") or str(Path(env.get("HOME", "~")).expanduser() / ".local" / "share")
    return str(Path(base) / "cuetrail")


def without_password(address: str) -> str:
    """A memory's address as it may be shown.

    >>> without_password("neo4j://ann:secret@host/db"), without_password("notes@home/")
    ('neo4j://ann@host/db', 'notes@home/')
    >>> without_password("neo4j://ann:se/cr@et@host"), without_password("neo4j:secret@host")
    ('neo4j://ann@host', 'neo4j:host')
    >>> without_password("neo4j://ann:secret"), without_password("bolt://[::1]:7687/db")
    ('neo4j://ann', 'bolt://[::1]:7687/db')
    """
    if not on_server(address):
        return address
    meant = _SERVER.match(address)
    scheme, sign, rest = address.partition("://")
    if meant and not meant[0].endswith("://"):
        scheme, sign, rest = "", meant[0], address[meant.end() :]
    # Up to the last @: a password may have any character, also those that should be written as %2F and the like.
    login, at, host = rest.rpartition("@")
    user = re.split(r"[:/@?#]", login)[0] if sign == "://" else ""
    if not host.startswith("["):
        # What stands for a port and is none.
        host = re.sub(r":(?!\d+(/|$)).*", "", host, flags=re.DOTALL)
    return f"{scheme}{sign}{user}{at if user else ''}{host}"


def on_server(address: str) -> bool:
    """Whether this is, or is meant to be, the address of a server and not a folder.

    >>> on_server("neo4j://host"), on_server("bolt:secret@host"), on_server("neo4j//host"), on_server("neo4j/notes")
    (True, True, True, False)
    """
    return "://" in address or _SERVER.match(address) is not None


def server_login(uri: str, user: str | None = None, password: str | None = None) -> tuple[str, str | None]:
    """User name and password for a Neo4j server: as given, else of NEO4J_USER and NEO4J_PASSWORD, else the keyring's.

    In the keyring the password is kept under the service `cuetrail` and the name `user@address`.
    """
    env = os.environ
    user = user or env.get("NEO4J_USER") or env.get("NEO4J_USERNAME") or "neo4j"
    password = password if password is not None else env.get("NEO4J_PASSWORD")
    return user, password if password is not None else _from_keyring(f"{user}@{uri}")


def _from_keyring(name: str) -> str | None:
    try:
        import keyring
        from keyring.errors import KeyringError
    except ImportError:
        return None
    try:
        found: str | None = keyring.get_password("cuetrail", name)
    except KeyringError:
        # A machine without a keyring: the server will say that it wants a password.
        return None
    return found


def server_home(address: str) -> Path:
    """The folder in which this machine keeps what belongs to a memory on a server: locks of mirrors, settings."""
    env = os.environ
    base = env.get("XDG_STATE_HOME") or str(Path(env.get("HOME", "~")).expanduser() / ".local" / "state")
    # Two machines may share a home directory's path, and the server remembers whose mirror is where.
    name = hashlib.blake2b(f"{socket.gethostname()} {address}".encode(), digest_size=8).hexdigest()
    return Path(base) / "cuetrail" / name


def folder(variable: str, *default: str) -> Path:
    """The folder that an environment variable names, else this one in the user's home."""
    named = os.environ.get(variable)
    return Path(named) if named else Path.home().joinpath(*default)


def reference_file() -> Path | None:
    """The file of the reference memory server, where the settings of a client name it: MEMORY_FILE_PATH."""
    named = os.environ.get("MEMORY_FILE_PATH")
    return Path(named).expanduser() if named else None


def load_settings(memory: str | None = None, embedder: str | None = None) -> Settings:
    """Settings from arguments, environment and file.

    The variables are CUETRAIL_MEMORY, _EMBEDDER, _API_KEY, _TENANT, _USER, _TEAMS, _ZONE and _EXTRACTOR.
    """
    env = os.environ
    place = memory or env.get("CUETRAIL_MEMORY") or default_memory(env)
    filed = _file(_home(place) / FILE)
    scope = Scope(
        tenant=env.get("CUETRAIL_TENANT") or filed.get("tenant", "default"),
        user=env.get("CUETRAIL_USER") or filed.get("user", "me"),
        teams=tuple(t.strip() for t in (env.get("CUETRAIL_TEAMS") or filed.get("teams", "")).split(",") if t.strip()),
    )
    return Settings(
        memory=place,
        embedder=embedder or env.get("CUETRAIL_EMBEDDER") or filed.get("embedder", EMBEDDER),
        api_key=env.get("CUETRAIL_API_KEY") or filed.get("api_key"),
        scope=scope,
        zone=env.get("CUETRAIL_ZONE") or filed.get("zone", "UTC"),
        extractor=env.get("CUETRAIL_EXTRACTOR") or filed.get("extractor", "rules"),
    )


def keep_embedder(memory: str, embedder: str) -> Path | None:
    """Make an embedder the one this memory is used with: the file that now says so, None when nothing had to change.

    Only the line about the embedder is touched. Raises InputError when the file cannot be written or understood.
    """
    path = _home(memory) / FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    kind, _, folder = embedder.partition(":")
    # A folder named from here must mean the same from anywhere.
    chosen = f"{kind}:{Path(folder).expanduser().absolute()}" if kind == "onnx" else embedder
    if _file(path).get("embedder", EMBEDDER) == chosen:
        return None
    old = path.read_text("utf-8") if path.exists() else ""
    line = f"embedder = {json.dumps(chosen, ensure_ascii=False)}"
    new = _ITS_LINE.sub(lambda _: line, old, count=1) if _ITS_LINE.search(old) else f"{line}\n{old}"
    try:
        if tomllib.loads(new).get("embedder") != chosen:
            raise InputError(f"{path}: write {line} into it, so that later commands use this embedder")
        temporary = path.with_name(f".{FILE}.{os.getpid()}.tmp")
        temporary.write_text(new, "utf-8")
        temporary.replace(path)
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be written ({error}): write {line} into it") from error
    return path


def _home(memory: str) -> Path:
    """The folder of a memory's settings."""
    return server_home(without_login(memory)) if on_server(memory) else Path(memory).expanduser()


def without_login(address: str) -> str:
    """A server's address without user name and password.

    >>> without_login("neo4j://ann:secret@host/db")
    'neo4j://host/db'
    """
    scheme, sign, rest = address.partition("://")
    return f"{scheme}{sign}{rest.rpartition('@')[2]}"


def _file(path: Path) -> dict[str, str]:
    try:
        raw = tomllib.loads(path.read_text("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror or error}): check its permissions") from error
    except ValueError as error:
        raise InputError(f"{path} cannot be read: {error}. Mend it or delete it") from error
    strange = [name for name, value in raw.items() if not isinstance(value, str)]
    if strange:
        raise InputError(f'{path}: {", ".join(sorted(strange))} must be text in quotes (teams: "a, b")')
    return raw
