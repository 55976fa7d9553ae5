"""Rerankers: cross-encoders, which read a question and a text together and score how well the text answers it.

    reranker = reranker_of("onnx:models/reranker")
    reranker.scores("Who flew first?", ["The Wright brothers flew in 1903.", "Bread rises."], None)    # [7.9, -11.2]

A memory has none unless one is named. Every reranker loads its model at its first use and may be shared by threads. A
text gets the same score whichever texts it is scored with. Of a long text, the local ones read the sentences that share
most words with the question.

May import: embed, errors, model_files, text.
"""

from cuetrail.rerank.registry import reranker_of as reranker_of
from cuetrail.rerank.reranker import Reranker as Reranker
