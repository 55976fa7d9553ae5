"""Forgetting: a memory goes with what was there because of it, at once; then what mirrors show of it goes.

What is named goes with its copies. Of a file goes all that it says, with copies elsewhere, but a file shares words with
others that it does not tell: its headings, and what many others say too. Those go where they stand in the file and stay
elsewhere.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cuetrail.dream.invalidate import untell
from cuetrail.embed.vectors import Vectors
from cuetrail.errors import MirrorError
from cuetrail.mirror import sync_registered
from cuetrail.model import Node, Scope
from cuetrail.recall.anchor.names import unread
from cuetrail.store.ports import Store
from cuetrail.store.read import own_nodes
from cuetrail.store.shared.tombstones import said_by
from cuetrail.store.write import Batch, Progress
from cuetrail.write.fact_transfer import outlive_forgotten
from cuetrail.write.links import Change, resolve
from cuetrail.write.near_duplicates import regroup

COMMON = 3
"""What so many other files say too is boilerplate. Copies, which say most of what the file does, do not count."""


@dataclass(frozen=True, slots=True)
class Doomed:
    """What a forgetting takes: the nodes that were meant, and their copies.

    `unsaid` are ids of nodes that go without their words being forgotten; of these `common` are what many others say.
    Of `subjects`, which were named themselves, all that anyone stated goes; of other notes what their files say.
    """

    meant: tuple[Node, ...]
    copies: tuple[Node, ...] = ()
    common: tuple[Node, ...] = ()
    unsaid: frozenset[str] = frozenset()
    subjects: frozenset[str] = frozenset()

    @property
    def ids(self) -> list[str]:
        return list(dict.fromkeys(node.id for node in (*self.meant, *self.copies)))


def doom(store: Store, scope: Scope, named: Sequence[Node], of_file: Sequence[Node]) -> Doomed:
    """What goes with nodes that were named and with those of a file."""
    chosen = {node.id for node in named}
    rest = [node for node in of_file if node.id not in chosen]
    telling = [node for node in rest if node.text and not is_heading(node)]
    found = store.copies(scope, [*named, *telling])
    meant = chosen | {node.id for node in rest}
    found = [node for node in found if node.id not in meant]
    common = _common(telling, found) - {said_by(node) for node in named}
    unsaid = {node.id for node in rest if is_heading(node) or (node.text and said_by(node) in common)}
    return Doomed(
        (*named, *rest),
        tuple(node for node in found if said_by(node) not in common),
        tuple({said_by(node): node for node in telling if said_by(node) in common}.values()),
        frozenset(unsaid),
    )


def is_heading(node: Node) -> bool:
    """Whether a node of a file is its title or a heading: it says what something is about, not what is so."""
    return node.kind == "source" or "level" in node.props


def _common(telling: Sequence[Node], copies: Sequence[Node]) -> set[str]:
    """Of what a file tells the words that many others tell too."""
    own = {said_by(node) for node in telling}
    where: dict[str, set[str | None]] = defaultdict(set)
    for node in copies:
        if said_by(node) in own:
            where[said_by(node)].add(node.source)
    shared = Counter(source for sources in where.values() for source in sources)
    twins = {source for source, number in shared.items() if 2 * number > len(own)}
    return {words for words, sources in where.items() if len(sources - twins) >= COMMON}


def forget(
    vectors: Vectors,
    scope: Scope,
    doomed: Doomed,
    now: int,
    memory: Path,
    purge: bool,
    progress: Progress | None,
) -> list[str]:
    """Remove these nodes of the user's for good; the ids that were there."""
    store, ids, unsaid = vectors.store, doomed.ids, doomed.unsaid
    homes = own_nodes(store, scope, ids)
    for place, leaving in homes.items():
        batch = outlive_forgotten(store, place, [node for node in leaving if node.id not in doomed.subjects], now)
        if batch.heirs:
            vectors.write(place, batch)
    along: dict[Scope, Batch] = {}
    for place, leaving in homes.items():
        batch = Batch()
        regroup(store, place, batch, leaving=leaving)
        resolve(store, place, Change(leaving=[node.id for node in leaving]), batch, now)
        untell(store, place, batch, leaving)
        if batch != Batch():
            along[place] = batch
    gone = vectors.written(along.values(), lambda: store.forget(scope, ids, now, purge, progress, along, unsaid))
    unread()
    followed = sync_registered(store, scope, memory, teams={place.share for place in homes if place.share})
    if followed.problems:
        raise MirrorError(f"it is forgotten, but a mirror may still show it. {'. '.join(followed.problems)}")
    return gone
