"""The text index: tantivy over every node, derived from `memory.db` and updated from the change log.

It holds no text, only postings and a few filter fields, and answers with node keys.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import tantivy

from cuetrail.model import STORYLINE_KINDS
from cuetrail.model.searched_fields import searched_heading, searched_title
from cuetrail.store.sqlite.changelog import FORGOTTEN, changes_since, head, mark_of, position
from cuetrail.store.sqlite.connection import Database, chunks, gone, marks, meta
from cuetrail.store.sqlite.index.directory import IndexDir, State, rebuilding
from cuetrail.store.sqlite.index.text_search import TextView
from cuetrail.store.sqlite.rows import label_names
from cuetrail.store.write import Progress
from cuetrail.text.normalise import analysable, indexed_terms, make_analyser, searchable_text

WRITER_BYTES = 256_000_000
SMALL_WRITER_BYTES = 15_000_000
# Single keys are looked up; a range of this many is cheaper to find by reading the column of keys.
LONG_RUN = 64
SHOW_EVERY = 5_000

ROWS = """SELECT n.key, n.part, n.kind, n.name, n.aliases, n.text, n.labels, n.at, n.provenance, n.props, l.state
  FROM nodes n LEFT JOIN life l ON l.key = n.key"""


def make_schema() -> tantivy.Schema:
    """Returns the schema of the index: `body`, `title` and `heading` are scored, `labels` has the words of tags and
    buckets, by which scores are doubled, other fields filter.

    Titles and headings are analysed before they are indexed. A missing one is indexed as a word that no analyser makes.
    """
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("body", tokenizer_name="cuetrail", index_option="position")
    for name in ("title", "heading"):
        builder.add_text_field(name, tokenizer_name="whitespace", index_option="position")
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

    `newest` is the highest key the index may contain. Keys are never reused, so documents with higher keys need no
    deletion before they are added.
    """

    def __init__(self, index: tantivy.Index, newest: int, small: bool, threads: int = 2) -> None:
        self._schema = index.schema
        self._newest = newest
        self._writer = index.writer(SMALL_WRITER_BYTES, 1) if small else index.writer(WRITER_BYTES, threads)

    def replace(self, db: sqlite3.Connection, runs: Sequence[tuple[int, int]], progress: Progress | None) -> None:
        """Indexes the present nodes with keys in these ranges, and removes deleted ones from the index."""
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
        """Adds every node of `memory.db` to the index, which must be empty."""
        self._add(db.execute(f"{ROWS} ORDER BY n.key"), 0, total, progress)

    def _add(self, rows: Iterator[tuple[Any, ...]], before: int, total: int, progress: Progress | None) -> int:
        done = before
        for done, row in enumerate(rows, before + 1):
            self._writer.add_document(_document(row))
            if progress and (done % SHOW_EVERY == 0 or done == total):
                progress("indexing text", done, total)
        return done

    def _delete(self, low: int, high: int) -> None:
        """Deletes the documents with keys from `low` to `high`. By a query, because `delete_documents_by_term` misses
        numbers in unsigned fields.
        """
        query = tantivy.Query
        if high - low >= LONG_RUN:
            keys = query.range_query(self._schema, "key", tantivy.FieldType.Unsigned, low, high)
            self._writer.delete_documents_by_query(keys)
            return
        for key in range(low, high + 1):
            self._writer.delete_documents_by_query(query.term_query(self._schema, "key", key))

    def commit(self) -> None:
        """Makes the changes visible to new searches, and waits until tantivy has merged segments."""
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
    """Opens a writer on an index; its changes are committed if the block ends, dropped if it raises."""
    feed = Feed(index, newest, small)
    try:
        yield feed
    except BaseException:
        feed.drop()
        raise
    feed.commit()


