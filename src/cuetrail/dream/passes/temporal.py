"""Labels from an atom's time, for people; their origin is `temporal`."""

from __future__ import annotations

from cuetrail.dream.calendar_labels import labels
from cuetrail.dream.context import Night, Work
from cuetrail.dream.tag_origin import relabelled
from cuetrail.model import PassReport
from cuetrail.store.dream import Writes

NAME = "temporal"
VERSION = "2"


def temporal(night: Night) -> PassReport:
    """Give every atom the labels of its time."""
    work = Work(night, NAME)
    for some in work.slices(f"{VERSION} {night.zone}"):
        writes = Writes(mark=some.mark)
        for atom in some.atoms:
            tags = relabelled(atom, "temporal", labels(atom.at, night.zone, atom.is_day))
            if tags is not None:
                writes.relabelled.append((atom, tags))
        work.save(writes)
    return work.report()
