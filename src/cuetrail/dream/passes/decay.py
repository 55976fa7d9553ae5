"""Lets unused memories lose salience, and removes expired notes.

The rules are in `lifecycle`. Memories updated less than an hour ago are left for a later dream, so that a dream right
after another has nothing to do. Decay depends on the time alone, so nothing is lost by waiting.
"""

from __future__ import annotations

from cuetrail.dream.context import BATCH, DreamContext, Work
from cuetrail.model import PassReport
from cuetrail.model.lifecycle import decayed
from cuetrail.store.dream import Writes

HOUR = 3_600_000


def decay(context: DreamContext) -> PassReport:
    """Lets the salience of memories decay, and archives those that fall below the threshold."""
    work, after = Work(context, "decay"), -1
    while some := work.memory.lives(context.now - HOUR, after, BATCH):
        after = some[-1].key
        pairs = [(one, decayed(one.life, one.kind, one.created, context.now)) for one in some]
        changed = [(one, life) for one, life in pairs if life != one.life]
        work.read += len(changed)
        if changed:
            work.save(Writes(lives=changed))
    work.step(work.read, work.read)
    return work.report()


def note_expiry(context: DreamContext) -> PassReport:
    """Removes expired notes."""
    work = Work(context, "note_expiry")
    while ids := work.memory.expired(context.now, BATCH):
        writes = Writes()
        writes.batch.remove_notes = ids
        work.read += len(ids)
        work.save(writes)
    work.step(work.read, work.read)
    return work.report()