def _document(row: tuple[Any, ...]) -> tantivy.Document:
    key, part, kind, name, aliases, text, packed, at, provenance, props, state = row
    tags, buckets = label_names(packed)
    also: list[str] = json.loads(aliases) if aliases else []
    more: dict[str, Any] = json.loads(props) if props else {}
    fields: dict[str, Any] = {
        "body": analysable(searchable_text(name, also, text)),
        "title": indexed_terms(searched_title(name, also, more)),
        "heading": indexed_terms(searched_heading(more)),
        "kind": kind,
        "key": key,
        "part": part,
        "at": at,
    }
    if tags or buckets:
        fields |= {"tag": tags, "bucket": buckets, "labels": analysable(" ".join((*tags, *buckets)))}
    bare = not text and kind != "source"
    if provenance != "internal" or state == "archived" or kind in STORYLINE_KINDS or bare:
        external, quarantine = provenance != "internal", provenance == "quarantine"
        flags = (
            ("quarantine", quarantine),
            ("archived", state == "archived"),
            ("external", external),
            ("derived", kind in STORYLINE_KINDS),
            ("bare", bare),
        )
        fields["flag"] = [flag for flag, raised in flags if raised]
    return tantivy.Document.from_dict(fields, SCHEMA)


FLAGS = ("quarantine", "archived", "external", "derived", "bare")
LAYOUT = "text-5"
SMALL_CHANGE = 2_000
# Tantivy's own lists of its files; every commit rewrites them.
LISTS = ("meta.json", ".managed.json")
# Deleted documents stay in tantivy's statistics until their segment is rewritten. Small indexes are rewritten at once,
# so that scores depend only on existing memories; large ones when one document in twenty is deleted.
REWRITE_BELOW = 1_000
REWRITE_SHARE = 0.05
# An index of up to this many documents is rewritten at once when something is forgotten, which takes about a second.
PURGE_AT_ONCE = 50_000
# Lower than any key: nothing in the index has to be deleted.
NOTHING, ANYTHING = 0, 2**63


@dataclass(slots=True)
class _Following:
    """A writer that a thread keeps open to index what it writes; `state` is saved when the writer is committed."""

    feed: Feed
    state: State
    thread: int


