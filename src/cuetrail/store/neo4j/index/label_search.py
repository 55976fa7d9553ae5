"""The tag walk: from seeds along their tags and buckets to nodes that no word of the query would have found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from cuetrail.formulas import HOUR, UNKNOWN_DISTANCE, gravity, idf
from cuetrail.model import Label, Walk, WalkHit, WalkQuery, WalkSeed, Where
from cuetrail.store.neo4j.connection import rows
from cuetrail.store.neo4j.ids import RecordId
from cuetrail.store.neo4j.index.text_search import TextSearch
from cuetrail.store.neo4j.reader import Reader, node_filter
from cuetrail.store.neo4j.rows import uid
from cuetrail.store.shared.stored_values import unsigned

# A few more than wanted are requested: some match a word of the query and do not count.
SPARE, GROWTH = 3, 8
# Weights are integer multiples of this: sums then do not depend on their order, and equal values stay equal.
GRAIN = 2.0**-32

_COUNTS = """UNWIND $tags AS row OPTIONAL MATCH (t:CueTag {uid: row[1]})
RETURN row[0] AS label, CASE WHEN t IS NULL THEN 0 ELSE COUNT { (t)<-[:CUE_TAGGED]-() } END AS count
UNION ALL UNWIND $buckets AS row OPTIONAL MATCH (t:CueBucket {uid: row[1]})
RETURN row[0] AS label, CASE WHEN t IS NULL THEN 0 ELSE COUNT { (t)<-[:CUE_FILED]-() } END AS count"""
_CARRIERS = """CALL () {{
  UNWIND $tags AS row MATCH (t:CueTag {{uid: row[1]}})<-[:CUE_TAGGED]-(n) USING INDEX SEEK t:CueTag(uid)
  RETURN n, row[0] AS label
  UNION ALL UNWIND $buckets AS row MATCH (t:CueBucket {{uid: row[1]}})<-[:CUE_FILED]-(n)
  USING INDEX SEEK t:CueBucket(uid) RETURN n, row[0] AS label
}} WITH n, label WHERE n.silent IS NULL AND NOT n.key IN $apart{passing}"""
_BY_WEIGHT = f"""{_CARRIERS} WITH n, sum($weights[label]) AS value WHERE value > 0
WITH n, value ORDER BY value DESC, n.at DESC, n.id LIMIT $limit RETURN n.key, n.id, n.part, n.at, value"""
_ALL = f"{_CARRIERS} RETURN n.key, n.id, n.part, n.at, n.simhash, collect(label)"


class WalkCandidate(NamedTuple):
    """A node that shares a label with a seed, its time, and its value in the ranking."""

    record: RecordId
    at: int
    value: float


Best = Callable[[int], list[WalkCandidate]]
"""A function that gets a number and returns at most so many candidates, best first."""


def walk(reader: Reader, query: WalkQuery, limit: int, where: Where) -> Walk:
    """Returns the best `limit` nodes that share a label with a seed, are not seeds, and contain no word of
    `query.unlike`; and the inverse document frequencies of the seeds' labels.
    """
    labels = list(dict.fromkeys(label for seed in query.seeds for label in seed.labels))
    given = _uids(reader, labels)
    idfs = _idfs(reader, labels, given)
    if limit <= 0 or not idfs:
        return Walk((), idfs)
    passing, filters = node_filter(where)
    given |= {"apart": list(reader.ids.keys(f.id for f in query.seeds).values()), **filters}
    if query.rank == "idf":
        weights = [idfs.get(label, 0.0) for label in labels]
        best = _by_weight(reader, passing, {**given, "weights": weights})
    else:
        best = _by_gravity(reader, passing, given, query.seeds, labels)
    found = _unlike(TextSearch(reader, where), query, best, limit)
    nodes = reader.plain_nodes([int(one.record.handle) for one in found])
    names = reader.ids.names(one.record for one in found)
    walked = [(one, nodes.get(int(one.record.handle))) for one in found]
    return Walk(tuple(WalkHit(replace(n, id=names[one.record.handle]), one.value) for one, n in walked if n), idfs)


def _uids(reader: Reader, labels: Sequence[Label]) -> dict[str, Any]:
    """Returns the parameters `tags` and `buckets`: for each label and visible partition, the label's number in the list
    and its uid there.
    """
    pairs: dict[str, list[list[Any]]] = {"tags": [], "buckets": []}
    for number, label in enumerate(labels):
        pairs["tags" if label.what == "tag" else "buckets"] += [[number, uid(p, label.name)] for p in reader.parts]
    return dict(pairs)


def _idfs(reader: Reader, labels: Sequence[Label], given: dict[str, Any]) -> dict[Label, float]:
    """Returns the inverse document frequency of each label in the visible partitions; unused labels are left out."""
    counts = [0] * len(labels)
    for number, count in rows(reader.tx, _COUNTS, **given):
        counts[number] += count
    query = "MATCH (p:CuePlace) WHERE p.part IN $parts RETURN sum(coalesce(p.labelled, 0))"
    total = rows(reader.tx, query, parts=reader.parts)[0][0]
    holding = zip(labels, counts, strict=True)
    return {label: round(idf(total, count) / GRAIN) * GRAIN for label, count in holding if count}


def _by_weight(reader: Reader, passing: str, given: dict[str, Any]) -> Best:
    def best(wanted: int) -> list[WalkCandidate]:
        found = rows(reader.tx, _BY_WEIGHT.format(passing=passing), limit=wanted, **given)
        return [WalkCandidate(RecordId(*row[:3]), row[3], row[4]) for row in found]

    return best


def _by_gravity(
    reader: Reader, passing: str, given: dict[str, Any], seeds: Sequence[WalkSeed], labels: Sequence[Label]
) -> Best:
    """Returns a ranking by the strongest attraction (`formulas.gravity`) of a node to a seed. It is computed here,
    because the server cannot compare hashes.
    """
    numbers = {label: number for number, label in enumerate(labels)}
    sets = [(seed, {numbers[label] for label in seed.labels}) for seed in seeds]
    found = []
    for key, id_, part, at, simhash, carried in rows(reader.tx, _ALL.format(passing=passing), **given):
        hash_ = None if simhash is None else unsigned(simhash)
        value = max(_pull(seed, at, hash_, len(own.intersection(carried))) for seed, own in sets)
        if value > 0:
            found.append(WalkCandidate(RecordId(key, id_, part), at, value))
    found.sort(key=lambda one: (-one.value, -one.at, one.record.id))
    return lambda wanted: found[:wanted]


def _pull(seed: WalkSeed, at: int, simhash: int | None, shared: int) -> float:
    known = seed.simhash is not None and simhash is not None
    distance = (seed.simhash ^ simhash).bit_count() if known else UNKNOWN_DISTANCE  # type: ignore[operator]  # known
    return gravity(shared, (at - seed.at) / HOUR, distance)


def _unlike(texts: TextSearch, query: WalkQuery, best: Best, limit: int) -> list[WalkCandidate]:
    """Returns the best `limit` candidates that contain no word of the query."""
    wanted = limit + SPARE
    while True:
        asked = best(wanted)
        matching = texts.holding_any(query.unlike, [int(one.record.handle) for one in asked])
        left = [one for one in asked if one.record.handle not in matching]
        if len(left) >= limit or len(asked) < wanted:
            return left[:limit]
        wanted *= GROWTH
