"""Decay: memories that are not used lose salience, and are archived in the end.

Memories updated less than an hour ago are left for a later dream, so that a
dream right after another has nothing to do. Decay depends on the time alone, so nothing is lost by waiting.
"""

from __future__ import annotations

import math
from dataclasses import replace

from cuetrail.dream.context import BATCH, DreamContext, Work
from cuetrail.formulas import DAY, HOUR
from cuetrail.model import Life, PassReport
from cuetrail.model.records import SEMANTIC_KINDS
from cuetrail.store.dream import Writes

RATE = 0.02
# An unused memory decays only if its confidence is lower than this.
CERTAIN = 0.8
ARCHIVED_BELOW = 0.01
# Lower salience counts as 0, so that such memories need no further writes.
NOTHING = 1e-6
EPISODIC_DAYS, SEMANTIC_DAYS = 30, 90


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
    return work.report(step=True)


def decayed(life: Life, kind: str, created: int, now: int) -> Life:
    """Returns the life (salience, state and so on) of a memory after decay up to `now`.

    `keep_forever` does not decay. `ephemeral` is archived after a fixed number of days.

    >>> used = Life(salience=0.575, state="active", accesses=1, last_access=0)
    >>> round(decayed(used, "person", 0, 35 * DAY).salience, 6)
    0.405196
    >>> decayed(used, "person", 0, 500 * DAY).state, decayed(Life(), "atom", 0, 500 * DAY) == Life()
    ('archived', True)
    >>> brief = Life(retention="ephemeral")
    >>> [decayed(brief, kind, 0, 31 * DAY).state for kind in ("source", "person")]
    ['archived', 'candidate']
    """
    if life.retention == "keep_forever":
        return life if life.salience == 1.0 else replace(life, salience=1.0)
    start = max((time for time in (life.last_access, life.last_decay) if time is not None), default=created)
    rate = decay_rate(life.accesses, life.gradient, _is_candidate(life), life.confidence)
    left = life
    if rate and now > start and life.salience > 0:
        salience = life.salience * math.exp(-rate * (now - start) / DAY)
        left = replace(life, salience=salience if salience >= NOTHING else 0.0, last_decay=now)
    span = (SEMANTIC_DAYS if kind in SEMANTIC_KINDS else EPISODIC_DAYS) * DAY
    over = life.retention == "ephemeral" and now - created > span
    return replace(left, state="archived") if over or left.salience < ARCHIVED_BELOW else left


def decay_rate(recalls: int, gradient: float, candidate: bool = False, confidence: float = 1.0) -> float:
    """Returns the rate of exponential decay of salience per day. It is lower the more often a memory was recalled; a
    higher `gradient` lowers it more from the second recall on.

    A candidate, that is a memory that was never used, decays up to three times as fast, the less certain the faster;
    with a confidence of at least CERTAIN it does not decay.

    >>> decay_rate(0, 1.0), decay_rate(1, 1.0), decay_rate(3, 2.0)
    (0.02, 0.01, 0.002)
    >>> decay_rate(0, 1.0, candidate=True, confidence=0.5), decay_rate(0, 1.0, candidate=True, confidence=0.8)
    (0.04, 0.0)
    """
    if candidate and confidence >= CERTAIN:
        return 0.0
    rate = RATE / (1 + math.pow(recalls, gradient))
    return rate * (1 + 2 * (1 - confidence)) if candidate else rate


def _is_candidate(life: Life) -> bool:
    """True if the memory was never used. An archived candidate still decays like a candidate."""
    return life.state == "candidate" or (life.state == "archived" and life.accesses == 0)
