"""Which predicates have one value at a time: some by nature, others because a user declared it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cuetrail.model import Fact, Scope
from cuetrail.store.ports import Store
from cuetrail.store.shared.fact_timeline import believed_of
from cuetrail.store.shared.fact_validity import declaration, is_single


def single_valued(store: Store, scope: Scope, predicates: Iterable[str]) -> set[str]:
    """Those of the predicates that have one value at a time, by what this user declared, else by nature."""
    kept = store.kept(declaration(scope.tenant, scope.user))
    return {predicate for predicate in predicates if is_single(predicate, kept)}


def one_each(store: Store, scope: Scope, facts: Sequence[Fact]) -> list[Fact]:
    """Of facts that hold at one time those that a user believes, in the same order.

    What is stated in one place fits together. But a user may see several: his own, and those of his teams.
    """
    topics: dict[tuple[str, str], list[Fact]] = {}
    for fact in facts:
        topics.setdefault((fact.subject, fact.predicate), []).append(fact)
    several = {topic: some for topic, some in topics.items() if len(some) > 1}
    if not several:
        return list(facts)
    single = single_valued(store, scope, {predicate for _, predicate in several})
    kept = {id(fact) for (_, predicate), some in several.items() for fact in believed_of(some, predicate in single)}
    return [fact for fact in facts if (fact.subject, fact.predicate) not in several or id(fact) in kept]
