"""Combines several storylines of one anchor into a macro, a summary over a long time.

An anchor gets a macro when it has at least FEWEST storylines and the first began more than SPAN ago. The macro is
written from the texts of its storylines, and again whenever one of them is added, removed or changed.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from cuetrail.dream.context import DreamContext, Work
from cuetrail.dream.passes.storylines import ABOUT, PART_OF, WEIGHT, story_id, subject_of
from cuetrail.dream.summaries import title_of
from cuetrail.formulas import DAY
from cuetrail.model import Edge, Node, PassReport
from cuetrail.model.ids import derived_edge_id, dream_id, ledger_hash
from cuetrail.store.dream import Book, Row, Writes
from cuetrail.store.read import forgotten_ids

NAME = "macros"
KIND = "macro"
VIA = "dream:macros"
FEWEST, SPAN = 2, 30 * DAY


def macros(context: DreamContext) -> PassReport:
    """Updates the macros from the storylines."""
    work = Work(context, NAME)
    by_anchor: dict[int, list[Row]] = defaultdict(list)
    for row in work.memory.all(Book.STORY):
        by_anchor[row.second].append(row)
    ready = {anchor: rows for anchor, rows in by_anchor.items() if len(rows) >= FEWEST}
    briefs = work.memory.nodes(ready)
    ids = {anchor: macro_id(briefs[anchor].id) for anchor in briefs}
    present = context.store.get(context.scope, list(ids.values()))
    for anchor, brief in sorted(briefs.items(), key=lambda pair: pair[1].id):
        _update_macro(work, anchor, brief.id, ready[anchor], present.get(ids[anchor]))
    work.step(work.read, work.read)
    return work.report()


def _update_macro(work: Work, anchor: int, anchor_id: str, rows: list[Row], old: Node | None) -> None:
    """Creates or updates the macro of an anchor, if its storylines changed."""
    context = work.context
    found = context.store.get(context.scope, [story_id(row.first) for row in rows])
    stories = sorted(found.values(), key=lambda node: (node.at, node.id))
    if len(stories) < FEWEST or context.now - stories[0].at <= SPAN:
        return
    end = max(int(node.props.get("end", node.at)) for node in stories)
    check = ledger_hash("\n".join([str(end), *(f"{node.id} {node.at} {node.text}" for node in stories)]))
    if old is not None and old.props.get("check") == check:
        return
    node = old or Node(macro_id(anchor_id), KIND, created=context.now)
    if forgotten_ids(context.store, context.scope, [node]):
        return
    name = subject_of(work, anchor)
    start = stories[0].at
    props = {"start": start, "end": end, "storylines": len(stories), "anchor": anchor_id, "check": check}
    summary = work.tell(name, [node.text for node in stories])
    node = replace(
        node, name=title_of(name, start, end, context.zone), text=summary, at=start, props=props, updated=context.now
    )
    writes = Writes()
    writes.batch.nodes = [node]
    writes.batch.edges = [_edge(PART_OF, story.id, node.id, context.now) for story in stories]
    writes.batch.edges.append(_edge(ABOUT, node.id, anchor_id, context.now))
    work.read += len(stories)
    work.save(writes)


def macro_id(anchor: str) -> str:
    """Returns the id of an anchor's macro."""
    return dream_id(KIND, ledger_hash(anchor))


def _edge(kind: str, src: str, dst: str, now: int) -> Edge:
    return Edge(derived_edge_id(kind, src, dst), src, dst, kind, WEIGHT, via=VIA, created=now, updated=now)
