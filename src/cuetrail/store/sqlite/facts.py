"""Writing facts: how stated facts are fitted in, judged and removed. `store.shared.fact_conflicts` has the rules."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cuetrail.model import Fact
from cuetrail.store.shared import fact_conflicts
from cuetrail.store.shared.fact_validity import (
    MADE_FOR_A_FACT,
    Stated,
    Verdict,
    check_ends,
    declaration,
    ends_of,
    is_single,
    remembered,
)
from cuetrail.store.sqlite import rows, settings
from cuetrail.store.sqlite.connection import another_version, chunks, marks, take_keys

if TYPE_CHECKING:
    from cuetrail.store.sqlite.write.writer import Write

Row = tuple[Any, ...]

_UPDATE = (
    "UPDATE OR REPLACE facts SET id = ?, value = ?, confidence = ?, status = ?, source = ?, source_ref = ?,"
    " provenance = ?, tags = ?, valid_from = ?, valid_until = ?, superseded_by = ?, stated_from = ?, stated_until = ?,"
    " stated_status = ?, restated = ? WHERE key = ?"
)
# Facts that others keep from holding: where one of these goes, they may hold again.
_SHADOWED = (
    "EXISTS (SELECT 1 FROM facts s WHERE s.subject = f.subject AND s.predicate = f.predicate AND s.part = f.part"
    " AND (s.status = 'superseded' OR s.stated_from IS NOT NULL OR s.stated_until IS NOT NULL))"
)

Topic = tuple[int, int, str]
"""A place, and in it a subject, by their keys, and a predicate."""


# --- writing


def touch(db: sqlite3.Connection, keys: Iterable[int], now: int) -> None:
    """Count one use of each fact."""
    query = (
        "UPDATE facts SET access_count = access_count + 1,"
        " last_accessed = max(coalesce(last_accessed, ?1), ?1) WHERE key = ?2"
    )
    touched = list(keys)
    db.executemany(query, [(now, key) for key in touched])
    count_use(db, "facts", touched)


def count_use(db: sqlite3.Connection, table: str, keys: Sequence[int]) -> None:
    """Let the places of these rows know that something there was used; see `uses`."""
    for some in chunks(keys):
        places = f"SELECT DISTINCT part, 1 FROM {table} WHERE key IN ({marks(len(some))})"
        db.execute(f"INSERT INTO uses {places} ON CONFLICT (part) DO UPDATE SET count = count + 1", some)


def put(w: Write, stated: Sequence[Stated], forgotten: Collection[str]) -> None:
    """Fit stated facts into what is known. In this transaction: two who state at once do not miss each other."""
    stated = remembered(stated, forgotten)
    if not stated:
        return
    ends = w.keys_of(end for one in stated for end in ends_of(one.fact))
    check_ends(stated, ends)
    _store(w, fact_conflicts.settle(stated, list(_present(w, stated, ends))), ends)


def _present(w: Write, stated: Sequence[Stated], ends: dict[str, int]) -> Iterator[tuple[int, Fact]]:
    """What is known here on the same: the facts of the same ids, and those a single-valued one may contradict."""
    called = {key: id_ for id_, key in ends.items()}
    read: dict[int, Row] = {}
    for some in chunks([id_ for one in stated for id_ in one.ids]):
        for row in w.db.execute(f"{rows.FACT} WHERE f.id IN ({marks(len(some))}) AND f.part = ?", (*some, w.part)):
            read[row[0]] = row
    single = {(one.fact.subject, one.fact.predicate): None for one in stated if one.single}
    for subject, predicate in single:
        read.update((row[0], row) for row in _of_topic(w, (w.part, ends[subject], predicate)))
    if len(single) < len(stated):
        for row in list(read.values()):
            read.update((other[0], other) for other in _of_value(w, row))
    for key, row in sorted(read.items()):
        fact = rows.to_fact(row)
        yield key, replace(fact, subject=called.get(row[19], fact.subject), object=called.get(row[20], fact.object))


def _of_topic(w: Write, topic: Topic) -> list[Row]:
    """All facts of a subject and predicate in a place."""
    query = f"{rows.FACT} WHERE f.part + 0 = ? AND f.subject = ? AND f.predicate = ?"
    return w.db.execute(query, topic).fetchall()


def _of_value(w: Write, row: Row) -> list[Row]:
    """All facts of the same subject, predicate and value in a place as one of them."""
    same = "f.object IS ? AND substr(f.value, 1, 64) IS substr(?, 1, 64)"
    query = f"{rows.FACT} WHERE f.part + 0 = ? AND f.subject = ? AND f.predicate = ? AND {same}"
    return w.db.execute(query, (row[1], row[19], row[4], row[20], row[6])).fetchall()


def _has_one_value(w: Write, part: int, predicate: str) -> bool:
    """Whether a predicate has one value at a time for whom a place is of."""
    owner = w.db.execute("SELECT tenant, owner FROM parts WHERE part = ?", (part,)).fetchone()
    return is_single(predicate, settings.settings(w.db, declaration(*owner)))


def judge(w: Write, verdicts: Sequence[Verdict]) -> None:
    """Confirm or retract facts of the user's; those that were taken back, or are gone, are left alone."""
    given = {verdict.fact: verdict for verdict in verdicts}
    keys = w.own_keys(given, "facts")
    by_topic: dict[Topic, list[Verdict]] = {}
    for some in chunks(list(keys.values())):
        query = f"SELECT key, id, part, subject, predicate FROM facts WHERE key IN ({marks(len(some))})"
        found = {row[0]: row[1:] for row in w.db.execute(query, some)}
        for id_, key in keys.items():
            if key in found:
                plain, *topic = found[key]
                by_topic.setdefault((topic[0], topic[1], topic[2]), []).append(replace(given[id_], fact=plain))
    for topic, some_verdicts in by_topic.items():
        present = [(row[0], rows.to_fact(row)) for row in _of_topic(w, topic)]
        single = _has_one_value(w, topic[0], topic[2])
        _store(w, fact_conflicts.judge(some_verdicts, present, single), part=topic[0])


