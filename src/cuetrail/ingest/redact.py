"""What was forgotten is left out of files before anything is made of it: links, names, tags, hashes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from cuetrail.extract import tags as inline
from cuetrail.ingest.build import Built
from cuetrail.model import Node, Scope
from cuetrail.store.ports import Store
from cuetrail.text.normalise import norm_name, norm_tag
from cuetrail.text.simhash import simhash


@dataclass(frozen=True, slots=True)
class Sifted:
    """Files without what was forgotten. `out` are ids of nodes that stay out, `cut` of those that are shortened.

    `lost` are ids of documents' titles and headings under which nothing is left.
    """

    built: Mapping[str, list[Built]]
    out: frozenset[str] = frozenset()
    cut: frozenset[str] = frozenset()
    lost: frozenset[str] = frozenset()

    def touched(self) -> tuple[str, ...]:
        """The files of which something is left out."""
        some = self.out | self.cut
        return tuple(s for s, built in self.built.items() if any(n.id in some for b in built for n in b.nodes))

    def without(self, gone: Collection[str]) -> list[str]:
        """The files all of whose nodes are among these; a file that has none is not."""
        ids = {source: [node.id for one in built for node in one.nodes] for source, built in self.built.items()}
        return [source for source, some in ids.items() if some and all(id_ in gone for id_ in some)]


def sift(store: Store, scope: Scope, built: Mapping[str, list[Built]]) -> Sifted:
    """Leave out of files what was forgotten."""
    left = store.redacted_texts(scope, [node for some in built.values() for one in some for node in one.nodes])
    if not left:
        return Sifted(built)
    out = frozenset(id_ for id_, text in left.items() if not text)
    shorter = {source: [_shortened(one, left) for one in some] for source, some in built.items()}
    lost = frozenset(id_ for some in shorter.values() for one in some for id_ in _lost(one, out))
    return Sifted(shorter, out, frozenset(left.keys() - out), lost)


def _lost(built: Built, out: Collection[str]) -> list[str]:
    """The title and the headings of a document of whose paragraphs none is left: a copy of what was forgotten."""
    told = [node.id for node in built.nodes[1:] if "level" not in node.props]
    if not told or any(id_ not in out for id_ in told):
        return []
    return [node.id for node in built.nodes if node.id not in told]


def _shortened(built: Built, left: Mapping[str, str]) -> Built:
    cut = {node.id: left[node.id] for node in built.nodes if left.get(node.id)}
    if not cut:
        return built
    said = {id_: norm_name(text) for id_, text in cut.items()}
    links = [link for link in built.links if link.src not in cut or link.norm in said[link.src]]
    return replace(built, nodes=_cut(built.nodes, cut), links=links)


def _cut(nodes: Sequence[Node], cut: Mapping[str, str]) -> list[Node]:
    return [_node(node, cut[node.id]) if node.id in cut else node for node in nodes]


def _node(node: Node, text: str) -> Node:
    """A node with a part of its text, without the tags that stood in the other."""
    ended = {norm_tag(tag) for tag in inline.find(node.text)} - {norm_tag(tag) for tag in inline.find(text)}
    tags = tuple(tag for tag in node.tag_details if tag.name not in ended)
    return replace(node, text=text, tag_details=tags, simhash=simhash(text))
