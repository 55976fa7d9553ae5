"""Chooses the weights of TRAIL's signals on the development questions, one choice for each kind of memories.

    python -m bench.quality.choose --work /tmp/quality                       # the sets built there, every embedder
    python -m bench.quality.choose --work /tmp/quality --kind chats --bge models/bge

Each question is asked once, with every signal counting, and the `why` of all that might have answered tells these. Then
one weight after the other is moved, as long as that raises what the sets of a kind measure: the measure a set is told
by, and a third of the others. A signal without which they lose nothing gets no weight. The same is done with half of
the questions, and told for the other half: by so much may the choice be flattered. `weights.py` has rounded values; of
choices that differ by less than the halves do, the one that is best for the set with the most to gain.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.quality.contenders import ROOM, TODAY
from bench.quality.registry import SETS
from bench.quality.run import Job
from bench.quality.sets import Corpus, data_folder
from cuetrail import Memory
from cuetrail.evaluate import Answer, Question, scores
from cuetrail.recall import recipes
from cuetrail.recall.stage_types import Anchored, Reached, RecallContext, Scored
from cuetrail.recall.weights import CHATS, NAMED, NOTES, Trail, Weights

MOST = 1 << 30
STEPS = (1.7, 1.3, 1.15)
ROUNDS = 4
LEAST_GAIN = 0.04
OTHER_MEASURES = 0.3
SIGNALS = tuple(sorted(NAMED.signals().keys() | NOTES.signals().keys() | CHATS.signals().keys()))
KINDS: dict[str, tuple[Weights, tuple[str, ...]]] = {
    "named": (NAMED, ("musique", "2wiki", "hotpotqa")),
    "notes": (NOTES, ("blue-book", "dendron-site", "til")),
    "chats": (CHATS, ("locomo", "longmemeval", "lihua")),
}
Array = NDArray[Any]
Chosen = dict[str, float]
Half = Callable[[int], bool]


@dataclass(frozen=True, slots=True)
class Asked:
    """One question, the signals of its hits, and what each hit is told by."""

    question: Question
    signals: Array
    places: tuple[str, ...]

    def answer(self, weights: Array) -> Answer:
        """The places in the order these weights give, each once."""
        order = np.argsort(-(self.signals @ weights), kind="stable") if self.places else ()
        return Answer(tuple(dict.fromkeys(self.places[at] for at in order)), 0.0)


def asked(memory: Memory, corpus: Corpus, limit: int) -> Iterable[Asked]:
    """Every question of a corpus with the signals of all that might have answered."""
    seen: list[Scored] = []
    even = Weights(**dict.fromkeys(SIGNALS, 1.0))
    every = recipes.trail(replace(Trail(), named=even, notes=even, chats=even))

    def all_of(context: RecallContext, anchored: Anchored, reached: Reached) -> Scored:
        seen.append(every.score(replace(context, limit=MOST), anchored, reached))
        return seen[-1]

    recipe = replace(every, score=all_of)
    for question in corpus.questions:
        now = TODAY if question.now is None else question.now
        # With the limit of the benchmark, as that says how many anchors are looked for.
        memory.recall(question.cue, recipe=recipe, limit=limit, budget=ROOM, record_access=False, now=now)
        hits = [one for hit in seen.pop().anchors for one in (hit, *hit.more)]
        places = tuple((hit.node.source or hit.node.id) if corpus.place == "source" else hit.node.id for hit in hits)
        signals = [[hit.why["parts"].get(name, 0.0) for name in SIGNALS] for hit in hits]
        yield Asked(question, np.array(signals), places)


def measured(name: str, some: Sequence[Asked], chosen: Chosen) -> dict[str, float]:
    """Every measure of a set with these weights, in per cent."""
    weights = np.array([chosen[signal] for signal in SIGNALS])
    questions, answers = [one.question for one in some], [one.answer(weights) for one in some]
    return {by: 100 * float(np.mean(scores(by, questions, answers))) for by in SETS[name].measures}


def worth(sets: Mapping[str, Sequence[Asked]], chosen: Chosen) -> float:
    """What the sets measure together, each alike."""
    total = 0.0
    for label, some in sets.items():
        name = label.split(",")[0]
        found = measured(name, some, chosen)
        others = [value for by, value in found.items() if by != SETS[name].by]
        total += found[SETS[name].by] + OTHER_MEASURES * sum(others)
    return total / max(len(sets), 1)


def climbed(sets: Mapping[str, Sequence[Asked]], start: Chosen) -> Chosen:
    """The weights after moving one at a time, in ever smaller steps, as long as that helps."""
    chosen, best = dict(start), worth(sets, start)
    for step in STEPS:
        for _ in range(ROUNDS):
            before = best
            for name in [name for name, value in chosen.items() if value]:
                for value in (0.0, chosen[name] * step, chosen[name] / step):
                    tried = {**chosen, name: value}
                    reached = worth(sets, tried)
                    if reached >= best + (LEAST_GAIN if value else 0.0):
                        chosen, best = tried, reached
            if best == before:
                break
    return chosen


def halved(sets: Mapping[str, Sequence[Asked]], half: Half) -> dict[str, list[Asked]]:
    return {label: [one for at, one in enumerate(some) if half(at)] for label, some in sets.items()}


def report(kind: str, sets: Mapping[str, Sequence[Asked]]) -> None:
    """The weights of now and the chosen ones; and what those chosen on one half give on the other."""
    now = {name: getattr(KINDS[kind][0], name) for name in SIGNALS}
    # What has no weight now gets a small one to begin with, so that it can rise.
    start = {name: value or 0.1 for name, value in now.items()}
    chosen = climbed(sets, start)
    halves: list[Half] = [lambda at: at % 2 == 0, lambda at: at % 2 == 1]
    by_half = [climbed(halved(sets, half), start) for half in halves]
    print(f"{kind}:", ", ".join(f"{name}={value:.2f}" for name, value in chosen.items() if value))
    for label, some in sets.items():
        name = label.split(",")[0]
        unseen = [measured(name, halved({"": some}, halves[1 - at])[""], by_half[at]) for at in (0, 1)]
        for by, value in measured(name, some, now).items():
            after, left = measured(name, some, chosen)[by], float(np.mean([one[by] for one in unseen]))
            print(f"{label:>24} {by:>7}: now {value:.1f}, chosen {after:.1f}, on unseen questions {left:.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True, help="where `python -m bench.quality` built its memories")
    parser.add_argument("--data", type=Path, help="the data folder")
    parser.add_argument("--kind", choices=list(KINDS), action="append", help="all kinds, unless some are named")
    parser.add_argument("--bge", help="the folder of bge-small, to count its memories in")
    given = parser.parse_args()
    specs = {"static": "static"} | ({"bge": f"onnx:{given.bge}"} if given.bge else {})
    for kind in given.kind or KINDS:
        gathered: dict[str, list[Asked]] = {}
        for embedder, spec in specs.items():
            for name in KINDS[kind][1]:
                job = Job(name, data_folder(given.data), given.work, embedder, spec)
                for corpus in job.corpora():
                    place = job.place(corpus)
                    if (place / "built.json").is_file():
                        with Memory(place / "memory", embedder=spec) as memory:
                            found = asked(memory, corpus, SETS[name].limit)
                            gathered.setdefault(f"{name}, {embedder}", []).extend(found)
                        print(f"{place.name}: asked", flush=True)
        report(kind, gathered)


if __name__ == "__main__":
    main()
