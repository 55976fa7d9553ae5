"""A reranker in a recall: what it is asked, its time, and that nothing is lost without it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from cuetrail import AsyncMemory, Memory, Recollection, Scope
from cuetrail.errors import InputError, RerankerError
from cuetrail.rerank import Reranker
from cuetrail.rerank.time_budget import RERANK_MS
from tests.rerank.tiny_cross_encoder import tiny_cross_encoder

NOW = 1_700_000_000_000
NOTES = ["The antenna stands on the lee side.", "The antenna was tested in frost.", "Bread rises overnight."]


@dataclass
class Recorder:
    """A reranker that keeps what it was asked; it gives `answer`, by default the length of each text."""

    name: str = "recorder"
    answer: Sequence[float] | Exception | None = ()
    asked: list[tuple[str, list[str], float | None]] = field(default_factory=list)

    def scores(self, query: str, texts: Sequence[str], deadline: float | None) -> list[float] | None:
        self.asked.append((query, list(texts), deadline))
        if isinstance(self.answer, Exception):
            raise self.answer
        if self.answer is None:
            return None
        return list(self.answer) or [float(len(text)) for text in texts]


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    with Memory(tmp_path / "memory", embedder=None) as memory:
        memory.add_many(NOTES, now=NOW)
    return tmp_path / "memory"


def ask(
    path: Path,
    reranker: Reranker | str | None,
    cue: str = "where does the antenna stand",
    fuzzy: bool = False,
    rerank_ms: int = RERANK_MS,
) -> Recollection:
    with Memory(path, embedder=None, reranker=reranker, rerank_ms=rerank_ms) as memory:
        return memory.recall(cue, fuzzy=fuzzy, record_access=False, now=NOW)


def texts_of(found: Recollection) -> list[str]:
    return [hit.node.text for hit in found.hits]


def test_the_reranker_reads_the_question_as_it_was_asked_without_its_filters(filled: Path) -> None:
    recorder = Recorder()
    found = ask(filled, recorder, "Where does the antenna stand? #none @nowhere")
    assert not found.hits
    found = ask(filled, recorder, "Where does the antenna stand?")
    assert [asked[0] for asked in recorder.asked if asked[1]] == ["Where does the antenna stand?"]
    assert texts_of(found) == sorted(NOTES[:2], key=len, reverse=True)
    assert not any("reranker" in notice for notice in found.notices)


def test_its_order_is_that_of_the_model(filled: Path, tmp_path: Path) -> None:
    with Memory(filled, embedder=None) as memory:
        memory.add("antenna: bad", now=NOW)
        memory.add("antenna: good good", now=NOW)
    found = ask(filled, f"onnx:{tiny_cross_encoder(tmp_path / 'tiny')}", "which antenna is good", rerank_ms=60_000)
    assert texts_of(found)[0] == "antenna: good good"
    assert texts_of(found)[-1] == "antenna: bad"


def test_it_has_as_much_time_as_the_memory_gives_it(filled: Path) -> None:
    for milliseconds in (150, 5_000):
        recorder, started, seconds = Recorder(), time.monotonic(), milliseconds / 1000
        ask(filled, recorder, rerank_ms=milliseconds)
        deadline = recorder.asked[-1][2]
        assert deadline is not None
        assert started + seconds <= deadline <= time.monotonic() + seconds


@pytest.mark.parametrize(
    ("answer", "notice"),
    [
        (None, "more than 150 ms; a larger rerank_ms"),
        (RerankerError("the file is gone"), "without the reranker: the file is gone"),
        (ValueError("odd"), "recorder failed: ValueError: odd"),
        ([1.0], "gave no number for each text"),
        ([float("nan")] * 2, "gave no number for each text"),
        (["a", "b"], "recorder failed: TypeError"),
    ],
    ids=["late", "own error", "foreign error", "too few", "not finite", "no numbers"],
)
def test_without_scores_the_answer_is_that_without_a_reranker_and_says_so(
    filled: Path, answer: Sequence[float] | Exception | None, notice: str
) -> None:
    found, plain = ask(filled, Recorder(answer=answer)), ask(filled, None)
    assert (found.text, texts_of(found), found.confidence) == (plain.text, texts_of(plain), plain.confidence)
    assert any("the order is without the reranker" in one and notice in one for one in found.notices)
    assert not plain.notices


def test_a_broken_model_is_a_notice_and_a_missing_one_an_error(filled: Path, tmp_path: Path) -> None:
    folder = tiny_cross_encoder(tmp_path / "tiny")
    (folder / "model.onnx").write_bytes(b"not a model")
    assert any("cannot be loaded" in notice for notice in ask(filled, f"onnx:{folder}").notices)
    with pytest.raises(RerankerError, match="there is no folder"):
        ask(filled, f"onnx:{tmp_path / 'nowhere'}")


@pytest.mark.parametrize(("cue", "fuzzy"), [("anten*", False), ("antena", True), ("#tag", False)])
def test_beginnings_of_words_typos_and_filters_alone_are_no_question(filled: Path, cue: str, fuzzy: bool) -> None:
    recorder = Recorder()
    ask(filled, recorder, cue, fuzzy=fuzzy)
    assert not recorder.asked


def test_stats_name_the_reranker_in_every_scope_and_in_the_async_memory(filled: Path) -> None:
    with Memory(filled, embedder=None, reranker=Recorder()) as memory:
        assert memory.stats().reranker == memory.scoped(Scope(user="ann")).stats().reranker == "recorder"
    with Memory(filled, embedder=None) as memory:
        assert memory.stats().reranker is None

    async def name() -> str | None:
        async with AsyncMemory(filled, embedder=None, reranker=Recorder(), rerank_ms=300) as memory:
            return (await memory.stats()).reranker

    assert asyncio.run(name()) == "recorder"


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"rerank_ms": 0}, "rerank_ms must be from 1 to 60000"),
        ({"rerank_ms": 60_001}, "rerank_ms must be a whole number of at most 60000"),
        ({"rerank_ms": "100"}, "rerank_ms must be a whole number"),
        ({"reranker": 3}, "reranker must be a Reranker, the name of one"),
    ],
)
def test_wrong_settings_are_refused(tmp_path: Path, given: dict[str, object], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        Memory(tmp_path / "memory", embedder=None, **given)  # type: ignore[arg-type]  # wrong ones are the test
    assert not (tmp_path / "memory").exists()
