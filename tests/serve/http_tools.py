"""HTTP clients in this process, and checks of the answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from starlette.testclient import TestClient

from cuetrail import Memory, Scope
from cuetrail.serve.memory_access import LazyMemory
from cuetrail.serve.rest.auth import Access, issue
from cuetrail.serve.rest.openapi import openapi_document
from cuetrail.serve.rest.requests import RequestRules
from cuetrail.serve.rest.server import make_app

NOW = 1_700_000_000_000
EVENTS = {"Accept": "text/event-stream"}
Issue = Callable[..., dict[str, str]]


@contextmanager
def serving(place: Path | str, rules: RequestRules | None = None) -> Iterator[TestClient]:
    """A client of a server over this memory."""
    app = make_app(LazyMemory(lambda: Memory(place, embedder=None)), rules or RequestRules())
    with TestClient(app, "http://localhost") as client:
        yield client


def issuer(place: Path) -> Issue:
    """Makes a token; the header to send with it."""

    def bearer(user: str = "me", access: Access = "write", teams: tuple[str, ...] = ()) -> dict[str, str]:
        with Memory(place, embedder=None) as memory:
            _, text = issue(memory, "test", access, Scope(user=user, teams=teams), NOW)
        return {"Authorization": f"Bearer {text}"}

    return bearer


def refused(response: Any, status: int) -> str:
    """What a response says that refuses, as problem details."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    Draft202012Validator(openapi_document()["components"]["schemas"]["Problem"]).validate(response.json())
    assert response.json()["status"] == status
    return str(response.json()["detail"])


def events(response: Any) -> list[tuple[str, Any]]:
    """The events of a response by name, with their data."""
    assert response.status_code == 200, response.text
    assert response.headers["content-type"].startswith("text/event-stream")
    found = []
    for block in response.text.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if lines:
            found.append((lines["event"], json.loads(lines["data"])))
    return found
