"""Which predicates have one value at a time: some by nature, others because a user declared it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cuetrail.model import Fact, Scope
from cuetrail.store.base import Store
from cuetrail.store.timeline import believed_of

SINGLE_VALUED = frozenset(
    {
        "age", "based_in", "birthday", "born_in", "born_on", "deadline", "due", "email", "lives_in", "located_in",
        "name", "status", "timezone", "type",
    }
)  # fmt: skip
"""Predicates that have one value at a time, unless declared otherwise: a new value ends the one before."""


def declaration(scope: Scope, predicate: str = "") -> str:
    """The name under which the memory keeps what a user declared of a predicate."""
    return "\x1f".join((f"predicate:{scope.tenant}", scope.user, predicate))


def single_valued(store: Store, scope: Scope, predicates: Iterable[str]) -> set[str]:
    """Those of the predicates that have one value at a time, by what this user declared, else by nature."""
    said = {name.rpartition("\x1f")[2]: value == "single" for name, value in store.kept(declaration(scope)).items()}
    return {predicate for predicate in predicates if said.get(predicate, predicate in SINGLE_VALUED)}


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
