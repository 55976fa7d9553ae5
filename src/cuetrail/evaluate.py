"""Evaluation: measures of one ranked answer, and a comparison of recipes on questions with known answers.

An answer is the ids that were found, best first; gold are the ids that should have been found.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from cuetrail.errors import InputError
from cuetrail.facts.find_node import require_node
from cuetrail.files import read_at_most
from cuetrail.model import Budget, Where
from cuetrail.recall import recipes
from cuetrail.recall.pipeline import recall
from cuetrail.recall.stage_types import Recipe
from cuetrail.session import Session
from cuetrail.store.write import Progress

RESAMPLES = 10_000
MOST_QUESTION_BYTES = 64 << 20
SEED = 20_260
# All hits are measured, also those a budget would have no room for.
_UNBOUNDED = Budget(chars=1 << 30)
# How many resamples are drawn at once: limits the memory they take.
_DRAWN_AT_ONCE = 1_000


def recall_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """Returns which share of the expected ids (`gold`) is among the first k of `ranked`.

    >>> recall_at(["a", "x", "b"], {"a", "b"}, 2), recall_at(["a", "x", "b"], {"a", "b"}, 3)
    (0.5, 1.0)
    """
    return len(set(ranked[:k]) & set(gold)) / len(set(gold))


def all_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """Returns 1 if all expected ids (`gold`) are among the first k of `ranked`, else 0.

    >>> all_at(["a", "x", "b"], {"a", "b"}, 2), all_at(["a", "x", "b"], {"a", "b"}, 3)
    (0.0, 1.0)
    """
    return float(set(gold) <= set(ranked[:k]))


def hit_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """Returns 1 if any of the expected ids (`gold`) is among the first k of `ranked`, else 0.

    >>> hit_at(["x", "a"], {"a", "b"}, 1), hit_at(["x", "a"], {"a", "b"}, 2)
    (0.0, 1.0)
    """
    return float(not set(gold).isdisjoint(ranked[:k]))


def reciprocal_rank(ranked: Sequence[str], gold: Collection[str]) -> float:
    """Returns 1 / rank of the first gold, 0 if none was found; its mean over questions is the MRR.

    >>> reciprocal_rank(["x", "a"], {"a"}), reciprocal_rank(["x"], {"a"})
    (0.5, 0.0)
    """
    return next((1 / rank for rank, id_ in enumerate(ranked, 1) if id_ in gold), 0.0)


_AT_K: Mapping[str, Callable[[Sequence[str], Collection[str], int], float]] = {
    "R": recall_at,
    "All": all_at,
    "Hit": hit_at,
}


def measure(name: str, ranked: Sequence[str], gold: Collection[str]) -> float:
    """Returns the value of the measure with this name, such as R@5, All@5, Hit@10 or MRR, for a ranking.

    >>> measure("R@1", ["a"], {"a", "b"}), measure("MRR", ["x", "a"], {"a"})
    (0.5, 0.5)
    """
    if name == "MRR":
        return reciprocal_rank(ranked, gold)
    kind, _, k = name.partition("@")
    return _AT_K[kind](ranked, gold, int(k))


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean difference, and the bounds between which 95 % of its resamplings lie."""

    mean: float
    low: float
    high: float


def paired_interval(
    ours: Sequence[float], theirs: Sequence[float], resamples: int = RESAMPLES, seed: int = SEED
) -> Interval:
    """Returns how much higher `ours` is than `theirs` on the same questions, by the paired bootstrap (percentiles).

    Questions are drawn with replacement, each with both its values, so that hard questions are hard for both.
    Efron and Tibshirani, An Introduction to the Bootstrap (1993), chapter 13.

    >>> paired_interval([1.0, 1.0], [0.5, 0.5])
    Interval(mean=0.5, low=0.5, high=0.5)
    """
    differences = np.asarray(ours, dtype=np.float64) - np.asarray(theirs, dtype=np.float64)
    if not len(differences):
        return Interval(0.0, 0.0, 0.0)
    rng = np.random.default_rng(seed)
    means = np.empty(resamples)
    for start in range(0, resamples, _DRAWN_AT_ONCE):
        count = min(_DRAWN_AT_ONCE, resamples - start)
        drawn = rng.integers(0, len(differences), (count, len(differences)))
        means[start : start + count] = differences[drawn].mean(axis=1)
    low, high = np.percentile(means, (2.5, 97.5))
    return Interval(float(differences.mean()), float(low), float(high))


