"""The default recall on Neo4j gives the same hits, scores and reasons as on SQLite."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from cuetrail import Budget, Memory
from tests.servers import Login

NAMES = ["Hans Salter", "José García", "Skarholm", "Wingbeat", "Fort Deposit, Alabama"]
SAID = ["Hans Salter", "Jose Garcia", "Skarholm", "Wingbeat", "Fort Deposit"]
WORDS = "antenna receiver frost mast storm cable harbour goose count spring river winter radio signal".split()  # noqa: SIM905
DAY = 86_400_000
NOW = 1_700_000_000_000
CUES = [
    "Who saw the mast of Wingbeat in the frost?",
    "What did Jose Garcia count at the river?",
    "Which harbour belongs to Fort Deposit?",
    "what happened last week?",
    "the goose in the storm three days ago",
    '"Hans Salter"',
    "antennas receivers cables",
    "#storm radio signal",
]


def filled(memory: Memory) -> None:
    some = Random(7)
    for number in range(80):
        memory.add(
            f"{' '.join(some.choices(WORDS, k=6))} {some.choice(SAID)}.", id=f"n{number}", at=NOW - number * DAY // 3,
            name=some.choice([None, None, some.choice(NAMES)]), tags=some.sample(WORDS, 2),
            source=some.choice([None, f"chat/{number % 5}"]), props={"speaker": some.choice(SAID)}, now=NOW,
        )  # fmt: skip
    for name in NAMES:
        memory.add("", kind="entity", name=name, id=name, now=NOW)
    memory.fact("José García", "uses", "Wingbeat", source_ref="n3", now=NOW)
    memory.link("n1", "n9", weight=0.7, now=NOW)
    memory.forget("n5")


def answers(memory: Memory) -> tuple[list[Any], list[float]]:
    """What each cue finds and why, and the scores."""
    found, scores = [], []
    for cue in CUES:
        given = memory.recall(cue, budget=Budget(chars=1 << 20), limit=30, record_access=False, now=NOW)
        for hit in given.hits:
            hops = [(hop["src"], hop["kind"], hop["dst"]) for hop in hit.why["path"]]
            told = (given.is_direct(hit), hit.why["found_by"], hops, hit.why.get("repeats"))
            found.append((cue, hit.node.id, *told))
            scores.append(hit.score)
    return found, scores


def test_every_cue_finds_the_same_for_the_same_reasons_on_both_engines(server: Login, tmp_path: Path) -> None:
    given = []
    for address in (str(tmp_path / "memory"), server.uri):
        with Memory(address) as memory:
            filled(memory)
            given.append(answers(memory))
    (here, scores), (there, others) = given
    assert {cue for cue, *_ in here} == set(CUES)
    assert here == there
    # The engines reckon BM25 in numbers of other sizes.
    assert scores == pytest.approx(others, abs=2e-6)
