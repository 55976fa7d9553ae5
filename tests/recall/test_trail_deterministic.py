"""The default recall gives the same answer, to the last digit, in every process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from random import Random

from cuetrail import Memory

WORDS = "antenna receiver frost mast storm cable harbour goose count spring river winter radio signal tower".split()  # noqa: SIM905
NAMES = ["Hans Salter", "Ann Gale", "Skarholm", "Wingbeat"]
ASKING = f"""
import json, sys
from cuetrail import Budget, Memory
with Memory(sys.argv[1]) as memory:
    for cue in ("{" ".join(WORDS)}", "Who saw the mast of Wingbeat in the frost, and the storm at the harbour?"):
        found = memory.recall(cue, budget=Budget(chars=1 << 20), limit=50, record_access=False, now=1_000_000)
        print(found.text, json.dumps([(hit.node.id, hit.score, hit.why) for hit in found.hits]))
"""


def test_every_process_gives_the_same_answer_to_the_last_digit(tmp_path: Path) -> None:
    some = Random(1)
    with Memory(tmp_path) as memory:
        for number in range(100):
            memory.add(
                f"{' '.join(some.choices(WORDS, k=9))} {some.choice(NAMES)}.", id=f"n{number}", at=number, now=number,
                name=some.choice([None, some.choice(NAMES)]), tags=some.sample(WORDS, 2),
                source=some.choice([None, f"chat/{number % 5}"]),
            )  # fmt: skip
    # Sets have another order under each of these.
    answers = {asked(tmp_path, seed) for seed in ("1", "2")}
    assert len(answers) == 1
    assert len(answers.pop()) > 1000


def asked(place: Path, seed: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", ASKING, str(place)],
        env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
