"""mem0's own clients work with this server: paths, requests and answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from cuetrail import Memory
from tests.serve.http_tools import issuer, refused, serving

NO_MEMORY = "00000000-0000-4000-8000-000000000000"


@pytest.fixture
def client(place: Path) -> Iterator[TestClient]:
    with serving(place) as client:
        yield client


def said(text: str, **more: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}], **more}


def test_the_whole_life_of_a_memory_by_the_paths_of_its_own_server(client: TestClient) -> None:
    (made,) = client.post("/memories", json=said("Ada likes tea.", user_id="ada", metadata={"mood": "calm"})).json()[
        "results"
    ]
    assert (made["memory"], made["event"]) == ("Ada likes tea.", "ADD")
    assert client.post("/memories", json=said("Ada likes tea.", user_id="ada")).json()["results"][0]["event"] == "NONE"
    found = client.post("/search", json={"query": "tea", "user_id": "ada"}).json()["results"]
    assert [(row["id"], row["user_id"], row["score"] > 0) for row in found] == [(made["id"], "ada", True)]
    where = f"/memories/{made['id']}"
    assert client.put(where, json={"text": "Ada likes mate."}).json()["message"] == "Memory updated successfully!"
    assert client.get(where).json()["memory"] == "Ada likes mate."
    first, second = client.get(f"{where}/history").json()
    assert (first["event"], first["old_memory"], first["new_memory"]) == ("ADD", None, "Ada likes tea.")
    assert (second["event"], second["old_memory"], second["new_memory"]) == (
        "UPDATE",
        "Ada likes tea.",
        "Ada likes mate.",
    )
    assert client.delete(where).json() == {"message": "Memory deleted successfully!"}
    refused(client.get(where), 404)
    assert client.get("/memories", params={"user_id": "ada"}).json() == {"results": []}
    assert client.post("/memories", json=said("Ada likes mate.", user_id="ada")).status_code == 200


def test_the_paths_of_the_hosted_server_with_a_slash_and_its_kind_of_token(client: TestClient, place: Path) -> None:
    bearer = issuer(place)()["Authorization"].removeprefix("Bearer ")
    token = {"Authorization": f"Token {bearer}"}
    refused(client.get("/v1/ping/"), 401)
    told = client.get("/v1/ping/", headers=token).json()
    assert (told["status"], bool(told["org_id"] and told["project_id"])) == ("ok", True), "its client insists on both"
    assert client.get("/v1/ping/", headers={"X-API-Key": bearer}).json()["status"] == "ok"
    body = said("Ada likes tea.", user_id="ada", output_format="v1.1", version="v2")
    id_ = client.post("/v1/memories/", json=body, headers=token).json()["results"][0]["id"]
    client.post("/v3/memories/add/", json=said("Ben likes coffee.", user_id="ben"), headers=token)
    for version in (1, 2):
        rows = client.post(
            f"/v{version}/memories/search/", json={"query": "likes", "user_id": "ada"}, headers=token
        ).json()
        assert [row["id"] for row in rows] == [id_]
    ask = {"query": "likes", "filters": {"OR": [{"user_id": "ada"}, {"user_id": "ben"}]}, "top_k": 1}
    assert len(client.post("/v3/memories/search/", json=ask, headers=token).json()["results"]) == 1
    assert [row["id"] for row in client.get("/v1/memories/", params={"user_id": "ada"}, headers=token).json()] == [id_]
    page = client.post(
        "/v3/memories/", json={"filters": {"user_id": "*"}}, params={"page": 2, "page_size": 1}, headers=token
    ).json()
    assert (page["count"], len(page["results"]), page["next"]) == (2, 1, None)
    assert page["previous"] == "/v3/memories/?page=1&page_size=1"
    assert client.get(f"/v1/memories/{id_}/history/", headers=token).json()[0]["memory_id"] == id_
    client.delete("/v1/memories/", params={"user_id": "ada"}, headers=token)
    assert client.get("/v1/memories/", headers=token).json()[0]["user_id"] == "ben"


def test_whose_memories_there_are_is_told_and_all_of_one_can_be_deleted(client: TestClient) -> None:
    client.post("/memories", json=said("Likes tea.", user_id="ada", run_id="r1"))
    client.post("/memories", json=said("Likes mate.", user_id="ada"))
    client.post("/memories", json=said("Likes coffee.", agent_id="a/b c"))
    found = client.get("/v1/entities/").json()
    told = {(row["type"], row["name"], row["total_memories"]) for row in found["results"]}
    assert (found["count"], told) == (3, {("user", "ada", 2), ("run", "r1", 1), ("agent", "a/b c", 1)})
    assert "deleted" in client.delete("/v2/entities/agent/a%2Fb%20c/").json()["message"]
    client.delete("/v2/entities/user/ada/")
    assert client.get("/v1/entities/").json() == {"count": 0, "results": []}
    assert client.delete("/v2/entities/user/ada/").status_code == 200, "there may be nothing to delete"
    assert client.delete("/v1/entities/user/nobody/").status_code == 200
    refused(client.delete("/v2/entities/robot/ada/"), 400)


def test_several_are_corrected_and_deleted_at_once(client: TestClient) -> None:
    ids = [
        client.post("/memories", json=said(f"Likes {what}.", user_id="ada")).json()["results"][0]["id"]
        for what in ("tea", "mate", "milk")
    ]
    changed = {"memories": [{"memory_id": ids[0], "text": "Likes rum."}, {"memory_id": ids[1], "metadata": {"a": 1}}]}
    assert "2 memories" in client.put("/v1/batch/", json=changed).json()["message"]
    rows = [client.get(f"/memories/{id_}").json() for id_ in ids[:2]]
    assert [(row["memory"], row["metadata"]) for row in rows] == [("Likes rum.", None), ("Likes mate.", {"a": 1})]
    gone = {"memories": [{"memory_id": ids[0]}, {"memory_id": NO_MEMORY}]}
    refused(client.request("DELETE", "/v1/batch/", json=gone), 404)
    assert client.get(f"/memories/{ids[0]}").status_code == 200, "all of them or none"
    client.request("DELETE", "/v1/batch/", json={"memories": [{"memory_id": id_} for id_ in ids]})
    assert client.get("/memories", params={"user_id": "ada"}).json()["results"] == []


def test_what_one_says_stays_when_another_deletes_the_same_words(client: TestClient) -> None:
    ids = [
        client.post("/memories", json=said("Likes tea.", user_id=user)).json()["results"][0]["id"]
        for user in ("ada", "Ada")
    ]
    assert ids[0] != ids[1]
    client.delete(f"/memories/{ids[0]}")
    assert [row["id"] for row in client.get("/memories", params={"user_id": "Ada"}).json()["results"]] == [ids[1]]
    assert client.get("/memories", params={"user_id": "ada"}).json()["results"] == []


@pytest.mark.parametrize(
    ("filters", "users"),
    [
        ({"user_id": {"in": ["ada", "ben"]}}, {"ada", "ben"}),
        ({"AND": [{"user_id": "ada"}, {"mood": "calm"}]}, {"ada"}),
        ({"NOT": [{"user_id": "ada"}]}, {"ben", "cy"}),
        ({"OR": [{"user_id": "ada"}, {"user_id": "ben"}]}, {"ada", "ben"}),
        (
            {"AND": [{"OR": [{"user_id": "ada"}, {"categories": {"contains": "food"}}]}, {"user_id": "*"}]},
            {"ada", "cy"},
        ),
        ({"categories": {"contains": "food"}}, {"cy"}),
        ({"mood": {"ne": "calm"}}, {"ben"}),
        ({"AND": [{"metadata": {"mood": "calm"}}]}, {"ada"}),
        ({"metadata": {"mood": {"in": ["wild"]}}}, {"ben"}),
        ({"created_at": {"gte": "2025-01-01"}}, {"cy"}),
    ],
)
def test_filters_are_those_of_mem0(client: TestClient, filters: dict[str, Any], users: set[str]) -> None:
    old = {"timestamp": 1_700_000_000}
    client.post("/memories", json=said("Likes tea.", user_id="ada", metadata={"mood": "calm"}, **old))
    client.post("/memories", json=said("Likes coffee.", user_id="ben", metadata={"mood": "wild"}, **old))
    client.post("/memories", json=said("Likes mate.", user_id="cy", categories=["food"], timestamp="2025-06-01"))
    found = client.post("/v3/memories/search/", json={"query": "likes", "filters": filters}).json()["results"]
    assert {row["user_id"] for row in found} == users


def test_an_addition_has_an_event_that_tells_what_it_stored(client: TestClient) -> None:
    messages = [{"role": "user", "content": "Likes tea."}, {"role": "assistant", "content": "Noted."}]
    added = client.post("/v3/memories/add/", json={"messages": messages, "user_id": "ada"}).json()
    client.post("/v3/memories/add/", json=said("Likes mate.", user_id="ada"))
    event = client.get(f"/v1/event/{added['event_id']}/").json()
    assert (event["id"], event["status"], event["event_type"]) == (added["event_id"], added["status"], "ADD")
    assert {row["memory"] for row in event["results"]} == {"Likes tea.", "Noted."}


def test_a_reset_deletes_what_came_from_clients_of_mem0_and_nothing_else(client: TestClient) -> None:
    client.post("/memories", json=said("Likes tea.", user_id="ada"))
    client.post("/memories", json=said("Likes mate.", agent_id="ben"))
    client.post("/v1/add", json={"text": "The antenna stands.", "id": "mine"})
    assert client.post("/reset").json() == {"message": "All memories reset"}
    assert client.get("/v1/entities/").json()["count"] == 0
    assert client.post("/v1/get", json={"id": "mine"}).json()["text"] == "The antenna stands."


def test_wrong_use_is_a_problem(client: TestClient) -> None:
    assert "user_id" in refused(client.post("/memories", json=said("Tea.")), 400)
    assert "nothing to remember" in refused(client.post("/memories", json={"user_id": "a", "messages": []}), 400)
    assert "'query' is a required" in refused(client.post("/search", json={}), 400)
    for filters in ({"a": {"near": 1}}, {"AND": 5}, {"OR": ["a"]}):
        refused(client.post("/search", json={"query": "a", "filters": filters}), 400)
    refused(client.get("/memories", params={"page": "one"}), 400)
    refused(client.delete("/memories"), 400)
    refused(client.get(f"/memories/{NO_MEMORY}/history"), 404)
    for path in ("/memories/none", "/v1/memories/none/history/", "/v1/event/none/"):
        assert "must be a UUID" in refused(client.get(path), 400)
    refused(client.get(f"/v1/event/{NO_MEMORY}/"), 404)
    refused(client.patch("/memories/none"), 405)


def test_what_was_imported_from_mem0_is_found_by_its_user(client: TestClient) -> None:
    rows = {"results": [{"id": "m1", "memory": "Likes tea", "user_id": "ada", "categories": ["food"]}]}
    client.post("/v1/import?format=mem0", content=json.dumps(rows).encode())
    (row,) = client.get("/memories", params={"user_id": "ada"}).json()["results"]
    assert (row["memory"], row["categories"]) == ("Likes tea", ["food"])
    assert client.post("/search", json={"query": "tea", "user_id": "ben"}).json()["results"] == []


def test_a_reader_may_search_and_not_write(client: TestClient, place: Path) -> None:
    reader = issuer(place)(access="read")
    assert client.post("/search", json={"query": "a"}, headers=reader).status_code == 200
    refused(client.post("/memories", json=said("Tea.", user_id="a"), headers=reader), 403)
    with Memory(place, embedder=None) as memory:
        assert memory.stats().nodes == 0


def test_a_memory_that_states_what_no_longer_holds_ranks_below_the_current_one(place: Path, client: TestClient) -> None:
    for text in ("Ann lives in Berlin, in Berlin by the park.", "Ann lives in Lisbon now."):
        client.post("/memories", json=said(text, user_id="ada"))
    query = {"query": "Ann lives in Berlin by the park", "user_id": "ada"}
    before = [row["memory"] for row in client.post("/search", json=query).json()["results"]]
    with Memory(place) as memory:
        for home in ("Berlin", "Lisbon"):
            memory.fact("Ann", "lives_in", home)
    after = [row["memory"] for row in client.post("/search", json=query).json()["results"]]
    assert (before[0][:19], after[0]) == ("Ann lives in Berlin", "Ann lives in Lisbon now.")
    assert sorted(before) == sorted(after)
