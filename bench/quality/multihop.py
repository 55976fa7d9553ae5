"""MuSiQue, 2WikiMultihopQA and HotpotQA in HippoRAG's samples: one memory a corpus, one node a passage."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from bench.quality.sets import Corpus, QualitySet, filler, first, node, read_lines
from cuetrail.quality import Question

MEASURES = ("R@2", "R@5", "R@10", "All@2", "All@5", "All@10")


def load(data: Path, most: int | None, *, name: str) -> list[Corpus]:
    folder = data / "multihop"
    passages = [node(p["id"], p["text"], name=p["title"]) for p in read_lines(folder / f"{name}.corpus.jsonl.gz")]
    asked = read_lines(folder / f"{name}.questions.jsonl.gz")
    questions = first((Question(q["question"], tuple(q["gold"]), q["kind"]) for q in asked), most)
    return [Corpus(name, filler(passages), questions)]


SETS = [
    QualitySet(name, title, MEASURES, "R@5", 10, partial(load, name=name))
    for name, title in (("musique", "MuSiQue"), ("2wiki", "2WikiMultihopQA"), ("hotpotqa", "HotpotQA"))
]
