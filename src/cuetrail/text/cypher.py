"""Names and values in Cypher: labels, types and properties in backticks, ids as literals."""

from __future__ import annotations

import json
from collections.abc import Sequence

ELEMENT_ID = "elementId()"
"""In place of the name of a property: the server's own id."""


def quoted(name: str) -> str:
    """Returns a name in backticks, as it may stand in a query.

    >>> quoted("my `label`")
    '`my ``label```'
    """
    # The server reads \\u0060 in a query as a backtick before it parses names.
    return "`" + name.replace("\\", "\\u005C").replace("`", "``") + "`"


def one_of(names: Sequence[str]) -> str:
    """Returns the part of a pattern that names labels or types, of which one must fit; "" for any.

    >>> one_of(["A", "B"]), one_of([])
    (':`A`|`B`', '')
    """
    return ":" + "|".join(map(quoted, names)) if names else ""


def property_of(entity: str, name: str | None) -> str:
    """Returns the expression for a property of a node or relationship, `null` for none.

    >>> property_of("n", "my id"), property_of("n", None), property_of("n", "elementId()")
    ('n.`my id`', 'null', 'elementId(n)')
    """
    if name == ELEMENT_ID:
        return f"elementId({entity})"
    return "null" if name is None else f"{entity}.{quoted(name)}"


def id_of(entity: str, name: str) -> str:
    """Returns the expression for an id as text."""
    found = property_of(entity, name)
    return found if name == ELEMENT_ID else f"toStringOrNull({found})"


def literal(value: str | float | None) -> str:
    """Returns a text, a number or null as a literal; JSON escapes the same characters.

    >>> literal('a "b"'), literal(0.5), literal(None)
    ('"a \\\\"b\\\\""', '0.5', 'null')
    """
    return json.dumps(value)
