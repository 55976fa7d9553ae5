"""Trains the ranker: a weighted sum of the signals, plus small decision trees (LambdaMART).

Needs scipy and LightGBM (`pip install 'cuetrail[bench]'`); cuetrail itself reads the result with numpy alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.rank.gather import BESIDE, RIGHT, Case, columns_of
from cuetrail.recall.score.ranker import Ranker, ranker_of
from cuetrail.recall.score.signals import NAMES, READ_BY

Numbers = NDArray[np.float64]
SHARES = {"none": 1 / 3, "static, thinned": 1 / 3, "none, thinned": 1 / 4}
# Sets whose questions need several passages in a row, of which there are few.
MORE = {"musique": 2.0, "hotpotqa": 1.3}
# The share of the weighted sum: trees alone are better on the sets they know, and worse on sets they do not.
SUM_SHARE = 0.3
RIDGE = 1e-4
TREES: dict[str, Any] = {
    "objective": "lambdarank", "num_leaves": 20, "max_depth": 6, "learning_rate": 0.07, "min_data_in_leaf": 100,
    "lambda_l2": 5.0, "feature_fraction": 0.5, "lambdarank_truncation_level": 10, "label_gain": [0, 1, 3],
    "seed": 1, "deterministic": True, "force_row_wise": True, "num_threads": 1, "verbose": -1,
}  # fmt: skip
ROUNDS = 250
RISING = frozenset({"cover", "spoken", "when"})
"""Signals of which more never lowers a score, in the trees."""
# Of each case a copy with this share of the wrong candidates is trained on too, and counts for a third: it is as if it
# were asked of a small memory.
THINNED = 0.15


@dataclass(frozen=True, slots=True)
class Setting:
    """What a model is trained with: with the signals of a reranker or not, and signals to leave out."""

    reranked: bool = False
    without: tuple[str, ...] = ()

    @property
    def signals(self) -> tuple[str, ...]:
        """Returns the names of the columns."""
        return (*NAMES, *(signal.name for signal in READ_BY)) if self.reranked else NAMES

    def fits(self, case: Case) -> bool:
        """True if a case has what the model needs: that a reranker read candidates of it."""
        return not self.reranked or not bool(np.isnan(case.read).all())

    def table(self, case: Case) -> Numbers:
        """Returns the signals of a case; those left out are 0."""
        table = columns_of(case, self.reranked)
        columns = [self.signals.index(name) for name in self.without]
        if columns:
            table = table.copy()
            table[:, columns] = 0.0
        return table


def train(cases: Sequence[Case], setting: Setting) -> dict[str, Any]:
    """Returns a model as JSON data; `ranker_of` reads it."""
    known = [case for case in cases if case.answered and setting.fits(case)]
    known += [thinned(case, seed) for seed, case in enumerate(known) if case.embedder != "bge"]
    tables = [setting.table(case) for case in known]
    weights = weights_of(known)
    linear = _sum_weights(known, tables, weights) * SUM_SHARE
    return {
        "signals": list(setting.signals),
        "weights": [round(float(weight), 4) for weight in linear],
        "trees": _trees(known, tables, weights, setting.signals),
    }


def thinned(case: Case, seed: int) -> Case:
    """Returns the case with all right candidates and a few of the wrong ones; ranks are those among these."""
    chance = np.random.default_rng(seed).random(len(case.labels))
    kept = np.flatnonzero((case.labels > 0) | (chance < THINNED))
    signals = case.signals[kept].copy()
    for name in ("words", "meaning"):
        values, column = signals[:, NAMES.index(name)], NAMES.index(f"{name}_rank")
        ranks = np.empty(len(kept))
        ranks[np.lexsort((-signals[:, column], -values))] = np.arange(1, len(kept) + 1)
        signals[:, column] = np.where(signals[:, column] > 0, 1 / ranks, 0.0)
    return replace(
        case, embedder=f"{case.embedder}, thinned", signals=signals, labels=case.labels[kept],
        places=tuple(case.places[at] for at in kept), times=case.times[kept], read=case.read[kept],
    )  # fmt: skip


def weights_of(cases: Sequence[Case]) -> list[float]:
    """Returns the weight of each case: sets with more questions count more, by the root of their number. Those searched
    by words alone, and thinned ones, count for less.
    """
    sizes = Counter((case.set, case.embedder) for case in cases)
    return [
        SHARES.get(case.embedder, 1.0) * MORE.get(case.set, 1.0) * sizes[case.set, case.embedder] ** -0.5
        for case in cases
    ]


def _sum_weights(cases: Sequence[Case], tables: Sequence[Numbers], weights: Sequence[float]) -> Numbers:
    """Returns the weights under which right candidates lead wrong ones: each right one against all wrong ones."""
    from scipy.optimize import minimize

    pairs = [
        (table[case.labels == RIGHT], table[case.labels == 0], weight)
        for case, table, weight in zip(cases, tables, weights, strict=True)
        if (case.labels == 0).any()
    ]
    total = sum(weight for _, _, weight in pairs)

    def loss(w: Numbers) -> tuple[float, Numbers]:
        value, slope = 0.0, np.zeros_like(w)
        for right, wrong, weight in pairs:
            scores = wrong @ w
            most = scores.max()
            shares = np.exp(scores - most)
            behind = most + np.log(shares.sum()) - right @ w
            chance = 1 / (1 + np.exp(-behind))
            value += weight * float(np.logaddexp(0, behind).mean())
            slope += weight * (chance.mean() * (shares / shares.sum()) @ wrong - chance @ right / len(right))
        return value / total + RIDGE / 2 * float(w @ w), slope / total + RIDGE * w

    found: Numbers = minimize(
        loss, np.zeros(tables[0].shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 150}
    ).x
    return found


def _trees(
    cases: Sequence[Case], tables: Sequence[Numbers], weights: Sequence[float], names: Sequence[str]
) -> list[list[list[float]]]:
    import lightgbm

    rows = np.concatenate(tables)
    labels = np.concatenate([case.labels for case in cases])
    sizes = [len(case.labels) for case in cases]
    each = np.repeat(weights, sizes)
    data = lightgbm.Dataset(rows, labels, group=sizes, weight=each / each.mean())
    rising = {"monotone_constraints": [int(name in RISING) for name in names]}
    model = lightgbm.train(TREES | rising, data, ROUNDS).dump_model()
    return [_nodes(tree["tree_structure"]) for tree in model["tree_info"]]


def _nodes(root: dict[str, Any]) -> list[list[float]]:
    """Returns a tree of LightGBM as a list of nodes, as `ranker_of` reads it."""
    found: list[list[float]] = []

    def add(node: dict[str, Any]) -> int:
        place = len(found)
        found.append([])
        if "split_feature" in node:
            low, high = add(node["left_child"]), add(node["right_child"])
            found[place] = [node["split_feature"], round(node["threshold"], 6), low, high]
        else:
            found[place] = [round(node["leaf_value"], 5)]
        return place

    add(root)
    return found


def folds_of(cases: Sequence[Case], folds: int, by: Callable[[Case], str]) -> list[int]:
    """Returns the fold of each case. Cases with the same question, or of the same set, are in the same one."""
    keys = sorted({by(case) for case in cases})
    chosen = dict(zip(keys, np.random.default_rng(20261118).permutation(len(keys)) % folds, strict=True))
    return [int(chosen[by(case)]) for case in cases]


def unseen_scores(cases: Sequence[Case], folds: Sequence[int], setting: Setting) -> list[Numbers]:
    """Returns the scores of each case by a model that was trained without its fold."""
    found: dict[int, Numbers] = {}
    for fold in sorted(set(folds)):
        model = ranker_of(train([case for case, one in zip(cases, folds, strict=True) if one != fold], setting))
        found |= {at: model.of_table(setting.table(case)) for at, case in enumerate(cases) if folds[at] == fold}
    return [found[at] for at in range(len(cases))]


def scores_by(model: Ranker, cases: Sequence[Case], setting: Setting) -> list[Numbers]:
    """Returns the scores of each case by a model."""
    return [model.of_table(setting.table(case)) for case in cases]


# --- figures


def figures(cases: Sequence[Case], scores: Sequence[Numbers]) -> dict[str, dict[str, float]]:
    """Returns the measures of each set: in per cent, for notes the number of questions with the right note, or the
    right passage, first.
    """
    found: dict[str, dict[str, list[float]]] = {}
    for case, score in zip(cases, scores, strict=True):
        if case.gold:
            into = found.setdefault(f"{case.set}, {case.embedder}", {})
            for name, value in measures(case, score).items():
                into.setdefault(name, []).append(value)
    return {
        name: {by: float(sum(some)) if "first" in by else 100 * float(np.mean(some)) for by, some in of.items()}
        for name, of in sorted(found.items())
    }


def measures(case: Case, scores: Numbers) -> dict[str, float]:
    order = np.lexsort((np.arange(len(scores)), -case.times, -scores))
    places = list(dict.fromkeys(case.places[at] for at in order))
    if case.set.startswith("everyday"):
        first = bool(len(order)) and case.labels[order[0]] == RIGHT
        return {"note first": float(set(places[:1]) == case.gold), "passage first": float(first)}
    if case.set == "longmemeval":
        return {f"All@{k}": float(case.gold <= set(places[:k])) for k in (5, 10)}
    return {f"R@{k}": len(case.gold & set(places[:k])) / len(case.gold) for k in (1, 5, 10)}


assert BESIDE < RIGHT
