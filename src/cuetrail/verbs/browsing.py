"""The verbs of who looks through a memory without a question: by time, by labels, and at what dreams did."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal

from cuetrail.errors import InputError
from cuetrail.model import DreamReport, Node, PassReport, Provenance, Scope, node_dict
from cuetrail.store.ports import Store
from cuetrail.store.read import Labelled, Page, Spot
from cuetrail.text.normalise import norm_tag
from cuetrail.validation.arguments import checked
from cuetrail.validation.records import make_where
from cuetrail.verbs.exploring import Exploring

MOST_DREAMS = 20
"""So many reports of dreams are kept for each user."""

_DREAMT = "dreamt:"
_PLACE = re.compile(r"(-?\d{1,18})\.(\d{1,18})")


@dataclass(frozen=True, slots=True)
class Timeline:
    """Memories, the newest first. `more` is what to pass as `after` for those behind them; None at the end."""

    nodes: tuple[Node, ...]
    more: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {"nodes": [node_dict(node) for node in self.nodes], "more": self.more}


@dataclass(frozen=True, slots=True)
class Dreamt:
    """When a dream was dreamt, and what it did."""

    at: int
    report: DreamReport


class Browsing(Exploring):
    """The part of a `Memory` that lists. To look through it is no use of what it holds: nothing is counted."""

    @checked
    def timeline(
        self,
        *,
        tags: Iterable[str] = (),
        buckets: Iterable[str] = (),
        kinds: Iterable[str] = (),
        since: int | None = None,
        until: int | None = None,
        provenance: Provenance | None = None,
        include_quarantined: bool = False,
        include_archived: bool = False,
        limit: int = 50,
        after: str | None = None,
    ) -> Timeline:
        """Memories, the newest first, of which all filters hold; with `provenance`, only those of that one.

        `after` is the `more` of the list before. What dreams tell is listed only where its kind is asked for.
        """
        where = make_where(tags, buckets, kinds, since, until, include_quarantined, include_archived)
        if limit < 1:
            raise InputError("limit must be at least 1: nothing could be listed otherwise")
        found = self.store.page(self.scope, Page(limit + 1, where, provenance, _spot(after)))
        shown = found[:limit]
        more = "{}.{}".format(*shown[-1].spot) if len(found) > limit else None
        return Timeline(tuple(one.node for one in shown), more)

    @checked
    def labels(self, what: Literal["tag", "bucket"] = "tag", *, prefix: str = "", limit: int = 1000) -> list[Labelled]:
        """Tags, or buckets, that begin so, with how many memories have them; those that most have come first."""
        if what not in ("tag", "bucket"):
            raise InputError(f"what must be tag or bucket, not {what!r:.40}")
        return self.store.labels(self.scope, what, norm_tag(prefix) if prefix else "", limit)

    def dreams(self) -> list[Dreamt]:
        """What the last dreams of this user did, the newest first."""
        return dreamt(self.store, self.scope)


def _spot(after: str | None) -> Spot | None:
    if after is None:
        return None
    parts = _PLACE.fullmatch(after)
    if parts is None:
        raise InputError(f"after must be what `more` of the list before says, not {after!r:.60}")
    return Spot(int(parts[1]), int(parts[2]))


def dreamt(store: Store, scope: Scope) -> list[Dreamt]:
    """The reports that are kept, the newest first."""
    return [Dreamt(row.pop("at"), _report(row)) for row in _written_down(store, scope)]


def write_down(store: Store, scope: Scope, report: DreamReport, now: int) -> DreamReport:
    """Keep the report of a dream, unless it changed nothing; it comes back."""
    if not report.skipped and not report.dry_run and any(one.wrote or one.removed for one in report.passes):
        told = [{"at": now, **asdict(report)}, *_written_down(store, scope)]
        store.keep(_name(scope), json.dumps(told[:MOST_DREAMS]))
    return report


def _written_down(store: Store, scope: Scope) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(store.kept(_name(scope)).get(_name(scope), "[]"))
    return found


def _name(scope: Scope) -> str:
    # A sign that no name has, so that no two users share one.
    return f"{_DREAMT}{scope.tenant}\x1f{scope.user}\x1f"


def _report(row: dict[str, Any]) -> DreamReport:
    passes = tuple(
        PassReport(**{**one, "changes": tuple(one["changes"]), "problems": tuple(one["problems"])})
        for one in row.pop("passes")
    )
    return DreamReport(passes, **{**row, "notices": tuple(row["notices"])})
