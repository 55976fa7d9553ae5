"""The inverted tables of tags and buckets: the nodes with each label, and the tags given by people, files or rules."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence

from cuetrail.store.sqlite.connection import chunks, marks

Label = tuple[str, str]
"""(what, name): 't' for tags of nodes and edges, 'b' for buckets."""


def label_ids(db: sqlite3.Connection, labels: Collection[Label], create: bool = False) -> dict[Label, int]:
    """Returns the keys of labels; with `create`, missing ones are made."""
    found = _known(db, labels)
    if create and len(found) < len(labels):
        missing = sorted(label for label in labels if label not in found)
        db.executemany("INSERT OR IGNORE INTO labels (what, name) VALUES (?, ?)", missing)
        found |= _known(db, missing)
    return found


def _known(db: sqlite3.Connection, labels: Collection[Label]) -> dict[Label, int]:
    found = {}
    for what in ("t", "b"):
        for some in chunks([name for kind, name in labels if kind == what]):
            for label, name in db.execute(
                f"SELECT label, name FROM labels WHERE what = ? AND name IN ({marks(len(some))})", (what, *some)
            ):
                found[what, name] = label
    return found


def put_carriers(db: sqlite3.Connection, carriers: Mapping[int, Sequence[int]]) -> None:
    """Adds the keys of nodes under their labels, in the order of the table.

    One statement, each pair as one number: passing pairs takes twice as long.
    """
    above = 1 + max((key for keys in carriers.values() for key in keys), default=0)
    pairs = [label * above + key for label in sorted(carriers) for key in sorted(carriers[label])]
    query = "INSERT OR IGNORE INTO node_labels SELECT value / ?2, value % ?2 FROM json_each(?1)"
    db.execute(query, (str(pairs), above))


def collect_labels(db: sqlite3.Connection, labels: Iterable[int]) -> None:
    """Deletes the labels, of these, that no node or edge has any more."""
    db.executemany(
        "DELETE FROM labels WHERE label = ?1 AND NOT EXISTS (SELECT 1 FROM node_labels WHERE label = ?1)"
        " AND NOT EXISTS (SELECT 1 FROM adjacency_tags WHERE label = ?1)",
        [(label,) for label in labels],
    )


def count_given(db: sqlite3.Connection, changes: Mapping[tuple[int, str], int]) -> None:
    """Updates the number of nodes per (partition, tag) by the tags that were given or taken away."""
    rows = [(*place, n) for place, n in sorted(changes.items()) if n]
    db.executemany(
        "INSERT INTO given_tags VALUES (?, ?, ?) ON CONFLICT (part, name) DO UPDATE SET nodes = nodes + excluded.nodes",
        rows,
    )
    gone = [row[:2] for row in rows if row[2] < 0]
    db.executemany("DELETE FROM given_tags WHERE part = ? AND name = ? AND nodes <= 0", gone)
