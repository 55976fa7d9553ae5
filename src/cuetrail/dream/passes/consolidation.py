"""Gives every source a summary and keywords, so that it is found by its overall topic.

The summary consists of sentences from the source's atoms and is stored in its properties. It is written again when an
atom is added, removed or changed.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from cuetrail.dream.context import DreamContext, Work
from cuetrail.dream.passes.storylines import texts_of
from cuetrail.dream.summaries import keywords
from cuetrail.model import PassReport
from cuetrail.store.dream import DREAM_PROPS, Book, Entry, Slice, Writes

NAME = "consolidation"
VERSION = "1"
SUMMARY, KEYWORDS = DREAM_PROPS[:2]
# Sources of one transaction.
BATCH = 200


def consolidation(context: DreamContext) -> PassReport:
    """Updates the summaries of sources whose atoms changed."""
    work = Work(context, NAME)
    for some in work.slices(VERSION):
        changed, writes = _changed_sources(work, some)
        sources = sorted(changed)
        for start in range(0, len(sources), BATCH):
            _renew(work, sources[start : start + BATCH])
        # Last, because a dream that was interrupted before this reads the same slice again.
        work.save(writes)
    return work.report(step=True)


def _changed_sources(work: Work, some: Slice) -> tuple[set[int], Writes]:
    """Returns the keys of the sources whose atoms were added, changed or removed, and the writes that update the
    pass's record of which atom is in which source.
    """
    old = set(work.memory.within(Book.SUMMARISED, some.runs))
    sources = work.memory.sources([atom.key for atom in some.atoms])
    new = {Entry(atom, source) for atom, source in sources.items()}
    writes = Writes(mark=some.mark)
    writes.drop = [(Book.SUMMARISED, row) for row in sorted(old - new)]
    writes.put = [(Book.SUMMARISED, row) for row in sorted(new - old)]
    return {row.second for row in old | new}, writes


def _renew(work: Work, sources: Collection[int]) -> None:
    context = work.context
    briefs = work.memory.nodes(sources)
    nodes = context.store.get(context.scope, [brief.id for brief in briefs.values()])
    writes = Writes()
    for key, brief in sorted(briefs.items()):
        node = nodes.get(brief.id)
        if node is None or node.kind != "source" or node.text:
            continue
        texts = texts_of(work, [key])
        props = {name: value for name, value in node.props.items() if name not in (SUMMARY, KEYWORDS)}
        if texts:
            props |= {SUMMARY: work.tell("", texts), KEYWORDS: list(keywords(texts))}
        if props != dict(node.props):
            writes.batch.nodes.append(replace(node, props=props))
    if writes.batch.nodes:
        work.save(writes)
