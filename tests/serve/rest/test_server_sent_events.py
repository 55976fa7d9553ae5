"""Long requests report progress as server-sent events."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import anyio
import pytest

from cuetrail import Memory
from cuetrail.errors import NotFound
from cuetrail.serve.rest.problem_details import problem_body, problem_from
from cuetrail.serve.rest.server_sent_events import EventResponse, in_thread
from tests.serve.http_tools import EVENTS, events, issuer, refused, serving


def test_each_seed_of_an_activation_is_an_event_and_then_it_ends(place: Path) -> None:
    with Memory(place, embedder=None) as memory:
        for id_ in "abc":
            memory.add(id_, id=id_)
        memory.link("a", "b", weight=0.9)
    with serving(place) as client:
        found = events(client.post("/v1/activate", json={"seeds": [["a", 0.9], ["c", 0.5]]}, headers=EVENTS))
        whole = client.post("/v1/activate", json={"seeds": [["a", 0.9], ["c", 0.5]]}).json()["result"]
    assert [name for name, _ in found] == ["result", "result", "end"]
    assert sorted(data["seed"] for _, data in found[:2]) == ["a", "c"]
    assert sorted(whole, key=str) == sorted((data for _, data in found[:2]), key=str)


@pytest.mark.parametrize(
    ("verb", "body"),
    [
        ("dream", {}),
        ("add_many", {"items": ["The antenna fell."]}),
        ("ingest_text", {"text": "The antenna stands.", "source": "a.md"}),
        ("recall", {"cue": "antenna"}),
    ],
)
def test_a_verb_tells_how_far_it_is_and_then_its_result_once(place: Path, verb: str, body: dict[str, Any]) -> None:
    with serving(place) as client:
        client.post("/v1/add", json={"text": "The antenna stands.", "at": "2025-03-04"})
        found = events(client.post(f"/v1/{verb}", json=body, headers=EVENTS))
    names = [name for name, _ in found]
    assert names[-2:] == ["result", "end"]
    assert set(names[:-2]) <= {"progress"}
    assert all(set(data) == {"step", "done", "total"} for _, data in found[:-2])
    assert verb not in ("dream", "add_many") or len(found) > 2


def test_what_fails_before_anything_was_told_is_an_ordinary_problem(place: Path) -> None:
    token = issuer(place)
    given = {**EVENTS, **token(access="read")}
    with serving(place) as client:
        refused(client.post("/v1/dream", headers=EVENTS), 401)
        refused(client.post("/v1/dream", headers=given), 403)
        refused(client.post("/v1/traverse", json={"start": ["nobody"]}, headers=given), 404)
        refused(client.post("/v1/activate", json={"seeds": ["a"], "max_depth": -1}, headers=given), 400)


def heard(work: Any, *, leave_after: int | None = None) -> list[dict[str, Any]]:
    """What is sent to a client, which may leave after so many messages."""
    sent: list[dict[str, Any]] = []

    async def run() -> None:
        left = anyio.Event()

        async def receive() -> dict[str, str]:
            await left.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            sent.append(message)
            if leave_after is not None and len(sent) >= leave_after:
                left.set()
                await anyio.sleep_forever()

        with anyio.fail_after(60):
            in_a_thread = in_thread(work, anyio.CapacityLimiter(1))
            await EventResponse(in_a_thread, lambda error: problem_body(problem_from(error)))({}, receive, send)

    anyio.run(run)
    return sent


def test_what_fails_in_the_middle_ends_with_the_problem() -> None:
    def work(say: Any, _gone: threading.Event) -> None:
        say("progress", {"step": "a", "done": 1, "total": 2})
        raise NotFound("it went away: look elsewhere")

    body = b"".join(message.get("body", b"") for message in heard(work)).decode()
    assert "event: progress" in body
    assert "event: end" not in body
    assert '"status":404' in body.rpartition("event: problem")[2]
    with pytest.raises(NotFound):
        heard(lambda _say, _gone: (_ for _ in ()).throw(NotFound("at once")))


def test_who_leaves_stops_a_walk_and_not_a_job() -> None:
    done: list[str] = []

    def walk(say: Any, gone: threading.Event) -> None:
        say("result", {"number": 1})
        assert gone.wait(60)
        done.append("stopped")

    def job(say: Any, gone: threading.Event) -> None:
        say("progress", {"step": "a", "done": 1, "total": 2})
        gone.wait(60)
        say("progress", {"step": "a", "done": 2, "total": 2})
        done.append("finished")

    assert len(heard(walk, leave_after=2)) == 2
    assert len(heard(job, leave_after=2)) == 2
    assert done == ["stopped", "finished"]
