"""The first answer of the MCP server on stdin and stdout, given before the SDK is loaded.

A client waits for it, and loading the SDK takes a second. What is said here is word for word what the SDK would say; a
test holds the two against each other. The SDK then hears the same request, and its own answer to it is dropped.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any

from cuetrail.serve.mcp.profiles import TITLE, Offer

HANDSHAKES = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""Protocols that begin with `initialize`. Who asks for one that is not among them is offered the newest."""

MOST_BYTES = 1 << 20
_STDIN, _STDOUT = 0, 1


@dataclass(frozen=True, slots=True)
class Greeting:
    """The first line a client sent, and the id of the request in it if that is answered already."""

    line: bytes
    answered: str | int | None = None


def greet(offer: Offer, version: str) -> Greeting:
    """Read a client's first line and answer it, if it is an `initialize` that is as it should be."""
    line = _first_line()
    request = request_in(line)
    if request is None:
        return Greeting(line)
    answer = {"jsonrpc": "2.0", "id": request["id"], "result": welcome(offer, version, request["params"])}
    data = json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
    while data:
        data = data[os.write(_STDOUT, data) :]
    return Greeting(line, request["id"])


def welcome(offer: Offer, version: str, asked: dict[str, Any]) -> dict[str, Any]:
    """The result of `initialize`."""
    wanted = asked["protocolVersion"]
    can: dict[str, Any] = {"prompts": {"listChanged": False}} if offer.prompt else {}
    can |= {"resources": {"subscribe": True, "listChanged": False}, "tools": {"listChanged": False}}
    told = {
        "protocolVersion": wanted if wanted in HANDSHAKES else HANDSHAKES[-1],
        "capabilities": can,
        "serverInfo": {"name": offer.name, "title": TITLE, "version": version},
    }
    return {**told, "instructions": offer.instructions} if offer.instructions is not None else told


def _first_line() -> bytes:
    """Byte by byte: what comes after it is for the SDK, which reads the same descriptor with a buffer of its own."""
    line = bytearray()
    while not line.endswith(b"\n") and len(line) < MOST_BYTES and (byte := os.read(_STDIN, 1)):
        line += byte
    return bytes(line)


def request_in(line: bytes) -> dict[str, Any] | None:
    """The request in a line if it is one to `initialize` that nothing is wrong with. All else is for the SDK."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or found.get("jsonrpc") != "2.0" or found.get("method") != "initialize":
        return None
    id_, asked = found.get("id"), found.get("params")
    if not isinstance(asked, dict) or not isinstance(id_, str | int) or isinstance(id_, bool):
        return None
    who = asked.get("clientInfo")
    named = isinstance(who, dict) and isinstance(who.get("name"), str) and isinstance(who.get("version"), str)
    fits = named and isinstance(asked.get("protocolVersion"), str) and isinstance(asked.get("capabilities"), dict)
    return found if fits else None
