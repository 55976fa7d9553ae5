"""The parts of a set, the folder of its data, and how a corpus is written to a memory.

The data is never part of the project. A loader turns the files of one set into corpora; each corpus is one memory. It
is filled by calls that every user has, with their defaults: `add_many`, `ingest`, and `import_` for given triples.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from cuetrail import Memory
from cuetrail.evaluate import Question

ENVIRONMENT = "CUETRAIL_DATA"
# Everything is remembered at one moment, so that the same set gives the same memory on every day.
REMEMBERED = 1_767_225_600_000  # 2026-01-01
# How sure it is what an extractor read.
EXTRACTED = 0.8
Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Corpus:
    """One memory: how it is filled (in a folder it may write to), and what it is asked.

    An answer is told by the ids of what was found, or, place "source", by what each came from.
    """

    name: str
    fill: Callable[[Memory, Path], None]
    questions: Sequence[Question]
    place: Literal["id", "source"] = "id"


@dataclass(frozen=True, slots=True)
class QualitySet:
    """A set with its protocol: what is measured, how many hits are asked for, and which groups are told apart.

    `load` takes the data folder and the most questions of a corpus (None: all), and, where the set has `triples`,
    whether to load these as facts. `groups` are kinds of questions by the name of their group.
    """

    name: str
    title: str
    measures: tuple[str, ...]
    by: str
    limit: int
    load: Callable[..., list[Corpus]]
    groups: Mapping[str, frozenset[str]] = field(default_factory=dict)
    triples: bool = False


class MissingData(SystemExit):
    """The data folder, or a file of it, is not there."""


def data_folder(given: Path | None) -> Path:
    """The folder with the sets: as given, or as the environment names it. Raises MissingData."""
    named = given or (Path(os.environ[ENVIRONMENT]) if os.environ.get(ENVIRONMENT) else None)
    if named is None:
        raise MissingData(
            f"where is the data? Name its folder with --data or {ENVIRONMENT}; docs/benchmarks/quality.md"
        )
    if not named.is_dir():
        raise MissingData(f"{named} is no folder: name that of the data with --data or {ENVIRONMENT}")
    return named


def present(file: Path) -> Path:
    """The file. Raises MissingData."""
    if not file.is_file():
        raise MissingData(f"{file} is missing: leave its set out of --sets, or complete the data folder")
    return file


def read_lines(file: Path) -> Iterator[dict[str, Any]]:
    """The objects of a gzipped JSONL file."""
    with gzip.open(present(file), "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def first(questions: Iterable[Question], most: int | None) -> list[Question]:
    """The first questions that have an answer in the corpus."""
    return [question for question in questions if question.gold][:most]


def adder(items: Iterable[Record]) -> Callable[[Memory, Path], None]:
    """Adds items as any user would: `add_many` with a text, and what else is known of it."""

    def fill(memory: Memory, _folder: Path) -> None:
        memory.add_many(items, now=REMEMBERED)

    return fill


def importer(records: Iterable[Record]) -> Callable[[Memory, Path], None]:
    """Imports nodes and facts as a cuetrail export."""

    def fill(memory: Memory, folder: Path) -> None:
        file = folder / "records.jsonl"
        with file.open("w", encoding="utf-8") as out:
            for record in ({"cuetrail": 1}, *records):
                out.write(json.dumps(record, ensure_ascii=False) + "\n")
        report = memory.import_(file, now=REMEMBERED)
        file.unlink()
        if report.errors:
            raise SystemExit(f"the corpus cannot be taken in: {report.errors[0].error}")

    return fill


def node(id_: str, text: str, **more: Any) -> Record:
    return {"type": "node", "id": id_, "text": text, "created": REMEMBERED, "updated": REMEMBERED, **more}


def fact(id_: str, subject: str, predicate: str, obj: str, stated_by: str) -> Record:
    """A fact about two entities, which a node states."""
    said = {"id": id_, "subject": subject, "predicate": predicate, "object": obj, "source_ref": stated_by}
    return {"type": "fact", **said, "confidence": EXTRACTED, "status": "confirmed", "created": REMEMBERED}
