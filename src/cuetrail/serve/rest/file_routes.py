"""Verbs on files over HTTP: ingest and import read an uploaded file, export and backup return a download.

No request names a path on the server's disk.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.types import ASGIApp

from cuetrail.errors import CuetrailError, InputError
from cuetrail.model import FileError, Scope
from cuetrail.serve.rest.auth import Access
from cuetrail.serve.rest.problem_details import Problem
from cuetrail.serve.rest.requests import json_arguments, uploaded_file
from cuetrail.serve.tool import Schema, Tool, checked_arguments
from cuetrail.serve.verbs import Job, verb_job

if TYPE_CHECKING:
    from cuetrail.memory import Memory
    from cuetrail.serve.rest.service import Service
    from cuetrail.transfer.import_file import ImportReport, LineReport

BINARY, JSON_LINES, TAR = "application/octet-stream", "application/x-ndjson", "application/x-tar"
COMPRESSED_MAGIC = (b"\x1f\x8b", b"PK\x03\x04")

Respond = Callable[["Service", Request, Scope | None], Awaitable[ASGIApp]]


@dataclass(frozen=True, slots=True)
class FileVerb:
    """A verb on a file: its name in `Memory`, its arguments, the file's media type and the access it needs.

    `uploads`: the file is the request body, and the arguments are in the query string.
    """

    verb: str
    tool: Tool
    uploads: bool
    media_type: str
    access: Access
    respond: Respond


async def _ingest(service: Service, request: Request, scope: Scope | None) -> ASGIApp:
    arguments = _query_arguments(request, "ingest")
    data = await uploaded_file(request, service.rules)
    return await service.respond_to_job(request, verb_job("ingest_bytes", {"data": data, **arguments}, "ingest"), scope)


async def _import(service: Service, request: Request, scope: Scope | None) -> ASGIApp:
    arguments = _query_arguments(request, "import")
    data = await uploaded_file(request, service.rules)
    if data.startswith(COMPRESSED_MAGIC):
        # A small compressed file can expand to more than this machine holds.
        raise Problem(415, "send the file unpacked")
    lines = arguments.pop("report", "summary") == "lines"
    arguments["dry_run"] = arguments.get("dry_run") == "true"
    job = Job("import", partial(_import_bytes, data, arguments, lines), (data, arguments, lines), ("progress",))
    answer = await service.respond_to_job(request, job, scope)
    return JsonLines(answer) if lines and isinstance(answer, Response) else answer


class JsonLines(Response):
    """The answer of an import with a report of each line: JSON lines, the summary as the last one."""

    media_type = JSON_LINES

    def __init__(self, answer: Response) -> None:
        report = json.loads(bytes(answer.body))
        rows = [*report.pop("lines"), {"summary": report}]
        super().__init__("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows))


def _import_bytes(data: bytes, arguments: dict[str, Any], lines: bool, memory: Memory, **options: Any) -> object:
    told: list[LineReport] = []
    report = _import_file(data, {**arguments, **({"on_line": told.append} if lines else {})}, memory, **options)
    return {**asdict(report), "lines": [asdict(line) for line in told]} if lines else report


def _import_file(data: bytes, arguments: dict[str, Any], memory: Memory, **options: Any) -> ImportReport:
    with tempfile.TemporaryDirectory(prefix="cuetrail-") as folder:
        path = Path(folder) / "import.jsonl"
        path.write_bytes(data)
        # Imported here: a server answers its first request without the readers of files.
        from cuetrail.transfer.formats.detect_format import INGESTED, recognise

        try:
            if (found := recognise(path, arguments.get("format"))) in INGESTED:
                raise InputError(f"the file is in the format {found}: send it to /v1/ingest?source=NAME")
            report = memory.import_(path, **arguments, **options)
        except CuetrailError as error:
            # The client must not see paths of this machine.
            raise type(error)(str(error).replace(str(path), "the file")) from error
        errors = (FileError("the file", error.error.replace(str(path), "the file")) for error in report.errors)
        return replace(report, errors=tuple(errors))


async def _export(service: Service, request: Request, scope: Scope | None) -> ASGIApp:
    arguments = checked_arguments(FILE_VERBS["export"].tool, await json_arguments(request, service.rules))
    name = f"memory.{'json' if arguments.get('format') == 'mem0' else 'jsonl'}"
    return await _download(service, "export", scope, name, lambda memory, path: memory.export(path, **arguments))


async def _backup(service: Service, request: Request, scope: Scope | None) -> ASGIApp:
    checked_arguments(FILE_VERBS["backup"].tool, await json_arguments(request, service.rules))
    return await _download(service, "backup", scope, "memory.tar", lambda memory, path: memory.backup(path))


async def _download(
    service: Service, verb: str, scope: Scope | None, name: str, write: Callable[[Memory, Path], object]
) -> ASGIApp:
    """Returns a response with the file that `write` makes; the file is deleted after it was sent."""
    folder = tempfile.TemporaryDirectory(prefix="cuetrail-")
    path = Path(folder.name) / name
    try:
        await service.run(verb, scope, lambda memory: write(memory, path))
    except BaseException:
        folder.cleanup()
        raise
    return FileResponse(
        path, media_type=FILE_VERBS[verb].media_type, filename=name, background=BackgroundTask(folder.cleanup)
    )


def _query_arguments(request: Request, verb: str) -> dict[str, Any]:
    """Returns the arguments in the query string. Raises InputError for those that the verb does not accept."""
    return checked_arguments(FILE_VERBS[verb].tool, dict(request.query_params))


_NAME: Schema = {"type": "string", "minLength": 1}
_FORMAT: Schema = {"type": "string", "enum": ["cuetrail", "mcp-memory", "mem0"]}
_INGEST = Tool(
    "ingest", "Ingest", "Take in a file that is sent, replacing what was taken in under the same name.",
    {"source": {**_NAME, "description": "its name, such as notes/radio.md"}, "bucket": _NAME}, required=("source",),
)  # fmt: skip
_IMPORT = Tool(
    "import", "Import", "Take in an export of cuetrail or of another system that is sent.",
    {
        "format": {"type": "string", "enum": ["cuetrail", "mcp-memory", "mem0", "cozodb"]},
        "dry_run": {"type": "string", "enum": ["true", "false"], "description": "true: count, and write nothing"},
        "report": {"type": "string", "enum": ["summary", "lines"], "description": "lines: one JSON line per line sent"},
    },
)  # fmt: skip
_EXPORT = Tool(
    "export", "Export", "Everything this user owns, as a file.", {"format": _FORMAT, "vectors": {"type": "boolean"}}
)
_BACKUP = Tool("backup", "Backup", "One consistent copy of the whole memory, as a tar file.", {})
FILE_VERBS: dict[str, FileVerb] = {
    "ingest": FileVerb("ingest_bytes", _INGEST, True, BINARY, "write", _ingest),
    "import": FileVerb("import_", _IMPORT, True, BINARY, "write", _import),
    "export": FileVerb("export", _EXPORT, False, JSON_LINES, "read", _export),
    "backup": FileVerb("backup", _BACKUP, False, TAR, "admin", _backup),
}
"""By their names in URLs."""
