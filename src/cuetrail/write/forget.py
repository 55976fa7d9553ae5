"""Forgetting: nodes are removed for good, with their copies and all that was derived from them; then mirrors follow.

A node that is named goes with its copies. If a file is forgotten, all its texts go, with copies of them elsewhere.
But a file shares some words with other files: its headings, and boilerplate that many files contain. Those words are
removed from the file and stay elsewhere. `redact_stored` cuts a forgotten paragraph out of other memories.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from cuetrail.dream.reconcile import invalidate
from cuetrail.errors import InputError, MirrorError
from cuetrail.facts.find_node import nodes_of, require_node, require_own
from cuetrail.mirror import sync_registered
from cuetrail.model import Edge, Fact, Node, Note, Scope, SourceFile, Version
from cuetrail.session import Session
from cuetrail.store.shared.ids import SIGN, own_nodes, plain
from cuetrail.store.shared.tombstones import bare_words, match_known, node_paragraphs, whole_tombstones
from cuetrail.store.write import Batch, Forgetting, Progress
from cuetrail.text.names import clear_name_caches
from cuetrail.write.links import LinkChange, resolve_links
from cuetrail.write.near_duplicate_tags import regroup
from cuetrail.write.pipeline import write
from cuetrail.write.redact_stored import find_fields, find_holders, remove_quotes
from cuetrail.write.stated_facts import facts_outliving_forgotten

BOILERPLATE_FILES = 3
"""Words in at least this many other files are boilerplate. Copies, which share most of a file's text, do not count."""
BOILERPLATE_CHARS = 300
"""A longer paragraph is no boilerplate."""


@dataclass(frozen=True, slots=True)
class Doomed:
    """The nodes that `forget` removes: those that the caller chose (`meant`), and their `copies`. The nodes `cut` say
    more, and lose the forgotten paragraphs: `left` has the text that stays of each, in the same order.

    `common` are examples of boilerplate in a forgotten file, which stays elsewhere. `id_only` are the ids of nodes that
    are removed without a tombstone for their words; `shared` are paragraphs, as bare words, that get no tombstone
    because other files contain them too. `subjects` are the ids that the caller named: every fact about them is
    removed. Of other notes only the facts that their own files state are removed. `everything`: the nodes are all that
    the user has, and facts, notes, edges and names of files go with them.
    """

    meant: tuple[Node, ...]
    copies: tuple[Node, ...] = ()
    cut: tuple[Node, ...] = ()
    left: tuple[str, ...] = ()
    common: tuple[Node, ...] = ()
    id_only: frozenset[str] = frozenset()
    shared: frozenset[str] = frozenset()
    subjects: frozenset[str] = frozenset()
    everything: bool = False

    @property
    def ids(self) -> list[str]:
        """The ids of all nodes that are removed, each once."""
        return list(dict.fromkeys(node.id for node in (*self.meant, *self.copies)))

    @property
    def texts(self) -> list[Node]:
        """The nodes whose texts are forgotten wherever they stand."""
        nodes = (node for node in (*self.meant, *self.copies) if node.id not in self.id_only)
        return [node for node in nodes if node.text and not is_heading(node)]


def plan_forget(session: Session, ids: Sequence[str], source: str | None, everything: bool = False) -> Doomed:
    """Returns what forgetting these nodes, given by id or name, and a source file would remove; or all of the user's.

    The node of a file stands for the whole file. Raises NotFound if a node is missing or another user's, and InputError
    if nothing is given, or more than `everything`.
    """
    store, scope = session.store, session.scope
    if everything and (ids or source is not None):
        raise InputError("everything is more than ids and a source: give one or the other")
    if everything:
        return _all_of_the_user(session)
    if not ids and source is None:
        raise InputError(
            "say what to forget: ids or names, a source (a file or conversation), or everything=True (--everything)"
        )

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
    doomed = Doomed(
        (*named, *rest),
        tuple(node for node in copies if bare_words(node) not in common),
        common=tuple({bare_words(node): node for node in texts if bare_words(node) in common}.values()),
        id_only=frozenset(id_only),
        subjects=frozenset(subjects),
    )
    return _with_holders(session, doomed, {one for node in named for one in node_paragraphs(node)})


