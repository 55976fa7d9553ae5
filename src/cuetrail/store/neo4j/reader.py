"""Reads for one scope inside one transaction, and the filters on nodes and edges as Cypher conditions.

No method returns anything outside the scope.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any, Literal

from cuetrail.model import STORYLINE_KINDS, UNKNOWN_WEIGHT, Edge, Neighbour, Neighbourhood, Node, Scope, Version, Where
from cuetrail.store.graph import DREAMT, EdgeFilter
from cuetrail.store.neo4j import rows as made
from cuetrail.store.neo4j.connection import Tx, chunks, rows
from cuetrail.store.neo4j.ids import Ids, RecordId
from cuetrail.store.neo4j.rows import short, uid
from cuetrail.store.neo4j.schema import NAME_INDEX
from cuetrail.store.read import NameKey
from cuetrail.store.search import NameMatch
from cuetrail.store.shared.ids import SIGN
from cuetrail.store.shared.property_filter import patterns
from cuetrail.store.shared.tombstones import copy_test
from cuetrail.text.names import ids_by_name
from cuetrail.text.normalise import storable, words_in_names

_TWO63 = 1 << 63
# Seeks the nodes of some kinds and partitions in an index of three fields. The server uses it only if the query says
# something of all three, so the query says that a node has a key, which each has.
BY_KIND = "USING INDEX SEEK n:CueNode(part, kind, key)"
HAS_KEY = "n.key IS NOT NULL"


def node_filter(where: Where) -> tuple[str, dict[str, Any]]:
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
    for number, (name, value) in enumerate(where.props):
        parts.append(f"any(pair IN $w_props{number} WHERE n.props CONTAINS pair)")
        given[f"w_props{number}"] = patterns(name, value)
    if not where.quarantined:
        parts.append("n.provenance <> 'quarantine'")
    if not where.archived:
        parts.append("(n.state IS NULL OR n.state <> 'archived')")
    if where.with_text:
        parts.append("(n.text <> '' OR n.kind = 'source')")
    return "".join(f" AND {part}" for part in parts), given


def search_filter(where: Where) -> tuple[str, dict[str, Any]]:
    """Returns the condition of `node_filter` for a search, and its parameters. Storylines and macros, which dreams
    write, pass only if `where.kinds` names them.
    """
    passing, given = node_filter(where)
    if where.kinds:
        return passing, given
    return f"{passing} AND NOT n.kind IN $w_storylines", given | {"w_storylines": list(STORYLINE_KINDS)}


# The number of a partition in which nothing was written yet: no record has it.
NOWHERE = -1
# The two ends of an edge or a fact, with the columns that determine their ids in a scope.
ENDS = "a.key, a.id, a.part, b.key, b.id, b.part"
# A condition that a record's partition is among some. Without the sum, a server that planned while it had few records
# would read all records of the partitions for each node, and keep that plan for a while. For the same reason the other
# end of an edge is not labelled CueNode: the server would read all nodes by an index and test which are joined to the
# one.
AMONG = "{}.part + 0 IN {}"
_STRONGEST = f"""UNWIND $keys AS key MATCH (n:CueNode {{key: key}})
CALL (n) {{
  MATCH (n)-[e:CUE_EDGE]-(m) WHERE {AMONG.format("e", "$parts")} AND m.part IN $parts
  WITH n, e, m ORDER BY coalesce(e.weight, {UNKNOWN_WEIGHT}) DESC, m.id, e.id LIMIT $limit
  RETURN collect([m.key, m.id, m.part, e.uid, e.id, e.part, e.kind, e.weight, e.tags, startNode(e) = n]) AS steps
}}
RETURN key, COUNT {{ (n)-[x:CUE_EDGE]-() WHERE {AMONG.format("x", "$parts")} }}, steps"""
_DEGREES = f"""UNWIND $keys AS key MATCH (n:CueNode {{key: key}})
RETURN key, COUNT {{ (n)-[x:CUE_EDGE]-() WHERE {AMONG.format("x", "$parts")} }}, []"""
_NAMED = """UNWIND $uids AS uid MATCH (m:{0} {{uid: uid}})<-[:{1}]-(n) USING INDEX SEEK m:{0}(uid)
RETURN m.norm, n.key, n.id, n.part"""
_QUALIFIED = """UNWIND $begun AS begun UNWIND [begun[0] + ' (', begun[0] + ', '] AS start
MATCH (m:{0}) WHERE m.uid STARTS WITH start MATCH (m)<-[:{1}]-(n:CueNode)
RETURN begun[1], m.norm, n.key, n.id, n.part"""
_NAME_LABELS: dict[NameKey, tuple[str, str]] = {"name": ("CueName", "CUE_NAMED"), "topic": ("CueTopic", "CUE_KNOWN")}
_BESIDE = """UNWIND $keys AS key MATCH (n:CueNode {{key: key}}) WHERE n.file IS NOT NULL AND n.seq >= 0
CALL (n) {{
  MATCH (o:CueNode) WHERE o.part = n.part AND o.file = n.file AND o.seq {}
  RETURN o ORDER BY o.seq {}, o.key {} LIMIT 1
}}
RETURN key, o.key, o.id, o.part"""
_BEFORE, _BEHIND = _BESIDE.format("< n.seq AND o.seq >= 0", "DESC", "DESC"), _BESIDE.format("> n.seq", "", "")
_ALIKE = f"""CALL db.index.fulltext.queryNodes('{NAME_INDEX}', $query) YIELD node AS m, score
WHERE m.part IN $parts WITH m, score ORDER BY score DESC LIMIT $limit
MATCH (m)<-[:CUE_NAMED]-(n:CueNode) WITH DISTINCT n RETURN n.key, n.id, n.part, n.kind, n.name, n.aliases"""


class Reader:
    """The records that one scope sees, in one transaction. The ports document the methods without a docstring."""

    def __init__(self, tx: Tx, scope: Scope) -> None:
        self.tx = tx
        self.scope = scope
        self.ids = Ids(tx, scope)
        self.parts = self.ids.parts
        self.home = NOWHERE if self.ids.home is None else self.ids.home

    # --- nodes

    def nodes(self, ids: Sequence[str]) -> dict[str, Node]:
        """Returns nodes by id, in the given order; missing ones are absent."""
        keys = self.ids.keys(ids)
        by_key = self.plain_nodes(list(keys.values()))
        # A plain id is also the one that the node has in this scope; one with an owner may have a shorter one.
        if named := [key for id_, key in keys.items() if SIGN in id_]:
            by_key |= self.nodes_by_key(named)
        return {id_: by_key[key] for id_, key in keys.items() if key in by_key}

    def plain_nodes(self, keys: Sequence[int]) -> dict[int, Node]:
        """Returns visible nodes by key, in the given order, under their plain ids, which are without owner."""
        found: dict[int, Node] = {}
        query = f"UNWIND $keys AS key MATCH (n:CueNode {{key: key}}) WHERE n.part IN $parts RETURN {made.NODE}"
        for some in chunks(keys):
            for (node,) in rows(self.tx, query, keys=some, parts=self.parts):
                found[node["key"]] = made.to_node(node, self.ids.whose[node["part"]])
        return {key: found[key] for key in keys if key in found}

    def nodes_by_key(self, keys: Sequence[int]) -> dict[int, Node]:
        """Returns visible nodes by key, with the ids they have in this scope."""
        found = self.plain_nodes(keys)
        if len(self.parts) < 2:
            return found
        part_of = {whose: part for part, whose in self.ids.whose.items()}
        names = self.ids.names(RecordId(key, n.id, part_of[n.owner, n.team]) for key, n in found.items())
        return {key: replace(node, id=names[key]) for key, node in found.items()}

    def ids_with_prefix(self, prefix: str, limit: int, of: Literal["node", "fact"] = "node") -> list[str]:
        if limit <= 0 or not storable(prefix):
            return []
        if of == "fact":
            query = (
                "MATCH (f:CueFact) WHERE f.uid STARTS WITH $start RETURN f.uid, f.id, f.part ORDER BY f.uid LIMIT $most"
            )
            starts = [uid(part, prefix) for part in self.parts]
            found = [row for start in starts for row in rows(self.tx, query, start=start, most=min(limit, 2**31))]
            return sorted(self.ids.names((RecordId(*row) for row in found), "fact").values())[:limit]
        if short(prefix) != prefix:
            return []
        query = (
            "MATCH (n:CueNode) WHERE n.part IN $parts AND n.ref STARTS WITH $prefix"
            " RETURN n.key, n.id, n.part ORDER BY n.id LIMIT $limit"
        )
        found = rows(self.tx, query, parts=self.parts, prefix=prefix, limit=limit)
        return sorted(self.ids.names(RecordId(*row) for row in found).values())

    def named(self, norms: Sequence[str], qualified: int = 0, by: NameKey = "name") -> dict[str, list[str]]:
        named, begins = _NAMED.format(*_NAME_LABELS[by]), _QUALIFIED.format(*_NAME_LABELS[by])
        uids = [uid(part, norm) for norm in dict.fromkeys(norms) if storable(norm) for part in self.parts]
        carriers = [row for some in chunks(uids) for row in rows(self.tx, named, uids=some)]
        names = self.ids.names(RecordId(*row[1:]) for row in carriers)
        asked = dict.fromkeys(norm for norm in norms if qualified and storable(norm))
        begun = [[uid(part, norm), norm] for norm in asked for part in self.parts]
        longer = [row for some in chunks(begun) for row in rows(self.tx, begins, begun=some)]
        names |= self.ids.names(RecordId(*row[2:]) for row in longer)
        exact = ((row[0], names[row[1]]) for row in carriers)
        return ids_by_name(exact, ((row[0], row[1], names[row[2]]) for row in longer), qualified)

    def beside(self, ids: Sequence[str]) -> dict[str, list[str]]:
        keys = self.ids.keys(ids)
        found: dict[int, list[RecordId]] = {}
        for query in (_BEFORE, _BEHIND):
            for some in chunks(list(keys.values())):
                for key, *row in rows(self.tx, query, keys=some):
                    found.setdefault(key, []).append(RecordId(*row))
        names = self.ids.names(one for others in found.values() for one in others)
        return {id_: [names[one.handle] for one in found[key]] for id_, key in keys.items() if key in found}

    def named_like(self, words: Collection[str], beginnings: Collection[str], limit: int) -> list[NameMatch]:
        wanted = [f'"{word}"' for word in sorted(words)] + [f"{word}*" for word in sorted(beginnings)]
        if not wanted or limit <= 0:
            return []
        found = rows(self.tx, _ALIKE, query=" ".join(wanted), parts=self.parts, limit=min(limit, 2**31))
        names = self.ids.names(RecordId(*row[:3]) for row in found)
        alike = []
        for key, _, part, kind, name, aliases in found:
            has = words_in_names(name, aliases or ())
            shared = len(has & set(words)) + sum(any(word.startswith(start) for word in has) for start in beginnings)
            if shared:
                alike.append(
                    NameMatch(names[key], kind, name or "", tuple(aliases or ()), shared, self.ids.whose[part][0])
                )
        return sorted(alike, key=lambda one: (-one.shared, one.id))[:limit]

    def copies(self, nodes: Sequence[Node]) -> list[Node]:
        """Returns the user's other nodes with the same text but for case, spacing and markup. Reads every text once."""
        lengths, is_copy = copy_test(nodes)
        if lengths is None:
            return []
        # Lengths rule out most texts before they are sent and normalised.
        squeezed = "size(replace(replace(replace(n.text, ' ', ''), '\\n', ''), '\\t', ''))"
        query = (
            f"MATCH (n:CueNode) WHERE n.part IN $mine AND n.text <> '' AND $low <= {squeezed} <= $high"
            " RETURN n.key, n.id, n.part, n.text, n.props"
        )
        same = []
        # The server counts a character beyond the first 65,536 twice.
        given = {"low": lengths[0], "high": 2 * lengths[1]}
        for *row, text, props in rows(self.tx, query, mine=self.ids.mine, **given):
            if is_copy(text, made.unpack(props) if props and "speaker" in props else {}):
                same.append(RecordId(*row))
        others = sorted(set(self.ids.names(same).values()) - {node.id for node in nodes})
        return list(self.nodes(others).values())

    # --- edges

    def ends(self, found: Sequence[list[Any]]) -> dict[int | str, str]:
        """Returns by key the ids in this scope of nodes in the last six columns: twice key, plain id and partition."""
        sides = [RecordId(*row[at:][:3]) for row in found for at in (-6, -3) if row[at] is not None]
        # Records no longer shared with this user keep their plain id.
        visible = [one for one in dict.fromkeys(sides) if one.part in self.ids.whose]
        return {one.handle: one.id for one in sides} | self.ids.names(visible)

    def made_edges(self, found: Sequence[list[Any]]) -> list[Edge]:
        """Converts rows of (properties, ENDS) to edges, with the ids that they and their nodes have in this scope."""
        names = self.ends(found)
        called = self.ids.names((RecordId(e["uid"], e["id"], e["part"]) for e, *_ in found), "edge")
        edges = [made.to_edge(row[0], names[row[1]], names[row[4]]) for row in found]
        return [replace(edge, id=str(called[row[0]["uid"]])) for row, edge in zip(found, edges, strict=True)]

    def edges(self, ids: Sequence[str]) -> dict[str, Edge]:
        """Returns edges by id, in the given order; edges that lead to an invisible node are absent."""
        meant = self.ids.seek(ids, "edge")
        query = (
            "UNWIND $uids AS uid MATCH (a)-[e:CUE_EDGE {uid: uid}]->(b) USING INDEX SEEK e:CUE_EDGE(uid)"
            f" WHERE a.part IN $parts AND b.part IN $parts RETURN {made.EDGE_MAP}, {ENDS}"
        )
        uids = [one.handle for one in meant.values()]
        found = [row for some in chunks(uids) for row in rows(self.tx, query, uids=some, parts=self.parts)]
        by_uid = {row[0]["uid"]: edge for row, edge in zip(found, self.made_edges(found), strict=True)}
        return {id_: by_uid[one.handle] for id_, one in meant.items() if one.handle in by_uid}

    def neighbours(self, ids: Sequence[str], limit: int) -> dict[str, Neighbourhood]:
        keys = self.ids.keys(ids)
        found: dict[int, tuple[int, list[list[Any]]]] = {}
        for some in chunks(list(keys.values())):
            query = _STRONGEST if limit > 0 else _DEGREES
            for key, degree, steps in rows(self.tx, query, keys=some, parts=self.parts, limit=min(limit, 2**31)):
                found[key] = (degree, steps)
        every = [step for _, steps in found.values() for step in steps]
        names = self.ids.names(RecordId(*step[:3]) for step in every)
        edges = self.ids.names((RecordId(*step[3:6]) for step in every), "edge")
        around = {
            key: Neighbourhood(
                degree,
                tuple(
                    Neighbour(names[s[0]], edges[s[3]], s[6], s[7], tuple(s[8] or ()), s[9]) for s in steps
                ),
            )
            for key, (degree, steps) in found.items()
        }  # fmt: skip
        return {id_: around[key] for id_, key in keys.items() if key in around}

    def edge_tags(self, names: Sequence[str] | None = None) -> list[str]:
        wanted = None if names is None else [name for name in dict.fromkeys(names) if storable(name)]
        query = (
            "MATCH ()-[e:CUE_EDGE]->() WHERE e.part IN $parts AND e.tags IS NOT NULL UNWIND e.tags AS tag"
            " WITH DISTINCT tag WHERE $wanted IS NULL OR tag IN $wanted RETURN tag"
        )
        return sorted(tag for (tag,) in rows(self.tx, query, parts=self.parts, wanted=wanted))

    def history(self, id_: str) -> list[Version]:
        if not storable(id_):
            return []
        one = self.ids.seek([id_], mine=True).get(id_)
        # The history of a removed node stays, under its plain id.
        parts, bare = ([one.part], one.id) if one else (self.ids.mine, id_)
        query = "MATCH (v:CueVersion) WHERE v.part IN $parts AND v.ref = $ref RETURN v.at, v.name, v.text ORDER BY v.at"
        return [Version(id_, *row) for row in rows(self.tx, query, parts=parts, ref=short(bare))]


