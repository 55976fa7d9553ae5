"""Copies a whole memory to another engine: all partitions, with vectors, history, tombstones and settings."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

from cuetrail.errors import CuetrailError, InputError
from cuetrail.model import Edge, Fact, Link, Mention, Node, Note, Scope, SourceFile, Tombstone, Version
from cuetrail.store.dream import Book, Entry, Writes
from cuetrail.store.ports import Store
from cuetrail.store.read import Record
from cuetrail.store.upkeep import WholeMemoryView
from cuetrail.store.vector_space import NO_VECTORS, VectorKind, vector_kind
from cuetrail.store.write import Batch, Progress

SIZE = 2_000
# The nodes of all users go first, then all edges, because later records may refer to those of a teammate. Tombstones go
# last: they do not affect nodes that are stored already.
_ORDER: tuple[tuple[type[Any], ...], ...] = (
    (Node,),
    (SourceFile, Version, Edge),
    (Fact, Note, Mention, Link),
    (Tombstone,),
)
_LISTS = {
    Node: "nodes", Edge: "edges", Fact: "facts", Note: "notes", Mention: "mentions", Link: "links",
    SourceFile: "sources", Version: "versions", Tombstone: "tombstones",
}  # fmt: skip


# A failed copy cannot be resumed, because the source may have changed.
GO_ON = (
    "The copy is not whole: remove the folder it was made in, or on a server all nodes whose labels begin with Cue "
    "(MATCH (n) WHERE any(l IN labels(n) WHERE l STARTS WITH 'Cue') DETACH DELETE n), and copy again"
)


def copy(source: Store, target: Store, progress: Progress | None = None) -> int:
    """Copies everything to an empty memory; returns the number of records. Raises InputError if the target is not
    empty.

    The copy is one consistent view, while others go on writing. The ledger of dreams is not copied: the next dream in
    the copy reads everything, and registers the tags, edges and nodes that earlier dreams made.
    """
    if target.partitions(None):
        raise InputError("the memory to copy to is not empty: name another, or one that is new")
    try:
        with source.whole_view() as view:
            return _copy(view, target, progress)
    except CuetrailError as error:
        raise type(error)(f"{error}. {GO_ON}") from error


def _copy(view: WholeMemoryView, target: Store, progress: Progress | None) -> int:
    space = view.space
    if space is not None:
        target.vector_spaces().start(space)
    done = 0
    partitions = list(view.roots)
    for kinds in _ORDER:
        for user in users_of(partitions):
            for team, batch in _batches(view, user, kinds):
                partition = replace(user, share=team)
                if space not in (None, NO_VECTORS):
                    _take_vectors(view, partition, batch)
                target.write(partition, batch)
                done += sum(len(getattr(batch, name)) for name in _LISTS.values())
                if progress:
                    progress("copying", done, 0)
    for partition in partitions:
        target.write(partition, Batch(roots=view.roots[partition]))
        announce(target, partition)
    target.settings.update(view.settings)
    return done


def _take_vectors(view: WholeMemoryView, partition: Scope, batch: Batch) -> None:
    ids: dict[VectorKind, list[str]] = {}
    records: list[Record] = [*batch.nodes, *batch.edges, *batch.notes]
    for record in records:
        if (meaning := vector_kind(record)) is not None:
            ids.setdefault(meaning[0], []).append(meaning[1])
    for what, some in ids.items():
        batch.vectors_of(what).update(view.vectors(partition, some, what))


def users_of(partitions: list[Scope]) -> list[Scope]:
    """Returns one scope per user with all teams of the tenant, in which ids of others' records contain their owner."""
    teams: dict[str, set[str]] = {}
    for partition in partitions:
        teams.setdefault(partition.tenant, set()).update(partition.teams)
    who = dict.fromkeys((partition.tenant, partition.user) for partition in partitions)
    return [Scope(tenant, user, tuple(sorted(teams[tenant]))) for tenant, user in who]


def _batches(view: WholeMemoryView, user: Scope, kinds: tuple[type[Any], ...]) -> Iterator[tuple[str | None, Batch]]:
    """Yields a user's records of these kinds in batches, each with the team of its partition (None: private)."""
    records = ((team, record) for team, record in view.scan(user) if isinstance(record, kinds))
    while some := list(islice(records, SIZE)):
        by_team: dict[str | None, Batch] = {}
        for team, record in some:
            batch = by_team.setdefault(team, Batch())
            list_of(batch, record).append(record)
        yield from by_team.items()


def list_of(batch: Batch, record: Record) -> list[Any]:
    """Returns the list of the batch that has records of this record's type, such as `batch.nodes`."""
    found: list[Any] = getattr(batch, _LISTS[type(record)])
    return found


def announce(store: Store, partition: Scope) -> None:
    """Notes, for the next dream to register them, that a partition got records that dreams made in another memory."""
    # An empty write creates the partition if it is new.
    store.write(partition, Batch())
    store.dream_pass(partition, "").save(Writes(put=[(Book.IMPORTED, Entry(random.getrandbits(62)))]))
