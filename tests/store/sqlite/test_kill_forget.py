"""kill -9 while forgetting: afterwards the memory is there whole, or no byte of it is left in any file."""

from __future__ import annotations

import random
from pathlib import Path

from cuetrail.model import Node
from cuetrail.store.sqlite.index.vector_search import quantised
from tests.store.sqlite.tools import Pebbles, a_moment, nest, open_memory

ROUNDS = 20
EACH = 6


def word(number: int) -> str:
    return f"qsecret{number}word"


def left_in(place: Path, numbers: set[int]) -> list[tuple[str, int]]:
    """(file, number) of each memory of which a byte sequence is left."""
    vectors = {n: Pebbles().embed_query(text_of(n)).astype("<f2") for n in numbers}
    codes = {n: quantised(vector[None, :].astype("<f4")).tobytes() for n, vector in vectors.items()}
    needles = {n: (word(n).encode(), vectors[n].tobytes(), codes[n]) for n in numbers}
    files = [(file.name, file.read_bytes()) for file in sorted(place.rglob("*")) if file.is_file()]
    return [(name, n) for name, data in files for n, some in needles.items() if any(needle in data for needle in some)]


def text_of(number: int) -> str:
    return f"the word is {word(number)} and nothing else"


def test_a_forgetting_killed_at_any_moment_is_undone_or_completed(tmp_path: Path) -> None:
    rng = random.Random(5)
    place, total = tmp_path / "m", ROUNDS * EACH
    with open_memory(place) as memory:
        memory.add_many({"id": f"n{n}", "text": text_of(n)} for n in range(total))
        memory.add_many(f"innocent number {n}" for n in range(50))
        memory.refresh()
    there = set(range(total))
    assert len(left_in(place, there)) == 2 * total, "in the truth and in the vector index"
    halved = 0
    with nest(tmp_path / "nest") as nursery:
        for round_ in range(ROUNDS):
            doomed = range(round_ * EACH, (round_ + 1) * EACH)
            child = nursery.hatch("forgetter", place, ids=[f"n{n}" for n in doomed])
            a_moment(rng, 0.25)
            said = child.kill().count("ok")
            with open_memory(place) as memory:
                now = {
                    int(r.id[1:]) for _, r in memory.store.scan(memory.scope) if isinstance(r, Node) and r.id[0] == "n"
                }
                assert there - now in (set(doomed[:said]), set(doomed[: said + 1])), "one by one, none of them half"
                halved += len(there - now) > said
                # The next use of the memory completes what was left undone.
                memory.add(f"the next write {round_}")
                memory.refresh()
                assert left_in(place, set(range(total)) - now) == []
                there = now
    assert 0 < len(there) < total
    with open_memory(place) as memory:
        assert memory.doctor() == []
