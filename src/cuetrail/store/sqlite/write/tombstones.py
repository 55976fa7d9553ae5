"""Tombstones in the truth: who is kept out by them, and how a memory is forgotten and let back."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from cuetrail.model import Node
from cuetrail.store.shared.tombstones import Met, id_stone, judge, signs, stones, text_stones
from cuetrail.store.sqlite.connection import chunks, marks
from cuetrail.store.sqlite.ids import Ids, find_keys
from cuetrail.store.sqlite.reader import Reader

_SAID_BEFORE = "SELECT CASE WHEN text <> '' THEN text ELSE name END FROM history WHERE part = ? AND id = ?"


def met(db: sqlite3.Connection, places: Ids, nodes: Sequence[Node]) -> dict[str, Met]:
    """Of the nodes that tombstones of this user meet the hashes that do, and what of their texts may come in, by id.

    An id is forgotten in the place it was in; what was said is forgotten in all of the user's places.
    """
    mine = ",".join(map(str, places.mine)) or "NULL"
    if not nodes or not db.execute(f"SELECT 1 FROM tombstones WHERE part IN ({mine}) LIMIT 1").fetchone():
        return {}
    said = [signs(node) for node in nodes]
    ids = {id_stone(node.id): node.id for node in nodes}
    known: set[str] = set()
    gone: dict[str, str] = {}
    for some in chunks(list(set(ids).union(*(one.hashes() for one in said)))):
        query = f"SELECT hash, part FROM tombstones WHERE part IN ({mine}) AND hash IN ({marks(len(some))})"
        for hash_, part in db.execute(query, some):
            known.add(hash_)
            if hash_ in ids and part == places.home:
                gone[ids[hash_]] = hash_
    found = judge(nodes, said, known, gone)
    return _judged_again(db, places, nodes, _without_present(db, places, nodes, found))


def _judged_again(db: sqlite3.Connection, places: Ids, nodes: Sequence[Node], found: dict[str, Met]) -> dict[str, Met]:
    """With what is left judged as well: words that were apart may have met."""
    left = [replace(node, text=found[node.id].left) for node in nodes if node.id in found and found[node.id].left]
    for id_, again in (met(db, places, left) if left else {}).items():
        found[id_] = Met(found[id_].hashes | again.hashes, again.left)
    return found


def redacted_texts(reader: Reader, nodes: Sequence[Node]) -> dict[str, str]:
    """Returns what tombstones leave of the texts of the nodes they match, by id; "" if the node is kept out whole."""
    return {id_: one.left for id_, one in met(reader.db, reader.ids, nodes).items()}


def kept_out(db: sqlite3.Connection, places: Ids, nodes: Sequence[Node]) -> set[str]:
    """Ids of the nodes that tombstones of this user keep out as a whole."""
    return {id_ for id_, judged in met(db, places, nodes).items() if not judged.left}


def _without_present(
    db: sqlite3.Connection, places: Ids, nodes: Sequence[Node], found: dict[str, Met]
) -> dict[str, Met]:
    """Without those that are here and say just that: they are not coming back, they never went."""
    if not found or places.home is None:
        return found
    keys = find_keys(db, found, "nodes", [places.home])
    said = {node.id: (node.name, node.text) for node in nodes}
    for id_, key in keys.items():
        if db.execute("SELECT name, text FROM nodes WHERE key = ?", (key,)).fetchone() == said[id_]:
            del found[id_]
    return found


def lift(db: sqlite3.Connection, places: Ids, nodes: Iterable[Node], found: Mapping[str, Met]) -> None:
    """Let the nodes back that were kept out: the hashes that did so go, and all that these nodes would leave."""
    gone = {hash_ for node in nodes if node.id in found for hash_ in (*found[node.id].hashes, *stones(node))}
    pairs = [(part, hash_) for part in places.mine for hash_ in sorted(gone)]
    db.executemany("DELETE FROM tombstones WHERE part = ? AND hash = ?", pairs)


def bury(db: sqlite3.Connection, part: int, nodes: Iterable[Node], now: int, unsaid: Collection[str] = ()) -> None:
    """Leave tombstones for nodes of a place and for what they said before they were corrected; that is deleted.

    What the `unsaid` say, by id, is not forgotten with them, as others say it too.
    """
    for node in nodes:
        left = [id_stone(node.id)] if node.id in unsaid else stones(node)
        for (said,) in db.execute(_SAID_BEFORE, (part, node.id)).fetchall() if node.id not in unsaid else ():
            left += text_stones(said or "")
        db.executemany("INSERT OR IGNORE INTO tombstones VALUES (?, ?, ?)", [(part, hash_, now) for hash_ in left])
        db.execute("DELETE FROM history WHERE part = ? AND id = ?", (part, node.id))
