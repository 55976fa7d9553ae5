"""Filters on nodes as SQL conditions."""

from __future__ import annotations

from typing import Any

from cuetrail.model import Where
from cuetrail.store.sqlite.connection import marks

_LABELLED = (
    "EXISTS (SELECT 1 FROM labels f JOIN node_labels g ON g.label = f.label"
    " WHERE g.key = {} AND f.what = ? AND f.name {})"
)


def narrowing(where: Where, key: str) -> tuple[list[str], list[Any]]:
    """Returns SQL conditions, and their values, for the filters on tags, buckets, kinds, text and time of the node `n`,
    whose key is in the given column.
    """
    tests, values = list[str](), list[Any]()
    for tag in where.tags:
        tests.append(_LABELLED.format(key, "= ?"))
        values += ["t", tag]
    if where.buckets:
        tests.append(_LABELLED.format(key, f"IN ({marks(len(where.buckets))})"))
        values += ["b", *where.buckets]
    if where.kinds:
        tests.append(f"n.kind IN ({marks(len(where.kinds))})")
        values += where.kinds
    if where.with_text:
        tests.append("(n.text <> '' OR n.kind = 'source')")
    for bound, test in ((where.since, "n.at >= ?"), (where.until, "n.at <= ?")):
        if bound is not None:
            tests.append(test)
            values.append(bound)
    return tests, values


def passing(where: Where, key: str) -> tuple[list[str], list[Any]]:
    """Returns SQL conditions, and their values, for all filters on the node `n`, whose key is in the given column."""
    tests, values = narrowing(where, key)
    if not where.quarantined:
        tests.append("n.provenance <> 'quarantine'")
    if not where.archived:
        tests.append("NOT EXISTS (SELECT 1 FROM life l WHERE l.key = n.key AND l.state = 'archived')")
    return tests, values
