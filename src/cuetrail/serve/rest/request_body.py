"""Reads the body of a request: JSON arguments or a file. Bodies that are too large or too slow are refused."""

from __future__ import annotations

import json
from typing import Any

import anyio
from starlette.requests import ClientDisconnect, Request

from cuetrail.serve.rest.limits import MEGABYTE, RequestRules
from cuetrail.serve.rest.problems import Problem

JSON = "application/json"


async def json_arguments(request: Request, rules: RequestRules) -> dict[str, Any]:
    """Returns the arguments in a JSON body without those that are null. Raises Problem."""
    data = await _body(request, rules.max_body_bytes, rules.seconds_per_megabyte)
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


async def uploaded_file(request: Request, rules: RequestRules) -> bytes:
    """Returns the file in the body of a request. Raises Problem."""
    data = await _body(request, rules.max_upload_bytes, rules.seconds_per_megabyte)
    if not data:
        raise Problem(400, "send the file as the body of the request, such as `curl --data-binary @notes.md`")
    return bytes(data)


async def _body(request: Request, max_bytes: int, seconds_per_megabyte: float) -> bytearray:
    """Returns a whole body. Raises Problem if it is too large, too slow or incomplete."""
    too_large = Problem(413, f"a request may have {max_bytes} bytes: send less at a time")
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > max_bytes:
        raise too_large
    data, stream, begun = bytearray(), request.stream(), anyio.current_time()
    while True:
        # Without a deadline, a client that sends a byte now and then could hold its place in the queue for ever.
        deadline = begun + seconds_per_megabyte * (1 + len(data) // MEGABYTE)
        with anyio.CancelScope(deadline=deadline) as waiting:
            try:
                piece = await anext(stream, None)
            except ClientDisconnect:
                raise Problem(400, "the request ended in the middle") from None
        if waiting.cancelled_caught or anyio.current_time() > deadline:
            raise Problem(
                408,
                f"each megabyte of a request has {seconds_per_megabyte:g} seconds to arrive: send it faster, or less",
            )
        if piece is None:
            return data
        data += piece
        if len(data) > max_bytes:
            raise too_large


def _refuse_constant(text: str) -> None:
    raise ValueError(f"{text} is no number")