def measures_of(limit: int) -> tuple[list[str], str]:
    """Returns the measures for this many hits, and the one to compare recipes by: R@5, or R@limit if that is less.

    >>> measures_of(10), measures_of(3)
    ((['R@1', 'R@5', 'R@10', 'All@10', 'MRR'], 'R@5'), (['R@1', 'R@3', 'All@3', 'MRR'], 'R@3'))
    """
    cuts = sorted({k for k in (1, 5, 10) if k < limit} | {limit})
    return [*(f"R@{k}" for k in cuts), f"All@{limit}", "MRR"], f"R@{min(5, limit)}"


# --- questions and answers


@dataclass(frozen=True, slots=True)
class Question:
    """A cue, and the ids or names its answer should contain. `kind` groups questions; `now` is the time of asking."""

    cue: str
    gold: tuple[str, ...]
    kind: str = ""
    now: int | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """The distinct hits of a question, best first, and the time they took."""

    ranked: tuple[str, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class Row:
    """The results of one recipe: the mean of each measure over the questions (`figures`), its `lead` over the recipe
    of the first row, and the median and 95th percentile of the times in seconds.
    """

    name: str
    figures: Mapping[str, float]
    lead: Interval
    p50: float
    p95: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """Recipes compared on the same questions, one row each. The `lead` of a row is its difference to the first row in
    the measure named `by`.
    """

    questions: int
    by: str
    rows: tuple[Row, ...]

    def to_dict(self) -> dict[str, Any]:
        """Returns plain data for JSON."""
        rows = [
            {
                "recipe": row.name,
                **row.figures,
                "lead": {"mean": row.lead.mean, "low": row.lead.low, "high": row.lead.high},
                "p50_ms": row.p50 * 1000,
                "p95_ms": row.p95 * 1000,
            }
            for row in self.rows
        ]
        return {"questions": self.questions, "by": self.by, "against": self.rows[0].name, "rows": rows}


def answer(find: Callable[[Question], Iterable[str]], question: Question) -> Answer:
    """Returns what `find` finds for a question, each id once, and the time it took."""
    start = time.perf_counter()
    found = find(question)
    seconds = time.perf_counter() - start
    return Answer(tuple(dict.fromkeys(found)), seconds)


def scores(name: str, questions: Sequence[Question], answers: Sequence[Answer]) -> list[float]:
    """Returns the value of the measure `name` for each answer."""
    return [measure(name, given.ranked, asked.gold) for asked, given in zip(questions, answers, strict=True)]


def compare(
    questions: Sequence[Question], given: Mapping[str, Sequence[Answer]], measures: Sequence[str], by: str
) -> Comparison:
    """Returns the comparison, with a row for each recipe in `given`; `by` names the measure of the leads over the first
    recipe.
    """
    first = scores(by, questions, next(iter(given.values())))
    rows = []
    for name, answers in given.items():
        figures = {one: statistics.fmean(scores(one, questions, answers)) for one in measures}
        times = [one.seconds for one in answers]
        p50, p95 = (float(at) for at in np.percentile(times, (50, 95)))
        rows.append(Row(name, figures, paired_interval(scores(by, questions, answers), first), p50, p95))
    return Comparison(len(questions), by, tuple(rows))


# --- a file of questions


def make_questions(given: str | Path | Iterable[object]) -> list[Question]:
    """Returns the questions of a file or a list. Raises InputError if one is wrong, or if there are none."""
    if isinstance(given, str | Path):
        return read_questions(Path(given).expanduser())
    found = [one if isinstance(one, Question) else make_question(one) for one in given]
    if not found:
        raise InputError('there are no questions: give some, such as {"question": "...", "gold": ["id or name"]}')
    return found


def read_questions(path: Path) -> list[Question]:
    """Returns the questions of a JSONL file: {"question": "...", "gold": ["id or name", ...]} on each line.

    Raises InputError for a file that cannot be read, and for a line that is no question, with its number.
    """
    found = []
    text = _text_of_questions(path)
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            found.append(make_question(json.loads(line)))
        except (ValueError, RecursionError) as error:
            problem = error if isinstance(error, InputError) else "this is no JSON"
            raise InputError(f"{path}, line {number}: {problem}; {_SHAPE}") from None
    if not found:
        raise InputError(f"{path} holds no questions; {_SHAPE}")
    return found


def _text_of_questions(path: Path) -> str:
    if path.exists() and not path.is_file():
        raise InputError(f"{path} is a folder, pipe or device: name a file of questions")
    try:
        with path.open("rb") as file:
            data = read_at_most(file, MOST_QUESTION_BYTES + 1)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}: name a file of questions") from error
    if len(data) > MOST_QUESTION_BYTES:
        raise InputError(f"{path} has more than {MOST_QUESTION_BYTES >> 20} MB: divide it")
    return data.decode("utf-8-sig", errors="replace")


