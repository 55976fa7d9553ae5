"""Listening: on which address, with tokens or without, until the process is told to stop."""

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
from cuetrail.serve.rest.middleware import LOOPBACK, Rules
from cuetrail.serve.tokens import tokens

if TYPE_CHECKING:
    from cuetrail.serve.lazy_memory import Opener

BACKLOG = 128
GRACE = 10
"""Seconds that requests under way have to end when the server stops."""


def is_local(host: str) -> bool:
    """Whether only programs on this machine reach an address.

    >>> is_local("127.0.0.1"), is_local("::1"), is_local("localhost"), is_local("0.0.0.0"), is_local("10.0.0.1")
    (True, True, True, False, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@contextlib.contextmanager
def bound(opener: Opener, host: str, port: int) -> Iterator[tuple[socket.socket, str]]:
    """A socket that listens, and the address of it. Raises InputError where nobody should or can listen."""
    if not is_local(host) and not tokens(opener.get()):
        opener.close()
        raise InputError(f"{host} can be reached from elsewhere: make a token first, `cuetrail token add NAME`")
    try:
        door = _listening(host, port)
    except OSError as error:
        opener.close()
        raise InputError(
            f"nothing can listen on {host}:{port} ({error.strerror or error}): choose another --host or --port"
        ) from error
    with door:
        shown = f"[{host}]" if ":" in host else host
        yield door, f"http://{shown}:{door.getsockname()[1]}"


def _listening(host: str, port: int) -> socket.socket:
    """A socket that is known to be TCP: only of such does asyncio send each answer at once, and not 40 ms later."""
    door = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if sys.platform != "win32":
            # There it would let two servers listen on one port; elsewhere it lets one begin where another just ended.
            door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        door.bind((host, port))
        door.listen(BACKLOG)
    except BaseException:
        door.close()
        raise
    return door


def serve_http(opener: Opener, door: socket.socket, names: tuple[str, ...]) -> None:
    """Serve until the process is told to stop; requests under way are answered first."""
    local = is_local(names[0])
    rules = Rules(hosts=(*LOOPBACK, *(name.lower() for name in names)), tokens=not local)
    config = uvicorn.Config(
        make_app(opener, rules), log_config=None, access_log=False, server_header=False, lifespan="on",
        timeout_graceful_shutdown=GRACE, timeout_keep_alive=30,
    )  # fmt: skip
    with _logged():
        uvicorn.Server(config).run(sockets=[door])


class _Lines(logging.Formatter):
    """Each record as a line of JSON; of an error its kind and place, not its words, which may be private."""

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
def _logged() -> Iterator[None]:
    """One line of JSON on stderr for each request, and for each thing that goes wrong."""
    logger, handler = logging.getLogger("cuetrail.rest"), logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Lines())
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
