"""Forgetting: nodes are removed for good, with their copies and all that was derived from them; then mirrors follow.

A node that is named goes with its copies. If a file is forgotten, all its texts go, with copies of them elsewhere.
But a file shares some words with other files: its headings, and boilerplate that many files contain. Those words are
removed from the file and stay elsewhere.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from cuetrail.dream.reconcile import invalidate
from cuetrail.errors import MirrorError
from cuetrail.facts.resolve import nodes_of, require_node, require_own
from cuetrail.mirror import sync_registered
from cuetrail.model import Node, Scope, TextQuery, Where
from cuetrail.session import Session
from cuetrail.store.shared.ids import own_nodes
from cuetrail.store.shared.tombstones import bare_words, paragraphs
from cuetrail.store.write import Batch, Forgetting, Progress
from cuetrail.text.names import clear_name_caches
from cuetrail.write.batch_facts import facts_outliving_forgotten
from cuetrail.write.links import LinkChange, resolve_links
from cuetrail.write.near_duplicates import regroup
from cuetrail.write.pipeline import write

BOILERPLATE_FILES = 3
"""Words in at least this many other files are boilerplate. Copies, which share most of a file's text, do not count."""
# Paragraphs of at most so many characters are looked for in other files, at most so many of them, each in so many hits.
BOILERPLATE_CHARS, BOILERPLATE_SEARCHES, BOILERPLATE_HITS = 300, 200, 20
WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Doomed:
    """The nodes that `forget` removes: those that the caller chose (`meant`), and their `copies`.

    `common` are examples of boilerplate in a forgotten file, which stays elsewhere. `id_only` are the ids of nodes that
    are removed without a tombstone for their words; `shared` are paragraphs, as bare words, that get no tombstone
    because other files contain them too. `subjects` are the ids that the caller named: every fact about them is
    removed. Of other notes only the facts that their own files state are removed.
    """

    meant: tuple[Node, ...]
    copies: tuple[Node, ...] = ()
    common: tuple[Node, ...] = ()
    id_only: frozenset[str] = frozenset()
    shared: frozenset[str] = frozenset()
    subjects: frozenset[str] = frozenset()

    @property
    def ids(self) -> list[str]:
        """The ids of all nodes that are removed, each once."""
        return list(dict.fromkeys(node.id for node in (*self.meant, *self.copies)))


def plan_forget(session: Session, ids: Sequence[str], source: str | None) -> Doomed:
    """Returns what forgetting these nodes, given by id or name, and a source file would remove.

    The node of a file stands for the whole file. Raises NotFound if a node is missing or another user's.
    """
    store, scope = session.store, session.scope

    def of_source(path: str | None) -> list[Node]:
        return require_own(store, scope, nodes_of(store, scope, (), path), "forget")

    subjects = [require_node(store, scope, id_) for id_ in ids]
    named = require_own(store, scope, subjects, "forget")
    of_file = of_source(source)
    for file in [node for node in named if node.kind == "source" and node.source is not None]:
        of_file += of_source(file.source)
    files = {node.id for node in of_file if node.kind == "source"}
    named = [node for node in named if node.id not in files]
    chosen = {node.id for node in named}
    rest = [node for node in {node.id: node for node in of_file}.values() if node.id not in chosen]
    texts = [node for node in rest if node.text and not is_heading(node)]
    meant = chosen | {node.id for node in rest}
    copies = [node for node in store.copies(scope, [*named, *texts]) if node.id not in meant]
    common = _boilerplate(texts, copies) - {bare_words(node) for node in named}
    id_only = {node.id for node in rest if is_heading(node) or (node.text and bare_words(node) in common)}
    return Doomed(
        (*named, *rest),
        tuple(node for node in copies if bare_words(node) not in common),
        tuple({bare_words(node): node for node in texts if bare_words(node) in common}.values()),
        frozenset(id_only),
        _shared_paragraphs(session, texts, meant),
        frozenset(subjects),
    )


def is_heading(node: Node) -> bool:
    """True if a node of a file is its title or a heading: it names a topic and states nothing."""
    return node.kind == "source" or "level" in node.props


