"""Examination of a memory on a server, and repair.

The server keeps its own files and indexes in order. The checks cover what the server cannot know: that no record refers
to a missing one, that derived data agrees with the records, and that the indexes exist.
"""

from __future__ import annotations

from typing import NamedTuple

from cuetrail.model import Finding
from cuetrail.model.reports import MENDED, REPAIR
from cuetrail.store.neo4j.connection import Connection, Tx, rows
from cuetrail.store.neo4j.index import vector_spaces
from cuetrail.store.neo4j.index.text_index import index_state
from cuetrail.store.neo4j.schema import statements
from cuetrail.store.vector_space import NO_VECTORS
from cuetrail.store.write import Progress


class _Check(NamedTuple):
    """A problem that exists if the query `find` returns more than 0, and the query `mend` that repairs it."""

    name: str
    problem: str
    find: str
    mend: str


_TRUE_COUNTS = """MATCH (p:CuePlace) WHERE p.part IS NOT NULL
WITH p, COUNT { MATCH (n:CueNode) WHERE n.part = p.part AND (n.tags IS NOT NULL OR n.buckets IS NOT NULL) } AS truth
WHERE truth <> coalesce(p.labelled, 0)"""
_CHECKS = (
    _Check(
        "records",
        "facts, notes or links lead nowhere",
        "MATCH (x:CueFact) WHERE NOT EXISTS { (x)-[:CUE_SUBJECT]->() } OR"
        " (x.value IS NULL AND NOT EXISTS { (x)-[:CUE_OBJECT]->() }) RETURN count(x) UNION ALL"
        " MATCH (x:CueNote) WHERE x.on = 'node' AND NOT EXISTS { (x)-[:CUE_ABOUT]->() } RETURN count(x) UNION ALL"
        " MATCH (x:CueNote) WHERE x.on = 'edge' AND NOT EXISTS { MATCH ()-[e:CUE_EDGE]->() WHERE e.uid = x.edge }"
        " RETURN count(x) UNION ALL MATCH (x:CueLink) WHERE NOT EXISTS { (x)<-[:CUE_LINKS]-() } RETURN count(x)",
        "MATCH (x:CueFact|CueNote|CueLink) WHERE (x:CueFact AND (NOT EXISTS { (x)-[:CUE_SUBJECT]->() }"
        " OR (x.value IS NULL AND NOT EXISTS { (x)-[:CUE_OBJECT]->() })))"
        " OR (x:CueNote AND x.on = 'node' AND NOT EXISTS { (x)-[:CUE_ABOUT]->() })"
        " OR (x:CueNote AND x.on = 'edge' AND NOT EXISTS { MATCH ()-[e:CUE_EDGE]->() WHERE e.uid = x.edge })"
        " OR (x:CueLink AND NOT EXISTS { (x)<-[:CUE_LINKS]-() }) DETACH DELETE x",
    ),
    _Check(
        "labels",
        "tags, buckets or names are kept that no memory has",
        "MATCH (t:CueTag|CueBucket|CueName|CueTopic) WHERE NOT EXISTS { (t)--() } RETURN count(t)",
        "MATCH (t:CueTag|CueBucket|CueName|CueTopic) WHERE NOT EXISTS { (t)--() } DELETE t",
    ),
    _Check(
        "counts",
        "the number of memories with tags or buckets is not the true one",
        f"{_TRUE_COUNTS} RETURN count(p)",
        f"{_TRUE_COUNTS} SET p.labelled = truth",
    ),
)
_UNLABELLED = """MATCH (n:CueNode) WHERE size(coalesce(n.tags, [])) <> COUNT { (n)-[:CUE_TAGGED|CUE_TIMED]->() }
OR size([one IN coalesce(n.tag_origins, []) WHERE one = 'user']) <> COUNT { (n)-[:CUE_TAGGED {own: true}]->() }
OR size(coalesce(n.buckets, [])) <> COUNT { (n)-[:CUE_FILED]->() } RETURN count(n)"""
_INDEXES = "SHOW INDEXES YIELD name, state WHERE name STARTS WITH 'cue_' RETURN name, state"


def examine(connection: Connection, repair: bool, progress: Progress | None) -> list[Finding]:
    """Returns the problems found. With `repair`, repairs those it can; the findings say which."""
    found = _indexes(connection, repair)
    for number, check in enumerate(_CHECKS, 1):
        if progress:
            progress("examining", number, len(_CHECKS))

        def work(tx: Tx, check: _Check = check) -> bool:
            wrong = any(count for (count,) in rows(tx, check.find))
            if wrong and repair:
                rows(tx, check.mend)
            return wrong

        if (connection.writing if repair else connection.reading)(work):
            found.append(Finding(check.name, check.problem, MENDED if repair else REPAIR))
    if connection.reading(lambda tx: rows(tx, _UNLABELLED))[0][0]:
        found.append(
            Finding("labels", "memories are not found by all of their tags and buckets", "export and import them again")
        )
    return found


def _indexes(connection: Connection, repair: bool) -> list[Finding]:
    """Returns a finding for each index that is missing or that the server could not build.

    With `repair`, these indexes are made again.
    """
    states: dict[str, str] = dict(connection.reading(lambda tx: rows(tx, _INDEXES)))
    makes = statements(connection.reading(index_state).name)
    wanted = list(makes)
    held = connection.reading(vector_spaces.held)
    wanted += vector_spaces.index_names(held) if held is not None else []
    bad = [name for name in wanted if states.get(name, "GONE") in ("GONE", "FAILED")]
    if bad and repair:
        connection.schema([f"DROP INDEX {name} IF EXISTS" for name in bad if states.get(name) == "FAILED"])
        connection.schema([*makes.values(), "CALL db.awaitIndexes(300)"])
        if held is not None and held != NO_VECTORS:
            vector_spaces.make_index(connection, held)
    fix = MENDED if repair else REPAIR
    return [Finding("indexes", f"the index {name} is missing or broken", fix) for name in bad]
