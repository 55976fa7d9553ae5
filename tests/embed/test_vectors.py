"""The vectors of a memory: which model they belong to, and answers while there are none."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from cuetrail import Memory
from cuetrail.embed.embedder import FloatArray
from cuetrail.errors import EmbedderError, EmbedderMismatch, InputError

CATS = "A cat is asleep on the warm windowsill."
TAXES = "The invoice must be paid before the end of March."


class Concepts:
    """A small embedder that knows which words mean the same. It fails while `broken`, and after `patience` texts."""

    GROUPS = (("cat", "kitten", "feline"), ("invoice", "bill", "payment"), ("tea", "brew"))

    def __init__(self, model: str = "concepts", dim: int = 4) -> None:
        self._model, self._dim = model, dim
        self.broken = False
        self.patience = 10**9
        self.seen = 0

    @property
    def model(self) -> str:
        return self._model

    @property
    def dim(self) -> int:
        return self._dim

    def embed(self, texts: Sequence[str]) -> FloatArray:
        self.seen += len(texts)
        if self.broken or self.seen > self.patience:
            raise EmbedderError("the model is on holiday")
        rows = np.full((len(texts), self._dim), 0.01, dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for number, group in enumerate(self.GROUPS):
                row[number] += sum(text.lower().count(word) for word in group)
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)

    def embed_query(self, text: str) -> FloatArray:
        return np.asarray(self.embed([text])[0], dtype=np.float32)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "memory"


@pytest.fixture
def embedder() -> Concepts:
    return Concepts()


@pytest.fixture
def memory(place: Path, embedder: Concepts) -> Iterator[Memory]:
    with Memory(place, embedder=embedder) as opened:
        yield opened


def first(memory: Memory, cue: str) -> str | None:
    hits = memory.recall(cue, record_access=False).hits
    return hits[0].node.text if hits else None


def test_meaning_finds_what_no_word_of_the_cue_is_in(memory: Memory) -> None:
    memory.add(CATS)
    memory.add(TAXES)
    assert first(memory, "kitten") == CATS
    assert first(memory, "bill") == TAXES


def test_the_model_is_remembered_and_another_one_is_refused(memory: Memory, place: Path) -> None:
    memory.add(CATS)
    assert memory.stats().embedder == "concepts"
    with pytest.raises(EmbedderMismatch, match="cuetrail reembed"):
        Memory(place, embedder=Concepts("others"))
    with pytest.raises(EmbedderMismatch, match=r"'concepts' \(4-d\)"):
        Memory(place, embedder="static")
    with Memory(place, embedder=Concepts()) as again:
        assert first(again, "kitten") == CATS


def test_a_model_of_the_same_name_and_another_dimension_is_noticed_at_first_use(memory: Memory, place: Path) -> None:
    memory.add(CATS)
    with Memory(place, embedder=Concepts(dim=8)) as other:
        found = other.recall("kitten")
        assert "cuetrail reembed" in found.notices[0]
        other.add("A kitten plays.")
        assert other.stats().vectors == 1
    assert first(memory, "plays") == "A kitten plays."


def test_an_embedder_of_ones_own_may_fail_at_a_question_as_it_likes(
    memory: Memory, embedder: Concepts, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.add(CATS)

    def fails(_text: str) -> FloatArray:
        raise KeyError("no such word")

    monkeypatch.setattr(embedder, "embed_query", fails)
    found = memory.recall("windowsill")
    assert [hit.node.text for hit in found.hits] == [CATS]
    assert any("text alone" in notice and "no such word" in notice for notice in found.notices)


def test_an_embedder_that_fails_costs_the_vectors_and_not_the_memories(
    memory: Memory, embedder: Concepts, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    embedder.broken = True
    with caplog.at_level(logging.WARNING, logger="cuetrail"):
        memory.add(CATS)
    assert "holiday" in caplog.text
    (tmp_path / "a.md").write_text(TAXES)
    report = memory.ingest(tmp_path / "a.md")
    assert (report.added, "reembed" in report.notices[0]) == (1, True)
    found = memory.recall("windowsill")
    assert [hit.node.text for hit in found.hits] == [CATS]
    assert any("text alone" in notice and "holiday" in notice for notice in found.notices)
    embedder.broken = False
    found = memory.recall("windowsill")
    assert any("cuetrail reembed" in notice for notice in found.notices)
    assert first(memory, "kitten") is None
    assert memory.reembed() == 3
    assert memory.recall("kitten").notices == ()
    assert first(memory, "kitten") == CATS


def test_an_embedder_that_fails_on_a_recall_leaves_the_words(memory: Memory, embedder: Concepts) -> None:
    memory.add(CATS)
    embedder.broken = True
    found = memory.recall("windowsill")
    assert [hit.node.text for hit in found.hits] == [CATS]
    assert "holiday" in found.notices[0]
    assert memory.recall("kitten").hits == ()
    embedder.broken = False
    assert memory.recall("kitten").notices == ()


@pytest.mark.parametrize("choice", ["none", None])
def test_without_an_embedder_a_memory_with_vectors_answers_by_words(
    memory: Memory, place: Path, choice: str | None
) -> None:
    memory.add(CATS)
    with Memory(place, embedder=choice) as plain:
        assert first(plain, "windowsill") == CATS
        assert first(plain, "kitten") is None
        plain.add(TAXES)
        assert plain.stats().vectors == 1
        with pytest.raises(InputError, match="--embedder"):
            plain.reembed()
    assert memory.reembed() == 1
    assert first(memory, "bill") == TAXES


def test_a_corrected_memory_has_the_vector_of_its_new_text(memory: Memory) -> None:
    memory.add(CATS, id="x")
    memory.add(TAXES, id="x")
    assert first(memory, "kitten") is None
    assert first(memory, "bill") == TAXES
    assert memory.stats().vectors == 1


def test_a_passage_is_found_by_the_meaning_of_its_title_and_heading(memory: Memory) -> None:
    memory.add("It sleeps all day.", id="titled", props={"title": "My cat"})
    memory.add("Due in March.", id="headed", props={"title": "Home", "heading": "Bills › Water"})
    assert memory.recall("kitten").hits[0].node.id == "titled"
    assert memory.recall("payment").hits[0].node.id == "headed"


def test_a_wrong_spec_is_refused_and_leaves_nothing_open(place: Path) -> None:
    with pytest.raises(EmbedderError, match="static"):
        Memory(place, embedder="crystal-ball")
    with Memory(place, embedder="none") as memory:
        assert memory.stats().nodes == 0
