"""A dream: the passes one after another, in each place of a user. READ FIRST in this folder.

    temporal -> auto_tags -> infection -> mentions -> cooccurrence -> episodes
    -> consolidation -> storylines -> macros -> decay -> note_expiry -> facts, then the mirrors

A pass is a plain function, Night -> PassReport. It reads what changed since it last looked, writes in transactions that
also say how far it is, and so goes on where it stopped. Its outcome depends on what is in the memory, not on the order
it came in. Only one dream runs at a time in a memory; another one is skipped.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from cuetrail.dream.calendar_labels import zone_of
from cuetrail.dream.context import Night, Pass
from cuetrail.dream.gc_pause import few_collections
from cuetrail.dream.passes import (
    auto_tags,
    consolidation,
    cooccurrence,
    decay,
    episodes,
    facts,
    infection,
    macros,
    mentions,
    storylines,
    temporal,
)
from cuetrail.dream.reconcile import adopt
from cuetrail.dream.report_log import log_report
from cuetrail.dream.summaries import Teller, extract
from cuetrail.dream.tagger import RULE, AutoTagger
from cuetrail.errors import InputError
from cuetrail.mirror import sync_registered
from cuetrail.model import DreamReport, PassReport, Scope
from cuetrail.session import Session
from cuetrail.store.write import Progress

PASSES: tuple[Pass, ...] = (
    temporal.temporal,
    auto_tags.auto_tags,
    infection.infection,
    mentions.mentions,
    cooccurrence.cooccurrence,
    episodes.episodes,
    consolidation.consolidation,
    storylines.storylines,
    macros.macros,
    decay.decay,
    decay.note_expiry,
    facts.facts,
)
"""In the order they run: a later one may use what an earlier one found. Add a function here to add a pass."""

MIRROR = "mirror"
NAMES = (*(one.__name__ for one in PASSES), MIRROR)
# Which other passes' changes a pass has to look at; of the rest of what dreams change it need not know.
LISTENS = {infection.NAME: infection.LISTENS}


def dream_and_log(
    session: Session,
    *,
    only: Collection[str],
    dry_run: bool,
    everyone: bool,
    zone: str,
    tagger: AutoTagger | None,
    teller: Teller | None,
    progress: Progress | None,
    now: int,
) -> DreamReport:
    """Dreams in an opened memory and keeps the report; the rules tag and summarise unless a tagger or teller does."""
    night = Night(
        session.store, session.scope, now, zone_of(zone), tagger or RULE, progress, session.home, session.vectors,
        teller or extract,
    )  # fmt: skip
    report = dream(night, only=only, dry_run=dry_run, everyone=everyone)
    log_report(session.store, session.scope, report, now)
    return report


def dream(night: Night, *, only: Collection[str] = (), dry_run: bool = False, everyone: bool = False) -> DreamReport:
    """Run the passes in every place of the night's user, or of everyone; a report per pass, the places added up.

    `only` names the passes to run, also "mirror". A dry run works on a copy that is thrown away and reports what it
    changed there.
    """
    # A list, because what is no text may not be hashable or sortable.
    strange = [name for name in only if name not in NAMES]
    if strange:
        raise InputError(f"there is no pass {strange[0]!r}: choose of {', '.join(NAMES)}")
    start = time.perf_counter()
    passes = [one for one in PASSES if not only or one.__name__ in only]
    with night.store.single_dream() as alone:
        if not alone:
            return DreamReport(skipped=True, dry_run=dry_run)
        with _stage(night, dry_run) as there:
            places = there.store.partitions(None if everyone else night.scope)
            reports = _run(there, passes, places)
            if not only or MIRROR in only:
                reports += _mirrored(there, places, dry_run)
        if not dry_run:
            night.store.refresh(night.progress)
    notices = [problem for report in reports for problem in report.problems]
    return DreamReport(tuple(reports), False, dry_run, time.perf_counter() - start, tuple(dict.fromkeys(notices)))


@contextmanager
def _stage(night: Night, dry_run: bool) -> Iterator[Night]:
    """Where to dream: in the memory itself, or in a copy of it."""
    if not dry_run:
        yield night
        return
    with night.store.rehearsal() as copy:
        yield replace(night, store=copy, show=True)


def _run(night: Night, passes: Sequence[Pass], places: Sequence[Scope]) -> list[PassReport]:
    """One place after the other, in each the passes in their order."""
    totals = {one.__name__: PassReport(one.__name__) for one in passes}
    changed = False
    for place in places:
        with few_collections():
            there = replace(night, scope=place)
            adopt(there)
            found = [one(there) for one in passes]
        changed |= any(report.read or report.wrote or report.removed for report in found)
        totals |= {report.name: _plus(totals[report.name], report) for report in found}
    # When all are through: what is changed in one place is logged for all of them.
    for place in places if changed else ():
        night.store.dreaming(place, "").rest(LISTENS)
    return list(totals.values())


def _plus(a: PassReport, b: PassReport) -> PassReport:
    sums = (a.read + b.read, a.wrote + b.wrote, a.removed + b.removed, a.seconds + b.seconds)
    return PassReport(a.name, *sums, a.changes + b.changes, a.problems + b.problems)


def _mirrored(night: Night, places: Sequence[Scope], dry_run: bool) -> list[PassReport]:
    """Bring the mirrors of these users in step; no report where nobody keeps one."""
    start = time.perf_counter()
    whose = dict.fromkeys(replace(place, teams=(), share=None) for place in places) if night.home else {}
    done = [
        sync_registered(night.store, scope, night.home, night.progress, dry_run=dry_run)
        for scope in whose
        if night.home
    ]
    reports = [report for one in done for report in one.reports]
    problems = tuple(problem for one in done for problem in (*one.problems, *one.ended))
    if not reports and not problems:
        return []
    read, wrote = sum(report.atoms for report in reports), sum(report.written for report in reports)
    removed = sum(report.removed for report in reports)
    changes = [
        f"~ {one.directory}: {one.written} files would be written, {one.removed} removed"
        for one in reports
        if dry_run and (one.written or one.removed)
    ]
    return [PassReport(MIRROR, read, wrote, removed, time.perf_counter() - start, tuple(changes), problems)]
