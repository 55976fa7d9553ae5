"""Sources that tell of the same person, concept or entity over some time are a storyline.

An anchor is such a node that somebody has used. It has a storyline when at least FEWEST sources that are in none yet
name it, on at least DAYS days, over more than SPAN, without a SILENCE between two of them, and none of its storylines
was open at that time. Other sources that name it join the one that was. After a SILENCE a storyline is closed, and the
anchor may begin another. A source is in one storyline at most: where it could join several, in the one that is no more
than NEAR away and most like it, if it is more than ALIKE. That is judged once: what stands between several stays so.
What a source has left is told anew from the others, or goes where they are not enough.

The ledger notes which mentions are in no storyline yet; only those of anchors are looked at. What is counted are
different sources at their own times, so a second dream finds nothing to do.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from cuetrail.dream.context import DreamContext, Work
from cuetrail.dream.summaries import sample, title_of
from cuetrail.embed.embedder import from_blob
from cuetrail.formulas import DAY
from cuetrail.model import DERIVED, Edge, Node, PassReport, Where
from cuetrail.model.ids import derived_edge_id, dream_id, dream_number, ledger_hash
from cuetrail.store.dream import Book, Row, Writes
from cuetrail.store.graph import StepQuery, Ties
from cuetrail.store.read import forgotten_ids

NAME = "storylines"
KIND = "storyline"
PART_OF, ABOUT = "part_of", "about"
VIA = "dream:storylines"
FEWEST, DAYS, SPAN = 5, 3, 3 * DAY
SILENCE, NEAR, ALIKE = 90 * DAY, 30 * DAY, 0.7
# Topical band: told of together.
WEIGHT = 0.35
# What is told of a storyline is told anew when it has grown by a quarter.
GROWN = 4


def storylines(context: DreamContext) -> PassReport:
    """Bring the storylines in step with who is mentioned."""
    work = Work(context, NAME)
    _heal(work)
    anchors = work.memory.awake(Book.LOOSE)
    if anchors:
        # What joins may bring a storyline near to others.
        while _attach(work, anchors):
            pass
        for anchor in _by_weight(work, anchors):
            _begin(work, anchor)
    _close(work)
    work.step(work.read, work.read)
    return work.report()


# --- what is no longer so


def _heal(work: Work) -> None:
    """Sources whose mention is gone leave their storyline; those of a storyline that is gone are in none again."""
    gone = work.memory.all(Book.UNTOLD)
    # Those that came from elsewhere and do not tell of what they have.
    left = {row.first for row in gone if not row.second}
    for row in gone:
        writes = Writes(drop=[(Book.UNTOLD, row), (Book.LOOSE, row)])
        for placed in work.memory.by_first(Book.PLACED, [row.first]):
            if placed.third == row.second:
                left.add(placed.second)
                writes.drop.append((Book.PLACED, placed))
                source = work.memory.nodes([placed.first]).get(placed.first)
                if source is not None:
                    writes.batch.remove_edges.append(derived_edge_id(PART_OF, source.id, story_id(placed.second)))
        work.save(writes)
    stories = work.memory.all(Book.STORY)
    present = work.context.store.get(work.context.scope, [story_id(row.first) for row in stories])
    for row in stories:
        node = present.get(story_id(row.first))
        if node is None or row.first in left:
            told = work.memory.by_second(Book.PLACED, [row.first])
            work.save(_freed(row, told) if node is None else _left(work, row, node, told))


def _freed(story: Row, told: Sequence[Row]) -> Writes:
    """What takes a storyline out of the books: its sources are in none again."""
    drop = [(Book.STORY, story), *((Book.PLACED, one) for one in told)]
    return Writes(drop=drop, put=[(Book.LOOSE, Row(one.first, one.third, one.fourth)) for one in told])


def _left(work: Work, story: Row, node: Node, told: Sequence[Row]) -> Writes:
    """What becomes of a storyline that sources have left: it is told anew, or goes, if the others are not enough for
    one, and with it the macro that tells of it.
    """
    loose = sorted((Row(one.first, one.third, one.fourth) for one in told), key=_by_time)
    runs = list(_runs(loose))
    if len(runs) == 1 and _is_enough(loose) and story.second in work.memory.nodes([story.second]):
        anew = replace(node, props={**node.props, "told": 0})
        writes = Writes(put=[(Book.STORY, story._replace(third=loose[-1].third))])
        writes.batch.nodes = [_told(work, anew, story.second, [(row.third, row.first) for row in loose])]
        return writes
    writes = _freed(story, told)
    where = Where(kinds=DERIVED, quarantined=True, archived=True)
    query = StepQuery((node.id,), FEWEST, "out", Ties(kinds=(PART_OF,)), where)
    steps = work.context.store.steps(work.context.scope, query).get(node.id, [])
    writes.batch.remove_nodes = [node.id, *(step.other for step in steps)]
    return writes


# --- joining


@dataclass(slots=True)
class _Open:
    """A storyline that sources may join: its row, and from when on it goes."""

    row: Row
    start: int

    def gap(self, time: int) -> int:
        """How far a time is from the storyline. It grows less as that grows, so what was near once stays so."""
        return max(self.start - time, time - self.row.third, 0)


def _attach(work: Work, anchors: Sequence[int]) -> bool:
    """Sources that are in no storyline yet join one of an anchor they name that was open then; whether any did."""
    of_anchor = _opened(work, anchors)
    by_source: dict[int, list[Row]] = defaultdict(list)
    for row in work.memory.by_second(Book.LOOSE, sorted(of_anchor)):
        by_source[row.first].append(row)
    placed = {row.first for row in work.memory.by_first(Book.PLACED, by_source)}
    grown: dict[int, tuple[_Open, list[Row]]] = {}
    between: list[Row] = []
    for source, rows in sorted(by_source.items(), key=lambda pair: (pair[1][0].third, pair[0])):
        time = rows[0].third
        open_ = [one for row in rows for one in of_anchor[row.second] if one.gap(time) < SILENCE]
        if source in placed or not open_:
            continue
        joined = open_[0] if len(open_) == 1 else None
        if joined is None and not all(row.fourth for row in rows):
            joined = _most_alike(work, source, time, open_)
            between += [row._replace(fourth=1) for row in rows] if joined is None else []
        if joined is not None:
            joined.start = min(joined.start, time)
            joined.row = joined.row._replace(third=max(joined.row.third, time), fourth=1)
            grown.setdefault(joined.row.first, (joined, []))[1].append(Row(source, joined.row.second, time))
    for one, rows in (grown[number] for number in sorted(grown)):
        work.read += len(rows)
        _grow(work, one.row, rows)
    if between:
        work.save(Writes(put=[(Book.LOOSE, row) for row in between]))
    return bool(grown)


def _opened(work: Work, anchors: Sequence[int]) -> dict[int, list[_Open]]:
    """The storylines that there are, by their anchor."""
    rows = work.memory.by_second(Book.STORY, anchors)
    nodes = work.context.store.get(work.context.scope, [story_id(row.first) for row in rows])
    found: dict[int, list[_Open]] = defaultdict(list)
    for row in rows:
        if story_id(row.first) in nodes:
            found[row.second].append(_Open(row, nodes[story_id(row.first)].at))
    return found


def _most_alike(work: Work, source: int, time: int, stories: Sequence[_Open]) -> _Open | None:
    """Of several storylines the one most like the source, if that is near; None for none."""
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


def _grow(work: Work, story: Row, rows: Sequence[Row]) -> None:
    """Put sources into a storyline."""
    present = work.context.store.get(work.context.scope, [story_id(story.first)]).get(story_id(story.first))
    if present is None:
        return
    old = work.memory.by_second(Book.PLACED, [story.first])
    every = sorted([(row.fourth, row.first) for row in old] + [(row.third, row.first) for row in rows])
    writes = _placing(work, story, rows)
    node = _told(work, present, story.second, every)
    writes.batch.nodes = [node]
    work.save(writes)


def _placing(work: Work, story: Row, rows: Iterable[Row]) -> Writes:
    """What puts these loose rows into a storyline: books and edges. No other anchor gets the sources any more."""
    rows = list(rows)
    sources = work.memory.nodes([row.first for row in rows])
    writes = Writes(put=[(Book.STORY, story)])
    writes.drop = [(Book.LOOSE, row) for row in work.memory.by_first(Book.LOOSE, [row.first for row in rows])]
    for row in rows:
        if row.first in sources:
            writes.put.append((Book.PLACED, Row(row.first, story.first, story.second, row.third)))
            writes.batch.edges.append(_edge(PART_OF, sources[row.first].id, story_id(story.first), work.context.now))
    return writes


# --- beginning


def _by_weight(work: Work, anchors: Sequence[int]) -> list[int]:
    """The anchors whose loose sources may be enough, those with the most of them first."""
    loose: dict[int, list[Row]] = defaultdict(list)
    for row in work.memory.by_second(Book.LOOSE, anchors):
        loose[row.second].append(row)
    stories = _opened(work, list(loose))
    # Those of one may come into the storyline of another meanwhile; fewer are not enough either.
    enough = [anchor for anchor, rows in loose.items() if any(map(_is_enough, _apart(rows, stories.get(anchor, ()))))]
    briefs = work.memory.nodes(enough)
    return sorted(briefs, key=lambda anchor: (-len(loose[anchor]), briefs[anchor].id))


def _apart(rows: Iterable[Row], stories: Sequence[_Open]) -> Iterator[list[Row]]:
    """The runs of rows that are too far from every storyline of their anchor to be part of it."""
    far = [row for row in rows if all(one.gap(row.third) >= SILENCE for one in stories)]
    return _runs(sorted(far, key=_by_time))


def _begin(work: Work, anchor: int) -> None:
    """Make the storylines that an anchor's loose sources are enough for."""
    loose = sorted(work.memory.by_second(Book.LOOSE, [anchor]), key=_by_time)
    free = {row.first for row in work.memory.by_first(Book.PLACED, [row.first for row in loose])}
    sources = work.memory.nodes([row.first for row in loose])
    loose = [row for row in loose if row.first not in free and row.first in sources]
    brief = work.memory.nodes([anchor])[anchor]
    others = _opened(work, [anchor])[anchor]
    for rows in _runs(loose):
        low, high = rows[0].third - SILENCE, rows[-1].third + SILENCE
        if not _is_enough(rows) or any(low < one.row.third and one.start < high for one in others):
            continue
        work.read += len(rows)
        number = ledger_hash(f"{brief.id}\n{sources[rows[0].first].id}")
        node = Node(story_id(number), KIND, created=work.context.now)
        if forgotten_ids(work.context.store, work.context.scope, [node]):
            continue
        node = _told(work, node, anchor, [(row.third, row.first) for row in rows])
        # What it says may have been forgotten with another.
        if forgotten_ids(work.context.store, work.context.scope, [node]):
            continue
        story = Row(number, anchor, rows[-1].third, 1)
        writes = _placing(work, story, rows)
        writes.batch.nodes = [node]
        writes.batch.edges.append(_edge(ABOUT, node.id, brief.id, work.context.now))
        work.save(writes)


