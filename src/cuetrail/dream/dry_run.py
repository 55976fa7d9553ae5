"""The report of a dry run of a dream: the lines with `+`, `-` and `~` that say what it would add, remove and change."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from cuetrail.model import Node, Scope
from cuetrail.store.dream import Writes
from cuetrail.store.ports import Store
from cuetrail.store.read import edges_by_id
from cuetrail.text.normalise import KNOWN_AS, snippet

SHOWN = 100
"""The most changes of one pass that a dry run reports."""


def described_changes(store: Store, scope: Scope, writes: Writes) -> Iterator[str]:
    """Yields a line for each added (+), removed (-) and changed (~) record. A tag with a new origin counts as added."""
    for atom, tags in writes.relabelled:
        names = {tag.name for tag in tags}
        about = _describe(atom.id, atom.text)
        yield from (f"+ #{tag.name} ({tag.origin}) on {about}" for tag in tags if tag not in atom.tags)
        yield from (f"- #{tag.name} ({tag.origin}) from {about}" for tag in atom.tags if tag.name not in names)
    batch = writes.batch
    going = edges_by_id(store, scope, batch.remove_edges[:SHOWN]).values()
    mentions = [(one.source, one.node) for one in batch.mentions[:SHOWN]]
    joined = [(edge.src, edge.dst) for edge in (*batch.edges[:SHOWN], *going)]
    ends = chain.from_iterable((*joined, *mentions, *writes.remove_mentions[:SHOWN]))
    nodes = store.get(scope, sorted({*ends, *batch.remove_nodes[:SHOWN]}))

    def describe(id_: str) -> str:
        return _describe(id_, (nodes[id_].name or nodes[id_].text) if id_ in nodes else "")

    yield from (_describe_node(node) for node in batch.nodes)
    yield from (f"+ {describe(e.src)} {e.kind} {describe(e.dst)} ({e.weight})" for e in batch.edges[:SHOWN])
    yield from (f"+ {describe(source)} names {describe(node)}" for source, node in mentions)
    yield from (f"- {describe(id_)}" for id_ in batch.remove_nodes[:SHOWN])
    yield from (f"- {describe(edge.src)} {edge.kind} {describe(edge.dst)}" for edge in going)
    yield from (f"- {describe(source)} names {describe(node)}" for source, node in writes.remove_mentions[:SHOWN])
    yield from (f"- note {id_}" for id_ in batch.remove_notes)
    yield from (
        f"{'+' if verdict.status == 'confirmed' else '-'} fact {verdict.fact} {verdict.status}"
        for verdict in batch.verdicts
    )
    yield from (
        f"~ {was.id} ({was.kind}) salience {was.life.salience:.3f} -> {life.salience:.3f}"
        + (" into the archive" if life.state == "archived" != was.life.state else "")
        for was, life in writes.lives
    )


def _describe_node(node: Node) -> str:
    about = _describe(node.id, node.name or node.text)
    if node.kind == "atom":
        return f"~ {about} known as {', '.join(map(str, node.props.get(KNOWN_AS, ()))) or 'nothing else'}"
    return f"+ {about} ({_kind_and_counts(node)})"


def _kind_and_counts(node: Node) -> str:
    """Returns the kind of a node and how many records it summarises."""
    counts = (f"{node.props[what]} {what}" for what in ("atoms", "sources", "storylines") if what in node.props)
    return " of ".join((node.kind, *counts))


def _describe(id_: str, text: str) -> str:
    return f'{id_} "{snippet(text)}"' if text else id_
