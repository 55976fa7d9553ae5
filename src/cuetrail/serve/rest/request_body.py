"""What a request brings along: arguments as JSON, or a file. Both are refused before they are too large or too slow."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import anyio
from starlette.requests import ClientDisconnect, Request

from cuetrail.serve.rest.middleware import Rules
from cuetrail.serve.rest.problems import Problem

JSON = "application/json"
STEP = 2**20


async def arguments(request: Request, rules: Rules) -> dict[str, Any]:
    """The arguments in a request; those that are null count as not given. Raises Problem."""
    data = bytearray()
    async for piece in _pieces(request, rules.most_bytes, rules.patience):
        data += piece
    if not data.strip():
        return {}
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != JSON:
        raise Problem(415, f"send JSON, with `Content-Type: {JSON}`")
    try:
        given = json.loads(data, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise Problem(400, f"this is not JSON: {error}") from None
    if not isinstance(given, dict):
        raise Problem(400, 'send an object with the arguments, such as {"cue": "what did we decide?"}')
    return {name: value for name, value in given.items() if value is not None}


async def uploaded(request: Request, rules: Rules) -> bytes:
    """The file in a request. Raises Problem."""
    data = bytearray()
    async for piece in _pieces(request, rules.most_uploaded, rules.patience):
        data += piece
    if not data:
        raise Problem(400, "send the file as the body of the request, such as `curl --data-binary @notes.md`")
    return bytes(data)


async def _pieces(request: Request, most: int, patience: float) -> AsyncIterator[bytes]:
    """A body as it arrives. Raises Problem where it is too large, or takes more than `patience` for each STEP of it."""
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > most:
        raise Problem(413, _too_large(most))
    size, stream, begun = 0, request.stream(), anyio.current_time()
    while True:
        # Who sends a byte now and then could else keep a place for as long as he likes.
        end = begun + patience * (1 + size // STEP)
        with anyio.CancelScope(deadline=end) as waiting:
            try:
                piece = await anext(stream, None)
            except ClientDisconnect:
                raise Problem(400, "the request ended in the middle") from None
        if waiting.cancelled_caught or anyio.current_time() > end:
            raise Problem(
                408, f"each megabyte of a request has {patience:g} seconds to arrive: send it faster, or less"
            )
        if piece is None:
            return
        size += len(piece)
        if size > most:
            raise Problem(413, _too_large(most))
        yield piece


def _too_large(most: int) -> str:
    return f"a request may have {most} bytes: send less at a time"


def _no_number(text: str) -> None:
    raise ValueError(f"{text} is no number")
