"""Forgetting: a memory goes with what was there because of it, at once; then what mirrors show of it goes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cuetrail.errors import MirrorError
from cuetrail.ingest.linking import Change, resolve
from cuetrail.ingest.near import regroup
from cuetrail.mirror import follow
from cuetrail.model import Scope
from cuetrail.store.base import Batch, Progress
from cuetrail.vectors import Vectors


def forget(
    vectors: Vectors,
    scope: Scope,
    doomed: Sequence[str],
    now: int,
    memory: Path,
    purge: bool,
    progress: Progress | None,
) -> list[str]:
    """Remove these nodes of the user's for good; the ids that were there."""
    store = vectors.store
    homes = store.homes(scope, doomed)
    along: dict[Scope, Batch] = {}
    for place, leaving in homes.items():
        batch = Batch()
        regroup(store, place, batch, leaving=leaving)
        resolve(store, place, Change(leaving=[node.id for node in leaving]), batch, now)
        if batch != Batch():
            along[place] = batch
    ids = list(dict.fromkeys(doomed))
    gone = vectors.written(along.values(), lambda: store.forget(scope, ids, now, purge, progress, along))
    followed = follow(store, scope, memory, teams={place.share for place in homes if place.share})
    if followed.problems:
        raise MirrorError(f"it is forgotten, but a mirror may still show it. {'. '.join(followed.problems)}")
    return gone
