"""Removes forgotten text from every field of the records of a batch: props, tags, notes, relationships, facts, history.

`tombstones.match` decides about the texts of nodes. Here all other strings are matched by the same rules, if they are
long enough to identify a text. A field that was forgotten as a whole is left out, and so are notes, facts, links and
versions that consist of it. Of longer fields the rest stays. A record whose id, kind or predicate is forgotten text is
left out. Paths and titles of files are names of files, and stay.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from cuetrail.model import Edge, Fact, Link, Node, Note, Version
from cuetrail.store.shared.tombstones import TombstoneMatch, match_known, match_known_texts, match_texts, redact
from cuetrail.store.transaction import WriteTransaction
from cuetrail.store.write import Batch
from cuetrail.text.titles import topics_in

Matches = Mapping[str, TombstoneMatch]
R = TypeVar("R")

LABEL_GAPS = 3
"""A tag or bucket with fewer gaps between its words is no sentence that somebody forgot."""
_IDENTITIES: Mapping[type, Sequence[str]] = {
    Node: ("id", "kind"), Edge: ("id", "kind", "via"), Note: ("id",), Link: ("norm",), Version: ("id",),
    Fact: ("id", "predicate", "source", "source_ref", "superseded_by"),
}  # fmt: skip


def match_fields(tx: WriteTransaction, batch: Batch, nodes: Sequence[Node]) -> dict[str, TombstoneMatch]:
    """Returns the tombstone matches of strings in these nodes, except their texts, and in the batch's other records, by
    string.

    Strings that the stored node has already are left out: they are not coming back.
    """
    if not tx.tombstones.exist():
        return {}
    of_nodes = {node.id: set(_node_texts(node)) for node in nodes}
    others = set(_other_texts(batch))
    found = match_texts(tx.tombstones, others.union(*of_nodes.values()))
    if not found:
        return {}
    hit = [id_ for id_, texts in of_nodes.items() if not texts.isdisjoint(found)]
    stored = {node.id: set(_node_texts(node)) for _, node in tx.nodes.read(list(tx.find_here(hit).values()))}
    coming = set(others)
    for id_ in hit:
        coming |= of_nodes[id_] - stored.get(id_, set())
    return {text: one for text, one in found.items() if text in coming}


def redact_known(batch: Batch, known: Collection[str]) -> Batch:
    """Returns a batch of stored records without the text that left these tombstones. Texts, notes, facts and versions
    of nothing else are absent. A node without text keeps its name: it may be a person, a file or a thing.
    """
    texts = {text for node in batch.nodes for text in _node_texts(node)}
    fields = match_known_texts(texts.union(_other_texts(batch)), known)
    nodes, _, _ = redact(batch.nodes, match_known([node for node in batch.nodes if node.text], known))
    return replace(redact_batch(batch, fields), nodes=[redact_node(node, fields) for node in nodes])


def redact_node(node: Node, matches: Matches) -> Node:
    """Returns the node without forgotten text in its name, aliases, tags and props. Its text is unchanged."""
    if not matches or matches.keys().isdisjoint(_node_texts(node)):
        return node
    return replace(
        node,
        name=(_rest(node.name, matches) or None) if node.name and _has_own_text(node) else node.name,
        aliases=tuple(filter(None, (_rest(alias, matches) for alias in node.aliases))),
        tag_details=tuple(tag for tag in node.tag_details if matches.keys().isdisjoint((tag.display, tag.name))),
        buckets=tuple(bucket for bucket in node.buckets if bucket not in matches),
        props=_without(node.props, matches),
    )


def misnamed(nodes: Iterable[Node], matches: Matches) -> dict[str, TombstoneMatch]:
    """Returns the nodes, by id, whose id or kind is forgotten text. They are to be left out."""
    found = ((node.id, matches[text]) for node in nodes for text in _identity(node) if text in matches)
    return {id_: TombstoneMatch(one.hashes, "") for id_, one in found} if matches else {}


def redact_batch(batch: Batch, matches: Matches) -> Batch:
    """Returns the batch without forgotten text in its edges, facts, notes, links and versions. Vectors of shortened
    edges and notes are dropped.
    """
    if not matches:
        return batch
    batch = _without_misnamed(batch, matches)
    notes = [replace(note, text=_rest(note.text, matches)) for note in batch.notes]
    versions = [
        replace(one, name=_rest(one.name, matches) if one.name else one.name, text=_rest(one.text, matches))
        for one in batch.versions
    ]
    changed = {edge.id for edge in batch.edges if edge.text in matches}
    changed |= {note.id for note in batch.notes if note.text in matches}
    return replace(
        batch,
        edges=[_redact_edge(edge, matches) for edge in batch.edges],
        facts=[_redact_fact(fact, matches) for fact in batch.facts if fact.value is None or fact.value not in matches],
        stated=[one for one in batch.stated if one.fact.value is None or one.fact.value not in matches],
        notes=[note for note in notes if note.text],
        links=[link for link in batch.links if link.display not in matches],
        versions=[one for one in versions if one.text or one.name],
        edge_vectors={id_: vector for id_, vector in batch.edge_vectors.items() if id_ not in changed},
        note_vectors={id_: vector for id_, vector in batch.note_vectors.items() if id_ not in changed},
    )


def _without_misnamed(batch: Batch, matches: Matches) -> Batch:
    """Returns the batch without edges, facts, notes, links and versions whose id, kind or name is forgotten text."""

    def kept(records: Iterable[R]) -> list[R]:
        return [record for record in records if matches.keys().isdisjoint(_identity(record))]

    return replace(
        batch, edges=kept(batch.edges), facts=kept(batch.facts), notes=kept(batch.notes), links=kept(batch.links),
        versions=kept(batch.versions), stated=[one for one in batch.stated if kept([one.fact])],
    )  # fmt: skip


def _redact_edge(edge: Edge, matches: Matches) -> Edge:
    if matches.keys().isdisjoint(_edge_texts(edge)):
        return edge
    tags = tuple(tag for tag in edge.tags if tag not in matches)
    kind = None if edge.type in matches else edge.type
    return replace(edge, text=_rest(edge.text, matches), tags=tags, type=kind, props=_without(edge.props, matches))


def _redact_fact(fact: Fact, matches: Matches) -> Fact:
    tags = tuple(tag for tag in fact.tags if tag not in matches)
    return fact if tags == fact.tags else replace(fact, tags=tags)


def _rest(text: str, matches: Matches) -> str:
    return matches[text].rest if text in matches else text


def _without(value: Any, matches: Matches) -> Any:
    """Returns a JSON-like value without forgotten strings, at any depth."""
    if isinstance(value, str):
        return _rest(value, matches)
    if isinstance(value, Mapping):
        kept = {key: one for key, one in value.items() if key not in matches and not _is_gone(one, matches)}
        return {key: _without(one, matches) for key, one in kept.items()}
    if isinstance(value, list | tuple):
        return [_without(one, matches) for one in value if not _is_gone(one, matches)]
    return value


def _is_gone(value: Any, matches: Matches) -> bool:
    """True if the value is a string that was forgotten as a whole."""
    return isinstance(value, str) and value in matches and not matches[value].rest


def _has_own_text(node: Node) -> bool:
    # The name of a node without text is matched as its text; the name of a file is its title.
    return bool(node.text) and node.kind != "source"


def _identity(record: object) -> Iterator[str]:
    """Yields the texts that identify a record or name its kind, if they may be sentences: those with several words, or
    with letters beyond ASCII. A hash is none.
    """
    for name in _IDENTITIES.get(type(record), ()):
        text = getattr(record, name)
        if name == "via" and text is not None:
            text = text.removeprefix("name:")
        if isinstance(text, str) and (" " in text or text.count("_") >= LABEL_GAPS or not text.isascii()):
            yield text


def _labels(labels: Iterable[str]) -> Iterator[str]:
    """Returns the tags or buckets that may be a sentence: those with enough words, or with letters beyond ASCII."""
    return (label for label in labels if label.count("_") >= LABEL_GAPS or not label.isascii())


def _node_texts(node: Node) -> Iterator[str]:
    yield from _identity(node)
    if node.name and _has_own_text(node):
        yield node.name
    yield from node.aliases
    yield from (tag.display for tag in node.tag_details)
    yield from _labels((*node.tags, *node.buckets))
    # What was read from the text is forgotten with the text.
    read = frozenset(_strings(topics_in(node.text))) if "about" in node.props else frozenset()
    yield from (text for text in _strings(node.props) if text not in read)


def _edge_texts(edge: Edge) -> Iterator[str]:
    yield from _identity(edge)
    yield edge.text
    yield edge.type or ""
    yield from edge.tags
    yield from _strings(edge.props)


def _other_texts(batch: Batch) -> Iterator[str]:
    for edge in batch.edges:
        yield from _edge_texts(edge)
    facts = (*batch.facts, *(one.fact for one in batch.stated))
    for record in (*facts, *batch.notes, *batch.links, *batch.versions):
        yield from _identity(record)
    for fact in facts:
        yield from filter(None, (fact.value, *_labels(fact.tags)))
    yield from (note.text for note in batch.notes)
    yield from (link.display for link in batch.links)
    for version in batch.versions:
        yield from filter(None, (version.name, version.text))


def _strings(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, one in value.items():
            yield key
            yield from _strings(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _strings(one)
