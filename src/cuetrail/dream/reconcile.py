"""Keeps dream output right when memories are imported or forgotten.

`reconcile` registers imported dream output in the ledger, the tables in which passes note what they made, so that later
dreams treat it as their own. The ledger identifies nodes by the engine's own keys, so it cannot be exported with them.
Without rows in the ledger a dream would not know which imported records it may change or remove, and would create some
of them again. Each pass then checks the registered records: it keeps those that follow from its rule and removes the
others. If the ledger already has a different row for a record, the row of the ledger wins.

`invalidate` removes the summaries of memories that are removed. The next dream writes them again from what remains.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import TypeVar

from cuetrail.dream.context import BATCH, DreamContext, Work
from cuetrail.dream.passes import cooccurrence, episodes, mentions, storylines
from cuetrail.dream.passes.consolidation import KEYWORDS, SUMMARY
from cuetrail.dream.passes.storylines import ABOUT, PART_OF
from cuetrail.model import STORYLINE_KINDS, Direction, Edge, Mention, Node, Scope, Where
from cuetrail.model.ids import source_id
from cuetrail.model.records import SEMANTIC_KINDS
from cuetrail.store.dream import Book, Entry, NodeOutline, Writes, unbegun
from cuetrail.store.graph import EdgeFilter, StepQuery
from cuetrail.store.ports import Store
from cuetrail.store.read import Record
from cuetrail.store.write import Batch

NAME = "adopting"

# Includes quarantined and archived nodes.
EVERY = Where(quarantined=True, archived=True)

# A limit for one import, because a file may state any length of an episode.
MOST_BRIDGES = 20_000
MOST_STEPS = 10_000

_R = TypeVar("_R", Node, Edge, Mention)


def reconcile(context: DreamContext) -> None:
    """Enters imported dream output of the partition in the ledger, the passes' record of what they made, if an import
    or a copy added any.
    """
    work = Work(context, NAME)
    imports = work.memory.all(Book.IMPORTED)
    if not imports:
        return
    _restart_passes(context)
    records = (record for team, record in context.store.scan(context.scope) if team == context.scope.share)
    output = (record for record in records if _is_dream_output(record))
    episode_ids: list[str] = []
    storyline_ids: list[str] = []
    while some := list(islice(output, BATCH)):
        work.save(_ledger_writes(work, some))
        episode_ids += (node.id for node in _of(Node, some) if node.kind == episodes.KIND)
        storyline_ids += (node.id for node in _of(Node, some) if node.kind == storylines.KIND)
    _remove_empty_episodes(work, episode_ids)
    _mark_outdated_storylines(work, storyline_ids)
    work.save(Writes(drop=[(Book.IMPORTED, row) for row in imports]))


def _restart_passes(context: DreamContext) -> None:
    """Makes the passes `mentions` and `episodes` read every atom again: atoms that only got edges by an import are not
    logged as changed.
    """
    for name, version in ((mentions.NAME, mentions.VERSION), (episodes.NAME, episodes.VERSION)):
        work = Work(context, name)
        if work.memory.state(version) != "new":
            work.save(Writes(mark=unbegun(version)))


def _is_dream_output(record: Record) -> bool:
    """True for a record of a kind that passes make and enter in the ledger."""
    if isinstance(record, Edge):
        return record.via in (mentions.VIA, cooccurrence.VIA, episodes.VIA, storylines.VIA)
    return isinstance(record, Mention) or (isinstance(record, Node) and record.kind in (episodes.KIND, storylines.KIND))


def _ledger_writes(work: Work, some: Sequence[Record]) -> Writes:
    """Returns the writes that add rows for these records to the ledger, or replace rows that differ from them."""
    edges: dict[str | None, list[Edge]] = defaultdict(list)
    for edge in _of(Edge, some):
        edges[edge.via].append(edge)
    known = _Lookup(work, some)
    writes = Writes()
    _occurrences(known, writes, edges[mentions.VIA])
    _cooccurrences(known, writes, edges[cooccurrence.VIA])
    _timeline(known, writes, edges[episodes.VIA])
    _mentions(known, writes, _of(Mention, some))
    _stories(known, writes, edges[storylines.VIA], [node for node in _of(Node, some) if node.kind == storylines.KIND])
    return writes


def _of(kind: type[_R], some: Iterable[Record]) -> list[_R]:
    return [record for record in some if isinstance(record, kind)]


class _Lookup:
    """The keys by id, and the outlines (id, kind, time and file) by key, of all nodes that the records refer to."""

    def __init__(self, work: Work, some: Sequence[Record]) -> None:
        self.work = work
        ends = {end for record in some for end in _ends(record)}
        self.keys: Mapping[str, int] = work.memory.keys(ends)
        self.briefs: Mapping[int, NodeOutline] = work.memory.nodes(self.keys.values())

    def pairs(self, records: Iterable[Edge | Mention]) -> Iterator[tuple[int, int]]:
        """Yields the keys of both ends of each record, if both nodes exist here."""
        for record in records:
            ends = [self.keys[end] for end in _ends(record) if end in self.keys]
            if len(ends) == 2:
                yield ends[0], ends[1]

    def rows(self, book: Book, firsts: Iterable[int]) -> dict[tuple[int, int], Entry]:
        return {(row.first, row.second): row for row in self.work.memory.by_first(book, set(firsts))}


def _ends(record: Record) -> tuple[str, ...]:
    if isinstance(record, Edge):
        return record.src, record.dst
    if isinstance(record, Mention):
        return record.source, record.node
    anchor = record.props.get("anchor") if isinstance(record, Node) else None
    return (anchor,) if isinstance(anchor, str) else ()


# --- one function for each book of the ledger


def _occurrences(known: _Lookup, writes: Writes, edges: Sequence[Edge]) -> None:
    """Adds a ledger row (atom, node that it names) for each imported `mentions` edge that has none. How often the atom
    names the node is counted when the pass `mentions` reads the text.
    """
    pairs = set(known.pairs(edges))
    there = known.rows(Book.ATOM_NAMES, (atom for atom, _ in pairs))
    pairs -= there.keys()
    atoms = {atom for atom, _ in pairs}
    sources = known.work.memory.sources(atoms)
    writes.put += ((Book.ATOM_NAMES, Entry(*pair, sources.get(pair[0], pair[0]))) for pair in sorted(pairs))
    company = {node for atom, node in (*pairs, *there) if atom in atoms}
    writes.put += ((Book.RECOUNT, Entry(node)) for node in sorted(company))


def _cooccurrences(known: _Lookup, writes: Writes, edges: Sequence[Edge]) -> None:
    """Adds ledger rows for imported co-occurrence edges whose weight does not follow from the rows that exist.

    Such an edge gets a row for each of its nodes, with an unknown share. Both nodes are marked to be counted again.
    """
    weights = {pair: edge.weight for edge in edges for pair in known.pairs([edge])}
    there = known.rows(Book.CO_OCCURS, {node for pair in weights for node in pair})
    for (one, other), weight in sorted(weights.items()):
        both = ((one, other), (other, one))
        if weight != cooccurrence.weight_of([there[pair] for pair in both if pair in there]):
            writes.put += ((Book.CO_OCCURS, Entry(*pair, cooccurrence.UNKNOWN)) for pair in both)
            writes.put += ((Book.RECOUNT, Entry(node)) for node in (one, other))


def _timeline(known: _Lookup, writes: Writes, edges: Sequence[Edge]) -> None:
    """Adds ledger rows for the episode of each atom. Removes an imported edge to an episode if the ledger or the atom's
    time contradicts it.
    """
    ends = [(edge, known.keys.get(edge.src), episodes.number_of(edge.dst)) for edge in edges]
    there = {atom: row for (atom, _), row in known.rows(Book.TIMELINE, (atom for _, atom, _ in ends if atom)).items()}
    spans = _spans(known, {edge.dst for edge in edges})
    for edge, atom, number in ends:
        if atom is None or number is None:
            continue
        row = there.get(atom) or Entry(atom, known.briefs[atom].at)
        start, end = spans.get(edge.dst, (row.second, row.second))
        if row.third != number and (row.third or not start <= row.second <= end):
            writes.batch.remove_edges.append(edge.id)
        else:
            there[atom] = row._replace(third=number)
            writes.put.append((Book.TIMELINE, there[atom]))
        writes.put.append((Book.CHANGED_TIME, Entry(0, row.second)))
    # Times without a gap between them, so that the pass checks all atoms of an episode together.
    bridges = {
        time for start, end in spans.values() for time in islice(range(start, end + 1, episodes.GAP), MOST_BRIDGES)
    }
    writes.put += ((Book.CHANGED_TIME, Entry(0, time)) for time in sorted(bridges))


def _spans(known: _Lookup, ids: Collection[str]) -> dict[str, tuple[int, int]]:
    """Returns the start and the end of each of these episodes."""
    nodes = known.work.context.store.get(known.work.context.scope, sorted(ids))
    spans = {id_: (node.props.get("start"), node.props.get("end")) for id_, node in nodes.items()}
    return {id_: (a, b) for id_, (a, b) in spans.items() if isinstance(a, int) and isinstance(b, int)}


def _remove_empty_episodes(work: Work, ids: Sequence[str]) -> None:
    """Removes those of these episodes that no atom belongs to."""
    for start in range(0, len(ids), BATCH):
        some = tuple(ids[start : start + BATCH])
        query = StepQuery(some, 1, "in", EdgeFilter(kinds=(episodes.EDGE,)), EVERY)
        steps = work.context.store.steps(work.context.scope, query)
        work.save(Writes(batch=Batch(remove_nodes=[id_ for id_ in some if not steps.get(id_)])))


def _mentions(known: _Lookup, writes: Writes, found: Sequence[Mention]) -> None:
    """Adds a ledger row for each of these mentions, or corrects its time. How many atoms of a source mention a node is
    counted when the pass `mentions` reads the texts.
    """
    pairs = {pair: record.at for record in found for pair in known.pairs([record])}
    there = known.rows(Book.SOURCE_NAMES, (source for source, _ in pairs))
    placed = {source for source, _ in known.rows(Book.PLACED, (source for source, _ in pairs))}
    writes.put += (
        (Book.SOURCE_NAMES, row._replace(fourth=pairs[pair]))
        for pair, row in there.items()
        if row.fourth != pairs.get(pair, row.fourth)
    )
    for pair in sorted(pairs.keys() - there.keys()):
        writes.put.append((Book.SOURCE_NAMES, Entry(*pair, 0, pairs[pair])))
        if known.briefs[pair[1]].kind in SEMANTIC_KINDS and pair[0] not in placed:
            writes.put.append((Book.UNPLACED, Entry(*pair, pairs[pair])))


def _stories(known: _Lookup, writes: Writes, edges: Sequence[Edge], nodes: Sequence[Node]) -> None:
    """Adds ledger rows for imported storylines and for the sources that belong to them. Removes the edge of a source to
    a second storyline.
    """
    parts = [edge for edge in edges if edge.kind == storylines.PART_OF]
    store, scope = known.work.context.store, known.work.context.scope
    nodes_by_id = {node.id: node for node in nodes} | store.get(scope, list({edge.dst for edge in parts}))
    anchors = known.work.memory.keys({anchor for node in nodes_by_id.values() for anchor in _ends(node)})
    rows: dict[str, Entry] = {}
    for node in nodes_by_id.values():
        number, anchor = storylines.number_of(node.id), next((anchors.get(end) for end in _ends(node)), None)
        if number is not None and anchor is not None:
            rows[node.id] = Entry(
                number, anchor, int(node.props.get("end", node.at)), int(bool(node.props.get("open")))
            )
    begun = {first for first, _ in known.rows(Book.STORY, (row.first for row in rows.values()))}
    writes.put += [(Book.STORY, row) for row in rows.values() if row.first not in begun]
    joining = [(edge, known.keys[edge.src]) for edge in parts if edge.src in known.keys and edge.dst in rows]
    there = dict(known.rows(Book.PLACED, (source for _, source in joining)).keys())
    placed = dict(there)
    placing: dict[int, Entry] = {}
    for edge, source in joining:
        # A source is in one storyline at most. If there are two, the one in the ledger wins.
        if placed.setdefault(source, rows[edge.dst].first) != rows[edge.dst].first:
            writes.batch.remove_edges.append(edge.id)
        else:
            placing[source] = rows[edge.dst]
    new = placing.keys() - there.keys()
    for source in sorted(new):
        story = placing[source]
        writes.put.append((Book.PLACED, Entry(source, story.first, story.second, known.briefs[source].at)))
    writes.drop += [(Book.UNPLACED, row) for row in known.work.memory.by_first(Book.UNPLACED, new)]
    # Also drop the rows of mentions in this batch, which are not in the ledger yet.
    writes.put = [(book, row) for book, row in writes.put if book != Book.UNPLACED or row.first not in placing]


def _mark_outdated_storylines(work: Work, ids: Sequence[str]) -> None:
    """Marks in the ledger the storylines whose number of sources or last time differs from their summary's, so that
    the summary is written again.
    """
    for start in range(0, len(ids), BATCH):
        nodes = work.context.store.get(work.context.scope, ids[start : start + BATCH])
        numbers = {number: node for id_, node in nodes.items() if (number := storylines.number_of(id_)) is not None}
        times: dict[int, list[int]] = defaultdict(list)
        for row in work.memory.by_second(Book.PLACED, numbers):
            times[row.second].append(row.fourth)
        stale = [
            number
            for number, node in numbers.items()
            if (node.props.get("sources"), node.props.get("end")) != (len(times[number]), max(times[number], default=0))
        ]
        work.save(Writes(put=[(Book.STALE_STORY, Entry(number)) for number in sorted(stale)]))


def invalidate(store: Store, scope: Scope, batch: Batch, leaving: Sequence[Node]) -> None:
    """Adds to a batch the removal of storylines, of macros (summaries of storylines) and of file summaries that were
    made of any of the nodes in `leaving`.
    """
    ids = {node.id for node in leaving}
    files = {source_id(node.source) for node in leaving if node.source is not None} - ids
    stories = _around(store, scope, {*ids, *files}, "out", PART_OF) | _around(store, scope, ids, "in", ABOUT)
    outdated = stories | _around(store, scope, stories, "out", PART_OF)
    batch.remove_nodes += sorted(outdated - ids)
    changed = {node.id: node for node in batch.nodes}
    for id_, stored in store.get(scope, sorted(files)).items():
        node = changed.get(id_, stored)
        # One that contained the forgotten text is gone by now, but its keywords are not.
        if SUMMARY in node.props or KEYWORDS in node.props:
            props = {name: value for name, value in node.props.items() if name not in (SUMMARY, KEYWORDS)}
            changed[id_] = replace(node, props=props)
    batch.nodes = list(changed.values())


def _around(store: Store, scope: Scope, ids: Iterable[str], direction: Direction, kind: str) -> set[str]:
    """Returns the ids of the storylines and macros to which edges of this kind and direction lead from these nodes."""
    start = tuple(sorted(ids))
    where = Where(kinds=STORYLINE_KINDS, quarantined=True, archived=True)
    found = (
        store.steps(scope, StepQuery(start, MOST_STEPS, direction, EdgeFilter(kinds=(kind,)), where)) if start else {}
    )
    return {step.other for steps in found.values() for step in steps}
