"""The facts about a subject: those believed at a time, and all that were ever stated."""

from __future__ import annotations

from cuetrail.facts.predicates import one_each
from cuetrail.facts.resolve import resolve_entity
from cuetrail.model import Fact, Scope
from cuetrail.store.ports import Store
from cuetrail.store.shared.fact_validity import begins, holds, until, value_of
from cuetrail.text.normalise import norm_name, norm_tag


def believed_facts(store: Store, scope: Scope, subject: str, at: int) -> list[Fact]:
    """Returns the facts about a subject that hold at a time, the most certain first. An unknown subject has none."""
    return one_each(store, scope, [fact for fact in fact_history(store, scope, subject) if holds(fact, at)])


def fact_history(store: Store, scope: Scope, subject: str, predicate: str | None = None) -> list[Fact]:
    """Returns all facts ever stated about a subject, of one predicate if given; those several texts state, once."""
    known = resolve_entity(store, scope, subject) if norm_name(subject) else None
    every = store.facts(scope, [known.id]).get(known.id, []) if known is not None else []
    norm = norm_tag(predicate) if predicate is not None else None
    by_id = {fact.id: fact for fact in every}
    return [f for f in every if norm in (None, f.predicate) and not _is_repetition(f, by_id.get(f.superseded_by or ""))]


def _is_repetition(fact: Fact, successor: Fact | None) -> bool:
    """True if a fact held at no time and says only what its successor says."""
    return successor is not None and until(fact) <= begins(fact) and value_of(fact) == value_of(successor)
