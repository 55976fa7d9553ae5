"""Removes forgotten text from documents before it is stored: from texts, links, tags and hashes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from cuetrail.ingest.build_nodes import Built
from cuetrail.model import Scope
from cuetrail.store.ports import Store
from cuetrail.text.normalise import norm_name
from cuetrail.write.redact_stored import cut_node


@dataclass(frozen=True, slots=True)
class Redacted:
    """Documents without forgotten text, by source.

    `forgotten` are ids of nodes whose whole text was forgotten, `cut` of nodes that lost some sentences. `emptied` are
    ids of documents in which no passage is left.
    """

    built: Mapping[str, list[Built]]
    forgotten: frozenset[str] = frozenset()
    cut: frozenset[str] = frozenset()
    emptied: frozenset[str] = frozenset()

    def affected_sources(self) -> tuple[str, ...]:
        """Returns the sources from which something was removed."""
        ids = self.forgotten | self.cut
        return tuple(s for s, built in self.built.items() if any(n.id in ids for b in built for n in b.nodes))

    def sources_within(self, ids: Collection[str]) -> list[str]:
        """Returns the sources that have nodes and all of whose nodes are among these ids."""
        nodes = {source: [node.id for one in built for node in one.nodes] for source, built in self.built.items()}
        return [source for source, own in nodes.items() if own and all(id_ in ids for id_ in own)]


def redact(store: Store, scope: Scope, built: Mapping[str, list[Built]]) -> Redacted:
    """Returns the documents without forgotten text."""
    texts = store.redacted_texts(
        scope, [node for documents in built.values() for one in documents for node in one.nodes]
    )
    if not texts:
        return Redacted(built)
    forgotten = frozenset(id_ for id_, text in texts.items() if not text)
    shorter = {source: [_cut_document(one, texts) for one in documents] for source, documents in built.items()}
    emptied = frozenset(one.nodes[0].id for some in shorter.values() for one in some if _is_empty(one, forgotten))
    return Redacted(shorter, forgotten, frozenset(texts.keys() - forgotten), emptied)


def _is_empty(built: Built, forgotten: Collection[str]) -> bool:
    """True if every passage was forgotten, as in a copy of a forgotten document."""
    _, *passages = built.nodes
    return bool(passages) and all(node.id in forgotten for node in passages)


def _cut_document(built: Built, texts: Mapping[str, str]) -> Built:
    cut = {node.id: texts[node.id] for node in built.nodes if texts.get(node.id)}
    if not cut:
        return built
    norms = {id_: norm_name(text) for id_, text in cut.items()}
    links = [link for link in built.links if link.src not in cut or link.norm in norms[link.src]]
    nodes = [cut_node(node, cut[node.id]) if node.id in cut else node for node in built.nodes]
    return replace(built, nodes=nodes, links=links)
