"""Storylines group sources about the same person, concept or entity over some time.

An anchor is such a node that was used at least once. It gets a storyline when at least FEWEST sources that are in none
yet name it, on at least DAYS days, over more than SPAN, with no pause of SILENCE between two of them, and no storyline
of the anchor covers that time. Further sources that name the anchor join its open storyline. After a pause of SILENCE a
storyline is closed, and the anchor may get another.

A source is in one storyline at most. If several are possible, it joins the most similar one that is at most NEAR away,
if the similarity is above ALIKE. That is decided once; an undecided source stays undecided. If a source leaves a
storyline, its summary is written again, or the storyline is removed if the others are not enough. The ledger stores
which mentions are in no storyline yet; only those of anchors are read. Different sources are counted, at their own
times, so a second dream changes nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from cuetrail.dream.context import DreamContext, Work, split_at_pauses
from cuetrail.dream.summaries import sample, title_of
from cuetrail.embed.embedder import from_blob
from cuetrail.formulas import DAY
from cuetrail.model import STORYLINE_KINDS, Edge, Node, PassReport, Where
from cuetrail.model.ids import derived_edge_id, dream_id, dream_number, ledger_hash
from cuetrail.store.dream import Book, Entry, Writes
from cuetrail.store.graph import EdgeFilter, StepQuery
from cuetrail.store.read import forgotten_ids

NAME = "storylines"
KIND = "storyline"
PART_OF, ABOUT = "part_of", "about"
VIA = "dream:storylines"
FEWEST, DAYS, SPAN = 5, 3, 3 * DAY
SILENCE, NEAR, ALIKE = 90 * DAY, 30 * DAY, 0.7
# The weight of edges to a storyline.
WEIGHT = 0.35
# The summary is written again when the storyline has grown by 1/GROWN.
GROWN = 4


def storylines(context: DreamContext) -> PassReport:
    """Updates the storylines from the current mentions: takes out and adds sources, creates some and closes others."""
    work = Work(context, NAME)
    _remove_stale(work)
    anchors = work.memory.active_in(Book.UNPLACED)
    if anchors:
        # A storyline that grows may come near enough for further sources.
        while _join_sources(work, anchors):
            pass
        for anchor in _promising_anchors(work, anchors):
            _create(work, anchor)
    _close(work)
    return work.report(step=True)


# --- removing


def _remove_stale(work: Work) -> None:
    """Takes sources that no longer mention a storyline's anchor out of it, and frees those of removed storylines."""
    gone = work.memory.all(Book.STALE_STORY)
    # Imported storylines whose summary does not fit their sources.
    outdated = {row.first for row in gone if not row.second}
    for row in gone:
        writes = Writes(drop=[(Book.STALE_STORY, row), (Book.UNPLACED, row)])
        for placed in work.memory.by_first(Book.PLACED, [row.first]):
            if placed.third == row.second:
                outdated.add(placed.second)
                writes.drop.append((Book.PLACED, placed))
                source = work.memory.nodes([placed.first]).get(placed.first)
                if source is not None:
                    writes.batch.remove_edges.append(derived_edge_id(PART_OF, source.id, story_id(placed.second)))
        work.save(writes)
    stories = work.memory.all(Book.STORY)
    present = work.context.store.get(work.context.scope, [story_id(row.first) for row in stories])
    for row in stories:
        node = present.get(story_id(row.first))
        if node is None or row.first in outdated:
            members = work.memory.by_second(Book.PLACED, [row.first])
            work.save(_dissolved(row, members) if node is None else _without_sources(work, row, node, members))


def _dissolved(story: Entry, members: Sequence[Entry]) -> Writes:
    """Returns the writes that remove a storyline from the pass's ledger, so that its sources are in no storyline."""
    drop = [(Book.STORY, story), *((Book.PLACED, one) for one in members)]
    return Writes(drop=drop, put=[(Book.UNPLACED, Entry(one.first, one.third, one.fourth)) for one in members])


