"""Removes notes whose time has expired."""

from __future__ import annotations

from cuetrail.dream.context import BATCH, DreamContext, Work
from cuetrail.model import PassReport
from cuetrail.store.dream import Writes


def note_expiry(context: DreamContext) -> PassReport:
    """Removes expired notes."""
    work = Work(context, "note_expiry")
    while ids := work.memory.expired_notes(context.now, BATCH):
        writes = Writes()
        writes.batch.remove_notes = ids
        work.read += len(ids)
        work.save(writes)
    return work.report(step=True)