class TextIndex:
    """Updates a tantivy index from `memory.db` and opens views of it for searches."""

    def __init__(self, directory: Path, db: Database) -> None:
        self.dir = IndexDir(directory)
        self.db = db
        self.analyser = make_analyser()
        self.opened: TextView | None = None
        self._opening = threading.Lock()
        self._following: _Following | None = None
        db.on_close(self.close)

    def close(self) -> None:
        """Releases the memory-mapped files of the index."""
        self.opened = None

    def view(self, progress: Progress | None = None) -> TextView:
        """Returns a view that contains every acknowledged write."""
        with self.db.reading_connection() as db:
            return self.view_at(db, *position(db), progress)

    def view_at(self, db: sqlite3.Connection, epoch: str, target: int, progress: Progress | None = None) -> TextView:
        """Returns a view that contains the changes up to `target`, but may lack those that nobody has acknowledged yet;
        updates the index if needed.
        """
        del db
        needed, view = self.db.unacknowledged.needed(target), self.opened
        if needed < target and view is not None and view.epoch == epoch and view.seq >= needed:
            # Its files may be changing at this moment; a view keeps those that it has opened.
            return view
        target = needed
        for _ in range(3):
            view = self._current(epoch)
            if view is not None and view.seq >= target:
                return view
            self._catch_up_to(epoch, target, progress)
        # Other processes keep replacing the index; while the lock is held they cannot.
        self.settle()
        with self.dir.locked():
            self.catch_up(progress)
            view = self._current(epoch)
        if view is None:
            raise gone(self.db.path)
        return view

    def at_hand(self, target: int) -> TextView | None:
        """Returns a view with the changes up to `target` without updating the index; None if it lacks some."""
        with self.db.reading_connection() as db:
            epoch, _ = position(db)
        view = self._current(epoch)
        return view if view is not None and view.seq >= target else None

    def _catch_up_to(self, epoch: str, target: int, progress: Progress | None) -> None:
        """Updates the index, unless another thread has done so while this one waited for the lock."""
        with self._locked() as db:
            view = self._current(epoch)
            if view is None or view.seq < target:
                self._bring_up_or_rebuild(db, progress)

    def _current(self, epoch: str) -> TextView | None:
        """Returns the opened view if it is still the index on disk, else a new one; None if no index is usable."""
        view = self.opened
        if view is not None and view.epoch == epoch and view.files.unchanged():
            return view
        # If several threads need it, one opens it.
        with self._opening:
            new = self.opened
            if new is not None and new is not view and new.epoch == epoch:
                return new
            return self._opened(epoch)

    def _opened(self, epoch: str) -> TextView | None:
        self.opened = None
        found = self.dir.read()
        if found is None or found[0].epoch != epoch or found[0].layout != LAYOUT:
            return None
        try:
            index = self._index(found[0].folder)
            searcher = index.searcher()
            flags = frozenset(flag for flag in FLAGS if searcher.doc_freq("flag", flag))
            state, files = found
            documents = state.extra["living"] + state.extra["dead"]
            view = self.opened = TextView(
                epoch, state.seq, files, searcher, index.schema, self.analyser, documents, flags
            )
        except (ValueError, OSError):
            return None
        return view

    def _index(self, folder: str) -> tantivy.Index:
        index = tantivy.Index(make_schema(), str(self.dir.path / folder))
        index.config_reader("manual")
        index.register_tokenizer("cuetrail", self.analyser)
        index.reload()
        return index

    def follow_writes(self) -> None:
        """Indexes what this thread has written, and leaves the writer open for its next writes; `settle` commits it.

        Tantivy works in its own thread, so a second core does work that the next search would wait for. The lock is
        held between calls, and released if another process waits for it.
        """
        if self.dir.is_wanted():
            self.settle()
            return
        try:
            if self._following is None:
                self._following = self._begun()
            following = self._following
            if following is not None and following.thread == threading.get_ident():
                with self.db.fresh() as db:
                    self._take(db, following)
        except (ValueError, OSError):
            # The index is derived: the next search brings it up to date.
            self._give_up()

    def _begun(self) -> _Following | None:
        """Takes the lock and returns an open writer on a usable index; None if the lock is not free."""
        if not self.dir.acquire(wait=False):
            return None
        try:
            with self.db.fresh() as db:
                state = self._ready(db)
            self.dir.mark_dirty()
            feed = Feed(self._index(state.folder), state.extra["newest"], small=False, threads=1)
        except BaseException:
            self.dir.release()
            raise
        return _Following(feed, state, threading.get_ident())

    def _ready(self, db: sqlite3.Connection) -> State:
        """Returns the state of an index on disk that a writer can continue, and makes or rebuilds the index if there is
        none. One that is out of date stays so: the writer then adds all new documents as one segment.
        """
        state = self.dir.load()
        if state is None and changes_since(db, 0, 0) is not None:
            return self._save(db, self._empty(db))
        if state is not None and not self.dir.dirty() and self._missing(db, state) is not None:
            return state
        self._bring_up(db, None)
        state = self.dir.load()
        if state is None:
            raise ValueError("the index was taken away")
        return state

    def _empty(self, db: sqlite3.Connection) -> State:
        """Makes a new, empty index, and returns its state, which is not saved yet."""
        folder = self.dir.next_folder()
        self._index(folder)
        epoch, seq = position(db)
        return State(epoch, LAYOUT, 0, 0, folder, extra={"built": seq})

    def _take(self, db: sqlite3.Connection, following: _Following) -> None:
        runs = changes_since(db, following.state.seq, following.state.mark, vectors=False)
        if runs is None:
            raise ValueError("the log was shortened")
        following.feed.replace(db, runs, None)
        seq = head(db)
        following.state = replace(following.state, seq=seq, mark=mark_of(db, seq) or 0)

    def settle(self) -> None:
        """Commits what `follow_writes` indexed in this thread, so that searches see it, and releases the lock."""
        following = self._following
        if following is None or following.thread != threading.get_ident():
            return
        self._following = None
        try:
            following.feed.commit()
            with self.db.fresh() as db:
                self._save(db, following.state)
            self.dir.mark_clean()
        except (ValueError, OSError):
            pass  # As after a crash: marked as dirty, and brought up by the next search.
        finally:
            self.dir.release()

    def _give_up(self) -> None:
        following = self._following
        if following is not None and following.thread == threading.get_ident():
            self._following = None
            following.feed.drop()
            self.dir.release()

    @contextlib.contextmanager
    def _locked(self) -> Iterator[sqlite3.Connection]:
        self.settle()
        with self.dir.locked(), self.db.fresh() as db:
            yield db

    def catch_up(self, progress: Progress | None = None) -> None:
        """Applies every change since the index was last updated, or rebuilds it if that is not possible."""
        with self._locked() as db:
            self._bring_up_or_rebuild(db, progress)

    def _bring_up_or_rebuild(self, db: sqlite3.Connection, progress: Progress | None) -> None:
        try:
            self._bring_up(db, progress)
        except (ValueError, OSError):
            # Another program changed the files during the update, or the checks missed their damage.
            with rebuilding(self.dir):
                self._rebuild(db, progress)

    def _bring_up(self, db: sqlite3.Connection, progress: Progress | None) -> None:
        state = self.dir.load()
        runs = self._missing(db, state) if state is not None else None
        if state is None or runs is None:
            self._rebuild(db, progress)
            return
        if runs or self.dir.dirty():
            state = self._apply(db, state, runs, progress)
        elif state.seq < (seq := head(db)):
            # Only vectors changed.
            state = replace(state, seq=seq, mark=mark_of(db, seq) or 0)
            self.dir.save(state)
        self.dir.sweep(state.folder)
        if _is_rebuild_due(state) or (_has_traces(db, state) and state.extra["living"] <= PURGE_AT_ONCE):
            self._rebuild(db, progress)

    def _missing(self, db: sqlite3.Connection, state: State) -> list[tuple[int, int]] | None:
        """Returns the ranges of changed keys that the index on disk does not contain; None if it must be rebuilt."""
        if state.epoch != meta(db, "epoch") or state.layout != LAYOUT:
            return None
        runs = changes_since(db, state.seq, state.mark, vectors=False)
        if self.dir.dirty():
            # The process that died may or may not have committed. Segments that are still listed are intact.
            listed = _prefixes(_segments(self.dir.path / state.folder))
            state = replace(state, files={n: f for n, f in state.files.items() if _prefix(n) in listed})
        return runs if self.dir.intact(state) else None

    def _rebuild(self, db: sqlite3.Connection, progress: Progress | None) -> None:
        state = self._empty(db)
        total = db.execute("SELECT count(*) FROM nodes").fetchone()[0]
        with feeding(self._index(state.folder), NOTHING, total <= SMALL_CHANGE) as feed:
            feed.fill(db, total, progress)
        seq = head(db)
        self._save(db, replace(state, seq=seq, mark=mark_of(db, seq) or 0))
        self.dir.mark_clean()
        self.dir.sweep(state.folder)

    def _apply(
        self, db: sqlite3.Connection, state: State, runs: list[tuple[int, int]], progress: Progress | None
    ) -> State:
        total = sum(high - low + 1 for low, high in runs)
        # A process that died here may have applied more than the state says.
        newest = state.extra["newest"]
        if self.dir.dirty():
            newest = ANYTHING
            _sweep(self.dir.path / state.folder)
        self.dir.mark_dirty()
        with feeding(self._index(state.folder), newest, total <= SMALL_CHANGE) as feed:
            feed.replace(db, runs, progress)
        seq = head(db)
        state = self._save(db, replace(state, seq=seq, mark=mark_of(db, seq) or 0))
        self.dir.mark_clean()
        return state

    def _save(self, db: sqlite3.Connection, state: State) -> State:
        """Adds the folder's present files and document counts to the state, saves it and returns it."""
        folder = self.dir.path / state.folder
        segments = _segments(folder)
        prefixes = _prefixes(segments)
        files = {}
        for place in sorted(folder.iterdir()):
            if place.name in LISTS or _prefix(place.name) in prefixes:
                found = place.stat()
                known = state.files.get(place.name)
                same = known is not None and known[:2] == (found.st_size, found.st_mtime_ns)
                files[place.name] = known if same and known else self.dir.describe(state.folder, place.name)
        documents = sum(segment["max_doc"] for segment in segments)
        dead = sum((segment.get("deletes") or {}).get("num_deleted_docs", 0) for segment in segments)
        # Not the highest key of a node: that node may be deleted already, and the index may not know it yet.
        extra = {"dead": dead, "living": documents - dead, "newest": meta(db, "next_key") - 1}
        extra["built"] = state.extra.get("built", 0)
        state = replace(state, files=files, extra=extra)
        self.dir.save(state)
        return state

    def rebuild(self) -> None:
        """Builds the index again from all nodes in `memory.db`."""
        with self._locked() as db:
            self._rebuild(db, None)

    def has_traces(self) -> bool:
        """True if words of forgotten texts are still in the index, where no search finds them."""
        with self.db.reading() as db:
            state = self.dir.load()
            return state is not None and _has_traces(db, state)

    def purge(self, progress: Progress | None = None) -> None:
        """Updates the index, and rebuilds it if words of forgotten texts are still in it."""
        self.catch_up(progress)
        if self.has_traces():
            with self._locked() as db:
                self._rebuild(db, progress)

    def differs(self) -> bool:
        """True if the index differs from `memory.db`; for doctor. Writers wait meanwhile, readers do not."""
        with self._locked() as db:
            self._bring_up_or_rebuild(db, None)
            try:
                state = self.dir.load()
                if state is None or not self.dir.intact(state, thorough=True):
                    return True
                true = {key for (key,) in db.execute("SELECT key FROM nodes")}
                return _keys(self._index(state.folder).searcher()) != true
            except (ValueError, OSError):
                return True

    def keys(self) -> set[int]:
        """Returns the keys of all nodes in the index; for tests."""
        return _keys(self.view().searcher)