def _without_sources(work: Work, story: Entry, node: Node, members: Sequence[Entry]) -> Writes:
    """Returns the writes for a storyline that lost sources. With enough sources left, its summary is rewritten;
    otherwise the storyline is removed, with the macro that contains it.
    """
    loose = sorted((Entry(one.first, one.third, one.fourth) for one in members), key=_by_time)
    runs = list(_runs(loose))
    if len(runs) == 1 and _is_enough(loose) and story.second in work.memory.nodes([story.second]):
        anew = replace(node, props={**node.props, "told": 0})
        writes = Writes(put=[(Book.STORY, story._replace(third=loose[-1].third))])
        writes.batch.nodes = [_updated(work, anew, story.second, [(row.third, row.first) for row in loose])]
        return writes
    writes = _dissolved(story, members)
    where = Where(kinds=STORYLINE_KINDS, quarantined=True, archived=True)
    query = StepQuery((node.id,), FEWEST, "out", EdgeFilter(kinds=(PART_OF,)), where)
    steps = work.context.store.steps(work.context.scope, query).get(node.id, [])
    writes.batch.remove_nodes = [node.id, *(step.other for step in steps)]
    return writes


# --- joining


@dataclass(slots=True)
class _Storyline:
    """A storyline that sources may join: its row in the dream's own tables, and the time of its first source."""

    row: Entry
    start: int

    def gap(self, time: int) -> int:
        """Returns the milliseconds between a time and the storyline. They never increase when the storyline grows."""
        return max(self.start - time, time - self.row.third, 0)


def _join_sources(work: Work, anchors: Sequence[int]) -> bool:
    """Adds sources that are in no storyline to one that is about a node they name (its anchor) and that has sources
    less than SILENCE before or after. True if any was added.
    """
    of_anchor = _existing(work, anchors)
    by_source: dict[int, list[Entry]] = defaultdict(list)
    for row in work.memory.by_second(Book.UNPLACED, sorted(of_anchor)):
        by_source[row.first].append(row)
    placed = {row.first for row in work.memory.by_first(Book.PLACED, by_source)}
    grown: dict[int, tuple[_Storyline, list[Entry]]] = {}
    undecided: list[Entry] = []
    for source, rows in sorted(by_source.items(), key=lambda pair: (pair[1][0].third, pair[0])):
        time = rows[0].third
        open_ = [one for row in rows for one in of_anchor[row.second] if one.gap(time) < SILENCE]
        if source in placed or not open_:
            continue
        joined = open_[0] if len(open_) == 1 else None
        if joined is None and not all(row.fourth for row in rows):
            joined = _most_alike(work, source, time, open_)
            undecided += [row._replace(fourth=1) for row in rows] if joined is None else []
        if joined is not None:
            joined.start = min(joined.start, time)
            joined.row = joined.row._replace(third=max(joined.row.third, time), fourth=1)
            grown.setdefault(joined.row.first, (joined, []))[1].append(Entry(source, joined.row.second, time))
    for one, rows in (grown[number] for number in sorted(grown)):
        work.read += len(rows)
        _add_sources(work, one.row, rows)
    if undecided:
        work.save(Writes(put=[(Book.UNPLACED, row) for row in undecided]))
    return bool(grown)


def _existing(work: Work, anchors: Sequence[int]) -> dict[int, list[_Storyline]]:
    """Returns the existing storylines about these nodes (anchors), by anchor."""
    rows = work.memory.by_second(Book.STORY, anchors)
    nodes = work.context.store.get(work.context.scope, [story_id(row.first) for row in rows])
    found: dict[int, list[_Storyline]] = defaultdict(list)
    for row in rows:
        if story_id(row.first) in nodes:
            found[row.second].append(_Storyline(row, nodes[story_id(row.first)].at))
    return found


def _most_alike(work: Work, source: int, time: int, stories: Sequence[_Storyline]) -> _Storyline | None:
    """Returns the storyline, of those near in time, whose vector is most similar to that of the source; None if none is
    similar enough.
    """
    near = {story_id(one.row.first): one for one in stories if one.gap(time) <= NEAR}
    brief = work.memory.nodes([source]).get(source)
    if not near or brief is None:
        return None
    blobs = work.context.store.vectors(work.context.scope, [brief.id, *near])
    vectors = {id_: from_blob(blob).astype(float) for id_, blob in blobs.items()}
    own = vectors.pop(brief.id, None)
    if own is None:
        return None
    cosines = [(float(own @ vector), near[id_]) for id_, vector in vectors.items()]
    best, one = max(cosines, key=lambda pair: (pair[0], -pair[1].row.first), default=(0.0, None))
    return one if best > ALIKE else None