def _by_time(row: Row) -> tuple[int, int]:
    return row.third, row.first


def _runs(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """Rows by time, parted where there was silence."""
    some: list[Row] = []
    for row in rows:
        if some and row.third - some[-1].third >= SILENCE:
            yield some
            some = []
        some.append(row)
    if some:
        yield some


def _is_enough(rows: Sequence[Row]) -> bool:
    days = {row.third // DAY for row in rows}
    return len(rows) >= FEWEST and len(days) >= DAYS and rows[-1].third - rows[0].third > SPAN


# --- ending


def _close(work: Work) -> None:
    """Close the storylines that nothing was added to for long."""
    now = work.context.now
    over = [row for row in work.memory.all(Book.STORY) if row.fourth and now - row.third >= SILENCE]
    present = work.context.store.get(work.context.scope, [story_id(row.first) for row in over])
    writes = Writes(put=[(Book.STORY, row._replace(fourth=0)) for row in over])
    for node in present.values():
        writes.batch.nodes.append(replace(node, props={**node.props, "open": False}, updated=now))
    if over:
        work.read += len(over)
        work.save(writes)


# --- telling


def _told(work: Work, node: Node, anchor: int, sources: Sequence[tuple[int, int]]) -> Node:
    """The node with its times and counts, and, if it has grown, with what is told of it."""
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
    """What an anchor is title_of."""
    brief = work.memory.nodes([anchor])[anchor]
    node = work.context.store.get(work.context.scope, [brief.id]).get(brief.id)
    return (node.name if node is not None else None) or brief.id


def texts_of(work: Work, sources: Sequence[int]) -> list[str]:
    """What these sources say, by time."""
    briefs = work.memory.nodes(sources)
    files = [brief.source for brief in briefs.values() if brief.kind == "source" and brief.source is not None]
    atoms = work.context.store.atoms_of(work.context.scope, files) if files else {}
    own = work.context.store.get(work.context.scope, [brief.id for brief in briefs.values()])
    texts = []
    for brief in sorted(briefs.values(), key=lambda brief: (brief.at, brief.id)):
        said = [atom.text for atom in atoms.get(brief.source or "", []) if atom.provenance != "quarantine"]
        texts.append("\n".join(said) or (own[brief.id].text if brief.id in own else ""))
    return [text for text in texts if text]


def story_id(number: int) -> str:
    """The id of a storyline."""
    return dream_id(KIND, number)


def number_of(id_: str) -> int | None:
    """The number of the storyline with this id; None if it is none's."""
    return dream_number(KIND, id_)


def _edge(kind: str, src: str, dst: str, now: int) -> Edge:
    return Edge(derived_edge_id(kind, src, dst), src, dst, kind, WEIGHT, via=VIA, created=now, updated=now)
