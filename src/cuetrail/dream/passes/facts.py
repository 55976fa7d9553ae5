"""Promotes facts that are used and retracts facts that no longer matter.

A staged fact that was used three times is confirmed. A fact whose score falls below 0.2 is retracted, unless it is
confirmed and was used at least five times. Retracted facts remain as history, so `as_of` still finds them.
"""

from __future__ import annotations

from cuetrail.dream.context import BATCH, DreamContext, Work
from cuetrail.formulas import WEEK, fact_score
from cuetrail.model import Fact, PassReport
from cuetrail.store.dream import Writes
from cuetrail.store.shared.fact_validity import until
from cuetrail.store.write import Verdict

PROMOTED_FROM = 3
KEPT_FROM = 5
LEAST = 0.2


def facts(context: DreamContext) -> PassReport:
    """Promotes and retracts the facts of a partition. Skips facts that are certain or were used within a week."""
    work, after = Work(context, "facts"), ""
    while some := work.memory.ageing(context.now - WEEK, after, BATCH):
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
    kept = fact.status == "confirmed" and fact.access_count >= KEPT_FROM
    if not kept and fact_score(fact.confidence, fact.source, age, fact.access_count, confirmed=False) < LEAST:
        return Verdict(fact.id, "retracted", now, "topic")
    if fact.status == "staged" and fact.access_count >= PROMOTED_FROM:
        return Verdict(fact.id, "confirmed", now)
    return None
