"""The doors of a memory for the plans of `scope_model`: the library, HTTP with tokens, and MCP."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from anyio.from_thread import start_blocking_portal
from mcp import Client
from mcp.shared.exceptions import MCPError

from cuetrail import Memory, Scope
from cuetrail.errors import CuetrailError
from cuetrail.serve.json_data import to_json_data
from cuetrail.serve.mcp.handshake import PROFILES
from cuetrail.serve.mcp.server import make_server
from cuetrail.serve.memory_access import LazyMemory
from cuetrail.serve.rest.auth import issue, revoke
from cuetrail.serve.verbs import EFFECTS, call_verb
from tests.systems.scope_model import SCOPES, Answer

_CLOCK = re.compile(r"\b1\d{12}\b|\b20\d\d-\d\d-\d\dT[0-9:.]+(Z|\+00:00)?")
"""A time of now, which differs between two equal answers."""


def _answer(worked: bool, text: str, data: Any = None) -> Answer:
    return Answer(worked, _CLOCK.sub("T", text), data)


class Library:
    """The verbs of `Memory`."""

    def __init__(self, memory: Memory, folder: Path) -> None:
        self._memory, self._file = memory, folder / "library.jsonl"

    def call(self, scope: Scope, verb: str, arguments: dict[str, Any]) -> Answer:
        try:
            found = call_verb(self._memory.scoped(scope), verb, arguments)
            data = to_json_data(list(found) if verb == "activate" else found)
        except CuetrailError as error:
            return _answer(False, f"{type(error).__name__}: {error}")
        return _answer(True, json.dumps(data, ensure_ascii=False), data)

    def export(self, scope: Scope) -> bytes:
        self._memory.scoped(scope).export(self._file)
        return self._file.read_bytes()

    def import_(self, scope: Scope, data: bytes) -> Answer:
        self._file.write_bytes(data)
        return self.call(scope, "import_", {"path": str(self._file)})

    def others(self, _scope: Scope, _probe: str) -> list[Answer]:
        return []


class Rest:
    """HTTP: each scope has a token that may write, one that may only read, and one that was revoked."""

    def __init__(self, memory: Memory, client: Any) -> None:
        self._client = client
        self._tokens = {
            (scope, access): issue(memory, "test", access, scope, 1)[1]
            for scope in SCOPES
            for access in ("read", "write")
        }
        token, self._revoked = issue(memory, "gone", "admin", SCOPES[0], 1)
        revoke(memory, token.id)

    def _send(self, scope: Scope, path: str, access: Any = "write", method: str = "POST", **options: Any) -> Any:
        headers = {"Authorization": f"Bearer {self._tokens[scope, access]}"}
        return self._client.request(method, path, headers=headers, **options)

    def call(self, scope: Scope, verb: str, arguments: dict[str, Any]) -> Answer:
        if EFFECTS[verb].writes:
            refused = self._send(scope, f"/v1/{verb}", "read", json=arguments)
            assert refused.status_code == 403, refused.text
            access = "write"
        else:
            access = "read"
        response = self._send(scope, f"/v1/{verb}", access, json=arguments)
        assert response.status_code < 500, response.text
        worked = response.status_code == 200
        data = response.json() if worked and "json" in response.headers["content-type"] else None
        text = response.text if worked else f"{response.status_code} {response.text}"
        return _answer(worked, text, data)

    def export(self, scope: Scope) -> bytes:
        response = self._send(scope, "/v1/export", "read")
        assert response.status_code == 200, response.text
        return bytes(response.content)

    def import_(self, scope: Scope, data: bytes) -> Answer:
        assert self._send(scope, "/v1/import", "read", content=data).status_code == 403
        response = self._send(scope, "/v1/import", content=data)
        return _answer(response.status_code == 200, f"{response.status_code} {response.text}")

    def others(self, scope: Scope, probe: str) -> list[Answer]:
        gone = self._client.post("/v1/get", headers={"Authorization": f"Bearer {self._revoked}"}, json={"id": probe})
        assert gone.status_code == 401, gone.text
        found = [
            self._send(scope, f"/memories/{probe}", "read", "GET"),
            self._send(scope, f"/memories/{probe}/history", "read", "GET"),
            self._send(scope, f"/memories/{probe}", "write", "DELETE"),
            self._send(scope, f"/v1/memories/{probe}/", "write", "PUT", json={"text": "changed"}),
            self._send(scope, "/search", "read", json={"user_id": "ann", "query": probe}),
        ]
        return [_answer(one.status_code == 200, f"{one.status_code} {one.text}") for one in (gone, *found)]


class Mcp:
    """An MCP client for each scope, each with a server in this process that offers every verb."""

    def __init__(self, portal: Any, clients: dict[Scope, Client], folder: Path) -> None:
        self._portal, self._clients, self._file = portal, clients, folder / "mcp.jsonl"
        # The tools for agents have fewer arguments than the verbs.
        self._known = {tool.name: set(tool.properties) for tool in PROFILES["full"].tools()}

    def call(self, scope: Scope, verb: str, arguments: dict[str, Any]) -> Answer:
        tool = f"memory_{verb.rstrip('_')}"
        known = self._known[tool]
        return self._tool(scope, tool, {name: value for name, value in arguments.items() if name in known})

    def _tool(self, scope: Scope, tool: str, arguments: dict[str, Any]) -> Answer:
        result = self._portal.call(self._clients[scope].call_tool, tool, arguments)
        text = " ".join(part.text for part in result.content)
        data = result.structured_content
        return _answer(not result.is_error, f"{text} {json.dumps(data, ensure_ascii=False)}", data)

    def export(self, scope: Scope) -> bytes:
        answer = self.call(scope, "export", {"path": str(self._file)})
        assert answer.worked, answer.text
        return self._file.read_bytes()

    def import_(self, scope: Scope, data: bytes) -> Answer:
        self._file.write_bytes(data)
        return self.call(scope, "import_", {"path": str(self._file)})

    def others(self, scope: Scope, probe: str) -> list[Answer]:
        return [
            self._resource(scope, f"memory://node/{probe}"),
            self._tool(scope, "search", {"query": probe}),
            self._tool(scope, "fetch", {"id": probe}),
        ]

    def _resource(self, scope: Scope, uri: str) -> Answer:
        try:
            found = self._portal.call(self._clients[scope].read_resource, uri)
        except MCPError as error:
            return _answer(False, str(error))
        return _answer(True, found.model_dump_json())


@contextmanager
def mcp_door(memory: Memory, folder: Path) -> Iterator[Mcp]:
    """Connects a client for each scope."""
    with start_blocking_portal() as portal, ExitStack() as open_clients:
        clients = {}
        for scope in SCOPES:
            lazy = LazyMemory(lambda scope=scope: memory.scoped(scope))  # type: ignore[misc]  # bound now, not later
            server = make_server(PROFILES["full"], lazy, "0")
            clients[scope] = open_clients.enter_context(portal.wrap_async_context_manager(Client(server)))
        yield Mcp(portal, clients, folder)
