"""Clients that would exhaust the HTTP server, with real sockets: each limit, and that others are still answered."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from cuetrail import Memory
from cuetrail.serve.memory_access import LazyMemory
from cuetrail.serve.rest.connection_limits import SHUTDOWN_SECONDS, ConnectionLimits, OpenConnections
from cuetrail.serve.rest.requests import MEGABYTE, RequestRules
from cuetrail.serve.rest.server import listening_socket, make_app, make_http_server

HEALTH = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
POST = b"POST /v1/%s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
# Far above what an answer takes here; a connection that is not closed fails the test after this.
PATIENCE = 20.0
Dial = Callable[..., socket.socket]
Serve = Callable[..., Dial]


@contextmanager
def _running(place: Path, rules: RequestRules, limits: ConnectionLimits) -> Iterator[int]:
    memory = LazyMemory(lambda: Memory(place, embedder=None))
    with listening_socket(memory, "127.0.0.1", 0) as (listener, _):
        server = make_http_server(make_app(memory, rules), OpenConnections(limits))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join()


@pytest.fixture
def serve(place: Path) -> Iterator[Serve]:
    """Starts a server with limits, and returns a function that connects to it."""
    with ExitStack() as opened:

        def start(rules: RequestRules | None = None, **limits: float) -> Dial:
            port = opened.enter_context(_running(place, rules or RequestRules(), ConnectionLimits(**limits)))  # type: ignore[arg-type]  # numbers

            def dial(data: bytes = b"", address: str = "127.0.0.1") -> socket.socket:
                line = socket.create_connection(("127.0.0.1", port), PATIENCE, (address, 0))
                opened.callback(line.close)
                line.sendall(data)
                return line

            return dial

        yield start


def until_closed(line: socket.socket) -> bytes:
    """Returns everything that the server sends before it closes the connection."""
    got = b""
    try:
        while piece := line.recv(65536):
            got += piece
    except ConnectionError:
        pass
    return got


def answer(line: socket.socket) -> tuple[int, bytes]:
    """Returns the status and the body of the next response."""
    got = b""
    while b"\r\n\r\n" not in got:
        piece = line.recv(65536)
        assert piece, f"closed after {got!r}"
        got += piece
    head, _, body = got.partition(b"\r\n\r\n")
    size = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
    while len(body) < size:
        body += line.recv(65536)
    return int(head.split()[1]), body


def flood(line: socket.socket, piece: bytes) -> None:
    """Sends a piece again and again, up to gigabytes. Raises ConnectionError if the server closes the connection."""
    for _ in range(100_000):
        line.sendall(piece)


def test_a_request_whose_headers_do_not_arrive_in_time_is_refused(serve: Serve) -> None:
    dial = serve(head_seconds=0.1)
    assert until_closed(dial(b"GET /health HTTP/1.1\r\nHost: loc")).startswith(b"HTTP/1.1 408 ")
    assert until_closed(dial()) == b""
    assert until_closed(dial(b"\r\n" * 100)) == b""


def test_blank_lines_do_not_keep_an_idle_connection_open(serve: Serve) -> None:
    line = serve(idle_seconds=0.1)(HEALTH)
    assert answer(line)[0] == 200
    line.sendall(b"\r\n")
    assert until_closed(line) == b""


@pytest.mark.parametrize(
    "head", [b"X: " + b"a" * 300_000, b"X: a\r\n" * 50_000, b"X: " + b"a" * 33_000], ids=["long", "many", "one packet"]
)
def test_headers_beyond_the_limit_are_refused_whether_long_or_many(serve: Serve, head: bytes) -> None:
    line = serve()()
    try:
        line.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n" + head + b"\r\n\r\n")
    except ConnectionError:
        return
    got = until_closed(line)
    assert got.startswith(b"HTTP/1.1 431 ") or got == b"", got


def test_a_request_line_beyond_the_limit_is_refused(serve: Serve) -> None:
    line = serve()(b"GET /" + b"a" * 33_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert until_closed(line).startswith(b"HTTP/1.1 431 ")


def test_trailers_without_end_are_refused(serve: Serve) -> None:
    dial = serve()
    line = dial(POST % b"recall" + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX: ")
    with pytest.raises(ConnectionError):
        flood(line, b"a" * 65536)
    assert answer(dial(HEALTH))[0] == 200


def test_half_sent_requests_do_not_keep_others_from_being_answered(serve: Serve) -> None:
    dial = serve(connections_per_address=20)
    held = [dial(b"GET /health HTTP/1.1\r\nHo") for _ in range(60)]
    assert answer(dial(HEALTH)) == (200, b'{"status":"ok"}')
    # The oldest made room for the newest.
    assert until_closed(held[0]) == b""


def test_connections_from_many_addresses_have_a_limit_in_all(serve: Serve) -> None:
    dial = serve(connections=10, connections_per_address=6)
    mine = dial(HEALTH)
    assert answer(mine)[0] == 200
    held = [dial(b"GET", f"127.0.0.{2 + number % 5}") for number in range(30)]
    assert answer(dial(HEALTH))[0] == 200
    assert until_closed(held[0]) == b""


def test_a_body_that_arrives_too_slowly_is_refused(serve: Serve) -> None:
    dial = serve(RequestRules(seconds_per_megabyte=0.1), drain_seconds=0.1)
    for verb in (b"recall", b"add"):
        line = dial(POST % verb + b"Content-Length: 100\r\n\r\n{")
        assert answer(line)[0] == 408
        assert until_closed(line) == b""


def test_the_body_of_an_mcp_request_has_the_same_limits(serve: Serve) -> None:
    dial = serve(RequestRules(seconds_per_megabyte=0.1, max_body_bytes=1000))
    head = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    assert answer(dial(head + b"Content-Length: 100\r\n\r\n{"))[0] == 408
    assert answer(dial(head + b"Content-Length: 1001\r\n\r\n"))[0] == 413
    assert answer(dial(head + b"Transfer-Encoding: chunked\r\n\r\n3e9\r\n" + b"a" * 1001))[0] == 413


def test_a_chunked_body_without_end_is_refused_and_its_connection_closed(serve: Serve) -> None:
    dial = serve(RequestRules(max_body_bytes=MEGABYTE), drain_seconds=0.1)
    for path in (POST % b"recall", b"GET /health HTTP/1.1\r\nHost: localhost\r\n"):
        line = dial(path + b"Transfer-Encoding: chunked\r\n\r\n")
        with pytest.raises(ConnectionError):
            flood(line, b"10000\r\n" + b"a" * 65536 + b"\r\n")


def test_a_client_that_does_not_read_its_response_is_cut_off(serve: Serve, place: Path) -> None:
    with Memory(place, embedder=None) as memory:
        memory.add("a" * 8_000_000, id="long")
    dial = serve(drain_seconds=0.1, connections_per_address=1)
    body = json.dumps({"id": "long"}).encode()
    line = dial(POST % b"get" + b"Content-Length: %d\r\n\r\n" % len(body) + body)
    line.recv(1, socket.MSG_PEEK)
    deadline = time.monotonic() + PATIENCE
    while answer(dial(HEALTH))[0] == 503:
        assert time.monotonic() < deadline, "the connection is still open"
    assert len(until_closed(line)) < 8_000_000


def test_pipelined_requests_are_answered_in_order_up_to_a_limit(serve: Serve) -> None:
    dial = serve()
    got = until_closed(dial(HEALTH * 10 + HEALTH.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")))
    assert got.count(b"HTTP/1.1 200 OK") == 11
    assert until_closed(dial(HEALTH * 100)).count(b"HTTP/1.1 200 OK") < 100
    assert answer(dial(HEALTH))[0] == 200


def test_one_client_cannot_take_every_place_for_open_requests(serve: Serve) -> None:
    dial = serve(RequestRules(max_waiting_per_address=3))
    begun = POST % b"recall" + b"X-Forwarded-For: 203.0.113.%d\r\nContent-Length: 2\r\n\r\n{"
    held = [dial(begun % 9) for _ in range(3)]
    status, body = answer(dial(begun % 9))
    assert (status, b"too many of your requests" in body) == (429, True)
    other = dial(begun % 10)
    other.sendall(b"}")
    assert answer(other)[0] == 400
    held[0].sendall(b"}")
    assert answer(held[0])[0] == 400


def test_an_upgrade_is_declined_and_the_request_answered(serve: Serve) -> None:
    dial = serve()
    for name in (b"websocket", b"h2c"):
        upgrade = b"Connection: Upgrade\r\nUpgrade: %s\r\nSec-WebSocket-Version: 13\r\n\r\n" % name
        assert answer(dial(HEALTH[:-2] + upgrade))[0] == 200


def test_old_and_broken_http_is_answered_without_harm(serve: Serve) -> None:
    dial = serve()
    assert until_closed(dial(HEALTH.replace(b"1.1", b"1.0"))).startswith(b"HTTP/1.1 200 OK")
    both = POST % b"recall" + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    assert until_closed(dial(both)).startswith(b"HTTP/1.1 400 ")
    assert until_closed(dial(b"\x16\x03\x01\x02\x00\x01")).startswith(b"HTTP/1.1 400 ")
    assert answer(dial(HEALTH))[0] == 200


def test_a_server_that_stops_does_not_wait_for_bodies_that_arrive_slowly(
    place: Path, caplog: pytest.LogCaptureFixture
) -> None:
    length = b"Content-Length: 1000\r\n\r\n{"
    with ExitStack() as lines:
        with _running(place, RequestRules(), ConnectionLimits(stop_seconds=0.1)) as port:
            opened = [lines.enter_context(socket.create_connection(("127.0.0.1", port), PATIENCE)) for _ in range(20)]
            for line, verb in zip(opened, [b"add", b"import", b"recall", b"edit"] * 5, strict=True):
                line.sendall(POST % verb + length)
            opened[0].sendall(b" " * 10)
            health = lines.enter_context(socket.create_connection(("127.0.0.1", port), PATIENCE))
            health.sendall(HEALTH)
            assert answer(health)[0] == 200
            begun = time.monotonic()
        assert time.monotonic() - begun < 2 * SHUTDOWN_SECONDS
        assert [until_closed(line) for line in opened] == [b""] * 20
    assert not [row for row in caplog.records if "timeout graceful shutdown exceeded" in row.getMessage()]
