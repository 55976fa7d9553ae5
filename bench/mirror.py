"""Measures how long a mirror takes, against writing the same files directly.

    python -m bench.mirror 10000 100000

- first sync: a new mirror of notes of 25 atoms, each note with one bucket and one first tag.
- unchanged: one of these mirrors once more; nothing is written.
- one note edited: an atom of one note says something else.
- one tag everywhere: every 50th note gets another first tag, so that all folders change.
- bound: the files of the first sync, held in memory, written to a new folder with mkdir and write_bytes.
- bound with reading: the same, plus reading id, name and text of every atom by plain sqlite3.

Every row runs in a process of its own, which is where its peak memory is taken.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from bench.common import (
    LARGE,
    Phase,
    Result,
    Stopwatch,
    arguments,
    emptied,
    megabytes,
    ms,
    p50,
    phase,
    publish,
    times,
    workplace,
)
from bench.corpus import Item, batches, write_corpus
from cuetrail import Memory
from cuetrail.model import Node, Tag

COLUMNS = ["what", "time", "of the bound", "files written", "peak memory"]
ATOMS_PER_NOTE = 25
EVERY = 50


@dataclass(frozen=True, slots=True)
class Row:
    """One step: its seconds, and how many files it wrote."""

    what: str
    seconds: float
    files: int
    peak: int

    def cells(self, bound: float) -> list[str]:
        return [self.what, ms(self.seconds), times(self.seconds / bound), f"{self.files:,}", megabytes(self.peak)]


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument(
        "--rounds", type=int, help="new mirrors and bounds, medians are shown (3 below 1,000,000, else 1)"
    )
    options = parser.parse_args()
    with workplace(options.work) as work:
        corpus = write_corpus(work, max(options.sizes))
        for size in options.sizes:
            publish(measure(work / str(size), corpus, size, options.rounds or (3 if size < LARGE else 1)))


def measure(place: Path, corpus: Path, size: int, rounds: int) -> Result:
    folder = place / "mirrored"
    phase(fill, folder, corpus, size)
    # Nothing is deleted in between: a file system that has just lost many files is slow to make new ones.
    firsts, bounds, readings = [], [], []
    for number in range(rounds):
        firsts.append(_row("first sync", phase(sync, folder, number)))
        bounds.append(_row("bound", phase(plainly, folder, 2 * number)))
        readings.append(_row("bound with reading", phase(read_too, folder, 2 * number + 1)))
    first, bound, reading = map(_median, (firsts, bounds, readings))
    unchanged = _row("unchanged", phase(sync, folder, 0))
    edited = _row("one note edited", phase(edit, folder))
    rows = [first, bound, reading, unchanged, edited, _row("one tag everywhere", phase(retag, folder))]
    shutil.rmtree(folder)
    figures = {
        "first sync / bound": first.seconds / bound.seconds,
        "first sync / bound with reading": first.seconds / reading.seconds,
        "unchanged / bound": unchanged.seconds / bound.seconds,
        "one note edited / bound": edited.seconds / bound.seconds,
    }
    return Result("mirror", size, COLUMNS, [row.cells(bound.seconds) for row in rows], figures)


def _row(what: str, done: Phase[tuple[float, int]]) -> Row:
    return Row(what, *done.value, done.peak)


def _median(rows: list[Row]) -> Row:
    return replace(rows[0], seconds=p50([row.seconds for row in rows]), peak=max(row.peak for row in rows))


def fill(folder: Path, corpus: Path, size: int) -> None:
    """A memory of notes: the atoms of each have the bucket and the tags of its first one."""
    with Memory(emptied(folder) / "memory", embedder=None) as memory:
        memory.add_many(_atoms(corpus, size))


def _atoms(corpus: Path, size: int) -> Iterator[dict[str, object]]:
    for number, items in enumerate(batches(corpus, size, ATOMS_PER_NOTE)):
        note: Item = items[0]
        source = f"vault/{number // 1000:03}/note {number}.md"
        yield from ({**item, "source": source, "tags": note["tags"], "buckets": note["buckets"]} for item in items)


def sync(folder: Path, number: int) -> tuple[float, int]:
    """Seconds of one sync, and how many files it wrote."""
    watch = Stopwatch()
    with Memory(folder / "memory", embedder=None) as memory, watch:
        report = memory.mirror(folder / f"brain-{number}", follow=False)
    return watch.seconds, report.written


def edit(folder: Path) -> tuple[float, int]:
    with Memory(folder / "memory", embedder=None) as memory:
        node = memory.get(memory.ids("a", limit=1)[0])
        assert node is not None
        memory.add(
            node.text + " And one more word.", id=node.id, source=node.source, tags=node.tags, buckets=node.buckets
        )
    return sync(folder, 0)


def retag(folder: Path) -> tuple[float, int]:
    with Memory(folder / "memory", embedder=None) as memory:
        found = (record for _, record in memory.store.scan(memory.scope) if isinstance(record, Node))
        new = (Tag("everywhere", "everywhere"),)
        memory.add_many(replace(node, tag_details=new) for node in found if _number(node.source) % EVERY == 0)
    return sync(folder, 0)


def _number(source: str | None) -> int:
    assert source is not None
    return int(source.rpartition(" ")[2].removesuffix(".md"))


def plainly(folder: Path, number: int) -> tuple[float, int]:
    """Returns the minimum time to write these files."""
    files = [(file.relative_to(folder / "brain-0"), file.read_bytes()) for file in (folder / "brain-0").rglob("*.md")]
    place = folder / f"plain-{number}"
    watch = Stopwatch()
    with watch:
        for path, data in files:
            (place / path).parent.mkdir(parents=True, exist_ok=True)
            (place / path).write_bytes(data)
    return watch.seconds, len(files)


def read_too(folder: Path, number: int) -> tuple[float, int]:
    """Returns the minimum time to read the texts and write these files."""
    watch = Stopwatch()
    with watch, closing(sqlite3.connect(folder / "memory" / "memory.db")) as db:
        for _ in db.execute("SELECT id, name, text FROM nodes ORDER BY source, seq"):
            pass
    seconds, files = plainly(folder, number)
    return watch.seconds + seconds, files


if __name__ == "__main__":
    main()
