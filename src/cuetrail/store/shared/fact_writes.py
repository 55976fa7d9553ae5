"""Writing facts: stating, judging and forgetting them.

`fact_conflicts` decides what changes; this module reads the rows for it and stores the outcome.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from cuetrail.errors import InputError, NotFound
from cuetrail.model import Fact
from cuetrail.model.predicates import is_single
from cuetrail.store.shared import fact_conflicts
from cuetrail.store.shared.fact_fields import ends_of
from cuetrail.store.transaction import Handle, StoredFact, Topic, WriteTransaction
from cuetrail.store.write import Stated, Verdict


def put_facts(tx: WriteTransaction, facts: Sequence[Fact]) -> None:
    """Writes facts unchanged. One whose id is stored keeps its creation time, and its use counts unless it has its own.

    Raises InputError for a fact with both object and value or neither, NotFound for one about an unknown node.
    """
    facts = list({fact.id: fact for fact in facts}.values())
    ends = _ends(tx, facts)
    known = {old.fact.id: old for old in tx.facts.with_ids([fact.id for fact in facts])}
    rows = []
    for fact in facts:
        old = known.get(fact.id)
        if old is not None:
            fact = replace(fact, created=old.fact.created)
            if not fact.access_count:
                fact = replace(fact, access_count=old.fact.access_count, last_accessed=old.fact.last_accessed)
        rows.append(_new(fact, tx.partition, ends, old.handle if old else None))
    tx.facts.put(rows)


def _new(fact: Fact, partition: int, ends: Mapping[str, int], handle: Handle = None) -> StoredFact:
    return StoredFact(handle, partition, ends[fact.subject], None if fact.object is None else ends[fact.object], fact)


def _ends(tx: WriteTransaction, facts: Sequence[Fact]) -> dict[str, int]:
    """Returns the keys of the subjects and objects of facts, by id. Raises InputError and NotFound as `put_facts`."""
    for fact in facts:
        if (fact.object is None) == (fact.value is None):
            raise InputError(f"fact {fact.id!r} needs either an object or a value, not both and not neither")
    ids = [end for fact in facts for end in ends_of(fact)]
    ends = tx.find(ids)
    for id_ in ids:
        if id_ not in ends:
            raise NotFound(f"there is no node {id_!r} in this scope: add it first")
    return ends


def state_facts(tx: WriteTransaction, stated: Iterable[Stated], forgotten: Collection[str]) -> None:
    """Merges stated facts with the stored ones. Facts about `forgotten` nodes, or extracted from them, are left out.

    Conflicts are decided inside the transaction, so that two writers at once see each other's facts.
    """
    gone = set(forgotten)
    stated = [one for one in stated if gone.isdisjoint((one.fact.subject, one.fact.object, one.fact.source_ref))]
    if not stated:
        return
    ends = _ends(tx, [one.fact for one in stated])
    ids = {key: id_ for id_, key in ends.items()}
    # Facts are compared by the ids that the stated ones use for their ends.
    known = [
        replace(
            row,
            fact=replace(
                row.fact,
                subject=ids.get(row.subject, row.fact.subject),
                object=None if row.object is None else ids.get(row.object, row.fact.object),
            ),
        )
        for row in _comparable(tx, stated, ends)
    ]
    _store(tx, known, fact_conflicts.settle(stated, [(row.handle, row.fact) for row in known]), ends)


def _comparable(tx: WriteTransaction, stated: Sequence[Stated], ends: Mapping[str, int]) -> list[StoredFact]:
    """Returns the stored facts that may say the same as a stated one, and all facts of single-valued ones' topics."""
    known = tx.facts.with_ids([id_ for one in stated for id_ in one.ids])
    if not all(one.single for one in stated):
        known += tx.facts.same_value(known)
    topics = {(tx.partition, ends[one.fact.subject], one.fact.predicate): None for one in stated if one.single}
    known += tx.facts.of_topics(list(topics))
    by_handle = {row.handle: row for row in known}
    return [by_handle[handle] for handle in sorted(by_handle)]


