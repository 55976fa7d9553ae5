"""The order of a write: what happens, step by step, when an engine stores a batch or forgets memories."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from cuetrail.errors import Forgotten, GhostWrite, NotFound
from cuetrail.model import STORYLINE_KINDS, Edge, Link, Mention, Node, Note, Version
from cuetrail.model.records import NEXT_IN_SOURCE
from cuetrail.model.salience import restated
from cuetrail.store.shared.fact_writes import (
    forget_extracted,
    judge_facts,
    put_facts,
    redeclare_predicates,
    refit_facts,
    remove_facts,
    state_facts,
)
from cuetrail.store.shared.ids import check_ids, plain
from cuetrail.store.shared.node_succession import find_successors, pass_facts, pass_on
from cuetrail.store.shared.redact_batch import match_fields, misnamed, redact_batch, redact_node
from cuetrail.store.shared.tombstones import add_tombstones, match, redact, remove_tombstones
from cuetrail.store.transaction import Handle, StoredNode, WriteTransaction
from cuetrail.store.vector_space import VectorKind
from cuetrail.store.write import Batch, Written


def write_batch(tx: WriteTransaction, batch: Batch) -> Written:
    """Carries out a batch inside a transaction and returns what it did. The caller then logs the changes and commits.

    Raises NotFound for a record about an unknown node, InputError for a malformed one, GhostWrite if a text cannot be
    read back, and Forgotten as `Batch.refuse_forgotten` says. The caller must then roll back.
    """
    removed = _remove(tx, batch)
    batch, nodes, forgotten, cut = _without_forgotten(tx, batch)
    removed += _remove_nodes(tx, list(tx.find_here(forgotten & batch.overwritten).values()))
    keys, added = _put_nodes(tx, nodes, batch.overwritten)
    edges = [edge for edge in batch.edges if forgotten.isdisjoint((edge.src, edge.dst))]
    _put_edges(tx, edges)
    put_facts(tx, [fact for fact in batch.facts if forgotten.isdisjoint((fact.subject, fact.object))])
    redeclare_predicates(tx, batch.declared)
    judge_facts(tx, batch.verdicts)
    state_facts(tx, batch.stated, forgotten)
    _put_notes(tx, [note for note in batch.notes if note.target not in forgotten])
    _put_mentions(tx, [one for one in batch.mentions if forgotten.isdisjoint((one.source, one.node))])
    _put_links(tx, [link for link in batch.links if link.src not in forgotten])
    _put_vectors(tx, batch, forgotten | cut)
    tx.sources.put(batch.sources)
    tx.sources.put_roots(batch.roots, batch.remove_roots)
    tx.tombstones.put(tx.partition, batch.tombstones)
    tx.history.put(batch.versions)
    _read_back(tx, {keys[node.id]: node.text for node in nodes})
    pass_facts(tx, find_successors(tx, batch.fact_successors))
    if batch.successors:
        pass_on(tx, batch.successors)
        removed += _remove_nodes(tx, list(tx.find_own(batch.successors).values()))
        # The file that the old nodes came from is empty only now.
        tx.sources.remove_empty([(tx.partition, path) for path in batch.remove_sources])
    return Written(added, len(nodes) - added, removed, len(edges), tuple(sorted(forgotten)), tuple(sorted(cut)))


def forget(
    tx: WriteTransaction, ids: Sequence[str], now: int, id_only: Collection[str] = (), shared: Collection[str] = ()
) -> list[str]:
    """Removes the user's own nodes with these ids for good and leaves tombstones; returns the ids that were found.

    Facts extracted from the nodes are removed too, and so are entities made for these facts alone. Nodes in `id_only`
    leave a tombstone of their id but none of their text, because other nodes have the same text. Paragraphs in `shared`
    leave none either.
    """
    found = tx.find_own(ids)
    # Two ids may mean one node: its plain id, and the one with its owner.
    keys = list(dict.fromkeys(found.values()))
    by_partition: dict[int, list[Node]] = {}
    for partition, node in tx.nodes.read(keys):
        by_partition.setdefault(partition, []).append(node)
    for partition, nodes in sorted(by_partition.items()):
        add_tombstones(tx, partition, nodes, now, {plain(id_) for id_ in id_only}, shared)
    sources = tx.sources.of_nodes(keys)
    _remove_nodes(tx, keys)
    _remove_nodes(tx, forget_extracted(tx, [plain(id_) for id_ in found]))
    # A file is known as long as something of it is stored. Files that were empty before stay known.
    tx.sources.remove_empty(sources)
    return list(found)


def _remove(tx: WriteTransaction, batch: Batch) -> int:
    """Removes the nodes, edges, notes and empty files that the batch lists for removal; returns the number of nodes."""
    removed = _remove_nodes(tx, list(dict.fromkeys(tx.find_own(batch.remove_nodes).values())))
    tx.edges.remove(list(dict.fromkeys(tx.find_own(batch.remove_edges, "edge").values())))
    tx.notes.remove(list(dict.fromkeys(tx.find_own(batch.remove_notes, "note").values())))
    removed += _remove_nodes(tx, remove_facts(tx, batch.remove_facts) if batch.remove_facts else [])
    tx.history.drop(batch.remove_versions)
    tx.sources.remove_empty([(tx.partition, path) for path in batch.remove_sources])
    return removed


def _remove_nodes(tx: WriteTransaction, keys: Sequence[int]) -> int:
    """Removes nodes with all records about them, also those of teammates; returns the number of nodes."""
    refit_facts(tx, tx.nodes.remove(keys))
    return len(keys)


def _without_forgotten(tx: WriteTransaction, batch: Batch) -> tuple[Batch, list[Node], set[str], set[str]]:
    """Returns the batch without forgotten text, its nodes to store, the ids kept out by tombstones, and the ids of
    nodes whose text is shortened.

    For a batch with `allow_again`, removes the tombstones that match instead. Raises Forgotten if one matches and the
    batch has `refuse_forgotten`.
    """
    matches = match(tx.tombstones, batch.nodes)
    fields = match_fields(tx, batch, batch.nodes)
    matches |= misnamed(batch.nodes, fields)
    if batch.allow_again:
        remove_tombstones(tx.tombstones, batch.nodes, matches)
        tx.tombstones.remove({hash_ for one in fields.values() for hash_ in one.hashes})
        matches, fields = {}, {}
    elif batch.refuse_forgotten and (matches or fields):
        first = next((matches[node.id] for node in batch.nodes if node.id in matches), None)
        raise Forgotten(
            "a part of this was forgotten and stays so: leave it out, or `add` it with allow_again=True (--allow-again)"
            if first is None or first.rest
            else "this was forgotten and stays so: pass allow_again=True (--allow-again) to remember it anew"
        )
    nodes, forgotten, cut = redact(batch.nodes, matches)
    return redact_batch(batch, fields), [redact_node(node, fields) for node in nodes], forgotten, cut


def _put_nodes(tx: WriteTransaction, nodes: Sequence[Node], overwritten: Collection[str]) -> tuple[dict[str, int], int]:
    """Inserts or replaces nodes; returns their keys by id, and how many are new."""
    if not nodes:
        return {}, 0
    ids = [node.id for node in nodes]
    before = tx.nodes.before(ids)
    check_ids(ids, tx.find)
    nodes = _placed(tx, nodes, before)
    if before:
        nodes = _corrected(tx, nodes, before, overwritten)
    return tx.nodes.put(nodes, before), len(nodes) - len(before)


def _placed(tx: WriteTransaction, nodes: Sequence[Node], before: Mapping[str, StoredNode]) -> Sequence[Node]:
    """Returns the nodes with a `seq` each: those with NEXT_IN_SOURCE get the next positions in their source, in their
    order. A node that was in this source before keeps its position.
    """
    sources = {node.source for node in nodes if node.seq == NEXT_IN_SOURCE and node.source is not None}
    if not sources:
        return nodes
    last = tx.nodes.last_positions(sources)
    placed: list[Node] = []
    for node in nodes:
        source, seq, old = node.source, node.seq, before.get(node.id)
        if source is not None and source in sources:
            if seq == NEXT_IN_SOURCE:
                seq = old.seq if old is not None and old.source == source else last.get(source, -1) + 1
            last[source] = max(last.get(source, -1), seq)
        placed.append(node if seq == node.seq else replace(node, seq=seq))
    return placed


def _corrected(
    tx: WriteTransaction, nodes: Sequence[Node], before: Mapping[str, StoredNode], overwritten: Collection[str]
) -> list[Node]:
    """Returns the nodes with the creation time and usage of those they replace. Where the text or the name changes,
    stores the old version in the history and drops the vector. Of `overwritten` nodes nothing is kept.
    """
    said = {node.id: (node.text, node.name) for node in nodes}
    reworded = {id_: old for id_, old in before.items() if (old.text, old.name) != said[id_]}
    tx.drop_vectors([old.key for old in reworded.values()])
    # Summaries that dreams write have no history.
    with_history = {id_ for id_, old in reworded.items() if old.kind not in STORYLINE_KINDS}.difference(overwritten)
    versioned = [node for node in nodes if node.id in with_history]
    last = tx.history.last_times([node.id for node in versioned])
    # Two corrections within one millisecond are two versions, in order.
    at = {node.id: max(node.updated, last.get(node.id, node.updated - 1) + 1) for node in versioned}
    tx.history.put([Version(id_, time, reworded[id_].name, reworded[id_].text) for id_, time in at.items()])
    used = {id_: old for id_, old in before.items() if id_ not in overwritten}
    return [
        replace(node, created=old.created, life=restated(node.life, old.life)) if (old := used.get(node.id)) else node
        for node in nodes
    ]


def _need(found: Mapping[str, Handle], id_: str, kind: str = "node") -> Handle:
    """Returns the handle of an id. Raises NotFound if it is not in `found`."""
    try:
        return found[id_]
    except KeyError:
        raise NotFound(f"there is no {kind} {id_!r} in this scope: add it first") from None


def _put_edges(tx: WriteTransaction, edges: Sequence[Edge]) -> None:
    unique = list({edge.id: edge for edge in edges}.values())
    check_ids((edge.id for edge in unique), lambda ids: tx.find(ids, "edge"))
    ends = [end for edge in unique for end in (edge.src, edge.dst)]
    keys = tx.find(ends)
    tx.edges.put(unique, {end: _need(keys, end) for end in ends})


def _put_notes(tx: WriteTransaction, notes: Sequence[Note]) -> None:
    for kind in ("node", "edge"):
        some = [note for note in notes if note.on == kind]
        targets = tx.find((note.target for note in some), kind)
        tx.notes.put(kind, [(note, _need(targets, note.target, kind)) for note in some])


def _put_mentions(tx: WriteTransaction, mentions: Sequence[Mention]) -> None:
    keys = tx.find(end for one in mentions for end in (one.source, one.node))
    tx.links.put_mentions({(_need(keys, one.source), _need(keys, one.node)): one.at for one in mentions})


def _put_links(tx: WriteTransaction, links: Sequence[Link]) -> None:
    keys = tx.find_here(link.src for link in links)
    tx.links.put([(_need(keys, link.src), link) for link in links])


def _put_vectors(tx: WriteTransaction, batch: Batch, without: Collection[str]) -> None:
    """Stores the vectors of records that the user owns; those of unknown ids and of the nodes `without` are left out.

    Nothing is stored while the memory has no vector space, because the model of the vectors is then unknown.
    """
    nodes = {id_: vector for id_, vector in batch.vectors.items() if id_ not in without}
    given: dict[VectorKind, dict[str, bytes]] = {"node": nodes, "edge": batch.edge_vectors, "note": batch.note_vectors}
    space = (batch.space or tx.vector_space()) if any(given.values()) else None
    for kind, vectors in given.items():
        if vectors and space is not None:
            found = tx.find_own(vectors, kind)
            tx.put_vectors(kind, space, {handle: vectors[id_] for id_, handle in found.items()})


def _read_back(tx: WriteTransaction, texts: Mapping[int, str]) -> None:
    """Compares stored texts, by node key, with those given. Raises GhostWrite if one differs."""
    stored = tx.nodes.texts(sorted(texts))
    if any(stored.get(key) != text for key, text in texts.items()):
        raise GhostWrite("a written memory could not be read back; nothing was changed. Run `cuetrail doctor`")
