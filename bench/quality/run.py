"""Builds the memories of a set and asks them, each in a process of its own, so that its peak memory is its own."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from bench.common import RESULTS, emptied, machine, phase
from bench.quality.contenders import Contender, contenders
from bench.quality.registry import SETS
from bench.quality.sets import Corpus, QualitySet
from cuetrail import Memory
from cuetrail.evaluate import Answer, Question, Row, answer, compare, scores
from cuetrail.model import Node

FOLDER = RESULTS / "quality"
PROGRESS = 100


@dataclass(frozen=True, slots=True)
class Job:
    """What to measure: a set by name, its data, the embedder by name and spec, and where to build."""

    set: str
    data: Path
    work: Path
    embedder: str
    spec: str
    questions: int | None = None
    only: tuple[str, ...] = ()
    dream: bool = False
    triples: bool = False

    def corpora(self) -> list[Corpus]:
        more = (True,) if self.triples else ()
        return SETS[self.set].load(self.data, self.questions, *more)

    def place(self, corpus: Corpus) -> Path:
        """Where a corpus is kept between runs. Vaults hide what is asked for, so the questions are part of the name."""
        asked = f"-{len(corpus.questions)}" if corpus.place == "source" else ""
        return self.work / f"{self.set}-{corpus.name}{asked}-{self.embedder}{variant(self.triples, self.dream)}"


def variant(triples: bool, dreamt: bool) -> str:
    """Returns a suffix for memories and results of a variant of a set."""
    return ("-triples" if triples else "") + ("-dreamt" if dreamt else "")


@dataclass(frozen=True, slots=True)
class Built:
    """Time, memory and size of building a corpus."""

    nodes: int
    seconds: float
    dream_seconds: float = 0.0
    peak: int = 0


@dataclass(frozen=True, slots=True)
class Measured:
    """One set with one embedder: a row for each way to ask. Figures are shares; `groups` are kinds of questions.

    `triples`: the memory also held as facts what a language model had read from the passages.
    """

    set: str
    title: str
    embedder: str
    questions: int
    nodes: int
    measures: list[str]
    by: str
    rows: list[dict[str, Any]]
    index_seconds: float
    dream_seconds: float
    index_peak: int
    ask_peak: int
    dreamt: bool = False
    tokens: int = 0
    machine: dict[str, str] = field(default_factory=dict)
    triples: bool = False


def run(job: Job) -> Measured:
    """Build what is not there yet, ask everything, and compare."""
    built = [build(job, number) for number in range(len(job.corpora()))]
    asked = phase(ask_all, job)
    return measured(job, built, asked.value, asked.peak)


def build(job: Job, number: int) -> Built:
    """The memory of a corpus, kept for the next run; its marker is written last, so half of one is made anew."""
    place = job.place(job.corpora()[number])
    marker = place / "built.json"
    if not marker.is_file():
        _say(f"{job.set}: taking in {place.name}")
        emptied(place)
        done = phase(fill, job, number)
        marker.write_text(json.dumps({**asdict(done.value), "peak": done.peak}), "utf-8")
    return Built(**json.loads(marker.read_text("utf-8")))


def fill(job: Job, number: int) -> Built:
    corpus = job.corpora()[number]
    place = job.place(corpus)
    with Memory(place / "memory", embedder=job.spec) as memory:
        start = time.perf_counter()
        corpus.fill(memory, place)
        filled = time.perf_counter()
        if job.dream:
            memory.dream()
        return Built(memory.stats().nodes, filled - start, time.perf_counter() - filled)


def ask_all(job: Job) -> dict[str, list[Answer]]:
    """The answers of every row to all questions, corpus after corpus."""
    rows = chosen_rows(job)
    given: dict[str, list[Answer]] = {name: [] for name in rows}
    for corpus in job.corpora():
        with Memory(job.place(corpus) / "memory", embedder=job.spec) as memory:
            for name, row in rows.items():
                given[name] += ask(memory, corpus, row, SETS[job.set].limit, f"{job.set}, {corpus.name}, {name}")
    return given


def chosen_rows(job: Job) -> dict[str, Contender]:
    """The rows to ask. The first is always among them, as the others are held against it. Raises SystemExit."""
    rows = contenders(job.embedder)
    unknown = [name for name in job.only if name not in rows]
    if unknown:
        raise SystemExit(f"there is no row {unknown[0]!r}: use some of {', '.join(rows)}")
    first = next(iter(rows))
    return {name: row for name, row in rows.items() if not job.only or name == first or name in job.only}


def ask(memory: Memory, corpus: Corpus, row: Contender, limit: int, label: str) -> list[Answer]:
    """One row's answers; the first question is asked twice, as it pays for what is loaded once."""

    def place(node: Node) -> str:
        return node.source or node.id if corpus.place == "source" else node.id

    def find(question: Question) -> list[str]:
        return [place(node) for node in row(memory, question, limit)]

    for question in corpus.questions[:1]:
        find(question)
    answers = []
    for number, question in enumerate(corpus.questions, 1):
        answers.append(answer(find, question))
        if number % PROGRESS == 0 or number == len(corpus.questions):
            _say(f"{label}: {number} of {len(corpus.questions)}")
    return answers


