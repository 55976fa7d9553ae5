"""Removes forgotten text from every field of the records of a batch: props, tags, notes, relationships, facts, history.

`tombstones.match` decides about the texts of nodes. Here all other strings are matched by the same rules, if they are
long enough to identify a text. A field that was forgotten as a whole is left out, and so are notes, facts, links and
versions whose text was forgotten as a whole. From a longer field only the forgotten part is removed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from cuetrail.model import Edge, Node
from cuetrail.store.shared.tombstones import TombstoneMatch, match_known, match_known_texts, match_texts, redact
from cuetrail.store.transaction import WriteTransaction
from cuetrail.store.write import Batch
from cuetrail.text.titles import topics_in

Matches = Mapping[str, TombstoneMatch]


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
        tag_details=tuple(tag for tag in node.tag_details if tag.display not in matches),
        props=_without(node.props, matches),
    )


def redact_batch(batch: Batch, matches: Matches) -> Batch:
    """Returns the batch without forgotten text in its edges, facts, notes, links and versions. Vectors of shortened
    edges and notes are dropped.
    """
    if not matches:
        return batch
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
        facts=[fact for fact in batch.facts if fact.value is None or fact.value not in matches],
        stated=[one for one in batch.stated if one.fact.value is None or one.fact.value not in matches],
        notes=[note for note in notes if note.text],
        links=[link for link in batch.links if link.display not in matches],
        versions=[one for one in versions if one.text or one.name],
        edge_vectors={id_: vector for id_, vector in batch.edge_vectors.items() if id_ not in changed},
        note_vectors={id_: vector for id_, vector in batch.note_vectors.items() if id_ not in changed},
    )


def _redact_edge(edge: Edge, matches: Matches) -> Edge:
    if matches.keys().isdisjoint(_edge_texts(edge)):
        return edge
    tags = tuple(tag for tag in edge.tags if tag not in matches)
    kind = None if edge.type in matches else edge.type
    return replace(edge, text=_rest(edge.text, matches), tags=tags, type=kind, props=_without(edge.props, matches))


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


def _node_texts(node: Node) -> Iterator[str]:
    if node.name and _has_own_text(node):
        yield node.name
    yield from node.aliases
    yield from (tag.display for tag in node.tag_details)
    # What was read from the text is forgotten with the text.
    read = frozenset(_strings(topics_in(node.text))) if "about" in node.props else frozenset()
    yield from (text for text in _strings(node.props) if text not in read)


def _edge_texts(edge: Edge) -> Iterator[str]:
    yield edge.text
    yield edge.type or ""
    yield from edge.tags
    yield from _strings(edge.props)


def _other_texts(batch: Batch) -> Iterator[str]:
    for edge in batch.edges:
        yield from _edge_texts(edge)
    yield from (fact.value for fact in batch.facts if fact.value)
    yield from (one.fact.value for one in batch.stated if one.fact.value)
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
