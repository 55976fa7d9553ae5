"""Chooses the weights of TRAIL's signals on the development questions, one choice for all sets and embedders.

    python -m bench.quality.choose --work /tmp/quality                       # the sets built there, every embedder
    python -m bench.quality.choose --work /tmp/quality --sets musique 2wiki

Each question is asked once, and the `why` of all that might have answered tells every signal. Then weights are sought
that give the gold the largest share of the score (softmax over the hits of a question, every set counts alike), and
checked on questions that were not used. A weight below zero would be a signal that speaks against a memory; it becomes
0. What `Weights` has was rounded, and `spoken` and `blend` raised a little, for LoCoMo's questions over sessions.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.quality.contenders import ROOM, TODAY
from bench.quality.registry import SETS
from bench.quality.run import Job
from bench.quality.sets import Corpus, data_folder
from cuetrail import Memory, recipes
from cuetrail.anchor import Anchored, Ask
from cuetrail.score import Scored
from cuetrail.spread import Reached
from cuetrail.trail.weighing import Weights

MOST = 1 << 30
FOLDS = 4
STEPS = 150
SIGNALS = tuple(asdict(Weights()))
Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Asked:
    """One question: the signals of its hits, which are gold, what each is told by, and how much gold there is."""

    signals: Array
    gold: Array
    places: tuple[str, ...]
    size: int


def asked(memory: Memory, corpus: Corpus, limit: int) -> Iterable[Asked]:
    """Every question of a corpus with the signals of all that might have answered."""
    seen: list[Scored] = []

    def all_of(ask: Ask, finds: Anchored, reached: Reached) -> Scored:
        seen.append(recipes.TRAIL.score(replace(ask, limit=MOST), finds, reached))
        return seen[-1]

    recipe = replace(recipes.TRAIL, score=all_of)
    for question in corpus.questions:
        now = TODAY if question.now is None else question.now
        # With the limit of the benchmark, as that says how many anchors are looked for.
        memory.recall(question.cue, recipe=recipe, limit=limit, budget=ROOM, record_access=False, now=now)
        hits = seen.pop().anchors
        places = tuple((hit.node.source or hit.node.id) if corpus.place == "source" else hit.node.id for hit in hits)
        signals = [[hit.why["parts"].get(name, 0.0) for name in SIGNALS] for hit in hits] or [[0.0] * len(SIGNALS)]
        gold = np.array([place in question.gold for place in places] or [False])
        yield Asked(np.array(signals), gold, places or ("",), len(set(question.gold)))


def fitted(questions: Sequence[Asked], start: Array, steps: int = STEPS) -> Array:
    """Weights under which the gold has most of the score, by Adam from `start`, never below zero."""
    known = [one for one in questions if one.gold.any() and not one.gold.all()]
    weights, mean, square = start.copy(), np.zeros(len(start)), np.zeros(len(start))
    for step in range(1, steps + 1):
        slope = sum((_slope(one, weights) for one in known), np.zeros(len(start))) / len(known) - 1e-3 * weights
        mean, square = 0.9 * mean + 0.1 * slope, 0.99 * square + 0.01 * slope * slope
        weights = weights + 0.3 * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
        weights = np.maximum(weights, 0.0)
    return weights


def _slope(one: Asked, weights: Array) -> Array:
    scores = one.signals @ weights
    share = np.exp(scores - scores.max())
    result: Array = one.signals.T @ (one.gold / one.gold.sum() - share / share.sum())
    return result


def recall_of(questions: Sequence[Asked], weights: Array, k: int) -> float:
    """R@k in per cent with these weights."""
    found = 0.0
    for one in questions:
        order = np.argsort(-(one.signals @ weights), kind="stable")
        first = list(dict.fromkeys(one.places[i] for i in order))[:k]
        gold = {place for place, is_gold in zip(one.places, one.gold, strict=True) if is_gold}
        found += len(gold & set(first)) / one.size
    return 100 * found / max(len(questions), 1)


def balanced(sets: Mapping[str, Sequence[Asked]], most: int = 300) -> list[Asked]:
    """At most so many questions of each set, so that every set counts alike."""
    return [one for questions in sets.values() for one in questions[:most]]


def report(sets: Mapping[str, Sequence[Asked]]) -> None:
    """The weights of now and the chosen ones, with R@5 and R@10 on questions that were not used for the choice."""
    now = np.array([asdict(Weights())[name] for name in SIGNALS])
    whole = fitted(balanced(sets), now)
    print("chosen:", ", ".join(f"{name}={value:.2f}" for name, value in zip(SIGNALS, whole, strict=True)))
    unseen: dict[str, list[tuple[float, float]]] = {name: [] for name in sets}
    for fold in range(FOLDS):
        used = {name: [one for i, one in enumerate(some) if i % FOLDS != fold] for name, some in sets.items()}
        weights = fitted(balanced(used), now)
        for name, some in sets.items():
            rest = [one for i, one in enumerate(some) if i % FOLDS == fold]
            unseen[name].append((recall_of(rest, weights, 5), recall_of(rest, weights, 10)))
    for name, some in sets.items():
        before = f"{recall_of(some, now, 5):.1f} / {recall_of(some, now, 10):.1f}"
        after = f"{recall_of(some, whole, 5):.1f} / {recall_of(some, whole, 10):.1f}"
        five, ten = np.mean(np.array(unseen[name]), axis=0)
        print(f"{name:>22}: R@5 / R@10 now {before}, chosen {after}, on unseen questions {five:.1f} / {ten:.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True, help="where `python -m bench.quality` built its memories")
    parser.add_argument("--data", type=Path, help="the data folder")
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--bge", help="the folder of bge-small, to count its memories in")
    given = parser.parse_args()
    specs = {"static": "static"} | ({"bge": f"onnx:{given.bge}"} if given.bge else {})
    gathered: dict[str, list[Asked]] = {}
    for embedder, spec in specs.items():
        for name in given.sets:
            job = Job(name, data_folder(given.data), given.work, embedder, spec)
            for corpus in job.corpora():
                place = job.place(corpus)
                if (place / "built.json").is_file():
                    with Memory(place / "memory", embedder=spec) as memory:
                        gathered.setdefault(f"{name}, {embedder}", []).extend(asked(memory, corpus, SETS[name].limit))
                    print(f"{place.name}: asked", flush=True)
    report(gathered)


if __name__ == "__main__":
    main()