def judge_facts(tx: WriteTransaction, verdicts: Sequence[Verdict]) -> None:
    """Confirms or retracts facts that the user owns. Facts that are missing or retracted already are left alone."""
    given = {verdict.fact: verdict for verdict in verdicts}
    handles = {handle: given[id_] for id_, handle in tx.find_own(given, "fact").items()}
    by_topic: dict[Topic, list[Verdict]] = {}
    for row in tx.facts.with_handles(list(handles)):
        by_topic.setdefault(_topic(row), []).append(replace(handles[row.handle], fact=row.fact.id))
    for topic, known, single in _topics(tx, list(by_topic)):
        present = [(row.handle, row.fact) for row in known]
        _store(tx, known, fact_conflicts.judge(by_topic[topic], present, single))


def refit_facts(tx: WriteTransaction, topics: Sequence[Topic], single: bool | None = None) -> None:
    """Decides again which facts of these topics are valid when, after some were removed or moved.

    `single` says whether the predicate has one value at a time; None reads what its owner declared.
    """
    for _, known, one_value in _topics(tx, topics, single):
        _store(tx, known, fact_conflicts.refit([(row.handle, row.fact) for row in known], one_value))


def redeclare_predicates(tx: WriteTransaction, declared: Mapping[str, bool]) -> None:
    """Decides again which of the user's facts are valid, if their predicate now has one value at a time (True) or many
    (False).
    """
    for predicate, single in declared.items():
        refit_facts(tx, tx.facts.topics_of(predicate), single)


def forget_extracted(tx: WriteTransaction, refs: Sequence[str]) -> list[int]:
    """Removes the facts extracted from these nodes, given by plain id. Returns the keys of entities that rules made for
    the facts and that nothing else refers to now; the caller is to remove them.
    """
    topics, about = tx.facts.remove_extracted(refs)
    refit_facts(tx, topics)
    return tx.facts.idle(about)


def remove_facts(tx: WriteTransaction, ids: Sequence[str]) -> list[int]:
    """Removes facts of the partition for good; returns the keys of entities that were made for them and are now idle,
    which are to be removed too.
    """
    known = tx.facts.with_ids(ids)
    tx.facts.change([(row, None) for row in known])
    refit_facts(tx, list(dict.fromkeys(map(_topic, known))))
    return tx.facts.idle({key for row in known for key in (row.subject, row.object) if key is not None})


def _topic(row: StoredFact) -> Topic:
    return row.partition, row.subject, row.fact.predicate


def _topics(
    tx: WriteTransaction, topics: Sequence[Topic], single: bool | None = None
) -> Iterable[tuple[Topic, list[StoredFact], bool]]:
    """Yields each topic with its stored facts, and whether its predicate has one value at a time."""
    by_topic: dict[Topic, list[StoredFact]] = {}
    for row in tx.facts.of_topics(topics):
        by_topic.setdefault(_topic(row), []).append(row)
    declared: dict[int, Mapping[str, str]] = {}
    for topic, known in by_topic.items():
        partition, _, predicate = topic
        if single is None and partition not in declared:
            declared[partition] = tx.facts.declared(partition)
        yield topic, known, is_single(predicate, declared[partition]) if single is None else single


def _store(
    tx: WriteTransaction,
    known: Sequence[StoredFact],
    settled: fact_conflicts.Settled[Handle],
    ends: Mapping[str, int] | None = None,
) -> None:
    """Stores what `fact_conflicts` decided. A new fact gets the partition and nodes of a stored one of the same value.
    If there is none, it goes into the partition written to; `ends` has the keys of its nodes.
    """
    new, changed = settled
    rows = {row.handle: row for row in known}
    tx.facts.change([(rows[handle], fact) for handle, fact in changed.items()])
    tx.facts.put(
        [
            replace(rows[like], handle=None, fact=fact) if like is not None else _new(fact, tx.partition, ends or {})
            for fact, like in new
        ]
    )
