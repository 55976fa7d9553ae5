"""Embedders with real models, a real local server and, for ONNX, a tiny model built here."""

from __future__ import annotations

import json
import logging
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from cuetrail.embed import open_embedder
from cuetrail.embed.embedder import BGE_PREFIX, Embedder, from_blob, to_blob
from cuetrail.embed.fastembed import FastEmbedEmbedder
from cuetrail.embed.onnx import OnnxEmbedder
from cuetrail.embed.openai import OpenAIEmbedder
from cuetrail.embed.static import StaticEmbedder
from cuetrail.errors import EmbedderError

# Read here, because the settings of the machine are hidden from the tests themselves.
BGE = os.environ.get("CUETRAIL_TEST_BGE")
KEY = "sk-very-secret-1234"
TEXTS = ["The cat sat on the mat.", "", "Ein Hund läuft im Wald.", "猫 🐈 <s> </s>", "x", "one two three " * 400]

static = StaticEmbedder()  # shared: it has no state but the loaded model


def is_unit(row: np.ndarray[Any, Any]) -> bool:
    return bool(abs(np.linalg.norm(row) - 1) < 1e-5)


# --- the static default -----------------------------------------------------------------------------------------------


@cache
def wordllama() -> Any:
    level = logging.getLogger().level
    import wordllama as package

    model = package.WordLlama.load(cache_dir=Path(package.__file__).parent, disable_download=True)
    logging.getLogger().setLevel(level)  # importing it switches logging on
    return model


def test_static_vectors_are_wordllamas_own() -> None:
    texts = [text for text in TEXTS if 0 < len(text) < 1000]
    theirs = wordllama().embed(texts, norm=True)
    assert np.abs(static.embed(texts) - theirs).max() < 1e-3
    assert np.abs(static.embed_query(texts[0]) - theirs[0]).max() < 1e-3


@settings(deadline=None)
@given(st.text(min_size=1, max_size=200).filter(lambda text: not text.isspace()))
def test_static_vectors_are_wordllamas_own_for_any_text(text: str) -> None:
    assert np.abs(static.embed([text]) - wordllama().embed([text], norm=True)).max() < 1e-3


def test_static_reads_files_and_imports_neither_wordllama_nor_a_network_client() -> None:
    code = (
        "import socket, sys\n"
        "socket.socket.connect = socket.getaddrinfo = lambda *a, **k: sys.exit('network')\n"
        "from cuetrail.embed import StaticEmbedder\n"
        "assert abs(StaticEmbedder().embed(['a note'])).sum() > 0\n"
        "assert not {'wordllama', 'requests', 'onnxruntime', 'fastembed'} & set(sys.modules)\n"
    )
    subprocess.run(
        [sys.executable, "-c", code], check=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    )


def test_a_blank_text_gives_a_zero_row_and_no_texts_give_no_rows() -> None:
    rows = static.embed(["", "a", " \n"])
    assert not rows[0].any()
    assert is_unit(rows[1])
    assert not rows[2].any()
    assert static.embed([]).shape == (0, static.dim)
    assert not static.embed_query("").any()


@settings(deadline=None)
@given(st.lists(st.text(alphabet=st.characters(), max_size=60), max_size=12))
def test_static_batches_equal_single_texts_in_order_for_any_text(texts: list[str]) -> None:
    rows = static.embed(texts)
    assert rows.shape == (len(texts), static.dim)
    assert rows.dtype == np.float32
    for text, row in zip(texts, rows, strict=True):
        assert np.array_equal(row, static.embed([text])[0])
        assert is_unit(row) or not row.any()


def test_static_takes_lone_surrogates_and_more_texts_than_a_chunk() -> None:
    assert np.array_equal(static.embed(["a \ud800b"]), static.embed(["a b"]))
    rows = static.embed([f"note {number}" for number in range(2500)])
    assert np.array_equal(rows[2400], static.embed_query("note 2400"))


def test_static_reads_the_beginning_of_a_very_long_text() -> None:
    start = "the river runs to the sea " * 200
    assert np.array_equal(static.embed([start + "q " * 100_000]), static.embed([start]))