def _add_sources(work: Work, story: Entry, rows: Sequence[Entry]) -> None:
    """Saves sources as members of a storyline, with new times and, if it has grown enough, a new summary."""
    present = work.context.store.get(work.context.scope, [story_id(story.first)]).get(story_id(story.first))
    if present is None:
        return
    old = work.memory.by_second(Book.PLACED, [story.first])
    every = sorted([(row.fourth, row.first) for row in old] + [(row.third, row.first) for row in rows])
    writes = _placement(work, story, rows)
    node = _updated(work, present, story.second, every)
    writes.batch.nodes = [node]
    work.save(writes)


def _placement(work: Work, story: Entry, rows: Iterable[Entry]) -> Writes:
    """Returns the writes that put these sources into a storyline. They are then free for no other storyline."""
    rows = list(rows)
    sources = work.memory.nodes([row.first for row in rows])
    writes = Writes(put=[(Book.STORY, story)])
    writes.drop = [(Book.UNPLACED, row) for row in work.memory.by_first(Book.UNPLACED, [row.first for row in rows])]
    for row in rows:
        if row.first in sources:
            writes.put.append((Book.PLACED, Entry(row.first, story.first, story.second, row.third)))
            writes.batch.edges.append(edge_of(PART_OF, sources[row.first].id, story_id(story.first), work.context.now))
    return writes


# --- beginning


def _promising_anchors(work: Work, anchors: Sequence[int]) -> list[int]:
    """Returns those of these nodes (anchors) that sources in no storyline name often enough for a new storyline, those
    with most sources first.
    """
    loose: dict[int, list[Entry]] = defaultdict(list)
    for row in work.memory.by_second(Book.UNPLACED, anchors):
        loose[row.second].append(row)
    stories = _existing(work, list(loose))
    # Another anchor may take some of these sources first, which can only lower the number.
    enough = [key for key, rows in loose.items() if any(map(_is_enough, _far_runs(rows, stories.get(key, ()))))]
    briefs = work.memory.nodes(enough)
    return sorted(briefs, key=lambda anchor: (-len(loose[anchor]), briefs[anchor].id))


def _far_runs(rows: Iterable[Entry], stories: Sequence[_Storyline]) -> Iterator[list[Entry]]:
    """Yields the runs, split at pauses of SILENCE, of the sources that are too far in time from every storyline of
    their anchor to join it.
    """
    far = [row for row in rows if all(one.gap(row.third) >= SILENCE for one in stories)]
    return _runs(sorted(far, key=_by_time))


def _create(work: Work, anchor: int) -> None:
    """Creates storylines about a node (the anchor) from runs of enough sources that name it and are in no storyline."""
    loose = sorted(work.memory.by_second(Book.UNPLACED, [anchor]), key=_by_time)
    placed = {row.first for row in work.memory.by_first(Book.PLACED, [row.first for row in loose])}
    sources = work.memory.nodes([row.first for row in loose])
    loose = [row for row in loose if row.first not in placed and row.first in sources]
    brief = work.memory.nodes([anchor])[anchor]
    others = _existing(work, [anchor])[anchor]
    for rows in _runs(loose):
        low, high = rows[0].third - SILENCE, rows[-1].third + SILENCE
        if not _is_enough(rows) or any(low < one.row.third and one.start < high for one in others):
            continue
        work.read += len(rows)
        number = ledger_hash(f"{brief.id}\n{sources[rows[0].first].id}")
        node = Node(story_id(number), KIND, created=work.context.now)
        if forgotten_ids(work.context.store, work.context.scope, [node]):
            continue
        node = _updated(work, node, anchor, [(row.third, row.first) for row in rows])
        # Its text may equal that of a forgotten storyline.
        if forgotten_ids(work.context.store, work.context.scope, [node]):
            continue
        story = Entry(number, anchor, rows[-1].third, 1)
        writes = _placement(work, story, rows)
        writes.batch.nodes = [node]
        writes.batch.edges.append(edge_of(ABOUT, node.id, brief.id, work.context.now))
        work.save(writes)


