"""A server of several processes is one server: to its clients, in its limits and counts, and when it ends."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from cuetrail import Memory, Scope
from cuetrail.serve.rest.auth import issue, revoke, tokens
from cuetrail.serve.rest.connection_limits import SHUTDOWN_SECONDS, ConnectionLimits
from cuetrail.serve.verbs import EFFECTS
from cuetrail.serve.workers.capacity import can_hand_over
from cuetrail.serve.write_queue import GROUPED, LONG_VERBS
from tests.serve.conftest import agent, session
from tests.serve.processes import PATIENCE, Running, serving, together, until
from tests.servers import Login

pytestmark = pytest.mark.skipif(not can_hand_over(), reason="this system cannot pass sockets between processes")
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="reads the ids of processes from /proc")
CLIENTS = 12
SLOW = b"POST /v1/add HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"
NOTE = {"target": "noted", "text": "hot"}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with serving(tmp_path_factory.mktemp("served") / "memory", "--workers", "2") as one:
        one.post("add", {"text": "Tea.", "id": "noted"})
        one.post("add", {"text": "A secret.", "id": "secret"})
        one.post("forget", {"ids": ["secret"]})
        yield one


def is_alive(process: int) -> bool:
    """False for a process that has ended, whether or not it has been waited for."""
    file = Path(f"/proc/{process}/stat")
    return file.exists() and file.read_text().rpartition(") ")[2][0] != "Z"


def is_closed(line: socket.socket) -> bool:
    """True if the server closes a connection without an answer."""
    try:
        return line.recv(1) == b""
    except ConnectionResetError:
        return True


@contextmanager
def half_sent(served: Running, head: bytes, count: int) -> Iterator[list[socket.socket]]:
    """So many connections, each with the beginning of a request."""
    with ExitStack() as opened:
        lines = []
        for _ in range(count):
            lines.append(opened.enter_context(socket.create_connection(("127.0.0.1", served.port), PATIENCE)))
            lines[-1].sendall(head)
        yield lines


def requests_of(verb: str, served: Running) -> int:
    """How many requests of a verb the metrics count."""
    found = re.findall(rf'cuetrail_requests_total{{verb="{verb}",status="\d+"}} (\d+)', served.get("/metrics"))
    return sum(map(int, found))


def test_only_short_writes_that_search_nothing_are_grouped() -> None:
    verbs = GROUPED - {"mem0"}
    assert all(EFFECTS[name].writes and not EFFECTS[name].paths for name in verbs)
    assert not verbs & LONG_VERBS
    assert not verbs & {"forget", "refresh", "reembed", "ingest_text", "dream", "doctor"}


def test_adds_that_arrive_together_each_have_their_own_answer_and_their_own_error(served: Running) -> None:
    def add(number: int) -> tuple[int, Any]:
        if number % 4 == 1:
            return served.post("add", {"text": "A secret.", "id": "secret"})
        if number % 4 == 2:
            return served.post("add", {"text": f"Bad {number}.", "confidence": 7})
        return served.post("add", {"text": f"The mast {number} is tall.", "id": f"mast{number}", "tags": ["masts"]})

    answers = together(add, CLIENTS)
    assert [status for status, _ in answers] == [(200, 409, 400, 200)[number % 4] for number in range(CLIENTS)]
    assert [data["id"] for status, data in answers if status == 200] == [
        f"mast{number}" for number in range(CLIENTS) if number % 4 in (0, 3)
    ]
    assert "allow_again" in answers[1][1]["detail"]


def test_whoever_is_answered_finds_it_over_every_connection(served: Running) -> None:
    def add_and_look(number: int) -> list[str]:
        word = f"quokka{chr(97 + number) * 3}"
        line = served.client()
        served.post("add", {"text": f"The {word} sleeps.", "id": word}, client=line)
        # The second connection is handed to the process that has fewer: often another one.
        found = [served.post("recall", {"cue": word})[1], served.post("recall", {"cue": word}, client=line)[1]]
        line.close()
        return [hit["node"]["id"] for data in found for hit in data["hits"][:1]] + [word]

    for found in together(add_and_look, CLIENTS):
        assert len(found) == 3
        assert len(set(found)) == 1


def test_the_writes_of_a_client_are_done_in_their_order(served: Running) -> None:
    line = served.client()
    for text in ("one", "two", "three"):
        assert served.post("add", {"text": text, "id": "order"}, client=line)[0] == 200
    line.close()
    assert served.post("get", {"id": "order"})[1]["text"] == "three"
    assert [one["text"] for one in served.post("history", {"id": "order"})[1]["result"]] == ["one", "two"]


def test_a_key_counts_in_every_process(served: Running) -> None:
    key = {"Idempotency-Key": "k"}
    before = served.post("stats")[1]["notes"]
    answers = together(lambda _: served.post("note", NOTE, key), CLIENTS)
    assert {status for status, _ in answers} <= {200, 409}
    assert served.post("note", NOTE, key)[1]["text"] == "hot"
    assert served.post("stats")[1]["notes"] == before + 1
    assert served.post("note", {**NOTE, "text": "cold"}, key)[0] == 422
    served.post("forget", {"ids": ["mast0"], "missing_ok": True})


def test_metrics_count_the_requests_of_all_processes(served: Running) -> None:
    before = requests_of("labels", served)
    together(lambda _: served.post("labels"), CLIENTS)
    assert requests_of("labels", served) == before + CLIENTS
    assert "\ncuetrail_requests_under_way 1\n" in served.get("/metrics")


def test_progress_of_a_job_arrives_as_events(served: Running) -> None:
    line = served.client()
    given = {"Content-Type": "application/json", "Accept": "text/event-stream"}
    line.request("POST", "/v1/dream", "{}", given)
    events = re.findall(r"^event: (\w+)$", line.getresponse().read().decode(), re.MULTILINE)
    line.close()
    assert events[-2:] == ["result", "end"]
    assert set(events[:-2]) == {"progress"}


def test_an_agent_does_a_whole_session(tmp_path: Path) -> None:
    with serving(tmp_path / "memory", "--workers", "2") as server:

        async def run() -> None:
            async with agent(f"http://127.0.0.1:{server.port}/mcp") as one:
                await session(one)

        anyio.run(run)


def test_what_recalls_show_is_counted_by_the_writer(served: Running) -> None:
    served.post("add", {"text": "The zeppelin hums.", "id": "zeppelin"})
    assert served.post("recall", {"cue": "zeppelin"})[1]["hits"][0]["node"]["id"] == "zeppelin"

    def accesses() -> Any:
        line = served.client()
        line.request("POST", "/view/about", '{"id": "zeppelin"}', {"Content-Type": "application/json"})
        found = line.getresponse().read()
        line.close()
        return b'"accesses":1' in found

    assert until(accesses)


def test_one_client_has_its_share_of_places_in_all_processes_together(served: Running) -> None:
    head = "POST /v1/recall HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 203.0.113.{}\r\n"
    head += "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{{"
    with half_sent(served, head.format(9).encode(), 32):
        until(lambda: "\ncuetrail_requests_under_way 33\n" in served.get("/metrics"))
        with half_sent(served, head.format(9).encode(), 1) as (line,):
            assert line.recv(12) == b"HTTP/1.1 429"
        with half_sent(served, head.format(10).encode() + b"}", 1) as (line,):
            assert line.recv(12) == b"HTTP/1.1 400"
    until(lambda: "\ncuetrail_requests_under_way 1\n" in served.get("/metrics"))


def test_connections_have_a_limit_in_all_processes_together(served: Running) -> None:
    begun = time.monotonic()
    with half_sent(served, b"GET /health HTTP/1.1\r\nHo", 140) as lines:
        assert served.get("/health") == '{"status":"ok"}'
        # The oldest made room for the newest, unless the machine is so slow that its headers were too late as well.
        late = time.monotonic() - begun > ConnectionLimits().head_seconds
        assert is_closed(lines[0]) or late


@on_linux
def test_a_flood_of_connections_ends_no_process(tmp_path: Path) -> None:
    with serving(tmp_path / "memory", "--workers", "2") as server:
        children = until(lambda: len(server.children()) == 3 and server.children())
        # So many arrive at once that places are taken from connections that are still being handed over.
        for head in (b"", b"GET /health HTTP/1.1\r\nHo", SLOW):
            with half_sent(server, head, 250):
                pass
        with half_sent(server, b"", 200):
            assert server.get("/health") == '{"status":"ok"}'
        assert until(lambda: server.post("stats")[0] == 200)
        assert server.children() == children


def test_a_token_made_or_revoked_counts_at_once_in_every_process(tmp_path: Path) -> None:
    place = tmp_path / "memory"
    with serving(place, "--workers", "2") as server, Memory(place, embedder=None) as memory:
        lines = [server.client() for _ in range(4)]
        assert [server.post("stats", client=line)[0] for line in lines] == [200] * 4
        _, text = issue(memory, "one", "write", Scope(user="ann"), 0)
        _, other = issue(memory, "two", "write", Scope(user="ben"), 0)
        ann, ben = ({"Authorization": f"Bearer {one}"} for one in (text, other))
        assert [server.post("stats", client=line)[0] for line in lines] == [401] * 4
        server.post("add", {"text": "Ann's secret."}, ann)
        assert [server.post("recall", {"cue": "secret"}, ann, line)[1]["answerable"] for line in lines] == [True] * 4
        assert [server.post("recall", {"cue": "secret"}, ben, line)[1]["answerable"] for line in lines] == [False] * 4
        revoke(memory, next(one.id for one in tokens(memory) if one.name == "one"))
        assert [server.post("stats", {}, ann, line)[0] for line in lines] == [401] * 4
        for line in lines:
            line.close()


@on_linux
def test_a_process_that_is_killed_is_started_again_and_others_answer_meanwhile(tmp_path: Path) -> None:
    with serving(tmp_path / "memory", "--workers", "2") as server:
        server.post("add", {"text": "The mast is tall.", "id": "mast"})
        writer, *readers = until(lambda: len(server.children()) == 3 and server.children())
        os.kill(readers[0], signal.SIGKILL)
        (line,) = server.said('"again_in_seconds"')
        assert "reading process" in line
        assert '"reason": "signal 9"' in line
        assert server.post("recall", {"cue": "mast"})[1]["hits"][0]["node"]["id"] == "mast"
        os.kill(writer, signal.SIGKILL)
        until(lambda: [one for one in server.lines if "the writing process ended" in one])
        assert server.post("add", {"text": "The mast is short.", "id": "mast"})[0] == 200
        assert server.post("get", {"id": "mast"})[1]["text"] == "The mast is short."
        until(lambda: len(server.children()) == 3)


@on_linux
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_no_process_is_left_however_the_server_ends(tmp_path: Path, how: signal.Signals) -> None:
    with serving(tmp_path / "memory", "--workers", "2") as server:
        assert server.post("add", {"text": "The mast is tall.", "id": "mast"})[0] == 200
        children = server.children()
        with half_sent(server, SLOW, 1):
            begun = time.monotonic()
            server.process.send_signal(how)
            # Every process has this stderr.
            assert server.ended.wait(PATIENCE)
            assert time.monotonic() - begun < 2 * SHUTDOWN_SECONDS
        assert server.process.wait(PATIENCE) in (-how, 130)
        assert not [one for one in children if is_alive(one)]
    with Memory(tmp_path / "memory", embedder=None) as memory:
        assert memory.get("mast") is not None
        assert memory.doctor() == []


@on_linux
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_long_job_does_not_keep_the_server_from_stopping(tmp_path: Path, workers: str) -> None:
    with serving(tmp_path / "memory", "--workers", workers) as server, ExitStack() as opened:
        assert server.post("add", {"text": "The mast is tall.", "id": "mast"})[0] == 200
        line = opened.enter_context(closing(server.client()))
        body = json.dumps({"items": [f"{number} " + "word " * 20 for number in range(60_000)]})
        line.request("POST", "/v1/add_many", body, {"Content-Type": "application/json"})
        until(lambda: "\ncuetrail_requests_under_way 2\n" in server.get("/metrics"))
        begun = time.monotonic()
        server.process.send_signal(signal.SIGTERM)
        assert server.ended.wait(PATIENCE)
        assert time.monotonic() - begun < 2 * SHUTDOWN_SECONDS
    with Memory(tmp_path / "memory", embedder=None) as memory:
        assert memory.get("mast") is not None


@on_linux
def test_with_one_worker_there_is_one_process(tmp_path: Path) -> None:
    with serving(tmp_path / "memory", "--workers", "1") as server:
        assert server.post("add", {"text": "Tea."})[0] == 200
        assert server.children() == []


def test_a_memory_on_neo4j_has_several_processes_too(server: Login) -> None:
    with serving(server.uri, "--workers", "2") as running:
        answers = together(lambda number: running.post("add", {"text": f"Mast {number}.", "id": f"m{number}"}), 6)
        assert [status for status, _ in answers] == [200] * 6
        assert running.post("add", {"text": "Bad.", "confidence": 7})[0] == 400
        found = together(lambda number: running.post("recall", {"cue": f"mast {number}"})[1], 6)
        assert all(one["answerable"] for one in found)
        assert running.post("stats")[1]["nodes"] == 6
