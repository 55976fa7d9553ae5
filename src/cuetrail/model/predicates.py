"""Predicates that have one value at a time: by default, or because a user declared it."""

from __future__ import annotations

from collections.abc import Mapping

SINGLE_VALUED = frozenset(
    {
        "age", "based_in", "birthday", "born_in", "born_on", "deadline", "due", "email", "lives_in", "located_in",
        "name", "status", "timezone", "type",
    }
)  # fmt: skip
"""Predicates that have one value at a time unless declared otherwise: a new value ends the previous one."""


def declaration(tenant: str, user: str, predicate: str = "") -> str:
    """Returns the name of the setting in which a user declares how many values a predicate has at a time. Without a
    predicate, returns the beginning of all such names of the user.
    """
    return "\x1f".join((f"predicate:{tenant}", user, predicate))


def is_single(predicate: str, settings: Mapping[str, str]) -> bool:
    """True if a predicate has one value at a time: as the user declared in `settings`, else as SINGLE_VALUED says."""
    declared = {name.rpartition("\x1f")[2]: value == "single" for name, value in settings.items()}
    return declared.get(predicate, predicate in SINGLE_VALUED)
