"""`mcp install --hooks`, `mcp uninstall` and `mcp hook`: agents that remember by themselves."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cuetrail import Memory
from cuetrail.serve.mcp.settings_json import remove_member
from cuetrail.serve.mcp.transcripts import read_transcript
from tests.cli.conftest import Run
from tests.cli.pseudo_terminal import in_terminal

SETTINGS = {"claude-code": ".claude/settings.json", "codex": ".codex/hooks.json"}
SERVERS = {"claude-code": ".claude.json", "codex": ".codex/config.toml"}
ENDS = {"claude-code": "SessionEnd", "codex": "Stop"}
every_client = pytest.mark.parametrize("client", SETTINGS)
MINE = {"matcher": "Bash", "hooks": [{"type": "command", "command": "mine.sh"}]}


def said(number: int, speaker: str, content: Any, **more: Any) -> str:
    """A line of a transcript of Claude Code."""
    row = {
        "type": speaker, "uuid": f"u{number}", "sessionId": "s1", "timestamp": f"2026-05-31T10:{number:02}:00.000Z",
        "message": {"role": speaker, "content": content}, **more,
    }  # fmt: skip
    return json.dumps(row) + "\n"


CLAUDE_CODE = (
    '{"type":"summary","summary":"A talk","leafUuid":"u1"}\n'
    + said(1, "user", "I live in Oslo.<system-reminder>Be brief.</system-reminder>")
    + said(2, "assistant", [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Noted."}])
    + said(3, "assistant", [{"type": "tool_use", "name": "Read", "input": {"path": "a"}}])
    + said(4, "user", [{"type": "tool_result", "content": "the content of a file"}])
    + said(5, "user", "<command-name>/model</command-name>\n<command-args>o</command-args>")
    + said(6, "user", "Caveat", isMeta=True)
    + said(7, "assistant", "From a subagent", isSidechain=True)
    + said(8, "user", "Log in as password=hunter2, <private>not this</private> please.")
    + said(9, "user", [{"type": "text", "text": "[Request interrupted by user]"}])
    + '{"type":"user","message":{"role":"user","con'
)


def of_codex(kind: str, message: str, second: int) -> str:
    row = {"type": kind, "message": message}
    return json.dumps({"timestamp": f"2026-05-31T10:00:{second:02}Z", "type": "event_msg", "payload": row}) + "\n"


CODEX = (
    '{"type":"session_meta","payload":{"cwd":"/w"}}\n'
    + of_codex("user_message", "<environment_context>x</environment_context>", 0)
    + of_codex("user_message", "I live in Oslo.", 1)
    + of_codex("agent_reasoning", "hm", 2)
    + '{"type":"response_item","payload":{"type":"message","role":"assistant","content":[]}}\n'
    + of_codex("agent_message", "Noted.", 3)
)


def test_a_transcript_is_what_was_said_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "s1.jsonl"
    path.write_text(CLAUDE_CODE)
    assert [(one["role"], one["content"]) for one in read_transcript(path)] == [
        ("user", "I live in Oslo."),
        ("assistant", "Noted."),
        ("user", "Log in as password=[secret],  please."),
    ]
    assert read_transcript(path)[0].keys() == {"role", "content", "id", "at"}
    path.write_text(CODEX)
    assert [(one["role"], one["content"]) for one in read_transcript(path)] == [
        ("user", "I live in Oslo."), ("assistant", "Noted."),
    ]  # fmt: skip


@every_client
def test_hooks_are_added_beside_others_once_and_removed_by_one_command(home: Path, run: Run, client: str) -> None:
    place = home / SETTINGS[client]
    place.parent.mkdir(parents=True)
    before = json.dumps({"model": "o", "hooks": {"PreToolUse": [MINE], "SessionStart": [MINE]}}, indent=4)
    place.write_text(before)
    shown = run("mcp", "install", client, "--hooks", "--dry-run").stdout
    assert '+                        "command": ' in shown
    assert place.read_text() == before
    assert "+++ " in run("mcp", "install", client, "--hooks").stdout
    hooks = json.loads(place.read_text())["hooks"]
    assert set(hooks) == {"PreToolUse", "SessionStart", ENDS[client]}
    assert hooks["SessionStart"][0] == MINE
    command = hooks["SessionStart"][1]["hooks"][0]["command"]
    assert hooks[ENDS[client]][0]["hooks"][0]["command"] == command
    assert command.endswith(" || exit 1")
    assert shlex.split(command)[1:3] == ["mcp", "hook"]
    once = place.read_bytes()
    assert f"{place} has this entry already" in run("mcp", "install", client, "--hooks").stderr
    assert place.read_bytes() == once
    run("mcp", "uninstall", client, "--dry-run")
    assert place.read_bytes() == once
    run("mcp", "uninstall", client)
    assert place.read_text() == before
    assert "cuetrail" not in (home / SERVERS[client]).read_text()
    assert "nothing to remove" in run("mcp", "uninstall", client).stderr


@every_client
def test_hooks_are_not_written_unless_somebody_wants_them(home: Path, run: Run, client: str) -> None:
    run("mcp", "install", client)
    assert not (home / SETTINGS[client]).exists()
    assert "no hooks" in run("mcp", "install", "cursor", "--hooks", code=2).stderr


@pytest.mark.parametrize("text", ["{", "[]", '{"hooks": []}', '{"hooks": {"Stop": {}}}', '{"hooks": {"Stop": [1]}}'])
def test_settings_of_another_form_are_left_as_they_are(home: Path, run: Run, text: str) -> None:
    place = home / SETTINGS["claude-code"]
    place.parent.mkdir(parents=True)
    place.write_text(text)
    assert "left as it is" in run("mcp", "install", "claude-code", "--hooks", code=2).stderr
    assert place.read_text() == text
    assert not (home / SERVERS["claude-code"]).exists(), "either both are written, or neither"


def test_on_a_terminal_the_hooks_are_shown_and_asked_for(home: Path, memory: Path) -> None:
    place = home / SETTINGS["claude-code"]
    words = ("--memory", memory, "mcp", "install", "claude-code")
    no = in_terminal(*words, env={"HOME": str(home)}, typed=[("Write them?", "n\r")])
    assert no.code == 0
    assert '"SessionEnd"' in no.text
    assert not place.exists()
    yes = in_terminal(*words, env={"HOME": str(home)}, typed=[("Write them?", "y\r")])
    assert yes.code == 0
    assert set(json.loads(place.read_text())["hooks"]) == {"SessionStart", "SessionEnd"}


@every_client
def test_what_was_said_is_kept_and_the_next_conversation_begins_with_it(
    tmp_path: Path, memory: Path, run: Run, client: str
) -> None:
    path = tmp_path / "talk.jsonl"
    path.write_text(CLAUDE_CODE if client == "claude-code" else CODEX)
    start = json.dumps({"hook_event_name": "SessionStart", "source": "startup", "session_id": "s2"})
    end = {"hook_event_name": ENDS[client], "session_id": "s1", "transcript_path": str(path)}
    assert run("mcp", "hook", client, input=start).stdout == ""
    assert not memory.exists()
    assert run("mcp", "hook", client, input=json.dumps(end)).stdout == ""
    begun = run("mcp", "hook", client, input=start).stdout
    assert begun.startswith("What cuetrail, the memory of this user, holds")
    assert "lives_in: Oslo" in begun
    with path.open("a") as file:
        file.write("\n" + said(10, "user", "I like tea."))
    run("mcp", "hook", client, input=json.dumps(end))
    run("mcp", "hook", client, input=json.dumps(end))
    with Memory(memory, embedder=None) as opened:
        atoms = [node.text for node in opened.timeline(kinds=["atom"]).nodes if node.source == f"{client}/s1"]
        assert len(atoms) == len(read_transcript(path)), "each message once"
        assert not any("hunter2" in text or "not this" in text for text in atoms)
        opened.forget(source=f"{client}/s1")
    run("mcp", "hook", client, input=json.dumps(end))
    with Memory(memory, embedder=None) as opened:
        assert not opened.timeline(kinds=["atom"]).nodes, "what was forgotten stays so"


@pytest.mark.parametrize(
    ("event", "message"),
    [
        ("", "event as JSON"),
        ("[]", "is for the events"),
        ('{"hook_event_name": "PreToolUse"}', "is for the events"),
        ('{"hook_event_name": "Stop"}', "no session_id"),
        ('{"hook_event_name": "Stop", "session_id": "a", "transcript_path": "/none/x"}', "cannot be read"),
        ('{"hook_event_name": "Stop", "session_id": "a", "transcript_path": 5}', "no session_id"),
    ],
)
def test_whatever_goes_wrong_is_one_line_and_never_stops_the_agent(run: Run, event: str, message: str) -> None:
    failed = run("mcp", "hook", "codex", input=event, code=1)
    assert message in failed.stderr
    assert failed.stdout == ""


def test_a_session_without_a_transcript_keeps_nothing(run: Run) -> None:
    event = {"hook_event_name": "SessionEnd", "session_id": "a", "transcript_path": None}
    run("mcp", "hook", "claude-code", input=json.dumps(event))


def test_the_command_in_the_settings_runs_and_never_ends_with_2(
    home: Path, tmp_path: Path, run: Run, ask: Callable[..., Any]
) -> None:
    run("--memory", tmp_path / "my memory", "mcp", "install", "claude-code", "--hooks")
    hooks = json.loads((home / SETTINGS["claude-code"]).read_text())["hooks"]
    (hook,) = hooks["SessionEnd"][0]["hooks"]
    path = tmp_path / "talk.jsonl"
    path.write_text(CLAUDE_CODE)
    event = {"hook_event_name": "SessionEnd", "session_id": "s1", "transcript_path": str(path)}

    def ended(command: str) -> int:
        given = json.dumps(event).encode()
        return subprocess.run(["/bin/sh", "-c", command], input=given, env=os.environ, check=False).returncode

    assert ended(hook["command"]) == 0
    assert ask("--memory", tmp_path / "my memory", "stats")["nodes"] > 2
    assert ended(hook["command"].replace("--memory", "--unknown")) == 1
    assert ended(hook["command"].replace("/cuetrail ", "/cuetrail-gone ")) == 1


@pytest.mark.parametrize(
    ("before", "name", "after"),
    [
        ('{"a": {"n": 1}}', "n", "{}"),
        ('{"a": {"n": 1, "m": 2}}', "n", '{"a": {"m": 2}}'),
        ('{"a": {"n": 1, "m": 2}}', "m", '{"a": {"n": 1}}'),
        ('{\n  "b": 1, // one\n  "a": {\n    "n": [\n      1\n    ]\n  }\n}', "n", '{\n  "b": 1 // one\n}'),
        ('{\n\t"a": {\n\t\t"n": 1, // first\n\t\t"m": 2,\n\t}\n}', "m", '{\n\t"a": {\n\t\t"n": 1, // first\n\t}\n}'),
    ],
)
def test_a_member_that_is_removed_leaves_the_rest_as_it_is(before: str, name: str, after: str) -> None:
    assert remove_member(before, "a", name) == after
