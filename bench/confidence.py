"""Fits the confidence of a recall, and tells how often it answers and refuses.

    python -m bench.confidence --data /path/to/data                       # the default embedder
    python -m bench.confidence --data /path/to/data --embedder none
    python -m bench.confidence --data /path/to/data --embedder onnx:models/bge --most 30

Memories of different sizes are drawn from the vaults and from MuSiQue, 2WikiMultihopQA and HotpotQA. Each is asked

- present: questions whose note or passages it has,
- removed: questions of the same set whose note or passages it does not have,
- absent: topics that none of the sets has.

For each set, the coefficients are fitted on the other sets alone, and the table tells how it would be answered with
these. `right` are present questions whose first hit is the note that answers. The last line has the coefficients of all
sets together, for `formulas.py`. Needs `pip install 'cuetrail[bench]'`.
"""

from __future__ import annotations

import argparse
import math
import random
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from bench.common import aligned, percent
from bench.everyday.questions import load_vault
from bench.quality.sets import data_folder, read_lines
from cuetrail import Memory
from cuetrail.formulas import FEW_CANDIDATES, SMALLNESS, Evidence
from cuetrail.recall.score import confidence

VAULTS = ("dendron-site", "blue-book", "til")
CORPORA = ("musique", "2wiki", "hotpotqa")
SIZES = {12: 10, 30: 6, 100: 4, 300: 2}
"""How many memories are drawn of each size."""
OTHERS = 12
"""How many removed questions and absent topics each memory is asked."""
LENIENCE = 1.25
"""Added to the constant term: rather an answer too many than one too few."""
WRONG_FIRST, RIDGE = 0.6, 1e-3
NOW, SEED = 1_767_225_600_000, 7
FIELDS = ("score", "matched", "rest", "near", "bias")
COLUMNS = ["set", "present answered", "right answered", "removed answered", "absent answered"]
Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Asked:
    """One question put to one memory: its set and kind, the evidence, and whether the first hit is right."""

    set: str
    kind: str
    evidence: Evidence
    right: bool


@dataclass(frozen=True, slots=True)
class Questions:
    """The questions of a set, each with the places that answer it; all places; and how a memory of some is filled.

    A place is a note or a passage. Of sets that need `several` passages a first hit is not judged.
    """

    set: str
    cues: Sequence[tuple[str, frozenset[str]]]
    places: Sequence[str]
    fill: Callable[[Memory, Path, Sequence[str]], object]
    several: bool


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="the public sets [CUETRAIL_DATA]")
    parser.add_argument("--embedder", default="static", help="as for `cuetrail --embedder`")
    parser.add_argument("--reranker", help="as for `cuetrail --reranker`")
    parser.add_argument("--most", type=int, default=max(SIZES), help="the largest size of a memory")
    options = parser.parse_args()
    data = data_folder(options.data)
    asked = list[Asked]()
    for questions in (*(from_vault(data, name) for name in VAULTS), *(from_corpus(data, name) for name in CORPORA)):
        draw = random.Random(SEED)
        for size, times in SIZES.items():
            for _ in range(times if size <= options.most else 0):
                with tempfile.TemporaryDirectory() as folder:
                    asked += ask(questions, size, draw, absent(data), Path(folder), options)
    report(asked)


# --- the questions


def absent(data: Path) -> list[str]:
    groups = load_vault(data, VAULTS[0], None).groups
    return [one.cue for one in (*groups["absent"], *groups["more absent"])]


def from_vault(data: Path, name: str) -> Questions:
    vault = load_vault(data, name, None)

    def fill(memory: Memory, folder: Path, chosen: Sequence[str]) -> None:
        for note in chosen:
            (folder / note).parent.mkdir(parents=True, exist_ok=True)
            (folder / note).write_text(vault.notes[note], "utf-8")
        memory.ingest(folder, now=NOW)

    groups = (vault.groups.get(kind, ()) for kind in ("questions", "more questions"))
    cues = [(one.cue, frozenset([one.note])) for some in groups for one in some]
    return Questions(name, cues, sorted(vault.notes), fill, several=False)


def from_corpus(data: Path, name: str) -> Questions:
    passages = {str(one["id"]): one for one in read_lines(data / "multihop" / f"{name}.corpus.jsonl.gz")}
    questions = read_lines(data / "multihop" / f"{name}.questions.jsonl.gz")

    def fill(memory: Memory, _: Path, chosen: Sequence[str]) -> None:
        some = (passages[id_] for id_ in chosen)
        memory.add_many(({"text": one["text"], "name": one["title"], "at": NOW} for one in some), now=NOW)

    cues = [(one["question"], frozenset(map(str, one["gold"]))) for one in questions]
    return Questions(name, cues, sorted(passages), fill, several=True)


