"""Forgotten text inside other memories: finds the passages, notes, facts and fields that contain it, and removes it.

A file is stored as passages of several paragraphs, so a forgotten paragraph may stand in passages of other files. The
text index finds them by the first and the last words of the paragraph; all other fields are read once. What is left of
a record is what tombstones would leave of it if it came in now. Nothing of the old text is kept as history.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from cuetrail.extract.links_and_tags import find_tags
from cuetrail.model import Fact, Link, Node, Note, Scope, TextQuery, Where
from cuetrail.session import Session
from cuetrail.store.ports import Store
from cuetrail.store.read import edges_by_id
from cuetrail.store.shared.copy import list_of
from cuetrail.store.shared.redact_batch import redact_known
from cuetrail.store.shared.tombstones import node_paragraphs
from cuetrail.store.write import Batch
from cuetrail.text.normalise import norm_name, norm_tag
from cuetrail.text.simhash import simhash
from cuetrail.write.near_duplicate_tags import without_borrowed

# A passage is found by so many words at the beginning of a paragraph, or at its end.
PHRASE = 8
# In scripts without spaces a phrase has so many characters.
PHRASE_CHARS = 40
MOST_HOLDERS = 100_000
EVERY = Where(quarantined=True, archived=True)
_ASCII_WORD = re.compile(r"[a-z0-9]+")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Quotes:
    """The changes that removing forgotten text makes: `cut` are the nodes whose text is shortened, as they were before,
    `ended` the links that no longer stand in a text, `renamed` the nodes that lose a name.
    """

    cut: list[Node]
    ended: list[Link]
    renamed: list[Node]


def find_holders(session: Session, nodes: Iterable[Node], besides: Collection[str]) -> dict[str, list[Node]]:
    """Returns, by paragraph of these nodes in bare words, the nodes with a text that may contain it, without those
    whose ids are in `besides`.
    """
    store, scope = session.store, session.scope
    found: dict[str, list[Node]] = {}
    for words in dict.fromkeys(one for node in nodes for one in node_paragraphs(node)):
        hits = [
            hit.node
            for phrase in _phrases(words)
            for hit in store.text(scope, TextQuery("", (phrase,)), MOST_HOLDERS, EVERY, nodes=True)
        ]
        with_text = {node.id: node for node in hits if node is not None and node.text and node.id not in besides}
        found[words] = list(with_text.values())
    return found


def _phrases(words: str) -> list[str]:
    split = words.split()
    ends = [" ".join(split[:PHRASE]), " ".join(split[-PHRASE:])]
    if len(split) <= PHRASE and not words.isascii():
        ends = [words[:PHRASE_CHARS], words[-PHRASE_CHARS:]]
    return list(dict.fromkeys(ends))


def find_fields(store: Store, scope: Scope, paragraphs: Collection[str]) -> dict[Scope, Batch]:
    """Returns, by partition, the user's records that may contain one of these paragraphs in a field."""
    words = {word for paragraph in paragraphs for word in _rarest(paragraph)}
    found: dict[Scope, Batch] = {}
    for team, record in store.scan(scope, words) if words else ():
        list_of(found.setdefault(replace(scope, share=team), Batch()), record).append(record)
    return found


def _rarest(paragraph: str) -> set[str]:
    """Returns the longest word of a paragraph, which is the best guess at the rarest."""
    plain = max(_ASCII_WORD.findall(paragraph), key=len, default="")
    return {plain if len(plain) > 2 else max(_WORD.findall(paragraph), key=len, default=paragraph)}


def remove_quotes(
    store: Store, partition: Scope, batch: Batch, found: Batch, known: Collection[str], leaving: Collection[str]
) -> Quotes:
    """Adds to a batch the found records without the text that leaves the tombstones `known`, and the removal of those
    of which nothing is left.

    Records at `leaving` nodes are left alone, because they are removed with them.
    """
    found = _staying(store, partition, found, leaving)
    left = redact_known(found, known)
    nodes = {node.id: node for node in left.nodes}
    cut = [node for node in found.nodes if node.id in nodes and nodes[node.id].text != node.text]
    changed = [
        _without_traces(node, nodes[node.id]) for node in found.nodes if node.id in nodes and nodes[node.id] != node
    ]
    batch.nodes += changed
    batch.overwritten |= {node.id for node in changed}
    _replace_others(batch, found, left)
    ended = _ended_links(store, partition, cut, nodes)
    batch.links += [replace(link, display="") for link in ended]
    batch.remove_facts += _ended_facts(store, partition, cut, nodes)
    named = {node.id: (node.name, node.aliases) for node in found.nodes}
    renamed = [node for node in changed if (node.name, node.aliases) != named[node.id]]
    return Quotes(cut, ended, renamed)


