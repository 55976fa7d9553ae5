"""The text index: tantivy over every node, derived from the truth and caught up from the change log.

It holds no text, only postings and a few filter fields, and answers with node keys.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import tantivy

from cuetrail.store.base import Progress
from cuetrail.store.local.db import Database, explained, head, meta, moment
from cuetrail.store.local.indexdir import IndexDir, State
from cuetrail.store.local.rows import label_names
from cuetrail.text import analysable

LAYOUT = "text-1"
LONGEST_TOKEN = 255
WRITER_BYTES = 256_000_000
SMALL_WRITER_BYTES = 15_000_000
SMALL_CHANGE = 2_000
# Deleted documents stay in tantivy's statistics until their segment is rewritten. Small indexes are rewritten at once,
# so that scores depend on nothing but the living memories; large ones when one in twenty is dead.
REWRITE_BELOW = 1_000
REWRITE_SHARE = 0.05

ROWS = """SELECT n.key, n.part, n.kind, n.name, n.aliases, n.text, n.labels, n.at, n.provenance, l.state
  FROM nodes n LEFT JOIN life l ON l.key = n.key"""


def make_analyser() -> tantivy.TextAnalyzer:
    """Unicode words, lower case, accents folded, English stems. The same for index and query."""
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    for step in (
        tantivy.Filter.remove_long(LONGEST_TOKEN),
        tantivy.Filter.lowercase(),
        tantivy.Filter.ascii_fold(),
        tantivy.Filter.stemmer("english"),
    ):
        builder = builder.filter(step)
    return builder.build()


def make_schema() -> tantivy.Schema:
    """body is scored; labels holds the words of tags and buckets for the x2 rule; the rest filters."""
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("body", tokenizer_name="cuetrail", index_option="position")
    builder.add_text_field("labels", tokenizer_name="cuetrail", index_option="basic")
    for name in ("tag", "bucket", "kind", "flag"):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    builder.add_unsigned_field("key", indexed=True, fast=True)
    builder.add_unsigned_field("part", indexed=True)
    builder.add_integer_field("at", indexed=True, fast=True)
    return builder.build()


@dataclass(frozen=True, slots=True)
class View:
    """An index as of one state: what a search works on."""

    searcher: tantivy.Searcher
    schema: tantivy.Schema
    state: State


class TextIndex:
    """Keeps a tantivy index in step with the truth and hands out searchers."""

    def __init__(self, directory: Path, db: Database) -> None:
        self.dir = IndexDir(directory)
        self.db = db
        self.analyser = make_analyser()
        self._view: View | None = None
        self._stamp = (-1, -1)

    def view(self, progress: Progress | None = None) -> View:
        """A searcher that has seen every acknowledged write."""
        with explained(self.db.path):
            epoch, target = moment(self.db.reader)
        for _ in range(3):
            view = self._current(epoch)
            if view is not None and view.state.seq >= target:
                return view
            self.catch_up(progress)
        # Another process keeps replacing the index under us; one that is locked out cannot.
        with self.dir.locked():
            self.catch_up(progress)
            view = self._current(epoch)
            assert view is not None, "an index that was just caught up can be opened"
            return view

    def _current(self, epoch: str) -> View | None:
        """The open index if it is still the one on disk, else that one, else None."""
        stamp = self.dir.stamp()
        if self._view is not None and stamp == self._stamp and self._view.state.epoch == epoch:
            return self._view
        state = self.dir.load()
        if state is None or state.epoch != epoch or state.layout != LAYOUT or not self.dir.intact(state):
            return None
        view = self._open(state)
        if view is not None:
            self._view, self._stamp = view, stamp
        return view

    def _open(self, state: State) -> View | None:
        try:
            index = self._index(self.dir.path / state.folder)
            return View(index.searcher(), index.schema, state)
        except (ValueError, OSError):
            return None

    def _index(self, folder: Path) -> tantivy.Index:
        folder.mkdir(parents=True, exist_ok=True)
        index = tantivy.Index(make_schema(), str(folder))
        index.config_reader("manual")
        index.register_tokenizer("cuetrail", self.analyser)
        index.reload()
        return index

    def catch_up(self, progress: Progress | None = None) -> None:
        """Apply every change since the state, or rebuild where that is not possible."""
        with self.dir.locked(), self.db.reading() as db:
            state = self.dir.load()
            epoch, target = meta(db, "epoch"), head(db)
            if state is None or not self._usable(db, state, epoch, target):
                self._rebuild(db, epoch, target, progress)
            elif state.seq < target or self.dir.dirty():
                self._apply(db, state, target, progress)

    def _usable(self, db: sqlite3.Connection, state: State, epoch: str, target: int) -> bool:
        """Whether the index on disk can be brought up to date instead of rebuilt."""
        if state.epoch != epoch or state.layout != LAYOUT or state.seq > target:
            return False
        oldest = db.execute("SELECT min(seq) FROM changes").fetchone()[0]
        if state.seq < target and (oldest is None or oldest > state.seq + 1):
            return False
        if self.dir.dirty():
            # Whoever died here had committed to tantivy or not; either way its meta.json is newer than the state.
            state = replace(state, files={n: f for n, f in state.files.items() if n != "meta.json"})
            state = replace(state, files={n: f for n, f in state.files.items() if self._exists(state, n)})
        return self.dir.intact(state) and self._open(state) is not None

    def _exists(self, state: State, name: str) -> bool:
        return (self.dir.path / state.folder / name).exists()

    def _rebuild(self, db: sqlite3.Connection, epoch: str, target: int, progress: Progress | None) -> None:
        folder = self.dir.next_folder()
        index = self._index(self.dir.path / folder)
        total = db.execute("SELECT count(*) FROM nodes").fetchone()[0]
        small = total <= SMALL_CHANGE
        with _writer(index, small) as writer:
            for done, row in enumerate(db.execute(f"{ROWS} ORDER BY n.key"), 1):
                writer.add_document(_document(row))
                if progress and (done % 5000 == 0 or done == total):
                    progress("indexing text", done, total)
        self._save(State(epoch, LAYOUT, target, folder))
        self.dir.mark_clean()
        self.dir.sweep(folder)

    def _apply(self, db: sqlite3.Connection, state: State, target: int, progress: Progress | None) -> None:
        runs = db.execute("SELECT low, high FROM changes WHERE seq > ? ORDER BY low", (state.seq,)).fetchall()
        runs = _joined(runs)
        total = sum(high - low + 1 for low, high in runs)
        index = self._index(self.dir.path / state.folder)
        # Keys are never used twice: one above all indexed ones needs no deletion, unless a dead process got further.
        newest = 2**63 if self.dir.dirty() else state.extra.get("newest", 2**63)
        self.dir.mark_dirty()
        done = 0
        with _writer(index, total <= SMALL_CHANGE) as writer:
            for low, high in runs:
                for key in range(low, min(high, newest) + 1):
                    writer.delete_documents_by_term("key", key)
                for row in db.execute(f"{ROWS} WHERE n.key BETWEEN ? AND ?", (low, high)):
                    writer.add_document(_document(row))
                    done += 1
                    if progress and done % 5000 == 0:
                        progress("indexing text", done, total)
        self._save(replace(state, seq=target))
        self.dir.mark_clean()
        if self._worn(self.dir.load()):
            self._rebuild(db, state.epoch, target, progress)

    def _worn(self, state: State | None) -> bool:
        """Whether so many documents are dead that scores would be off."""
        if state is None:
            return True
        dead, living = state.extra["dead"], state.extra["living"]
        return dead > 0 and (living <= REWRITE_BELOW or dead > REWRITE_SHARE * living)

    def _save(self, state: State) -> None:
        """Record the folder's files and counts as they are now."""
        folder = self.dir.path / state.folder
        segments = json.loads((folder / "meta.json").read_text("utf-8"))["segments"]
        prefixes = {segment["segment_id"].replace("-", "") for segment in segments}
        names = ["meta.json", *sorted(n for n in os.listdir(folder) if n.split(".")[0] in prefixes)]
        known = state.files
        files = {}
        for name in names:
            found = (folder / name).stat()
            entry = known.get(name)
            same = entry is not None and entry[:2] == (found.st_size, found.st_mtime_ns)
            files[name] = entry if same and entry else self.dir.describe(state.folder, [name])[name]
        documents = sum(segment["max_doc"] for segment in segments)
        dead = sum((segment.get("deletes") or {}).get("num_deleted_docs", 0) for segment in segments)
        with self.db.reading() as db:
            newest = db.execute("SELECT max(key) FROM nodes").fetchone()[0] or 0
        extra = {"dead": dead, "living": documents - dead, "newest": max(newest, state.extra.get("newest", 0))}
        self.dir.save(replace(state, files=files, extra=extra))

    def rebuild(self) -> None:
        """Rewrite the index so that nothing of removed nodes is left in its files."""
        with self.dir.locked(), self.db.reading() as db:
            self._rebuild(db, meta(db, "epoch"), head(db), None)

    def keys(self) -> set[int]:
        """Every key the index holds; for doctor and tests."""
        searcher = self.view().searcher
        hits = searcher.search(tantivy.Query.all_query(), max(searcher.num_docs, 1), count=False).hits
        return {int(key) for key in searcher.fast_field_values("key", [address for _, address in hits]) if key is not None}