def ask(
    questions: Questions, size: int, draw: random.Random, absent: Sequence[str], folder: Path, options: Any
) -> Iterator[Asked]:
    """Draws a memory of about `size` places, and yields the questions asked of it with their evidence."""
    present = draw.sample(questions.cues, max(3, min(size // 3, 20)))
    needed = frozenset[str]().union(*(gold for _, gold in present))
    others = [place for place in questions.places if place not in needed]
    kept = needed.union(draw.sample(others, max(size - len(needed), 0)))
    removed = [(cue, gold) for cue, gold in draw.sample(questions.cues, len(questions.cues)) if not gold & kept]
    nothing = frozenset[str]()
    groups = {"present": present, "removed": removed[:OTHERS]}
    groups["absent"] = [(cue, nothing) for cue in draw.sample(list(absent), OTHERS)]
    with Memory(folder / "memory", embedder=options.embedder, reranker=options.reranker, rerank_ms=60_000) as memory:
        questions.fill(memory, folder / "notes", sorted(kept))
        for kind, cues in groups.items():
            for cue, gold in cues:
                evidence, first = recalled(memory, cue)
                # Cues that are a title, or for which there is no candidate, need no estimate.
                if evidence is not None:
                    right = questions.several or any(first.endswith(note) for note in gold)
                    yield Asked(questions.set, kind, evidence, right)


def recalled(memory: Memory, cue: str) -> tuple[Evidence | None, str]:
    """Returns the evidence from which a recall computes its confidence, None if it needs none; and the source of its
    first hit.
    """
    seen = list[Evidence]()
    of = confidence.evidence_of

    def noted(*given: Any) -> Evidence:
        seen.append(of(*given))
        return seen[-1]

    with patch.object(confidence, "evidence_of", noted):
        found = memory.recall(cue, limit=5, now=NOW, record_access=False)
    return (seen[-1] if seen else None), (found.hits[0].node.source or "") if found.hits else ""


# --- the fit


def report(asked: Sequence[Asked]) -> None:
    """Prints how each set is answered with the coefficients of the others, and the coefficients of all together."""
    table, weights = rows(asked), weights_of(asked)
    present = np.array([one.kind == "present" for one in asked])
    # As `formulas.confidence` adds it; it is not part of the fit.
    small = np.array([SMALLNESS * math.log(FEW_CANDIDATES / min(c, FEW_CANDIDATES)) for c in candidates(asked)])
    lines = []
    for name in dict.fromkeys(one.set for one in asked):
        own = np.array([one.set == name for one in asked])
        answered = table @ fit(table[~own], present[~own], weights[~own]) + small >= 0

        def share(kind: str, right: bool = False, own: Any = own, answered: Any = answered) -> str:
            which = [n for n, one in enumerate(asked) if own[n] and one.kind == kind and (one.right or not right)]
            return f"{percent(float(np.mean(answered[which])))} of {len(which)}" if which else ""

        lines.append([name, share("present"), share("present", right=True), share("removed"), share("absent")])
    print(aligned(COLUMNS, lines))
    print(", ".join(f"{name}={value:.2f}" for name, value in zip(FIELDS, fit(table, present, weights), strict=True)))


def candidates(asked: Sequence[Asked]) -> list[int]:
    return [max(one.evidence.candidates, 1) for one in asked]


def rows(asked: Sequence[Asked]) -> Numbers:
    found = [one.evidence for one in asked]
    return np.array(
        [[e.score, math.log1p(e.matched), e.rest, 0.0 if e.reranked else e.near or 0.0, 1.0] for e in found]
    )


def weights_of(asked: Sequence[Asked]) -> Numbers:
    """Returns the weight of each question: sets and kinds of which there are many count less, and so do present ones
    whose first hit is wrong, for that answers nothing.
    """
    counts = Counter((one.set, one.kind) for one in asked)
    each = [WRONG_FIRST if one.kind == "present" and not one.right else 1.0 for one in asked]
    return np.array(each) / np.sqrt([counts[one.set, one.kind] for one in asked])


def fit(table: Numbers, present: NDArray[np.bool_], weights: Numbers) -> Numbers:
    """Returns the coefficients of a logistic regression, the constant term raised by LENIENCE."""
    from scipy.optimize import minimize

    sign, scale = np.where(present, 1.0, -1.0), np.maximum(table.std(axis=0), 1e-9)
    scale[-1] = 0.0

    def loss(w: Numbers) -> float:
        losses = weights * np.logaddexp(0, -sign * (table @ w))
        return float(losses.sum() / weights.sum() + RIDGE * ((w * scale) ** 2).sum())

    found: Numbers = minimize(loss, np.zeros(table.shape[1]), method="L-BFGS-B").x
    found[-1] += LENIENCE
    return found


if __name__ == "__main__":
    main()
