"""A short year of three people, made up: storylines and macros by the rules, and nights that are dreamt twice.

`python -m bench.year --data DIR` lives through a whole one with real chats.
"""

from __future__ import annotations

import random
from pathlib import Path

from bench.year import SEASONAL, TOPICS, USERS, Chat, check, lived
from cuetrail import Memory, Scope


def chats(count: int) -> list[Chat]:
    chance = random.Random(3)
    made = []
    for number in range(count):
        topic = chance.choice(SEASONAL if number % 2 else TOPICS)
        said = f"What about the {topic}? Number {number} is {chance.choice(['old', 'new', 'broken'])}."
        turns = [{"role": "user", "content": said}, {"role": "assistant", "content": f"I would keep the {topic}."}]
        made.append(Chat(f"chat{number}", turns))
    return made


def test_a_year_keeps_every_rule_and_no_second_run_writes(tmp_path: Path) -> None:
    with Memory(tmp_path / "year", scope=Scope(user=USERS[0]), embedder="none") as memory:
        year = lived(memory, tmp_path / "year", chats(240), 360, step=24)
        assert year.again == 0
        assert memory.get("garden") is not None
    told = check(tmp_path / "year")
    assert told["storylines"] >= 6
    assert told["macros"] >= 1
