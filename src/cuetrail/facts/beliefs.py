"""The facts about a subject that a user believes at a time, and all that were ever stated.

A predicate has one value at a time or many: some by nature, others because a user declared it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cuetrail.facts.resolve_entity import resolve_entity
from cuetrail.model import Fact, Scope
from cuetrail.model.predicates import declaration, is_single
from cuetrail.store.ports import Store
from cuetrail.store.shared.fact_fields import begins, holds, until, value_of
from cuetrail.store.shared.fact_timeline import believed_of
from cuetrail.text.normalise import norm_name, norm_tag


def single_valued(store: Store, scope: Scope, predicates: Iterable[str]) -> set[str]:
    """Returns the predicates that have one value at a time: as the user declared, else by the built-in default."""
    declared = store.settings.beginning_with(declaration(scope.tenant, scope.user))
    return {predicate for predicate in predicates if is_single(predicate, declared)}


def one_each(store: Store, scope: Scope, facts: Sequence[Fact]) -> list[Fact]:
    """Returns those of the facts, which are all valid at one time, that a user believes, in the same order.

    The user's own and the teams' facts may contradict each other: of a predicate with one value, one fact is chosen.
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


def believed_facts(store: Store, scope: Scope, subject: str, at: int) -> list[Fact]:
    """Returns the facts about a subject that the user believes at a time, the most certain first; [] if none."""
    return one_each(store, scope, [fact for fact in fact_history(store, scope, subject) if holds(fact, at)])


def fact_history(store: Store, scope: Scope, subject: str, predicate: str | None = None) -> list[Fact]:
    """Returns all facts ever stated about a subject, of one predicate if given. A fact that several texts state is
    returned once.
    """
    known = resolve_entity(store, scope, subject) if norm_name(subject) else None
    every = store.facts(scope, [known.id]).get(known.id, []) if known is not None else []
    norm = norm_tag(predicate) if predicate is not None else None
    by_id = {fact.id: fact for fact in every}
    return [f for f in every if norm in (None, f.predicate) and not _is_repetition(f, by_id.get(f.superseded_by or ""))]


def _is_repetition(fact: Fact, successor: Fact | None) -> bool:
    """True if a fact was never valid and has the same value as its successor."""
    return successor is not None and until(fact) <= begins(fact) and value_of(fact) == value_of(successor)
