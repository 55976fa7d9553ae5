"""The tables of labels (tags and buckets): their numbers, which nodes have them, and how many nodes have a tag."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal

from cuetrail.store.sqlite.reader import label_numbers

Label = tuple[str, str]
"""A label as (what, name): "t" for tags of nodes and edges, "b" for buckets."""


def label_ids(db: sqlite3.Connection, labels: Collection[Label], create: bool = False) -> dict[Label, int]:
    """Returns the numbers of labels in their table. With `create`, missing labels are added, else they are absent."""
    found = _numbered(db, labels)
    if create and len(found) < len(labels):
        missing = sorted(label for label in labels if label not in found)
        db.executemany("INSERT OR IGNORE INTO labels (what, name) VALUES (?, ?)", missing)
        found |= _numbered(db, missing)
    return found


def _numbered(db: sqlite3.Connection, labels: Collection[Label]) -> dict[Label, int]:
    kinds: tuple[Literal["t", "b"], ...] = ("t", "b")
    return {
        (what, name): number
        for what in kinds
        for name, number in label_numbers(db, what, [name for kind, name in labels if kind == what]).items()
    }


def put_carriers(db: sqlite3.Connection, carriers: Mapping[int, Sequence[int]], automatic: bool = False) -> None:
    """Stores which nodes have which labels: `carriers` maps the number of a label to keys of nodes.

    `automatic`: a rule gave them. A pair that is stored stays as it is. This is one statement with each pair as one
    number, because passing pairs takes twice as long.
    """
    above = 1 + max((key for keys in carriers.values() for key in keys), default=0)
    pairs = [label * above + key for label in sorted(carriers) for key in sorted(carriers[label])]
    query = "INSERT OR IGNORE INTO node_labels SELECT value / ?2, value % ?2, ?3 FROM json_each(?1)"
    db.execute(query, (str(pairs), above, automatic))


def collect_labels(db: sqlite3.Connection, labels: Iterable[int]) -> None:
    """Deletes those of these labels that no node or edge has any more."""
    db.executemany(
        "DELETE FROM labels WHERE label = ?1 AND NOT EXISTS (SELECT 1 FROM node_labels WHERE label = ?1)"
        " AND NOT EXISTS (SELECT 1 FROM adjacency_tags WHERE label = ?1)",
        [(label,) for label in labels],
    )


def count_given(db: sqlite3.Connection, changes: Mapping[tuple[int, str], int]) -> None:
    """Adds `changes` to the numbers of nodes by (partition, tag), for tags that people, files or rules gave."""
    rows = [(*place, n) for place, n in sorted(changes.items()) if n]
    db.executemany(
        "INSERT INTO given_tags VALUES (?, ?, ?) ON CONFLICT (part, name) DO UPDATE SET nodes = nodes + excluded.nodes",
        rows,
    )
    gone = [row[:2] for row in rows if row[2] < 0]
    db.executemany("DELETE FROM given_tags WHERE part = ? AND name = ? AND nodes <= 0", gone)
