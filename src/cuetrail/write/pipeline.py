"""READ FIRST. What happens when something is written: one function, `write`, which every verb that writes goes through.

`add`, `add_many`, `edit`, `link`, `note`, `relate`, `fact`, `ingest`, `import_` and their kin make a batch of valid
records and call it. Only forgetting has a path of its own, because it must reach every partition at once; see `forget`.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

from cuetrail.errors import Forgotten
from cuetrail.extract.fact_reader import FactReader, by_rules
from cuetrail.mirror import sync_registered
from cuetrail.model import Node, Scope
from cuetrail.session import Session
from cuetrail.store.read import forgotten_ids
from cuetrail.store.write import Batch, Progress, Written
from cuetrail.write.fact_extraction import extract_facts
from cuetrail.write.fact_transfer import keep_facts_of_removed_notes, take_over_facts
from cuetrail.write.links import NO_LINK_CHANGE, LinkChange, resolve_links

log = logging.getLogger("cuetrail")


def write(
    session: Session,
    batch: Batch,
    now: int,
    *,
    scope: Scope | None = None,
    links: LinkChange = NO_LINK_CHANGE,
    refuse_forgotten: bool = False,
    take_over: bool = False,
    read_facts: bool = False,
) -> Written:
    """Writes a batch in one transaction, into the partition of `scope` (the session's, unless given). In this order:

    1. Validate. Done before: `validation.records` made the records of the batch, or a reader of files did.
    2. Check tombstones. With `refuse_forgotten`, raises Forgotten if any part of the nodes was forgotten. Otherwise
       the transaction leaves forgotten nodes and sentences out, and the result names them (`forgotten`, `cut`).
    3. Transfer facts. With `take_over`, arriving nodes get the facts of entities that a rule made of their names.
    4. Resolve links. Names and wikilinks that `links` says have changed become edges, or stop being edges.
    5. Extract facts. With `read_facts` (files), facts about removed notes stay, the rules read the facts that the new
       texts state, and facts whose texts are removed are retracted.
    6. Embed. The embedder makes the missing vectors of nodes, relationships and notes; if it fails, the batch is
       written without them, and `reembed` makes them later.
    7. Store. The engine matches tombstones again, writes the records, fits facts into their timelines and logs the
       change, all in one transaction; see `store.shared`. A language model reads facts after it, in a second one.

    Indexes follow at the next search that needs them, or at `follow_up`, which also updates mirrors. Caches compare
    the version of the memory at each read, so nothing has to clear them.
    """
    store, scope = session.store, scope or session.scope
    if not batch.allow_again:
        if refuse_forgotten:
            _refuse_forgotten(session, scope, batch.nodes)
        elif take_over and links.arriving:
            links = replace(links, arriving=_not_forgotten(session, scope, links.arriving))
    if take_over and links.arriving:
        take_over_facts(store, scope, batch, links.arriving)
        links = replace(links, leaving=[*links.leaving, *batch.successors])
    resolve_links(store, scope, links, batch, now)
    removed = [*batch.remove_nodes, *batch.successors]
    if read_facts:
        keep_facts_of_removed_notes(store, scope, batch, now)
        if session.extractor is by_rules:
            extract_facts(store, scope, batch, removed, by_rules, now)
    written = session.vectors.write(scope, batch)
    if refuse_forgotten and written.forgotten:
        raise _forgotten()
    if read_facts and session.extractor not in (None, by_rules):
        new = [node for node in batch.nodes if node.id not in written.forgotten]
        _extract_with_model(session, scope, session.extractor, new, removed, now)
    return written


def _refuse_forgotten(session: Session, scope: Scope, nodes: Sequence[Node]) -> None:
    """Raises Forgotten if any of the nodes, or a sentence of one, was forgotten."""
    for remaining in session.store.redacted_texts(scope, nodes).values():
        if not remaining:
            raise _forgotten()
        raise Forgotten(
            "a part of this was forgotten and stays so: leave that out, or pass allow_again=True (--allow-again)"
        )


def _forgotten() -> Forgotten:
    return Forgotten("this was forgotten and stays so: pass allow_again=True (--allow-again) to remember it anew")


def _not_forgotten(session: Session, scope: Scope, nodes: Sequence[Node]) -> list[Node]:
    """Returns the nodes without those that a tombstone keeps out: they must not take over links and facts."""
    kept_out = forgotten_ids(session.store, scope, nodes)
    return [node for node in nodes if node.id not in kept_out]


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
    """Brings indexes and mirrors up to date after files were taken in. Returns the notices, and any new ones."""
    session.store.refresh(progress)
    followed = sync_registered(session.store, session.scope, session.home, progress)
    return session.with_notice((*notices, *followed.problems, *followed.ended))
