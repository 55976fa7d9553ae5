"""Every source gets a summary and keywords, so that it is found by what it is about as a whole.

The summary is made of sentences of the source's atoms and stands among its properties. When an atom comes, goes or
changes, it is made anew.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from cuetrail.dream.context import DreamContext, Work
from cuetrail.dream.passes.storylines import texts_of
from cuetrail.dream.summaries import keywords
from cuetrail.model import PassReport
from cuetrail.store.dream import Book, Row, Slice, Writes

NAME = "consolidation"
VERSION = "1"
SUMMARY, KEYWORDS = "summary", "keywords"
# Sources of one transaction.
BATCH = 200


def consolidation(context: DreamContext) -> PassReport:
    """Renew the summaries of sources whose atoms changed."""
    work = Work(context, NAME)
    for some in work.slices(VERSION):
        changed = _noted(work, some)
        sources = sorted(changed)
        for start in range(0, len(sources), BATCH):
            _renew(work, sources[start : start + BATCH])
    work.step(work.read, work.read)
    return work.report()


def _noted(work: Work, some: Slice) -> set[int]:
    """The sources of these atoms, and of those that are gone; the ledger keeps whose they were."""
    old = set(work.memory.within(Book.SUMMED, some.runs))
    sources = work.memory.sources([atom.key for atom in some.atoms])
    new = {Row(atom, source) for atom, source in sources.items()}
    writes = Writes(mark=some.mark)
    writes.drop = [(Book.SUMMED, row) for row in sorted(old - new)]
    writes.put = [(Book.SUMMED, row) for row in sorted(new - old)]
    work.save(writes)
    return {row.second for row in old | new}


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
