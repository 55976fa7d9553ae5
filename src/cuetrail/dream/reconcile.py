"""What dreams made elsewhere and an import or a copy brought along is taken into the books, as if it were made here.

The books know nodes by the engine's own numbers, so they cannot move themselves. Without them a dream would not know
what it may change or remove, and make some of it a second time. What is adopted is looked at anew by the pass that
makes such things: it keeps what its rule gives, and removes the rest. Where the books have a row already, what came
may have been put over what they tell of, or stand beside it; the books are right.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TypeVar

from cuetrail.dream.context import BATCH, DreamContext, Work
from cuetrail.dream.passes import cooccurrence, episodes, mentions, storylines
from cuetrail.model import Edge, Mention, Node, Where
from cuetrail.model.lifecycle import SEMANTIC_KINDS
from cuetrail.store.dream import Book, Brief, Row, Writes, unbegun
from cuetrail.store.graph import StepQuery, Ties
from cuetrail.store.read import Record
from cuetrail.store.write import Batch

NAME = "adopting"

# Of what is set aside or archived, too.
EVERY = Where(quarantined=True, archived=True)

# For how many gaps an episode is taken to be one; the end that a file states may be any.
MOST_BRIDGES = 20_000

_R = TypeVar("_R", Node, Edge, Mention)


def reconcile(context: DreamContext) -> None:
    """Take what was brought to this place into the books, if anything was."""
    work = Work(context, NAME)
    brought = work.memory.all(Book.BROUGHT)
    if not brought:
        return
    _begin_anew(context)
    records = (record for team, record in context.store.scan(context.scope) if team == context.scope.share)
    made = (record for record in records if _is_of_passes(record))
    sittings: list[str] = []
    told: list[str] = []
    while some := list(islice(made, BATCH)):
        work.save(_adopted(work, some))
        sittings += (node.id for node in _of(Node, some) if node.kind == episodes.KIND)
        told += (node.id for node in _of(Node, some) if node.kind == storylines.KIND)
    _check_sittings(work, sittings)
    _check_stories(work, told)
    work.save(Writes(drop=[(Book.BROUGHT, row) for row in brought]))


def _begin_anew(context: DreamContext) -> None:
    """Have the passes look at every atom: of those whose edges alone came the log does not tell."""
    for name, version in ((mentions.NAME, mentions.VERSION), (episodes.NAME, episodes.VERSION)):
        work = Work(context, name)
        if work.memory.begun(version):
            work.save(Writes(mark=unbegun(version)))


def _is_of_passes(record: Record) -> bool:
    """Whether a pass would have a row of it in its books."""
    if isinstance(record, Edge):
        return record.via in (mentions.VIA, cooccurrence.VIA, episodes.VIA, storylines.VIA)
    return isinstance(record, Mention) or (isinstance(record, Node) and record.kind in (episodes.KIND, storylines.KIND))


def _adopted(work: Work, some: Sequence[Record]) -> Writes:
    """Rows for these records, where the books have none yet or another."""
    edges: dict[str | None, list[Edge]] = defaultdict(list)
    for edge in _of(Edge, some):
        edges[edge.via].append(edge)
    known = _Known(work, some)
    writes = Writes()
    _names(known, writes, edges[mentions.VIA])
    _company(known, writes, edges[cooccurrence.VIA])
    _sittings(known, writes, edges[episodes.VIA])
    _mentions(known, writes, _of(Mention, some))
    _stories(known, writes, edges[storylines.VIA], [node for node in _of(Node, some) if node.kind == storylines.KIND])
    return writes


def _of(kind: type[_R], some: Iterable[Record]) -> list[_R]:
    return [record for record in some if isinstance(record, kind)]


class _Known:
    """The numbers of the nodes that records lead to, and what else is known of these."""

    def __init__(self, work: Work, some: Sequence[Record]) -> None:
        self.work = work
        ends = {end for record in some for end in _ends(record)}
        self.keys: Mapping[str, int] = work.memory.keys(ends)
        self.briefs: Mapping[int, Brief] = work.memory.nodes(self.keys.values())

    def pairs(self, records: Iterable[Edge | Mention]) -> Iterator[tuple[int, int]]:
        """The numbers of both ends, where both are here."""
        for record in records:
            ends = [self.keys[end] for end in _ends(record) if end in self.keys]
            if len(ends) == 2:
                yield ends[0], ends[1]

    def rows(self, book: Book, firsts: Iterable[int]) -> dict[tuple[int, int], Row]:
        return {(row.first, row.second): row for row in self.work.memory.by_first(book, set(firsts))}


def _ends(record: Record) -> tuple[str, ...]:
    if isinstance(record, Edge):
        return record.src, record.dst
    if isinstance(record, Mention):
        return record.source, record.node
    anchor = record.props.get("anchor") if isinstance(record, Node) else None
    return (anchor,) if isinstance(anchor, str) else ()


# --- book by book


def _names(known: _Known, writes: Writes, edges: Sequence[Edge]) -> None:
    """Who names whom; how often is found when the texts are read. All that such a text names has other company."""
    pairs = set(known.pairs(edges))
    there = known.rows(Book.OCCURS, (atom for atom, _ in pairs))
    pairs -= there.keys()
    atoms = {atom for atom, _ in pairs}
    sources = known.work.memory.sources(atoms)
    writes.put += ((Book.OCCURS, Row(*pair, sources.get(pair[0], pair[0]))) for pair in sorted(pairs))
    company = {node for atom, node in (*pairs, *there) if atom in atoms}
    writes.put += ((Book.TOUCHED, Row(node)) for node in sorted(company))


def _company(known: _Known, writes: Writes, edges: Sequence[Edge]) -> None:
    """Who is joined to whom, without the share: both may have chosen. What the books have by this weight stays."""
    weights = {pair: edge.weight for edge in edges for pair in known.pairs([edge])}
    there = known.rows(Book.TOGETHER, {node for pair in weights for node in pair})
    for (one, other), weight in sorted(weights.items()):
        both = ((one, other), (other, one))
        if weight != cooccurrence.weight_of([there[pair] for pair in both if pair in there]):
            writes.put += ((Book.TOGETHER, Row(*pair, cooccurrence.UNKNOWN)) for pair in both)
            writes.put += ((Book.TOUCHED, Row(node)) for node in (one, other))


def _sittings(known: _Known, writes: Writes, edges: Sequence[Edge]) -> None:
    """Which atom is in which episode; of two, in the one that the books have. One that has moved in time is in none."""
    ends = [(edge, known.keys.get(edge.src), episodes.number_of(edge.dst)) for edge in edges]
    there = {atom: row for (atom, _), row in known.rows(Book.TIMELINE, (atom for _, atom, _ in ends if atom)).items()}
    spans = _spans(known, {edge.dst for edge in edges})
    for edge, atom, number in ends:
        if atom is None or number is None:
            continue
        row = there.get(atom) or Row(atom, known.briefs[atom].at)
        start, end = spans.get(edge.dst, (row.second, row.second))
        if row.third != number and (row.third or not start <= row.second <= end):
            writes.batch.remove_edges.append(edge.id)
        else:
            there[atom] = row._replace(third=number)
            writes.put.append((Book.TIMELINE, there[atom]))
        writes.put.append((Book.MOVED, Row(0, row.second)))
    # Without a gap, so that what is left of an episode is looked at together.
    bridges = {
        time for start, end in spans.values() for time in islice(range(start, end + 1, episodes.GAP), MOST_BRIDGES)
    }
    writes.put += ((Book.MOVED, Row(0, time)) for time in sorted(bridges))


def _spans(known: _Known, ids: Collection[str]) -> dict[str, tuple[int, int]]:
    """From when to when these episodes went."""
    nodes = known.work.context.store.get(known.work.context.scope, sorted(ids))
    spans = {id_: (node.props.get("start"), node.props.get("end")) for id_, node in nodes.items()}
    return {id_: (a, b) for id_, (a, b) in spans.items() if isinstance(a, int) and isinstance(b, int)}


def _check_sittings(work: Work, ids: Sequence[str]) -> None:
    """Remove the episodes of which no atom is left, or came."""
    for start in range(0, len(ids), BATCH):
        some = tuple(ids[start : start + BATCH])
        query = StepQuery(some, 1, "in", Ties(kinds=(episodes.EDGE,)), EVERY)
        steps = work.context.store.steps(work.context.scope, query)
        work.save(Writes(batch=Batch(remove_nodes=[id_ for id_ in some if not steps.get(id_)])))


def _mentions(known: _Known, writes: Writes, found: Sequence[Mention]) -> None:
    """Which source names whom; by how many atoms is found when the texts are read."""
    pairs = {pair: record.at for record in found for pair in known.pairs([record])}
    there = known.rows(Book.NAMED, (source for source, _ in pairs))
    placed = {source for source, _ in known.rows(Book.PLACED, (source for source, _ in pairs))}
    writes.put += (
        (Book.NAMED, row._replace(fourth=pairs[pair]))
        for pair, row in there.items()
        if row.fourth != pairs.get(pair, row.fourth)
    )
    for pair in sorted(pairs.keys() - there.keys()):
        writes.put.append((Book.NAMED, Row(*pair, 0, pairs[pair])))
        if known.briefs[pair[1]].kind in SEMANTIC_KINDS and pair[0] not in placed:
            writes.put.append((Book.LOOSE, Row(*pair, pairs[pair])))


def _stories(known: _Known, writes: Writes, edges: Sequence[Edge], nodes: Sequence[Node]) -> None:
    """The storylines, and which source is in which."""
    parts = [edge for edge in edges if edge.kind == storylines.PART_OF]
    store, scope = known.work.context.store, known.work.context.scope
    told = {node.id: node for node in nodes} | store.get(scope, list({edge.dst for edge in parts}))
    anchors = known.work.memory.keys({anchor for node in told.values() for anchor in _ends(node)})
    rows: dict[str, Row] = {}
    for node in told.values():
        number, anchor = storylines.number_of(node.id), next((anchors.get(end) for end in _ends(node)), None)
        if number is not None and anchor is not None:
            rows[node.id] = Row(number, anchor, int(node.props.get("end", node.at)), int(bool(node.props.get("open"))))
    begun = {first for first, _ in known.rows(Book.STORY, (row.first for row in rows.values()))}
    writes.put += [(Book.STORY, row) for row in rows.values() if row.first not in begun]
    joining = [(edge, known.keys[edge.src]) for edge in parts if edge.src in known.keys and edge.dst in rows]
    there = dict(known.rows(Book.PLACED, (source for _, source in joining)).keys())
    placed = dict(there)
    placing: dict[int, Row] = {}
    for edge, source in joining:
        # A source is in one storyline at most: of two, in the one that the books have.
        if placed.setdefault(source, rows[edge.dst].first) != rows[edge.dst].first:
            writes.batch.remove_edges.append(edge.id)
        else:
            placing[source] = rows[edge.dst]
    new = placing.keys() - there.keys()
    for source in sorted(new):
        story = placing[source]
        writes.put.append((Book.PLACED, Row(source, story.first, story.second, known.briefs[source].at)))
    writes.drop += [(Book.LOOSE, row) for row in known.work.memory.by_first(Book.LOOSE, new)]
    # Mentions of the same batch, which are not in the books yet.
    writes.put = [(book, row) for book, row in writes.put if book != Book.LOOSE or row.first not in placing]


def _check_stories(work: Work, ids: Sequence[str]) -> None:
    """Have those told anew that tell of other sources than they have."""
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
        work.save(Writes(put=[(Book.UNTOLD, Row(number)) for number in sorted(stale)]))
