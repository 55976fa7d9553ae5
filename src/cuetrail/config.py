"""All settings: environment variables, and `cuetrail.toml` in the memory's directory. No other module reads them."""

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
from typing import Any

from cuetrail.errors import InputError
from cuetrail.model import Scope

FILE = "cuetrail.toml"
EMBEDDER = "static"
RERANKER = "none"
HUB = "https://huggingface.co"
# Also matches slips: a scheme without its slashes, or without its colon.
_SERVER = re.compile(r"(neo4j|bolt)(\+s|\+ssc)?(:/?/?|//)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of one run: from the command line, else the environment, else `cuetrail.toml`, else the default."""

    memory: str
    embedder: str = EMBEDDER
    api_key: str | None = None
    scope: Scope = field(default_factory=Scope)
    zone: str = "UTC"
    extractor: str = "rules"
    reranker: str = RERANKER
    rerank_ms: int | None = None

    def __repr__(self) -> str:
        # Leaves out the API key and a server's password, because this text may be logged.
        return f"Settings(memory={without_password(self.memory)!r}, embedder={self.embedder!r}, scope={self.scope!r})"


def default_memory(env: Mapping[str, str]) -> str:
    """Returns the default address of the memory, in the XDG data directory."""
    base = env.get("XDG_DATA_HOME") or str(Path(env.get("HOME", "~")).expanduser() / ".local" / "share")
    return str(Path(base) / "cuetrail")


def without_password(address: str) -> str:
    """Returns the address without a password, so that it may be shown.

    >>> without_password("neo4j://ann:secret@host/db"), without_password("notes@home/")
    ('neo4j://ann@host/db', 'notes@home/')
    >>> without_password("neo4j://ann:se/cr@et@host"), without_password("neo4j:secret@host")
    ('neo4j://ann@host', 'neo4j:host')
    >>> without_password("neo4j://ann:secret"), without_password("bolt://[::1]:7687/db")
    ('neo4j://ann', 'bolt://[::1]:7687/db')
    """
    if not on_server(address):
        return address
    found = _SERVER.match(address)
    scheme, sign, rest = address.partition("://")
    if found and not found[0].endswith("://"):
        scheme, sign, rest = "", found[0], address[found.end() :]
    # Up to the last @: a password may have any character, also those that should be written as %2F and the like.
    login, at, host = rest.rpartition("@")
    user = re.split(r"[:/@?#]", login)[0] if sign == "://" else ""
    if not host.startswith("["):
        # Removes a port that is no number: it may be a part of a password.
        host = re.sub(r":(?!\d+(/|$)).*", "", host, flags=re.DOTALL)
    return f"{scheme}{sign}{user}{at if user else ''}{host}"


def on_server(address: str) -> bool:
    """True if an address is, or was probably meant as, that of a server and not of a folder.

    >>> on_server("neo4j://host"), on_server("bolt:secret@host"), on_server("neo4j//host"), on_server("neo4j/notes")
    (True, True, True, False)
    """
    return "://" in address or _SERVER.match(address) is not None


def neo4j_variables() -> tuple[str | None, str | None]:
    """Returns the user name and the password for Neo4j servers from the environment; None for each that is not set."""
    env = os.environ
    return env.get("NEO4J_USER") or env.get("NEO4J_USERNAME") or None, env.get("NEO4J_PASSWORD")


def server_home(address: str) -> Path:
    """Returns the local folder for a memory on a server, which holds its settings and the locks of its mirrors."""
    env = os.environ
    base = env.get("XDG_STATE_HOME") or str(Path(env.get("HOME", "~")).expanduser() / ".local" / "state")
    # The host name tells apart machines that share a home directory: each has mirrors of its own.
    name = hashlib.blake2b(f"{socket.gethostname()} {address}".encode(), digest_size=8).hexdigest()
    return Path(base) / "cuetrail" / name


def folder(variable: str, *default: str) -> Path:
    """Returns the folder that an environment variable names, else the default one in the user's home."""
    named = os.environ.get(variable)
    return Path(named) if named else Path.home().joinpath(*default)


def reference_file() -> Path | None:
    """Returns the file of the reference MCP memory server if MEMORY_FILE_PATH names one, else None."""
    named = os.environ.get("MEMORY_FILE_PATH")
    return Path(named).expanduser() if named else None


def load_settings(memory: str | None = None, embedder: str | None = None, reranker: str | None = None) -> Settings:
    """Returns the settings. Each is that of the argument, else of the environment, else of `cuetrail.toml`.

    The variables are CUETRAIL_MEMORY, _EMBEDDER, _RERANKER, _RERANK_MS, _API_KEY, _TENANT, _USER, _TEAMS, _ZONE and
    _EXTRACTOR. Raises InputError for a file that cannot be read, and if `rerank_ms` is no number.
    """
    env = os.environ
    address = memory or env.get("CUETRAIL_MEMORY") or default_memory(env)
    stored = _file(_home(address) / FILE)
    scope = Scope(
        tenant=env.get("CUETRAIL_TENANT") or stored.get("tenant", "default"),
        user=env.get("CUETRAIL_USER") or stored.get("user", "me"),
        teams=tuple(t.strip() for t in (env.get("CUETRAIL_TEAMS") or stored.get("teams", "")).split(",") if t.strip()),
    )
    return Settings(
        memory=address,
        embedder=embedder or env.get("CUETRAIL_EMBEDDER") or stored.get("embedder", EMBEDDER),
        api_key=env.get("CUETRAIL_API_KEY") or stored.get("api_key"),
        scope=scope,
        zone=env.get("CUETRAIL_ZONE") or stored.get("zone", "UTC"),
        extractor=env.get("CUETRAIL_EXTRACTOR") or stored.get("extractor", "rules"),
        reranker=reranker or env.get("CUETRAIL_RERANKER") or stored.get("reranker", RERANKER),
        rerank_ms=_milliseconds(env.get("CUETRAIL_RERANK_MS") or stored.get("rerank_ms")),
    )


def _milliseconds(text: str | None) -> int | None:
    if text is not None and not re.fullmatch(r"\d{1,9}", text.strip()):
        raise InputError(f"rerank_ms must be a whole number of milliseconds, not {text!r:.60}")
    return int(text) if text else None


def models_folder() -> Path:
    """Returns the folder of fetched models: CUETRAIL_MODELS, else `models` in the XDG data directory of cuetrail."""
    env = os.environ
    named = env.get("CUETRAIL_MODELS")
    return Path(named).expanduser() if named else Path(default_memory(env)) / "models"


def model_hub() -> str:
    """Returns the address of the hub that models are fetched from: HF_ENDPOINT, else huggingface.co."""
    return (os.environ.get("HF_ENDPOINT") or HUB).rstrip("/")


def keep_embedder(memory: str, embedder: str) -> Path | None:
    """Writes an embedder into the memory's `cuetrail.toml`. Returns that file, None if nothing had to change.

    Changes only the line of the embedder. Raises InputError if the file cannot be read or written.
    """
    return _keep(memory, "embedder", embedder, EMBEDDER)


def keep_reranker(memory: str, reranker: str) -> Path | None:
    """Writes a reranker into the memory's `cuetrail.toml`. Returns the file, or None, as `keep_embedder` does."""
    return _keep(memory, "reranker", reranker, RERANKER)


def _keep(memory: str, name: str, value: str, default: str) -> Path | None:
    path = _home(memory) / FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    kind, _, folder = value.partition(":")
    # The path is stored as an absolute one, so that it works from any directory.
    chosen = f"{kind}:{Path(folder).expanduser().absolute()}" if kind == "onnx" else value
    if _file(path).get(name, default) == chosen:
        return None
    old = path.read_text("utf-8") if path.exists() else ""
    line = f"{name} = {json.dumps(chosen, ensure_ascii=False)}"
    present = re.compile(rf"^[ \t]*{name}[ \t]*=.*$", re.MULTILINE)
    new = present.sub(lambda _: line, old, count=1) if present.search(old) else f"{line}\n{old}"
    try:
        if tomllib.loads(new).get(name) != chosen:
            raise InputError(f"{path}: write {line} into it, so that later commands use this {name}")
        temporary = path.with_name(f".{FILE}.{os.getpid()}.tmp")
        temporary.touch(0o600)
        temporary.write_text(new, "utf-8")
        temporary.replace(path)
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be written ({error}): write {line} into it") from error
    return path


def _home(memory: str) -> Path:
    """Returns the folder of a memory's settings. Raises InputError for `~name` of an unknown user."""
    if on_server(memory):
        return server_home(without_login(memory))
    try:
        return Path(memory).expanduser()
    except RuntimeError as error:
        raise InputError(f"{memory}: this machine has no such user; a folder of that name is ./{memory}") from error


def without_login(address: str) -> str:
    """Returns the address of a server without user name and password.

    >>> without_login("neo4j://ann:secret@host/db")
    'neo4j://host/db'
    """
    scheme, sign, rest = address.partition("://")
    return f"{scheme}{sign}{rest.rpartition('@')[2]}"


def read_toml(path: Path) -> dict[str, Any]:
    """Returns what a TOML file has. Raises InputError if it is missing or cannot be read."""
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise InputError(f"this file cannot be read ({error.strerror or error}): check the path") from error
    except ValueError as error:
        raise InputError(f"this is no TOML: {error}. Mend it") from error


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
