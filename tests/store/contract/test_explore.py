"""Explore returns the same on every engine and respects its filters, on random graphs."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from cuetrail.embed.embedder import to_blob
from cuetrail.explore.context import ExploreContext, Query
from cuetrail.explore.explore import Exploration, run_exploration
from cuetrail.model import Edge, Life, Node, Note, Scope, State, Where
from cuetrail.store.graph import EdgeFilter
from cuetrail.store.ports import Store
from cuetrail.store.sqlite import SqliteStore
from cuetrail.store.vector_space import QueryVector, VectorSpace, vector_kind
from cuetrail.store.write import Batch
from tests.systems.axes import VOCABULARY, Axes

ANN, BOB = Scope("t", "ann"), Scope("t", "bob")
NOW = 1_768_831_200_000
DAY = 86_400_000
AXES = Axes()
STATES: tuple[State, ...] = ("archived", *("active",) * 9)
SPACE = VectorSpace(AXES.model, AXES.dim)
KINDS = ("person", "concept", "entity", "source", "storyline", "macro", "artifact")


def fill(store: Store, seed: int) -> None:
    """A random graph of every kind, the same for two users but for their names."""
    chance = random.Random(seed)
    store.vector_spaces().start(SPACE)
    for scope in (ANN, BOB):
        nodes = [
            Node(
                f"{scope.user}{n:02}", chance.choice(KINDS), f"{chance.choice(VOCABULARY)} {n}",
                " ".join(chance.sample(VOCABULARY, 2)), at=NOW - n * DAY, updated=NOW - n * DAY,
                life=Life(chance.choice([0.2, 0.5, 0.9]), chance.choice(STATES), accesses=1),
                provenance="quarantine" if chance.random() < 0.1 else "internal",
            )
            for n in range(40)
        ]  # fmt: skip
        edges = [
            Edge(
                f"e{n:02}", chance.choice(nodes).id, chance.choice(nodes).id, chance.choice(["relates", "part_of"]),
                chance.choice([None, 0.3, 0.9]), text=" ".join(chance.sample(VOCABULARY, 2)),
                type=chance.choice([None, "friend", "rival"]), attitude=chance.choice([None, 1, 5]),
                proximity=chance.choice([None, 2, 4]), updated=NOW - n * DAY,
            )
            for n in range(80)
        ]  # fmt: skip
        notes = [Note(f"n{n}", chance.choice(nodes).id, f"note {n}", created=NOW - n) for n in range(20)]
        notes += [
            Note(f"r{n}", f"e{n:02}", chance.choice(VOCABULARY), "edge", NOW - n, chance.choice([None, NOW, NOW + 1]))
            for n in range(20)
        ]
        batch = Batch(nodes=nodes, edges=edges, notes=notes, space=SPACE)
        records: list[Node | Edge | Note] = [*nodes, *edges, *notes]
        for record in records:
            if (meaning := vector_kind(record)) is not None:
                batch.vectors_of(meaning[0])[meaning[1]] = embed(record.text).vector
        store.write(scope, batch)


def embed(text: str) -> QueryVector:
    return QueryVector(to_blob(AXES.embed_query(text)[None, :])[0], SPACE)


def embed_texts(texts: Sequence[str]) -> list[bytes]:
    return to_blob(AXES.embed(texts))


def quest(store: Store, seed: int) -> ExploreContext:
    chance = random.Random(1000 + seed)
    return ExploreContext(
        store,
        ANN,
        tuple(Query(word, chance.choice([0.0, 0.3])) for word in chance.sample(VOCABULARY, chance.choice([1, 2]))),
        tuple(chance.sample(VOCABULARY, chance.choice([0, 1]))),
        NOW,
        embed,
        embed_texts,
        chance.choice([1, 2, 3]),
        ties=EdgeFilter(
            types=chance.choice([(), ("friend",)]),
            exclude_types=chance.choice([(), ("rival",)]),
            min_attitude=chance.choice([None, 3]),
            max_proximity=chance.choice([None, 3]),
        ),
        where=Where(since=chance.choice([None, NOW - 30 * DAY]), archived=chance.random() < 0.3),
    )


def told(found: Exploration) -> list[tuple[object, ...]]:
    """Everything that is shown."""
    items = [
        (item.node.id, item.notes, item.neighbours, item.sources, item.storylines, item.mentioned)
        for item in found.items
    ]
    return [*items, *((one.edge.id, one.notes) for one in found.semantic.relationships)]


def scores(found: Exploration) -> list[float]:
    return [*(one.score for one in found.items), *(one.score for one in found.semantic.relationships)]


@pytest.mark.parametrize("seed", range(8))
def test_it_is_the_same_as_on_disk_and_keeps_every_filter(store: Store, seed: int, tmp_path: Path) -> None:
    beside = SqliteStore(tmp_path / "beside")
    for one in (store, beside):
        fill(one, seed)
    asked = quest(store, seed)
    found = run_exploration(asked)
    other = run_exploration(replace(asked, store=beside))
    assert told(found) == told(other)
    # Vectors are of half precision, and a server makes them unit vectors again.
    assert scores(found) == pytest.approx(scores(other), abs=2e-4)
    for item in found.items:
        assert item.node.owner == "ann"
        assert asked.where.admits(item.node)
        shown = [*item.neighbours, *item.sources, *item.storylines]
        assert all(asked.where.admits(node) for node in store.get(ANN, [one.id for one in shown]).values())
    assert all(asked.ties.passes(one.edge) for one in found.semantic.relationships)
    around = [one for item in found.items for one in item.neighbours]
    assert not around or {one.id[:3] for one in around} == {"ann"}
    beside.close()
