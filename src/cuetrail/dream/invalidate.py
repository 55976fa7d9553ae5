"""Removes summaries of memories that are removed. The next dream writes them again from the remaining memories."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from cuetrail.dream.passes.consolidation import KEYWORDS, SUMMARY
from cuetrail.dream.passes.storylines import ABOUT, PART_OF
from cuetrail.model import DERIVED, Direction, Node, Scope, Where
from cuetrail.model.ids import source_id
from cuetrail.store.graph import StepQuery, Ties
from cuetrail.store.ports import Store
from cuetrail.store.write import Batch

MOST = 10_000


def invalidate(store: Store, scope: Scope, batch: Batch, leaving: Sequence[Node]) -> None:
    """Adds to a batch the removal of storylines, macros and file summaries that use any of the leaving nodes."""
    ids = {node.id for node in leaving}
    files = {source_id(node.source) for node in leaving if node.source is not None} - ids
    stories = _around(store, scope, {*ids, *files}, "out", PART_OF) | _around(store, scope, ids, "in", ABOUT)
    outdated = stories | _around(store, scope, stories, "out", PART_OF)
    batch.remove_nodes += sorted(outdated - ids)
    for node in store.get(scope, sorted(files)).values():
        if SUMMARY in node.props and all(node.id != other.id for other in batch.nodes):
            props = {name: value for name, value in node.props.items() if name not in (SUMMARY, KEYWORDS)}
            batch.nodes.append(replace(node, props=props))


def _around(store: Store, scope: Scope, ids: Iterable[str], direction: Direction, kind: str) -> set[str]:
    """Returns the ids of storylines and macros linked to these nodes."""
    start = tuple(sorted(ids))
    where = Where(kinds=DERIVED, quarantined=True, archived=True)
    found = store.steps(scope, StepQuery(start, MOST, direction, Ties(kinds=(kind,)), where)) if start else {}
    return {step.other for steps in found.values() for step in steps}