def _by_time(row: Entry) -> tuple[int, int]:
    return row.third, row.first


def _runs(rows: Sequence[Entry]) -> Iterator[list[Entry]]:
    """Yields the rows, sorted by time, split at pauses of SILENCE."""
    return split_at_pauses(rows, lambda row: row.third, SILENCE)


def _is_enough(rows: Sequence[Entry]) -> bool:
    days = {row.third // DAY for row in rows}
    return len(rows) >= FEWEST and len(days) >= DAYS and rows[-1].third - rows[0].third > SPAN


# --- ending


def _close(work: Work) -> None:
    """Marks the storylines whose last source is at least SILENCE old as closed."""
    now = work.context.now
    over = [row for row in work.memory.all(Book.STORY) if row.fourth and now - row.third >= SILENCE]
    present = work.context.store.get(work.context.scope, [story_id(row.first) for row in over])
    writes = Writes(put=[(Book.STORY, row._replace(fourth=0)) for row in over])
    for node in present.values():
        writes.batch.nodes.append(replace(node, props={**node.props, "open": False}, updated=now))
    if over:
        work.read += len(over)
        work.save(writes)


# --- text


def _updated(work: Work, node: Node, anchor: int, sources: Sequence[tuple[int, int]]) -> Node:
    """Returns a storyline with new times and counts, and with a new title and summary if it has grown enough.

    `sources` are the times and keys of its sources, by time; `anchor` is the key of the node it is about.
    """
    start, end = sources[0][0], sources[-1][0]
    known = int(node.props.get("told", 0))
    props = {**node.props, "start": start, "end": end, "sources": len(sources), "open": True}
    props["open"] = work.context.now - end < SILENCE
    if not known or len(sources) - known >= max(known // GROWN, 1) or not node.text:
        name = subject_of(work, anchor)
        texts = texts_of(work, sample([source for _, source in sources]))
        node = replace(node, name=title_of(name, start, end, work.context.zone), text=work.tell(name, texts))
        props |= {"told": len(sources), "anchor": work.memory.nodes([anchor])[anchor].id}
    return replace(node, at=start, props=props, updated=work.context.now)


def subject_of(work: Work, anchor: int) -> str:
    """Returns the name of an anchor, or its id if it has none."""
    brief = work.memory.nodes([anchor])[anchor]
    node = work.context.store.get(work.context.scope, [brief.id]).get(brief.id)
    return (node.name if node is not None else None) or brief.id


def texts_of(work: Work, sources: Sequence[int]) -> list[str]:
    """Returns the texts of these sources, sorted by time."""
    briefs = work.memory.nodes(sources)
    files = [brief.source for brief in briefs.values() if brief.kind == "source" and brief.source is not None]
    atoms = work.context.store.atoms_of(work.context.scope, files) if files else {}
    own = work.context.store.get(work.context.scope, [brief.id for brief in briefs.values()])
    texts = []
    for brief in sorted(briefs.values(), key=lambda brief: (brief.at, brief.id)):
        parts = [atom.text for atom in atoms.get(brief.source or "", []) if atom.provenance != "quarantine"]
        texts.append("\n".join(parts) or (own[brief.id].text if brief.id in own else ""))
    return [text for text in texts if text]


def story_id(number: int) -> str:
    """Returns the id of the storyline with this number."""
    return dream_id(KIND, number)


def number_of(id_: str) -> int | None:
    """Returns the number of the storyline with this id; None for any other id."""
    return dream_number(KIND, id_)


def edge_of(kind: str, src: str, dst: str, now: int, via: str = VIA) -> Edge:
    """Returns an edge to or from a storyline or macro."""
    return Edge(derived_edge_id(kind, src, dst), src, dst, kind, WEIGHT, via=via, created=now, updated=now)
