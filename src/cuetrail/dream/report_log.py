"""The stored reports of past dreams."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from cuetrail.model import DreamReport, PassReport, Scope
from cuetrail.store.ports import Store

MOST_REPORTS = 20
"""The number of reports stored for each user."""


@dataclass(frozen=True, slots=True)
class Dreamt:
    """The report of a dream, and the time when it ran."""

    at: int
    report: DreamReport


def logged_reports(store: Store, scope: Scope) -> list[Dreamt]:
    """Returns the stored reports, the newest first."""
    return [Dreamt(row.pop("at"), _report(row)) for row in _rows(store, scope)]


def log_report(store: Store, scope: Scope, report: DreamReport, now: int) -> None:
    """Stores the report of a dream, except for dry runs and dreams that changed nothing."""
    if not report.skipped and not report.dry_run and any(one.wrote or one.removed for one in report.passes):
        rows = [{"at": now, **asdict(report)}, *_rows(store, scope)]
        store.settings[_key(scope)] = json.dumps(rows[:MOST_REPORTS])


def _rows(store: Store, scope: Scope) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(store.settings.get(_key(scope), "[]"))
    return found


def _key(scope: Scope) -> str:
    # The separator occurs in no name, so that no two users share a key.
    return f"dreamt:{scope.tenant}\x1f{scope.user}\x1f"


def _report(row: dict[str, Any]) -> DreamReport:
    passes = tuple(
        PassReport(**{**one, "changes": tuple(one["changes"]), "problems": tuple(one["problems"])})
        for one in row.pop("passes")
    )
    return DreamReport(passes, **{**row, "notices": tuple(row["notices"])})
