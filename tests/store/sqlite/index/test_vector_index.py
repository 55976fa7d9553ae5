"""The vector index in blocks: small changes touch small files, and every search equals a full comparison."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from cuetrail.model import Node, Scope, Where
from cuetrail.store.sqlite import SqliteStore
from cuetrail.store.sqlite.index import vector_index, vector_search
from cuetrail.store.vector_space import VectorSpace
from cuetrail.store.write import Batch

ME = Scope()
DIM = 8
SPACE = VectorSpace("test", DIM)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SqliteStore]:
    """An engine whose blocks are small enough to have many."""
    monkeypatch.setattr(vector_index, "BLOCK", 64)
    monkeypatch.setattr(vector_index, "BATCH", 16)
    monkeypatch.setattr(vector_index, "TAIL", 8)
    opened = SqliteStore(tmp_path / "m")
    opened.vector_spaces().start(SPACE)
    yield opened
    opened.close()


def unit(seed: int) -> NDArray[np.float16]:
    raw = np.random.default_rng(seed).normal(size=DIM)
    vector: NDArray[np.float16] = (raw / np.linalg.norm(raw)).astype("<f2")
    return vector


def put(store: SqliteStore, ids: list[int], scope: Scope = ME, salt: int = 0) -> None:
    nodes = [Node(str(n), text=f"text {n} {salt}") for n in ids]
    store.write(scope, Batch(nodes=nodes, vectors={str(n): unit(n * 7 + salt).tobytes() for n in ids}))


def blocks(store: SqliteStore) -> list[int]:
    """How many rows each block has; the keys ascend over all of them."""
    view = store.vector_index.view()
    assert view is not None
    keys = np.concatenate([b.keys for b in view.blocks]) if view.blocks else np.zeros(0)
    assert (np.diff(keys) > 0).all()
    return [len(b.keys) for b in view.blocks]


def cosine(one: NDArray[np.float16], other: NDArray[np.float16]) -> float:
    """As halves neither is quite as long as one."""
    a, b = one.astype(np.float64), other.astype(np.float64)
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


def assert_search_is_exact(store: SqliteStore, vectors: dict[str, NDArray[np.float16]], scope: Scope = ME) -> None:
    for seed in range(1000, 1005):
        query = unit(seed)
        true = {i: cosine(v, query) for i, v in vectors.items()}
        found = store.vector(scope, query.tobytes(), 5, Where())
        best = sorted(true.values(), reverse=True)[:5]
        assert [f.score for f in found] == pytest.approx(best, abs=1e-6)
        assert all(true[f.id] == pytest.approx(f.score, abs=1e-6) for f in found)


def test_random_adds_replacements_and_removals_keep_every_search_exact(store: SqliteStore) -> None:
    rng = random.Random(41)
    vectors: dict[str, NDArray[np.float16]] = {}
    following = 0
    for round_ in range(60):
        size = rng.choice([1, 1, 3, 20, 150])
        if vectors and rng.random() < 0.5:
            chosen = rng.sample(sorted(vectors, key=int), min(size, len(vectors)))
            if rng.random() < 0.5:
                store.write(ME, Batch(remove_nodes=chosen))
                vectors = {i: v for i, v in vectors.items() if i not in chosen}
            else:
                put(store, [int(i) for i in chosen], salt=round_ + 1)
                vectors.update({i: unit(int(i) * 7 + round_ + 1) for i in chosen})
        else:
            put(store, list(range(following, following + size)))
            vectors.update({str(n): unit(n * 7) for n in range(following, following + size)})
            following += size
        assert sum(blocks(store)) == len(vectors)
        assert max(blocks(store), default=0) <= vector_index.BLOCK
        assert_search_is_exact(store, vectors)
        assert not store.vector_index.differs()


def test_adding_one_rewrites_only_the_small_last_block(store: SqliteStore) -> None:
    put(store, list(range(640)))
    folder = store.vector_index.dir
    assert blocks(store) == [64] * 10
    before = {p.name: p.stat().st_ino for p in folder.path.rglob("*") if p.name.isdecimal() and p.is_file()}
    for n in range(640, 646):
        put(store, [n])
        assert blocks(store) == [64] * 10 + [n - 639]
    after = {p.name: p.stat().st_ino for p in folder.path.rglob("*") if p.name.isdecimal() and p.is_file()}
    assert before.items() <= after.items()
    assert len(after) == 11


def test_the_last_block_is_joined_to_its_neighbour_when_it_has_grown(store: SqliteStore) -> None:
    most = 0
    for n in range(200):
        put(store, [n])
        sizes = blocks(store)
        assert sum(sizes) == n + 1
        most = max(most, len(sizes))
    assert most <= 6


def test_removing_one_rewrites_only_its_block_and_leaves_no_trace(store: SqliteStore) -> None:
    put(store, list(range(200)))
    assert len(blocks(store)) == 4
    names = list(store.vector_index.dir.load().files)  # type: ignore[union-attr]  # it was just written
    store.write(ME, Batch(remove_nodes=["70"]))
    assert blocks(store) == [64, 63, 64, 8]
    left = list(store.vector_index.dir.load().files)  # type: ignore[union-attr]  # it was just written
    assert (left[0], left[2], left[3]) == (names[0], names[2], names[3])
    assert left[1] != names[1]
    code = vector_search.quantised(unit(490)[None, :].astype(np.float32)).tobytes()
    files = [p for p in store.vector_index.dir.path.rglob("*") if p.is_file()]
    assert not [p for p in files if code in p.read_bytes()]


def test_a_vector_that_comes_late_finds_its_place_between_the_others(store: SqliteStore) -> None:
    store.write(ME, Batch(nodes=[Node(str(n), text=f"text {n}") for n in range(150)]))
    missing = store.vector_spaces().missing(SPACE, 150)
    store.vector_spaces().put(SPACE, [(one, unit(int(one.record.id)).tobytes()) for one in missing[::2]])
    assert sum(blocks(store)) == 75
    store.vector_spaces().put(SPACE, [(one, unit(int(one.record.id)).tobytes()) for one in missing[1::2]])
    assert sum(blocks(store)) == 150
    assert_search_is_exact(store, {str(n): unit(n) for n in range(150)})


def test_another_users_rows_are_scanned_but_never_found(store: SqliteStore) -> None:
    other = Scope(user="other")
    put(store, list(range(100)))
    put(store, list(range(100, 300)), other)
    assert sum(blocks(store)) == 300
    assert_search_is_exact(store, {str(n): unit(n * 7) for n in range(100)})
    assert_search_is_exact(store, {str(n): unit(n * 7) for n in range(100, 300)}, other)


@pytest.mark.parametrize("kinds", [("a",), ("a", "d"), ("rare",), tuple("abcdefghijk"), ("none",)])
def test_only_rows_of_the_kinds_that_are_asked_for_are_found(store: SqliteStore, kinds: tuple[str, ...]) -> None:
    of = {str(n): "rare" if n % 50 == 0 else "abcdefghijkl"[n % 12] for n in range(400)}
    vectors = {id_: unit(int(id_)) for id_ in of}
    nodes = [Node(id_, kind, f"name {id_}") for id_, kind in of.items()]
    store.write(ME, Batch(nodes=nodes, vectors={id_: vector.tobytes() for id_, vector in vectors.items()}))
    query = unit(1000)
    cosines = {id_: float(v.astype(np.float64) @ query.astype(np.float64)) for id_, v in vectors.items()}
    best = sorted((id_ for id_ in of if of[id_] in kinds), key=lambda id_: -cosines[id_])[:5]
    assert [found.id for found in store.vector(ME, query.tobytes(), 5, Where(kinds=kinds))] == best


def test_the_best_are_the_best_however_many_there_are_and_however_many_are_equal() -> None:
    rng = np.random.default_rng(7)
    for size in (0, 1, 44, 63, 64, 2_816, 2_880, 5_000, 70_001):
        for scores in (rng.normal(size=size), rng.integers(0, 9, size), np.zeros(size)):
            for wanted in (1, 44, 1_000):
                found = vector_search._best(scores.astype(np.float32), wanted)
                assert len(set(found.tolist())) == len(found) == min(wanted, size)
                assert sorted(scores[found]) == sorted(scores)[max(size - wanted, 0) :]


def test_equal_vectors_have_equal_scores_wherever_they_stand(store: SqliteStore) -> None:
    vector, query = unit(3).tobytes(), unit(4).tobytes()
    store.write(ME, Batch(nodes=[Node(str(n), text=f"text {n}") for n in range(40)]))
    missing = store.vector_spaces().missing(SPACE, 40)
    store.vector_spaces().put(SPACE, [(one, vector) for one in missing])
    assert len({found.score for found in store.vector(ME, query, 33, Where())}) == 1


def test_a_vector_of_zeros_is_found_last_and_asks_for_nothing_in_particular(store: SqliteStore) -> None:
    put(store, list(range(5)))
    nothing = np.zeros(DIM, "<f2").tobytes()
    store.write(ME, Batch(nodes=[Node("zero", text="zero")], vectors={"zero": nothing}))
    positive = [n for n in range(5) if float(unit(n * 7) @ unit(7)) > 0]
    assert [f.score for f in store.vector(ME, unit(7).tobytes(), 6, Where()) if f.id == "zero"] == [0.0]
    assert "zero" not in [f.id for f in store.vector(ME, unit(7).tobytes(), len(positive), Where())]
    assert {f.score for f in store.vector(ME, nothing, 6, Where())} == {0.0}


def test_an_empty_index_and_one_that_became_empty_answer_nothing(store: SqliteStore) -> None:
    assert store.vector(ME, unit(1).tobytes(), 5, Where()) == []
    put(store, [1, 2, 3])
    assert len(store.vector(ME, unit(1).tobytes(), 5, Where())) == 3
    store.write(ME, Batch(remove_nodes=["1", "2", "3"]))
    assert blocks(store) == []
    assert store.vector(ME, unit(1).tobytes(), 5, Where()) == []


def test_a_change_of_model_never_mixes_vectors(store: SqliteStore) -> None:
    put(store, list(range(20)))
    assert sum(blocks(store)) == 20
    before = [found.id for found in store.vector(ME, unit(1).tobytes(), 5, Where())]
    another = VectorSpace("another", DIM)
    store.vector_spaces().start(another, change_over=True)
    missing = store.vector_spaces().missing(another, 20)
    store.vector_spaces().put(another, [(one, (-unit(int(one.record.id) * 7)).tobytes()) for one in missing])
    assert [found.id for found in store.vector(ME, unit(1).tobytes(), 5, Where())] == before
    assert store.vector_spaces().finish(another)
    assert_search_is_exact(store, {str(n): -unit(n * 7) for n in range(20)})
    assert not store.vector_index.differs()
