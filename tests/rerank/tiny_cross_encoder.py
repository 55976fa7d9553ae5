"""A cross-encoder of a few words, built for tests."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

VALUES = {"is": 0.0, "which": 0.0, "good": 1.0, "bad": -1.0}


def tiny_cross_encoder(folder: Path, *, kind: int = 7, pooled: bool = True, more: tuple[str, ...] = ()) -> Path:
    """A folder with a model that adds up the values of the words behind the question; other words have none.

    Its inputs are of type int64 (7) or int32 (6). If not `pooled`, it gives one number per word. `more` are inputs that
    nothing fills.
    """
    folder.mkdir(parents=True, exist_ok=True)
    inputs = ("input_ids", "attention_mask", "token_type_ids", *more)
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["values"]),
        helper.make_node("Cast", ["token_type_ids"], ["behind"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["values", "behind"], ["counted"]),
        helper.make_node("ReduceSum", ["counted", "axes"], ["sum"], keepdims=1),
        helper.make_node("Identity", ["sum" if pooled else "counted"], ["logits"]),
    ]
    table = np.array([0.0, *VALUES.values()], dtype=np.float32)
    constants = [numpy_helper.from_array(table, "table"), numpy_helper.from_array(np.array([1]), "axes")]
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(name, kind, ["b", "t"]) for name in inputs],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["b", "n"])],
        constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.save(model, str(folder / "model.onnx"))
    words = {word: at for at, word in enumerate(["[UNK]", *VALUES])}
    tokenizer = Tokenizer(WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(single="$A", pair="$A $B:1", special_tokens=[])
    tokenizer.enable_padding(length=16)  # as some published tokenizers do; padding must not be scored
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder
