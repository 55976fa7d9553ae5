"""The upkeep port: vector spaces, settings, backup, repair, and a view of the whole memory for copies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from cuetrail.model import Finding, Scope
from cuetrail.store.read import Record
from cuetrail.store.vector_space import VectorKind, VectorSpace, VectorSpaces
from cuetrail.store.write import Progress

LAST_FORGOTTEN = "last_forgotten"
"""The setting that gets another random value each time that something is forgotten, in the same transaction. Answers
that were kept from before may contain it.
"""


class StoredSettings(MutableMapping[str, str]):
    """The settings of a memory, by name. `read` returns those whose names begin with a prefix; `put` stores one, or
    deletes it if the value is None.

    Each access is a transaction of its own.
    """

    def __init__(self, read: Callable[[str], dict[str, str]], put: Callable[[str, str | None], None]) -> None:
        self.beginning_with = read
        self._put = put

    def __getitem__(self, name: str) -> str:
        return self.beginning_with(name)[name]

    def __setitem__(self, name: str, value: str) -> None:
        self._put(name, value)

    def __delitem__(self, name: str) -> None:
        self._put(name, None)

    def __iter__(self) -> Iterator[str]:
        return iter(self.beginning_with(""))

    def __len__(self) -> int:
        return len(self.beginning_with(""))


class WholeMemoryView(Protocol):
    """One consistent view of everyone's memories, from which a copy is made.

    `roots` has every partition, each with the paths of its ingested folders by their short names.
    """

    space: VectorSpace | None
    settings: dict[str, str]
    roots: dict[Scope, dict[str, str]]

    def scan(self, scope: Scope) -> Iterator[tuple[str | None, Record]]:
        """Yields every record the user of the scope owns, with the team it is shared with (None: private)."""

    def vectors(self, scope: Scope, ids: Sequence[str], of: VectorKind = "node") -> dict[str, bytes]:
        """Returns the vectors of records of one kind by id."""


class Upkeep(Protocol):
    """The upkeep part of the engine protocol, on the whole memory. `settings` are texts that callers store by name."""

    settings: StoredSettings

    def close(self) -> None:
        """Stores accesses that are not counted yet, and closes every connection."""

    def vector_spaces(self) -> VectorSpaces:
        """Returns an object to read and change the models whose vectors the memory holds."""

    def whole_view(self) -> AbstractContextManager[WholeMemoryView]:
        """Opens one consistent view of everyone's memories. It does not change while the block runs."""

    def has_traces(self) -> bool:
        """True if the text index may still contain words of forgotten texts. No search finds them."""

    def backup(self, path: Path) -> None:
        """Writes everyone's memories to a tar file that restores to a memory in a folder."""

    def doctor(self, repair: bool, progress: Progress | None) -> list[Finding]:
        """Examines the database and its indexes and returns the problems found; with `repair`, repairs what it can."""

    def refresh(self, progress: Progress | None) -> None:
        """Updates the indexes now, without words of forgotten texts where the engine keeps them, and shortens the
        change log.
        """
