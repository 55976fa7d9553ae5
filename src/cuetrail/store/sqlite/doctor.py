"""Examination of a memory: whether `memory.db` is intact, its tables agree, and the indexes equal a full scan."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping

from cuetrail.errors import CorruptMemory
from cuetrail.model import Finding
from cuetrail.model.reports import MENDED, REPAIR
from cuetrail.store.sqlite import computed_tables
from cuetrail.store.sqlite.check_on_open import damage
from cuetrail.store.sqlite.connection import Database
from cuetrail.store.sqlite.index import vector_spaces
from cuetrail.store.sqlite.index.label_index import LabelIndex
from cuetrail.store.sqlite.index.text_index import TextIndex
from cuetrail.store.sqlite.index.vector_index import VectorIndex
from cuetrail.store.sqlite.reader import NEXT, NOW
from cuetrail.store.write import Progress

RESTORE = "put back a backup with `cuetrail restore`"

Found = tuple[str, str, str]
"""The fields of a `Finding`: check, problem, and what to do."""


def examine(
    db: Database, indexes: Mapping[str, TextIndex | VectorIndex | LabelIndex], repair: bool, progress: Progress | None
) -> list[Finding]:
    """Returns every problem found. With `repair`, computed tables and indexes that differ are rebuilt, and their
    findings say so. If `memory.db` itself is damaged, only that is reported.
    """
    try:
        found = _tables(db, progress)
        if any(f.check == "truth" for f in found):
            return found
        if repair and found:
            with db.writing() as writer:
                _mend(writer)
            db.tables_mended()
            found = [Finding(f.check, f.problem, MENDED) for f in found]
        if progress:
            progress("checking indexes", 7, 8)
        for name, index in indexes.items():
            if index.differs():
                if repair:
                    index.rebuild()
                found.append(Finding(name, "it differs from the memories", MENDED if repair else REPAIR))
            if isinstance(index, TextIndex) and index.has_traces():
                if repair:
                    index.purge()
                found.append(Finding(name, "it has words of forgotten memories", MENDED if repair else REPAIR))
    except CorruptMemory as error:
        return [Finding("truth", str(error), RESTORE)]
    if progress:
        progress("done", 8, 8)
    return found


def _tables(db: Database, progress: Progress | None) -> list[Finding]:
    found: list[Finding] = []
    for step, check in enumerate((_whole, *computed_tables.CHECKS, _ends), 1):
        if progress:
            progress(f"checking {check.__name__.strip('_')}", step, 8)
        with db.reading() as view:
            found += (Finding(*one) for one in check(view))
        if any(f.check == "truth" for f in found):
            break
    return found


def _whole(db: sqlite3.Connection) -> Iterator[Found]:
    yield from (("truth", what, RESTORE) for what in damage(db))


# Tables whose rows belong to a node, and the column with the node's key.
_OF_NODES = (
    ("edges", "src"),
    ("edges", "dst"),
    ("facts", "subject"),
    ("facts", "object"),
    ("mentions", "source"),
    ("mentions", "node"),
    ("links", "src"),
    ("life", "key"),
)
# A vector belongs to a record with text, or at least to a node.
_VECTORLESS = "{0} WHERE " + " AND ".join(
    f"NOT EXISTS (SELECT 1 FROM {table} n WHERE n.key = {{0}}.key AND {'1' if table == 'nodes' else saying})"
    for table, saying in vector_spaces.SAYING.items()
)


def _ends(db: sqlite3.Connection) -> Iterator[Found]:
    for table, column in _OF_NODES:
        lost = db.execute(f"SELECT count(*) FROM {table} WHERE {column} NOT IN (SELECT key FROM nodes)").fetchone()[0]
        if lost:
            yield table, f"{lost} {table} belong to nodes that are not there", REPAIR
    for table in (NOW, NEXT):
        lost = db.execute(f"SELECT count(*) FROM {_VECTORLESS.format(table)}").fetchone()[0]
        if lost:
            yield table, f"{lost} {table} belong to nothing that is there", REPAIR


def _mend(db: sqlite3.Connection) -> None:
    """Rebuilds every computed table from nodes and edges, and deletes rows that refer to a missing record."""
    for table, column in _OF_NODES:
        db.execute(f"DELETE FROM {table} WHERE {column} NOT IN (SELECT key FROM nodes)")
    for table in (NOW, NEXT):
        db.execute(f"DELETE FROM {_VECTORLESS.format(table)}")
    computed_tables.rebuild(db)