def _boilerplate(texts: Sequence[Node], copies: Sequence[Node]) -> set[str]:
    """Returns, as bare words, those of the texts of which at least BOILERPLATE_FILES other files have a copy. A file
    with copies of more than half of the texts is not counted: it is a copy of the whole.
    """
    own = {bare_words(node) for node in texts}
    where: dict[str, set[str | None]] = defaultdict(set)
    for node in copies:
        if bare_words(node) in own:
            where[bare_words(node)].add(node.source)
    shared = Counter(source for sources in where.values() for source in sources)
    whole_copies = {source for source, number in shared.items() if 2 * number > len(own)}
    return {words for words, sources in where.items() if len(sources - whole_copies) >= BOILERPLATE_FILES}


def _shared_paragraphs(session: Session, texts: Sequence[Node], meant: Collection[str]) -> frozenset[str]:
    """Returns those paragraphs of these passages, as bare words, that at least BOILERPLATE_FILES other files contain.

    Looks only for the first BOILERPLATE_SEARCHES paragraphs of at most BOILERPLATE_CHARS characters.
    """
    found: set[str] = set()
    blocks = {one for node in texts for one in (paragraphs(node.text) if "\n\n" in node.text else ())}
    short = sorted(one for one in blocks if len(one) <= BOILERPLATE_CHARS)
    for words in short[:BOILERPLATE_SEARCHES]:
        query = TextQuery(" ".join(WORD.findall(words)))
        hits = session.store.text(session.scope, query, BOILERPLATE_HITS, Where(), nodes=True)
        nodes = [hit.node for hit in hits if hit.node is not None and hit.node.id not in meant]
        if len({node.source for node in nodes if words in paragraphs(node.text)}) >= BOILERPLATE_FILES:
            found.add(words)
    return frozenset(found)


def forget(session: Session, doomed: Doomed, purge: bool, progress: Progress | None, now: int) -> list[str]:
    """Removes these nodes for good and returns the ids that existed. All go in one transaction, or none.

    In the same transaction, near duplicates are grouped anew, links to the nodes end, and summaries that dreams made of
    them are removed. Raises MirrorError if a mirror was not updated: the nodes are forgotten nevertheless.
    """
    store, scope, vectors = session.store, session.scope, session.vectors
    ids, id_only = doomed.ids, doomed.id_only
    homes = own_nodes(store, scope, ids)
    for partition, leaving in homes.items():
        others = [node for node in leaving if node.id not in doomed.subjects]
        batch = facts_outliving_forgotten(store, partition, others, now)
        if batch.fact_successors:
            vectors.write(partition, batch)
    along: dict[Scope, Batch] = {}
    for partition, leaving in homes.items():
        batch = Batch()
        regroup(store, partition, batch, leaving=leaving)
        resolve_links(store, partition, LinkChange(leaving=[node.id for node in leaving]), batch, now)
        invalidate(store, partition, batch, leaving)
        if batch != Batch():
            along[partition] = batch
    how = Forgetting(purge, progress, along, id_only, doomed.shared)
    gone = vectors.written(along.values(), lambda: store.forget(scope, ids, now, how))
    clear_name_caches()
    teams = {partition.share for partition in homes if partition.share}
    followed = sync_registered(store, scope, session.home, teams=teams)
    if followed.problems:
        raise MirrorError(f"it is forgotten, but a mirror may still show it. {'. '.join(followed.problems)}")
    return gone


def delete_one_copy(session: Session, nodes: Sequence[Node], atoms: Sequence[Node], now: int) -> None:
    """Deletes nodes and atoms as mem0 and the reference MCP memory server do; `forget` would remove copies of their
    texts too. An atom of whose text another node (of another mem0 owner or entity) has a copy is only removed,
    without a tombstone. The rest is forgotten.
    """
    copies = plan_forget(session, [atom.id for atom in atoms], None).copies if atoms else ()
    elsewhere = {bare_words(copy) for copy in copies}
    shared = [atom.id for atom in atoms if bare_words(atom) in elsewhere]
    if shared:
        write(session, Batch(remove_nodes=shared), now)
    ids = [node.id for node in (*nodes, *atoms) if node.id not in shared]
    if ids:
        forget(session, plan_forget(session, ids, None), purge=False, progress=None, now=now)
