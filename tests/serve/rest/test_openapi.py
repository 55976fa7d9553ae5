"""The server keeps what its OpenAPI document promises, on both engines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from jsonschema import Draft202012Validator
from schemathesis.specs.openapi.checks import positive_data_acceptance
from starlette.testclient import TestClient

from cuetrail import Memory
from cuetrail.serve.memory_access import LazyMemory
from cuetrail.serve.rest.mem0 import ENDPOINTS
from cuetrail.serve.rest.openapi import EXAMPLES, openapi_document
from cuetrail.serve.rest.requests import LOOPBACK, RequestRules
from cuetrail.serve.rest.server import make_app
from tests.servers import Login, alone, wipe

EACH = {"local": 4, "neo4j": 1}
"""So many requests for each verb. A server takes a second to plan the first of each kind."""

PICKY = {
    "/memories", "/memories/{id}", "/memories/{id}/history", "/search", "/v1/activate", "/v1/add", "/v1/add_many",
    "/v1/batch", "/v1/bench", "/v1/chat", "/v1/declare", "/v1/doomed", "/v1/dream", "/v1/edit",
    "/v1/event/{event_id}", "/v1/explore", "/v1/fact", "/v1/facts", "/v1/forget", "/v1/import", "/v1/ingest",
    "/v1/ingest_text", "/v1/link", "/v1/memories/search", "/v1/merge", "/v1/narrate", "/v1/note", "/v1/recall",
    "/v1/reembed", "/v1/relate", "/v1/tag_walk", "/v1/timeline", "/v1/traverse", "/v2/memories",
}  # fmt: skip
"""What may refuse arguments that fit their types: where nothing is left to do with them, or they do not fit each other,
a file, the form of an id or what is in the memory. Everything else takes all that fits its description.
"""


@pytest.fixture(params=EACH)
def served(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, TestClient]]:
    """A server over a memory in which there is what the examples speak of."""
    if request.param == "local":
        with _client(tmp_path / "memory") as client:
            yield request.param, client
        return
    login: Login = request.getfixturevalue("neo4j_server")
    scheme, rest = login.uri.split("://", 1)
    with alone(login):
        wipe(login)
        with _client(f"{scheme}://{login.user}:{quote(login.password, safe='')}@{rest}", far=True) as client:
            yield request.param, client


def _client(address: Path | str, far: bool = False) -> TestClient:
    rules = RequestRules(hosts=(*LOOPBACK, "testserver"))
    client = TestClient(make_app(LazyMemory(lambda: Memory(address, embedder=None), remote=far), rules))
    for name, kind in (
        ("Ines Okafor", "person"),
        ("Tomas Lund", "person"),
        ("Wingbeat", "entity"),
        ("Receiver", "entity"),
    ):
        client.post("/v1/add", json={"name": name, "kind": kind})
    client.post("/v1/add", json={"text": "The antenna hums.", "id": "5f0c1d2e", "tags": ["radio"]})
    client.post("/v1/link", json={"src": "5f0c1d2e", "dst": "Wingbeat", "id": "5f0c1d2e"})
    return client


def test_whatever_fits_the_description_is_answered_as_it_promises(served: tuple[str, TestClient]) -> None:
    engine, client = served
    schema = schemathesis.openapi.from_asgi("/openapi.json", client.app)
    number = 0
    found: Any
    for found in schema.get_all_operations():
        operation = found.ok()

        def ask(case: Any) -> None:
            nonlocal number
            number += 1
            if "Idempotency-Key" in case.headers:
                # The same key for another request is refused, as it should be.
                case.headers["Idempotency-Key"] = f"key-{number}"
            picky = case.operation.path in PICKY
            case.call_and_validate(excluded_checks=[positive_data_acceptance] if picky else [])

        few = settings(
            max_examples=EACH[engine], deadline=None, database=None, phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        given_it: Any = given(operation.as_strategy())
        asking: Any = given_it(ask)
        repeated: Any = few(asking)
        repeated()
    assert number >= len(openapi_document()["paths"])


def test_every_example_is_answered_as_it_promises(tmp_path: Path) -> None:
    client = _client(tmp_path / "memory")
    described = openapi_document()
    asked = [(f"/v1/{verb}", "post", example) for verb, example in EXAMPLES.items() if verb not in ("forget", "unlink")]
    asked += [(f"/v1/{verb}", "post", EXAMPLES[verb]) for verb in ("unlink", "forget")]
    asked += [
        (one.paths[0], one.method.lower(), one.example) for one in ENDPOINTS if one.example and one.method == "POST"
    ]
    for path, method, example in asked:
        answer = client.request(method, path, json=example)
        assert answer.status_code == 200, (path, answer.text)
        promised = described["paths"][path][method]["responses"]["200"]["content"]["application/json"]["schema"]
        Draft202012Validator({**promised, "components": described["components"]}).validate(answer.json())
