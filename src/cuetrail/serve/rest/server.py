"""Runs the HTTP server: binds a socket, serves until the process is stopped, and logs one line of JSON per request."""

from __future__ import annotations

import contextlib
import ipaddress
import json
import logging
import socket
import sys
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import uvicorn

from cuetrail.errors import InputError
from cuetrail.serve.rest.app import make_app
from cuetrail.serve.rest.limits import LOOPBACK, RequestRules
from cuetrail.serve.tokens import tokens

if TYPE_CHECKING:
    from cuetrail.serve.lazy_memory import LazyMemory

BACKLOG = 128
SHUTDOWN_SECONDS = 10
"""The time that running requests have to finish when the server stops."""


def is_local(host: str) -> bool:
    """True if only programs on this machine can reach the address.

    >>> is_local("127.0.0.1"), is_local("::1"), is_local("localhost"), is_local("0.0.0.0"), is_local("10.0.0.1")
    (True, True, True, False, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@contextlib.contextmanager
def listening_socket(memory: LazyMemory, host: str, port: int) -> Iterator[tuple[socket.socket, str]]:
    """Yields a listening socket and its URL.

    Raises InputError if the address is public and there is no token, or if it cannot be bound.
    """
    if not is_local(host) and not tokens(memory.get()):
        memory.close()
        raise InputError(f"{host} can be reached from elsewhere: make a token first, `cuetrail token add NAME`")
    try:
        listener = _bind(host, port)
    except OSError as error:
        memory.close()
        raise InputError(
            f"nothing can listen on {host}:{port} ({error.strerror or error}): choose another --host or --port"
        ) from error
    with listener:
        shown = f"[{host}]" if ":" in host else host
        yield listener, f"http://{shown}:{listener.getsockname()[1]}"


def _bind(host: str, port: int) -> socket.socket:
    """Returns a listening socket. It names TCP as its protocol, or asyncio would send each response 40 ms late."""
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if sys.platform != "win32":
            # A server can start right after another one stopped. On Windows two servers could share the port.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(BACKLOG)
    except BaseException:
        listener.close()
        raise
    return listener


def serve_http(memory: LazyMemory, listener: socket.socket, names: tuple[str, ...]) -> None:
    """Serves until the process is stopped; running requests are answered first."""
    hosts = (*LOOPBACK, *(name.lower() for name in names))
    rules = RequestRules(hosts, tokens_required=not is_local(names[0]))
    config = uvicorn.Config(
        make_app(memory, rules), log_config=None, access_log=False, server_header=False, lifespan="on",
        timeout_graceful_shutdown=SHUTDOWN_SECONDS, timeout_keep_alive=30,
    )  # fmt: skip
    with _json_log():
        uvicorn.Server(config).run(sockets=[listener])


class _JsonFormatter(logging.Formatter):
    """Formats a record as a line of JSON. Errors show type and location, not the message, which may be private."""

    def format(self, record: logging.LogRecord) -> str:
        row: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
        }
        row |= record.msg if isinstance(record.msg, dict) else {"message": record.getMessage()}
        if record.exc_info and record.exc_info[0] is not None:
            where = traceback.extract_tb(record.exc_info[2])
            row |= {
                "error": record.exc_info[0].__name__,
                "where": [f"{one.filename}:{one.lineno} {one.name}" for one in where],
            }
        return json.dumps(row, ensure_ascii=False)


@contextlib.contextmanager
def _json_log() -> Iterator[None]:
    """Logs requests and errors of the server to stderr while the context is open."""
    logger, handler = logging.getLogger("cuetrail.rest"), logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonFormatter())
    before = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before[0])
        logger.propagate = before[1]