_SHAPE = 'write {"question": "...", "gold": ["id or name"]} on each line'


def make_question(given: object) -> Question:
    """Returns a question from plain data; `gold` may be one text. Raises InputError if the data is no question."""
    if not isinstance(given, Mapping):
        raise InputError("a question must be a mapping")
    cue, gold, kind = given.get("question"), given.get("gold"), given.get("kind", "")
    gold = [gold] if isinstance(gold, str) else gold
    if not isinstance(cue, str) or not cue.strip():
        raise InputError("question must be a text that is not empty")
    if not isinstance(gold, list | tuple) or not gold or not all(isinstance(one, str) and one for one in gold):
        raise InputError("gold must be a list of ids or names that is not empty")
    return Question(cue, tuple(dict.fromkeys(gold)), kind if isinstance(kind, str) else "")


# --- the recipes of a memory, compared


def bench(
    session: Session,
    questions: Sequence[Question],
    contenders: Mapping[str, Recipe],
    limit: int,
    progress: Progress | None,
    now: int,
) -> Comparison:
    """Returns how well each recipe answers the questions. No memory counts as used.

    Gold (an expected result) that is a source counts as found if any node of that source is found. Raises NotFound for
    unknown gold, InputError for a limit below 1.
    """
    if limit < 1:
        raise InputError("limit must be at least 1: nothing can be found otherwise")
    store, scope = session.store, session.scope
    asked = [replace(q, gold=tuple(require_node(store, scope, one) for one in q.gold)) for q in questions]
    golden = store.get(scope, [id_ for one in asked for id_ in one.gold])
    sources = {node.source: node.id for node in golden.values() if node.kind == "source" and node.source is not None}

    def find(question: Question, recipe: Recipe) -> list[str]:
        found = recall(
            session, question.cue, recipe=recipe, budget=_UNBOUNDED, limit=limit, where=Where(), fuzzy=False,
            record_access=False, count_tokens=None, now=now if question.now is None else question.now,
        )  # fmt: skip
        nodes = (hit.node for hit in found.passages)
        return [n.id if n.id in question.gold else sources.get(n.source or "", n.id) for n in nodes]

    given = {}
    for name, recipe in contenders.items():
        find(asked[0], recipe)  # what is loaded at first use is not timed
        given[name] = [answer(partial(find, recipe=recipe), question) for question in asked]
        if progress:
            progress(name, len(asked), len(asked))
    return compare(asked, given, *measures_of(limit))


def contenders(only: Iterable[str], others: Mapping[str, Recipe]) -> dict[str, Recipe]:
    """Returns the recipes to compare, by name: those in `only`, or all built-in ones and `others`, the default first.

    Raises InputError for an unknown name.
    """
    known = {**recipes.BY_NAME, **others}
    chosen = {}
    for name in list(only) or list(known):
        # A list, because callers may pass values that cannot be hashed.
        if name not in list(known):
            raise InputError(f"there is no recipe {name!r:.60}: use some of {', '.join(known)}")
        chosen[name] = known[name]
    return chosen
