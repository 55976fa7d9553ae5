"""Salience grows with use: the salience, state and gradient after an access. The dream pass `decay` lowers it."""

from __future__ import annotations

from dataclasses import replace

from cuetrail.model.records import NEW_LIFE, Life, State

BOOST = 0.075
CORE_FROM = 10
GRADIENTS = (0.5, 3.0)
LONGER, SHORTER = 0.1, -0.05


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
    """Returns the life of a stored node (`was`) that is written again with `life`.

    A default `life` keeps the stored one. If the node was used, a `life` with only salience, confidence or retention
    sets these and keeps the counts of use; the salience counts only with keep_forever, and an archived node becomes
    active. Any other `life`, and any of a node that was never used, replaces the stored one.

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
