"""Confirms facts that are used often, and retracts those whose score is too low.

A staged fact that was used three times is confirmed. A fact whose score falls below 0.2 is retracted, unless it is
confirmed and was used at least five times. Retracted facts remain as history, so `as_of` still finds them.
"""

from __future__ import annotations

from cuetrail.dream.context import BATCH, DreamContext, Work
from cuetrail.formulas import WEEK, fact_score
from cuetrail.model import Fact, PassReport
from cuetrail.store.dream import Writes
from cuetrail.store.shared.fact_fields import until
from cuetrail.store.write import Verdict

USES_TO_CONFIRM = 3
USES_TO_STAY = 5
LEAST_FACT_SCORE = 0.2


def facts(context: DreamContext) -> PassReport:
    """Confirms facts that were used often and retracts those whose score is too low. Facts used within a week are
    retracted only if their confidence is that low.
    """
    work, after = Work(context, "facts"), ""
    while some := work.memory.ageing_facts(context.now - WEEK, after, BATCH):
        after = some[-1].id
        verdicts = [verdict for fact in some if (verdict := judge(fact, context.now)) is not None]
        work.read += len(verdicts)
        if verdicts:
            writes = Writes()
            writes.batch.verdicts = verdicts
            work.save(writes)
    return work.report(step=True)


def judge(fact: Fact, now: int) -> Verdict | None:
    """Returns the confirmation or retraction of an active fact, None if it stays as it is. A fact that has ended never
    changes.
    """
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
