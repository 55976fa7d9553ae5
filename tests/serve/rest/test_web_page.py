"""The page loads only its own files, runs nothing else, and shows only what the token allows."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from cuetrail import Memory, Scope
from cuetrail.serve.memory_access import LazyMemory
from cuetrail.serve.rest.auth import Access, issue
from cuetrail.serve.rest.problem_details import Problem
from cuetrail.serve.rest.requests import RequestRules
from cuetrail.serve.rest.server import make_app
from cuetrail.serve.rest.web_page import INDEX, STATIC, file_response, load_files
from scripts import page as script

ON_CI = os.environ.get("CI") == "true"
NOW = 1_700_000_000_000


@pytest.fixture
def client(place: Path) -> Iterator[TestClient]:
    with TestClient(
        make_app(LazyMemory(lambda: Memory(place, embedder=None)), RequestRules()), "http://localhost"
    ) as client:
        yield client


@pytest.fixture
def memory(place: Path) -> Iterator[Memory]:
    with Memory(place, embedder=None) as memory:
        yield memory


@pytest.fixture
def built() -> None:
    """The page as it is built from the sources of this clone."""
    if not script.is_built(STATIC, script.stamp_of(script.ROOT / "web")):
        reason = "the page is not built: `make page` does that, with Node.js"
        pytest.fail(reason) if ON_CI else pytest.skip(reason)


def test_the_page_and_all_it_asks_for_are_served_from_here(built: None, client: TestClient) -> None:
    index = client.get("/")
    assert index.headers["content-type"] == "text/html; charset=utf-8"
    asked = re.findall(r'(?:href|src)="([^"]+)"', index.text)
    assert len(asked) >= 4
    for name in asked:
        assert name.startswith("page/"), "the page works offline: nothing in it is elsewhere"
        found = client.get(f"/{name}")
        assert found.status_code == 200
        assert "immutable" in found.headers["cache-control"]
    style = client.get("/" + next(name for name in asked if name.endswith(".css"))).text
    assert "http" not in re.sub(r"http://www.w3.org/\S+", "", style)


def test_the_browser_is_told_to_run_nothing_but_the_files_of_the_page(built: None, client: TestClient) -> None:
    headers = client.get("/").headers
    policy = dict(part.partition(" ")[::2] for part in headers["content-security-policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert policy["require-trusted-types-for"] == "'script'"
    assert policy["frame-ancestors"] == "'none'"
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize("name", ["../rest.py", "..%2frest.py", "%2e%2e/rest.py", "/etc/passwd", "nothing.js"])
def test_no_other_file_can_be_had(client: TestClient, name: str) -> None:
    assert client.get(f"/page/{name}").status_code == 404


def test_where_it_is_not_built_the_page_says_how(tmp_path: Path) -> None:
    response = file_response(load_files(tmp_path), INDEX)
    assert response.status_code == 200
    assert b"make page" in bytes(response.body)
    assert b"<script" not in bytes(response.body)
    with pytest.raises(Problem, match="no file"):
        file_response(load_files(tmp_path), "app.js")


def test_the_page_is_not_for_other_names(client: TestClient) -> None:
    assert client.get("/", headers={"Host": "evil.example"}).status_code == 421
    assert client.post("/view/about", json={"id": "a"}, headers={"Origin": "https://evil.example"}).status_code == 403


@pytest.mark.parametrize(("body", "status"), [({}, 400), ({"id": 5}, 400), ({"id": "nobody"}, 404)])
def test_a_look_at_nothing_is_a_problem(client: TestClient, body: dict[str, Any], status: int) -> None:
    assert client.post("/view/about", json=body).status_code == status
    assert client.post("/view/elsewhere", json=body).status_code == 404


def test_the_page_needs_no_token_but_what_it_shows_does(client: TestClient, memory: Memory) -> None:
    def bearer(user: str, access: Access = "read") -> dict[str, str]:
        return {"Authorization": f"Bearer {issue(memory, 'test', access, Scope(user=user), NOW)[1]}"}

    memory.scoped(Scope(user="ann")).add("Ann's secret", id="a", now=NOW)
    ann, ben = bearer("ann"), bearer("ben")
    assert client.get("/").status_code == 200
    assert client.post("/view/about", json={"id": "a"}).status_code == 401
    assert client.post("/view/about", json={"id": "a"}, headers=ann).json()["node"]["text"] == "Ann's secret"
    assert client.post("/view/about", json={"id": "a"}, headers=ben).status_code == 404
    assert client.post("/v1/edit", json={"id": "a", "text": "b"}, headers=ann).status_code == 403


def test_a_change_of_any_source_makes_the_page_anew(tmp_path: Path) -> None:
    web = tmp_path / "web"
    (web / "src").mkdir(parents=True)
    (web / "node_modules").mkdir()
    (web / "src" / "a.ts").write_text("1")
    before = script.stamp_of(web)
    (web / "node_modules" / "b.js").write_text("2")
    assert script.stamp_of(web) == before
    (web / "src" / "a.ts").write_text("2")
    assert script.stamp_of(web) != before
    index = tmp_path / "static" / INDEX
    assert not script.is_built(index.parent, before)
    index.parent.mkdir()
    index.write_text(f'<html data-build="{before}">')
    assert script.is_built(index.parent, before)


def test_without_node_the_build_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(script.ROOT / "web", tmp_path / "web", ignore=shutil.ignore_patterns("node_modules", "dist"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(script.Missing, match="install them"):
        script.build(tmp_path)
