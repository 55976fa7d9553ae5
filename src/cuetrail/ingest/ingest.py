"""Ingests files, folders and texts into an opened memory, and watches a folder for changes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from cuetrail.ingest.document import Document
from cuetrail.ingest.pipeline import Options, ingest_documents, ingest_path
from cuetrail.ingest.watch import watch_path
from cuetrail.model import IngestReport
from cuetrail.session import Session
from cuetrail.store.write import Progress
from cuetrail.text.timestamps import now_ms
from cuetrail.write.pipeline import follow_up


def ingest(
    session: Session,
    path: Path,
    options: Options,
    *,
    watch: bool,
    on_report: Callable[[IngestReport], None] | None,
    stop: threading.Event | None,
    progress: Progress | None,
) -> IngestReport:
    """Ingests a file or folder and returns the report. With `watch`, also ingests each later change until `stop`."""

    def finish(report: IngestReport, shown: Progress | None) -> IngestReport:
        return replace(report, notices=follow_up(session, report.notices, shown))

    path = path.expanduser()
    folder = path if path.is_dir() else path.parent
    with session.store.bulk():
        report = ingest_path(session, path, options, progress)
    report = finish(report, progress)
    if watch:
        if on_report:
            on_report(report)
        for found in watch_path(session, path, folder, options, stop, now_ms):
            report = finish(found, None)
            if on_report:
                on_report(report)
    return report


def ingest_content(
    session: Session, source: str, documents: Sequence[Document], options: Options, progress: Progress | None
) -> IngestReport:
    """Ingests documents that are not read from disk. They replace the earlier content of `source`."""
    report = ingest_documents(session, source, documents, options)
    return replace(report, notices=follow_up(session, report.notices, progress))