def _all_of_the_user(session: Session) -> Doomed:
    """Returns the plan to forget every node that the user owns, in all partitions that the scope sees."""
    store, scope = session.store, session.scope
    ids: list[str] = []
    for team, record in store.scan(scope):
        if isinstance(record, Node):
            owner = f"{scope.user}/{team}" if team else scope.user
            ids += [record.id] if team == scope.share else [f"{record.id}{SIGN}{owner}", record.id]
    own = {(node.team, plain(node.id)): node for node in store.get(scope, ids).values() if node.owner == scope.user}
    nodes = sorted(own.values(), key=lambda node: (node.source or "", node.seq, node.id))
    return Doomed(tuple(nodes), subjects=frozenset(node.id for node in nodes), everything=True)


def _with_holders(session: Session, doomed: Doomed, named: Collection[str]) -> Doomed:
    """Returns the plan with the nodes that contain forgotten paragraphs, and with the paragraphs that stay elsewhere.

    Those that were `named` do not stay.
    """
    holders = find_holders(session, doomed.texts, doomed.ids)
    shared = _shared_paragraphs(holders).difference(named)
    found = {node.id: node for words, some in holders.items() if words not in shared for node in some}
    own = [node for node in found.values() if node.owner == session.scope.user and not is_heading(node)]
    matches = match_known(own, whole_tombstones(doomed.texts, shared))
    copies = [node for node in own if node.id in matches and not matches[node.id].rest]
    cut = [node for node in own if node.id in matches and matches[node.id].rest]
    left = tuple(matches[node.id].rest for node in cut)
    return replace(doomed, copies=(*doomed.copies, *copies), cut=tuple(cut), left=left, shared=shared)


def is_heading(node: Node) -> bool:
    """True if a node of a file is its title or a heading: it names a topic and states nothing."""
    return node.kind == "source" or "level" in node.props


def _boilerplate(texts: Sequence[Node], copies: Sequence[Node]) -> set[str]:
    """Returns those of the texts of which at least BOILERPLATE_FILES other files have a copy, each reduced to its words
    (`bare_words`). A file with copies of more than half of the texts is not counted: it is a copy of the whole.
    """
    own = {bare_words(node) for node in texts}
    where: dict[str, set[str | None]] = defaultdict(set)
    for node in copies:
        if bare_words(node) in own:
            where[bare_words(node)].add(node.source)
    return _in_many_files(where, len(own))


def _shared_paragraphs(holders: Mapping[str, Sequence[Node]]) -> frozenset[str]:
    """Returns the short paragraphs, in bare words, that BOILERPLATE_FILES other files contain, copies not counted."""
    where = {words: {node.source for node in some if words in node_paragraphs(node)} for words, some in holders.items()}
    return frozenset(words for words in _in_many_files(where, len(where)) if len(words) <= BOILERPLATE_CHARS)


def _in_many_files(where: Mapping[str, set[str | None]], total: int) -> set[str]:
    """Returns the words (keys of `where`) that at least BOILERPLATE_FILES of their files contain.

    A file with more than half of the `total` texts is not counted: it is a copy of the whole.
    """
    shared = Counter(source for sources in where.values() for source in sources)
    whole_copies = {source for source, number in shared.items() if 2 * number > total}
    return {words for words, sources in where.items() if len(sources - whole_copies) >= BOILERPLATE_FILES}


def forget(session: Session, doomed: Doomed, purge: bool, progress: Progress | None, now: int) -> list[str]:
    """Removes these nodes for good and returns the ids that existed. All go in one transaction, or none.

    In the same transaction other memories lose the forgotten paragraphs, near duplicates are grouped anew, links to the
    nodes end, and summaries that dreams made of them are removed. Raises MirrorError if a mirror could not follow: the
    nodes are forgotten nevertheless.
    """
    store, scope, vectors = session.store, session.scope, session.vectors
    ids, id_only = doomed.ids, doomed.id_only
    homes = own_nodes(store, scope, ids)
    if doomed.everything:
        along = _other_records(session)
        gone = store.forget(scope, ids, now, Forgetting(purge, progress, along))
        return _followed(session, gone, (*homes, *along))
    for partition, leaving in homes.items():
        others = [node for node in leaving if node.id not in doomed.subjects]
        batch = facts_outliving_forgotten(store, partition, others, now)
        if batch.fact_successors:
            vectors.write(partition, batch)
    along = _along(session, doomed, homes, now)
    how = Forgetting(purge, progress, along, id_only, doomed.shared)
    gone = vectors.written(along.values(), lambda: store.forget(scope, ids, now, how))
    return _followed(session, gone, (*homes, *along))


