"""Rules by which use strengthens a memory and time weakens it. Pure functions from one `Life` to the next.

Decay depends on the time alone: ten dreams a day apart and one dream after ten days give the same result.
"""

from __future__ import annotations

import math
from dataclasses import replace

from cuetrail.formulas import DAY
from cuetrail.model import NEW_LIFE, Life, State

SEMANTIC_KINDS = ("person", "concept", "entity")
"""The kinds of nodes that represent people and things. All other kinds record what happened."""

BOOST = 0.075
CORE_FROM = 10
RATE = 0.02
# An unused memory decays only if its confidence is lower than this.
CERTAIN = 0.8
GRADIENTS = (0.5, 3.0)
LONGER, SHORTER = 0.1, -0.05
ARCHIVED_BELOW = 0.01
# Lower salience counts as 0, so that such memories need no further writes.
NOTHING = 1e-6
EPISODIC_DAYS, SEMANTIC_DAYS = 30, 90


def decay_rate(recalls: int, gradient: float, candidate: bool = False, confidence: float = 1.0) -> float:
    """Returns the share of its salience a memory loses per day. It is lower the more often it was recalled.

    >>> decay_rate(0, 1.0), decay_rate(1, 1.0), decay_rate(3, 2.0)
    (0.02, 0.01, 0.002)
    >>> decay_rate(0, 1.0, candidate=True, confidence=0.5), decay_rate(0, 1.0, candidate=True, confidence=0.8)
    (0.04, 0.0)
    """
    if candidate and confidence >= CERTAIN:
        return 0.0
    rate = RATE / (1 + math.pow(recalls, gradient))
    return rate * (1 + 2 * (1 - confidence)) if candidate else rate


def accessed(life: Life, now: int) -> Life:
    """Returns a life after one more access: more salience, a higher state, and a gradient that follows the interval.

    The gradient grows if the interval since the last access is longer than the one before, and shrinks if shorter.

    >>> once = accessed(Life(), 0)
    >>> once.salience, once.state, once.accesses, accessed(Life(salience=0.95), 0).salience
    (0.575, 'active', 1, 1.0)
    >>> accessed(Life(accesses=9, state="active"), 0).state, accessed(Life(accesses=3, state="archived"), 0).state
    ('core', 'active')
    >>> longer = accessed(Life(accesses=2, last_access=10, interval=5), 20)
    >>> longer.gradient, longer.interval, accessed(longer, 22).gradient
    (1.1, 10, 1.05)
    """
    accesses = life.accesses + 1
    interval = None if life.last_access is None else max(now - life.last_access, 0)
    gradient = life.gradient
    if interval is not None and life.interval is not None and interval != life.interval:
        gradient = round(gradient + (LONGER if interval > life.interval else SHORTER), 9)
        gradient = min(max(gradient, GRADIENTS[0]), GRADIENTS[1])
    state: State = "core" if accesses >= CORE_FROM or life.state == "core" else "active"
    return replace(
        life,
        salience=min(round(life.salience + BOOST, 12), 1.0),
        state="active" if life.state == "archived" else state,
        accesses=accesses,
        last_access=now if life.last_access is None else max(now, life.last_access),
        interval=interval,
        gradient=gradient,
    )


def restated(life: Life, was: Life) -> Life:
    """Returns the life of a node that is written again with another life: stated values win, usage counts are kept.

    >>> used = Life(0.65, "active", accesses=2, last_access=7)
    >>> restated(Life(), used) == used, restated(Life(accesses=1), used) == Life(accesses=1)
    (True, True)
    >>> forever = restated(Life(1.0, retention="keep_forever"), used)
    >>> forever.salience, forever.state, forever.accesses, forever.retention
    (1.0, 'active', 2, 'keep_forever')
    """
    if life == NEW_LIFE:
        return was
    if not was.accesses or life != Life(life.salience, confidence=life.confidence, retention=life.retention):
        return life
    salience = life.salience if life.retention == "keep_forever" else was.salience
    state: State = "active" if was.state == "archived" else was.state
    return replace(was, salience=salience, state=state, confidence=life.confidence, retention=life.retention)


def decayed(life: Life, kind: str, created: int, now: int) -> Life:
    """Returns the life after decay up to `now`.

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


def _is_candidate(life: Life) -> bool:
    """True if the memory was never used. An archived candidate still decays like a candidate."""
    return life.state == "candidate" or (life.state == "archived" and life.accesses == 0)