def measured(job: Job, built: Sequence[Built], given: dict[str, list[Answer]], peak: int) -> Measured:
    chosen = SETS[job.set]
    questions = [question for corpus in job.corpora() for question in corpus.questions]
    compared = compare(questions, given, chosen.measures, chosen.by)
    rows = [{**_plain(row), "groups": _groups(chosen, questions, given[row.name])} for row in compared.rows]
    return Measured(
        job.set, chosen.title, job.embedder, len(questions), sum(one.nodes for one in built), list(chosen.measures),
        chosen.by, rows, sum(one.seconds for one in built), sum(one.dream_seconds for one in built),
        max(one.peak for one in built), peak, job.dream, machine=machine(), triples=job.triples,
    )  # fmt: skip


def _plain(row: Row) -> dict[str, Any]:
    figures = {name: round(value, 5) for name, value in row.figures.items()}
    lead = {name: round(value, 5) for name, value in asdict(row.lead).items()}
    return {"name": row.name, "figures": figures, "lead": lead, "p50": round(row.p50, 6), "p95": round(row.p95, 6)}


def _groups(chosen: QualitySet, questions: Sequence[Question], answers: Sequence[Answer]) -> dict[str, dict[str, Any]]:
    """The measures of each kind of question that occurs."""
    found: dict[str, dict[str, Any]] = {}
    for group, kinds in chosen.groups.items():
        pairs = [pair for pair in zip(questions, answers, strict=True) if pair[0].kind in kinds]
        if pairs:
            asked, given = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
            means = {name: round(sum(scores(name, asked, given)) / len(pairs), 5) for name in chosen.measures}
            found[group] = {"questions": len(pairs), **means}
    return found


def keep(result: Measured, folder: Path = FOLDER) -> Path:
    """Write a result to bench/results/quality. Rows that were not asked this time stay as they are stored."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{result.set}-{result.embedder}{variant(result.triples, result.dreamt)}.json"
    if path.is_file():
        result = together(Measured(**json.loads(path.read_text("utf-8"))), result)
    path.write_text(json.dumps(asdict(result), indent=1) + "\n", "utf-8")
    return path


def together(old: Measured, new: Measured) -> Measured:
    """The new result with the old one's other rows, in the order of the rows; the new one alone if it asked others."""
    if (old.questions, old.measures) != (new.questions, new.measures):
        return new
    rows = {row["name"]: row for row in (*old.rows, *new.rows)}
    if old.rows[0]["figures"] != new.rows[0]["figures"]:
        # The others were held against another first row; what they are behind this one is no longer known.
        asked = {row["name"] for row in new.rows}
        rows = {name: row if name in asked else {**row, "lead": None} for name, row in rows.items()}
    return replace(new, rows=[rows[name] for name in contenders(new.embedder) if name in rows])


def load_measured(folder: Path = FOLDER) -> list[Measured]:
    """Every stored result, in the order of the sets."""
    order = list(SETS)
    found = [Measured(**json.loads(path.read_text("utf-8"))) for path in sorted(folder.glob("*.json"))]
    return sorted(found, key=lambda one: (order.index(one.set), one.embedder != "static", one.triples, one.dreamt))


def _say(line: str) -> None:
    print(line, flush=True)
