"""Texts to unit vectors. One protocol, four embedders; the default is static, offline and never downloads anything.

    embedder = open_embedder("static")
    vectors = embedder.embed(["a note", "another note"])     # (2, 256) float32, unit rows
    cue = embedder.embed_query("which note?")                # (256,)
    scores = vectors @ cue

Every embedder loads at its first use, may be shared by threads and gives a zero row for a blank text. Those that run
here give a text the same vector whichever texts it is embedded with; a server may not.
"""

from __future__ import annotations

import hashlib
import http.client
import importlib
import importlib.util
import json
import os
import re
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from glob import escape
from pathlib import Path
from typing import Any, Generic, Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from cuetrail.errors import EmbedderError

Vectors = NDArray[np.float32]
Pooling = Literal["cls", "mean"]

FORMS = "static, none, onnx:/path/to/folder, fastembed[:model], openai:https://host/v1#model-name"
FASTEMBED_MODEL = "BAAI/bge-small-en-v1.5"
MAX_TOKENS = 512
# A token of running text is 3 to 5 characters, so the cut lies behind the last token used. It is made first because a
# tokenizer reads the whole text, however long, before it truncates.
LOCAL_CHARS = 8 * MAX_TOKENS
# The usual remote limit is 8,192 tokens, and a character of an unspaced script may be a token of its own.
REMOTE_CHARS = 8_000
# Enough texts to keep all cores of the tokenizer busy, few enough that their tokens do not fill the memory.
CHUNK = 1024
ATTEMPTS = 3
FIRST_PAUSE = 0.05
BGE_PREFIX = "Represent this sentence for searching relevant passages: "

_T = TypeVar("_T")


class Embedder(Protocol):
    """What the rest of cuetrail asks of an embedder."""

    @property
    def model(self) -> str:
        """The identity stored in the memory; vectors of two identities are never compared."""

    @property
    def dim(self) -> int:
        """The length of a vector. May load the model; raises EmbedderError if that fails."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit rows of shape (len(texts), dim), in the order given; a blank text gives a zero row.

        Raises EmbedderError if the model cannot be loaded or does not answer.
        """

    def embed_query(self, text: str) -> Vectors:
        """One unit vector of shape (dim,), made the way the model wants a question. Raises as `embed` does."""


def open_embedder(spec: str, *, api_key: str | None = None) -> Embedder | None:
    """The embedder a spec names, not yet loaded; None for "none". Raises EmbedderError for a spec of no known form."""
    kind, _, rest = spec.partition(":")
    if spec == "none":
        return None
    if spec == "static":
        return StaticEmbedder()
    if kind == "onnx" and rest:
        return OnnxEmbedder(rest)
    if spec == "fastembed" or (kind == "fastembed" and rest):
        return FastEmbedEmbedder(rest or FASTEMBED_MODEL)
    base_url, _, model = rest.partition("#")
    if kind == "openai" and base_url and model:
        return OpenAIEmbedder(base_url, model, api_key)
    raise EmbedderError(f"no embedder is called {spec!r}; use one of: {FORMS}")


def to_blob(vectors: Vectors) -> list[bytes]:
    """Each row as little-endian float16 bytes, the form a memory stores."""
    return [row.tobytes() for row in np.asarray(vectors).astype("<f2")]


def from_blob(blob: bytes) -> Vectors:
    """The vector `to_blob` stored. Raises EmbedderError if the bytes are not float16 numbers."""
    if len(blob) % 2:
        raise EmbedderError(f"a stored vector has {len(blob)} bytes, an odd number; run doctor, then reembed")
    return np.frombuffer(blob, dtype="<f2").astype(np.float32)


