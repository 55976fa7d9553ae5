"""The curl commands in the documentation work, in order."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from cuetrail import Memory
from cuetrail.serve.memory_access import LazyMemory
from cuetrail.serve.rest.requests import RequestRules
from cuetrail.serve.rest.server import make_app

ROOT = Path(__file__).parents[3]
COMMAND = re.compile(r"^ {4}(curl (?:.*\\\n)*.*)$", re.MULTILINE)
FILES = {
    "report.pdf": b"%PDF-1.4 not one",
    "lines.jsonl": b'{"cuetrail": 1}\n{"type": "node", "id": "rye", "text": "I like rye.", "at": 1}\n',
    "mem0.json": b'[{"id": "1", "memory": "I like rye.", "user_id": "ada"}]',
}


def commands(page: str) -> list[str]:
    return [found.replace("\\\n", " ") for found in COMMAND.findall((ROOT / page).read_text("utf-8"))]


def sent(client: TestClient, command: str) -> Any:
    """What curl would get."""
    words = iter(shlex.split(command)[1:])
    method, url, headers, body = "", "", dict[str, str](), b""
    for word in words:
        match word:
            case "-H":
                name, _, value = next(words).partition(": ")
                headers[name] = value
            case "-d":
                body = next(words).encode()
            case "--data-binary" | "-T":
                body = FILES[next(words).removeprefix("@")]
            case "-X":
                method = next(words)
            case "-o":
                next(words)
            case _ if not word.startswith("-"):
                url = word.removeprefix("localhost:8765")
    assert url.startswith("/"), command
    return client.request(method or ("POST" if body else "GET"), url, headers=headers, content=body or None)


def test_the_commands_of_the_page_are_answered(tmp_path: Path) -> None:
    asked = commands("docs/rest.md")
    assert len(asked) >= 9
    with TestClient(
        make_app(LazyMemory(lambda: Memory(tmp_path / "memory")), RequestRules()), "http://localhost"
    ) as client:
        for command in asked:
            answer = sent(client, command)
            if "report.pdf" in command:
                # There is none here; that it is looked at as one is enough.
                assert answer.status_code == 422, (command, answer.text)
                continue
            assert answer.status_code == 200, (command, answer.text)
            if "/v1/recall" in command:
                assert "lee side" in answer.json()["text"]
            if "/search" in command:
                assert answer.json()["results"][0]["memory"] == "I like tea.", command
