"""Conversations: LoCoMo by turns, LongMemEval by sessions, LiHua-World by chats.

A session is a source without words of its own. Its turns stand under it, one after the other, with the weights that
ingest gives these edges.
"""

from __future__ import annotations

import json
import re
import tarfile
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any

from bench.quality.sets import Corpus, QualitySet, Record, edge, filler, first, node, present, read_lines
from cuetrail.evaluate import Question
from cuetrail.ingest.build import NEXT_WEIGHT, UNDER_WEIGHT

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open", 4: "single", 5: "adversarial"}
LOCOMO_TIME, LONGMEMEVAL_TIME, LIHUA_TIME = "%I:%M %p on %d %B, %Y", "%Y/%m/%d %H:%M", "%Y%m%d%H%M"
LIHUA_EVIDENCE = re.compile(r"(\d{8})_(\d\d):?(\d\d)")


def milliseconds(text: str, form: str) -> int:
    """A time in UTC milliseconds."""
    return int(datetime.strptime(text, form).replace(tzinfo=UTC).timestamp()) * 1000


def session(id_: str, at: int, turns: Sequence[Record]) -> Iterator[Record]:
    """A session and its turns, joined."""
    yield node(id_, "", kind="source", source=id_, seq=-1, at=at)
    for place, turn in enumerate(turns):
        yield {**turn, "source": id_, "seq": place, "at": at}
        yield edge("under", turn["id"], id_, UNDER_WEIGHT)
        if place:
            yield edge("next", turns[place - 1]["id"], turn["id"], NEXT_WEIGHT)


# --- LoCoMo


def load_locomo(data: Path, most: int | None) -> list[Corpus]:
    """One memory a conversation, one node a turn."""
    return [
        Corpus(one["id"], filler(_turns(one["turns"])), first(_locomo_questions(one["questions"]), most))
        for one in read_lines(data / "conversation" / "locomo.jsonl.gz")
    ]


def _turns(turns: Iterable[dict[str, Any]]) -> Iterator[Record]:
    sessions: dict[str, list[Record]] = {}
    dates: dict[str, str] = {}
    for turn in turns:
        said = node(turn["id"], f"{turn['speaker']}: {turn['text']}", props={"speaker": turn["speaker"]})
        sessions.setdefault(turn["session"], []).append(said)
        dates[turn["session"]] = turn["date"]
    for id_, spoken in sessions.items():
        yield from session(id_, milliseconds(dates[id_], LOCOMO_TIME), spoken)


def _locomo_questions(questions: Iterable[dict[str, Any]]) -> Iterator[Question]:
    for one in questions:
        yield Question(one["question"], tuple(one["gold"]), CATEGORIES[one["category"]])


# --- LongMemEval


def load_longmemeval(data: Path, most: int | None) -> list[Corpus]:
    """One memory of all sessions, one node a user turn; a turn that is found stands for its session."""
    folder = data / "conversation"
    records: list[Record] = []
    for one in read_lines(folder / "longmemeval.sessions.jsonl.gz"):
        said = [turn["text"] for turn in one["turns"] if turn["role"] == "user"]
        turns = [node(f"{one['id']} {place}", text) for place, text in enumerate(said)]
        records += session(one["id"], _longmemeval_time(one["date"]), turns)
    asked = (
        Question(one["question"], tuple(one["gold"]), one["kind"], _longmemeval_time(one["date"]))
        for one in read_lines(folder / "longmemeval.questions.jsonl.gz")
    )
    return [Corpus("longmemeval", filler(records), first(asked, most), place="source")]


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
    return [Corpus("lihua", filler(chats[id_] for id_ in sorted(chats)), first(known, most))]


def _lihua_question(one: dict[str, Any]) -> Question:
    times = ("".join(parts) for parts in LIHUA_EVIDENCE.findall(str(one["evidence"])))
    return Question(one["question"], tuple(dict.fromkeys(times)), one["type"].lower())


def _chat(text: str) -> Record:
    """A chat from its file, whose first line is its time."""
    head, _, said = text.strip().partition("\n")
    time = "".join(LIHUA_EVIDENCE.findall(head)[0])
    return node(time, said.strip(), at=milliseconds(time, LIHUA_TIME))


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
