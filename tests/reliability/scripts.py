"""Scripts of operations for the tests with failing files: each step is one call of the public API.

A script prepares a folder, then runs its steps. Ids and times are fixed, so two runs leave equal memories.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from cuetrail.errors import NotFound
from cuetrail.memory import Memory, restore
from cuetrail.model import Fact, Node
from cuetrail.model.records import NEW_LIFE
from tests.dream.test_migration import make_old
from tests.store.sqlite.tools import Pebbles, search

NOW = 1_768_831_200_000
Held = frozenset[str]
"""Everything a memory holds, one text per record."""


class Place:
    """A folder with the memory under test in `m`, and files beside it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.memory_path = folder / "m"
        self.backup = folder / "saved.tar"
        self.export = folder / "export.jsonl"
        self._open: Memory | None = None

    @property
    def memory(self) -> Memory:
        """The memory, opened by the step that first needs it."""
        if self._open is None:
            self._open = Memory(self.memory_path, embedder=Pebbles())
        return self._open

    def close(self) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None


Step = Callable[[Place], object]


@dataclass(frozen=True)
class Script:
    """Steps and how their folder is prepared. A step in `gradual` may be interrupted between its transactions."""

    name: str
    steps: tuple[Step, ...]
    prepare: Callable[[Place], None] = lambda _: None
    gradual: frozenset[str] = frozenset()


@contextmanager
def opened(path: Path) -> Iterator[Memory]:
    with Memory(path, embedder=Pebbles()) as memory:
        yield memory


def held(memory: Memory) -> Held:
    """What the memory holds, without counts of use."""
    found = set()
    for team, record in memory.store.scan(memory.scope):
        if isinstance(record, Node):
            record = replace(record, life=NEW_LIFE)
        elif isinstance(record, Fact):
            record = replace(record, access_count=0, last_accessed=None)
        found.add(f"{team} {record!r}")
    return frozenset(found)


def word(n: int) -> str:
    return f"quartz{n}word"


def _texts(first: int, count: int) -> list[dict[str, object]]:
    return [
        {"id": f"n{n}", "text": f"Hanne Berg saw {word(n)} at the mast", "at": NOW + n * 60_000, "tags": [f"t{n % 3}"]}
        for n in range(first, first + count)
    ]


def fill(place: Place) -> None:
    """Ten memories with an edge, a fact and indexes."""
    with opened(place.memory_path) as memory:
        memory.add_many(_texts(0, 10), now=NOW)
        memory.link("n0", "n1", weight=0.5, id="e0", now=NOW)
        memory.fact("Mast", "stands in", "Skarholm", now=NOW)
        find(place)
        memory.refresh()
    place.close()


def add(place: Place) -> object:
    return place.memory.add(f"a first text with {word(100)}", id="n100", tags=["radio"], at=NOW, now=NOW)


def add_many(place: Place) -> object:
    return place.memory.add_many(_texts(110, 5), now=NOW)


def link(place: Place) -> object:
    return place.memory.link("n110", "n111", weight=0.5, id="e110", text="beside it", now=NOW)


def fact(place: Place) -> object:
    return place.memory.fact("Receiver", "has colour", "grey", now=NOW)


def edit(place: Place) -> object:
    return place.memory.edit("n111", text=f"corrected to {word(200)}", now=NOW + 1)


def forget(place: Place) -> object:
    try:
        return place.memory.forget("n112", now=NOW + 2)
    except NotFound:
        # The attempt that failed was carried out.
        return None


def find(place: Place) -> object:
    place.memory.recall("the mast", limit=3, record_access=False, now=NOW)
    return search(place.memory, "mast")


def ingest(place: Place) -> object:
    return place.memory.ingest_text(f"# Log\n\nOne {word(300)} line.\n\nTwo [[Mast]] lines.", source="log.md", now=NOW)


def dream(place: Place) -> object:
    return place.memory.dream(now=NOW + 86_400_000)


def save(place: Place) -> object:
    return place.memory.backup(place.backup)


def write_export(place: Place) -> object:
    return place.memory.export(place.export)


def refresh(place: Place) -> object:
    return place.memory.refresh()


def close(place: Place) -> object:
    place.close()
    return None


def examine(place: Place) -> object:
    return place.memory.doctor(repair=True)


def put_back(place: Place) -> object:
    place.close()
    return restore(place.backup, place.memory_path, force=True)


def take_in(place: Place) -> object:
    return place.memory.import_(place.export, now=NOW)


def _filled_and_saved(place: Place) -> None:
    """A backup of ten memories, beside a memory that has gone on since."""
    fill(place)
    save(place)
    add(place)
    find(place)
    place.close()


def _old(place: Place) -> None:
    """A memory as the second version of the schema had it."""
    fill(place)
    make_old(place.memory_path)


def _exported(place: Place) -> None:
    """An export of ten memories, beside a memory with one of its own."""
    fill(place)
    write_export(place)
    place.close()
    place.memory_path.rename(place.folder / "elsewhere")
    add(place)
    place.close()


def _without_index(place: Place) -> None:
    """A memory with many changes that its index, cut short, does not have."""
    fill(place)
    with closing(sqlite3.connect(place.memory_path / "memory.db")) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    for file in sorted((place.memory_path / "index").rglob("*")):
        if file.is_file() and file.name != "lock":
            file.write_bytes(file.read_bytes()[:7])


SCRIPTS = {
    script.name: script
    for script in (
        Script(
            "write",
            (add, add_many, link, fact, find, edit, forget, ingest, find, dream, save, write_export, refresh, close),
            gradual=frozenset({"dream"}),
        ),
        Script("restore", (put_back, find, close), _filled_and_saved),
        Script("migrate", (find, add, close), _old),
        Script("import", (take_in, find, close), _exported, frozenset({"take_in"})),
        Script("rebuild", (find, add, find, close), _without_index),
        Script("recover", (find, examine, close), fill),
    )
}


def bring_up_to_date(place: Place) -> object:
    """Opens the memory, and so brings it up to date."""
    return place.memory.stats()


TASKS = {
    task.name: task
    for task in (
        SCRIPTS["write"],
        SCRIPTS["rebuild"],
        Script("dream", (dream, find, close), fill, frozenset({"dream"})),
        Script("restore", (put_back,), _filled_and_saved),
        Script("migration", (bring_up_to_date,), _old),
        Script("import", (take_in, close), _exported, frozenset({"take_in"})),
    )
}
"""What processes do that are killed at random moments."""
