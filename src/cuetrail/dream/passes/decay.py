"""Ageing: unused memories lose salience, expired notes are removed, facts are confirmed or retracted by their use.

The rules for memories are in `lifecycle`. Memories updated less than an hour ago are left for a later dream, so that a
dream right after another has nothing to do. Decay depends on the time alone, so nothing is lost by waiting.

A staged fact that was used three times is confirmed. A fact whose score falls below 0.2 is retracted, unless it is
confirmed and was used at least five times. Retracted facts remain as history, so `as_of` still finds them.
"""

from __future__ import annotations

from cuetrail.dream.context import BATCH, DreamContext, Work
from cuetrail.formulas import WEEK, fact_score
from cuetrail.model import Fact, PassReport
from cuetrail.model.lifecycle import decayed
from cuetrail.store.dream import Writes
from cuetrail.store.shared.fact_validity import until
from cuetrail.store.write import Verdict

HOUR = 3_600_000
USES_TO_CONFIRM = 3
USES_TO_STAY = 5
LEAST_FACT_SCORE = 0.2


def decay(context: DreamContext) -> PassReport:
    """Lets the salience of memories decay, and archives those that fall below the threshold."""
    work, after = Work(context, "decay"), -1
    while some := work.memory.used(context.now - HOUR, after, BATCH):
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
    while ids := work.memory.expired_notes(context.now, BATCH):
        writes = Writes()
        writes.batch.remove_notes = ids
        work.read += len(ids)
        work.save(writes)
    work.step(work.read, work.read)
    return work.report()


def facts(context: DreamContext) -> PassReport:
    """Promotes and retracts the facts of a partition. Skips facts that are certain or were used within a week."""
    work, after = Work(context, "facts"), ""
    while some := work.memory.ageing_facts(context.now - WEEK, after, BATCH):
        after = some[-1].id
        verdicts = [verdict for fact in some if (verdict := judge(fact, context.now)) is not None]
        work.read += len(verdicts)
        if verdicts:
            writes = Writes()
            writes.batch.verdicts = verdicts
            work.save(writes)
    work.step(work.read, work.read)
    return work.report()


def judge(fact: Fact, now: int) -> Verdict | None:
    """Returns the new status of an active fact, or None if it stays the same. A fact that has ended never changes."""
    if until(fact) <= now:
        return None
    age = now - (fact.created if fact.last_accessed is None else fact.last_accessed)
    stays = fact.status == "confirmed" and fact.access_count >= USES_TO_STAY
    score = fact_score(fact.confidence, fact.source, age, fact.access_count, confirmed=False)
    if score < LEAST_FACT_SCORE and not stays:
        return Verdict(fact.id, "retracted", now, "topic")
    if fact.status == "staged" and fact.access_count >= USES_TO_CONFIRM:
        return Verdict(fact.id, "confirmed", now)
    return None