def _segments(folder: Path) -> list[dict[str, Any]]:
    """Returns tantivy's descriptions of the segments in a folder."""
    listed: list[dict[str, Any]] = json.loads((folder / "meta.json").read_text("utf-8"))["segments"]
    return listed


def _prefixes(segments: list[dict[str, Any]]) -> set[str]:
    """Returns the prefixes that the names of the segments' files have."""
    return {segment["segment_id"].replace("-", "") for segment in segments}


def _prefix(name: str) -> str:
    return name.partition(".")[0]


def _sweep(folder: Path) -> None:
    """Deletes files of a dead writer that tantivy does not list: the next writer would use their names, and fail."""
    segments = _segments(folder)
    prefixes = _prefixes(segments)
    deletions = {
        f"{segment['segment_id'].replace('-', '')}.{segment['deletes']['opstamp']}.del"
        for segment in segments
        if segment.get("deletes")
    }
    for place in folder.iterdir():
        listed = _prefix(place.name) in prefixes and (place.suffix != ".del" or place.name in deletions)
        if not listed and place.name not in LISTS and place.suffix != ".lock":
            place.unlink(missing_ok=True)


def _has_traces(db: sqlite3.Connection, state: State) -> bool:
    """True if something was forgotten since the index was last rebuilt. Its words stay in the files, where no search
    finds them, until a rebuild.
    """
    last = meta(db, FORGOTTEN)
    return last is not None and last > state.extra.get("built", 0)


def _is_rebuild_due(state: State) -> bool:
    """True if the index must be rebuilt because so many documents are deleted that scores would be wrong."""
    dead, living = state.extra["dead"], state.extra["living"]
    return dead > 0 and (living <= REWRITE_BELOW or dead > REWRITE_SHARE * living)


def _keys(searcher: tantivy.Searcher) -> set[int]:
    hits = searcher.search(tantivy.Query.all_query(), max(searcher.num_docs, 1), count=False).hits
    return {int(key) for key in searcher.fast_field_values("key", [address for _, address in hits]) if key is not None}
