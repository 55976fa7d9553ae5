"""Measures how long a new and a repeated narrative take, as the facts grow from ten thousand to a million.

    python -m bench.narrate 10000 100000 1000000

SIZE counts facts; there are a tenth as many entities, each with a name of two words and a number, and a vector by the
static embedder. Subjects are drawn so that a few have very many facts and most have few; of one fact in two the object
is another entity, of the others a text. One entity has a tenth of all facts, to be compared with one that has 100.

A question is "what about NAME", for entities drawn at random. A miss is `Memory.narrate` with the cache passed by, from
the cue to the text: the embedding of the cue, the vector search over all entities, two hops, score and sections. A hit
is the same question again. The share of the vector search, which looks at every entity, is shown apart, and so is the
same without vectors, by name. Nothing is counted as a use. Each question is asked PASSES times; its median counts.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from bench.common import SMALL, Result, arguments, emptied, ms, p50, p95, publish, timed, times, workplace
from bench.corpus import SEED
from cuetrail import Memory
from cuetrail.model import Fact, Where
from cuetrail.store.read import HeldAt
from cuetrail.store.write import Batch

QUESTIONS = 200
WARM_UP = 20
PASSES = 3
BATCH = 20_000
DONE = "built"
NOW = 1_765_929_600_000
FEW = 100
COLUMNS = ["questions", "p50", "p95", "of it vectors, p50", "told again, p50", "p95", "made / told again"]
_FIRST = (
    "amber", "basalt", "cedar", "delta", "ember", "fjord", "granite", "harbour", "indigo", "juniper", "kelp", "lumen",
    "maple", "nickel", "onyx", "pine",
)  # fmt: skip
_SECOND = (
    "relay", "mast", "antenna", "ledger", "engine", "beacon", "turbine", "archive", "signal", "harvest", "vessel",
    "lattice", "orchard", "tunnel",
)  # fmt: skip


def main() -> None:
    options = arguments(__doc__).parse_args()
    with workplace(options.work) as work:
        first: dict[str, float] = {}
        for size in sorted(options.sizes):
            folder = work / f"narrate-{size}"
            if not (folder / DONE).exists():
                build(emptied(folder), size)
            result = measure(folder, size, first)
            first = first or (result.figures if size == SMALL else {})
            publish(result)


def measure(folder: Path, size: int, first: dict[str, float]) -> Result:
    chance = random.Random(SEED)
    names = [name_of(chance.randrange(size // 10)) for _ in range(WARM_UP + QUESTIONS)]
    with Memory(folder, embedder="static") as memory:
        made, again, found = asked(memory, names)
        vectors = [timed(lambda name: searched(memory, name), name)[0] for name in names][WARM_UP:]
        hub = [held(memory, "hub") for _ in range(PASSES * 10)]
        few = [held(memory, "few") for _ in range(PASSES * 10)]
    with Memory(folder, embedder=None) as memory:
        by_name, by_name_again, _ = asked(memory, names)
    rows = [_row("by meaning", made, again, vectors), _row("by name", by_name, by_name_again, None)]
    figures = {"p50": p50(made), "p95": p95(made), "by name, p50": p50(by_name)}
    figures["miss / hit, p50"] = p50(made) / p50(again)
    figures["hub / entity of 100"] = p50(hub) / p50(few)
    if first:
        figures[f"p50 / p50 at {SMALL}"] = p50(made) / first["p50"]
    notes = [
        f"on average {found / len(names):.1f} facts told",
        f"the most certain facts of an entity with {size // 10:,}: {ms(p50(hub))}; of one with {FEW}: {ms(p50(few))}",
    ]
    return Result("narrate", size, COLUMNS, rows, figures, notes)


def asked(memory: Memory, names: list[str]) -> tuple[list[float], list[float], int]:
    """Medians of telling anew and again, and how many facts were told."""
    made, again, found = [], [], 0
    for number, name in enumerate(names):
        cue = f"what about {name}"
        told = memory.narrate(cue, record_access=False, now=NOW)
        found += len(told.lines)
        ways: list[Callable[[str], object]] = [
            lambda cue: memory.narrate(cue, record_access=False, cache=False, now=NOW),
            lambda cue: memory.narrate(cue, record_access=False, now=NOW),
        ]
        if number >= WARM_UP:
            taken = [[timed(way, cue)[0] for way in ways] for _ in range(PASSES)]
            made.append(p50([seconds[0] for seconds in taken]))
            again.append(p50([seconds[1] for seconds in taken]))
    return made, again, found


def searched(memory: Memory, name: str) -> object:
    vector = memory._vectors.of_query(f"{name}")
    assert vector is not None
    return memory.store.vector(memory.scope, vector.vector, 3, Where(), vector.space, named=True)


def held(memory: Memory, entity: str) -> float:
    return timed(lambda id_: memory.store.facts(memory.scope, [id_], held=HeldAt(NOW, 10, "both")), entity)[0]


def _row(name: str, made: list[float], again: list[float], vectors: list[float] | None) -> list[str]:
    part = ms(p50(vectors)) if vectors else ""
    return [name, ms(p50(made)), ms(p95(made)), part, ms(p50(again)), ms(p95(again)), times(p50(made) / p50(again))]


# --- the facts


def name_of(number: int) -> str:
    return f"{_FIRST[number % len(_FIRST)]} {_SECOND[number // 7 % len(_SECOND)]} {number}"


def build(folder: Path, size: int) -> None:
    """Writes entities and facts; a marker file says that the memory is complete."""
    entities = size // 10
    rng = np.random.default_rng([SEED, 11])
    subjects = np.minimum((rng.pareto(1.2, size) * entities / 50).astype(np.int64), entities - 1).tolist()
    objects = rng.integers(0, entities, size).tolist()
    sure = rng.uniform(0.3, 1.0, size).round(4).tolist()
    linked = (rng.random(size) < 0.5).tolist()
    ages = rng.integers(0, 200 * 86_400_000, size).tolist()
    with Memory(folder, embedder="static") as memory:
        memory.add_many(({"id": f"e{n}", "name": name_of(n), "kind": "entity"} for n in range(entities)), now=NOW)
        memory.add_many([{"id": id_, "name": id_, "kind": "entity"} for id_ in ("hub", "few")], now=NOW)
        with memory.store.bulk():
            for start in range(0, size, BATCH):
                facts = []
                for n in range(start, min(start + BATCH, size)):
                    # One fact in ten is of the hub, and the first ones of its small counterpart.
                    subject = "few" if n < FEW else "hub" if n % 10 == 0 else f"e{subjects[n]}"
                    end: Any = {"object": f"e{objects[n]}"} if linked[n] else {"value": f"value {n}"}
                    known: Any = {"confidence": sure[n], "source": "file", "created": NOW - ages[n]}
                    facts.append(Fact(f"f{n}", subject, f"p{n % 23}", **end, **known))
                memory.store.write(memory.scope, Batch(facts=facts))
        memory.store.refresh(None)
    (folder / DONE).touch()


if __name__ == "__main__":
    main()
