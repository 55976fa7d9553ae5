"""Groups atoms that follow each other closely in time into episodes: a node, with an edge from each atom.

A gap of more than GAP begins a new episode, even within one file, and one episode may span several files. Fewer than
FEWEST atoms form no episode.

Two kinds of atoms show no order in time. An atom whose date has no time of day is ignored. Paragraphs of one file that
all have the same time only have the time of the file, which connects them already; alone they form no episode.

An episode has no text, so it reveals nothing of a forgotten atom. If it
splits, the part with most of its atoms keeps the id. A new id is derived from the first atom.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count

from cuetrail.dream.context import BATCH, DreamContext, Work, split_at_pauses
from cuetrail.model import Edge, Node, PassReport
from cuetrail.model.ids import derived_edge_id, dream_id, dream_number, ledger_hash
from cuetrail.store.dream import Book, Entry, Slice, Writes
from cuetrail.store.read import forgotten_ids

NAME = "episodes"
VERSION = "2"
KIND = "episode"
EDGE = "during"
VIA = "dream:episodes"
GAP = 15 * 60_000
FEWEST = 3
# Lower than the weight of a shared name.
WEIGHT = 0.3
# The number of ledger times read at once: PAGE or more for a range, NEAR at first when searching back for a gap.
PAGE, NEAR = 2_000, 8
# Later than every time.
FOREVER = 2**62


def episodes(context: DreamContext) -> PassReport:
    """Updates the episodes so that they match the current times of the atoms."""
    work = Work(context, NAME)
    for some in work.slices(VERSION):
        work.save(_timeline_changes(work, some))
    writes = Writes()
    for low, high in _changed_ranges(work):
        moved = work.memory.between(Book.CHANGED_TIME, low, high)
        writes = _update(work, writes, work.memory.between(Book.TIMELINE, low, high), {row.first for row in moved})
        writes.drop += [(Book.CHANGED_TIME, row) for row in moved]
        writes = _save_if_full(work, writes)
    if writes.drop:
        work.save(writes)
    return work.report()


def _save_if_full(work: Work, writes: Writes) -> Writes:
    """Saves the writes and returns empty ones if they fill a transaction; else returns them unchanged."""
    if len(writes.drop) + len(writes.put) < BATCH:
        return writes
    work.save(writes)
    return Writes()


def _timeline_changes(work: Work, some: Slice) -> Writes:
    """Returns the writes that update the pass's record of the atoms' times for a slice of changed atoms. They also
    mark each time at which an atom was added, removed or moved.
    """
    writes = Writes(mark=some.mark)
    new = {atom.key: Entry(atom.key, atom.at) for atom in some.atoms if not atom.is_day}
    old = {row.first: row for row in work.memory.within(Book.TIMELINE, some.runs)}
    gone = [row for key, row in old.items() if key not in new or new[key].second != row.second]
    added = [row for key, row in new.items() if key not in old or old[key].second != row.second]
    writes.drop = [(Book.TIMELINE, row) for row in gone]
    writes.put = [(Book.TIMELINE, row) for row in added]
    # The mark also names the old episode, because the timeline no longer mentions one that lost all its atoms.
    writes.put += [
        (Book.CHANGED_TIME, row) for row in sorted({Entry(row.third, row.second) for row in (*gone, *added)})
    ]
    # A quarantined atom left the timeline but still has its edge.
    atoms = work.memory.nodes([row.first for row in gone if row.third])
    edges = (_edge_id(atoms[row.first].id, _id(row.third)) for row in gone if row.first in atoms and row.third)
    writes.batch.remove_edges += edges
    return writes


def _changed_ranges(work: Work) -> Iterator[tuple[int, int]]:
    """Yields the first and last time of each range that contains changes. Ranges are separated by more than GAP."""
    at, page = -FOREVER, PAGE
    while moved := work.memory.seconds(Book.CHANGED_TIME, at, False, page):
        low = _range_start(work, moved[0])
        times = work.memory.seconds(Book.TIMELINE, low, False, page)
        # The times after this one are not all loaded.
        horizon = min(some[-1] if len(some) == page else FOREVER for some in (moved, times))
        high = _range_end(moved, times, horizon)
        if high is None:
            page *= 4
            continue
        yield low, high
        at, page = high + 1, PAGE


def _range_start(work: Work, time: int) -> int:
    """Returns the first time of the range that contains `time`: goes back until a gap of more than GAP."""
    page = NEAR
    while times := work.memory.seconds(Book.TIMELINE, time - 1, True, page):
        for one in times:
            if time - one > GAP:
                return time
            time = one
        page = min(4 * page, PAGE)
    return time


def _range_end(moved: Sequence[int], times: Sequence[int], horizon: int) -> int | None:
    """Returns the last time of the last complete range with a changed time (`moved`); None if there is none. A range is
    a run of times without a gap above GAP; it is complete if such a gap follows it before `horizon`, up to which
    times were read.

    A changed time counts as part of a range even if no atom has it any more.
    """
    known = sorted(time for time in {*moved, *times} if time <= horizon)
    there, found, touched = set(moved), None, False
    for time, later in zip(known, (*known[1:], FOREVER if horizon == FOREVER else None), strict=True):
        touched = touched or time in there
        if later is not None and later - time > GAP:
            found, touched = (time, False) if touched else (found, False)
    return found


def _update(work: Work, writes: Writes, rows: Sequence[Entry], abandoned: set[int]) -> Writes:
    """Updates the episodes of one time range, given the rows of its atoms. Returns the writes that are not saved yet.

    `writes` are those left from earlier ranges. `abandoned` are the numbers of episodes that atoms left. A long update
    takes several transactions. The caller adds the removal of the range's marks to the writes returned, so the next
    dream repeats an interrupted update.
    """
    split = split_at_pauses(rows, lambda row: row.second, GAP + 1)
    clusters = [some for some in split if len(some) >= FEWEST and not _is_one_file_time(work, some)]
    numbers = _numbers(work, clusters)
    writes.batch.nodes += _changed_nodes(work, clusters, numbers)
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
        writes = _save_if_full(work, writes)
    before = abandoned.union(row.third for row in rows)
    writes.batch.remove_nodes += [_id(number) for number in sorted(before - {0, *numbers})]
    return writes


def _is_one_file_time(work: Work, some: Sequence[Entry]) -> bool:
    """True if the atoms of all these rows belong to one file and have the same time."""
    if some[0].second != some[-1].second:
        return False
    sources = {brief.source for brief in work.memory.nodes([row.first for row in some]).values()}
    return len(sources) == 1 and None not in sources


def _numbers(work: Work, clusters: Sequence[Sequence[Entry]]) -> list[int]:
    """Returns the number of the episode of each cluster of atoms; 0 if that episode was forgotten.

    The largest part of an old episode keeps its number. The other clusters get new numbers.
    """
    votes = Counter((row.third, n) for n, some in enumerate(clusters) for row in some if row.third)
    largest: dict[int, tuple[int, int]] = {}
    for (number, n), votes_there in votes.items():
        largest[number] = max(largest.get(number, (0, 0)), (votes_there, -n))
    kept: dict[int, int] = {}
    for number in sorted(largest, key=lambda number: (-largest[number][0], number)):
        kept.setdefault(-largest[number][1], number)
    numbers = [kept.get(n) or _new_number(work, some, set(kept.values())) for n, some in enumerate(clusters)]
    if not numbers:
        return []
    nodes = [Node(_id(number), KIND) for number in numbers]
    forgotten = forgotten_ids(work.context.store, work.context.scope, nodes)
    return [0 if _id(number) in forgotten else number for number in numbers]


def _new_number(work: Work, some: Sequence[Entry], taken: set[int]) -> int:
    """Returns an unused number for an episode, derived from the id of its first atom."""
    first = work.memory.nodes([row.first for row in some if row.second == some[0].second])
    name = min(brief.id for brief in first.values())
    here = {row.third for row in some}
    numbers = (ledger_hash(f"{name}\n{again}") for again in count())
    return next(
        number
        for number in numbers
        if number not in taken and (number in here or not work.context.store.get(work.context.scope, [_id(number)]))
    )


def _changed_nodes(work: Work, clusters: Sequence[Sequence[Entry]], numbers: Sequence[int]) -> Iterator[Node]:
    """Yields the episodes whose times or number of atoms differ from the stored ones."""
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
    """Returns the number of the episode with this id; None for any other id."""
    return dream_number(KIND, id_)


def _edge_id(atom: str, episode: str) -> str:
    return derived_edge_id(EDGE, atom, episode)


def _edge(atom: str, episode: str, now: int) -> Edge:
    return Edge(_edge_id(atom, episode), atom, episode, EDGE, WEIGHT, via=VIA, created=now, updated=now)
