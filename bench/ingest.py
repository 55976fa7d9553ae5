"""Measures how fast texts are ingested, against the minimum that storing and indexing them can take.

    python -m bench.ingest 10000 100000

- cuetrail: one `add_many` and `refresh`, no embedder; it reads the corpus while it works, and that is timed.
- bound: the same rows by plain sqlite3 into two tables without secondary indexes, plus the same documents by plain
  tantivy with the same analyser, writer threads and heap; the sum of both times.
- FTS5: the same texts into SQLite's own full-text index, the named peer. It keeps no rows beside them.
- with vectors: cuetrail with the static embedder; its bound adds the embedding alone. At 1M only with --embed.
- from files: `ingest` of Markdown files of 100 paragraphs, against the same bound. At 1M only with --files.

Of the others only the work itself is timed, not the reading of the corpus. Every row runs in a process of its own,
which is where its peak memory is taken.
"""

from __future__ import annotations

import argparse
import shutil
from dataclasses import dataclass
from pathlib import Path

from bench.common import (
    LARGE,
    Phase,
    Result,
    arguments,
    disk,
    emptied,
    megabytes,
    p50,
    percent,
    phase,
    publish,
    rate,
    workplace,
)
from bench.corpus import write_corpus, write_notes
from bench.peers import build, embed_alone, fill_fts5, fill_memory, fill_sqlite, fill_tantivy, ingest_notes

COLUMNS = ["what", "atoms/s", "of the bound", "seconds", "peak memory", "on disk"]


@dataclass(frozen=True, slots=True)
class Row:
    """One way to ingest the texts. `bound` is the minimum time for as many atoms."""

    what: str
    atoms: int
    seconds: float
    peak: int
    bytes: int
    bound: float | None = None

    @property
    def share(self) -> float | None:
        return self.bound / self.seconds if self.bound is not None else None

    def cells(self) -> list[str]:
        share = "" if self.share is None else percent(self.share)
        size = megabytes(self.bytes) if self.bytes else ""
        return [self.what, rate(self.atoms, self.seconds), share, f"{self.seconds:.2f}", megabytes(self.peak), size]


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--embed", action="store_true", help="with vectors also at 1,000,000 and more")
    parser.add_argument("--files", action="store_true", help="from files also at 1,000,000 and more")
    parser.add_argument("--rounds", type=int, help="runs of each row, medians are shown (3 up to 10,000 atoms, else 1)")
    options = parser.parse_args()
    with workplace(options.work) as work:
        corpus = write_corpus(work, max(options.sizes))
        for size in options.sizes:
            publish(measure(work, corpus, size, options))


def measure(work: Path, corpus: Path, size: int, options: argparse.Namespace) -> Result:
    place = work / str(size)
    rounds = options.rounds or (3 if size <= 10_000 else 1)
    runs = [_plain(place, corpus, size) for _ in range(rounds)]
    rows = [_median([run[n] for run in runs]) for n in range(len(runs[0]))]
    ours, sqlite, tantivy = rows[0], rows[1], rows[2]
    bound = sqlite.seconds + tantivy.seconds
    whole = Row(
        "bound: sqlite + tantivy", size, bound, max(sqlite.peak, tantivy.peak), sqlite.bytes + tantivy.bytes, bound
    )
    rows[0] = Row(ours.what, size, ours.seconds, ours.peak, ours.bytes, bound)
    rows.insert(1, whole)
    if size < LARGE or options.embed:
        rows += _embedded(place, corpus, size, bound)
    if size < LARGE or options.files:
        rows.append(_from_files(place, corpus, size, bound))
    shares = {row.what: row.share for row in rows if row.share is not None}
    figures = {f"share of bound, {what}": share for what, share in shares.items() if what.startswith("cuetrail")}
    figures["speed, cuetrail / FTS5"] = rows[4].seconds / ours.seconds
    return Result("ingest", size, COLUMNS, [row.cells() for row in rows], figures)


def _plain(place: Path, corpus: Path, size: int) -> list[Row]:
    """cuetrail, SQLite, tantivy and FTS5. What they make stays for the search benchmark."""
    steps = (
        ("cuetrail", fill_memory, place / "memory"),
        ("sqlite alone", fill_sqlite, place / "sqlite"),
        ("tantivy alone", fill_tantivy, place / "tantivy"),
        ("FTS5", fill_fts5, place / "fts5"),
    )
    return [_row(what, size, folder, build(fill, folder, corpus, size)) for what, fill, folder in steps]


def _row(what: str, size: int, folder: Path, done: Phase[float], bound: float | None = None) -> Row:
    return Row(what, size, done.value, done.peak, disk(folder), bound)


def _median(rows: list[Row]) -> Row:
    seconds = p50([row.seconds for row in rows])
    return Row(rows[0].what, rows[0].atoms, seconds, max(row.peak for row in rows), rows[0].bytes)


def _embedded(place: Path, corpus: Path, size: int, bound: float) -> list[Row]:
    alone = phase(embed_alone, corpus, size)
    folder = place / "embedded"
    ours = _row(
        "cuetrail with vectors", size, folder, phase(fill_memory, folder, corpus, size, "static"), bound + alone.value
    )
    shutil.rmtree(folder)
    return [ours, Row("embedding alone", size, alone.value, alone.peak, 0)]


def _from_files(place: Path, corpus: Path, size: int, bound: float) -> Row:
    notes, folder = emptied(place / "notes"), place / "ingested"
    write_notes(notes, corpus, size)
    done = phase(ingest_notes, folder, notes)
    seconds, atoms = done.value
    row = Row("cuetrail from files", atoms, seconds, done.peak, disk(folder), bound * atoms / size)
    shutil.rmtree(notes)
    shutil.rmtree(folder)
    return row


if __name__ == "__main__":
    main()
