"""The REST server: verbs, tokens, limits and errors."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from starlette.testclient import TestClient

from cuetrail import Memory, Scope
from cuetrail.serve.rest.auth import issue, revoke, tokens
from cuetrail.serve.rest.file_routes import FILE_VERBS
from cuetrail.serve.rest.mem0 import ENDPOINTS
from cuetrail.serve.rest.openapi import EXAMPLES, openapi_document
from cuetrail.serve.rest.requests import RequestRules
from cuetrail.serve.rest.server import VERBS
from cuetrail.serve.verbs import EFFECTS, verb_tool
from cuetrail.text.timestamps import now_ms
from tests.hostile import FUZZ_CALLS, HOSTILE_JSON
from tests.serve.conftest import agent, session
from tests.serve.http_tools import NOW, Issue, issuer, refused, serving
from tests.serve.processes import until

PROBLEM = openapi_document()["components"]["schemas"]["Problem"]


@pytest.fixture
def client(place: Path) -> Iterator[TestClient]:
    with serving(place) as client:
        yield client


@pytest.fixture
def bearer(place: Path) -> Issue:
    return issuer(place)


def test_the_present_home_leads_and_the_old_one_is_marked(client: TestClient) -> None:
    client.post("/v1/add", json={"text": "Ann lives in Berlin.", "id": "old"})
    for home in ("Berlin", "Lisbon"):
        client.post("/v1/fact", json={"subject": "Ann", "predicate": "lives_in", "object": home})
    found = client.post("/v1/recall", json={"cue": "where does Ann live now?"}).json()
    assert found["text"].startswith("Ann lives in Lisbon (since ")
    assert [(one["subject"], one["object"]) for one in found["facts"]] == [("Ann", "Lisbon")]
    assert [hit["mark"].split()[0] for hit in found["hits"]] == ["superseded"]
    schemas = client.get("/openapi.json").json()["components"]["schemas"]
    schema = schemas["Recollection"]["properties"]
    assert found["facts"][0].keys() == schema["facts"]["items"]["properties"].keys()
    assert found["hits"][0].keys() == schemas["Hit"]["properties"].keys()


def test_a_service_remembers_recalls_relates_and_forgets(client: TestClient) -> None:
    made = client.post("/v1/add", json={"text": "The antenna stands on the lee side.", "at": "2025-03-04"})
    assert made.status_code == 200
    node = made.json()
    assert node["at"] == 1_741_046_400_000
    found = client.post("/v1/recall", json={"cue": "antenna", "budget": 200, "recipe": "trail"}).json()
    assert found["answerable"]
    assert found["hits"][0]["node"]["id"] == node["id"]
    client.post("/v1/add", json={"name": "Ines", "kind": "person"})
    client.post("/v1/add", json={"name": "Tomas", "kind": "person"})
    assert client.post("/v1/relate", json={"src": "Ines", "dst": "Tomas", "type": "friend"}).json()["type"] == "friend"
    assert client.post("/v1/brief").json()["owner"] == "me"
    assert client.post("/v1/forget", json={"ids": [node["id"]]}).json()["result"] == [node["id"]]
    assert client.post("/v1/recall", json={"cue": "antenna"}).json()["answerable"] is False


def test_every_verb_that_takes_no_path_is_there_and_described(client: TestClient) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    mem0 = {alias.paths[0] for alias in ENDPOINTS}
    offered = {path.removeprefix("/v1/") for path in paths if path.startswith("/v1/") and path not in mem0}
    assert offered == set(VERBS) | set(FILE_VERBS)
    assert set(VERBS) == {name.rstrip("_") for name, effect in EFFECTS.items() if not effect.paths}
    for verb, example in EXAMPLES.items():
        Draft202012Validator(verb_tool(verb).schema).validate(example)
    for verb in ("mirror", "mirrors", "end_mirror"):
        refused(client.post(f"/v1/{verb}", json={"path": "/etc/passwd"}), 404)
    for verb in ("export", "backup"):
        assert "has no argument path" in refused(client.post(f"/v1/{verb}", json={"path": "/etc/passwd"}), 400)
    for verb in ("ingest", "import"):
        assert "has no argument path" in refused(client.post(f"/v1/{verb}?path=/etc/passwd", content=b"a"), 400)


@pytest.mark.parametrize(
    ("verb", "body", "status", "detail"),
    [
        ("recall", {}, 400, "'cue' is a required property"),
        ("recall", {"cue": 5}, 400, "not of type 'string'"),
        ("recall", {"cue": "a", "colour": "red"}, 400, "has no argument colour"),
        ("recall", {"cue": "a", "recipe": "stew"}, 400, "there is no recipe 'stew': use energy"),
        ("recall", {"cue": "a", "since": "soon"}, 400, "is no time"),
        ("recall", {"cue": "a", "since": "2025-03-05", "until": "2025-03-04"}, 400, "since (--since) is later than"),
        (
            "explore",
            {"queries": ["a"], "relationship_filters": {"min_attitude": 4, "max_attitude": 1}},
            400,
            "min_attitude 4 (--min-attitude) is more than max_attitude 1",
        ),
        ("retract", {"id": "none"}, 404, "there is no fact"),
        ("traverse", {"start": ["nobody"]}, 404, "there is no node"),
        ("link", {"src": "a", "dst": "b"}, 404, "there is no node"),
        ("remember", {}, 404, "there is no verb 'remember'"),
    ],
)
def test_wrong_use_is_a_problem_that_says_what_to_do(
    client: TestClient, verb: str, body: dict[str, Any], status: int, detail: str
) -> None:
    assert detail in refused(client.post(f"/v1/{verb}", json=body), status)


def test_a_whole_number_may_be_written_as_any_other(client: TestClient) -> None:
    client.post("/v1/add", json={"text": "The antenna stands.", "id": "a", "props": {"height": 2.0}})
    found = client.post("/v1/recall", json={"cue": "antenna", "limit": 1.0, "budget": 200.0})
    assert found.status_code == 200, found.text
    assert isinstance(found.json()["hits"][0]["node"]["props"]["height"], float)
    assert "not of type 'integer'" in refused(client.post("/v1/recall", json={"cue": "antenna", "limit": 1.5}), 400)


def test_a_chat_is_added_and_everything_forgotten(client: TestClient) -> None:
    messages = [{"role": "user", "content": "I live in Oslo."}, {"role": "assistant", "content": "How is the boat?"}]
    for added in (2, 0):
        answer = client.post("/v1/chat", json={"messages": messages, "source": "talk", "at": "yesterday"})
        assert (answer.status_code, answer.json()["added"]) == (200, added)
    assert "message 1 must say who speaks" in refused(
        client.post("/v1/chat", json={"messages": [{"content": "hello"}], "source": "talk"}), 400
    )
    assert "say what to forget" in refused(client.post("/v1/forget", json={}), 400)
    for dry_run in (True, False):
        gone = client.post("/v1/forget", json={"everything": True, "dry_run": dry_run}).json()["result"]
        assert len(gone) == 4, "two messages, their conversation, and the user of whom a fact was read"
    assert client.post("/v1/forget", json={"everything": True}).json()["result"] == []


def test_arguments_are_taken_in_the_forms_people_have(client: TestClient) -> None:
    client.post(
        "/v1/add", json={"text": "The antenna stands.", "id": "a", "props": {"project": "x"}, "at": "3 days ago"}
    )
    client.post("/v1/add", json={"text": "The antenna fell on the roof of the house.", "id": "b"})
    ask = {"cue": "antenna", "recipe": "TAG_WALK", "budget": {"chars": 40}, "since": "last year"}
    found = client.post("/v1/recall", json={**ask, "props": {"project": "x"}}).json()
    assert [hit["node"]["id"] for hit in found["hits"]] == ["a"]
    assert len(found["text"]) <= 40
    assert "budget" in refused(client.post("/v1/recall", json={**ask, "budget": {"words": 9}}), 400)


@pytest.mark.parametrize(("form", "part"), [("context", "antenna"), ("cypher", "MATCH"), ("graph", "energy")])
def test_an_activation_is_exported_in_other_forms(client: TestClient, form: str, part: str) -> None:
    for id_ in ("a", "b"):
        client.post("/v1/add", json={"text": f"The antenna {id_} stands.", "id": id_})
    client.post("/v1/link", json={"src": "a", "dst": "b"})
    found = client.post("/v1/activate", json={"seeds": ["a"], "as": form}).json()
    assert set(found) == {"result", form}
    assert part in str(found[form])
    assert "is not one of" in refused(client.post("/v1/activate", json={"seeds": ["a"], "as": "picture"}), 400)


def test_a_note_may_expire_on_a_day(client: TestClient) -> None:
    client.post("/v1/add", json={"text": "The antenna stands.", "id": "a"})
    note = client.post("/v1/note", json={"target": "a", "text": "hot", "expires": "2099-05-31"}).json()
    assert note["expires"] == 4083868800000
    assert "is no time" in refused(client.post("/v1/note", json={"target": "a", "text": "b", "expires": "soon"}), 400)


def test_what_was_forgotten_is_a_conflict(client: TestClient) -> None:
    client.post("/v1/add", json={"text": "A secret.", "id": "a"})
    client.post("/v1/forget", json={"ids": ["a"]})
    assert "allow_again" in refused(client.post("/v1/add", json={"text": "A secret.", "id": "a"}), 409)


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"{", "application/json", 400),
        (b"[1]", "application/json", 400),
        (b'{"cue": NaN}', "application/json", 400),
        (b"\xff\xfe", "application/json", 400),
        (b"[" * 100_000, "application/json", 400),
        (b'{"cue": "a"}', "text/plain", 415),
    ],
)
def test_a_body_that_is_no_object_is_refused(client: TestClient, body: bytes, kind: str, status: int) -> None:
    refused(client.post("/v1/recall", content=body, headers={"Content-Type": kind}), status)


def test_a_body_that_is_too_large_is_refused_before_it_is_whole(place: Path) -> None:
    with serving(place, RequestRules(max_body_bytes=1000)) as client:
        assert "1000 bytes" in refused(client.post("/v1/recall", json={"cue": "a" * 2000}), 413)


def test_a_place_or_a_method_that_is_not_there_is_a_problem(client: TestClient) -> None:
    refused(client.get("/v1/../../etc/passwd"), 404)
    refused(client.get("/nothing"), 404)
    refused(client.get("/v1/recall"), 405)


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "", "127.0.0.1.evil.example", "[::1"])
def test_a_request_by_a_name_that_is_not_ours_is_refused(client: TestClient, host: str) -> None:
    refused(client.post("/v1/stats", headers={"Host": host}), 421)


def test_two_hosts_are_none_and_nobody_is_sent_elsewhere(client: TestClient) -> None:
    refused(client.post("/v1/stats", headers=[("Host", "localhost"), ("Host", "localhost")]), 421)
    refused(client.get("/openapi.json/", follow_redirects=False), 404)


def test_pages_of_other_sites_are_refused_and_our_own_are_not(client: TestClient) -> None:
    for origin in ("https://evil.example", "null", "http://localhost.evil.example"):
        refused(client.post("/v1/stats", headers={"Origin": origin}), 403)
    assert client.post("/v1/stats", headers={"Origin": "http://localhost"}).status_code == 200


def test_a_page_of_another_server_on_this_machine_is_of_another_site(client: TestClient) -> None:
    here = {"Host": "localhost:8765"}
    for origin in (
        "http://localhost:3000",
        "http://127.0.0.1:3000",
        "http://localhost",
        "http://[::1]:1",
        "http://localhost:x",
    ):
        refused(client.post("/v1/stats", headers={**here, "Origin": origin}), 403)
    for origin in ("http://localhost:8765", "http://127.0.0.1:8765"):
        assert client.post("/v1/stats", headers={**here, "Origin": origin}).status_code == 200


def test_a_name_that_was_allowed_may_be_a_proxys_on_any_port(place: Path) -> None:
    with serving(place, RequestRules(hosts=("localhost", "memory.example.org"))) as client:
        assert client.post("/v1/stats", headers={"Origin": "https://memory.example.org"}).status_code == 200


def test_once_there_is_a_token_every_request_needs_one(client: TestClient, bearer: Issue) -> None:
    assert client.post("/v1/stats").status_code == 200
    token = bearer()
    assert "cuetrail token add" in refused(client.post("/v1/stats"), 401)
    assert client.post("/v1/stats").headers["www-authenticate"] == "Bearer"
    assert client.post("/v1/stats", headers=token).status_code == 200
    text = token["Authorization"]
    for wrong in (
        text[:-1] + ("a" if text[-1] != "a" else "b"),
        "Bearer x",
        text.replace("Bearer", "Basic"),
        text + "a",
    ):
        refused(client.post("/v1/stats", headers={"Authorization": wrong}), 401)
    assert client.get("/health").json() == {"status": "ok"}


def test_a_token_carries_its_scope_and_nobody_elses(client: TestClient, bearer: Issue) -> None:
    ann, ben = bearer("ann"), bearer("ben")
    node = client.post("/v1/add", json={"text": "Ann's secret."}, headers=ann).json()
    assert client.post("/v1/recall", json={"cue": "secret"}, headers=ann).json()["answerable"]
    assert not client.post("/v1/recall", json={"cue": "secret"}, headers=ben).json()["answerable"]
    assert client.post("/v1/get", json={"id": node["id"]}, headers=ben).json() == {"result": None}
    refused(client.post("/v1/forget", json={"ids": [node["id"]]}, headers=ben), 404)


def test_a_token_allows_what_it_says_and_no_more(client: TestClient, bearer: Issue) -> None:
    reader, writer, admin = bearer(access="read"), bearer(access="write"), bearer(access="admin")
    assert client.post("/v1/recall", json={"cue": "a"}, headers=reader).status_code == 200
    assert "may only read" in refused(client.post("/v1/add", json={"text": "a"}, headers=reader), 403)
    assert client.post("/v1/add", json={"text": "a"}, headers=writer).status_code == 200
    refused(client.post("/v1/doctor", headers=writer), 403)
    refused(client.post("/v1/dream", json={"everyone": True, "dry_run": True}, headers=writer), 403)
    assert client.post("/v1/dream", json={"dry_run": True}, headers=writer).status_code == 200
    assert client.post("/v1/doctor", headers=admin).json() == {"result": []}


def test_a_token_that_expires_is_refused_from_then_on_and_one_is_still_needed(client: TestClient, place: Path) -> None:
    with Memory(place, embedder=None) as memory:
        _, early = issue(memory, "early", "write", Scope(), NOW, expires=now_ms())
        assert "has expired" in refused(client.post("/v1/stats", headers={"Authorization": f"Bearer {early}"}), 401)
        refused(client.post("/v1/stats"), 401)
        _, late = issue(memory, "late", "write", Scope(), NOW, expires=now_ms() + 60_000)
        assert client.post("/v1/stats", headers={"Authorization": f"Bearer {late}"}).status_code == 200
        assert [one.has_expired(one.expires or 0) for one in tokens(memory)] == [True, True]


def test_a_token_is_kept_as_a_hash_and_ends_when_it_is_revoked(client: TestClient, place: Path, bearer: Issue) -> None:
    other, token = bearer(), bearer()
    secret = token["Authorization"].split("_", 2)[2]
    assert client.post("/v1/stats", headers=token).status_code == 200
    assert not any(secret.encode() in file.read_bytes() for file in place.rglob("*") if file.is_file())
    with Memory(place, embedder=None) as memory:
        assert len(tokens(memory)) == 2
        revoke(memory, token["Authorization"].split("_")[1])
    refused(client.post("/v1/stats", headers=token), 401)
    assert client.post("/v1/stats", headers=other).status_code == 200


def test_requests_are_counted_for_prometheus(client: TestClient) -> None:
    client.post("/v1/stats")
    client.post("/v1/recall", json={})
    client.post("/v1/<script>")
    text = client.get("/metrics").text
    assert 'cuetrail_requests_total{verb="stats",status="200"} 1' in text
    assert 'cuetrail_requests_total{verb="recall",status="400"} 1' in text
    assert 'verb="unknown",status="404"' in text
    steps = [
        float(line.split()[-1])
        for line in text.splitlines()
        if line.startswith('cuetrail_request_seconds_bucket{verb="stats"')
    ]
    assert steps == sorted(steps)
    assert steps[-1] == 1
    assert 'cuetrail_request_seconds_count{verb="stats"} 1' in text
    assert all(f"# HELP {line.split()[2]}" in text for line in text.splitlines() if line.startswith("# TYPE"))
    assert "script" not in text


def test_a_memory_that_cannot_be_used_is_a_problem_and_not_healthy(place: Path, client: TestClient) -> None:
    place.write_text("a file is in the way")
    refused(client.get("/health"), 503)
    refused(client.post("/v1/stats"), 503)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 10**20)
    | st.floats(allow_nan=False)
    | st.text(max_size=8)
    | st.sampled_from(HOSTILE_JSON),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=2),
    max_leaves=4,
)


@pytest.fixture(scope="module")
def shared_client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    place = tmp_path_factory.mktemp("fuzz") / "memory"
    with serving(place) as client:
        client.post("/v1/add", json={"text": "The antenna stands.", "id": "a", "name": "b"})
        yield client


@settings(max_examples=FUZZ_CALLS or 200)
@given(data=st.data())
def test_whatever_is_sent_there_is_a_result_or_a_problem_of_the_sender(shared_client: TestClient, data: Any) -> None:
    verb = data.draw(st.sampled_from(sorted(set(VERBS) - {"reembed"})))
    tool = verb_tool(verb)
    likely = JSON | st.sampled_from(["a", "b", ["a"], "2025-03-04", 2, 0.5, True])
    body = {name: data.draw(likely) for name in data.draw(st.sets(st.sampled_from(sorted(tool.properties) or ["x"])))}
    response = shared_client.post(f"/v1/{verb}", content=json.dumps(body), headers={"Content-Type": "application/json"})
    if response.status_code == 200:
        assert isinstance(response.json(), dict)
    else:
        assert response.status_code in (400, 404, 409), (verb, body, response.text)
        Draft202012Validator(PROBLEM).validate(response.json())


def _serving(place: Path, *options: str, env: Mapping[str, str] | None = None) -> Any:
    words = [sys.executable, "-m", "cuetrail", "serve", "--memory", str(place), "--embedder", "none", "--port", "0"]
    return subprocess.Popen([*words, *options], stderr=subprocess.PIPE, text=True, env={**os.environ, **(env or {})})


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_official_client_does_a_whole_session_over_http(place: Path, mode: str) -> None:
    with _serving(place) as server:
        url = server.stderr.readline().split()[-1]

        async def run() -> None:
            async with agent(f"{url}/mcp", mode=mode) as one:
                await session(one)

        try:
            anyio.run(run)
        finally:
            server.send_signal(signal.SIGINT)
            server.stderr.read()


def _called(client: TestClient, headers: dict[str, str], name: str, **arguments: Any) -> Any:
    """What a tool says over HTTP, asked with the bytes a client of 2025 sends."""
    ask = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
    accept = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
    response = client.post("/mcp", json=ask, headers={**headers, **accept})
    if response.status_code != 200:
        return response
    (line,) = [line for line in response.text.splitlines() if line.startswith("data: {")]
    return json.loads(line.removeprefix("data: "))["result"]


def test_over_http_an_agent_has_its_tokens_scope_and_no_more(client: TestClient, bearer: Issue) -> None:
    ann, ben, reader = bearer("ann"), bearer("ben"), bearer("ann", access="read")
    refused(_called(client, {}, "memory_brief"), 401)
    refused(_called(client, {**ann, "Host": "evil.example"}, "memory_brief"), 421)
    refused(_called(client, {**ann, "Origin": "https://evil.example"}, "memory_brief"), 403)
    assert not _called(client, ann, "memory_add", text="Ann's secret.")["isError"]
    assert _called(client, reader, "memory_recall", cue="secret")["structuredContent"]["answerable"]
    assert not _called(client, ben, "memory_recall", cue="secret")["structuredContent"]["answerable"]
    assert "may only read" in _called(client, reader, "memory_add", text="more")["content"][0]["text"]


def test_the_mcp_server_has_no_stream_to_hold_open(client: TestClient) -> None:
    refused(client.get("/mcp", headers={"Accept": "text/event-stream"}), 405)
    refused(client.delete("/mcp"), 405)


def test_the_real_command_serves_and_stops_when_it_is_told_to(place: Path) -> None:
    with _serving(place, "--log", "json") as server:
        assert server.stderr is not None
        said = server.stderr.readline()
        url = re.search(r"http://127\.0\.0\.1:\d+", said)
        assert url is not None, said + server.stderr.read()
        request = urllib.request.Request(
            f"{url[0]}/v1/add", b'{"text": "A secret."}', {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            assert json.load(answer)["text"] == "A secret."
        server.send_signal(signal.SIGINT)
        logged = server.stderr.read()
        assert server.wait(60) in (0, 130)
    row = json.loads(logged.splitlines()[0])
    assert (row["verb"], row["method"], row["path"], row["status"]) == ("add", "POST", "/v1/add", 200)
    assert "secret" not in logged


@pytest.mark.parametrize("workers", ["1", "2"])
def test_the_log_has_a_line_for_people_and_the_page_opens_when_the_server_is_up(
    place: Path, tmp_path: Path, workers: str
) -> None:
    browser, opened = tmp_path / "browser", tmp_path / "opened"
    browser.write_text(f'#!/bin/sh\necho "$1" > "{opened}.part" && mv "{opened}.part" "{opened}"\n')
    browser.chmod(0o700)
    with _serving(place, "--open", "--workers", workers, env={"BROWSER": str(browser)}) as server:
        url = server.stderr.readline().split()[-1]
        until(opened.exists)
        assert opened.read_text().strip() == url
        with pytest.raises(urllib.error.HTTPError):
            urllib.request.urlopen(f"{url}/no%1b[31m", timeout=60)
        server.send_signal(signal.SIGINT)
        lines = server.stderr.read().splitlines()
    seen = [re.fullmatch(r"\d\d:\d\d:\d\d  GET +(\S+) +(\d+) +[\d.]+ ms", line) for line in lines]
    assert [found.groups() for found in seen if found] == [("/health", "200"), ("/no?[31m", "404")]
