"""Sentence models in ONNX format, from a folder on disk."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from glob import escape
from pathlib import Path
from typing import Any, Literal

import numpy as np

from cuetrail.embed.embedder import (
    LOCAL_CHARS,
    MAX_TOKENS,
    FloatArray,
    Lazy,
    embeddable,
    family_prefixes,
    import_library,
    unit_rows,
)
from cuetrail.errors import EmbedderError

Pooling = Literal["cls", "mean"]


class OnnxEmbedder:
    """Runs a sentence model from a folder with an ONNX file and its tokenizer.json. Downloads nothing.

    The pooling is the one in the folder's `1_Pooling/config.json`, else `pooling`, else "cls" for a bge folder and
    "mean" for others. The query prefix is `query_prefix`, else the one in `config_sentence_transformers.json`, else the
    one of the family (bge, e5) in the folder's name. Raises EmbedderError if a file is missing.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        pooling: Pooling | None = None,
        query_prefix: str | None = None,
        threads: int | None = None,
    ) -> None:
        self.folder = Path(folder).expanduser().resolve()
        self._file = _onnx_file(self.folder)
        self.pooling = _stored_pooling(self.folder) or pooling or _guessed_pooling(self.folder.name)
        guessed_query, self._text_prefix = family_prefixes(self.folder.name)
        stored = _stored_query_prefix(self.folder)
        self.query_prefix = next(p for p in (query_prefix, stored, guessed_query) if p is not None)
        self._threads = threads or os.cpu_count() or 1
        self._parts = Lazy(lambda: _load_onnx(self.folder, self._file))
        self._identity = Lazy(lambda: f"onnx:{self.folder.name}:{_short_hash(self._file, self.pooling)}")
        self._size = Lazy(lambda: len(self._vector(self._ids(["size"])[0])))

    @property
    def model(self) -> str:
        """Returns the folder name with a hash of the model file and the pooling. Another file is another model."""
        return self._identity()

    @property
    def dim(self) -> int:
        """Returns the length of a vector. Loads the model."""
        return self._size()

    def embed(self, texts: Sequence[str]) -> FloatArray:
        """See Embedder. Raises EmbedderError if onnxruntime is missing or the model does not run."""
        return self._embed(texts, self._text_prefix)

    def embed_query(self, text: str) -> FloatArray:
        """See Embedder. The query prefix is put before the text."""
        return self._embed([text], self.query_prefix).ravel()

    def _embed(self, texts: Sequence[str], prefix: str) -> FloatArray:
        clean = [embeddable(text, LOCAL_CHARS) for text in texts]
        # Longest texts first, so that no thread starts a long one when the others are done.
        filled = sorted((at for at, text in enumerate(clean) if text), key=lambda at: -len(clean[at]))
        rows = np.zeros((len(clean), self.dim), dtype=np.float32)
        ids = self._ids([prefix + clean[at] for at in filled])
        # One text per run, runs side by side. A quantised model scales its activations over the whole batch, so a
        # batch would give a text another vector beside other neighbours (cosine .995); and on CPUs this is faster.
        if len(filled) > 1:
            with ThreadPoolExecutor(min(self._threads, len(filled))) as pool:
                rows[filled] = list(pool.map(self._vector, ids))
        elif filled:
            rows[filled[0]] = self._vector(ids[0])
        return unit_rows(rows)

    def _ids(self, texts: Sequence[str]) -> list[list[int]]:
        tokenizer = self._parts()[1]
        return [encoding.ids for encoding in tokenizer.encode_batch_fast(list(texts))]

    def _vector(self, ids: list[int]) -> FloatArray:
        session = self._parts()[0]
        known = {"input_ids": ids, "attention_mask": [1] * len(ids), "token_type_ids": [0] * len(ids)}
        try:
            feeds = {
                given.name: np.array([known[given.name]], dtype=np.int32 if "int32" in given.type else np.int64)
                for given in session.get_inputs()
            }
            output: FloatArray = session.run([session.get_outputs()[0].name], feeds)[0][0]
        except Exception as error:  # onnxruntime's errors share no base class of their own
            raise EmbedderError(f"the model {self._file} does not run as a sentence embedder: {error}") from error
        if output.ndim == 2:  # one row per token; else the graph has pooled by itself
            output = output[0] if self.pooling == "cls" else output.mean(axis=0)
        return output


def _load_onnx(folder: Path, file: Path) -> tuple[Any, Any]:
    onnxruntime = import_library("onnxruntime", "'cuetrail[local]'")
    tokenizers = import_library("tokenizers", "'cuetrail[local]'")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # the texts run side by side instead, see OnnxEmbedder._embed
    options.log_severity_level = 3
    try:
        session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
        tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    except Exception as error:  # neither library has a base class for its errors
        raise EmbedderError(f"the model in {folder} cannot be loaded: {error}; fetch it again") from error
    own_limit = (tokenizer.truncation or {}).get("max_length", MAX_TOKENS)
    tokenizer.no_padding()
    tokenizer.enable_truncation(min(own_limit, MAX_TOKENS))
    return session, tokenizer


def _onnx_file(folder: Path) -> Path:
    """Returns the folder's model file. Raises EmbedderError for none or several, or without tokenizer.json."""
    if not (folder / "tokenizer.json").is_file():
        raise EmbedderError(f"{folder} holds no tokenizer.json; put the model's tokenizer.json beside its ONNX file")
    for named in (folder / "model.onnx", folder / "onnx" / "model.onnx"):
        if named.is_file():
            return named
    files = sorted(folder.glob("*.onnx"))
    if len(files) != 1:
        raise EmbedderError(f"{folder} holds {len(files)} ONNX files; call the one to use model.onnx")
    return files[0]


def _short_hash(file: Path, pooling: Pooling) -> str:
    """Returns twelve hex digits over the pooling, the model file and the weight files beside it."""
    total = hashlib.sha256(pooling.encode())
    for part in (file, *sorted(file.parent.glob(escape(file.name) + "?data"))):
        with part.open("rb") as stream:
            total.update(hashlib.file_digest(stream, "sha256").digest())
    return total.hexdigest()[:12]


def _read_json(file: Path) -> dict[str, Any]:
    """Returns the JSON object of a file, {} if there is no file. Raises EmbedderError if it is no JSON object."""
    if not file.is_file():
        return {}
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise EmbedderError(f"{file} is not JSON; fetch the model again") from error
    if not isinstance(data, dict):
        raise EmbedderError(f"{file} holds no JSON object; fetch the model again")
    return data


def _stored_pooling(folder: Path) -> Pooling | None:
    config = _read_json(folder / "1_Pooling" / "config.json")
    if config.get("pooling_mode_cls_token"):
        return "cls"
    return "mean" if config.get("pooling_mode_mean_tokens") else None


def _stored_query_prefix(folder: Path) -> str | None:
    prompts = _read_json(folder / "config_sentence_transformers.json").get("prompts") or {}
    prefix = prompts.get("query")
    return prefix if isinstance(prefix, str) else None


def _guessed_pooling(name: str) -> Pooling:
    return "cls" if "bge" in name.lower() else "mean"
