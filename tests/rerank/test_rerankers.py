"""Rerankers with a tiny cross-encoder built here and, if there is one, the real model."""

from __future__ import annotations

import os
import sys
import time
import zipfile
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cuetrail.errors import RerankerError
from cuetrail.rerank import reranker_of
from cuetrail.rerank.excerpt import excerpt
from cuetrail.rerank.fastembed import FastEmbedReranker
from cuetrail.rerank.onnx import OnnxReranker
from tests.rerank.tiny_cross_encoder import VALUES, tiny_cross_encoder

# Read here, because the settings of the machine are hidden from the tests themselves.
REAL = os.environ.get("CUETRAIL_TEST_RERANKER")


def value(text: str) -> float:
    """What the tiny model says of a text: the values of its words, added up."""
    return sum(VALUES[word] for word in text.split())


@cache
def shared(folder: Path) -> OnnxReranker:
    return OnnxReranker(tiny_cross_encoder(folder))


def test_each_text_is_scored_with_the_question_in_the_order_given(tmp_path: Path) -> None:
    reranker = OnnxReranker(tiny_cross_encoder(tmp_path / "tiny"))
    texts = ["bad", "good good", "", "good", "good bad bad bad", " "]
    assert reranker.scores("which is good", texts, None) == [value(text) for text in texts]
    assert reranker.scores("which", [], None) == []


@settings(deadline=None, max_examples=30)
@given(texts=st.lists(st.lists(st.sampled_from(sorted(VALUES)), max_size=6).map(" ".join), max_size=8))
def test_a_text_gets_the_same_score_alone_and_beside_others(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str]
) -> None:
    reranker = shared(tmp_path_factory.getbasetemp() / "shared-tiny-reranker")
    assert reranker.scores("is", texts, None) == [reranker.scores("is", [text], None)[0] for text in texts]  # type: ignore[index]  # without a deadline there are scores


def test_a_long_text_is_read_up_to_the_most_tokens_and_a_broken_one_too(tmp_path: Path) -> None:
    reranker = OnnxReranker(tiny_cross_encoder(tmp_path / "tiny"), words=1_000, max_tokens=10)
    assert reranker.scores("is good", ["good " * 1_000_000, "good \ud800"], None) == [8.0, 1.0]


def test_the_name_follows_the_file_and_how_much_is_read_but_not_the_place(tmp_path: Path) -> None:
    one = OnnxReranker(tiny_cross_encoder(tmp_path / "a" / "tiny"))
    same = OnnxReranker(tiny_cross_encoder(tmp_path / "b" / "tiny"))
    other = OnnxReranker(tiny_cross_encoder(tmp_path / "c" / "tiny", kind=6))
    shorter = OnnxReranker(tmp_path / "a" / "tiny", max_tokens=16)
    assert one.name.startswith("onnx:tiny:")
    assert one.name == same.name
    assert len({one.name, other.name, shorter.name}) == 3
    assert other.scores("is", ["good"], None) == [1.0]


# --- time


def test_a_deadline_that_passed_gives_no_scores(tmp_path: Path) -> None:
    reranker = OnnxReranker(tiny_cross_encoder(tmp_path / "tiny"))
    assert reranker.scores("is", ["good"], time.monotonic() - 60) is None
    assert reranker.scores("is", ["good"], time.monotonic() + 60) == [1.0]


@pytest.mark.parametrize("threads", [1, 2])
def test_work_that_cannot_end_in_time_is_given_up(tmp_path: Path, threads: int) -> None:
    reranker = OnnxReranker(tiny_cross_encoder(tmp_path / "tiny"), threads=threads)
    many = ["good"] * 20_000
    assert reranker.scores("is", ["good"], None) == [1.0]
    assert reranker.scores("is", many, time.monotonic() + 0.05) is None


# --- how much is read


