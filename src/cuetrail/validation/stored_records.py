"""Finds stored records that break a rule, as an older version of cuetrail let in, and mends them.

A number or time out of range becomes the nearest that is allowed; tags, buckets, kinds and predicates are brought into
their stored form. What cannot be mended so is left as it is, and the finding says what to do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from cuetrail.errors import CuetrailError
from cuetrail.model import Edge, Fact, Finding, Life, Mention, Node, Note, Scope, SourceFile, Tombstone, Version
from cuetrail.model.reports import MENDED, REPAIR
from cuetrail.model.salience import GRADIENTS
from cuetrail.store.ports import Store
from cuetrail.store.read import Record
from cuetrail.store.shared.copy import list_of, users_of
from cuetrail.store.write import Batch
from cuetrail.validation.arguments import LEVELS
from cuetrail.validation.limits import TIMES
from cuetrail.validation.ready_records import SEQ, WEIGHTS, ready_record

MOST_FINDINGS = 20
"""So many records that break a rule are named one by one; the others are counted."""

Range = tuple[float, float]
Write = Callable[[Scope, Batch], object]
"""Writes a batch to a partition."""
T = TypeVar("T")
_SHARE: Range = (0.0, 1.0)
_COUNT: Range = (0, 2**62)


def _times(*names: str) -> dict[str, Range]:
    return dict.fromkeys(names, TIMES)


_RANGES: Mapping[type, Mapping[str, Range]] = {
    Life: {"salience": _SHARE, "confidence": _SHARE, "gradient": GRADIENTS, "accesses": _COUNT, "interval": _COUNT}
    | _times("last_access", "last_decay"),
    Node: {"seq": SEQ} | _times("at", "created", "updated", "valid_from", "valid_until"),
    Edge: {"weight": WEIGHTS, "attitude": LEVELS, "proximity": LEVELS, "confidence": _SHARE}
    | _times("created", "updated", "valid_from", "valid_until"),
    Fact: {"confidence": _SHARE, "access_count": _COUNT}
    | _times("created", "valid_from", "valid_until", "stated_from", "stated_until", "restated", "last_accessed"),
    Note: _times("created", "expires"),
    Mention: _times("at"),
    Version: _times("at"),
    Tombstone: _times("at"),
    SourceFile: _times("ingested"),
}
# A version and a tombstone are found by their time or without it, so another time would make a second one.
_KEPT = (Version, Tombstone, SourceFile, Mention)


def find_faulty(store: Store, write: Write | None = None) -> list[Finding]:
    """Returns the stored records of all users that break a rule. Those that can be are mended, with `write`."""
    found: list[Finding] = []
    left, others = 0, 0
    better: dict[Scope, Batch] = {}
    with store.whole_view() as view:
        for user in users_of(list(view.roots)):
            for team, record in view.scan(user):
                if (problem := _fault(record)) is None:
                    continue
                made = mended(record)
                if write is not None and made is not None:
                    list_of(better.setdefault(replace(user, share=team), Batch()), made).append(made)
                fix = _fix(record) if made is None else MENDED if write is not None else REPAIR
                if len(found) < MOST_FINDINGS:
                    where = f"{user.tenant}/{user.user}" + (f" in the team {team}" if team else "")
                    found.append(Finding("records", f"{_name(record)} of {where}: {problem}", fix))
                else:
                    others += 1
                    left += fix != MENDED
    if write is not None:
        for partition, batch in better.items():
            batch.overwritten = {node.id for node in batch.nodes}
            write(partition, batch)
    if others:
        fix = "mend those above, and look again" if left else MENDED
        found.append(Finding("records", f"{others} more records break a rule", fix))
    return found


def mended(record: Record) -> Record | None:
    """Returns the record within the rules, None if numbers, times and the form of words are not all that is wrong."""
    if isinstance(record, _KEPT):
        return None
    if isinstance(record, Node):
        record = replace(record, life=_within(record.life, _RANGES[Life]))
    ranges = _RANGES.get(type(record), {})
    if isinstance(record, Edge) and record.via is not None:
        ranges = {**ranges, "weight": _SHARE}
    try:
        return ready_record(_within(record, ranges))
    except CuetrailError:
        return None


def _within(record: T, ranges: Mapping[str, Range]) -> T:
    """Returns the record with these numbers in their ranges."""
    values = {name: getattr(record, name) for name in ranges}
    changes = {name: new for name, old in values.items() if (new := _nearest(old, *ranges[name])) is not old}
    return replace(record, **changes) if changes else record  # type: ignore[type-var]  # every record is a dataclass


def _nearest(value: Any, low: float, high: float) -> Any:
    """Returns the number of the range that is nearest to a value; what is no number is returned as it is.

    >>> _nearest(7.0, 0.25, 1.0), _nearest(9, 1, 5), _nearest(3, 1, 5), _nearest(float("nan"), 0.0, 1.0)
    (1.0, 5, 3, 1.0)
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or low <= value <= high:
        return value
    return high if math.isnan(value) or value > high else low


def _fault(record: Record) -> str | None:
    try:
        ready = ready_record(record)
    except CuetrailError as error:
        return str(error)
    return None if ready == record else "its tags, buckets, kind or predicate are not in their stored form"


def _name(record: Record) -> str:
    id_ = getattr(record, "id", None) or getattr(record, "path", None) or getattr(record, "src", "")
    return f"the {type(record).__name__.lower()} {id_!r:.80}"


def _fix(record: Record) -> str:
    verbs: Mapping[type, str] = {
        Node: "`add` it again under its id, or `forget` it",
        Edge: "`link` its ends again, or `unlink` it",
        Fact: "`retract` it and state it again",
    }
    return verbs.get(type(record), "`forget` the node it belongs to, or `export`, mend the line and `import`")
