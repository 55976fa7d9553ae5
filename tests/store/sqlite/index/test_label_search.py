"""The label search stops early; the nodes it skips could not have entered the result."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from cuetrail.model import Node, Tag, WalkQuery
from cuetrail.store.sqlite import SqliteStore
from cuetrail.store.sqlite.changelog import position
from cuetrail.store.sqlite.index import label_index, label_search, text_search
from cuetrail.store.write import Batch
from tests.store.contract.test_tag_walk import ANYTHING, ME, check, from_tag, seed, some_node, tags, walked


@pytest.mark.parametrize(("first", "words"), [(1, 1), (30, 2), (300, 32)])
@pytest.mark.parametrize("wide", [0, 1_000])
def test_looking_in_small_rounds_and_for_few_words_at_once_changes_no_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: int, words: int, wide: int
) -> None:
    monkeypatch.setattr(text_search, "WORDS_AT_ONCE", words)
    monkeypatch.setattr(label_search, "LONG", 0 if words < 3 else label_search.LONG)
    monkeypatch.setattr(label_search, "FEW_TO_READ", 0 if words < 3 else label_search.FEW_TO_READ)
    monkeypatch.setattr(label_search, "FIRST", first)
    monkeypatch.setattr(label_index, "FEW", 10)
    monkeypatch.setattr(label_index, "MOST_WIDE", wide)
    monkeypatch.setattr(label_search, "MOST_ASKED", 40)
    chance = random.Random(first)
    nodes = [some_node(chance, f"n{i:05}") for i in range(500)]
    store = SqliteStore(tmp_path)
    store.write(ME, Batch(nodes=nodes))
    for _ in range(40):
        check(store, nodes, chance)
    store.close()


def test_common_labels_are_not_walked_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand carriers of a common tag stay unlooked at once a rare one has filled the list."""
    monkeypatch.setattr(label_search, "FIRST", 10)
    monkeypatch.setattr(label_index, "FEW", 10)
    looked: list[int] = []
    sums = label_search._sums

    def counting(weights: label_search.Floats, codes: NDArray[np.int32]) -> label_search.Floats:
        looked.append(codes.shape[1])
        return sums(weights, codes)

    monkeypatch.setattr(label_search, "_sums", counting)
    rare = [Node(f"r{n:03}", text="x", tag_details=tags("rare"), at=n) for n in range(40)]
    common = [Node(f"c{n:04}", text="x", tag_details=tags("common"), at=n) for n in range(1_000)]
    store = SqliteStore(tmp_path)
    store.write(ME, Batch(nodes=rare + common))
    assert walked(store, from_tag("rare", "common"), limit=5) == [f"r{n:03}" for n in range(39, 34, -1)]
    assert sum(looked) == 40
    store.close()


def test_a_label_that_everything_has_fills_what_a_rare_one_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its carriers are worth next to nothing, but no others are left."""
    monkeypatch.setattr(label_search, "FIRST", 2)
    monkeypatch.setattr(label_index, "FEW", 10)
    rare = [Node(f"r{n}", text="x", tag_details=tags("rare", "common"), at=n) for n in range(3)]
    common = [Node(f"c{n:03}", text="x", tag_details=tags("common"), at=n) for n in range(200)]
    store = SqliteStore(tmp_path)
    store.write(ME, Batch(nodes=rare + common))
    assert walked(store, from_tag("rare", "common"), limit=5) == ["r2", "r1", "r0", "c199", "c198"]
    store.close()


def test_nodes_with_very_many_tags_are_found_beside_a_narrow_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(label_index, "FEW", 10)
    many = tuple(Tag(f"m{n}", f"m{n}") for n in range(100))
    nodes = [Node(f"n{n:03}", text="x", tag_details=tags("sky"), at=n) for n in range(50)]
    whole = Node("whole", text="x", tag_details=(*many, *tags("sky")), at=0)
    half = Node("half", text="x", tag_details=many[:50], at=0)
    store = SqliteStore(tmp_path)
    store.write(ME, Batch(nodes=[*nodes, whole, half]))
    start = WalkQuery((seed(Node("start", tag_details=(*many, *tags("sky")))),), from_tag().unlike)
    found = store.walk(ME, start, 3, ANYTHING)
    assert [one.node.id for one in found.found] == ["whole", "half", "n049"]
    with store.db.reading() as db:
        base = store.label_index.view_at(db, *position(db)).base
    assert (base.forward.shape[1], len(base.wide_rows), base.most_tags) == (4, 2, 1)
    store.close()
