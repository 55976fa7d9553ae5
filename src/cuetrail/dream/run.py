"""A dream: runs the passes one after another in each partition of a user. READ FIRST in this folder.

    temporal -> auto_tags -> infection -> mentions -> known_as -> cooccurrence -> episodes
    -> consolidation -> storylines -> macros -> decay -> note_expiry -> facts, then the mirrors

A pass is a plain function, DreamContext -> PassReport. It reads the changes since its last run. Its transactions also
store its progress, so an interrupted pass continues where it stopped. The result depends on the content of the memory,
not on the order of writes. One dream runs at a time in a memory; a second one is skipped.
"""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Protocol

from cuetrail.dream.context import DreamContext, Pass
from cuetrail.dream.passes import (
    auto_tags,
    consolidation,
    cooccurrence,
    decay,
    episodes,
    facts,
    known_as,
    macros,
    mentions,
    note_expiry,
    storylines,
    tag_propagation,
    temporal_tags,
)
from cuetrail.dream.passes.temporal_tags import zone_of
from cuetrail.dream.reconcile import reconcile
from cuetrail.dream.report_log import log_report
from cuetrail.dream.summaries import Teller, extract
from cuetrail.dream.taggers import RULE, AutoTagger
from cuetrail.errors import InputError
from cuetrail.mirror import sync_registered
from cuetrail.model import PASS_NAMES, DreamReport, PassReport, Scope
from cuetrail.session import Session
from cuetrail.store.write import Progress

PASSES: tuple[Pass, ...] = (
    temporal_tags.temporal,
    auto_tags.auto_tags,
    tag_propagation.infection,
    mentions.mentions,
    known_as.known_as,
    cooccurrence.cooccurrence,
    episodes.episodes,
    consolidation.consolidation,
    storylines.storylines,
    macros.macros,
    decay.decay,
    note_expiry.note_expiry,
    facts.facts,
)
"""The passes in the order they run. A later pass may use the output of an earlier one. A new pass needs its function
here and its name in `PASS_NAMES`.
"""

MIRROR = "mirror"
# New objects between two garbage collections. Atoms and tags form no cycles, so little garbage piles up.
THRESHOLD = 1_000_000
# Passes that must also see the changes of other passes. All others skip what dreams changed.
LISTENS = {tag_propagation.NAME: tag_propagation.LISTENS}


def dream_and_log(
    session: Session, *, only: Collection[str], dry_run: bool, everyone: bool, zone: str, tagger: AutoTagger | None,
    teller: Teller | None, progress: Progress | None, now: int,
) -> DreamReport:  # fmt: skip
    """Runs a dream in an opened memory and stores its report. Tagger and teller default to the built-in rules."""
    context = DreamContext(
        session.store, session.scope, now, zone_of(zone), tagger or RULE, progress, session.home, session.vectors,
        teller or extract,
    )  # fmt: skip
    report = dream(context, only=only, dry_run=dry_run, everyone=everyone)
    log_report(session.store, session.scope, report, now)
    return report


def dream(
    context: DreamContext, *, only: Collection[str] = (), dry_run: bool = False, everyone: bool = False
) -> DreamReport:
    """Runs the passes in every partition of the user, or of everyone, and returns a report per pass.

    `only` names the passes to run, including "mirror". A dry run works on a temporary copy and reports its changes.
    Raises InputError for an unknown pass.
    """
    # A list, because values that are not text may not be hashable.
    unknown = [name for name in only if name not in PASS_NAMES]
    if unknown:
        raise InputError(f"there is no pass {unknown[0]!r}: choose of {', '.join(PASS_NAMES)}")
    start = time.perf_counter()
    passes = [one for one in PASSES if not only or one.__name__ in only]
    with context.store.single_dream(dry_run) as store:
        if store is None:
            return DreamReport(skipped=True, dry_run=dry_run)
        inner = replace(context, store=store, show=dry_run or context.show)
        partitions = store.partitions(None if everyone else context.scope)
        reports = _run(inner, passes, partitions)
        if not only or MIRROR in only:
            reports += _update_mirrors(inner, partitions, dry_run)
        if not dry_run:
            context.store.refresh(context.progress)
    notices = [problem for report in reports for problem in report.problems]
    return DreamReport(tuple(reports), False, dry_run, time.perf_counter() - start, tuple(dict.fromkeys(notices)))


def _run(context: DreamContext, passes: Sequence[Pass], partitions: Sequence[Scope]) -> list[PassReport]:
    """Runs the passes in each partition and returns one report per pass, with the sums of all partitions."""
    totals = {one.__name__: PassReport(one.__name__) for one in passes}
    changed = False
    for partition in partitions:
        with fewer_collections():
            inner = replace(context, scope=partition)
            reconcile(inner)
            found = [one(inner) for one in passes]
        changed |= any(report.read or report.wrote or report.removed for report in found)
        totals |= {report.name: _plus(totals[report.name], report) for report in found}
    # After all partitions, because a change in one is logged for all of them.
    for partition in partitions if changed else ():
        context.store.dream_pass(partition, "").skip_dreamt(LISTENS)
    return list(totals.values())


def _plus(a: PassReport, b: PassReport) -> PassReport:
    sums = (a.read + b.read, a.wrote + b.wrote, a.removed + b.removed, a.seconds + b.seconds)
    return PassReport(a.name, *sums, a.changes + b.changes, a.problems + b.problems)


def _update_mirrors(context: DreamContext, partitions: Sequence[Scope], dry_run: bool) -> list[PassReport]:
    """Updates the mirrors of the users of these partitions. Returns one report; [] if there are no mirrors."""
    start = time.perf_counter()
    users = dict.fromkeys(replace(partition, teams=(), share=None) for partition in partitions) if context.home else {}
    done = [
        sync_registered(context.store, scope, context.home, context.progress, dry_run=dry_run)
        for scope in users
        if context.home
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


_guard = threading.Lock()
_before: list[tuple[int, int, int]] = []


@contextmanager
def fewer_collections() -> Iterator[None]:
    """Makes Python collect garbage less often inside the `with` block; if blocks overlap, until the last one ends."""
    with _guard:
        _before.append(gc.get_threshold())
        gc.set_threshold(max(THRESHOLD, _before[0][0]) if _before[0][0] else 0, *_before[0][1:])
    try:
        yield
    finally:
        with _guard:
            first = _before[0]
            _before.pop()
            if not _before:
                gc.set_threshold(*first)


# --- dreaming at intervals


class Stop(Protocol):
    """The methods of `threading.Event` that are used here."""

    def is_set(self) -> bool: ...
    def wait(self, timeout: float) -> bool: ...


def repeat(once: Callable[[], None], seconds: float, stop: Stop, clock: Callable[[], float] = time.monotonic) -> None:
    """Calls `once` every `seconds` until `stop` is set.

    A call that takes longer is followed by the next immediately. Calls never overlap.
    """
    while not stop.is_set():
        due = clock() + seconds
        once()
        stop.wait(max(0.0, due - clock()))
