"""The views of the page return what is visible to the caller, within their limits, and paths to this machine alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from cuetrail import Memory, Scope
from cuetrail.serve.memory_access import LazyMemory
from cuetrail.serve.rest.auth import issue
from cuetrail.serve.rest.requests import RequestRules
from cuetrail.serve.rest.server import make_app

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


def test_a_look_at_a_node_tells_all_of_it(client: TestClient, memory: Memory) -> None:
    memory.add("Ines designs boards", id="a", tags=["people"], now=NOW)
    memory.edit("a", text="Ines designs the boards", now=NOW + 1)
    memory.add("The receiver", id="b", name="Receiver", now=NOW)
    memory.link("a", "b", weight=0.6, text="she built it", now=NOW)
    memory.fact("a", "works_on", "Receiver", now=NOW)
    memory.fact("a", "lives_in", "Turin", now=NOW)
    memory.fact("a", "lives_in", "Oslo", now=NOW + 1)
    memory.note("a", "ask her first", now=NOW)
    found = client.post("/view/about", json={"id": "a"}).json()
    assert found["node"]["text"] == "Ines designs the boards"
    assert found["mine"]
    assert found["labels"] == [{"name": "people", "display": "people", "origin": "user"}]
    assert [one["text"] for one in found["history"]] == ["Ines designs boards"]
    assert [one["text"] for one in found["notes"]] == ["ask her first"]
    (tie,) = found["ties"]
    assert (tie["node"]["title"], tie["text"], found["degree"]) == ("Receiver", "she built it", 1)
    facts = {(one["predicate"], one["object_title"] or one["value"]): one["status"] for one in found["facts"]}
    assert facts["works_on", "Receiver"] == "confirmed"
    assert facts["lives_in", "Turin"] == "superseded"
    assert facts["lives_in", "Oslo"] == "confirmed"


def test_a_look_at_a_file_tells_what_is_in_it(client: TestClient, memory: Memory) -> None:
    memory.ingest_text("# Notes\n\nThe antenna fell.\n\n---\n\nIt stands again.", source="notes.md", now=NOW)
    found = client.post("/view/about", json={"id": "notes"}).json()
    assert found["node"]["kind"] == "source"
    note = found["note"]
    assert [one["text"] for one in note["passages"]] == ["The antenna fell.", "It stands again."]
    assert (note["id"], note["title"], note["before"], note["after"]) == (found["node"]["id"], "Notes", 0, 0)


def test_a_passage_is_shown_within_its_note(client: TestClient, memory: Memory) -> None:
    parts = {name: f"The antenna in the {name.lower()} fell in the storm. " * 20 for name in ("North", "South")}
    memory.ingest_text("".join(f"## {name}\n\n{text}\n\n" for name, text in parts.items()), source="notes.md", now=NOW)
    (hit,) = memory.recall("south", limit=1, now=NOW).anchors
    note = client.post("/view/about", json={"id": hit.node.id}).json()["note"]
    assert [(one["heading"], one["text"]) for one in note["passages"]] == [
        (name, text.strip()) for name, text in parts.items()
    ]
    assert hit.node.id == note["passages"][1]["id"]
    memory.add("Alone", id="alone", now=NOW)
    assert client.post("/view/about", json={"id": "alone"}).json()["note"] is None


def suggested(client: TestClient, text: str, **more: Any) -> list[tuple[str, str]]:
    found = client.post("/view/suggest", json={"text": text, **more}).json()["suggestions"]
    return [(one["kind"], one["text"]) for one in found]


def test_a_name_is_suggested_by_its_beginning_by_a_word_inside_it_and_by_another_name(
    client: TestClient, memory: Memory
) -> None:
    memory.add("", kind="person", name="Hanne Vogel", aliases=["The boss"], now=NOW)
    memory.add("", kind="entity", name="Vogelwarte", now=NOW)
    memory.ingest_text("# The cold connector\n\nIt shrinks.", source="cold.md", now=NOW)
    assert suggested(client, "vog") == [("entity", "Vogelwarte"), ("person", "Hanne Vogel")]
    assert suggested(client, "hanne v") == [("person", "Hanne Vogel")]
    memory.add("", kind="entity", name="Bosporus", now=NOW)
    assert suggested(client, "bos") == [("entity", "Bosporus"), ("person", "Hanne Vogel")]
    assert suggested(client, "boss") == [("person", "Hanne Vogel")]
    assert suggested(client, "cold conn") == [("source", "The cold connector")]
    assert suggested(client, "cold vog") == []
    assert suggested(client, "") == []


def test_tags_and_buckets_are_suggested_behind_their_signs_those_of_people_first(
    client: TestClient, memory: Memory
) -> None:
    memory.add("One", tags=["radio", "rare"], buckets=["field"], now=NOW)
    memory.add("Two", tags=["radio"], now=NOW)
    assert suggested(client, "#ra") == [("tag", "radio"), ("tag", "rare")]
    assert suggested(client, "antenna @fi") == [("bucket", "field")]
    assert suggested(client, "rad") == [("tag", "radio")]
    assert suggested(client, "#ra", limit=1) == [("tag", "radio")]


@pytest.mark.parametrize(
    "body", [{}, {"text": 5}, {"text": "a", "limit": 0}, {"text": "a", "limit": 10**9}, {"text": "a" * 5000}]
)
def test_suggestions_have_limits(client: TestClient, body: dict[str, Any]) -> None:
    assert client.post("/view/suggest", json=body).status_code == 400


def test_nothing_of_another_user_is_suggested(client: TestClient, memory: Memory) -> None:
    memory.scoped(Scope(user="ann")).add("", kind="person", name="Zoltan", tags=["zinc"], now=NOW)
    text = issue(memory, "test", "read", Scope(user="ben"), NOW)[1]
    ben = {"Authorization": f"Bearer {text}"}
    for asked in ("zol", "#zin", "zin"):
        assert client.post("/view/suggest", json={"text": asked}, headers=ben).json() == {"suggestions": []}
    assert client.post("/view/suggest", json={"text": "zol"}).status_code == 401


def test_the_owner_is_shown_with_each_fact_and_the_text_that_states_it(client: TestClient, memory: Memory) -> None:
    assert client.post("/view/owner", json={}).json() == {"user": "me", "node": None, "facts": []}
    memory.add("", kind="person", name="Me", id="me", now=NOW)
    memory.fact("me", "lives_in", "Turin", now=NOW)
    found = client.post("/view/owner", json={}).json()
    assert found["node"]["id"] == "me"
    assert [(one["predicate"], one["value"], one["origin"]) for one in found["facts"]] == [("lives_in", "Turin", None)]


def test_the_path_of_a_file_is_told_to_this_machine_alone(client: TestClient, place: Path, tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    (vault / ".obsidian").mkdir(parents=True)
    (vault / "radio.md").write_text("The antenna fell.")
    with Memory(place, embedder=None) as memory:
        memory.ingest(vault, now=NOW)
    asked = {"sources": ["vault/radio.md", "vault/gone.md", "vault/../secret", "other/radio.md"]}
    path = str((vault / "radio.md").resolve())
    assert client.post("/view/files", json=asked).json() == {"files": {"vault/radio.md": {"path": path, "vault": True}}}
    rules = RequestRules(tokens_required=True)
    with Memory(place, embedder=None) as memory:
        text = issue(memory, "far", "read", memory.scope, NOW)[1]
    with TestClient(make_app(LazyMemory(lambda: Memory(place, embedder=None)), rules), "http://localhost") as far:
        headers = {"Authorization": f"Bearer {text}"}
        assert far.post("/view/files", json=asked, headers=headers).json() == {"files": {}}
