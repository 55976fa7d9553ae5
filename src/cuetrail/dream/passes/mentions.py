"""Connects texts, and their sources, to the nodes they name: `mentions` edges and Mention records.

A name refers to the same node as in ingest: a note first, then the smallest id; an entity made from a shared name only
if no other node has the name. If ingest already made an edge for the name or link, no second edge is added.

The ledger stores which atom names which node, how often, and in which source. A source keeps its Mention of a node
while any of its atoms names the node.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import chain

from cuetrail.dream.context import DreamContext, Work
from cuetrail.dream.vocabulary import NodeNames, cached_words, mark_unsettled
from cuetrail.dream.word_matcher import WordMatcher
from cuetrail.formulas import mention_weight
from cuetrail.model import Edge, Mention, PassReport
from cuetrail.model.ids import derived_edge_id
from cuetrail.model.records import SEMANTIC_KINDS
from cuetrail.store.dream import Atom, Book, Entry, NodeOutline, Writes
from cuetrail.store.read import edges_by_id

NAME = "mentions"
VERSION = "1"
KIND = "mentions"
VIA = "dream:mentions"
# If more atoms changed, the ledger marks the nodes they name instead of each atom and node.
FEW = 1_000


def mentions(context: DreamContext) -> PassReport:
    """Connects every atom to the nodes that it names."""
    work = Work(context, NAME)
    state = work.memory.state(VERSION)
    if state == "idle":
        return work.report()
    words = cached_words(NodeNames, context.store, context.scope, work.names())
    new, gone = words.difference(work.memory.all(Book.NAME_WORDS))
    ledger = Writes(drop=[(Book.NAME_WORDS, row) for row in gone], put=[(Book.NAME_WORDS, row) for row in new])
    fresh = state == "new"
    if fresh:
        work.save(ledger)
    again = not fresh and bool(new or gone)
    if again:
        work.save(mark_unsettled(Book.NAME_WORDS, new, gone))
    for some in work.slices(VERSION):
        writes = _updates(work, some.atoms, words.matcher, work.memory.within(Book.ATOM_NAMES, some.runs), some.runs)
        # The last mark completes the pass, so it is saved only after all texts were checked again.
        writes.mark, ledger.mark = ledger.mark if again else some.mark, some.mark
        work.save(writes)
    if again:
        _update_for_names(work, words, new, gone)
        work.save(ledger)
    return work.report()


def _update_for_names(work: Work, words: NodeNames, new: Mapping[Entry, str], gone: Collection[Entry]) -> None:
    """Updates the atoms whose texts contain a new or removed name. Only edges to the nodes of these names change."""
    changed_nodes = {row.second for row in (*new, *gone)}
    few = words.for_nodes(changed_nodes)
    stale = set(chain.from_iterable(work.memory.firsts(Book.ATOM_NAMES, {row.second for row in gone}).values()))
    stale |= work.named_in(set(new.values()))
    for atoms in work.pieces(stale):
        known = work.memory.by_first(Book.ATOM_NAMES, [atom.key for atom in atoms])
        old = [row for row in known if row.second in changed_nodes]
        work.save(_updates(work, atoms, few, old, others=[row for row in known if row.second not in changed_nodes]))


def _updates(
    work: Work,
    atoms: Sequence[Atom],
    words: WordMatcher[int],
    old: Sequence[Entry],
    runs: Sequence[tuple[int, int]] = (),
    others: Sequence[Entry] = (),
) -> Writes:
    """Returns the writes that replace the `old` ledger rows of these atoms (which nodes an atom names, and how often)
    by those of the words found in their texts now, with the edges that follow.

    Rows of removed atoms are dropped. `runs` are the key ranges of nodes that may have changed; sources in them may
    have another time. `others` are rows of the atoms that stay unchanged.
    """
    said = words.count([atom.text for atom in atoms])
    named = {atom.key: nodes for atom, nodes in zip(atoms, said, strict=True)}
    sources = work.memory.sources([atom for atom, nodes in named.items() if nodes])
    new = [
        Entry(atom, node, sources.get(atom, atom), times)
        for atom, nodes in named.items()
        for node, times in nodes.items()
        if node != atom
    ]
    coming, going = set(new).difference(old), set(old).difference(new)
    writes = Writes()
    writes.drop = [(Book.ATOM_NAMES, row) for row in sorted(going)]
    writes.put = [(Book.ATOM_NAMES, row) for row in sorted(coming)]
    moved = {row[:2] for row in coming} ^ {row[:2] for row in going}
    changed_atoms = {atom for atom, _ in moved}
    if len(changed_atoms) > FEW:
        # If an atom names one node more or less, the co-occurrences of all nodes it names change.
        company = {row.second for row in (*old, *new, *others) if row.first in changed_atoms}
        writes.put += [(Book.RECOUNT, Entry(node)) for node in company]
    else:
        writes.put += [(Book.CHANGED_MENTION, Entry(*pair)) for pair in moved]
    _update_edges(work, writes, atoms, old, new)
    _count(work, writes, old, new, runs)
    return writes


def _update_edges(
    work: Work, writes: Writes, atoms: Sequence[Atom], old: Sequence[Entry], new: Sequence[Entry]
) -> None:
    """Adds to `writes` the new and changed edges from the atoms to the nodes they name, and the removal of old ones."""
    nodes = work.memory.nodes({row.second for row in (*old, *new)})
    atoms_by_key = {atom.key: atom for atom in atoms}
    joined = work.memory.linked({row.first for row in new})
    wanted: dict[str, Edge] = {}
    for row in new:
        atom, node = atoms_by_key[row.first], nodes.get(row.second)
        if node is not None and row[:2] not in joined and not _is_own(atom, node):
            id_, weight, now = _edge_id(atom.id, node.id), mention_weight(row.fourth), work.context.now
            wanted[id_] = Edge(id_, atom.id, node.id, KIND, weight, via=VIA, created=now, updated=now)
    # The atom of an old row may be removed with its edges, or quarantined and still have them.
    names = {key: brief.id for key, brief in work.memory.nodes({row.first for row in old}).items()}
    names |= {atom.key: atom.id for atom in atoms}
    pairs = ((names.get(row.first), nodes.get(row.second)) for row in (*old, *new))
    known = {_edge_id(atom, node.id) for atom, node in pairs if atom is not None and node is not None}
    present = edges_by_id(work.context.store, work.context.scope, sorted(known))
    writes.batch.remove_edges += sorted(present.keys() - wanted.keys())
    writes.batch.edges += [
        edge for id_, edge in wanted.items() if id_ not in present or present[id_].weight != edge.weight
    ]


def _is_own(atom: Atom, node: NodeOutline) -> bool:
    """True if the node represents the file that the atom belongs to."""
    return node.kind == "source" and node.source is not None and node.source == atom.source


def _edge_id(atom: str, node: str) -> str:
    return derived_edge_id(NAME, atom, node)


def _count(
    work: Work, writes: Writes, old: Sequence[Entry], new: Sequence[Entry], runs: Sequence[tuple[int, int]]
) -> None:
    """Adds to `writes` how many atoms of each source name a node, and the Mention records that follow: one, with the
    source's time, while at least one atom does.
    """
    more = Counter((row.third, row.second) for row in new if row.third != row.second)
    # Rows of imported records have no count.
    more.subtract((row.third, row.second) for row in old if row.third != row.second and row.fourth)
    changed = {pair for pair, n in more.items() if n}
    rows = [
        row for row in work.memory.by_first(Book.SOURCE_NAMES, {source for source, _ in changed}) if row[:2] in changed
    ]
    present = {(row.first, row.second): row for row in (*rows, *work.memory.within(Book.SOURCE_NAMES, runs))}
    nodes = work.memory.nodes({key for pair in (*changed, *present) for key in pair})
    for pair in sorted(changed | present.keys()):
        source, node = nodes.get(pair[0]), nodes.get(pair[1])
        was = present.get(pair)
        count = (was.third if was else 0) + more[pair]
        if source is None or node is None or count <= 0:
            if was is not None:
                writes.drop.append((Book.SOURCE_NAMES, was))
                writes.put.append((Book.STALE_STORY, Entry(*pair)))
            if was is not None and source is not None and node is not None:
                writes.remove_mentions.append((source.id, node.id))
            continue
        now = Entry(*pair, count, source.at)
        if now != was:
            writes.put.append((Book.SOURCE_NAMES, now))
        if was is None or was.fourth != source.at:
            writes.batch.mentions.append(Mention(source.id, node.id, source.at))
            writes.drop.append((Book.STALE_STORY, Entry(*pair)))
            if node.kind in SEMANTIC_KINDS:
                writes.put.append((Book.UNPLACED, Entry(*pair, source.at)))
