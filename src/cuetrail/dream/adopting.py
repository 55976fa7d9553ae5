"""What dreams made elsewhere and an import or a copy brought along is taken into the books, as if it were made here.

The books know nodes by the engine's own numbers, so they cannot move themselves. Without them a dream would not know
what it may change or remove, and make some of it a second time. What is adopted is looked at anew by the pass that
makes such things: it keeps what its rule gives, and removes the rest.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TypeVar

from cuetrail.dream import cooccurrence, episodes, mentions, stories
from cuetrail.dream.night import BATCH, Night, Work
from cuetrail.lifecycle import SEMANTIC
from cuetrail.model import Edge, Mention, Node
from cuetrail.store.base import Record
from cuetrail.store.dreams import Book, Brief, Row, Writes
from cuetrail.store.steps import StepQuery, Ties

NAME = "adopting"

_R = TypeVar("_R", Node, Edge, Mention)


def adopt(night: Night) -> None:
    """Take what was brought to this place into the books, if anything was."""
    work = Work(night, NAME)
    brought = work.memory.all(Book.BROUGHT)
    if not brought:
        return
    records = (record for team, record in night.store.scan(night.scope) if team == night.scope.share)
    made = (record for record in records if _is_of_passes(record))
    while some := list(islice(made, BATCH)):
        work.save(_adopted(work, some))
    work.save(Writes(drop=[(Book.BROUGHT, row) for row in brought]))


def _is_of_passes(record: Record) -> bool:
    """Whether a pass would have a row of it in its books."""
    if isinstance(record, Edge):
        return record.via in (mentions.VIA, cooccurrence.VIA, episodes.VIA, stories.VIA)
    return isinstance(record, Mention) or (isinstance(record, Node) and record.kind in (episodes.KIND, stories.KIND))


def _adopted(work: Work, some: Sequence[Record]) -> Writes:
    """Rows for these records, where the books have none yet."""
    edges: dict[str | None, list[Edge]] = defaultdict(list)
    for edge in _of(Edge, some):
        edges[edge.via].append(edge)
    known = _Known(work, some)
    writes = Writes()
    _names(known, writes, edges[mentions.VIA])
    _company(known, writes, edges[cooccurrence.VIA])
    _sittings(known, writes, edges[episodes.VIA], [node for node in _of(Node, some) if node.kind == episodes.KIND])
    _mentions(known, writes, _of(Mention, some))
    _stories(known, writes, edges[stories.VIA], [node for node in _of(Node, some) if node.kind == stories.KIND])
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
    """Who names whom; how often is found when the texts are read."""
    pairs = set(known.pairs(edges))
    pairs -= known.rows(Book.OCCURS, (atom for atom, _ in pairs)).keys()
    sources = known.work.memory.sources({atom for atom, _ in pairs})
    for atom, node in sorted(pairs):
        writes.put += [(Book.OCCURS, Row(atom, node, sources.get(atom, atom))), (Book.TOUCHED, Row(node))]


def _company(known: _Known, writes: Writes, edges: Sequence[Edge]) -> None:
    """Who is joined to whom, without the share: both may have chosen."""
    pairs = {pair for one, other in known.pairs(edges) for pair in ((one, other), (other, one))}
    pairs -= known.rows(Book.TOGETHER, (node for node, _ in pairs)).keys()
    for node, other in sorted(pairs):
        writes.put.append((Book.TOGETHER, Row(node, other, cooccurrence.UNKNOWN)))
        writes.put.append((Book.TOUCHED, Row(node)))


def _sittings(known: _Known, writes: Writes, edges: Sequence[Edge], nodes: Sequence[Node]) -> None:
    """Which atom is in which episode. An episode whose atoms did not come goes."""
    numbers = {edge.src: number for edge in edges if (number := episodes.number_of(edge.dst)) is not None}
    atoms = {known.keys[atom]: number for atom, number in numbers.items() if atom in known.keys}
    there = {atom for atom, _ in known.rows(Book.TIMELINE, atoms)}
    for atom in sorted(atoms.keys() - there):
        at = known.briefs[atom].at
        writes.put += [(Book.TIMELINE, Row(atom, at, atoms[atom])), (Book.MOVED, Row(0, at))]
    ids = tuple(node.id for node in nodes)
    query = StepQuery(ids, 1, "in", Ties(kinds=(episodes.EDGE,)))
    steps = known.work.night.store.steps(known.work.night.scope, query) if ids else {}
    writes.batch.remove_nodes += [id_ for id_ in ids if not steps.get(id_)]


def _mentions(known: _Known, writes: Writes, found: Sequence[Mention]) -> None:
    """Which source names whom; by how many atoms is found when the texts are read."""
    pairs = {pair: record.at for record in found for pair in known.pairs([record])}
    there = known.rows(Book.NAMED, (source for source, _ in pairs))
    placed = {source for source, _ in known.rows(Book.PLACED, (source for source, _ in pairs))}
    for pair in sorted(pairs.keys() - there.keys()):
        writes.put.append((Book.NAMED, Row(*pair, 0, pairs[pair])))
        if known.briefs[pair[1]].kind in SEMANTIC and pair[0] not in placed:
            writes.put.append((Book.LOOSE, Row(*pair, pairs[pair])))


def _stories(known: _Known, writes: Writes, edges: Sequence[Edge], nodes: Sequence[Node]) -> None:
    """The storylines, and which source is in which."""
    parts = [edge for edge in edges if edge.kind == stories.PART_OF]
    store, scope = known.work.night.store, known.work.night.scope
    told = {node.id: node for node in nodes} | store.get(scope, list({edge.dst for edge in parts}))
    anchors = known.work.memory.keys({anchor for node in told.values() for anchor in _ends(node)})
    rows: dict[str, Row] = {}
    for node in told.values():
        number, anchor = stories.number_of(node.id), next((anchors.get(end) for end in _ends(node)), None)
        if number is not None and anchor is not None:
            rows[node.id] = Row(number, anchor, int(node.props.get("end", node.at)), int(bool(node.props.get("open"))))
    there = {first for first, _ in known.rows(Book.STORY, (row.first for row in rows.values()))}
    writes.put += [(Book.STORY, row) for row in rows.values() if row.first not in there]
    placing = {known.keys[edge.src]: rows[edge.dst] for edge in parts if edge.src in known.keys and edge.dst in rows}
    placed = {source for source, _ in known.rows(Book.PLACED, placing)}
    for source in sorted(placing.keys() - placed):
        story = placing[source]
        writes.put.append((Book.PLACED, Row(source, story.first, story.second, known.briefs[source].at)))
    loose = known.work.memory.by_first(Book.LOOSE, placing.keys() - placed)
    writes.drop += [(Book.LOOSE, row) for row in loose]
    # Mentions of the same batch, which are not in the books yet.
    writes.put = [(book, row) for book, row in writes.put if book != Book.LOOSE or row.first not in placing]
