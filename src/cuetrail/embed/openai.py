"""Servers with an OpenAI-compatible /embeddings endpoint."""

from __future__ import annotations

import http.client
import json
import time
import urllib.error
import urllib.parse
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cuetrail.embed.embedder import FloatArray, embeddable, unit_rows
from cuetrail.errors import EmbedderError
from cuetrail.http_post import is_temporary, post_json, with_retries

# The usual limit of a server is 8,192 tokens, and a character of an unspaced script may be a token of its own.
REMOTE_CHARS = 8_000
FIRST_PAUSE = 0.05


class OpenAIEmbedder:
    """Asks a server with an OpenAI-compatible /embeddings endpoint.

    `model` is the name without the host, so that a server may move. The key is sent to that address only: redirects are
    refused. Raises EmbedderError for an invalid address or key.
    """

    contextual = True

    def __init__(
        self, base_url: str, model: str, api_key: str | None = None, dim: int | None = None, timeout: float = 30.0,
        batch: int = 64, sleep: Callable[[float], object] = time.sleep,
    ) -> None:  # fmt: skip
        self.model = f"openai:{model}"
        self._name = model
        self._url = _checked_url(base_url).rstrip("/") + "/embeddings"
        self._key = _checked_key(api_key)
        self._dim = dim
        self._timeout = timeout
        self._batch = batch
        self._sleep = sleep

    def __repr__(self) -> str:
        return f"OpenAIEmbedder(url={self._url!r}, model={self._name!r})"

    @property
    def dim(self) -> int:
        """Returns the length of a vector. Asks the server once if it is not known."""
        if self._dim is None:
            self._dim = self._ask(["size"]).shape[1]
        return self._dim

    def embed(self, texts: Sequence[str]) -> FloatArray:
        """See Embedder. Raises EmbedderError if the server does not answer, or not with one vector per text."""
        clean = [embeddable(text, REMOTE_CHARS) for text in texts]
        filled = [at for at, text in enumerate(clean) if text]  # servers refuse an empty input
        rows = np.zeros((len(clean), self.dim), dtype=np.float32)
        for start in range(0, len(filled), self._batch):
            places = filled[start : start + self._batch]
            rows[places] = self._ask([clean[at] for at in places])
        return unit_rows(rows)

    def embed_query(self, text: str) -> FloatArray:
        """See Embedder. A query is embedded like any text."""
        return self.embed([text]).ravel()

    def _ask(self, texts: list[str]) -> FloatArray:
        body = json.dumps({"model": self._name, "input": texts}).encode()
        return with_retries(
            lambda: self._vectors(self._post(body), len(texts)),
            lambda error: isinstance(error, _Transient),
            FIRST_PAUSE,
            self._sleep,
        )

    def _post(self, body: bytes) -> Any:
        try:
            with post_json(self._url, body, self._key, self._timeout) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            raise self._refusal(error) from None
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", None) or str(error) or type(error).__name__
            raise _Transient(f"no answer from {self._url}: {reason}; check the address and that it is up") from error
        except ValueError as error:
            raise EmbedderError(f"{self._url} did not answer with JSON; check that the address ends in /v1") from error

    def _refusal(self, error: urllib.error.HTTPError) -> EmbedderError:
        with error:
            try:
                words = error.read(10_000).decode("utf-8", "replace")
            except (OSError, http.client.HTTPException):
                words = ""
        if self._key:  # some servers quote the key they refuse
            words = words.replace(self._key, "***")
        what = f"{self._url} answered {error.code}: {' '.join(words.split())[:200]}"
        if is_temporary(error):
            return _Transient(f"{what}; the server is busy or broken, try again later")
        if error.code in (401, 403):
            return EmbedderError(f"{what}; check the API key")
        return EmbedderError(f"{what}; check the address (it usually ends in /v1) and the model name {self._name!r}")

    def _vectors(self, answer: Any, count: int) -> FloatArray:
        try:
            items = sorted(answer["data"], key=lambda item: item.get("index", 0))
            rows = np.array([item["embedding"] for item in items], dtype=np.float32)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise EmbedderError(f"{self._url} did not answer with vectors; is it an embeddings endpoint?") from error
        if len(rows) != count:
            raise EmbedderError(f"{self._url} gave {len(rows)} vectors for {count} texts; check the server")
        if rows.ndim != 2 or (self._dim is not None and rows.shape[1] != self._dim):
            got = rows.shape[1] if rows.ndim == 2 else "no"
            raise EmbedderError(f"{self.model} gave vectors of {got} numbers, not {self._dim}; check dim and the model")
        return rows


class _Transient(EmbedderError):
    """A failure that may not occur again on retry."""


def _checked_url(url: str) -> str:
    parts = urllib.parse.urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise EmbedderError(f"{url!r} is no address of a server; give one like https://host/v1")
    if "@" in parts.netloc:  # not quoted back: it holds a secret
        raise EmbedderError("the embedder's address holds a user name; leave it out and pass the API key instead")
    return url


def _checked_key(key: str | None) -> str:
    key = (key or "").strip()
    # http.client would quote such a key in its own error.
    if not (key.isascii() and key.isprintable()):
        raise EmbedderError("the API key holds characters that no key has; copy it again")
    return key
