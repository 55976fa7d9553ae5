"""Plain text searches over the same vault: BM25 over passages, notes, and titles with passages; FTS5 with titles.

None of them refuses a question unless no word of it is in the vault.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import tantivy

from bench.everyday.questions import title_of

TITLE_WEIGHT = 5.0
SHOWN = 10
WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Found:
    """One result: the note it is in, and its text."""

    note: str
    text: str


Search = Callable[[str], Sequence[Found]]


def baselines(notes: Mapping[str, str], passages: Sequence[Found]) -> dict[str, Search]:
    """Every baseline by name. `passages` are those of the memory, so that all search the same pieces."""
    titles = {path: title_of(path, text) for path, text in notes.items()}
    whole = [Found(path, text) for path, text in notes.items()]
    return {
        "BM25, passages": bm25([(found, found.text) for found in passages]),
        "BM25, whole notes": bm25([(found, f"{titles[found.note]}\n{found.text}") for found in whole]),
        "BM25, title + passage": bm25([(one, f"{titles.get(one.note, '')}\n{one.text}") for one in passages]),
        "FTS5, title column": fts5([(one, titles.get(one.note, ""), one.text) for one in passages]),
    }


def bm25(documents: Sequence[tuple[Found, str]]) -> Search:
    """Stemmed BM25 by tantivy, the words of the question OR-ed."""
    schema = tantivy.SchemaBuilder()
    schema.add_text_field("text", tokenizer_name="en_stem")
    schema.add_unsigned_field("place", stored=True)
    index = tantivy.Index(schema.build())
    writer = index.writer()
    for place, (_, text) in enumerate(documents):
        writer.add_document(tantivy.Document(text=text, place=place))
    writer.commit()
    index.reload()
    searcher = index.searcher()

    def search(cue: str) -> list[Found]:
        query = index.parse_query(" ".join(WORD.findall(cue.lower())), ["text"])
        hits = searcher.search(query, limit=SHOWN).hits
        return [documents[searcher.doc(address)["place"][0]][0] for _, address in hits]

    return search


def fts5(documents: Sequence[tuple[Found, str, str]]) -> Search:
    """SQLite's own text search, with the title as a column of more weight."""
    base = sqlite3.connect(":memory:")
    base.execute("CREATE VIRTUAL TABLE passages USING fts5(title, text, tokenize='porter unicode61')")
    base.executemany("INSERT INTO passages VALUES (?, ?)", ((title, text) for _, title, text in documents))
    order = f"SELECT rowid FROM passages WHERE passages MATCH ? ORDER BY bm25(passages, {TITLE_WEIGHT}, 1.0) LIMIT ?"

    def search(cue: str) -> list[Found]:
        words = " OR ".join(f'"{word}"' for word in WORD.findall(cue))
        rows = base.execute(order, (words, SHOWN)).fetchall() if words else []
        return [documents[row - 1][0] for (row,) in rows]

    return search