class StaticEmbedder:
    """The offline default: the mean of wordllama's token vectors (256 numbers), read from the installed package."""

    model = "wordllama:l2_supercat_256"
    dim = 256

    def __init__(self) -> None:
        self._parts = _Lazy(_load_wordllama)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See Embedder. Raises EmbedderError if wordllama is not installed."""
        table, tokenizer = self._parts()
        rows = np.zeros((len(texts), self.dim), dtype=np.float32)
        for start in range(0, len(texts), CHUNK):
            clean = [_usable(text, LOCAL_CHARS) for text in texts[start : start + CHUNK]]
            # Row by row: ten times faster than np.add.reduceat over all tokens at once, because a text's token vectors
            # stay in the processor's cache. The sum is enough: the mean has the same direction. Clipping unknown ids
            # is wordllama's own rule.
            for at, encoding in enumerate(tokenizer.encode_batch_fast(clean, add_special_tokens=False), start):
                ids = encoding.ids
                if ids:
                    table.take(ids, axis=0, mode="clip").sum(axis=0, out=rows[at])
        return _unit(rows)

    def embed_query(self, text: str) -> Vectors:
        """See Embedder; a question is embedded like any text."""
        return self.embed([text]).ravel()


class OnnxEmbedder:
    """A sentence model from a folder with an ONNX file and its tokenizer.json. Nothing is downloaded.

    The pooling is what the folder's `1_Pooling/config.json` says, else `pooling`, else "cls" for a bge folder and
    "mean" for others. The query prefix is `query_prefix`, else what `config_sentence_transformers.json` says, else what
    the family (bge, e5) in the folder's name wants. Raises EmbedderError if a file is missing.
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
        guessed_query, self._text_prefix = _guessed_prefixes(self.folder.name)
        stored = _stored_query_prefix(self.folder)
        self.query_prefix = next(p for p in (query_prefix, stored, guessed_query) if p is not None)
        self._threads = threads or os.cpu_count() or 1
        self._parts = _Lazy(lambda: _load_onnx(self.folder, self._file))
        self._identity = _Lazy(lambda: f"onnx:{self.folder.name}:{_short_hash(self._file, self.pooling)}")
        self._size = _Lazy(lambda: len(self._vector(self._ids(["size"])[0])))

    @property
    def model(self) -> str:
        """Folder name and a hash of the model file and its pooling: another file is another identity."""
        return self._identity()

    @property
    def dim(self) -> int:
        """The length of a vector; loads the model."""
        return self._size()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See Embedder. Raises EmbedderError if onnxruntime is missing or the model does not run."""
        return self._embed(texts, self._text_prefix)

    def embed_query(self, text: str) -> Vectors:
        """See Embedder; the query prefix is put before the text."""
        return self._embed([text], self.query_prefix).ravel()

    def _embed(self, texts: Sequence[str], prefix: str) -> Vectors:
        clean = [_usable(text, LOCAL_CHARS) for text in texts]
        # The longest first, so that no thread starts on a long text when the others are done.
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
        return _unit(rows)

    def _ids(self, texts: Sequence[str]) -> list[list[int]]:
        tokenizer = self._parts()[1]
        return [encoding.ids for encoding in tokenizer.encode_batch_fast(list(texts))]

    def _vector(self, ids: list[int]) -> Vectors:
        session = self._parts()[0]
        known = {"input_ids": ids, "attention_mask": [1] * len(ids), "token_type_ids": [0] * len(ids)}
        try:
            feeds = {
                given.name: np.array([known[given.name]], dtype=np.int32 if "int32" in given.type else np.int64)
                for given in session.get_inputs()
            }
            output: Vectors = session.run([session.get_outputs()[0].name], feeds)[0][0]
        except Exception as error:  # onnxruntime's errors share no base class of their own
            raise EmbedderError(f"the model {self._file} does not run as a sentence embedder: {error}") from error
        if output.ndim == 2:  # one row per token; else the graph has pooled by itself
            output = output[0] if self.pooling == "cls" else output.mean(axis=0)
        return output


class FastEmbedEmbedder:
    """A model of the fastembed catalogue, which downloads it at the first use. Only for users who name it."""

    def __init__(self, model: str = FASTEMBED_MODEL) -> None:
        self.model = f"fastembed:{model}"
        self._query_prefix, self._text_prefix = _guessed_prefixes(model)
        self._engine = _Lazy(lambda: _load_fastembed(model))
        self._size = _Lazy(lambda: len(self._vectors("embed", ["size"])[0]))

    @property
    def dim(self) -> int:
        """The length of a vector; loads the model."""
        return self._size()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See Embedder. Raises EmbedderError if fastembed is missing or cannot download the model."""
        clean = [_usable(text, LOCAL_CHARS) for text in texts]
        filled = [at for at, text in enumerate(clean) if text]
        rows = np.zeros((len(clean), self.dim), dtype=np.float32)
        if filled:
            rows[filled] = self._vectors("embed", [self._text_prefix + clean[at] for at in filled])
        return _unit(rows)

    def embed_query(self, text: str) -> Vectors:
        """See Embedder; fastembed itself puts no prefix before a question, so the family's is added here."""
        text = _usable(text, LOCAL_CHARS)
        if not text:
            return np.zeros(self.dim, dtype=np.float32)
        return _unit(self._vectors("query_embed", [self._query_prefix + text])).ravel()

    def _vectors(self, method: str, texts: list[str]) -> Vectors:
        engine = self._engine()
        try:
            # batch_size=1 for the reason given in OnnxEmbedder._embed: most of the catalogue is quantised.
            return np.array(list(getattr(engine, method)(texts, batch_size=1)), dtype=np.float32)
        except Exception as error:  # whatever the engine raises, the caller is promised an EmbedderError
            raise EmbedderError(f"{self.model} failed: {error}; try another model or the embedder static") from error


