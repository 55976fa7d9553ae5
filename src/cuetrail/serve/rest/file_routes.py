"""Verbs that work on files, over HTTP: what they read is sent with the request, what they write comes back.

No request names a place on the server's disk.
"""

from __future__ import annotations

import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import FileResponse
from starlette.types import ASGIApp

from cuetrail.errors import CuetrailError
from cuetrail.model import Scope
from cuetrail.serve.rest.problems import Problem
from cuetrail.serve.rest.request_body import arguments, uploaded
from cuetrail.serve.tokens import Access
from cuetrail.serve.tool import Answer, Schema, Tool, checked_arguments
from cuetrail.serve.verb_tools import Job, job_of

if TYPE_CHECKING:
    from cuetrail.memory import Memory
    from cuetrail.serve.rest.app import Desk

ANYTHING, LINES, TAR = "application/octet-stream", "application/x-ndjson", "application/x-tar"
PACKED = (b"\x1f\x8b", b"PK\x03\x04")
_IN, _OUT = ("cuetrail", "mcp-memory", "mem0"), ("cuetrail", "mcp-memory", "mem0")

Answering = Callable[["Desk", Request, Scope | None], Awaitable[ASGIApp]]


@dataclass(frozen=True, slots=True)
class FileVerb:
    """A verb on a file: what the library calls it, its other arguments, what kind of file it takes or gives, for whom.

    One that takes a file has its other arguments in the address.
    """

    verb: str
    tool: Tool
    takes: bool
    media: str
    access: Access
    answer: Answering


async def _ingest(desk: Desk, request: Request, scope: Scope | None) -> ASGIApp:
    given = _query(request, "ingest")
    data = await uploaded(request, desk.rules)
    return await desk.job(request, job_of("ingest_bytes", {"data": data, **given}, "ingest"), scope)


async def _import(desk: Desk, request: Request, scope: Scope | None) -> ASGIApp:
    given = _query(request, "import")
    data = await uploaded(request, desk.rules)
    if data.startswith(PACKED):
        # A small packed file can hold more than this machine.
        raise Problem(415, "send the file unpacked")
    return await desk.job(request, Job("import", partial(_imported, data, given), (data, given), ("progress",)), scope)


def _imported(data: bytes, given: dict[str, Any], memory: Memory, **options: Any) -> object:
    with tempfile.TemporaryDirectory(prefix="cuetrail-") as folder:
        place = Path(folder) / "import.jsonl"
        place.write_bytes(data)
        try:
            return memory.import_(place, **given, **options)
        except CuetrailError as error:
            # Where it lay here is nobody's business.
            raise type(error)(str(error).replace(str(place), "the file")) from error


async def _export(desk: Desk, request: Request, scope: Scope | None) -> ASGIApp:
    given = checked_arguments(FILES["export"].tool, await arguments(request, desk.rules))
    name = f"memory.{'json' if given.get('format') == 'mem0' else 'jsonl'}"
    return await _written(desk, "export", scope, name, lambda memory, path: memory.export(path, **given))


async def _backup(desk: Desk, request: Request, scope: Scope | None) -> ASGIApp:
    checked_arguments(FILES["backup"].tool, await arguments(request, desk.rules))
    return await _written(desk, "backup", scope, "memory.tar", lambda memory, path: memory.backup(path))


async def _written(
    desk: Desk, verb: str, scope: Scope | None, name: str, write: Callable[[Memory, Path], object]
) -> ASGIApp:
    """The file that some work has written, which is then gone here."""
    folder = tempfile.TemporaryDirectory(prefix="cuetrail-")
    place = Path(folder.name) / name
    try:
        await desk.use(verb, scope, lambda memory: write(memory, place))
    except BaseException:
        folder.cleanup()
        raise
    return FileResponse(place, media_type=FILES[verb].media, filename=name, background=BackgroundTask(folder.cleanup))


def _query(request: Request, verb: str) -> dict[str, Any]:
    """The arguments in the address. Raises InputError."""
    return checked_arguments(FILES[verb].tool, dict(request.query_params))


def _no_tool(_memory: Memory, _given: dict[str, Any]) -> Answer:
    raise NotImplementedError("files are answered over HTTP alone")


def _tool(name: str, said: str, properties: dict[str, Schema], *required: str) -> Tool:
    return Tool(name, name.capitalize(), said, properties, _no_tool, required)


_TEXT: Schema = {"type": "string", "minLength": 1}
FILES: dict[str, FileVerb] = {
    "ingest": FileVerb(
        "ingest_bytes",
        _tool(
            "ingest", "Take in a file that is sent, replacing what was taken in under the same name.",
            {"source": {**_TEXT, "description": "its name, such as notes/radio.md"}, "bucket": _TEXT}, "source",
        ),
        True, ANYTHING, "write", _ingest,
    ),
    "import": FileVerb(
        "import_",
        _tool(
            "import", "Take in an export of cuetrail or of another system that is sent.",
            {"format": {"type": "string", "enum": list(_IN)}},
        ),
        True, ANYTHING, "write", _import,
    ),
    "export": FileVerb(
        "export",
        _tool(
            "export", "Everything this user owns, as a file.",
            {"format": {"type": "string", "enum": list(_OUT)}, "vectors": {"type": "boolean"}},
        ),
        False, LINES, "read", _export,
    ),
    "backup": FileVerb(
        "backup", _tool("backup", "One consistent copy of the whole memory, as a tar file.", {}),
        False, TAR, "admin", _backup,
    ),
}  # fmt: skip
"""By the names they have in addresses."""