def edge_filter(ties: EdgeFilter) -> tuple[str, dict[str, Any]]:
    """Returns the filters as Cypher conditions on the edge `e`, each beginning with AND, and their parameters."""
    tests: list[str] = []
    given: dict[str, Any] = {}
    for name, test in (
        ("kinds", "e.kind IN $t_kinds"),
        ("types", "toLower(coalesce(e.type, '')) IN $t_types"),
        ("exclude_types", "NOT toLower(coalesce(e.type, '')) IN $t_exclude_types"),
    ):
        if values := getattr(ties, name):
            tests.append(test)
            given[f"t_{name}"] = list(values)
    for field in ("attitude", "proximity"):
        for bound, sign in (("min", ">="), ("max", "<=")):
            if (value := getattr(ties, f"{bound}_{field}")) is not None:
                tests.append(f"e.{field} {sign} $t_{bound}_{field}")
                given[f"t_{bound}_{field}"] = value
    if ties.at is not None:
        tests += ["coalesce(e.valid_from, $t_at) <= $t_at", "(e.valid_until IS NULL OR $t_at < e.valid_until)"]
        given["t_at"] = ties.at
    if ties.stated:
        tests.append("e.via IS NULL")
    if ties.undreamt:
        tests.append(f"NOT coalesce(e.via, '') STARTS WITH '{DREAMT}'")
    return "".join(f" AND {test}" for test in tests), given
