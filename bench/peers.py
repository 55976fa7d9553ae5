"""Peers of cuetrail: plain SQLite, plain tantivy and SQLite's FTS5, each used as its manual says."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

import tantivy
from tantivy import Occur, Query

from bench.common import Phase, Stopwatch, emptied, phase
from bench.corpus import batches
from cuetrail import Memory
from cuetrail.embed.static import StaticEmbedder
from cuetrail.store.sqlite.index.text_index import WRITER_BYTES
from cuetrail.text.normalise import make_analyser

WRITER_THREADS = 2  # as many as the engine's own writer has

Fill = Callable[[Path, Path, int], float]
RawSearch = Callable[[Sequence[str]], list[tuple[int, float]]]


def build(fill: Fill, folder: Path, corpus: Path, count: int) -> Phase[float]:
    """Fill a folder in a process of its own, and mark it as complete."""
    mark = folder.with_name(f"{folder.name}.complete")
    mark.unlink(missing_ok=True)
    done = phase(fill, folder, corpus, count)
    mark.touch()
    return done


def is_built(folder: Path) -> bool:
    """True if `build` completed this folder, in this run or an earlier one."""
    return folder.with_name(f"{folder.name}.complete").exists()


def fill_memory(folder: Path, corpus: Path, count: int, embedder: str = "none") -> float:
    """Seconds that cuetrail takes to add the texts and refresh its indexes.

    Reading the corpus is timed too, for cuetrail indexes meanwhile; read at once it would fill the memory.
    """
    emptied(folder)
    watch = Stopwatch()
    with watch, Memory(folder, embedder=embedder) as memory:
        memory.add_many(item for items in batches(corpus, count) for item in items)
        memory.refresh()
    return watch.seconds


def ingest_notes(folder: Path, notes: Path) -> tuple[float, int]:
    """Seconds that cuetrail takes to ingest a folder, and the atoms it found."""
    emptied(folder)
    watch = Stopwatch()
    with watch, Memory(folder, embedder=None) as memory:
        report = memory.ingest(notes)
    assert not report.errors, report.errors[:1]
    return watch.seconds, report.added


def open_sqlite(path: Path) -> sqlite3.Connection:
    """A database with the durability cuetrail has: nothing acknowledged is lost."""
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL").fetchall()
    db.execute("PRAGMA synchronous = FULL")
    return db


def fill_sqlite(folder: Path, corpus: Path, count: int) -> float:
    """Seconds to insert the rows into two tables without a secondary index: the least a database can do."""
    db = open_sqlite(emptied(folder) / "raw.db")
    db.execute("CREATE TABLE nodes (key INTEGER PRIMARY KEY, id TEXT, text TEXT, bucket TEXT, at INTEGER)")
    db.execute("CREATE TABLE tags (tag TEXT, key INTEGER)")
    watch = Stopwatch()
    key = 0
    for items in batches(corpus, count):
        with watch:
            numbered = list(enumerate(items, key + 1))
            db.execute("BEGIN IMMEDIATE")
            db.executemany(
                "INSERT INTO nodes VALUES (?,?,?,?,?)",
                [(n, item["id"], item["text"], item["buckets"][0], item["at"]) for n, item in numbered],
            )
            db.executemany("INSERT INTO tags VALUES (?,?)", [(tag, n) for n, item in numbered for tag in item["tags"]])
            db.execute("COMMIT")
        key += len(items)
    with watch:
        db.close()
    return watch.seconds


def open_tantivy(folder: Path) -> tantivy.Index:
    """An index with the engine's own analyser, so that both have the same terms."""
    schema = tantivy.SchemaBuilder()
    schema.add_text_field("body", tokenizer_name="cuetrail", index_option="position")
    schema.add_text_field("tag", tokenizer_name="raw", index_option="basic")
    schema.add_unsigned_field("key", indexed=True, fast=True)
    index = tantivy.Index(schema.build(), str(folder))
    index.register_tokenizer("cuetrail", make_analyser())
    return index


def fill_tantivy(folder: Path, corpus: Path, count: int) -> float:
    """Seconds to index body, tags and key. The corpus is read first, for tantivy's threads would work on meanwhile,
    which is not timed. Its peak memory therefore holds the corpus too.
    """
    items = [item for some in batches(corpus, count) for item in some]
    watch = Stopwatch()
    with watch:
        index = open_tantivy(emptied(folder))
        writer = index.writer(WRITER_BYTES, WRITER_THREADS)
        for key, item in enumerate(items, 1):
            document = tantivy.Document()
            document.add_text("body", item["text"])
            for tag in item["tags"]:
                document.add_text("tag", tag)
            document.add_unsigned("key", key)
            writer.add_document(document)
        writer.commit()
        writer.wait_merging_threads()
    return watch.seconds


def fill_fts5(folder: Path, corpus: Path, count: int) -> float:
    """Seconds to insert the texts into an FTS5 table with English stems."""
    db = open_sqlite(emptied(folder) / "fts5.db")
    db.execute("CREATE VIRTUAL TABLE texts USING fts5 (text, tokenize = 'porter unicode61')")
    watch = Stopwatch()
    for items in batches(corpus, count):
        with watch:
            db.execute("BEGIN IMMEDIATE")
            db.executemany("INSERT INTO texts VALUES (?)", [(item["text"],) for item in items])
            db.execute("COMMIT")
    with watch:
        db.close()
    return watch.seconds


def embed_alone(corpus: Path, count: int) -> float:
    """Seconds to embed the texts with the static embedder, in cuetrail's batches; loading it is timed too."""
    watch = Stopwatch()
    with watch:
        embedder = StaticEmbedder()
    for items in batches(corpus, count):
        with watch:
            embedder.embed([item["text"] for item in items])
    return watch.seconds


def raw_search(folder: Path, limit: int) -> RawSearch:
    """Plain OR over analysed terms: (key, score) of the best, as a user of tantivy would write it."""
    index = open_tantivy(folder)
    index.config_reader("manual")
    index.reload()
    searcher, schema = index.searcher(), index.schema

    def search(terms: Sequence[str]) -> list[tuple[int, float]]:
        query = Query.boolean_query([(Occur.Should, Query.term_query(schema, "body", term, "freq")) for term in terms])
        hits = searcher.search(query, limit, count=False).hits
        keys = searcher.fast_field_values("key", [address for _, address in hits]) if hits else []
        return [(int(key or 0), score) for key, (score, _) in zip(keys, hits, strict=True)]

    return search


def fts5_search(folder: Path, limit: int) -> Callable[[Sequence[str]], list[int]]:
    """OR over words by bm25; `rank` is bm25 and the form of it that FTS5 sorts fastest."""
    db = open_sqlite(folder / "fts5.db")
    db.execute("PRAGMA cache_size = -131072")

    def search(words: Sequence[str]) -> list[int]:
        query = " OR ".join(f'"{word}"' for word in words)
        rows = db.execute("SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT ?", (query, limit))
        return [row[0] for row in rows]

    return search
