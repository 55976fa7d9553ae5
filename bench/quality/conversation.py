"""Conversations: LoCoMo by turns, LongMemEval by sessions, LiHua-World by chats.

Each turn is added with its text, its time and its session as `source`, in the order in which they were said.
"""

from __future__ import annotations

import json
import re
import tarfile
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any

from bench.quality.sets import Corpus, QualitySet, Record, adder, first, present, read_lines
from cuetrail.evaluate import Question

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open", 4: "single", 5: "adversarial"}
LOCOMO_TIME, LONGMEMEVAL_TIME, LIHUA_TIME = "%I:%M %p on %d %B, %Y", "%Y/%m/%d %H:%M", "%Y%m%d%H%M"
LIHUA_EVIDENCE = re.compile(r"(\d{8})_(\d\d):?(\d\d)")


def milliseconds(text: str, form: str) -> int:
    """A time in UTC milliseconds."""
    return int(datetime.strptime(text, form).replace(tzinfo=UTC).timestamp()) * 1000


# --- LoCoMo


def load_locomo(data: Path, most: int | None) -> list[Corpus]:
    """One memory a conversation, one node a turn."""
    return [
        Corpus(one["id"], adder(_turns(one["turns"])), first(_locomo_questions(one["questions"]), most))
        for one in read_lines(data / "conversation" / "locomo.jsonl.gz")
    ]


def _turns(turns: Iterable[dict[str, Any]]) -> list[Record]:
    return [
        {
            "id": turn["id"], "text": f"{turn['speaker']}: {turn['text']}", "source": turn["session"],
            "at": milliseconds(turn["date"], LOCOMO_TIME),
        }
        for turn in turns
    ]  # fmt: skip


def _locomo_questions(questions: Iterable[dict[str, Any]]) -> Iterator[Question]:
    for one in questions:
        yield Question(one["question"], tuple(one["gold"]), CATEGORIES[one["category"]])


# --- LongMemEval


def load_longmemeval(data: Path, most: int | None) -> list[Corpus]:
    """One memory of all sessions, one node a user turn; a turn that is found stands for its session."""
    folder = data / "conversation"
    items: list[Record] = []
    for one in read_lines(folder / "longmemeval.sessions.jsonl.gz"):
        at = _longmemeval_time(one["date"])
        said = (turn["text"] for turn in one["turns"] if turn["role"] == "user")
        items += [
            {"id": f"{one['id']} {place}", "text": text, "source": one["id"], "at": at}
            for place, text in enumerate(said)
        ]
    asked = (
        Question(one["question"], tuple(one["gold"]), one["kind"], _longmemeval_time(one["date"]))
        for one in read_lines(folder / "longmemeval.questions.jsonl.gz")
    )
    return [Corpus("longmemeval", adder(items), first(asked, most), place="source")]


def _longmemeval_time(text: str) -> int:
    """From 2023/04/10 (Mon) 17:50."""
    return milliseconds(re.sub(r" \(\w+\)", "", text), LONGMEMEVAL_TIME)


# --- LiHua-World


def load_lihua(data: Path, most: int | None) -> list[Corpus]:
    """One memory, one node a chat; its id is the time that evidence names. Questions without evidence are left out."""
    chats: dict[str, Record] = {}
    questions: list[Question] = []
    with tarfile.open(present(data / "conversation" / "lihua-world.tar.gz")) as archive:
        for member in archive:
            file = archive.extractfile(member)
            text = file.read().decode("utf-8") if file else ""
            if PurePosixPath(member.name).name == "query_set.json":
                questions = [_lihua_question(one) for one in json.loads(text).values()]
            elif member.name.endswith(".txt"):
                chat = _chat(text)
                chats[chat["id"]] = chat
    known = [Question(q.cue, tuple(id_ for id_ in q.gold if id_ in chats), q.kind) for q in questions]
    return [Corpus("lihua", adder([chats[id_] for id_ in sorted(chats)]), first(known, most))]


def _lihua_question(one: dict[str, Any]) -> Question:
    times = ("".join(parts) for parts in LIHUA_EVIDENCE.findall(str(one["evidence"])))
    return Question(one["question"], tuple(dict.fromkeys(times)), one["type"].lower())


def _chat(text: str) -> Record:
    """A chat from its file, whose first line is its time."""
    head, _, said = text.strip().partition("\n")
    time = "".join(LIHUA_EVIDENCE.findall(head)[0])
    return {"id": time, "text": said.strip(), "at": milliseconds(time, LIHUA_TIME)}


SETS = [
    QualitySet(
        "locomo", "LoCoMo", ("R@5", "R@10", "R@25"), "R@5", 25, load_locomo,
        {"non-adversarial": frozenset(CATEGORIES.values()) - {"adversarial"}}
        | {name: frozenset({name}) for name in CATEGORIES.values()},
    ),
    QualitySet("longmemeval", "LongMemEval, pooled", ("All@5", "All@10", "R@5", "R@10"), "All@5", 50, load_longmemeval),
    QualitySet(
        "lihua", "LiHua-World", ("R@1", "R@5"), "R@5", 10, load_lihua,
        {"single": frozenset({"single"}), "multi": frozenset({"multi"})},
    ),
]  # fmt: skip