def _staying(store: Store, partition: Scope, found: Batch, leaving: Collection[str]) -> Batch:
    """Returns the found records that are not removed with the leaving nodes."""
    targets = edges_by_id(store, partition, [note.target for note in found.notes if note.on == "edge"])

    def stays(ends: Iterable[str | None]) -> bool:
        return not any(end in leaving for end in ends)

    def note_stays(note: Note) -> bool:
        edge = targets.get(note.target) if note.on == "edge" else None
        return stays((note.target,)) if note.on == "node" else edge is not None and stays((edge.src, edge.dst))

    return Batch(
        nodes=[node for node in {node.id: node for node in found.nodes}.values() if stays((node.id,))],
        versions=[one for one in found.versions if stays((one.id,))],
        edges=[edge for edge in found.edges if stays((edge.src, edge.dst))],
        facts=[fact for fact in found.facts if stays((fact.subject, fact.object))],
        notes=[note for note in found.notes if note_stays(note)],
    )


def _without_traces(old: Node, left: Node) -> Node:
    """Returns what is left of a node, without labels that came with the text that was removed."""
    if old.text == left.text:
        return left
    return cut_node(without_borrowed(replace(left, text=old.text, simhash=old.simhash)), left.text)


def cut_node(node: Node, text: str) -> Node:
    """Returns the node with the remaining text, and without tags that only the removed text had."""
    removed = {norm_tag(tag) for tag in find_tags(node.text)} - {norm_tag(tag) for tag in find_tags(text)}
    tags = tuple(tag for tag in node.tag_details if tag.name not in removed)
    return replace(node, text=text, tag_details=tags, simhash=None if node.simhash is None else simhash(text))


def _replace_others(batch: Batch, found: Batch, left: Batch) -> None:
    """Adds to a batch the versions, edges, notes and facts that change. Nothing is left of those that are absent."""
    versions = {(one.id, one.at): one for one in left.versions}
    batch.remove_versions += [one for one in found.versions if versions.get((one.id, one.at)) != one]
    batch.versions += [versions[one.id, one.at] for one in batch.remove_versions if (one.id, one.at) in versions]
    edges = {edge.id: edge for edge in left.edges}
    batch.edges += [edges[old.id] for old in found.edges if edges.get(old.id, old) != old]
    batch.remove_edges += [edge.id for edge in found.edges if edge.id not in edges]
    notes = {note.id: note for note in left.notes}
    batch.remove_notes += [note.id for note in found.notes if notes.get(note.id) != note]
    batch.notes += [notes[id_] for id_ in batch.remove_notes if id_ in notes]
    batch.remove_facts += sorted({fact.id for fact in found.facts} - {fact.id for fact in left.facts})


def _ended_links(store: Store, partition: Scope, cut: Sequence[Node], left: Mapping[str, Node]) -> list[Link]:
    """Returns the links of nodes that are cut whose name is not in the remaining text."""
    links = store.links(partition, [node.id for node in cut])
    texts = {node.id: norm_name(left[node.id].text) for node in cut}
    return [link for id_, some in links.items() for link in some if link.display and link.norm not in texts[id_]]


def _ended_facts(store: Store, partition: Scope, cut: Sequence[Node], left: Mapping[str, Node]) -> list[str]:
    """Returns the ids of facts that were read from nodes that are cut and whose value is not in the remaining text."""
    read = store.facts(partition, [node.id for node in cut], "source_ref")
    facts = [fact for some in read.values() for fact in some if fact.source != "user_edit"]
    objects = store.get(partition, [fact.object for fact in facts if fact.object is not None])
    names = {node.id: norm_name(node.name or "") for node in objects.values()}

    def is_said(fact: Fact) -> bool:
        value = names.get(fact.object, "") if fact.object is not None else norm_name(fact.value or "")
        return value in norm_name(left[fact.source_ref or ""].text)

    return [fact.id for fact in facts if not is_said(fact)]
