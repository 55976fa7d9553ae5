"""Hybrid search: what BM25 and vector search find for a cue."""

from __future__ import annotations

from collections.abc import Sequence

from cuetrail.errors import EmbedderError
from cuetrail.model import Node, SearchHit
from cuetrail.recall.stages import Anchor, Anchored, RecallContext
from cuetrail.store.vector_space import QueryVector


def hybrid_search(context: RecallContext, *, candidates: int, vectors: int | None = None) -> Anchored:
    """Returns the nodes that text and vector search find, each once, unranked. If the embedder fails, text alone.

    `candidates` is the limit of each search; `vectors`, if given, is the limit of the vector search instead.
    """
    notices: tuple[str, ...] = ()
    limit = max(candidates, context.limit or 0)
    by_text = context.store.text(context.scope, context.cue.query, limit, context.cue.where, nodes=True)
    by_vector, embedding = list[SearchHit](), None
    try:
        embedding = _query_embedding(context)
        if embedding is not None:
            most = limit if vectors is None else max(vectors, context.limit or 0)
            by_vector = context.store.vector(context.scope, embedding.vector, most, context.cue.where, embedding.space)
    except EmbedderError as error:
        notices = (f"answered from text alone: {error}",)
    cosines = {found.id: found.score for found in by_vector}
    texts = {found.id: found for found in by_text}
    anchors = [
        Anchor(node, texts[id_].score, cosines.get(id_), texts[id_].boosted)
        if id_ in texts
        else Anchor(node, None, cosines[id_])
        for id_, node in _nodes(context, (*by_text, *by_vector)).items()
    ]
    return Anchored(tuple(anchors), context.cue.query, notices=notices, query_embedding=embedding)


def _nodes(context: RecallContext, found: Sequence[SearchHit]) -> dict[str, Node]:
    """Returns the nodes of search results in the same order; reads those that did not come with the result."""
    known = {one.id: one.node for one in found if one.node is not None}
    missing = context.store.get(context.scope, [one.id for one in found if one.id not in known])
    return {one.id: node for one in found if (node := known.get(one.id) or missing.get(one.id)) is not None}


def _query_embedding(context: RecallContext) -> QueryVector | None:
    query = context.cue.query
    words = " ".join((query.words, *query.phrases)).strip()
    # Vectors cannot check phrases, and a prefix or a misspelt word has no meaning to embed.
    literal = bool(query.phrases) or query.prefix or query.fuzzy
    return context.embed(words) if context.embed is not None and words and not literal else None