def shadowing(db: sqlite3.Connection, where: str, values: Sequence[Any]) -> list[Topic]:
    """The topics of facts that keep others from holding; `where` says which facts (f)."""
    query = f"SELECT DISTINCT f.part, f.subject, f.predicate FROM facts f WHERE {where} AND {_SHADOWED}"
    return db.execute(query, values).fetchall()


def refit(w: Write, topics: Iterable[Topic], single: bool | None = None) -> None:
    """Let facts hold as what is left says, after some are gone; or as is right for a predicate that is declared so."""
    for topic in topics:
        present = [(row[0], rows.to_fact(row)) for row in _of_topic(w, topic)]
        one = _has_one_value(w, topic[0], topic[2]) if single is None else single
        _store(w, fact_conflicts.refit(present, one), part=topic[0])


def redeclare(w: Write, declared: Mapping[str, bool]) -> None:
    """Fit all the user's facts of predicates that have one value at a time from now on, or many."""
    mine = f"part IN ({','.join(map(str, w.ids.mine)) or 'NULL'})"
    query = f"SELECT DISTINCT part, subject, predicate FROM facts WHERE predicate = ? AND {mine}"
    for predicate, single in declared.items():
        refit(w, w.db.execute(query, (predicate,)).fetchall(), single)


def _store(
    w: Write, settled: fact_conflicts.Settled[int], ends: Mapping[str, int] | None = None, part: int | None = None
) -> None:
    """Change facts of a place, one that is None goes, and insert the new ones, with the ends of one like them if there
    is one.
    """
    new, changed = settled
    if changed and part not in (None, w.part):
        another_version(w.db, part)
    w.db.executemany("DELETE FROM facts WHERE key = ?", [(key,) for key, fact in changed.items() if fact is None])
    table = [
        (
            f.id, f.value, f.confidence, f.status, f.source, f.source_ref, f.provenance, rows.pack(f.tags),
            f.valid_from, f.valid_until, f.superseded_by, f.stated_from, f.stated_until, f.stated_status, f.restated,
            key,
        )
        for key, f in changed.items()
        if f is not None
    ]  # fmt: skip
    w.db.executemany(_UPDATE, table)
    first = take_keys(w.db, len(new)) if new else 0
    for number, (fact, like) in enumerate(new):
        place: tuple[int, int, int | None]
        if like is None:
            known = ends or {}
            place = (w.part, known[fact.subject], None if fact.object is None else known[fact.object])
        else:
            place = w.db.execute("SELECT part, subject, object FROM facts WHERE key = ?", (like,)).fetchone()
        w.db.execute(rows.INSERT_FACT, rows.fact_row(fact, first + number, *place))


def forget_refs(w: Write, ids: Sequence[str]) -> list[int]:
    """Delete what was read out of the user's nodes of these ids; the entities that were made for that and have nothing
    else, to be removed as well.
    """
    loose: set[int] = set()
    mine = f"f.part IN ({','.join(map(str, w.ids.mine)) or 'NULL'})"
    for some in chunks(ids):
        among = f"f.source_ref IN ({marks(len(some))}) AND {mine}"
        for ends in w.db.execute(f"SELECT f.subject, f.object FROM facts f WHERE {among}", some).fetchall():
            loose.update(key for key in ends if key is not None)
        topics = shadowing(w.db, among, some)
        w.db.execute(f"DELETE FROM facts AS f WHERE {among}", some)
        refit(w, topics)
    return [key for key in sorted(loose) if _is_idle(w, key)]


def _is_idle(w: Write, key: int) -> bool:
    """Whether a node was made for a fact and nothing leads to it any more."""
    query = (
        "SELECT props FROM nodes n WHERE key = ?1 AND NOT EXISTS (SELECT 1 FROM facts WHERE subject = ?1)"
        " AND NOT EXISTS (SELECT 1 FROM facts WHERE object = ?1)"
        " AND NOT EXISTS (SELECT 1 FROM notes WHERE target_on = 'node' AND target = ?1)"
        " AND NOT EXISTS (SELECT 1 FROM adjacency a JOIN edges e ON e.key = a.edge WHERE a.node = ?1 AND e.via IS NULL)"
    )
    found = w.db.execute(query, (key,)).fetchone()
    return found is not None and found[0] == rows.pack(MADE_FOR_A_FACT)