def test_of_a_long_text_the_sentences_about_the_question_are_read(tmp_path: Path) -> None:
    reranker = OnnxReranker(tiny_cross_encoder(tmp_path / "tiny"), words=8)
    filler = "Nobody knows why this was written here. " * 50
    assert reranker.scores("Which frost is good?", [f"{filler}The frost is good. {filler}"], None) == [1.0]
    assert reranker.scores("Which frost is good?", [f"{filler}{filler}"], None) == [0.0]


def test_a_title_and_the_order_of_the_text_are_kept() -> None:
    text = "On masts\nThe first fell in May. Rain is common here. The second fell in June, after the storm."
    assert (
        excerpt("What fell in June or May?", text, 14)
        == "On masts The first fell in May. The second fell in June, after the"
    )
    assert excerpt("When was the storm?", text, 10) == "On masts The second fell in June, after the storm."
    assert excerpt("any", "short text", 20) == "short text"
    assert len(excerpt("any", "word " * 10_000, 20).split()) == 20
    assert excerpt("", "", 20) == ""


# --- files


def archive(path: Path, **folders: Path) -> Path:
    """A zip with the files of these folders."""
    with zipfile.ZipFile(path, "w") as made:
        for name, folder in folders.items():
            for file in sorted(folder.iterdir()):
                made.write(file, f"package/{name}/{file.name}")
    return path


def test_an_archive_does_as_well_as_a_folder(tmp_path: Path) -> None:
    folder = tiny_cross_encoder(tmp_path / "tiny")
    packed = reranker_of(f"onnx:{archive(tmp_path / 'tiny.whl', tiny=folder)}")
    assert packed is not None
    assert packed.name == OnnxReranker(folder).name
    assert packed.scores("is", ["good", "bad"], None) == [1.0, -1.0]


def test_of_an_archive_with_several_models_one_is_named(tmp_path: Path) -> None:
    folder = tiny_cross_encoder(tmp_path / "tiny")
    both = archive(tmp_path / "both.zip", one=folder, two=folder)
    with pytest.raises(RerankerError, match=r"holds 2 models; name one of: both.zip#package/one, both.zip#package/two"):
        OnnxReranker(both)
    assert OnnxReranker(f"{both}#package/two").scores("is", ["bad"], None) == [-1.0]
    with pytest.raises(RerankerError, match="no ONNX model in package/three"):
        OnnxReranker(f"{both}#package/three")


def test_a_missing_file_is_named_at_once(tmp_path: Path) -> None:
    started = time.monotonic()
    with pytest.raises(RerankerError, match=r"there is no folder .*nowhere"):
        reranker_of(f"onnx:{tmp_path / 'nowhere'}")
    folder = tiny_cross_encoder(tmp_path / "tiny")
    (folder / "model.onnx").unlink()
    with pytest.raises(RerankerError, match="holds 0 ONNX files"):
        reranker_of(f"onnx:{folder}")
    (folder / "tokenizer.json").unlink()
    with pytest.raises(RerankerError, match=r"holds no tokenizer\.json"):
        reranker_of(f"onnx:{folder}")
    (tmp_path / "text.zip").write_text("not a zip")
    with pytest.raises(RerankerError, match="cannot be read as an archive"):
        reranker_of(f"onnx:{tmp_path / 'text.zip'}")
    assert time.monotonic() - started < 1


def test_what_is_no_cross_encoder_is_refused(tmp_path: Path) -> None:
    broken = tiny_cross_encoder(tmp_path / "broken")
    (broken / "model.onnx").write_bytes(b"not a model")
    with pytest.raises(RerankerError, match="cannot be loaded"):
        OnnxReranker(broken).scores("is", ["good"], None)
    with pytest.raises(RerankerError, match="no single score"):
        OnnxReranker(tiny_cross_encoder(tmp_path / "embedder", pooled=False)).scores("is", ["good"], None)
    with pytest.raises(RerankerError, match="pixel_values"):
        OnnxReranker(tiny_cross_encoder(tmp_path / "foreign", more=("pixel_values",))).scores("is", ["good"], None)


