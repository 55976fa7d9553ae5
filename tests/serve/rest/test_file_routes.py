"""Files are uploaded to the server and downloaded from it; no request names a path on its disk."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from starlette.testclient import TestClient

from cuetrail import Memory
from cuetrail.errors import InputError
from cuetrail.serve.memory_access import LazyMemory
from cuetrail.serve.rest.file_routes import LineReports
from cuetrail.serve.rest.requests import RequestRules
from cuetrail.serve.rest.server import make_app
from cuetrail.serve.rest.service import Progress
from cuetrail.serve.verbs import verb_job
from tests.serve.http_tools import EVENTS, events, issuer, refused, serving

NOTE = b"The antenna stands on the lee side. #radio\n"


@pytest.fixture
def client(place: Path) -> Iterator[TestClient]:
    with serving(place) as client:
        yield client


def test_a_file_that_is_sent_is_taken_in_under_its_name_and_replaced_by_the_next(client: TestClient) -> None:
    where = "/v1/ingest?source=notes/radio.md&bucket=work"
    assert client.post(where, content=NOTE).json()["files"] == 1
    found = client.post("/v1/recall", json={"cue": "antenna"}).json()["hits"][0]["node"]
    assert (found["source"], found["buckets"], found["tags"][0]) == ("notes/radio.md", ["work"], "radio")
    names = [name for name, _ in events(client.post(where, content=b"The mast fell.", headers=EVENTS))]
    assert names[-2:] == ["result", "end"]
    assert client.post("/v1/recall", json={"cue": "antenna"}).json()["answerable"] is False


def test_a_file_whose_name_leads_elsewhere_is_only_called_so(client: TestClient, place: Path, tmp_path: Path) -> None:
    client.post("/v1/ingest?source=../../outside.md", content=NOTE)
    client.post("/v1/ingest?source=/etc/passwd", content=NOTE + b"again")
    assert list(tmp_path.iterdir()) == [place]
    text = client.post("/v1/recall", json={"cue": "root"}).text
    assert "/bin/" not in text


def test_what_cannot_be_taken_in_is_refused(client: TestClient, place: Path) -> None:
    assert "'source' is a required property" in refused(client.post("/v1/ingest", content=NOTE), 400)
    assert "--data-binary" in refused(client.post("/v1/ingest?source=a.md"), 400)
    assert "broken PDF" in refused(client.post("/v1/ingest?source=a.pdf", content=b"%PDF-1.4 no"), 422)
    refused(client.post("/v1/import", content=b"neither of these"), 400)
    assert "unpacked" in refused(client.post("/v1/import", content=gzip.compress(b"{}")), 415)
    chat = json.dumps([{"uuid": "c", "chat_messages": [{"sender": "human", "text": "Open a port."}]}])
    assert "/v1/ingest" in refused(client.post("/v1/import", content=chat.encode()), 400)
    with serving(place, RequestRules(max_upload_bytes=100)) as small:
        assert "100 bytes" in refused(small.post("/v1/ingest?source=a.md", content=b"a" * 101), 413)
        assert "100 bytes" in refused(small.post("/v1/ingest?source=a.md", content=iter([b"a" * 60, b"b" * 60])), 413)


def test_a_key_tells_one_file_from_another_without_keeping_either(client: TestClient) -> None:
    key = {"Idempotency-Key": "k"}
    first = client.post("/v1/ingest?source=a.md", content=NOTE, headers=key)
    assert client.post("/v1/ingest?source=a.md", content=NOTE, headers=key).json() == first.json()
    refused(client.post("/v1/ingest?source=a.md", content=NOTE + b"!", headers=key), 422)
    assert len(verb_job("ingest_bytes", {"data": bytes(2**20), "source": "a.md"}, "ingest").fingerprint()) < 200


@pytest.mark.parametrize("more", [0, 1])
def test_a_request_that_comes_too_slowly_is_ended(place: Path, more: int) -> None:
    """Nothing comes at all, or a byte at a time without an end."""
    said: list[Any] = []

    async def receive() -> dict[str, Any]:
        await (anyio.sleep(0) if more else anyio.sleep_forever())
        return {"type": "http.request", "body": b"a", "more_body": True}

    async def send(message: Any) -> None:
        said.append(message)

    async def run() -> None:
        app = make_app(LazyMemory(lambda: Memory(place, embedder=None)), RequestRules(seconds_per_megabyte=0.05))
        headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
        asked = {"type": "http", "method": "POST", "path": "/v1/add", "query_string": b"", "headers": headers}
        with anyio.fail_after(60):
            await app(asked, receive, send)

    anyio.run(run)
    assert said[0]["status"] == 408


@pytest.mark.parametrize("format", ["cuetrail", "mem0", "mcp-memory"])
def test_an_export_can_be_fetched_and_sent_to_another_memory(client: TestClient, tmp_path: Path, format: str) -> None:
    client.post("/v1/add", json={"text": "The antenna stands.", "name": "Antenna", "kind": "entity"})
    data = client.post("/v1/export", json={"format": format}).content
    plain = client.post("/v1/export", json={"format": format}, headers={"Accept": "application/octet-stream"})
    assert (plain.content, plain.headers["content-type"]) == (data, "application/octet-stream")
    assert b"Antenna" in data or format == "mem0"
    with serving(tmp_path / "other") as other:
        assert other.post(f"/v1/import?format={format}", content=data).json()["added"] >= 1
        assert "antenna stands" in other.post("/v1/recall", json={"cue": "antenna"}).json()["text"]
        (_, told), (end, _) = events(other.post("/v1/import", content=data, headers=EVENTS))[-2:]
        assert (told["added"], end) == (0, "end")


def test_a_backup_can_be_fetched_by_an_admin_alone(client: TestClient, place: Path) -> None:
    token = issuer(place)
    refused(client.post("/v1/backup", headers=token(access="write")), 403)
    got = client.post("/v1/backup", headers=token(access="admin"))
    assert "memory.tar" in got.headers["content-disposition"]
    with tarfile.open(fileobj=io.BytesIO(got.content)) as archive:
        assert any(name.endswith("memory.db") for name in archive.getnames())


def test_only_what_is_ones_own_is_exported(client: TestClient, place: Path) -> None:
    token = issuer(place)
    ann, ben = token("ann", "read"), token("ben", "read")
    with Memory(place, embedder=None) as memory:
        memory.scoped(memory.scope.__class__(user="ann")).add("Ann's secret.")
    assert b"secret" in client.post("/v1/export", headers=ann).content
    assert b"secret" not in client.post("/v1/export", headers=ben).content
    assert json.loads(client.post("/v1/export", headers=ben).content.splitlines()[0])


def test_an_import_answers_line_by_line_if_it_is_asked_to(client: TestClient, place: Path) -> None:
    lines = [{"cuetrail": 1}, {"type": "node", "id": "a", "text": "One", "at": 1}, {"type": "edge", "id": "e"}]
    data = "\n".join(map(json.dumps, lines)).encode()
    for query, stored in (("?report=lines&dry_run=true", False), ("?report=lines", True)):
        answer = client.post(f"/v1/import{query}", content=data)
        assert answer.headers["content-type"].startswith("application/x-ndjson")
        first, second, last = [json.loads(line) for line in answer.text.splitlines()]
        assert (first["line"], first["id"], first["result"]) == (2, "a", "added")
        assert (second["line"], second["result"]) == (3, "refused")
        assert last["summary"]["nodes"] == 1
        # Where the server keeps what it is sent is its own business.
        assert [error["path"] for error in last["summary"]["errors"]] == ["the file"]
        with Memory(place, embedder=None) as memory:
            assert (memory.get("a") is not None) == stored


def lines_of(megabytes: int) -> Iterator[bytes]:
    """An export that is made while it is sent: two nodes, and lines of a megabyte that are no records."""
    yield b'{"cuetrail": 1}\n'
    for number in range(megabytes):
        if number % (megabytes // 2) == 0:
            yield (
                json.dumps({"type": "node", "id": f"n{number}", "text": f"Antenna {number}.", "at": 1}).encode() + b"\n"
            )
        yield b"a" * 2**20 + b"\n"


async def import_in_place(place: Path, body: Iterator[bytes], rules: RequestRules) -> tuple[int, bytes]:
    """The status and the body of the answer to an import that is sent piece by piece, and never held as a whole."""
    said: list[Any] = []

    async def receive() -> dict[str, Any]:
        piece = next(body, None)
        return {"type": "http.request", "body": piece or b"", "more_body": piece is not None}

    async def send(message: Any) -> None:
        said.append(message)

    memory = LazyMemory(lambda: Memory(place, embedder=None))
    asked = {
        "type": "http", "method": "POST", "path": "/v1/import", "query_string": b"report=lines",
        "headers": [(b"host", b"localhost")],
    }  # fmt: skip
    await make_app(memory, rules)(asked, receive, send)
    memory.close()
    return said[0]["status"], b"".join(one.get("body", b"") for one in said)


def test_an_import_is_read_as_it_arrives_whatever_its_size(place: Path, tmp_path: Path) -> None:
    rules = RequestRules()
    megabytes = 2 + rules.max_upload_bytes // 2**20
    anyio.run(import_in_place, tmp_path / "first", lines_of(2), rules)
    tracemalloc.start()
    status, body = anyio.run(import_in_place, place, lines_of(megabytes), rules)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    *lines, last = map(json.loads, body.splitlines())
    assert status == 200
    assert [line["line"] for line in lines] == list(range(2, len(lines) + 2))
    assert sum(line["result"] == "refused" for line in lines) == megabytes
    assert last["summary"]["added"] == 2
    assert peak < rules.max_upload_bytes / 4
    status, body = anyio.run(import_in_place, place, lines_of(4), RequestRules(max_import_bytes=3 * 2**20))
    assert (status, json.loads(body)["detail"][:39]) == (413, "a request may have 3145728 bytes: send ")


async def no_message() -> Any:
    await anyio.sleep_forever()


def test_a_line_is_told_before_the_import_is_done(tmp_path: Path) -> None:
    report = tmp_path / "report.jsonl"
    report.touch()
    said: list[bytes] = []

    async def run() -> None:
        told = anyio.Event()

        async def work(progress: Progress) -> bytes:
            report.write_text('{"line": 2}\n')
            progress("importing", 1, 0)
            await told.wait()
            return b'{"added": 1}'

        async def send(message: Any) -> None:
            if "body" in message:
                said.append(message["body"])
                told.set()

        with anyio.fail_after(60):
            await LineReports(work, report)({}, no_message, send)

    anyio.run(run)
    assert said == [b'{"line": 2}\n', b'{"summary": {"added": 1}}\n']


@pytest.mark.parametrize("begun", [False, True])
def test_an_import_that_fails_says_so_also_when_its_report_has_begun(tmp_path: Path, begun: bool) -> None:
    report = tmp_path / "report.jsonl"
    report.write_text('{"line": 2}\n' if begun else "")
    said: list[bytes] = []

    async def fail(_progress: Progress) -> bytes:
        raise InputError("the disk is full")

    async def send(message: Any) -> None:
        said.append(message.get("body", b""))

    async def run() -> None:
        await LineReports(fail, report)({}, no_message, send)

    if begun:
        anyio.run(run)
        assert json.loads(said[-1])["problem"]["detail"] == "the disk is full"
    else:
        with pytest.raises(InputError, match="disk is full"):
            anyio.run(run)
        assert not said


def test_a_repeated_import_with_a_key_is_done_once(client: TestClient) -> None:
    data = b'{"cuetrail": 1}\n{"type": "node", "id": "a", "text": "One", "at": 1}'
    key = {"Idempotency-Key": "k"}
    first, again = (client.post("/v1/import?report=lines", content=data, headers=key).text for _ in range(2))
    assert json.loads(first.splitlines()[-1]) == json.loads(again)
    refused(client.post("/v1/import?report=lines", content=data + b"\n", headers=key), 422)
