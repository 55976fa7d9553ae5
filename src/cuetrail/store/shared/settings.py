"""The settings of a whole memory, as a mapping from names to texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping

PREFIX = "kept:"
"""Sets the names of settings apart, where an engine stores them, from those of its own values."""


class Settings(MutableMapping[str, str]):
    """Settings by name. `read` returns those whose names begin with a prefix, `put` stores one or (None) deletes it.

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
