"""Fragments of Cypher for a mapping: nodes by their ids, and the weight and tags of relationships.

Names of labels, types and properties are part of a query; everything else is passed as a parameter.
"""

from __future__ import annotations

from cuetrail.model import UNKNOWN_WEIGHT
from cuetrail.model.graph_mapping import GraphMapping
from cuetrail.text.cypher import one_of, property_of, quoted


def has_label(entity: str, mapping: GraphMapping) -> str:
    """Returns the condition that a node is one of the graph: it has a label of the mapping, and an id."""
    labels = f"({entity}{one_of(mapping.labels)}) AND " if mapping.labels else ""
    return f"{labels}{property_of(entity, mapping.id)} IS NOT NULL"


def found_by_id(asked: str, scope: str, mapping: GraphMapping) -> str:
    """Returns a subquery that finds the node `o` whose id equals the expression `asked`; of several with one id, one.

    `scope` are the variables that it sees. One index serves one label, so each label has a match of its own.
    """
    matches = [
        f"MATCH (x{label}) WHERE {property_of('x', mapping.id)} = {asked} RETURN x"
        for label in ([f":{quoted(name)}" for name in mapping.labels] or [""])
    ]
    inner = "\n    UNION\n    ".join(matches)
    return (
        f"CALL ({scope}) {{\n  CALL ({scope}) {{\n    {inner}\n  }}\n"
        "  WITH x ORDER BY elementId(x) LIMIT 1 RETURN x AS o\n}"
    )


def weight_of(entity: str, mapping: GraphMapping) -> str:
    """Returns the expression for a weight from 0 to 1, null where there is none; `usable_weight` has the same rule."""
    # A missing weight that counts as usual is null, so that results say that it is missing.
    missing = "null" if mapping.missing_weight == UNKNOWN_WEIGHT else "$map.missing"
    if mapping.weight is None:
        return missing
    raw = property_of(entity, mapping.weight)
    number = f"CASE WHEN {raw} IS :: INTEGER | FLOAT THEN toFloat({raw}) / $map.scale END"
    return (
        f"[w IN [{number}] | CASE WHEN w IS NULL OR isNaN(w) THEN {missing} WHEN w > 1.0 THEN 1.0 "
        "WHEN w < 0.0 THEN 0.0 ELSE w END][0]"
    )


def tags_of(entity: str, mapping: GraphMapping) -> str:
    """Returns the expression for the tags of a relationship, a list of texts, each once."""
    if mapping.tags is None:
        return "[]"
    raw = property_of(entity, mapping.tags)
    split = f"split({raw}, $map.separator)" if mapping.tag_separator else f"[{raw}]"
    every = (
        f"CASE WHEN {raw} IS :: LIST<STRING NOT NULL> NOT NULL THEN {raw} "
        f"WHEN {raw} IS :: STRING NOT NULL THEN {split} ELSE [] END"
    )
    return (
        f"reduce(once = [], tag IN [tag IN {every} | trim(tag)] | "
        "CASE WHEN tag = '' OR tag IN once THEN once ELSE once + tag END)"
    )