class OpenAIEmbedder:
    """Any server with an OpenAI-compatible /embeddings endpoint.

    The identity is the model's name without the host, so that a server may move. The key is sent to that one address
    only: redirects are refused. Raises EmbedderError for an address or key that cannot be sent.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        api_key: str | None = None,
        dim: int | None = None,
        timeout: float = 30.0,
        batch: int = 64,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
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
        """The length of a vector; asks the server once if it is not known yet."""
        if self._dim is None:
            self._dim = self._ask(["size"]).shape[1]
        return self._dim

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See Embedder. Raises EmbedderError if the server does not answer, or not with one vector per text."""
        clean = [_usable(text, REMOTE_CHARS) for text in texts]
        filled = [at for at, text in enumerate(clean) if text]  # servers refuse an empty input
        rows = np.zeros((len(clean), self.dim), dtype=np.float32)
        for start in range(0, len(filled), self._batch):
            places = filled[start : start + self._batch]
            rows[places] = self._ask([clean[at] for at in places])
        return _unit(rows)

    def embed_query(self, text: str) -> Vectors:
        """See Embedder; a question is embedded like any text."""
        return self.embed([text]).ravel()

    def _ask(self, texts: list[str]) -> Vectors:
        body = json.dumps({"model": self._name, "input": texts}).encode()
        for attempt in range(ATTEMPTS - 1):
            try:
                return self._vectors(self._post(body), len(texts))
            except _Transient:
                self._sleep(FIRST_PAUSE * 2**attempt)
        return self._vectors(self._post(body), len(texts))

    def _post(self, body: bytes) -> Any:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        request = urllib.request.Request(self._url, data=body, headers=headers, method="POST")
        try:
            with urllib.request.build_opener(_NoRedirect).open(request, timeout=self._timeout) as response:
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
        if error.code == 429 or error.code >= 500:
            return _Transient(f"{what}; the server is busy or broken, try again later")
        if error.code in (401, 403):
            return EmbedderError(f"{what}; check the API key")
        return EmbedderError(f"{what}; check the address (it usually ends in /v1) and the model name {self._name!r}")

    def _vectors(self, answer: Any, count: int) -> Vectors:
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
    """A failure that may pass when asked again."""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """urllib would send the key along to whatever host a redirect names."""

    def redirect_request(self, *_: Any) -> None:
        return None


