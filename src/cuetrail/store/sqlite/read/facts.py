"""Reads of facts for one scope: by subject, id, or the node they were extracted from, and those that hold at a time."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from cuetrail.model import Direction, Fact
from cuetrail.store.read import FACTS_OF_VALUE, Around, FactKey, HeldAt, by_ref, by_value
from cuetrail.store.sqlite import rows
from cuetrail.store.sqlite.connection import chunks, marks
from cuetrail.store.sqlite.reader import Reader

Row = tuple[Any, ...]

# The two roles of an entity in a fact: its column, the index of active facts by certainty, and the index of ended ones.
SIDES = {"out": ("subject", "facts_of_subject", "facts_past"), "in": ("object", "facts_of_object", "facts_past_object")}
_HELD = "coalesce(f.valid_from, f.created) <= ?"


def made(reader: Reader, read: Sequence[Row]) -> list[Fact]:
    """Converts rows of the FACT query to facts, with the ids that they and their nodes have in this scope."""
    facts = [rows.to_fact(row) for row in read]
    if len(reader.parts) < 2:
        return facts
    own = reader.ids.names(((row[0], row[2], row[1]) for row in read), "facts")
    ends = reader.names(key for row in read for key in row[19:21] if key is not None)
    return [
        replace(fact, id=own[row[0]], subject=ends.get(row[19], fact.subject), object=ends.get(row[20], fact.object))
        for fact, row in zip(facts, read, strict=True)
    ]


def by_subject(reader: Reader, subjects: Sequence[str]) -> dict[str, list[Fact]]:
    read: list[Row] = []
    keys = reader.keys(subjects)
    for some in chunks(list(keys.values())):
        query = (
            f"{rows.FACT} WHERE f.subject IN ({marks(len(some))}) AND {reader.among('f.part')}"
            f" AND (b.key IS NULL OR {reader.among('b.part')}) ORDER BY f.confidence DESC, f.created DESC, f.id"
        )
        read += reader.db.execute(query, some)
    found: dict[int, list[Fact]] = {}
    for row, fact in zip(read, made(reader, read), strict=True):
        found.setdefault(row[19], []).append(fact)
    return {id_: found[key] for id_, key in keys.items() if key in found}


def held_at(reader: Reader, ids: Sequence[str], at: int, limit: int, direction: Direction) -> dict[str, list[Fact]]:
    ways = [queries(reader, side) for side in SIDES if direction in (side, "both")]
    found: dict[str, list[Row]] = {}
    for id_, key in _with_facts(reader, reader.keys(ids), direction).items():
        # A fact whose subject is also its object is read twice.
        read: dict[int, Row] = {}
        for active, past in ways:
            read.update((row[0], row) for row in reader.db.execute(active, (key, at, at, limit)))
            read.update((row[0], row) for row in reader.db.execute(past, (key, at, at, limit)))
        found[id_] = sorted(read.values(), key=lambda row: (-row[7], -row[15], row[2]))[: max(limit, 0)]
    every = {row[0]: row for read in found.values() for row in read}
    facts = dict(zip(every, made(reader, list(every.values())), strict=True))
    return {id_: [facts[row[0]] for row in read] for id_, read in found.items() if read}


def _with_facts(reader: Reader, keys: Mapping[str, int], direction: Direction) -> dict[str, int]:
    """Returns those of these nodes that are subject or object of any fact, as `direction` says: most have none."""
    has = " OR ".join(
        f"EXISTS (SELECT 1 FROM facts WHERE {column} = j.value)"
        for side, (column, *_) in SIDES.items()
        if direction in (side, "both")
    )
    query = f"SELECT j.value FROM json_each(?) j WHERE {has}"
    some = {key for (key,) in reader.db.execute(query, (json.dumps(list(keys.values())),))}
    return {id_: key for id_, key in keys.items() if key in some}


def queries(reader: Reader, side: str) -> tuple[str, str]:
    """Returns two queries for a node's facts that hold at a time: the active ones, and those that ended later than it.
    `side` is "out" for the node as subject, "in" as object.

    The plan of the first must not sort: that would read all facts of an entity that has 100,000.
    """
    column, index, past = SIDES[side]
    seen = _seen(reader)
    order = "ORDER BY f.confidence DESC, f.created DESC, f.id LIMIT ?"

    def query(by: str, status: str, end: str) -> str:
        table = rows.FACT.replace("FROM facts f", f"FROM facts f INDEXED BY {by}")
        return f"{table} WHERE f.{column} = ? AND {status} AND {_HELD} AND {end} AND {seen} {order}"

    return (
        query(index, "f.status IN ('staged', 'confirmed')", "(f.valid_until IS NULL OR f.valid_until > ?)"),
        query(past, "f.status IN ('superseded', 'retracted')", "f.valid_until > ?"),
    )


def around(reader: Reader, ids: Sequence[str], at: int, limit: int, refs: Sequence[str]) -> dict[str, list[Fact]]:
    found = held_at(reader, ids, at, limit, "out") if ids else {}
    ended = rows.FACT.replace("FROM facts f", "FROM facts f INDEXED BY facts_past")
    ended += (
        " WHERE f.subject = ? AND f.status IN ('superseded', 'retracted') AND f.valid_until <= ?"
        f" AND {_HELD} AND {_seen(reader)} ORDER BY f.valid_until DESC, f.id LIMIT ?"
    )
    for id_, key in _with_facts(reader, reader.keys(ids), "out").items() if ids else ():
        past = made(reader, reader.db.execute(ended, (key, at, at, max(limit, 0))).fetchall())
        if past:
            found[id_] = [*found.get(id_, ()), *past]
    for some in chunks(refs):
        extracted = (
            f"{rows.FACT} WHERE f.source_ref IN ({marks(len(some))}) AND f.status IN ('superseded', 'retracted')"
            f" AND {_seen(reader)} ORDER BY coalesce(f.valid_until, f.created) DESC, f.id LIMIT ?"
        )
        for fact in made(reader, reader.db.execute(extracted, (*some, max(limit, 0) * len(some))).fetchall()):
            found.setdefault(fact.source_ref or "", []).append(fact)
    return found


def _seen(reader: Reader) -> str:
    """Returns a SQL condition that is true if a fact, its subject and its object are visible."""
    return f"{reader.among('f.part')} AND {reader.among('a.part')} AND (b.key IS NULL OR {reader.among('b.part')})"


def by_id(reader: Reader, ids: Sequence[str]) -> dict[str, list[Fact]]:
    keys = reader.ids.keys(ids, "facts")
    read: list[Row] = []
    for some in chunks(list(keys.values())):
        seen = f"{reader.among('a.part')} AND (b.key IS NULL OR {reader.among('b.part')})"
        read += reader.db.execute(f"{rows.FACT} WHERE f.key IN ({marks(len(some))}) AND {seen}", some)
    found = {row[0]: fact for row, fact in zip(read, made(reader, read), strict=True)}
    return {id_: [found[key]] for id_, key in keys.items() if key in found}


def by_source_ref(reader: Reader, refs: Sequence[str]) -> dict[str, list[Fact]]:
    read: list[Row] = []
    for some in chunks(refs):
        query = f"{rows.FACT} WHERE f.source_ref IN ({marks(len(some))}) AND f.status <> 'retracted'"
        read += reader.db.execute(f"{query} AND {reader.own('f.part')}", some)
    return by_ref(made(reader, read))


def with_value(reader: Reader, values: Sequence[str]) -> dict[str, list[Fact]]:
    read: list[Row] = []
    for some in chunks(list(dict.fromkeys(form for value in values for form in (value, _in_lower_ascii(value))))):
        query = f"{rows.FACT} WHERE lower(f.value) IN ({marks(len(some))}) AND f.status IN ('staged', 'confirmed')"
        read += reader.db.execute(f"{query} AND {_seen(reader)} ORDER BY f.id LIMIT {FACTS_OF_VALUE}", some)
    return by_value(made(reader, read[:FACTS_OF_VALUE]))


def _in_lower_ascii(value: str) -> str:
    """Returns a value as SQLite's `lower`, which knows ASCII alone, leaves it if its words are capitalised."""
    return " ".join(word if word[:1].isascii() else word[:1].upper() + word[1:] for word in value.split(" "))


