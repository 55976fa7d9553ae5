"""The ranker: one score for each candidate, from its signals, by a model whose weights were learnt.

The score is a weighted sum of the signals, plus the leaves of small decision trees. `ranker.json` holds the weights and
the trees as plain numbers, with the date and the figures of their training. `python -m bench.rank` writes it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

FILE = "ranker.json"


@dataclass(frozen=True, slots=True)
class Ranker:
    """A trained model. `signals` names its columns, `weights` has one number for each.

    The splits of all trees are numbered together. Split i compares column `column[i]` with `threshold[i]`: values up to
    it go on to `next[2 * i]`, others to `next[2 * i + 1]`. A leaf leads to itself and has a `value`. `roots` are the
    first splits, and `depth` is the number of splits above the deepest leaf.
    """

    signals: tuple[str, ...]
    weights: Numbers
    roots: NDArray[Any]
    column: NDArray[Any]
    threshold: Numbers
    next: NDArray[Any]
    value: Numbers
    depth: int

    def scores(self, values: Mapping[str, Mapping[str, float]], ids: Sequence[str]) -> dict[str, float]:
        """Returns a score for each id, from the values of the signals by name and id; a missing value counts as 0.

        Scores are any numbers; a higher one is better, and they can be compared between recalls.
        """
        table = self.table(values, ids)
        return dict(zip(ids, self.of_table(table).round(9).tolist(), strict=True))

    def table(self, values: Mapping[str, Mapping[str, float]], ids: Sequence[str]) -> Numbers:
        """Returns the values of the signals as a table: a row for each id, a column for each signal."""
        import numpy as np

        columns = [[given.get(id_, 0.0) for id_ in ids] for given in (values.get(name, {}) for name in self.signals)]
        return np.array(columns, dtype=np.float64).reshape(len(self.signals), len(ids)).T

    def of_table(self, table: Numbers) -> Numbers:
        """Returns the score of each row."""
        import numpy as np

        cells = np.ascontiguousarray(table).ravel()
        first = (np.arange(len(table)) * table.shape[1])[:, None]
        at = np.repeat(self.roots[None, :], len(table), axis=0)
        for _ in range(self.depth):
            above = cells.take(first + self.column.take(at)) > self.threshold.take(at)
            at = self.next.take(2 * at + above)
        # Sums row by row: a product of matrices may round differently for another number of rows.
        found: Numbers = (table * self.weights).sum(axis=1) + self.value.take(at).sum(axis=1)
        return found


@cache
def load_ranker(name: str) -> Ranker:
    """Returns the model "plain", or "reranked", which also reads the score of a reranker."""
    data = json.loads(files("cuetrail.recall.score").joinpath(FILE).read_text("utf-8"))
    return ranker_of(data["models"][name])


def ranker_of(data: Mapping[str, Any]) -> Ranker:
    """Returns the model that a JSON object describes: {"signals", "weights", "trees"}.

    A tree is a list of nodes: [column, threshold, low, high], where the last two are places in the list, or [value].
    """
    import numpy as np

    column, following, roots = list[int](), list[int](), list[int]()
    threshold, value, depth = list[float](), list[float](), 0
    for tree in data["trees"]:
        base = len(column)
        roots.append(base)
        for place, node in enumerate(tree, base):
            leaf = len(node) == 1
            column.append(0 if leaf else node[0])
            threshold.append(0.0 if leaf else node[1])
            following += [place, place] if leaf else [base + node[2], base + node[3]]
            value.append(node[0] if leaf else 0.0)
        depth = max(depth, _depth(tree, 0))
    return Ranker(
        tuple(data["signals"]), np.array(data["weights"], np.float64), np.array(roots, np.intp),
        np.array(column, np.intp), np.array(threshold, np.float64), np.array(following, np.intp),
        np.array(value, np.float64), depth,
    )  # fmt: skip


def _depth(tree: Sequence[Sequence[float]], place: int) -> int:
    """Returns how many splits are between a node of a tree and its deepest leaf."""
    node = tree[place]
    return 0 if len(node) == 1 else 1 + max(_depth(tree, int(node[2])), _depth(tree, int(node[3])))