class _Lazy(Generic[_T]):
    """A value made at the first call, once, also when threads call at the same time."""

    def __init__(self, make: Callable[[], _T]) -> None:
        self._make = make
        self._made: list[_T] = []
        self._lock = threading.Lock()

    def __call__(self) -> _T:
        if not self._made:
            with self._lock:
                if not self._made:
                    self._made.append(self._make())
        return self._made[0]


def _need(module: str, install: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise EmbedderError(f"this embedder needs {module}, which cannot be imported; pip install {install}") from error


def _usable(text: str, limit: int) -> str:
    """The text without lone surrogates, which tokenizers refuse, and at most `limit` long; blank becomes empty."""
    text = text[:limit]
    if not text.isascii():
        text = text.encode("utf-8", "ignore").decode()
    return "" if text.isspace() else text


def _unit(rows: Vectors) -> Vectors:
    """The rows with length 1; zero rows stay zero. Raises EmbedderError for numbers that are not finite."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not np.isfinite(lengths).all():
        raise EmbedderError("the model gave numbers that are not finite; use another model")
    unit: Vectors = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    return unit


def _load_wordllama() -> tuple[Vectors, Any]:
    # The package is found, not imported: importing it configures logging and brings in an HTTP client.
    found = importlib.util.find_spec("wordllama")
    if found is None or not found.submodule_search_locations:
        raise EmbedderError("the static embedder needs the files of wordllama; pip install wordllama")
    folder = Path(found.submodule_search_locations[0])
    weights = folder / "weights" / "l2_supercat_256.safetensors"
    vocabulary = folder / "tokenizers" / "l2_supercat_tokenizer_config.json"
    if not (weights.is_file() and vocabulary.is_file()):
        raise EmbedderError(f"wordllama in {folder} lacks its model files; pip install --force-reinstall wordllama")
    load_file = _need("safetensors.numpy", "safetensors").load_file
    tokenizer = _need("tokenizers", "tokenizers").Tokenizer.from_file(str(vocabulary))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    return load_file(weights)["embedding.weight"].astype(np.float32), tokenizer


def _load_onnx(folder: Path, file: Path) -> tuple[Any, Any]:
    onnxruntime = _need("onnxruntime", "'cuetrail[local]'")
    tokenizers = _need("tokenizers", "'cuetrail[local]'")
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


def _load_fastembed(model: str) -> Any:
    fastembed = _need("fastembed", "'cuetrail[fastembed]'")
    try:
        return fastembed.TextEmbedding(model_name=model)
    except Exception as error:  # it raises ValueError for unknown names and failed downloads, and more
        raise EmbedderError(
            f"fastembed cannot load {model}: {error}; check the name and the network, or use onnx:/path/to/folder"
        ) from error


def _onnx_file(folder: Path) -> Path:
    """The folder's model file. Raises EmbedderError if there is none, if there are several, or no tokenizer.json."""
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
    """Twelve hex digits over the pooling, the model file and the weights some models keep beside it."""
    total = hashlib.sha256(pooling.encode())
    for part in (file, *sorted(file.parent.glob(escape(file.name) + "?data"))):
        with part.open("rb") as stream:
            total.update(hashlib.file_digest(stream, "sha256").digest())
    return total.hexdigest()[:12]


def _read_json(file: Path) -> dict[str, Any]:
    """The file's object, or an empty one if there is no such file. Raises EmbedderError if it is not a JSON object."""
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


def _guessed_prefixes(name: str) -> tuple[str, str]:
    """What the model's makers put before a question and before a text, by the family in its name."""
    name = name.lower()
    if "bge" in name and not re.search(r"m3|zh", name):  # these two of the family were trained without the English one
        return BGE_PREFIX, ""
    if re.search(r"(^|[-_/])e5[-_]", name):
        return "query: ", "passage: "
    return "", ""


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
