"""Words that a memory still stores somewhere: in the bytes of its directory, or in the graph on a server."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from cuetrail import Memory
from cuetrail.store.neo4j import Neo4jStore
from cuetrail.store.neo4j.connection import rows


def traces(memory: Memory, words: Iterable[str]) -> list[tuple[str, str]]:
    """(where, word) of each word that is left anywhere, in any case: in a file, or in a property of the graph."""
    places = _properties(memory.store) if isinstance(memory.store, Neo4jStore) else _files(Path(memory.address))
    return sorted({(where, word) for where, said in places for word in words if word.lower() in said})


def _files(directory: Path) -> Iterable[tuple[str, str]]:
    for file in sorted(directory.rglob("*")):
        if file.is_file():
            data = file.read_bytes()
            # Bytes of UTF-8 and of UTF-16 below 128 are letters in both readings.
            yield str(file.relative_to(directory)), data.decode("latin-1").lower()
            yield str(file.relative_to(directory)), data.replace(b"\0", b"").decode("latin-1").lower()


def _properties(store: Neo4jStore) -> Iterable[tuple[str, str]]:
    queries = (
        "MATCH (n) RETURN labels(n)[0], properties(n)",
        "MATCH ()-[r]->() RETURN type(r), properties(r)",
    )
    found = store.connection.reading(lambda tx: [row for query in queries for row in rows(tx, query)])
    yield from ((f"{kind}.{name}", str(value).lower()) for kind, props in found for name, value in props.items())