@contextlib.contextmanager
def _writer(index: tantivy.Index, small: bool) -> Iterator[tantivy.IndexWriter]:
    """A writer that commits at the end and waits for its merges, or leaves the index as it was."""
    writer = index.writer(SMALL_WRITER_BYTES, 1) if small else index.writer(WRITER_BYTES, 2)
    yield writer
    writer.commit()
    writer.wait_merging_threads()


def _joined(runs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Overlapping and adjacent runs as one, so that each key is applied once."""
    joined: list[tuple[int, int]] = []
    for low, high in runs:
        if joined and low <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(high, joined[-1][1]))
        else:
            joined.append((low, high))
    return joined


def _document(row: tuple[Any, ...]) -> tantivy.Document:
    key, part, kind, name, aliases, text, packed, at, provenance, state = row
    document = tantivy.Document()
    document.add_text("body", analysable(body_of(name, aliases, text)))
    tags, buckets = label_names(packed)
    for tag in tags:
        document.add_text("tag", tag)
    for bucket in buckets:
        document.add_text("bucket", bucket)
    if tags or buckets:
        document.add_text("labels", analysable(" ".join((*tags, *buckets))))
    document.add_text("kind", kind)
    if provenance == "quarantine":
        document.add_text("flag", "quarantine")
    if state == "archived":
        document.add_text("flag", "archived")
    document.add_unsigned("key", key)
    document.add_unsigned("part", part)
    document.add_integer("at", at)
    return document


def body_of(name: str | None, aliases: str | None, text: str) -> str:
    """What of a node is searched: its name, its aliases (JSON) and its text."""
    if name is None and aliases is None:
        return text
    return "\n".join([*([name] if name else []), *(json.loads(aliases) if aliases else []), *([text] if text else [])])
