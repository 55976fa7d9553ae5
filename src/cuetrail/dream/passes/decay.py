"""What time does: memories that nobody uses lose salience, and notes whose time is over go.

The rules are in `lifecycle`. What was settled less than an hour ago is left for a later dream: fading depends on the
time alone, so nothing is lost by that, and a dream that follows another at once has nothing to do.
"""

from __future__ import annotations

from cuetrail.dream.context import BATCH, DreamContext, Work
from cuetrail.model import PassReport
from cuetrail.model.lifecycle import decayed
from cuetrail.store.dream import Writes

HOUR = 3_600_000


def decay(context: DreamContext) -> PassReport:
    """Let every life fade to what is left of it now. What falls below the least goes into the archive."""
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
    """Remove the notes whose time is over."""
    work = Work(context, "note_expiry")
    while ids := work.memory.expired(context.now, BATCH):
        writes = Writes()
        writes.batch.remove_notes = ids
        work.read += len(ids)
        work.save(writes)
    work.step(work.read, work.read)
    return work.report()
