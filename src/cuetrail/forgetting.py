"""Forgetting: what goes with a memory goes first, then the memory itself, then what mirrors show of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from cuetrail.errors import MirrorError
from cuetrail.ingest.linking import Change, resolve
from cuetrail.ingest.near import regroup
from cuetrail.mirror import follow
from cuetrail.model import Scope
from cuetrail.store.base import Batch, Progress, Store, Written

Write = Callable[[Batch, Scope], Written]


def forget(
    store: Store,
    scope: Scope,
    write: Write,
    doomed: Sequence[str],
    now: int,
    memory: Path,
    purge: bool,
    progress: Progress | None,
) -> list[str]:
    """Remove these nodes of the user's for good; the ids that were there."""
    # First, so that what goes with them, such as the entity of a name only they shared, is erased with them.
    homes = store.homes(scope, doomed)
    teams = {place.share for place in homes if place.share}
    for place, leaving in homes.items():
        batch = Batch()
        regroup(store, place, batch, leaving=leaving)
        resolve(store, place, Change(leaving=[node.id for node in leaving]), batch, now)
        if batch != Batch():
            write(batch, place)
    gone = store.forget(scope, list(dict.fromkeys(doomed)), now, purge, progress)
    followed = follow(store, scope, memory, teams=teams)
    if followed.problems:
        raise MirrorError(f"it is forgotten, but a mirror may still show it. {'. '.join(followed.problems)}")
    return gone
