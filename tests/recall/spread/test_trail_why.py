"""The `why` of a hit is true: where its path begins, by what means it goes on, and with how much energy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest

from cuetrail import Budget, Hit, Memory
from cuetrail.recall.spread.trail import SEARCH, SecondHop

ROOM = Budget(chars=1 << 20)
NAMES = ["Hans Salter", "Ann Gale", "Skarholm", "Wingbeat", "Cardiff Institutes"]
WORDS = "antenna receiver frost mast storm cable harbour goose count spring river winter radio signal".split()  # noqa: SIM905


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "memory", embedder=None) as opened:
        yield opened


def hits(memory: Memory, cue: str, **more: Any) -> dict[str, Hit]:
    return {hit.node.id: hit for hit in memory.recall(cue, budget=ROOM, **more).hits}


def ways(why: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    return [(hop["src"], hop["kind"], hop["dst"]) for hop in why["path"]]


def test_of_two_ways_the_stronger_by_a_name_is_told_with_its_own_start_and_energy() -> None:
    weak = SecondHop(hop=0.1, left=0.2, via="skarholm", start="a", energy=0.2)
    strong = SecondHop(link=0.9, via="wingbeat", start="b", energy=0.9)
    assert weak.merge(strong) == strong.merge(weak) == SecondHop(0.9, 0.1, 0.2, 0.0, "wingbeat", "b", 0.9)
    searched = SecondHop(further=1.0, via=SEARCH, start="c", energy=1.0)
    assert weak.merge(searched) == searched.merge(weak) == SecondHop(0.0, 0.1, 0.2, 1.0, "skarholm", "a", 0.2)


def test_what_leads_to_its_own_title_is_not_said_to_come_from_there(memory: Memory, tmp_path: Path) -> None:
    chat = tmp_path / "chat.jsonl"
    said = "I adopted a dog named Biscuit", "Lovely! What breed?", "A beagle.", "Biscuit ate my shoes"
    chat.write_text("".join(f'{{"role": "user", "content": "{one}"}}\n' for one in said), "utf-8")
    memory.ingest(chat)
    found = memory.recall("What breed is Biscuit?", budget=ROOM).passages
    assert len(found) == len(said)
    for hit in found:
        assert hit.node.id not in {hop["src"] for hop in hit.why["path"]}
        assert "walk" not in hit.why["found_by"] or hit.why["path"]


def test_the_way_over_two_hops_begins_at_what_the_cue_found(memory: Memory) -> None:
    memory.add("A film of 1951 with music by Hans J. Salter.", name="Thunder on the Hill", id="film")
    memory.add("He was a pupil at the Cardiff Institutes.", name="Hans J. Salter", id="composer")
    memory.add("The Cardiff Institutes have their own town.", id="school")
    for number in range(20):
        memory.add(f"Society {number} stands apart.", name=f"Society {number}")
    why = hits(memory, "In which town did the author of the music of Thunder on the Hill learn?", limit=40)[
        "school"
    ].why
    assert ways(why) == [("film", "name", "composer"), ("composer", "cardiff institutes", "school")]
    assert why["anchors"] == ["school"]


@pytest.mark.parametrize("seed", range(4))
def test_every_way_begins_at_what_was_found_and_ends_at_the_hit_without_a_gap(memory: Memory, seed: int) -> None:
    some = Random(seed)
    for number in range(60):
        memory.add(
            f"{' '.join(some.choices(WORDS, k=5))} {some.choice(NAMES)}.", id=f"n{number}", at=number, now=number,
            name=some.choice([None, some.choice(NAMES)]), tags=some.sample(WORDS, 2),
            source=some.choice([None, f"chat/{number % 5}"]),
        )  # fmt: skip
    found = hits(memory, "Who saw the mast of Wingbeat in the frost?", limit=60, now=1_000_000)
    led = {id_: hit.why for id_, hit in found.items() if hit.why["path"]}
    assert led
    for id_, why in led.items():
        path = why["path"]
        ends = [path[0]["src"], *(hop["dst"] for hop in path)]
        assert ends[1:-1] == [hop["src"] for hop in path[1:]]
        assert ends[-1] == id_
        assert len(set(ends)) == len(ends)
        assert all(0 < hop["energy"] <= 1 for hop in path)
        start = found.get(ends[0])
        assert start is None or {"text", "vector", "named"} & set(start.why["found_by"])
