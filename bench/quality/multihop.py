"""MuSiQue, 2WikiMultihopQA and HotpotQA in HippoRAG's samples: one memory a corpus, one node a passage.

Passages are added in three ways: with their title as `name`, as "title\\ntext" without a name, and as text alone.

The data has triples that a language model read from every passage. With these, the memory also holds whom they are
about, and each triple as a fact that its passage states: what an extractor of that kind would add.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from bench.quality.sets import Corpus, QualitySet, Record, adder, fact, first, importer, node, read_lines
from cuetrail.evaluate import Question
from cuetrail.text.normalise import norm_name

# A subject, a predicate and an object.
PARTS = 3
MEASURES = ("R@2", "R@5", "R@10", "All@2", "All@5", "All@10")


def named(passage: dict[str, Any]) -> Record:
    return {"id": passage["id"], "name": passage["title"], "text": passage["text"]}


def titled(passage: dict[str, Any]) -> Record:
    return {"id": passage["id"], "text": f"{passage['title']}\n{passage['text']}"}


def text_alone(passage: dict[str, Any]) -> Record:
    return {"id": passage["id"], "text": passage["text"]}


WAYS = {"": (named, ""), "-titled": (titled, ", as title and text"), "-text": (text_alone, ", as text alone")}
"""How a passage is added, and what the set is then called, by the end of the set's name."""


def load(
    data: Path, most: int | None, triples: bool = False, *, name: str, way: Callable[[dict[str, Any]], Record] = named
) -> list[Corpus]:
    folder = data / "multihop"
    items = [way(passage) for passage in read_lines(folder / f"{name}.corpus.jsonl.gz")]
    asked = read_lines(folder / f"{name}.questions.jsonl.gz")
    questions = first((Question(q["question"], tuple(q["gold"]), q["kind"]) for q in asked), most)
    if not triples:
        return [Corpus(name, adder(items), questions)]
    records = [node(item["id"], item["text"], name=item["name"]) for item in items]
    titles = {norm_name(item["name"]): item["id"] for item in reversed(items)}
    records += stated(read_lines(folder / f"{name}.triples.jsonl.gz"), titles)
    return [Corpus(name, importer(records), questions)]


def stated(passages: Iterable[dict[str, Any]], titles: dict[str, str]) -> Iterator[Record]:
    """The triples of all passages as facts, and an entity for each of their ends that is no passage's title.

    Those that are no triple are left out, and what a passage states twice counts once.
    """
    known = dict(titles)
    told: set[tuple[str, ...]] = set()
    for passage in passages:
        for triple in passage["triples"]:
            ends = [norm_name(part) for part in triple if isinstance(part, str)]
            said = (*ends, passage["passage"])
            if len(ends) != len(triple) or len(ends) != PARTS or not all(ends) or said in told:
                continue
            told.add(said)
            for end, text in ((ends[0], triple[0]), (ends[2], triple[2])):
                if end not in known:
                    known[end] = f"entity {end}"
                    yield node(known[end], "", kind="entity", name=text)
            yield fact(f"{len(told)}", known[ends[0]], ends[1], known[ends[2]], passage["passage"])


SETS = [
    QualitySet(
        name + ending, title + told, MEASURES, "R@5", 10, partial(load, name=name, way=way), triples=way is named
    )
    for name, title in (("musique", "MuSiQue"), ("2wiki", "2WikiMultihopQA"), ("hotpotqa", "HotpotQA"))
    for ending, (way, told) in WAYS.items()
]
