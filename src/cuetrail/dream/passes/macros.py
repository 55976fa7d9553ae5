"""Macros group storylines about the same person, concept or entity over a long time.

A macro summarises several storylines of one anchor. An anchor gets one when it has at least FEWEST_STORYLINES and the
first began more than SPAN ago. It is written from the texts of its storylines, and again whenever one of them is added,
removed or changed.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from cuetrail.dream.context import DreamContext, Work
from cuetrail.dream.passes.storylines import ABOUT, PART_OF, edge_of, story_id, subject_of
from cuetrail.dream.summaries import title_of
from cuetrail.formulas import DAY
from cuetrail.model import Node, PassReport
from cuetrail.model.ids import dream_id, ledger_hash
from cuetrail.store.dream import Book, Entry, Writes
from cuetrail.store.read import forgotten_ids

NAME = "macros"
KIND = "macro"
VIA = "dream:macros"
FEWEST_STORYLINES, SPAN = 2, 30 * DAY


def macros(context: DreamContext) -> PassReport:
    """Creates and updates the macros: nodes that sum up several storylines about one node."""
    work = Work(context, NAME)
    by_anchor: dict[int, list[Entry]] = defaultdict(list)
    for row in work.memory.all(Book.STORY):
        by_anchor[row.second].append(row)
    ready = {anchor: rows for anchor, rows in by_anchor.items() if len(rows) >= FEWEST_STORYLINES}
    briefs = work.memory.nodes(ready)
    ids = {anchor: macro_id(briefs[anchor].id) for anchor in briefs}
    present = context.store.get(context.scope, list(ids.values()))
    for anchor, brief in sorted(briefs.items(), key=lambda pair: pair[1].id):
        _update_macro(work, anchor, brief.id, ready[anchor], present.get(ids[anchor]))
    return work.report(step=True)


def _update_macro(work: Work, anchor: int, anchor_id: str, rows: list[Entry], old: Node | None) -> None:
    """Creates or updates the macro of a node (the anchor), if the storylines about that node (`rows`) changed."""
    context = work.context
    found = context.store.get(context.scope, [story_id(row.first) for row in rows])
    stories = sorted(found.values(), key=lambda node: (node.at, node.id))
    if len(stories) < FEWEST_STORYLINES or context.now - stories[0].at <= SPAN:
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
    writes.batch.edges = [edge_of(PART_OF, story.id, node.id, context.now, VIA) for story in stories]
    writes.batch.edges.append(edge_of(ABOUT, node.id, anchor_id, context.now, VIA))
    work.read += len(stories)
    work.save(writes)


def macro_id(anchor: str) -> str:
    """Returns the id of the macro that sums up the storylines about the node with this id."""
    return dream_id(KIND, ledger_hash(anchor))
