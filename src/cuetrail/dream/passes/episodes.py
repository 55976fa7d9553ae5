"""Atoms that follow each other closely in time are an episode: a node of that kind, with an edge from each of them.

A gap of more than GAP begins a new episode, whatever the files the atoms are in: a sitting may fill several. Fewer than
FEWEST atoms are none.

Two kinds of times say nothing of what followed what. A date without a time takes no part: nobody knows when in the day
it was. And paragraphs of one file that all have one moment have none of their own but that of the file, which joins
them already: alone they are no episode.

An episode has no words, so nothing of an atom that is forgotten stays in it. It keeps its id while it has more of its
atoms than any other; a new one is called after its first atom.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count

from cuetrail.dream.context import BATCH, DreamContext, Work
from cuetrail.model import Edge, Node, PassReport
from cuetrail.model.ids import derived_edge_id, dream_id, dream_number, ledger_hash
from cuetrail.store.dream import Book, Row, Slice, Writes
from cuetrail.store.read import forgotten_ids

NAME = "episodes"
VERSION = "2"
KIND = "episode"
EDGE = "during"
VIA = "dream:episodes"
GAP = 15 * 60_000
FEWEST = 3
# Topical band: at the same time is less than by the same name.
WEIGHT = 0.3
# Times of the ledger that are read at once; more where they hang together, but fewer while looking for a near gap.
PAGE, NEAR = 2_000, 8
# Beyond every time.
FOREVER = 2**62


def episodes(context: DreamContext) -> PassReport:
    """Bring the episodes in step with the times of the atoms."""
    work = Work(context, NAME)
    for some in work.slices(VERSION):
        work.save(_noted(work, some))
    writes = Writes()
    for low, high in _stretches(work):
        moved = work.memory.between(Book.MOVED, low, high)
        writes = _settle(work, writes, work.memory.between(Book.TIMELINE, low, high), {row.first for row in moved})
        writes.drop += [(Book.MOVED, row) for row in moved]
        writes = _flushed(work, writes)
    if writes.drop:
        work.save(writes)
    return work.report()


def _flushed(work: Work, writes: Writes) -> Writes:
    """What is still to be written: nothing, if it was enough for a transaction."""
    if len(writes.drop) + len(writes.put) < BATCH:
        return writes
    work.save(writes)
    return Writes()


def _noted(work: Work, some: Slice) -> Writes:
    """The times of the atoms, for the ledger. Where one came, went or moved, that stretch of time is looked at anew."""
    writes = Writes(mark=some.mark)
    new = {atom.key: Row(atom.key, atom.at) for atom in some.atoms if not atom.is_day}
    old = {row.first: row for row in work.memory.within(Book.TIMELINE, some.runs)}
    gone = [row for key, row in old.items() if key not in new or new[key].second != row.second]
    come = [row for key, row in new.items() if key not in old or old[key].second != row.second]
    writes.drop = [(Book.TIMELINE, row) for row in gone]
    writes.put = [(Book.TIMELINE, row) for row in come]
    # An episode that all atoms have left is in none of their rows any more.
    writes.put += [(Book.MOVED, row) for row in sorted({Row(row.third, row.second) for row in (*gone, *come)})]
    # One that is in quarantine is gone, but has its edge still.
    atoms = work.memory.nodes([row.first for row in gone if row.third])
    edges = (_edge_id(atoms[row.first].id, _id(row.third)) for row in gone if row.first in atoms and row.third)
    writes.batch.remove_edges += edges
    return writes


def _stretches(work: Work) -> Iterator[tuple[int, int]]:
    """From where to where something came, went or moved; what hangs together lies in one of them."""
    at, page = -FOREVER, PAGE
    while moved := work.memory.seconds(Book.MOVED, at, False, page):
        low = _first(work, moved[0])
        times = work.memory.seconds(Book.TIMELINE, low, False, page)
        # Of the times behind this one not all are known.
        horizon = min(some[-1] if len(some) == page else FOREVER for some in (moved, times))
        high = _end(moved, times, horizon)
        if high is None:
            page *= 4
            continue
        yield low, high
        at, page = high + 1, PAGE


def _first(work: Work, time: int) -> int:
    """The first time of what hangs together with this one, going back to a gap."""
    page = NEAR
    while times := work.memory.seconds(Book.TIMELINE, time - 1, True, page):
        for one in times:
            if time - one > GAP:
                return time
            time = one
        page = min(4 * page, PAGE)
    return time


def _end(moved: Sequence[int], times: Sequence[int], horizon: int) -> int | None:
    """The end of the last stretch that something moved in, of those that end before the horizon.

    A time that atoms have left joins what is around it, as it did when they were there.
    """
    known = sorted(time for time in {*moved, *times} if time <= horizon)
    there, found, touched = set(moved), None, False
    for time, later in zip(known, (*known[1:], FOREVER if horizon == FOREVER else None), strict=True):
        touched = touched or time in there
        if later is not None and later - time > GAP:
            found, touched = (time, False) if touched else (found, False)
    return found


def _settle(work: Work, writes: Writes, rows: Sequence[Row], left: set[int]) -> Writes:
    """The episodes of a stretch of time, in place of those that were there or `left` by some of their atoms; what of it
    is still to be written.

    It may take several transactions. The last one says that the stretch is settled, so one that was not reached is
    made up for by the next dream.
    """
    clusters = [some for some in _clusters(rows) if len(some) >= FEWEST and not _is_file(work, some)]
    numbers = _numbers(work, clusters)
    writes.batch.nodes += _nodes(work, clusters, numbers)
    now = {row.first: number for some, number in zip(clusters, numbers, strict=True) for row in some if number}
    changed = [row for row in rows if now.get(row.first, 0) != row.third]
    for start in range(0, len(changed), BATCH):
        some = changed[start : start + BATCH]
        atoms = work.memory.nodes([row.first for row in some])
        for row in some:
            number, atom = now.get(row.first, 0), atoms[row.first].id
            writes.put.append((Book.TIMELINE, row._replace(third=number)))
            if row.third:
                writes.batch.remove_edges.append(_edge_id(atom, _id(row.third)))
            if number:
                writes.batch.edges.append(_edge(atom, _id(number), work.context.now))
        writes = _flushed(work, writes)
    before = left.union(row.third for row in rows)
    writes.batch.remove_nodes += [_id(number) for number in sorted(before - {0, *numbers})]
    return writes


def _clusters(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """Rows by time, parted where there is a gap."""
    some: list[Row] = []
    for row in rows:
        if some and row.second - some[-1].second > GAP:
            yield some
            some = []
        some.append(row)
    if some:
        yield some


def _is_file(work: Work, some: Sequence[Row]) -> bool:
    """Whether all of them are of one file and one moment."""
    if some[0].second != some[-1].second:
        return False
    sources = {brief.source for brief in work.memory.nodes([row.first for row in some]).values()}
    return len(sources) == 1 and None not in sources


def _numbers(work: Work, clusters: Sequence[Sequence[Row]]) -> list[int]:
    """The numbers of the episodes: of each old one its largest piece keeps it, others get a new one; 0 for none.

    There is none where the one it would be was forgotten.
    """
    votes = Counter((row.third, n) for n, some in enumerate(clusters) for row in some if row.third)
    heirs: dict[int, tuple[int, int]] = {}
    for (number, n), votes_there in votes.items():
        heirs[number] = max(heirs.get(number, (0, 0)), (votes_there, -n))
    kept: dict[int, int] = {}
    for number in sorted(heirs, key=lambda number: (-heirs[number][0], number)):
        kept.setdefault(-heirs[number][1], number)
    numbers = [kept.get(n) or _new(work, some, set(kept.values())) for n, some in enumerate(clusters)]
    if not numbers:
        return []
    nodes = [Node(_id(number), KIND) for number in numbers]
    forgotten = forgotten_ids(work.context.store, work.context.scope, nodes)
    return [0 if _id(number) in forgotten else number for number in numbers]


def _new(work: Work, some: Sequence[Row], taken: set[int]) -> int:
    """A number for an episode that begins with this one's first atom."""
    first = work.memory.nodes([row.first for row in some if row.second == some[0].second])
    name = min(brief.id for brief in first.values())
    here = {row.third for row in some}
    numbers = (ledger_hash(f"{name}\n{again}") for again in count())
    return next(
        number
        for number in numbers
        if number not in taken and (number in here or not work.context.store.get(work.context.scope, [_id(number)]))
    )


def _nodes(work: Work, clusters: Sequence[Sequence[Row]], numbers: Sequence[int]) -> Iterator[Node]:
    """The episodes whose times or number of atoms are others than is stored."""
    present = work.context.store.get(work.context.scope, [_id(number) for number in numbers if number])
    now = work.context.now
    for some, number in zip(clusters, numbers, strict=True):
        start, end = some[0].second, some[-1].second
        old = present.get(_id(number), Node(_id(number), KIND, created=now))
        props = {**old.props, "start": start, "end": end, "atoms": len(some)}
        if number and (old.at, old.props) != (start, props):
            yield replace(old, at=start, props=props, updated=now)


def _id(number: int) -> str:
    return dream_id(KIND, number)


def number_of(id_: str) -> int | None:
    """The number of the episode with this id; None if it is none's."""
    return dream_number(KIND, id_)


def _edge_id(atom: str, episode: str) -> str:
    return derived_edge_id(EDGE, atom, episode)


def _edge(atom: str, episode: str, now: int) -> Edge:
    return Edge(_edge_id(atom, episode), atom, episode, EDGE, WEIGHT, via=VIA, created=now, updated=now)
