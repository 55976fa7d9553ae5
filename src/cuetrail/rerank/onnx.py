"""Cross-encoders in ONNX format, from a folder or an archive on disk."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from cuetrail.embed.embedder import embeddable
from cuetrail.errors import RerankerError
from cuetrail.model_files.lazy_loading import Lazy
from cuetrail.model_files.onnx import find_onnx, load_onnx, processors
from cuetrail.rerank.excerpt import EXCERPT_WORDS, excerpt

MAX_TOKENS = 256
"""The most tokens of query and text that are read, for texts without spaces and for long queries."""
CHARS_PER_TOKEN = 8
FORESEEN_FROM = 0.25
"""The share of the work after which its speed is trusted to tell whether the rest will be done in time."""


class OnnxReranker:
    """Runs a cross-encoder from a folder, wheel, jar or zip with an ONNX file and its tokenizer.json.

    Downloads nothing. Raises RerankerError if a file is missing.
    """

    def __init__(
        self, folder: str | Path, *, words: int = EXCERPT_WORDS, max_tokens: int = MAX_TOKENS,
        threads: int | None = None,
    ) -> None:  # fmt: skip
        self._file = find_onnx(folder, RerankerError)
        self._words = words
        self._max_tokens = max_tokens
        self._threads = threads or processors()
        self._parts = Lazy(lambda: load_onnx(self._file, max_tokens, RerankerError))
        self._name = Lazy(lambda: f"onnx:{self._file.name}:{self._file.digest(f'{words} {max_tokens}'.encode())}")

    @property
    def name(self) -> str:
        """Returns the folder name with a hash of the model file and of how much it reads."""
        return self._name()

    def scores(self, query: str, texts: Sequence[str], deadline: float | None) -> list[float] | None:
        """See Reranker. Gives up as soon as the speed so far shows that the deadline will pass."""
        started = time.monotonic()
        tokenizer = self._parts()[1]
        work = _Work(None if deadline is None else deadline + time.monotonic() - started)
        if not texts or work.late():
            return None if texts else []
        read = [excerpt(query, text, self._words) for text in texts]
        clean = [embeddable(text, CHARS_PER_TOKEN * self._max_tokens) for text in (query, *read)]
        pairs = tokenizer.encode_batch_fast([(clean[0], text) for text in clean[1:]])
        # Longest first, so that no thread starts a long one when the others are done.
        order = sorted(range(len(pairs)), key=lambda at: -len(pairs[at].ids))
        work.begin(sum(len(pair.ids) for pair in pairs))
        # One text per run, runs side by side. A quantised model scales its activations over the whole batch, so a
        # batch would give a text another score beside other neighbours; and on CPUs this is as fast.
        if self._threads > 1 and len(order) > 1:
            with ThreadPoolExecutor(min(self._threads, len(order))) as pool:
                made = list(pool.map(lambda at: self._score(pairs[at], work), order))
        else:
            made = [self._score(pairs[at], work) for at in order]
        if work.stopped:
            return None
        found = dict(zip(order, made, strict=True))
        return [found[at] for at in range(len(pairs))]

    def _score(self, pair: Any, work: _Work) -> float:
        """Returns the score of one tokenised pair; 0 if the work was stopped."""
        if work.late():
            return 0.0
        session = self._parts()[0]
        known = {"input_ids": pair.ids, "attention_mask": [1] * len(pair.ids), "token_type_ids": pair.type_ids}
        try:
            feeds = {
                given.name: np.array([known[given.name]], dtype=np.int32 if "int32" in given.type else np.int64)
                for given in session.get_inputs()
            }
            output = np.asarray(session.run([session.get_outputs()[0].name], feeds)[0], dtype=np.float32)
        except Exception as error:  # onnxruntime's errors share no base class of their own
            raise RerankerError(f"the model {self._file} does not run as a cross-encoder: {error}") from error
        if output.size != 1 or not np.isfinite(output).all():
            raise RerankerError(
                f"the model {self._file} gives no single score for a pair of texts; use a cross-encoder"
            )
        work.done(len(pair.ids))
        return float(output.ravel()[0])


class _Work:
    """How far the texts of one call are, and whether all will be scored before the deadline."""

    def __init__(self, deadline: float | None) -> None:
        self.stopped = False
        self._deadline = deadline
        self._started = time.monotonic()
        self._tokens = self._ready = 0

    def begin(self, tokens: int) -> None:
        """Starts the clock by which the speed is measured."""
        self._tokens, self._started = tokens, time.monotonic()

    def done(self, tokens: int) -> None:
        """Counts the tokens of a scored text."""
        self._ready += tokens

    def late(self) -> bool:
        """True if the deadline passed or will pass; from then on always."""
        if self._deadline is None:
            return False
        now = time.monotonic()
        expected = now
        if self._ready >= FORESEEN_FROM * self._tokens > 0:
            expected += (now - self._started) * (self._tokens - self._ready) / self._ready
        self.stopped = self.stopped or expected > self._deadline
        return self.stopped
