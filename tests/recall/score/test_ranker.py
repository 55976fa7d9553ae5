"""The ranker: what it computes from signals, and that its file, the table of signals and the documents agree."""

from __future__ import annotations

import json
import random
from importlib.resources import files
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuetrail.recall.score.ranker import FILE, load_ranker, ranker_of
from cuetrail.recall.score.signals import NAMES, READ_BY, SIGNALS
from scripts import signals as documents

MODELS = ("plain", "reranked")
READ_NAMES = tuple(signal.name for signal in READ_BY)
STORED: dict[str, Any] = json.loads(files("cuetrail.recall.score").joinpath(FILE).read_text("utf-8"))
levels = st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.75, 1.0]) | st.floats(0, 1)


def leaf_of(tree: list[list[float]], row: list[float]) -> float:
    """Returns the value of the leaf that a row ends in, step by step."""
    node = tree[0]
    while len(node) > 1:
        node = tree[int(node[2] if row[int(node[0])] <= node[1] else node[3])]
    return node[0]


@pytest.mark.parametrize("name", MODELS)
@given(data=st.data())
def test_a_score_is_the_weighted_sum_and_the_leaves_of_all_trees(name: str, data: st.DataObject) -> None:
    model, stored = load_ranker(name), STORED["models"][name]
    row = data.draw(st.lists(levels, min_size=len(model.signals), max_size=len(model.signals)))
    plain = sum(weight * value for weight, value in zip(stored["weights"], row, strict=True))
    plain += sum(leaf_of(tree, row) for tree in stored["trees"])
    assert model.of_table(np.array([row]))[0] == pytest.approx(plain)


@given(rows=st.lists(st.tuples(levels, levels, levels), min_size=1, max_size=12), seed=st.integers(0, 99))
def test_the_score_of_a_candidate_does_not_depend_on_the_others(rows: list[tuple[float, ...]], seed: int) -> None:
    ids = [str(at) for at in range(len(rows))]
    values = {name: {id_: row[at] for id_, row in zip(ids, rows, strict=True)} for at, name in enumerate(NAMES[:3])}
    together = load_ranker("plain").scores(values, ids)
    mixed = random.Random(seed).sample(ids, len(ids))
    assert {id_: load_ranker("plain").scores(values, [id_])[id_] for id_ in ids} == together
    assert load_ranker("plain").scores(values, mixed) == together


def test_a_missing_signal_counts_as_nothing() -> None:
    nothing = load_ranker("plain").scores({}, ["a"])
    assert nothing == load_ranker("plain").scores({name: {"a": 0.0} for name in NAMES}, ["a"])
    assert load_ranker("plain").scores({}, []) == {}


def test_one_split_sends_values_up_to_its_threshold_low() -> None:
    tree = [[0, 0.5, 1, 2], [-1.0], [2.0]]
    model = ranker_of({"signals": ["cover"], "weights": [10.0], "trees": [tree, tree]})
    scores = model.scores({"cover": {"a": 0.5, "b": 0.6}}, ["a", "b"])
    assert scores == {"a": 5.0 - 2.0, "b": 6.0 + 4.0}


@pytest.mark.parametrize("name", MODELS)
def test_more_of_the_words_the_speaker_or_the_time_never_lower_what_the_trees_give(name: str) -> None:
    model = load_ranker(name)
    rng = np.random.default_rng(7)
    rows = rng.random((300, len(model.signals)))
    for one in ("cover", "spoken", "when"):
        more = rows.copy()
        more[:, model.signals.index(one)] = 1.0
        linear = model.weights[model.signals.index(one)] * (1.0 - rows[:, model.signals.index(one)])
        assert (model.of_table(more) - linear >= model.of_table(rows) - 1e-9).all(), one


def test_the_models_know_the_signals_of_the_table_and_no_others() -> None:
    assert load_ranker("plain").signals == NAMES
    assert load_ranker("reranked").signals == (*NAMES, *READ_NAMES)
    assert len(set(NAMES)) == len(NAMES)
    assert all(signal.measures and signal.label for signal in (*SIGNALS, *READ_BY))


def test_the_page_and_the_documents_have_the_table_of_signals() -> None:
    assert documents.PAGE.read_text("utf-8") == documents.page(), "run python scripts/signals.py"
    assert documents.DOCUMENT.read_text("utf-8") == documents.document(), "run python scripts/signals.py"