def _followed(session: Session, gone: list[str], partitions: Iterable[Scope]) -> list[str]:
    """Updates the mirrors after a forgetting and returns the ids. Raises MirrorError if one could not follow."""
    clear_name_caches()
    teams = {partition.share for partition in partitions if partition.share}
    followed = sync_registered(session.store, session.scope, session.home, teams=teams)
    if followed.problems:
        raise MirrorError(f"it is forgotten, but a mirror may still show it. {'. '.join(followed.problems)}")
    return gone


def _other_records(session: Session) -> dict[Scope, Batch]:
    """Returns, by partition, the removal of all that the user owns besides nodes, such as facts about those of
    teammates, and names of files and folders.
    """
    store, scope = session.store, session.scope
    found: dict[Scope, Batch] = defaultdict(Batch)
    for team, record in store.scan(scope):
        batch = found[replace(scope, share=team)]
        match record:
            case Edge():
                batch.remove_edges.append(record.id)
            case Fact():
                batch.remove_facts.append(record.id)
            case Note():
                batch.remove_notes.append(record.id)
            case Version():
                batch.remove_versions.append(record)
            case SourceFile():
                batch.remove_sources.append(record.path)
    for partition in (replace(scope, share=team) for team in (None, *scope.teams)):
        if roots := store.ingested(partition).roots:
            found[partition].remove_roots = sorted(roots)
    return dict(found)


def _along(session: Session, doomed: Doomed, homes: Mapping[Scope, Sequence[Node]], now: int) -> dict[Scope, Batch]:
    """Returns what is written together with a forgetting, by partition."""
    store, scope = session.store, session.scope
    known = whole_tombstones(doomed.texts, doomed.shared)
    words = {one for node in doomed.texts for one in node_paragraphs(node)}
    found = find_fields(store, scope, words - doomed.shared)
    for partition, nodes in own_nodes(store, scope, [node.id for node in doomed.cut]).items():
        found.setdefault(partition, Batch()).nodes += nodes
    along: dict[Scope, Batch] = {}
    for partition in dict.fromkeys((*homes, *found)):
        batch, leaving = Batch(), homes.get(partition, [])
        ids = {node.id for node in leaving}
        quotes = remove_quotes(store, partition, batch, found.get(partition, Batch()), known, ids)
        cut = {node.id for node in quotes.cut}
        changed = [node for node in batch.nodes if node.id in cut]
        regroup(store, partition, batch, relabelled=changed, leaving=[*leaving, *quotes.cut])
        change = LinkChange(ended=quotes.ended, arriving=quotes.renamed, leaving=sorted(ids))
        resolve_links(store, partition, change, batch, now)
        invalidate(store, partition, batch, [*leaving, *quotes.cut])
        if batch != Batch():
            along[partition] = batch
    return along


def delete_one_copy(session: Session, nodes: Sequence[Node], atoms: Sequence[Node], now: int) -> None:
    """Deletes nodes and atoms as mem0 and the reference MCP memory server do; `forget` would remove copies of their
    texts too. An atom of whose text another node (of another mem0 owner or entity) has a copy is only removed,
    without a tombstone. The rest is forgotten.
    """
    plan = plan_forget(session, [atom.id for atom in atoms], None) if atoms else Doomed(())
    elsewhere = {bare_words(copy) for copy in plan.copies}
    inside = [atom.id for atom in atoms if match_known(plan.cut, whole_tombstones([atom]))]
    shared = [atom.id for atom in atoms if bare_words(atom) in elsewhere or atom.id in inside]
    if shared:
        write(session, Batch(remove_nodes=shared), now)
    ids = [node.id for node in (*nodes, *atoms) if node.id not in shared]
    if ids:
        forget(session, plan_forget(session, ids, None), purge=False, progress=None, now=now)
