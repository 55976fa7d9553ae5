"""Writes the links that texts contain, and which sources mention which nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cuetrail.model import Link
from cuetrail.store.sqlite import rows
from cuetrail.store.sqlite.write.state import WriteState


class Links:
    """Writes links and mentions in one transaction. `store.transaction` documents the methods."""

    def __init__(self, state: WriteState) -> None:
        self.state = state
        self.db = state.db

    def put(self, links: Sequence[tuple[int, Link]]) -> None:
        table = sorted(
            (key, link.norm, link.kind, link.display, self.state.partition) for key, link in links if link.display
        )
        self.db.executemany("INSERT OR REPLACE INTO links VALUES (?,?,?,?,?,?)", map(rows.summed, table))
        ended = [(key, link.norm, link.kind) for key, link in links if not link.display]
        self.db.executemany("DELETE FROM links WHERE src = ? AND norm = ? AND kind = ?", ended)
        # The links of a node decide which edges dreams may add to it.
        self.state.changed.update(key for key, _ in links)

    def put_mentions(self, mentions: Mapping[tuple[int, int], int]) -> None:
        table = [(*pair, self.state.partition, at) for pair, at in mentions.items()]
        self.db.executemany("INSERT OR REPLACE INTO mentions VALUES (?,?,?,?)", table)