@pytest.mark.parametrize("missing", ["onnxruntime", "tokenizers"])
def test_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    reranker = OnnxReranker(tiny_cross_encoder(tmp_path / "tiny"))
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(RerankerError, match=r"pip install 'cuetrail\[local\]'"):
        reranker.scores("is", ["good"], None)


@pytest.mark.skipif(not REAL, reason="CUETRAIL_TEST_RERANKER names no folder made by scripts/fetch_reranker.sh")
def test_the_real_model_puts_the_answer_first() -> None:
    reranker = OnnxReranker(str(REAL))
    passages = [
        "DuckDB was chosen for the analytics store because it needs no server.",
        "The team met on Tuesday to talk about the summer party.",
        "PostgreSQL keeps the orders; its backups run every night.",
    ]
    question = "Which database do we use for analytics, and why?"
    scores = reranker.scores(question, passages, None)
    assert scores is not None
    assert scores[0] > scores[2] > scores[1]
    assert reranker.scores(question, passages[::-1], None) == scores[::-1]


# --- fastembed

FAKE_CROSS_ENCODER = """
class TextCrossEncoder:
    def __init__(self, model_name):
        if model_name == "far/away":
            raise ValueError("Could not load model far/away from any source.")
    def rerank(self, query, documents, batch_size=64):
        for text in documents:
            if text == "bad":
                raise RuntimeError("engine broke")
            yield float(len(text))
"""


@pytest.fixture
def fake_fastembed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A package with fastembed's public class, since the real one downloads."""
    package = tmp_path / "fastembed" / "rerank"
    package.mkdir(parents=True)
    for folder in (package, package.parent):
        (folder / "__init__.py").write_text("")
    (package / "cross_encoder.py").write_text(FAKE_CROSS_ENCODER)
    names = ("fastembed", "fastembed.rerank", "fastembed.rerank.cross_encoder")
    for name in names:
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    for name in names:
        sys.modules.pop(name, None)


@pytest.mark.usefixtures("fake_fastembed")
def test_fastembed_gives_a_score_for_each_text_until_the_deadline() -> None:
    reranker = FastEmbedReranker("some/model")
    assert reranker.name == "fastembed:some/model"
    assert reranker.scores("is", ["abc", "", "x"], None) == [3.0, 0.0, 1.0]
    assert reranker.scores("is", ["abc"], time.monotonic() - 60) is None
    assert reranker.scores("is", [], None) == []


@pytest.mark.usefixtures("fake_fastembed")
def test_fastembed_failures_say_what_to_do() -> None:
    with pytest.raises(RerankerError, match="check the name and the network"):
        FastEmbedReranker("far/away").scores("is", ["a"], None)
    with pytest.raises(RerankerError, match="engine broke"):
        FastEmbedReranker("some/model").scores("is", ["bad"], None)


def test_fastembed_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastembed.rerank.cross_encoder", None)
    with pytest.raises(RerankerError, match=r"pip install 'cuetrail\[fastembed\]'"):
        FastEmbedReranker("some/model").scores("is", ["a"], None)


# --- names


class Longest:
    """A reranker of a caller's."""

    name = "longest"

    def scores(self, query: str, texts: Sequence[str], deadline: float | None) -> list[float] | None:
        return [float(len(text) + len(query)) for text in texts] if deadline is None else None


def test_a_spec_opens_its_reranker(tmp_path: Path) -> None:
    folder, mine = tiny_cross_encoder(tmp_path / "tiny"), Longest()
    assert isinstance(reranker_of(f"onnx:{folder}"), OnnxReranker)
    assert isinstance(reranker_of("fastembed:some/model"), FastEmbedReranker)
    assert reranker_of(mine) is mine
    assert reranker_of("none") is None
    assert reranker_of(None) is None


@pytest.mark.parametrize("spec", ["", "onnx", "onnx:", "fastembed", "fastembed:", "static", "openai:x"])
def test_another_spec_is_refused_with_the_list_of_forms(spec: str) -> None:
    with pytest.raises(RerankerError, match=r"none, onnx:/path/to/folder, fastembed:model"):
        reranker_of(spec)
