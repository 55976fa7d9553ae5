"""Writes notes on nodes and edges to their table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from cuetrail.model import Note
from cuetrail.store.sqlite import rows
from cuetrail.store.sqlite.connection import chunks, marks, take_keys
from cuetrail.store.sqlite.index import vector_spaces
from cuetrail.store.sqlite.reader import find_keys
from cuetrail.store.sqlite.write.relation_words import enter_words, remove_words
from cuetrail.store.sqlite.write.state import WriteState, renew_sums


class Notes:
    """Writes notes in one transaction. `store.transaction` documents the methods."""

    def __init__(self, state: WriteState) -> None:
        self.state = state
        self.db = state.db

    def put(self, on: Literal["node", "edge"], notes: Sequence[tuple[Note, int]]) -> None:
        if not notes:
            return
        old = find_keys(self.db, (note.id for note, _ in notes), "notes", [self.state.partition])
        first = take_keys(self.db, len(notes))
        remove_words(self.db, notes=list(old.values()))
        texts = {old[note.id]: note.text for note, _ in notes if note.id in old}
        for some in chunks(list(texts)):
            there = self.db.execute(f"SELECT key, text FROM notes WHERE key IN ({marks(len(some))})", some).fetchall()
            self.state.revectored |= vector_spaces.drop(self.db, [key for key, text in there if texts[key] != text])
        lines = [
            rows.summed(
                (old.get(n.id, first + i), self.state.partition, n.id, on, target, n.text, n.created, n.expires)
            )
            for i, (n, target) in enumerate(notes)
        ]
        self.db.executemany(f"INSERT OR REPLACE INTO notes VALUES ({marks(9)})", lines)
        enter_words(self.db, notes=[row[0] for row in lines])

    def remove(self, handles: Sequence[int]) -> None:
        remove_words(self.db, notes=handles)
        self.state.revectored |= vector_spaces.drop(self.db, handles)
        self.db.executemany("DELETE FROM notes WHERE key = ?", [(key,) for key in handles])

    def move(self, moves: Mapping[int, int]) -> None:
        update = "UPDATE notes SET target = ? WHERE target_on = 'node' AND target = ?"
        self.db.executemany(update, [(new, old) for old, new in moves.items()])
        moved = "SELECT key FROM notes WHERE target_on = 'node' AND target = ?"
        keys = [key for new in set(moves.values()) for (key,) in self.db.execute(moved, (new,))]
        renew_sums(self.db, "notes", keys)
