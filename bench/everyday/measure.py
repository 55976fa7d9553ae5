"""Measures of one ranked list of results, and of a memory that is asked with all defaults."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.everyday.baselines import Found, Search
from bench.everyday.questions import Asked
from cuetrail import Memory, Recipe, recipes

RANKS = (1, 5, 10)
# All questions are asked on this day.
TODAY = 1_796_083_200_000  # 2026-12-01


@dataclass(frozen=True, slots=True)
class Score:
    """Counts over the questions of a group: right note and right passage among the first k, and refusals."""

    asked: int
    note: Mapping[int, int]
    passage: Mapping[int, int]
    refused: int
    misses: list[str] = field(default_factory=list)


def by_recipe(memory: Memory, folder: str, recipe: Recipe | None = None) -> Search:
    """Recall with all defaults, or with another recipe. A refused question finds nothing."""

    def search(cue: str) -> list[Found]:
        found = memory.recall(cue, recipe=recipe or recipes.TRAIL, now=TODAY)
        return [Found(_path(hit.node.source, folder), hit.node.text) for hit in found.hits] if found.answerable else []

    return search


def passages_of(memory: Memory, folder: str, work: Path) -> list[Found]:
    """The passages that the memory holds, as an export lists them."""
    file = work / "passages.jsonl"
    memory.export(file)
    with file.open(encoding="utf-8") as lines:
        nodes = (json.loads(line) for line in lines)
        found = [
            Found(_path(node["source"], folder), node["text"])
            for node in nodes
            if node.get("type") == "node"
            and node.get("text")
            and node.get("source")
            and node.get("kind", "atom") == "atom"
        ]
    file.unlink()
    return found


def _path(source: str | None, folder: str) -> str:
    """The path of a note as the vault's archive names it."""
    return (source or "").removeprefix(folder).lstrip("/")


def score(search: Search, asked: Sequence[Asked]) -> Score:
    note, passage, refused, misses = dict.fromkeys(RANKS, 0), dict.fromkeys(RANKS, 0), 0, []
    for one in asked:
        found = search(one.cue)
        refused += not found
        notes = list(dict.fromkeys(hit.note for hit in found))
        answer = _plain(one.answer)
        texts = [bool(answer) and answer in _plain(hit.text) for hit in found]
        for rank in RANKS:
            note[rank] += one.note in notes[:rank]
            passage[rank] += any(texts[:rank])
        if one.note and one.note not in notes[:1]:
            misses.append(f"{one.style or 'title'}: {one.cue}")
    return Score(len(asked), note, passage, refused, misses)


def _plain(text: str) -> str:
    return " ".join(text.split())


def by_style(asked: Iterable[Asked]) -> dict[str, list[Asked]]:
    """The questions of each style, in order of first appearance."""
    groups: dict[str, list[Asked]] = {}
    for one in asked:
        groups.setdefault(one.style, []).append(one)
    return groups
