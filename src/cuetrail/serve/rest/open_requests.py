"""The requests that run or wait at a time: their number in all and of each client."""

from __future__ import annotations

from collections import Counter
from typing import Protocol


class Load(Protocol):
    """Counts the open requests of a server, in all its processes."""

    def enter(self, address: str) -> int:
        """Counts a request of a client; returns the ticket with which it leaves."""

    def leave(self, address: str, ticket: int) -> None:
        """Removes a request from the counts."""

    def in_progress(self) -> int:
        """Returns the number of all open requests."""

    def of_client(self, address: str) -> int:
        """Returns the number of a client's open requests."""


class LocalLoad:
    """Counts the open requests of a server that is one process."""

    def __init__(self) -> None:
        self._by_address = Counter[str]()
        self._total = 0

    def enter(self, address: str) -> int:
        """Counts a request of a client. Its ticket is always 0."""
        self._total += 1
        self._by_address[address] += 1
        return 0

    def leave(self, address: str, ticket: int) -> None:
        """Removes a request from the counts."""
        del ticket
        self._total -= 1
        self._by_address[address] -= 1
        if not self._by_address[address]:
            del self._by_address[address]

    def in_progress(self) -> int:
        """Returns the number of all open requests."""
        return self._total

    def of_client(self, address: str) -> int:
        """Returns the number of a client's open requests."""
        return self._by_address[address]
