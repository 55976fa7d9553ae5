"""How a mapping fits a graph: its labels, types, properties and indexes. Only reads; looks at a sample of the data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches

from cuetrail.model.graph_mapping import GraphCheck, GraphFinding, GraphMapping
from cuetrail.store.neo4j.mapped.cypher import has_label
from cuetrail.store.neo4j.mapped.graph import MappedGraph
from cuetrail.text.cypher import ELEMENT_ID, one_of, property_of, quoted

SAMPLE = 10_000
"""How many nodes, and how many relationships, are looked at one by one."""
SHOWN = 12
"""How many names a message lists."""


def check(graph: MappedGraph) -> GraphCheck:
    """Compares the mapping of a graph with the graph; returns the numbers of its nodes and relationships, and findings
    on what fits and what does not.
    """
    mapping = graph.mapping
    names = list(_names(graph, "labels", mapping.labels)) + list(_names(graph, "types", mapping.types))
    nodes = graph.rows(f"MATCH (n{one_of(mapping.labels)}) RETURN count(n)")[0][0]
    edges = graph.rows(f"MATCH ()-[e{one_of(mapping.types)}]->() RETURN count(e)")[0][0]
    findings = [
        *names, *_ids(graph), *_index(graph, nodes), *_ends(graph, edges), *_weights(graph, edges),
        *_tags(graph, edges), *_shown(graph, nodes), *_fulltext(graph),
    ]  # fmt: skip
    return GraphCheck(nodes, edges, min(SAMPLE, max(nodes, edges)), tuple(findings))


def _fits(check: str, message: str) -> GraphFinding:
    return GraphFinding(check, "fits", message)


def _listed(names: Iterable[str]) -> str:
    every = sorted(names)
    return ", ".join(every[:SHOWN]) + (f" and {len(every) - SHOWN} more" if len(every) > SHOWN else "") or "none"


def _names(graph: MappedGraph, what: str, wanted: Sequence[str]) -> Iterator[GraphFinding]:
    """Yields whether the labels or types exist, with how many nodes or relationships have each."""
    one, pattern = ("label", "(x{})") if what == "labels" else ("relationship type", "()-[x{}]->()")
    call = "db.labels() YIELD label" if what == "labels" else "db.relationshipTypes() YIELD relationshipType"
    there = [row[0] for row in graph.rows(f"CALL {call}")]
    if not wanted:
        yield GraphFinding(
            what, "advice", f"every {one} counts, since the mapping names none; there are {_listed(there)}",
            f"name the {what} of your graph, such as {what} = [{', '.join(repr(name) for name in sorted(there)[:2])}]",
        )  # fmt: skip
    for name in wanted:
        count = graph.rows(f"MATCH {pattern.format(one_of([name]))} RETURN count(x)")[0][0] if name in there else 0
        if count:
            noun = "nodes" if what == "labels" else "relationships"
            yield _fits(what, f"{name}: {count:,} {noun}")
            continue
        near = get_close_matches(name, there, 1, 0.5)
        hint = f"did you mean {near[0]}? " if near else ""
        yield GraphFinding(what, "fault", f"nothing has the {one} {name}", f"{hint}There are {_listed(there)}")


def _ids(graph: MappedGraph) -> Iterator[GraphFinding]:
    """Yields whether sampled nodes have ids of the right type, each its own."""
    mapping = graph.mapping
    if mapping.id == ELEMENT_ID:
        yield GraphFinding(
            "id", "advice", "ids are the server's own, which may change when the database is restored",
            "give nodes an id of their own if results are kept",
        )  # fmt: skip
        return
    id_ = property_of("n", mapping.id)
    type_ = "STRING" if mapping.id_type == "text" else "INTEGER"
    ((seen, having, right, different),) = graph.rows(
        f"""MATCH (n{one_of(mapping.labels)}) WITH n LIMIT {SAMPLE}
        RETURN count(n), count({id_}), count(CASE WHEN {id_} IS :: {type_} NOT NULL THEN 1 END),
          count(DISTINCT {id_})"""
    )
    if not seen:
        return
    if not having:
        yield GraphFinding("id", "fault", f"no node has the property {mapping.id}", _properties(graph, mapping))
    elif right < having:
        other = "integer" if mapping.id_type == "text" else "text"
        yield GraphFinding(
            "id", "fault", f"{having - right:,} of {having:,} ids are not of the type {mapping.id_type}",
            f'set id_type = "{other}" if all are; otherwise those nodes are not found',
        )  # fmt: skip
    elif different < having:
        yield GraphFinding(
            "id", "fault", f"{having - different:,} of {having:,} nodes have the id of another",
            "make ids unique, or name only labels whose ids are; one node of each id is found now",
        )  # fmt: skip
    elif having < seen:
        yield GraphFinding(
            "id", "advice", f"{seen - having:,} of {seen:,} nodes have no {mapping.id}: they are not reached",
            "give them one if they should be",
        )  # fmt: skip
    else:
        yield _fits("id", f"{mapping.id}: a {mapping.id_type} of its own for each of {seen:,} nodes")


def _properties(graph: MappedGraph, mapping: GraphMapping) -> str:
    """Returns an advice with the properties that sampled nodes have."""
    query = f"MATCH (n{one_of(mapping.labels)}) WITH n LIMIT 1000 UNWIND keys(n) AS key RETURN DISTINCT key"
    return f"name the property that has it; there are {_listed(row[0] for row in graph.rows(query))}"


def _edge_properties(graph: MappedGraph, mapping: GraphMapping) -> str:
    query = f"MATCH ()-[e{one_of(mapping.types)}]->() WITH e LIMIT 1000 UNWIND keys(e) AS key RETURN DISTINCT key"
    return f"there are {_listed(row[0] for row in graph.rows(query))}"


def _index(graph: MappedGraph, nodes: int) -> Iterator[GraphFinding]:
    """Yields, for each label, whether an index finds its nodes by id."""
    mapping = graph.mapping
    if mapping.id == ELEMENT_ID or not nodes:
        return
    found = graph.rows("SHOW INDEXES YIELD type, entityType, labelsOrTypes, properties, state")
    indexed = {
        label
        for type_, entity, labels, properties, state in found
        if entity == "NODE" and type_ in ("RANGE", "TEXT") and state == "ONLINE" and properties == [mapping.id]
        for label in labels
        if type_ == "RANGE" or mapping.id_type == "text"
    }
    if not mapping.labels:
        yield GraphFinding(
            "index", "advice", f"every level reads all {nodes:,} nodes: an index belongs to a label",
            "name the labels of your graph in the mapping",
        )  # fmt: skip
    for label in mapping.labels:
        if label in indexed:
            yield _fits("index", f"{label}({mapping.id}) is indexed")
        else:
            yield GraphFinding(
                "index", "advice", f"{label}({mapping.id}) has no index: every level reads all nodes of this label",
                f"CREATE INDEX FOR (n:{quoted(label)}) ON (n.{quoted(mapping.id)})",
            )  # fmt: skip


def _ends(graph: MappedGraph, edges: int) -> Iterator[GraphFinding]:
    """Yields whether sampled relationships have nodes of the graph at both ends."""
    mapping = graph.mapping
    if not edges:
        return
    ((seen, inside),) = graph.rows(
        f"""MATCH (a)-[e{one_of(mapping.types)}]->(b) WITH a, b LIMIT {SAMPLE}
        RETURN count(*), count(CASE WHEN {has_label("a", mapping)} AND {has_label("b", mapping)} THEN 1 END)"""
    )
    if inside < seen:
        yield GraphFinding(
            "ends", "advice" if inside else "fault",
            f"{seen - inside:,} of {seen:,} relationships lead out of the graph: they count in degrees, and are not "
            "followed",
            "name the labels at their ends too, or fewer types",
        )  # fmt: skip
    else:
        yield _fits("ends", f"both ends of {seen:,} relationships are in the graph")


def _weights(graph: MappedGraph, edges: int) -> Iterator[GraphFinding]:
    """Yields whether sampled weights are numbers above 0 and at most 1."""
    mapping = graph.mapping
    if not edges:
        return
    if mapping.weight is None:
        yield GraphFinding(
            "weight", "advice", f"no weights: every relationship counts {mapping.missing_weight:g}",
            "set missing_weight, such as 0.5" if mapping.missing_weight < 0.05 else "",
        )  # fmt: skip
        return
    weight = property_of("e", mapping.weight)
    ((seen, having, numbers, low, high, outside),) = graph.rows(
        f"""MATCH ()-[e{one_of(mapping.types)}]->() WITH {weight} AS w LIMIT {SAMPLE}
        WITH w, CASE WHEN w IS :: INTEGER | FLOAT THEN toFloat(w) END AS x
        RETURN count(*), count(w), count(x), min(x), max(x),
          count(CASE WHEN x <= 0 OR x > {mapping.weight_scale!r} THEN 1 END)"""
    )
    if not having:
        yield GraphFinding("weight", "fault", f"no relationship has the property {mapping.weight}: every one counts "
                           f"{mapping.missing_weight:g}", _edge_properties(graph, mapping))  # fmt: skip
    elif numbers < having:
        yield GraphFinding("weight", "fault", f"{having - numbers:,} of {having:,} weights are no numbers: they count "
                           "as missing", "store them as numbers")  # fmt: skip
    elif outside:
        yield GraphFinding(
            "weight", "fault", f"weights are from {low:g} to {high:g}: {outside:,} are not above 0 and at most "
            f"{mapping.weight_scale:g}, and count as 0 or 1",
            f"set weight_scale = {high:g}, so that the largest counts as 1" if high > mapping.weight_scale else
            "give them a weight above 0",
        )  # fmt: skip
    else:
        rest = f"; {seen - having:,} have none and count {mapping.missing_weight:g}" if having < seen else ""
        yield _fits("weight", f"{mapping.weight}: from {low:g} to {high:g}{rest}")


def _tags(graph: MappedGraph, edges: int) -> Iterator[GraphFinding]:
    """Yields whether sampled relationships have tags that can be read."""
    mapping = graph.mapping
    if not edges:
        return
    if mapping.tags is None:
        yield GraphFinding("tags", "advice", "no tags: the tags of a query lower every energy alike", "")
        return
    tags = property_of("e", mapping.tags)
    ((seen, having, lists, texts, joined),) = graph.rows(
        f"""MATCH ()-[e{one_of(mapping.types)}]->() WITH {tags} AS t LIMIT {SAMPLE}
        RETURN count(*), count(t), count(CASE WHEN t IS :: LIST<STRING NOT NULL> NOT NULL THEN 1 END),
          count(CASE WHEN t IS :: STRING NOT NULL THEN 1 END),
          count(CASE WHEN t IS :: STRING NOT NULL AND t CONTAINS ',' THEN 1 END)"""
    )
    if not having:
        yield GraphFinding("tags", "advice", f"no relationship has the property {mapping.tags}",
                           _edge_properties(graph, mapping))  # fmt: skip
    elif lists + texts < having:
        yield GraphFinding("tags", "fault", f"{having - lists - texts:,} of {having:,} tags are neither a list of "
                           "texts nor a text: they are not read", "name another property")  # fmt: skip
    elif joined and mapping.tag_separator is None:
        yield GraphFinding("tags", "advice", f"{joined:,} of {having:,} tags are one text with commas",
                           'set tag_separator = ","')  # fmt: skip
    else:
        yield _fits("tags", f"{mapping.tags}: on {having:,} of {seen:,} relationships")


def _shown(graph: MappedGraph, nodes: int) -> Iterator[GraphFinding]:
    """Yields which of name, text and time sampled nodes have."""
    mapping = graph.mapping
    for what in ("name", "text", "time") if nodes else ():
        name = getattr(mapping, what)
        if name is None:
            continue
        ((seen, having),) = graph.rows(
            f"MATCH (n{one_of(mapping.labels)}) WITH n LIMIT {SAMPLE} RETURN count(n), count({property_of('n', name)})"
        )
        if having:
            yield _fits(what, f"{name}: on {having:,} of {seen:,} nodes")
        else:
            yield GraphFinding(what, "advice", f"no node has the property {name}", _properties(graph, mapping))


def _fulltext(graph: MappedGraph) -> Iterator[GraphFinding]:
    """Yields whether the full-text index can be searched, or which there are."""
    mapping = graph.mapping
    found = graph.rows("SHOW INDEXES YIELD name, type, entityType, labelsOrTypes, properties, state")
    usable = {
        name: (labels, properties)
        for name, type_, entity, labels, properties, state in found
        if type_ == "FULLTEXT" and entity == "NODE" and state == "ONLINE"
    }
    if mapping.fulltext in usable:
        labels, properties = usable[mapping.fulltext]
        yield _fits("fulltext", f"{mapping.fulltext}: {', '.join(properties)} of {', '.join(labels)}")
        return
    there = f"there are {_listed(usable)}" if usable else _how_to_index(mapping)
    if mapping.fulltext is None:
        message = "no full-text index is named: activations begin with ids, not with a question"
        yield GraphFinding("fulltext", "advice", message, there)
    else:
        message = f"there is no full-text index {mapping.fulltext} on nodes that is ready"
        yield GraphFinding("fulltext", "fault", message, there)


def _how_to_index(mapping: GraphMapping) -> str:
    """Returns the statement that makes a full-text index for the texts and names of a mapping; "there is none" if the
    mapping names no labels or neither of them.
    """
    named = [f"n.{quoted(name)}" for name in (mapping.name, mapping.text) if name]
    if not mapping.labels or not named:
        return "there is none"
    labels = "|".join(map(quoted, mapping.labels))
    name = mapping.fulltext or "texts"
    return f"CREATE FULLTEXT INDEX {quoted(name)} FOR (n:{labels}) ON EACH [{', '.join(named)}]"
