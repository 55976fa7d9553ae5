"""A request repeated with its idempotency key is carried out once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from starlette.testclient import TestClient

from cuetrail import Memory
from cuetrail.serve.rest.idempotency import MAX_RESPONSES, SECONDS, IdempotencyCache
from cuetrail.serve.rest.problem_details import Problem
from tests.serve.http_tools import EVENTS, events, issuer, refused, serving

NOTE = {"target": "a", "text": "hot"}


@pytest.fixture
def client(place: Path) -> Iterator[TestClient]:
    with serving(place) as client:
        client.post("/v1/add", json={"text": "Tea.", "id": "a"})
        yield client


def test_the_same_request_with_the_same_key_is_done_once_and_answered_alike(client: TestClient) -> None:
    first, second = (client.post("/v1/note", json=NOTE, headers={"Idempotency-Key": "k"}) for _ in range(2))
    assert first.status_code == second.status_code == 200
    assert first.content == second.content
    assert client.post("/v1/stats").json()["notes"] == 1
    client.post("/v1/note", json=NOTE, headers={"Idempotency-Key": "other"})
    assert client.post("/v1/stats").json()["notes"] == 2


def test_a_key_with_another_request_is_refused_and_one_that_failed_is_tried_again(client: TestClient) -> None:
    key = {"Idempotency-Key": "k"}
    refused(client.post("/v1/note", json={**NOTE, "target": "nobody"}, headers=key), 404)
    assert client.post("/v1/note", json=NOTE, headers=key).status_code == 200
    assert "another request" in refused(client.post("/v1/note", json={**NOTE, "text": "cold"}, headers=key), 422)
    refused(client.post("/v1/note", json=NOTE, headers={"Idempotency-Key": "k" * 256}), 400)


def test_a_key_is_its_senders_own(client: TestClient, place: Path) -> None:
    token = issuer(place)
    ann, ben = ({**token(user), "Idempotency-Key": "k"} for user in ("ann", "ben"))
    one = client.post("/v1/add", json={"text": "Ann's.", "id": "x"}, headers=ann)
    assert one.status_code == 200
    assert client.post("/v1/add", json={"text": "Ben's.", "id": "x"}, headers=ben).json()["text"] == "Ben's."


def test_no_answer_outlives_what_was_forgotten(client: TestClient) -> None:
    key = {"Idempotency-Key": "k"}
    client.post("/v1/add", json={"text": "A secret.", "id": "s"}, headers=key)
    client.post("/v1/forget", json={"ids": ["s"]})
    refused(client.post("/v1/add", json={"text": "A secret.", "id": "s"}, headers=key), 409)


def test_no_answer_outlives_what_another_process_forgets_and_no_write_is_repeated(
    client: TestClient, place: Path
) -> None:
    def send(verb: str, body: dict[str, str], key: str) -> Any:
        return client.post(f"/v1/{verb}", json=body, headers={"Idempotency-Key": key})

    for verb, body, key in (("add", {"text": "A secret.", "id": "s"}, "k"), ("note", NOTE, "n")):
        assert send(verb, body, key).status_code == 200
        assert send(verb, body, key).status_code == 200
    with Memory(place, embedder=None) as other:
        other.forget("s")
    assert "was carried out" in refused(send("add", {"text": "A secret.", "id": "s"}, "k"), 409)
    assert "was carried out" in refused(send("note", NOTE, "n"), 409)
    assert client.post("/v1/stats").json()["notes"] == 1
    assert send("note", NOTE, "later").content == send("note", NOTE, "later").content


def test_no_answer_outlives_what_an_agent_has_forgotten(client: TestClient) -> None:
    key = {"Idempotency-Key": "k"}
    client.post("/v1/add", json={"text": "A secret.", "id": "s"}, headers=key)
    call = {"name": "memory_forget", "arguments": {"ids": ["s"]}}
    accept = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
    ask = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    assert client.post("/mcp", json=ask, headers=accept).status_code == 200
    refused(client.post("/v1/add", json={"text": "A secret.", "id": "s"}, headers=key), 409)


def test_in_events_too_a_key_is_done_once_and_told_alike(client: TestClient) -> None:
    key = {"Idempotency-Key": "k"}
    first, second = (events(client.post("/v1/note", json=NOTE, headers={**key, **EVENTS})) for _ in range(2))
    assert first == second
    assert [name for name, _ in first] == ["result", "end"]
    assert client.post("/v1/note", json=NOTE, headers=key).json() == first[0][1]
    assert client.post("/v1/stats").json()["notes"] == 1
    refused(client.post("/v1/note", json={**NOTE, "text": "cold"}, headers={**key, **EVENTS}), 422)


def test_forgetting_in_events_lets_go_of_answers_and_keeps_its_own(client: TestClient) -> None:
    key = {"Idempotency-Key": "k"}
    client.post("/v1/add", json={"text": "A secret.", "id": "s"}, headers=key)
    gone = {"Idempotency-Key": "gone", **EVENTS}
    once, again = (events(client.post("/v1/forget", json={"ids": ["s"]}, headers=gone)) for _ in range(2))
    assert once[-2:] == again
    refused(client.post("/v1/add", json={"text": "A secret.", "id": "s"}, headers=key), 409)


def test_while_the_first_is_at_work_the_second_is_told_to_wait_and_old_ones_go() -> None:
    clock = [0.0]
    cache = IdempotencyCache(lambda: clock[0])
    made: list[str] = []

    async def run() -> None:
        begun, go = anyio.Event(), anyio.Event()

        async def slow() -> bytes:
            begun.set()
            await go.wait()
            made.append("slow")
            return b"slow"

        async def quick() -> bytes:
            made.append("quick")
            return b"quick"

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(cache.get, ("me", "k", "asked", ""), slow)
            await begun.wait()
            with pytest.raises(Problem, match="still at work"):
                await cache.get(("me", "k", "asked", ""), quick)
            go.set()
        assert await cache.get(("me", "k", "asked", ""), quick) == b"slow"
        clock[0] = SECONDS
        assert await cache.get(("me", "k", "asked", ""), quick) == b"quick"
        for number in range(MAX_RESPONSES):
            await cache.get(("me", f"{number}", "asked", ""), quick)
        assert await cache.get(("me", "k", "other", ""), quick) == b"quick"

    anyio.run(run)
    assert made[:2] == ["slow", "quick"]
