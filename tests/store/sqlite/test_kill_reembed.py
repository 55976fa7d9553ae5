"""kill -9 while changing the model: the memory answers with one complete model before and after."""

from __future__ import annotations

import random
from pathlib import Path

from cuetrail.memory import Memory
from cuetrail.model import Node
from tests.store.sqlite.tools import Nest, Pebbles, a_moment, nest

MODELS = ("granite", "basalt")
ROUNDS = 20
START = 120


def texts_of(memory: Memory) -> dict[str, str]:
    return {record.id: record.text for _, record in memory.store.scan(memory.scope) if isinstance(record, Node)}


def examined(place: Path) -> str:
    """The model the memory holds, after checking that every vector is of that model and of its own text."""
    with Memory(place, embedder=None) as memory:
        space = memory.store.vector_spaces().held
        assert space is not None
        assert space.model in MODELS
        texts = texts_of(memory)
        stored = memory.store.vectors(memory.scope, list(texts), space)
    model = Pebbles(space.model)
    assert stored == {id_: model.embed_query(texts[id_]).astype("<f2").tobytes() for id_ in stored}
    # The one that is corrected all the time may have been so by a writer with the old model, right after the switch.
    assert len(stored) >= START - 1
    with Memory(place, embedder=model) as memory:
        some = sorted(stored)[0]
        found = memory.recall(texts[some], limit=1, record_access=False)
        assert found.notices == ()
        assert found.hits[0].why["parts"]["cosine"] > 0.99
    return space.model


def one_round(nursery: Nest, place: Path, held: str, rng: random.Random, number: int) -> list[str]:
    """A change-over and a writer beside it, both killed at a random moment; the steps that were heard."""
    other = next(model for model in MODELS if model != held)
    texts = [(f"w{number}.{n}" if n % 2 else "s7", f"written in round {number} as number {n}") for n in range(40)]
    writer = nursery.hatch("adder", place, models=[held, other], texts=texts)
    changer = nursery.hatch("reembedder", place, model=other, step=rng.choice([7, 40]))
    said = []
    for _ in range(rng.randint(0, 12)):
        line = changer.hear()
        said += [line] if line else []
    a_moment(rng, 0.03)
    for child in rng.sample([writer, changer], 2):
        lines = child.kill()
        said += lines if child is changer else []
    return said


def test_a_change_over_killed_at_any_moment_never_mixes_two_models(tmp_path: Path) -> None:
    rng = random.Random(4)
    place, held = tmp_path / "m", MODELS[0]
    with Memory(place, embedder=Pebbles(held)) as memory:
        memory.add_many({"id": f"s{n}", "text": f"stone number {n}"} for n in range(START))
    outcomes = set()
    with nest(tmp_path / "nest") as nursery:
        for number in range(ROUNDS):
            said = one_round(nursery, place, held, rng, number)
            now = examined(place)
            assert now != held or "changed over" not in said
            outcomes.add((bool(said), now != held))
            held = now
    assert outcomes >= {(True, False), (True, True)}, "some were stopped half way and some were not"
    with Memory(place, embedder=None) as memory:
        memory.reembed(Pebbles("final"))
        assert memory.stats().vectors == len(texts_of(memory))
        assert memory.doctor() == []