_BY: Mapping[FactKey, Callable[[Reader, Sequence[str]], dict[str, list[Fact]]]] = {
    "subject": by_subject, "id": by_id, "source_ref": by_source_ref, "value": with_value,
}  # fmt: skip


def facts(
    reader: Reader, keys: Sequence[str], by: FactKey = "subject", held: HeldAt | Around | None = None
) -> dict[str, list[Fact]]:
    if isinstance(held, Around):
        return around(reader, keys, *held)
    return _BY[by](reader, keys) if held is None else held_at(reader, keys, *held)


def most_used(reader: Reader, limit: int) -> list[int]:
    """Returns the keys of up to `limit` entities by the access count of their most used fact, highest first, then by
    key. Only staged and confirmed facts that were used count.
    """
    query = (
        "SELECT subject, access_count FROM facts INDEXED BY facts_used WHERE access_count > 0"
        f" AND status IN ('staged', 'confirmed') AND {reader.among()} ORDER BY access_count DESC"
    )
    uses: dict[int, int] = {}
    for subject, count in reader.db.execute(query) if limit > 0 else ():
        # All that are used as often as the last one are read before the cut.
        if len(uses) >= limit and count < min(uses.values()):
            break
        uses.setdefault(subject, count)
    keys = sorted(uses, key=lambda key: (-uses[key], key))[:limit]
    names = reader.names(keys)
    return [key for key in keys if key in names]


def next_fact(reader: Reader, after: int) -> int | None:
    """Returns the next time after `after` at which a fact stated in advance becomes valid; None if there is none."""
    query = (
        "SELECT min(valid_from) FROM facts INDEXED BY facts_ahead"
        f" WHERE valid_from > created AND valid_from > ? AND {reader.among()}"
    )
    found: int | None = reader.db.execute(query, (after,)).fetchone()[0]
    return found


def uses(db: sqlite3.Connection, parts: Sequence[int]) -> Hashable:
    """Returns a value that differs after every counted use of a record in these partitions. It must be read anew each
    time, not kept with a connection, because the connection's own writes change it too.
    """
    query = f"SELECT part, count FROM uses WHERE part IN ({marks(len(parts))}) ORDER BY part"
    return tuple(db.execute(query, parts).fetchall())
