"""HTTP requests: the rules they must meet, and reading their bodies."""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
from starlette.requests import Request

from cuetrail.serve.rest.problem_details import Problem

LOOPBACK = ("127.0.0.1", "::1", "localhost")
MEGABYTE = 2**20


@dataclass(frozen=True, slots=True)
class RequestRules:
    """The conditions a request must meet: the server's host names, a token, its size and its speed.

    `tokens_required`: also while the memory has no token. `max_upload_bytes` are read into memory, `max_import_bytes`
    are written to a file as they arrive. `max_waiting`: requests that run or wait at a time.
    `max_waiting_per_address`: those of one client; programs on this machine, such as a proxy, may have all.
    `seconds_per_megabyte`: the time each megabyte of a body has to arrive.
    """

    hosts: tuple[str, ...] = LOOPBACK
    tokens_required: bool = False
    max_body_bytes: int = 10 * MEGABYTE
    max_upload_bytes: int = 64 * MEGABYTE
    max_import_bytes: int = 4096 * MEGABYTE
    max_waiting: int = 64
    max_waiting_per_address: int = 32
    seconds_per_megabyte: float = 30.0


JSON = "application/json"


def json_bytes(data: Any) -> bytes:
    """Returns data as JSON without spaces. Raises ValueError for numbers that JSON does not have."""
    return json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=str).encode()


async def json_arguments(request: Request, rules: RequestRules) -> dict[str, Any]:
    """Returns the arguments in a JSON body without those that are null. Raises Problem if it is no JSON object, or as
    `request_body` does.
    """
    data = await request_body(request, rules.max_body_bytes, rules.seconds_per_megabyte)
    if not data.strip():
        return {}
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != JSON:
        raise Problem(415, f"send JSON, with `Content-Type: {JSON}`")
    try:
        given = json.loads(data, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise Problem(400, f"this is not JSON: {error}") from None
    if not isinstance(given, dict):
        raise Problem(400, 'send an object with the arguments, such as {"cue": "what did we decide?"}')
    return {name: value for name, value in given.items() if value is not None}


_NO_FILE = "send the file as the body of the request, such as `curl --data-binary @notes.md`"


async def uploaded_file(request: Request, rules: RequestRules) -> bytes:
    """Returns the file in the body of a request. Raises Problem if it is empty, or as `request_body` does."""
    data = await request_body(request, rules.max_upload_bytes, rules.seconds_per_megabyte)
    if not data:
        raise Problem(400, _NO_FILE)
    return bytes(data)


async def spooled_file(request: Request, rules: RequestRules, path: Path) -> str:
    """Writes the file in the body of a request to the disk as it arrives. Returns its SHA-256. Raises Problem."""
    digest, waiting = hashlib.sha256(), bytearray()
    try:
        async with (
            await anyio.open_file(path, "wb") as file,
            aclosing(_pieces(request, rules.max_import_bytes, rules.seconds_per_megabyte)) as pieces,
        ):
            async for piece in pieces:
                digest.update(piece)
                waiting += piece
                if len(waiting) >= MEGABYTE:
                    await file.write(waiting)
                    waiting.clear()
            await file.write(waiting)
    except OSError as error:
        raise Problem(507, f"the server cannot take the file ({error.strerror}): send less, or make room") from error
    if not path.stat().st_size:
        raise Problem(400, _NO_FILE)
    return digest.hexdigest()


async def request_body(request: Request, max_bytes: int, seconds_per_megabyte: float) -> bytearray:
    """Returns a whole body. Raises Problem if it is too large, too slow or incomplete."""
    data = bytearray()
    async with aclosing(_pieces(request, max_bytes, seconds_per_megabyte)) as pieces:
        async for piece in pieces:
            data += piece
    return data


async def _pieces(request: Request, max_bytes: int, seconds_per_megabyte: float) -> AsyncGenerator[bytes]:
    """Yields a body as it arrives. Raises Problem if it is too large, too slow or incomplete."""
    too_large = Problem(413, f"a request may have {max_bytes} bytes: send less at a time")
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > max_bytes:
        raise too_large
    size, begun, more = 0, anyio.current_time(), True
    while more:
        # Without a deadline, a client that sends a byte now and then could hold its place in the queue for ever.
        deadline = begun + seconds_per_megabyte * (1 + size // MEGABYTE)
        with anyio.CancelScope(deadline=deadline) as waiting:
            # Not by `stream`, which makes each piece of a body wait twice.
            message = await request.receive()
        if waiting.cancelled_caught or anyio.current_time() > deadline:
            raise Problem(
                408,
                f"each megabyte of a request has {seconds_per_megabyte:g} seconds to arrive: send it faster, or less",
            )
        if message["type"] == "http.disconnect":
            raise Problem(400, "the request ended in the middle")
        piece: bytes = message.get("body", b"")
        size += len(piece)
        if size > max_bytes:
            raise too_large
        yield piece
        more = message.get("more_body", False)


def _refuse_constant(text: str) -> None:
    raise ValueError(f"{text} is no number")
