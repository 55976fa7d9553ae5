"""Filters on nodes, as a Cypher condition and as clauses of the full-text index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cuetrail.model import DERIVED, Where
from cuetrail.store.neo4j.rows import mark, moment

_TWO63 = 1 << 63
# Seeks the nodes of some kinds and partitions in an index of three fields. The server uses it only if the query says
# something of all three, so the query says that a node has a key, which each has.
BY_KIND = "USING INDEX SEEK n:CueNode(part, kind, key)"
HAS_KEY = "n.key IS NOT NULL"


def condition(where: Where) -> tuple[str, dict[str, Any]]:
    """Returns a Cypher condition on the node `n`, which begins with AND or is empty, and its parameters."""
    parts: list[str] = []
    given: dict[str, Any] = {}
    if where.tags:
        parts.append("all(tag IN $w_tags WHERE tag IN n.tags)")
        given["w_tags"] = list(where.tags)
    if where.buckets:
        parts.append("any(bucket IN $w_buckets WHERE bucket IN n.buckets)")
        given["w_buckets"] = list(where.buckets)
    if where.kinds:
        parts.append("n.kind IN $w_kinds")
        given["w_kinds"] = list(where.kinds)
    for name, sign, at in (("w_since", ">=", where.since), ("w_until", "<=", where.until)):
        if at is not None:
            parts.append(f"n.at {sign} ${name}")
            given[name] = max(-_TWO63, min(at, _TWO63 - 1))
    if not where.quarantined:
        parts.append("n.provenance <> 'quarantine'")
    if not where.archived:
        parts.append("(n.state IS NULL OR n.state <> 'archived')")
    if where.with_text:
        parts.append("(n.text <> '' OR n.kind = 'source')")
    return "".join(f" AND {part}" for part in parts), given


def condition_of_search(where: Where) -> tuple[str, dict[str, Any]]:
    """The same for a search: nodes told by dreams are found only if their kind is asked for."""
    passing, given = condition(where)
    if where.kinds:
        return passing, given
    return f"{passing} AND NOT n.kind IN $w_derived", given | {"w_derived": list(DERIVED)}


def any_of(field: str, words: Sequence[str]) -> str:
    """Returns a clause for documents with one of these words."""
    # Quoted, so that no word acts as an operator.
    return "(" + " ".join(f'{field}:"{word}"' for word in words) + ")"


def must(query: str) -> str:
    """Returns the query as a required clause that adds nothing to the score."""
    return f"+({query})^0"


def clauses(parts: Sequence[int], where: Where) -> list[str]:
    """Returns the filters as clauses of the full-text index."""
    found = [must(any_of("marks", [f"p{part}" for part in parts]))]
    found += [must(any_of("marks", [mark("t", tag)])) for tag in where.tags]
    for letter, names in (("b", where.buckets), ("k", where.kinds)):
        if names:
            found.append(must(any_of("marks", [mark(letter, name) for name in names])))
    if where.since is not None or where.until is not None:
        low = moment(-_TWO63 if where.since is None else where.since)
        high = moment(_TWO63 if where.until is None else where.until)
        found.append(must(f"moment:[{low} TO {high}]"))
    if not where.quarantined:
        found.append("-marks:xquarantine")
    if not where.archived:
        found.append("-marks:xarchived")
    if not where.kinds:
        found.append("-marks:xderived")
    if where.with_text:
        found.append("-marks:xbare")
    return found