def test_static_puts_the_related_text_first() -> None:
    notes = ["The stock market fell sharply today.", "A kitten sleeps on the sofa.", "How to repair a bicycle tyre."]
    assert int(np.argmax(static.embed(notes) @ static.embed_query("cats and where they nap"))) == 1


def test_static_is_loaded_once_when_threads_start_together() -> None:
    fresh = StaticEmbedder()
    with ThreadPoolExecutor(8) as pool:
        rows = list(pool.map(fresh.embed_query, ["same text"] * 32))
    assert all(np.array_equal(row, rows[0]) for row in rows)


@pytest.mark.parametrize("missing", ["wordllama", "tokenizers", "safetensors.numpy"])
def test_static_says_what_to_install(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(EmbedderError, match="pip install " + missing.partition(".")[0]):
        StaticEmbedder().embed(["a"])


# --- what a memory stores ---------------------------------------------------------------------------------------------


@given(st.lists(st.floats(-1, 1, width=16), min_size=1, max_size=40))
def test_a_blob_gives_back_its_float16_numbers(numbers: list[float]) -> None:
    row = np.array([numbers], dtype=np.float32)
    (blob,) = to_blob(row)
    assert len(blob) == 2 * len(numbers)
    assert np.array_equal(from_blob(blob), row[0])


def test_a_blob_is_little_endian_and_a_torn_one_is_refused() -> None:
    assert to_blob(np.ones((2, 1), dtype=np.float32)) == [b"\x00\x3c", b"\x00\x3c"]
    with pytest.raises(EmbedderError, match="doctor"):
        from_blob(b"\x00\x3c\x00")


def test_stored_vectors_keep_their_similarity() -> None:
    rows = static.embed(["a red car", "a crimson automobile"])
    one, two = (from_blob(blob) for blob in to_blob(rows))
    assert abs(float(one @ two) - float(rows[0] @ rows[1])) < 1e-3


# --- a folder with an ONNX model --------------------------------------------------------------------------------------

WORDS = {"[UNK]": 0, "[CLS]": 1, "red": 2, "green": 3, "blue": 4, "query": 5}
TABLE = np.array([[0.0, 0, 0.1], [1, 1, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0]], dtype=np.float32)


def tiny_model(folder: Path, *, inputs: tuple[str, ...] = ("input_ids",), pooled: bool = False, kind: int = 7) -> Path:
    """A folder whose graph looks token vectors up and, if `pooled`, takes their mean; 7 is int64, 6 is int32."""
    folder.mkdir(parents=True, exist_ok=True)
    out = helper.make_tensor_value_info("out", TensorProto.FLOAT, ["b", 3] if pooled else ["b", "t", 3])
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["rows"])]
    if pooled:
        nodes.append(helper.make_node("ReduceMean", ["rows"], ["out"], axes=[1], keepdims=0))
    else:
        nodes.append(helper.make_node("Identity", ["rows"], ["out"]))
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(name, kind, ["b", "t"]) for name in inputs],
        [out],
        [numpy_helper.from_array(TABLE, "table")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.save(model, str(folder / "model.onnx"))
    tokenizer = Tokenizer(WordLevel(WORDS, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.enable_padding(length=16)  # as some published tokenizers do; padding must not be pooled
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def unit(*numbers: float) -> np.ndarray[Any, Any]:
    row = np.array(numbers, dtype=np.float32)
    return row / np.linalg.norm(row)


def test_onnx_pools_by_mean_and_leaves_padding_out(tmp_path: Path) -> None:
    embedder = OnnxEmbedder(tiny_model(tmp_path / "tiny"))
    assert embedder.dim == 3
    rows = embedder.embed(["red green", "", "blue", "red red green", " "])
    expected = [unit(1, 1, 0), np.zeros(3), unit(0, 0, 1), unit(2, 1, 0), np.zeros(3)]
    assert np.allclose(rows, np.array(expected), atol=1e-6)
    assert embedder.embed([]).shape == (0, 3)


def test_onnx_takes_the_first_token_for_a_bge_folder(tmp_path: Path) -> None:
    embedder = OnnxEmbedder(tiny_model(tmp_path / "my-bge-small"), query_prefix="")
    assert np.allclose(embedder.embed_query("red green"), unit(1, 0, 0))


@pytest.mark.parametrize(("key", "expected"), [("cls_token", (0, 1, 0)), ("mean_tokens", (1, 1, 0))])
def test_onnx_believes_the_folders_own_pooling(tmp_path: Path, key: str, expected: tuple[float, ...]) -> None:
    folder = tiny_model(tmp_path / "any")
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({f"pooling_mode_{key}": True}))
    assert np.allclose(OnnxEmbedder(folder).embed(["green red"])[0], unit(*expected))


def test_onnx_takes_pooling_as_a_parameter_and_as_part_of_the_identity(tmp_path: Path) -> None:
    folder = tiny_model(tmp_path / "any")
    cls = OnnxEmbedder(folder, pooling="cls")
    assert np.allclose(cls.embed(["green red"])[0], unit(0, 1, 0))
    assert cls.model != OnnxEmbedder(folder).model


def test_onnx_takes_the_vector_of_a_graph_that_pools_itself(tmp_path: Path) -> None:
    embedder = OnnxEmbedder(tiny_model(tmp_path / "bge", pooled=True))
    assert np.allclose(embedder.embed(["green red"])[0], unit(1, 1, 0))


@pytest.mark.parametrize("kind", [TensorProto.INT64, TensorProto.INT32])
def test_onnx_feeds_the_inputs_the_model_declares(tmp_path: Path, kind: int) -> None:
    folder = tiny_model(tmp_path / "any", inputs=("input_ids", "attention_mask", "token_type_ids"), kind=kind)
    assert np.allclose(OnnxEmbedder(folder).embed(["blue"])[0], unit(0, 0, 1))


def test_onnx_puts_the_query_prefix_before_questions_only(tmp_path: Path) -> None:
    folder = tiny_model(tmp_path / "any")
    embedder = OnnxEmbedder(folder, query_prefix="query ")
    assert np.allclose(embedder.embed_query("blue"), unit(1, 1, 1))
    assert np.allclose(embedder.embed(["blue"])[0], unit(0, 0, 1))
    (folder / "config_sentence_transformers.json").write_text('{"prompts": {"query": "query "}}')
    assert np.allclose(OnnxEmbedder(folder).embed_query("blue"), unit(1, 1, 1))
    assert not embedder.embed_query(" ").any()


@pytest.mark.parametrize(
    ("name", "prefix"),
    [("bge-small-en-v1.5", BGE_PREFIX), ("bge-m3", ""), ("e5-small-v2", "query: "), ("all-minilm", "")],
)
def test_onnx_guesses_the_query_prefix_by_the_folders_name(tmp_path: Path, name: str, prefix: str) -> None:
    assert OnnxEmbedder(tiny_model(tmp_path / name)).query_prefix == prefix


@settings(deadline=None, max_examples=30)
@given(texts=st.lists(st.lists(st.sampled_from(sorted(WORDS)), max_size=6).map(" ".join), max_size=8))
def test_onnx_batches_equal_single_texts_in_order(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    embedder = tiny_embedder(tmp_path_factory.getbasetemp() / "shared-tiny")
    for text, row in zip(texts, embedder.embed(texts), strict=True):
        assert np.array_equal(row, embedder.embed([text])[0])
        assert is_unit(row) or not text


@cache
def tiny_embedder(folder: Path) -> OnnxEmbedder:
    return OnnxEmbedder(tiny_model(folder))


def test_onnx_identity_follows_the_file_not_the_place(tmp_path: Path) -> None:
    one = OnnxEmbedder(tiny_model(tmp_path / "a" / "tiny"))
    same = OnnxEmbedder(tiny_model(tmp_path / "b" / "tiny"))
    other = OnnxEmbedder(tiny_model(tmp_path / "c" / "tiny", pooled=True))
    assert one.model.startswith("onnx:tiny:")
    assert one.model == same.model != other.model


def test_onnx_finds_the_model_under_its_usual_names(tmp_path: Path) -> None:
    folder = tiny_model(tmp_path / "any")
    (folder / "model.onnx").rename(folder / "quantized.onnx")
    assert OnnxEmbedder(folder).dim == 3
    (folder / "onnx").mkdir()
    (folder / "quantized.onnx").rename(folder / "onnx" / "model.onnx")
    assert OnnxEmbedder(folder).dim == 3


def test_onnx_says_which_file_is_missing(tmp_path: Path) -> None:
    with pytest.raises(EmbedderError, match=r"tokenizer\.json"):
        OnnxEmbedder(tmp_path / "nowhere")
    folder = tiny_model(tmp_path / "any")
    (folder / "model.onnx").rename(folder / "a.onnx")
    (folder / "b.onnx").write_bytes(b"")
    with pytest.raises(EmbedderError, match="holds 2 ONNX files"):
        OnnxEmbedder(folder)


def test_onnx_refuses_broken_files_and_foreign_graphs(tmp_path: Path) -> None:
    broken = tiny_model(tmp_path / "broken")
    (broken / "model.onnx").write_bytes(b"not a model")
    with pytest.raises(EmbedderError, match="cannot be loaded"):
        OnnxEmbedder(broken).embed(["a"])
    foreign = tiny_model(tmp_path / "foreign", inputs=("input_ids", "pixel_values"))
    with pytest.raises(EmbedderError, match="pixel_values"):
        OnnxEmbedder(foreign).embed(["a"])
    (broken / "1_Pooling").mkdir()
    (broken / "1_Pooling" / "config.json").write_text("{")
    with pytest.raises(EmbedderError, match="not JSON"):
        OnnxEmbedder(broken)


@pytest.mark.parametrize("missing", ["onnxruntime", "tokenizers"])
def test_onnx_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    embedder = OnnxEmbedder(tiny_model(tmp_path / "any"))
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(EmbedderError, match=r"pip install 'cuetrail\[local\]'"):
        embedder.embed(["a"])


@pytest.mark.skipif(not BGE, reason="CUETRAIL_TEST_BGE names no folder made by scripts/fetch_bge.sh")
def test_bge_orders_passages_by_their_answer_to_the_question() -> None:
    embedder = OnnxEmbedder(str(BGE))
    assert (embedder.dim, embedder.pooling, embedder.query_prefix) == (384, "cls", BGE_PREFIX)
    passages = [
        "DuckDB was chosen for the analytics store because it needs no server.",
        "The team met on Tuesday to talk about the summer party.",
        "PostgreSQL keeps the orders; its backups run every night.",
        "Bananas ripen faster in a paper bag.",
    ]
    rows = embedder.embed(passages)
    assert all(is_unit(row) for row in rows)
    scores = rows @ embedder.embed_query("Which database do we use for analytics, and why?")
    assert list(np.argsort(-scores))[:2] == [0, 2]
    assert int(np.argmin(scores)) == 3
    assert np.array_equal(rows[1], embedder.embed([passages[1]])[0])


# --- fastembed --------------------------------------------------------------------------------------------------------

FAKE_FASTEMBED = """
class TextEmbedding:
    def __init__(self, model_name):
        if model_name == "far/away":
            raise ValueError("Could not load model far/away from any source.")
    def embed(self, documents, batch_size=256):
        for text in documents:
            if text == "bad":
                raise RuntimeError("engine broke")
            yield [float(len(text)), 1.0]
    query_embed = embed
"""


@pytest.fixture
def fake_fastembed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A package with fastembed's public class, since the real one downloads."""
    (tmp_path / "fastembed.py").write_text(FAKE_FASTEMBED)
    monkeypatch.delitem(sys.modules, "fastembed", raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    sys.modules.pop("fastembed", None)


@pytest.mark.usefixtures("fake_fastembed")
def test_fastembed_gives_unit_rows_and_prefixes_bge_questions() -> None:
    embedder = FastEmbedEmbedder()
    assert (embedder.model, embedder.dim) == ("fastembed:BAAI/bge-small-en-v1.5", 2)
    assert np.allclose(embedder.embed(["abc", "", "x"]), np.array([unit(3, 1), (0, 0), unit(1, 1)]))
    assert np.allclose(embedder.embed_query("abc"), unit(len(BGE_PREFIX) + 3, 1))
    assert not embedder.embed_query("").any()


@pytest.mark.usefixtures("fake_fastembed")
def test_fastembed_failures_say_what_to_do() -> None:
    with pytest.raises(EmbedderError, match="check the name and the network"):
        FastEmbedEmbedder("far/away").embed(["a"])
    with pytest.raises(EmbedderError, match="engine broke"):
        FastEmbedEmbedder().embed(["bad"])


def test_fastembed_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastembed", None)
    with pytest.raises(EmbedderError, match=r"pip install 'cuetrail\[fastembed\]'"):
        FastEmbedEmbedder().embed(["a"])


# --- an OpenAI-compatible server --------------------------------------------------------------------------------------


class Server(ThreadingHTTPServer):
    """The public protocol of POST /v1/embeddings; `script` answers the next requests instead, one each."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.script: list[tuple[int, Any]] = []
        self.seen: list[tuple[str, dict[str, Any]]] = []
        self.url = f"http://127.0.0.1:{self.server_address[1]}/v1"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.seen.append((self.headers.get("Authorization", ""), asked))
        status, answer = self.server.script.pop(0) if self.server.script else (200, self.vectors(asked["input"]))
        if self.path != "/v1/embeddings":
            status, answer = 404, "no such path"
        body = (answer if isinstance(answer, str) else json.dumps(answer)).encode()
        self.send_response(status)
        if status in (302, 307):
            self.send_header("Location", f"{self.server.url}/elsewhere")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def vectors(self, texts: list[str]) -> dict[str, Any]:
        # In reverse, which the protocol allows: the index says which text a vector belongs to.
        data = [{"index": at, "embedding": [len(text), 1, 0]} for at, text in enumerate(texts)]
        return {"object": "list", "data": data[::-1]}

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    running = Server()
    thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield running
    running.shutdown()
    thread.join()
    running.server_close()


def client(server: Server, pauses: list[float] | None = None, **options: Any) -> OpenAIEmbedder:
    pause: Callable[[float], object] = (pauses if pauses is not None else []).append
    return OpenAIEmbedder(server.url, "m", KEY, **{"dim": 3, "sleep": pause, **options})


def test_openai_gives_unit_rows_in_the_order_asked_over_several_requests(server: Server) -> None:
    embedder = client(server, batch=2)
    rows = embedder.embed(["a", "", "bbb", "cc", "dddd"])
    expected = np.array([unit(1, 1, 0), (0, 0, 0), unit(3, 1, 0), unit(2, 1, 0), unit(4, 1, 0)])
    assert np.allclose(rows, expected)
    assert [asked["input"] for _, asked in server.seen] == [["a", "bbb"], ["cc", "dddd"]]
    assert server.seen[0] == (f"Bearer {KEY}", {"model": "m", "input": ["a", "bbb"]})
    assert np.allclose(embedder.embed_query("bbb"), unit(3, 1, 0))
    assert embedder.model == "openai:m"


def test_openai_learns_the_dimension_from_the_first_answer_and_needs_no_key(server: Server) -> None:
    embedder = OpenAIEmbedder(server.url + "/", "m")
    assert embedder.embed(["", ""]).shape == (2, 3)
    assert embedder.dim == 3
    assert [key for key, _ in server.seen] == [""]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_openai_tries_again_with_growing_pauses(server: Server, status: int) -> None:
    pauses: list[float] = []
    server.script = [(status, "busy"), (status, "busy")]
    assert client(server, pauses).embed(["a"]).shape == (1, 3)
    assert pauses == [0.05, 0.1]


def test_openai_gives_up_after_three_attempts(server: Server) -> None:
    pauses: list[float] = []
    server.script = [(500, "broken")] * 9
    with pytest.raises(EmbedderError, match=r"answered 500: broken; .*try again later"):
        client(server, pauses).embed(["a"])
    assert (len(server.seen), len(pauses)) == (3, 2)


@pytest.mark.parametrize(
    ("status", "answer", "message"),
    [
        (401, f"Incorrect API key provided: {KEY}.", "check the API key"),
        (404, "no model", "model name 'm'"),
        (307, "", "answered 307"),
        (302, "", "answered 302"),
        (200, "<html>", "did not answer with JSON"),
        (200, [], "did not answer with vectors"),
        (200, {"data": [{"embedding": "AAAA"}]}, "did not answer with vectors"),
        (200, {"data": [{"embedding": [1, 2, 3]}] * 2}, "gave 2 vectors for 1 texts"),
        (200, {"data": []}, "gave 0 vectors for 1 texts"),
        (200, {"data": [{"embedding": [1, 2]}]}, "vectors of 2 numbers, not 3"),
        (200, {"data": [{"embedding": 1}]}, "vectors of no numbers, not 3"),
        (200, '{"data": [{"embedding": [NaN, 1, 2]}]}', "not finite"),
    ],
)
def test_openai_wrong_answers_are_errors_at_once(server: Server, status: int, answer: Any, message: str) -> None:
    server.script = [(status, answer)]
    with pytest.raises(EmbedderError, match=message) as caught:
        client(server).embed(["a"])
    assert len(server.seen) == 1
    assert KEY not in str(caught.value)


def test_openai_refused_connection_is_tried_again_and_then_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with socket.socket() as bound:  # bound but not listening: connecting is refused
        bound.bind(("127.0.0.1", 0))
        pauses: list[float] = []
        url = f"http://127.0.0.1:{bound.getsockname()[1]}/v1"
        with pytest.raises(EmbedderError, match=r"no answer from .*check the address") as caught:
            OpenAIEmbedder(url, "m", KEY, sleep=pauses.append).embed(["a"])
    assert len(pauses) == 2
    assert KEY not in repr(caught.value)


def test_openai_never_shows_the_key() -> None:
    embedder = OpenAIEmbedder("https://host/v1", "m", KEY)
    assert KEY not in repr(embedder)
    assert KEY not in str(embedder)
    with pytest.raises(EmbedderError, match="copy it again") as caught:
        OpenAIEmbedder("https://host/v1", "m", f"{KEY}\nX-Evil: 1")
    assert KEY not in str(caught.value)
    with pytest.raises(EmbedderError, match="user name") as caught:
        OpenAIEmbedder(f"https://user:{KEY}@host/v1", "m")
    assert KEY not in str(caught.value)


# --- specs ------------------------------------------------------------------------------------------------------------


def test_a_spec_opens_its_embedder(tmp_path: Path) -> None:
    folder = tiny_model(tmp_path / "tiny")
    opened: dict[str, Embedder | None] = {
        spec: open_embedder(spec, api_key=KEY)
        for spec in ("static", "none", f"onnx:{folder}", "fastembed", "fastembed:a/b", "openai:http://h:1/v1#m:2#x")
    }
    static_one, none, onnx_one, fast, named, remote = opened.values()
    assert isinstance(static_one, StaticEmbedder)
    assert none is None
    assert isinstance(onnx_one, OnnxEmbedder)
    assert isinstance(fast, FastEmbedEmbedder)
    assert isinstance(remote, OpenAIEmbedder)
    assert fast.model == "fastembed:BAAI/bge-small-en-v1.5"
    assert named is not None
    assert named.model == "fastembed:a/b"
    assert remote.model == "openai:m:2#x"
    assert repr(remote) == "OpenAIEmbedder(url='http://h:1/v1/embeddings', model='m:2#x')"


@pytest.mark.parametrize(
    "spec", ["", "gpt", "onnx:", "onnx", "fastembed:", "openai:https://h/v1", "openai:#m", "none:x"]
)
def test_another_spec_is_refused_with_the_list_of_forms(spec: str) -> None:
    with pytest.raises(EmbedderError, match=r"static, auto, none, onnx:.*fastembed\[:model\].*openai:"):
        open_embedder(spec)


@pytest.mark.parametrize("url", ["file:///etc/passwd", "host/v1", "https://"])
def test_an_address_of_another_kind_is_refused(url: str) -> None:
    with pytest.raises(EmbedderError, match="no address of a server"):
        open_embedder(f"openai:{url}#m")
