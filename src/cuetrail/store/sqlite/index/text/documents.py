"""The searchable text of a node, and the writer that puts it into a tantivy index."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

import tantivy

from cuetrail.model import DERIVED
from cuetrail.store.sqlite.connection import chunks, marks
from cuetrail.store.sqlite.rows import label_names
from cuetrail.store.write import Progress
from cuetrail.text.normalise import analysable, searchable_text

WRITER_BYTES = 256_000_000
SMALL_WRITER_BYTES = 15_000_000
# Single keys are looked up; a range of this many is cheaper to find by reading the column of keys.
LONG_RUN = 64
SHOW_EVERY = 5_000

ROWS = """SELECT n.key, n.part, n.kind, n.name, n.aliases, n.text, n.labels, n.at, n.provenance, l.state
  FROM nodes n LEFT JOIN life l ON l.key = n.key"""


def make_schema() -> tantivy.Schema:
    """Returns the schema: `body` is scored, `labels` holds the words of tags and buckets for the x2 rule, other fields
    filter.
    """
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("body", tokenizer_name="cuetrail", index_option="position")
    builder.add_text_field("labels", tokenizer_name="cuetrail", index_option="basic")
    for name in ("tag", "bucket", "kind", "flag"):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    builder.add_unsigned_field("key", indexed=True, fast=True)
    builder.add_unsigned_field("part", indexed=True)
    builder.add_integer_field("at", indexed=True, fast=True)
    return builder.build()


SCHEMA = make_schema()


class Feed:
    """An open writer on an index. Nobody sees its changes before `commit`; `drop` leaves the index unchanged.

    `newest` is the highest key the index may hold. Keys are never reused, so a higher one needs no deletion.
    """

    def __init__(self, index: tantivy.Index, newest: int, small: bool, threads: int = 2) -> None:
        self._schema = index.schema
        self._newest = newest
        self._writer = index.writer(SMALL_WRITER_BYTES, 1) if small else index.writer(WRITER_BYTES, threads)

    def replace(self, db: sqlite3.Connection, runs: Sequence[tuple[int, int]], progress: Progress | None) -> None:
        """Indexes the present nodes of these ranges of keys and removes those that are gone."""
        total, done = sum(high - low + 1 for low, high in runs), 0
        short = [run for run in runs if run[1] - run[0] < LONG_RUN]
        for low, high in (run for run in runs if run[1] - run[0] >= LONG_RUN):
            self._delete(low, min(high, self._newest))
            done = self._add(db.execute(f"{ROWS} WHERE n.key BETWEEN ? AND ?", (low, high)), done, total, progress)
        for low, high in short:
            self._delete(low, min(high, self._newest))
        for keys in chunks([key for low, high in short for key in range(low, high + 1)]):
            done = self._add(db.execute(f"{ROWS} WHERE n.key IN ({marks(len(keys))})", keys), done, total, progress)
        self._newest = max((self._newest, *(high for _, high in runs)))

    def fill(self, db: sqlite3.Connection, total: int, progress: Progress | None) -> None:
        """Indexes every node; for an empty index."""
        self._add(db.execute(f"{ROWS} ORDER BY n.key"), 0, total, progress)

    def _add(self, rows: Iterator[tuple[Any, ...]], before: int, total: int, progress: Progress | None) -> int:
        done = before
        for done, row in enumerate(rows, before + 1):
            self._writer.add_document(_document(row))
            if progress and (done % SHOW_EVERY == 0 or done == total):
                progress("indexing text", done, total)
        return done

    def _delete(self, low: int, high: int) -> None:
        """Deletes by query: `delete_documents_by_term` misses numbers in unsigned fields."""
        query = tantivy.Query
        if high - low >= LONG_RUN:
            keys = query.range_query(self._schema, "key", tantivy.FieldType.Unsigned, low, high)
            self._writer.delete_documents_by_query(keys)
            return
        for key in range(low, high + 1):
            self._writer.delete_documents_by_query(query.term_query(self._schema, "key", key))

    def commit(self) -> None:
        """Makes the changes visible, and waits until segments are merged."""
        try:
            self._writer.commit()
        except BaseException:
            self.drop()
            raise
        self._writer.wait_merging_threads()

    def drop(self) -> None:
        with contextlib.suppress(ValueError, OSError):
            self._writer.rollback()
        with contextlib.suppress(ValueError, OSError):
            self._writer.wait_merging_threads()


@contextlib.contextmanager
def feeding(index: tantivy.Index, newest: int, small: bool) -> Iterator[Feed]:
    """Opens a feed that is committed if the block ends, dropped if it raises."""
    feed = Feed(index, newest, small)
    try:
        yield feed
    except BaseException:
        feed.drop()
        raise
    feed.commit()


def _document(row: tuple[Any, ...]) -> tantivy.Document:
    key, part, kind, name, aliases, text, packed, at, provenance, state = row
    tags, buckets = label_names(packed)
    fields: dict[str, Any] = {
        "body": analysable(_body(name, aliases, text)),
        "kind": kind,
        "key": key,
        "part": part,
        "at": at,
    }
    if tags or buckets:
        fields |= {"tag": tags, "bucket": buckets, "labels": analysable(" ".join((*tags, *buckets)))}
    bare = not text and kind != "source"
    if provenance != "internal" or state == "archived" or kind in DERIVED or bare:
        external, quarantine = provenance != "internal", provenance == "quarantine"
        flags = (
            ("quarantine", quarantine),
            ("archived", state == "archived"),
            ("external", external),
            ("derived", kind in DERIVED),
            ("bare", bare),
        )
        fields["flag"] = [flag for flag, raised in flags if raised]
    return tantivy.Document.from_dict(fields, SCHEMA)


def _body(name: str | None, aliases: str | None, text: str) -> str:
    """Returns the searchable text of a row; its aliases are JSON."""
    if name is None and aliases is None:
        return text
    return searchable_text(name, json.loads(aliases) if aliases else (), text)
