"""Which predicates have one value at a time: some by nature, others because a user declared it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cuetrail.model import Fact, Scope
from cuetrail.store.ports import Store
from cuetrail.store.shared.fact_timeline import believed_of
from cuetrail.store.shared.fact_validity import declaration, is_single


def single_valued(store: Store, scope: Scope, predicates: Iterable[str]) -> set[str]:
    """Returns the predicates that have one value at a time, as this user declared or else by nature."""
    declared = store.kept(declaration(scope.tenant, scope.user))
    return {predicate for predicate in predicates if is_single(predicate, declared)}


def one_each(store: Store, scope: Scope, facts: Sequence[Fact]) -> list[Fact]:
    """Returns those of the facts that a user believes, in the same order. All of them hold at one time.

    Facts of one partition agree with each other. A user may see several partitions, his own and those of his teams.
    """
    topics: dict[tuple[str, str], list[Fact]] = {}
    for fact in facts:
        topics.setdefault((fact.subject, fact.predicate), []).append(fact)
    several = {topic: some for topic, some in topics.items() if len(some) > 1}
    if not several:
        return list(facts)
    single = single_valued(store, scope, {predicate for _, predicate in several})
    believed = {id(fact) for (_, name), some in several.items() for fact in believed_of(some, name in single)}
    return [fact for fact in facts if (fact.subject, fact.predicate) not in several or id(fact) in believed]
