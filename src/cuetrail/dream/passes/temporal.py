"""Gives atoms tags for the date and time of day, for people to read; their origin is `temporal`."""

from __future__ import annotations

from cuetrail.dream.calendar_labels import labels
from cuetrail.dream.context import DreamContext, Work
from cuetrail.dream.tag_origin import retag
from cuetrail.model import PassReport
from cuetrail.store.dream import Writes

NAME = "temporal"
VERSION = "2"


def temporal(context: DreamContext) -> PassReport:
    """Gives every atom the tags of its time."""
    work = Work(context, NAME)
    for some in work.slices(f"{VERSION} {context.zone}"):
        writes = Writes(mark=some.mark)
        for atom in some.atoms:
            tags = retag(atom, "temporal", labels(atom.at, context.zone, atom.is_day))
            if tags is not None:
                writes.relabelled.append((atom, tags))
        work.save(writes)
    return work.report()
