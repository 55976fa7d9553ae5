"""Asks every development question once and keeps the signals of all candidates, with which of them are right.

The memories are those that `bench.quality` and `bench.everyday` built in their work folders; they are only read.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.everyday.questions import Asked, load_vault
from bench.quality.contenders import ROOM, TODAY
from bench.quality.registry import SETS
from bench.quality.run import Job
from cuetrail import Memory
from cuetrail.model import Node
from cuetrail.recall import recipes
from cuetrail.recall.anchor.hybrid_search import TrailAnchors, redundant_titles
from cuetrail.recall.score.signals import NAMES, RankInput, read_signals, signals_of
from cuetrail.recall.score.trail import eligible_ids, pass_on_title_signals
from cuetrail.recall.spread.trail import TrailCandidates
from cuetrail.recall.stage_types import Anchored, Reached, RecallContext, Scored
from cuetrail.recall.trail_constants import Trail, is_bare
from cuetrail.rerank.reranker import Reranker

RIGHT, BESIDE = 2, 1
"""Labels of candidates: the right passage, and another passage of the right note; 0 for all others."""
READ = 24
"""How many candidates a reranker reads: the first by several signals, and the first of either search."""
PUBLIC = ("musique", "2wiki", "hotpotqa", "locomo", "longmemeval", "lihua")
VAULTS = ("dendron-site", "blue-book", "til")


@dataclass(frozen=True, slots=True)
class Case:
    """One question with its candidates: their `signals` in the order of NAMES, `labels`, `places` (ids, sources or
    notes, by which an answer is told), times, and the scores of a reranker (NaN: not read).
    """

    set: str
    embedder: str
    cue: str
    style: str
    gold: frozenset[str]
    signals: NDArray[np.float64]
    labels: NDArray[np.int64]
    places: tuple[str, ...]
    times: NDArray[np.int64]
    read: NDArray[np.float64]

    @property
    def answered(self) -> bool:
        """True if a right candidate is among them."""
        return bool((self.labels == RIGHT).any())


class Remembered:
    """A reranker that keeps its scores in a file, as memories with different embedders find many of the same texts."""

    def __init__(self, reranker: Reranker, file: Path) -> None:
        self.name = reranker.name
        self._reranker, self._file = reranker, file
        self._known: dict[tuple[str, str], float] = pickle.loads(file.read_bytes()) if file.is_file() else {}

    def scores(self, query: str, texts: Sequence[str], deadline: float | None) -> list[float] | None:
        """See Reranker."""
        missing = [text for text in dict.fromkeys(texts) if (query, text) not in self._known]
        found = self._reranker.scores(query, missing, deadline) if missing else []
        if found is None:
            return None
        self._known |= {(query, text): score for text, score in zip(missing, found, strict=True)}
        return [self._known[query, text] for text in texts]

    def save(self) -> None:
        """Writes the scores to the file."""
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._file.write_bytes(pickle.dumps(self._known))


@dataclass(frozen=True, slots=True)
class Cue:
    """A question as a set asks it. `answer` is a piece of the right passage, where the gold is a note."""

    text: str
    gold: frozenset[str]
    now: int
    style: str = ""
    answer: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """A built memory and the questions to ask of it. `place`: an answer is told by its "id", "source" or "note"."""

    set: str
    folder: Path
    cues: tuple[Cue, ...]
    limit: int | None
    place: str
    notes: str = ""


def sources(data: Path, quality: Path, everyday: Path, embedder: str) -> Iterator[Source]:
    """Yields the memories that were built with an embedder, and their questions."""
    for name in PUBLIC:
        job = Job(name, data, quality, embedder, "")
        for corpus in job.corpora():
            cues = tuple(Cue(q.cue, frozenset(q.gold), q.now or TODAY, q.kind) for q in corpus.questions)
            yield Source(name, job.place(corpus) / "memory", cues, SETS[name].limit, corpus.place)
    for name in VAULTS:
        groups = load_vault(data, name, None).groups
        asked = [one for kind, some in groups.items() if not kind.startswith("titles") for one in some]
        yield Source(
            f"everyday {name}", everyday / f"{name}-{embedder}", tuple(map(_cue, asked)), None, "note", f"{name}-notes"
        )


def _cue(one: Asked) -> Cue:
    return Cue(one.cue, frozenset(filter(None, [one.note])), TODAY, one.style, " ".join(one.answer.split()))


def gather(source: Source, embedder: str, spec: str | None, reranker: Remembered | None, kept: Path) -> list[Case]:
    """Returns the cases of a memory; [] if it was not built. They are kept in a folder for the next run."""
    kept = kept / ("read" if reranker else "unread")
    file = kept / f"{source.set.replace(' ', '-')}-{source.folder.parent.name}-{source.folder.name}-{embedder}.pickle"
    if file.is_file():
        found: list[Case] = pickle.loads(file.read_bytes())
        return found
    if not source.folder.is_dir():
        print(f"{source.folder} is not there: its questions are left out", flush=True)
        return []
    cases = list(_asked(source, embedder, spec, reranker))
    kept.mkdir(parents=True, exist_ok=True)
    file.write_bytes(pickle.dumps(cases))
    if reranker is not None:
        reranker.save()
    print(f"{source.set}, {embedder}: {len(cases)} questions", flush=True)
    return cases


def _asked(source: Source, embedder: str, spec: str | None, reranker: Reranker | None) -> Iterator[Case]:
    seen: list[Case] = []

    def keep(context: RecallContext, anchored: Anchored, reached: Reached, *, cue: Cue) -> Scored:
        assert isinstance(anchored, TrailAnchors)
        assert isinstance(reached, TrailCandidates)
        if not anchored.literal and reached.nodes:
            seen.append(_case(source, embedder, cue, context, anchored, reached, reranker))
        return Scored(())

    with Memory(source.folder, embedder=None if embedder == "none" else spec) as memory:
        for cue in source.cues:
            recipe = replace(recipes.TRAIL, score=partial(keep, cue=cue))
            memory.recall(cue.text, recipe=recipe, limit=source.limit, budget=ROOM, record_access=False, now=cue.now)
    yield from seen


def _case(
    source: Source, embedder: str, cue: Cue, context: RecallContext, anchored: TrailAnchors, reached: TrailCandidates,
    reranker: Reranker | None,
) -> Case:  # fmt: skip
    given = RankInput(context, anchored, reached)
    signals = signals_of(given)
    pass_on_title_signals(reached.nodes, reached.blend, signals)
    anchors = {anchor.node.id: anchor for anchor in anchored.anchors}
    eligible = eligible_ids(anchored, signals, anchors, Trail())
    nodes = [node for id_, node in reached.nodes.items() if id_ in eligible and (id_ in anchors or not is_bare(node))]
    redundant = redundant_titles(nodes)
    nodes = [node for node in nodes if node.id not in redundant]
    places = tuple(_place(source, node) for node in nodes)
    table = np.array([[signals[name].get(node.id, 0.0) for name in NAMES] for node in nodes]).reshape(
        len(nodes), len(NAMES)
    )
    return Case(
        source.set, embedder, cue.text, cue.style, cue.gold, table,
        np.array([_label(cue, node, place) for node, place in zip(nodes, places, strict=True)], np.int64), places,
        np.array([node.at for node in nodes], np.int64), _read(cue, nodes, table, reranker),
    )  # fmt: skip


def _place(source: Source, node: Node) -> str:
    if source.place == "id" or node.source is None:
        return node.id
    return node.source.removeprefix(f"{source.notes}/") if source.place == "note" else node.source


def _label(cue: Cue, node: Node, place: str) -> int:
    if place not in cue.gold:
        return 0
    return RIGHT if not cue.answer or cue.answer in " ".join(node.text.split()) else BESIDE if node.text else 0


def _read(cue: Cue, nodes: list[Node], table: NDArray[np.float64], reranker: Reranker | None) -> NDArray[np.float64]:
    """Returns the scores of the reranker for the best candidates, NaN for others."""
    from cuetrail.model.searched_fields import embedded_text

    scores = np.full(len(nodes), np.nan)
    if reranker is None or not nodes:
        return scores
    column = {name: table[:, NAMES.index(name)] for name in NAMES}
    both = column["blend"] + column["walk"] / 2 + column["named"] / 2 + column["further"] + column["cover"] / 2
    orders = [np.argsort(-values, kind="stable") for values in (both, column["words"], column["meaning"])]
    chosen = list(dict.fromkeys([*orders[0][: READ - 8], *orders[1][:4], *orders[2][:4], *orders[0]]))[:READ]
    found = reranker.scores(cue.text, [embedded_text(nodes[at]) for at in chosen], None)
    scores[chosen] = np.array(found)
    return scores


def columns_of(case: Case, reranked: bool) -> NDArray[np.float64]:
    """Returns the table that a model is trained on: the signals, with those of the reranker if it is asked for."""
    if not reranked:
        return case.signals
    read = {str(at): float(value) for at, value in enumerate(case.read) if not np.isnan(value)}
    more = read_signals(read)
    rows = [[more[name].get(str(at), 0.0) for name in ("read", "read_rank")] for at in range(len(case.read))]
    return np.concatenate([case.signals, np.array(rows).reshape(len(rows), 2)], axis=1)
