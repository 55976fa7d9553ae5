"""The graphs of `bench.energy`, in a memory in a folder and in one on a Neo4j server.

A graph is grown: each new node joins five others, mostly those that many have joined before, so degrees follow a power
law and are ten on average. Weights are from .25 to 1; half of the edges have one to three of 60 tags.

On a server it is put by the server's own importer, with the properties the engine gives nodes and edges: writes would
take hours for a million nodes, and what a walk reads is the same.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from bench.common import emptied
from bench.corpus import SEED
from cuetrail import Memory
from cuetrail.model import Edge, Node, Scope
from cuetrail.store.neo4j import Neo4jStore
from cuetrail.store.neo4j.changelog import take_keys
from cuetrail.store.neo4j.connection import Address, rows
from cuetrail.store.neo4j.ids import Ids
from cuetrail.store.neo4j.rows import edge_props, node_props
from cuetrail.store.write import Batch
from scripts import neo4j as script

JOINS = 5
TAGS = [f"tag{n:02}" for n in range(60)]
BATCH = 20_000
IMPORTED, DONE = "imported", "built"
# Larger than the largest graph, so that the server need not read a disk, and a heap it fills to a part.
ROOM = script.Size(heap="3g", pages="5g")
# The first place of a database; the first keys are for what is written there beside the graph.
PART, FIRST_KEY = 1, 1_001
PASSWORD = "password"
INDEX_SECONDS = 3_000


def node_id(number: int) -> str:
    return f"n{number:07}"


def build(folder: Path, size: int) -> None:
    """Writes the graph into a memory in a folder; a marker file says that it is complete."""
    with Memory(emptied(folder), embedder=None) as memory, memory.store.bulk():
        for start in range(0, size, BATCH):
            memory.store.write(memory.scope, Batch(nodes=list(_nodes(start, min(start + BATCH, size)))))
        for edges in joined(size):
            memory.store.write(memory.scope, Batch(edges=edges))
    (folder / DONE).touch()


def _nodes(start: int, end: int) -> Iterator[Node]:
    return (Node(node_id(n), text=f"memory {n}") for n in range(start, end))


def joined(size: int) -> Iterator[list[Edge]]:
    """The edges of the graph, in batches: each node joins five earlier ends of edges, drawn at random."""
    rng = np.random.default_rng([SEED, 7])
    ends = np.empty(2 * JOINS * size, np.int64)
    draws = rng.random(JOINS * size)
    filled, number = 0, 0
    for node in range(size):
        for _ in range(JOINS):
            # An end drawn at random is a node drawn by its degree.
            other = int(ends[int(draws[number] * filled)]) if filled else 0
            ends[filled : filled + 2] = node, other
            filled += 2
            number += 1
    weights = rng.uniform(0.25, 1.0, number).round(4).tolist()
    counts = np.where(rng.random(number) < 0.5, rng.integers(1, 4, number), 0).tolist()
    picks = (rng.zipf(1.5, (number, 3)) % len(TAGS)).tolist()
    pairs = ends.reshape(-1, 2).tolist()
    for start in range(0, number, BATCH):
        yield [
            Edge(
                f"e{n}",
                node_id(pairs[n][0]),
                node_id(pairs[n][1]),
                weight=weights[n],
                tags=tuple(dict.fromkeys(TAGS[tag] for tag in picks[n][: counts[n]])),
            )
            for n in range(start, min(start + BATCH, number))
        ]


# --- on a server


@contextlib.contextmanager
def on_server(home: Path, size: int) -> Iterator[Memory]:
    """The graph on a server of its own, whose files are in `home`: imported unless it is there, all indexes online."""
    if not (home / IMPORTED).exists():
        _import(emptied(home), size)
    known = home / PASSWORD
    server = script.start(home=home, password=known.read_text("utf-8") if known.exists() else "", size=ROOM)
    try:
        known.write_text(server.password, "utf-8")
        login = server.uri.replace("://", f"://{server.user}:{server.password}@")
        if not (home / DONE).exists():
            _take_over(Address(server.uri, None, server.user, server.password), size)
            (home / DONE).touch()
        with Memory(login, embedder=None) as memory:
            yield memory
    finally:
        server.stop()


def _import(home: Path, size: int) -> None:
    """Put the graph into the files of a server that has never run."""
    (home / "conf").mkdir()
    nodes, edges = home / "nodes.csv", home / "edges.csv"
    made = (node_props(node, FIRST_KEY + n, PART) for n, node in enumerate(_nodes(0, size)))
    _table(nodes, {":ID": "key"}, made)
    # The ends of an edge are no properties of it.
    ends = (
        {**edge_props(edge, PART), "src": _key(edge.src), "dst": _key(edge.dst)} for e in joined(size) for edge in e
    )
    _table(edges, {":START_ID": "src", ":END_ID": "dst"}, ends, {"src", "dst"})
    jars = script.fetch(script.cache_home())
    opens = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in script.OPENED]
    command = [script.java(), "-Xmx2g", "-cp", f"{jars}/*", *opens, "org.neo4j.cli.AdminTool"]
    command += ["database", "import", "full", "--id-type=integer", f"--nodes=CueNode={nodes}"]
    command += [f"--relationships=CUE_EDGE={edges}", "--max-off-heap-memory=4g", "neo4j"]
    places = {"NEO4J_HOME": str(home), "NEO4J_CONF": str(home / "conf")}
    with (home / "import.log").open("wb") as log:
        subprocess.run(command, env={**os.environ, **places}, cwd=home, stdout=log, stderr=log, check=True)
    nodes.unlink()
    edges.unlink()
    (home / IMPORTED).touch()


def _key(id_: str) -> int:
    return FIRST_KEY + int(id_[1:])


def _table(path: Path, ids: Mapping[str, str], made: Iterable[Mapping[str, Any]], only: Iterable[str] = ()) -> None:
    """Records as the importer reads them; `ids` says which of their values join them, `only` which do nothing else."""
    kinds = {bool: "boolean", int: "long", float: "double", str: "string", list: "string[]"}
    records = iter(made)
    # What the first few have is what any has.
    first = [record for _, record in zip(range(100), records, strict=False)]
    fields = {name: kinds[type(v)] for one in first for name, v in one.items() if v is not None and name not in only}
    with path.open("w", encoding="utf-8") as out:
        out.write(",".join([*ids, *(f"{name}:{kind}" for name, kind in fields.items())]) + "\n")
        for part in (first, records):
            for one in part:
                out.write(",".join(_field(one[name]) for name in (*ids.values(), *fields)) + "\n")


def _field(value: object) -> str:
    match value:
        case None:
            return ""
        case list():
            return _field(";".join(value))
        case str():
            return '"' + value.replace('"', '""') + '"'
        case bool():
            return str(value).lower()
        case _:
            return repr(value)


def _take_over(address: Address, size: int) -> None:
    """Turns the imported graph into a memory: writes partition, keys, constraints and indexes, and waits for these."""
    store = Neo4jStore(address)
    try:
        scope = Scope()
        store.write(scope, Batch(nodes=[Node("first")]))
        store.write(scope, Batch(remove_nodes=["first"]))
        assert store.connection.reading(lambda tx: Ids(tx, scope).home) == PART, "the graph is in the first place"
        store.connection.writing(lambda tx: take_keys(tx, FIRST_KEY + size))
        store.connection.reading(lambda tx: rows(tx, f"CALL db.awaitIndexes({INDEX_SECONDS})"))
        held = store.stats(scope)
        assert (held.nodes, held.edges) == (size, JOINS * size), "the graph is whole"
    finally:
        store.close()
