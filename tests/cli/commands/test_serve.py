"""The command `mcp install`: settings of other programs, in the test's own home directory."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cuetrail.serve.mcp import client_install, settings_json
from tests.cli.conftest import Run

PLACES = {
    "claude": (".claude.json", "mcpServers"),
    "cursor": (".cursor/mcp.json", "mcpServers"),
    "vscode": (".config/Code/User/mcp.json", "servers"),
    "codex": (".codex/config.toml", "mcp_servers"),
}
every_client = pytest.mark.parametrize("client", PLACES)


def read(path: Path) -> Any:
    text = path.read_text("utf-8")
    return tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)


@every_client
def test_the_client_is_told_how_to_start_the_server(home: Path, memory: Path, run: Run, client: str) -> None:
    path, key = PLACES[client]
    shown = run("mcp", "install", client).stdout
    entry = read(home / path)[key]["cuetrail"]
    assert entry["args"][-3:] == ["mcp", "--memory", str(memory)]
    assert Path(entry["command"]).is_absolute()
    assert str(home / path) in shown
    assert str(memory) in shown


@every_client
def test_a_dry_run_shows_and_writes_nothing(home: Path, ask: Callable[..., Any], client: str) -> None:
    told = ask("mcp", "install", client, "--dry-run")
    assert told["files"][0]["written"] is False
    assert "mcp" in told["files"][0]["entry"]
    assert list(home.iterdir()) == []


@every_client
def test_what_is_there_stays_and_a_second_time_changes_nothing(home: Path, run: Run, client: str) -> None:
    path, key = PLACES[client]
    place = home / path
    place.parent.mkdir(parents=True, exist_ok=True)
    others = '# mine\nmodel = "o"\n\n[mcp_servers.other]\ncommand = "x"\n'
    before = others if client == "codex" else json.dumps({"theme": "dark", key: {"other": {"command": "x"}}})
    place.write_text(before)
    old = read(place)
    run("mcp", "install", client)
    new = read(place)
    assert set(new.pop(key)) == {"other", "cuetrail"}
    assert new == {name: value for name, value in old.items() if name != key}
    if client == "codex":
        assert place.read_text().startswith(others)
    assert place.with_name(f"{place.name}.before-cuetrail").read_text() == before
    once = place.read_bytes()
    assert "has this entry already" in run("mcp", "install", client).stderr
    assert place.read_bytes() == once


@every_client
def test_another_entry_of_the_name_is_only_replaced_when_told_so(home: Path, run: Run, client: str) -> None:
    path, key = PLACES[client]
    run("mcp", "install", client)
    before = (home / path).read_bytes()
    refused = run("mcp", "install", client, "--profile", "full", code=2)
    assert "--replace" in refused.stderr
    assert (home / path).read_bytes() == before
    run("mcp", "install", client, "--profile", "full", "--replace")
    assert read(home / path)[key]["cuetrail"]["args"][-2:] == ["--profile", "full"]
    run("mcp", "install", client, "--name", "second", "--compat", "mcp-memory")
    assert set(read(home / path)[key]) == {"cuetrail", "second"}


@every_client
def test_the_variables_of_an_entry_that_is_replaced_stay(home: Path, run: Run, client: str) -> None:
    """Such as MEMORY_FILE_PATH, by which the file of the reference memory server is found."""
    path, key = PLACES[client]
    place = home / path
    place.parent.mkdir(parents=True, exist_ok=True)
    toml = '[mcp_servers.memory]\ncommand = "npx"\n\n[mcp_servers.memory.env]\nMEMORY_FILE_PATH = "/a b"\n'
    old = {key: {"memory": {"command": "npx", "env": {"MEMORY_FILE_PATH": "/a b"}}}}
    place.write_text(toml if client == "codex" else json.dumps(old))
    words = ("mcp", "install", client, "--name", "memory", "--compat", "mcp-memory")
    run(*words, "--replace")
    entry = read(place)[key]["memory"]
    assert entry["env"] == {"MEMORY_FILE_PATH": "/a b"}
    assert entry["args"][-2:] == ["--compat", "mcp-memory"]
    assert "has this entry already" in run(*words).stderr


@every_client
def test_a_file_that_is_not_understood_is_left_alone_and_the_entry_is_shown(home: Path, run: Run, client: str) -> None:
    place = home / PLACES[client][0]
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text('{\n  // a comment\n  "a": \n}')
    refused = run("mcp", "install", client, code=2)
    assert "by hand" in refused.stderr
    assert '"--memory"' in refused.stderr
    assert place.read_text() == '{\n  // a comment\n  "a": \n}'


def test_settings_that_cannot_be_changed_safely_are_not_called_broken(home: Path, run: Run) -> None:
    place = home / PLACES["codex"][0]
    place.parent.mkdir(parents=True)
    place.write_text('mcp_servers = { x = { command = "a" } }\n')
    refused = run("mcp", "install", "codex", code=2).stderr
    assert "cannot change safely" in refused
    assert "not TOML" not in refused
    # The line that is shown can be entered as it is.
    by_hand = tomllib.loads("[mcp_servers]\n" + refused.partition("[mcp_servers]: ")[2])
    assert by_hand["mcp_servers"]["cuetrail"]["args"][0] == "mcp"


def test_each_change_keeps_a_copy_of_the_file_as_it_was_then(home: Path, run: Run) -> None:
    place = home / PLACES["cursor"][0]
    place.parent.mkdir(parents=True)
    for number, name in ((1, "mcp.json.before-cuetrail"), (2, "mcp.json.before-cuetrail-2")):
        place.write_text(f'{{"mcpServers": {{}}, "mine": {number}}}')
        assert f"the old file is {name}\n" in run("mcp", "install", "cursor").stderr
        assert read(place.with_name(name.strip()))["mine"] == number
    place.write_text('{"mcpServers": {}, "mine": 1}')
    assert "is mcp.json.before-cuetrail\n" in run("mcp", "install", "cursor").stderr


COMMENTED = """\
// mine
{
    "inputs": [], // none yet
    "servers": {
        /* "old": {"command": "y"}, */
        "other": {"command": "x", "url": "http://a//b"}, // keep
    },
}
"""


def test_comments_and_line_ends_stay_as_they_are(home: Path, run: Run) -> None:
    place = home / PLACES["vscode"][0]
    place.parent.mkdir(parents=True)
    place.write_bytes(COMMENTED.replace("\n", "\r\n").encode())
    run("mcp", "install", "vscode")
    lines = place.read_bytes().decode().split("\r\n")
    assert "\n" not in "".join(lines)
    kept = iter(lines)
    assert all(line in kept for line in COMMENTED.splitlines())
    added = [line for line in lines if line not in COMMENTED.splitlines()]
    assert added[0] == '        "cuetrail": {'
    assert "has this entry already" in run("mcp", "install", "vscode").stderr
    run("mcp", "install", "vscode", "--profile", "full", "--replace")
    assert place.read_bytes().count(b'"cuetrail"') == 1
    assert place.read_bytes().count(b'"full"') == 1


def test_a_file_that_others_may_not_read_stays_so(home: Path, run: Run) -> None:
    place = home / ".claude.json"
    place.write_text('{"key": "secret"}')
    place.chmod(0o600)
    run("mcp", "install", "claude")
    assert place.stat().st_mode & 0o777 == 0o600
    assert read(place)["key"] == "secret"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", '{\n  "a": {\n    "n": 1\n  }\n}\n'),
        ("{}", '{\n  "a": {\n    "n": 1\n  }\n}'),
        ('{"b": 2}', '{"b": 2, "a": {"n": 1}}'),
        ('{"a": {"m": [1, 2]}, "b": 1.0}', '{"a": {"m": [1, 2], "n": 1}, "b": 1.0}'),
        ('\ufeff{"a": {"n": {"x": "}"}}}', '\ufeff{"a": {"n": 1}}'),
        ('{\n\t"a": {\n\t\t"m": 0 // last\n\t}\n}', '{\n\t"a": {\n\t\t"m": 0, // last\n\t\t"n": 1\n\t}\n}'),
        ('{\n "a": {}\n}', '{\n "a": {\n  "n": 1\n }\n}'),
        ('{"a": {"m": 0,}}', '{"a": {"m": 0, "n": 1,}}'),
    ],
)
def test_an_entry_is_written_as_its_neighbours_are(before: str, after: str) -> None:
    assert settings_json.set_member(before, "a", "n", 1) == after
    assert settings_json.parse_json(after)["a"]["n"] == 1


@pytest.mark.parametrize("text", ["{", '{"a": }', '{"a": {"b": 1}', "[", '{"a" 1}', "{'a': 1}", '{"a": 1} x', "/"])
def test_broken_settings_are_an_error(text: str) -> None:
    with pytest.raises(json.JSONDecodeError):
        settings_json.parse_json(text)


def test_claude_desktop_is_told_where_it_is_installed(home: Path, run: Run) -> None:
    (home / ".config" / "Claude").mkdir(parents=True)
    run("mcp", "install", "claude")
    assert "cuetrail" in read(home / ".config/Claude/claude_desktop_config.json")["mcpServers"]
    assert not (home / ".claude.json").exists()


def test_who_is_asking_goes_along_and_a_password_does_not(
    home: Path, ask: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUETRAIL_MEMORY", "neo4j://ann:secret@host/db")
    told = ask("mcp", "install", "cursor", "--user", "ann", "--team", "radio", "--dry-run")
    entry = json.loads(told["files"][0]["entry"])["mcpServers"]["cuetrail"]
    assert "secret" not in json.dumps(told)
    assert entry["args"][-6:] == ["--memory", "neo4j://ann@host/db", "--user", "ann", "--team", "radio"]


def test_a_name_that_would_break_the_file_is_refused(home: Path, run: Run) -> None:
    assert "letters, digits" in run("mcp", "install", "codex", "--name", "a]\nb", code=2).stderr


def test_the_command_line_knows_the_clients_there_are() -> None:
    from cuetrail.cli import agent_settings
    from cuetrail.cli.commands import serve
    from cuetrail.serve.mcp.client_hooks import EVENTS
    from cuetrail.serve.mcp.handshake import COMPAT, PROFILES

    assert agent_settings.CLIENTS == client_install.CLIENTS
    assert tuple(EVENTS) == agent_settings.WITH_HOOKS
    assert tuple(PROFILES) == serve.PROFILES
    assert tuple(COMPAT) == serve.COMPAT_SERVERS


def test_an_address_that_others_reach_needs_a_token(run: Run) -> None:
    run("add", "a text")
    assert "cuetrail token add" in run("serve", "--host", "0.0.0.0", "--port", "0", code=2).stderr


def test_tokens_are_made_listed_and_revoked(run: Run, ask: Callable[..., Any]) -> None:
    assert ask("token", "add", "phone")["expires"] is None
    ask("token", "revoke", ask("token", "list")[0]["id"])
    made = ask("token", "add", "laptop", "--access", "read", "--user", "ann", "--expires", "12h")
    assert made["expires"] == made["created"] + 12 * 3_600_000
    assert made["token"].startswith(f"ct_{made['id']}_")
    (listed,) = ask("token", "list")
    assert (listed["name"], listed["access"], listed["user"]) == ("laptop", "read", "ann")
    assert made["token"] not in json.dumps(listed)
    assert made["id"] in run("token", "list").stdout
    ask("token", "revoke", made["id"])
    assert ask("token", "list") == []
    assert "token list" in run("token", "revoke", made["id"], code=2).stderr
