"""READ FIRST. What happens when something is written: one function, `write`, which the verbs go through.

`add`, `add_many`, `edit`, `link`, `note`, `relate`, `fact`, `ingest`, `import_` and their kin make a batch of valid
records and call it. Forgetting has a path of its own, because it must reach every partition at once (`forget`); dreams
save through `store.dream.DreamPass`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from cuetrail.embed.vectors import unit_blobs
from cuetrail.extract.facts_by_rules import FactReader, by_rules
from cuetrail.facts.resolve_entity import is_shared_name
from cuetrail.mirror import sync_registered
from cuetrail.model import Node, Scope
from cuetrail.session import Session
from cuetrail.store.read import forgotten_ids
from cuetrail.store.shared.ids import own_nodes
from cuetrail.store.write import Batch, Progress, Written
from cuetrail.validation.records import make_node, make_nodes, make_vector
from cuetrail.write.links import NO_LINK_CHANGE, LinkChange, resolve_links
from cuetrail.write.stated_facts import extract_facts, keep_facts_of_removed_notes, take_over_facts

log = logging.getLogger("cuetrail")

NODES_PER_WRITE = 16_000
"""The nodes in one transaction. More write each page of the index of ids less often, fewer let other writers in."""


def write(
    session: Session, batch: Batch, now: int, *, scope: Scope | None = None, links: LinkChange = NO_LINK_CHANGE,
    take_over: bool = False, read_facts: bool = False,
) -> Written:  # fmt: skip
    """Writes a batch in one transaction, into the partition of `scope` (the session's, unless given). In this order:

    1. Validate. Done before: `validation.records` made the records of the batch, or a reader of files did.
    2. Transfer facts. With `take_over`, arriving nodes get the facts of entities that a rule made of their names.
       Forgotten nodes take over neither facts nor links.
    3. Resolve links. Names and wikilinks that `links` says have changed become edges, or stop being edges.
    4. Extract facts. With `read_facts` (files), facts about removed notes stay, the rules read the facts that the new
       texts state, and facts whose texts are removed are retracted.
    5. Embed. The embedder makes the missing vectors of nodes, relationships and notes; if it fails, the batch is
       written without them, and `reembed` makes them later.
    6. Store. In one transaction the engine matches tombstones, writes the records, fits facts into their timelines and
       logs the change; see `store.shared`. If any part of the nodes was forgotten, a batch with `refuse_forgotten`
       raises Forgotten. Other batches are written without forgotten nodes and sentences, which the result names
       (`forgotten`, `cut`). A language model reads facts after that, in a second transaction.

    Indexes follow at the next search that needs them, or at `follow_up`, which also updates mirrors. Caches compare
    the version of the memory at each read, so nothing has to clear them.
    """
    store, scope = session.store, scope or session.scope
    if take_over and links.arriving and not (batch.allow_again or batch.refuse_forgotten):
        forgotten = forgotten_ids(store, scope, links.arriving)
        links = replace(links, arriving=[node for node in links.arriving if node.id not in forgotten])
    if take_over and links.arriving:
        take_over_facts(store, scope, batch, links.arriving)
        links = replace(links, leaving=[*links.leaving, *batch.successors])
    if links.links or links.ended or links.arriving or links.leaving:
        resolve_links(store, scope, links, batch, now)
    removed = [*batch.remove_nodes, *batch.successors]
    if read_facts:
        keep_facts_of_removed_notes(store, scope, batch, now)
        if session.extractor is by_rules:
            extract_facts(store, scope, batch, removed, by_rules, now)
    written = session.vectors.write(scope, batch)
    if read_facts and session.extractor not in (None, by_rules):
        new = [node for node in batch.nodes if node.id not in written.forgotten]
        _extract_with_model(session, scope, session.extractor, new, removed, now)
    return written


def _extract_with_model(
    session: Session, scope: Scope, extractor: FactReader, new: list[Node], removed: Sequence[str], now: int
) -> None:
    """Writes the facts that a model reads from new texts. If the model fails, only its facts are missing."""
    later = Batch(nodes=list(new))
    try:
        extract_facts(session.store, scope, later, removed, extractor, now)
    except Exception as error:  # noqa: BLE001  # a function of the caller's may raise anything
        log.warning("no facts were read out of %d memories: %s", len(new), error)
        return
    written = {id(node) for node in new}
    later.nodes = [node for node in later.nodes if id(node) not in written]
    session.vectors.write(scope, later)


def follow_up(session: Session, notices: tuple[str, ...], progress: Progress | None) -> tuple[str, ...]:
    """Brings indexes and mirrors up to date after an ingest or import. Returns the notices, and any new ones."""
    session.store.refresh(progress)
    followed = sync_registered(session.store, session.scope, session.home, progress)
    return session.with_notice((*notices, *followed.problems, *followed.ended))


# --- nodes


def add(session: Session, given: Mapping[str, Any], allow_again: bool, now: int) -> Node:
    """Writes one node, made from the arguments of `Memory.add`, and returns it as stored. Raises InputError for invalid
    arguments, and Forgotten if it was forgotten before, unless `allow_again`.
    """
    node = make_node(given, now)
    batch = Batch(nodes=[node], allow_again=allow_again, refuse_forgotten=True)
    _use_vectors(session, batch, [(node, given["vector"])])
    _write_new(session, batch, now)
    # Another process may have forgotten it in the meantime; the node as it was written is returned then.
    return session.store.get(session.scope, [node.id]).get(node.id, replace(node, seq=max(node.seq, 0)))


def add_many(
    session: Session,
    items: Iterable[str | Mapping[str, Any] | Node],
    allow_again: bool,
    progress: Progress | None,
    now: int,
) -> Written:
    """Writes many nodes, in transactions of NODES_PER_WRITE, and returns what was written. Nodes that were forgotten
    are left out, unless `allow_again`.
    """
    nodes = make_nodes(items, now)
    total, done = Written(), 0
    with session.store.bulk():
        while some := list(islice(nodes, NODES_PER_WRITE)):
            batch = Batch(nodes=[node for node, _ in some], allow_again=allow_again)
            _use_vectors(session, batch, some)
            total = total.plus(_write_new(session, batch, now))
            done += len(some)
            if progress:
                progress("adding", done, 0)
    return total


def _use_vectors(session: Session, batch: Batch, nodes: Iterable[tuple[Node, Any]]) -> None:
    """Puts the vectors that callers gave into the batch, in place of the embedder's. Raises InputError if one does not
    fit the memory's vectors.
    """
    given = [(node.id, vector) for node, vector in nodes if vector is not None]
    if not given:
        return
    batch.space = session.vectors.own_space()
    numbers = [make_vector(vector, batch.space.dim) for _, vector in given]
    batch.vectors = dict(zip([id_ for id_, _ in given], unit_blobs(numbers), strict=True))


def _write_new(session: Session, batch: Batch, now: int) -> Written:
    named = [node for node in batch.nodes if node.name is not None or node.aliases]
    return write(session, batch, now, links=LinkChange(arriving=named), take_over=True)


def adopt(session: Session, ids: Iterable[str], now: int) -> list[Node]:
    """Removes the mark "made by a rule" from these nodes, so that no rule deletes them. Nodes without it are skipped.

    Nodes in the user's other partitions are written at once. Those in the session's partition are returned, to be
    written together with what the user states about them.
    """
    adopted = {
        partition: [
            replace(node, props={}) for node in nodes if is_shared_name(node) or node.props.get("found") == "fact"
        ]
        for partition, nodes in own_nodes(session.store, session.scope, list(ids)).items()
    }
    here = adopted.pop(session.scope, [])
    for partition, nodes in adopted.items():
        if nodes:
            write(session, Batch(nodes=nodes), now, scope=partition)
    return here
