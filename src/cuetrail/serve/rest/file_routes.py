"""Verbs on files over HTTP: ingest and import read an uploaded file, export and backup return a download.

No request names a path on the server's disk.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import FileResponse
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as AsgiScope

from cuetrail.errors import CuetrailError, InputError
from cuetrail.model import FileError, Scope
from cuetrail.serve.rest.auth import Access
from cuetrail.serve.rest.problem_details import Problem, problem_body, problem_from
from cuetrail.serve.rest.requests import json_arguments, spooled_file, uploaded_file
from cuetrail.serve.tool import Schema, Tool, checked_arguments
from cuetrail.serve.verbs import Job, verb_job

if TYPE_CHECKING:
    from cuetrail.memory import Memory
    from cuetrail.serve.rest.service import Progress, Service
    from cuetrail.transfer.import_file import ImportReport, LineReport

BINARY, JSON_LINES, TAR = "application/octet-stream", "application/x-ndjson", "application/x-tar"
REPORT_BYTES = 1 << 18
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
    lines = arguments.pop("report", "summary") == "lines"
    arguments["dry_run"] = arguments.get("dry_run") == "true"
    folder = tempfile.TemporaryDirectory(prefix="cuetrail-", ignore_cleanup_errors=True)
    path, report = Path(folder.name) / "import.jsonl", Path(folder.name) / "report.jsonl"
    try:
        digest = await spooled_file(request, service.rules, path)
        await anyio.to_thread.run_sync(_refuse_compressed, path)
        work = partial(_import_file, path, arguments, report if lines else None)
        job = Job("import", work, (digest, arguments, lines), ("progress",))
        if lines:
            report.touch()
            return Temporary(LineReports(await service.work_of_job(request, job, scope), report), folder)
        return Temporary(await service.respond_to_job(request, job, scope), folder)
    except BaseException:
        folder.cleanup()
        raise


def _refuse_compressed(path: Path) -> None:
    with path.open("rb") as file:
        if file.read(max(map(len, COMPRESSED_MAGIC))).startswith(COMPRESSED_MAGIC):
            # A small compressed file can expand to more than this machine holds.
            raise Problem(415, "send the file unpacked")


@dataclass(frozen=True, slots=True)
class Temporary:
    """An ASGI response that needs the files in a temporary folder, which is deleted after it."""

    app: ASGIApp
    folder: tempfile.TemporaryDirectory[str]

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        try:
            await self.app(scope, receive, send)
        finally:
            self.folder.cleanup()


@dataclass(frozen=True, slots=True)
class LineReports:
    """An ASGI response with the report of an import, line by line while it runs, and its summary as the last line.

    `work` writes the lines to the file `report`, tells its progress, and returns the summary. If it fails after the
    response has begun, the last line is `{"problem": ...}`.
    """

    work: Callable[[Progress], Awaitable[bytes]]
    report: Path

    async def __call__(self, _scope: AsgiScope, _receive: Receive, send: Send) -> None:
        loop, news = asyncio.get_running_loop(), asyncio.Event()

        def progress(_step: str, _done: int, _total: int) -> None:
            loop.call_soon_threadsafe(news.set)

        task = asyncio.ensure_future(self.work(progress))
        task.add_done_callback(lambda _: news.set())
        begun = False
        try:
            async with await anyio.open_file(self.report, "rb") as file:
                while not task.done():
                    await news.wait()
                    news.clear()
                    begun = await self._send_new(file, send, begun)
                begun = await self._send_new(file, send, begun)
        finally:
            task.cancel()
        error = task.exception()
        if isinstance(error, Exception) and begun:
            last: dict[str, Any] = {"problem": problem_body(problem_from(error))}
        else:
            # An error before the first line is an ordinary problem response.
            last = {"summary": json.loads(task.result())}
        await self._send(send, f"{json.dumps(last, ensure_ascii=False)}\n".encode(), begun, more=False)

    async def _send_new(self, file: anyio.AsyncFile[bytes], send: Send, begun: bool) -> bool:
        """Sends what was added to the report. Returns True if the response has begun."""
        while piece := await file.read(REPORT_BYTES):
            await self._send(send, piece, begun, more=True)
            begun = True
        return begun

    async def _send(self, send: Send, piece: bytes, begun: bool, *, more: bool) -> None:
        if not begun:
            headers = [(b"content-type", JSON_LINES.encode()), (b"cache-control", b"no-store")]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": piece, "more_body": more})


def _import_file(
    path: Path, arguments: dict[str, Any], report: Path | None, memory: Memory, progress: Progress | None = None
) -> ImportReport:
    """Imports a file; writes what became of each of its lines to `report`, as JSON lines."""
    # Imported here: a server answers its first request without the readers of files.
    from cuetrail.transfer.formats.detect_format import INGESTED, recognise

    try:
        if (found := recognise(path, arguments.get("format"))) in INGESTED:
            raise InputError(f"the file is in the format {found}: send it to /v1/ingest?source=NAME")
        if report is None:
            return _unnamed(memory.import_(path, **arguments, progress=progress), path)
        with report.open("w", encoding="utf-8") as file:

            def on_line(line: LineReport) -> None:
                file.write(f"{json.dumps(asdict(line), ensure_ascii=False)}\n")

            def flushed(step: str, done: int, total: int) -> None:
                file.flush()
                if progress is not None:
                    progress(step, done, total)

            return _unnamed(memory.import_(path, **arguments, on_line=on_line, progress=flushed), path)
    except CuetrailError as error:
        # The client must not see paths of this machine.
        raise type(error)(str(error).replace(str(path), "the file")) from error


def _unnamed(report: ImportReport, path: Path) -> ImportReport:
    """Returns the report without the path at which this machine keeps the file."""
    errors = (FileError("the file", error.error.replace(str(path), "the file")) for error in report.errors)
    return replace(report, errors=tuple(errors))


async def _export(service: Service, request: Request, scope: Scope | None) -> ASGIApp:
    arguments = checked_arguments(FILE_VERBS["export"].tool, await json_arguments(request, service.rules))
    name = f"memory.{'json' if arguments.get('format') == 'mem0' else 'jsonl'}"
    return await _download(
        service, request, "export", scope, name, lambda memory, path: memory.export(path, **arguments)
    )


async def _backup(service: Service, request: Request, scope: Scope | None) -> ASGIApp:
    checked_arguments(FILE_VERBS["backup"].tool, await json_arguments(request, service.rules))
    return await _download(service, request, "backup", scope, "memory.tar", lambda memory, path: memory.backup(path))


async def _download(
    service: Service, request: Request, verb: str, scope: Scope | None, name: str,
    write: Callable[[Memory, Path], object],
) -> ASGIApp:  # fmt: skip
    """Returns a response with the file that `write` makes; the file is deleted after it was sent. It is of its own
    media type, or plain bytes for a client that accepts only these.
    """
    folder = tempfile.TemporaryDirectory(prefix="cuetrail-")
    path = Path(folder.name) / name
    try:
        await service.run(verb, scope, lambda memory: write(memory, path))
    except BaseException:
        folder.cleanup()
        raise
    media = BINARY if BINARY in request.headers.get("accept", "") else FILE_VERBS[verb].media_type
    return FileResponse(path, media_type=media, filename=name, background=BackgroundTask(folder.cleanup))


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
        # With a title: generators of clients would name its type like that of the result.
        "report": {
            "title": "Reported", "type": "string", "enum": ["summary", "lines"],
            "description": "lines: one JSON line per line sent",
        },
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
