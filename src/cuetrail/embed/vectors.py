"""The vectors of an opened memory: one embedder makes them, the store holds them, and models are never mixed.

`reembed` makes the vectors of stored records: those that are missing, or all of them when the model changes.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from cuetrail.embed.embedder import Embedder, to_blob, unit_rows
from cuetrail.errors import EmbedderError, EmbedderMismatch, InputError
from cuetrail.model import Edge, Node, Note, Scope
from cuetrail.model.searched_fields import embedded_text
from cuetrail.store.ports import Store
from cuetrail.store.vector_space import NO_VECTORS, QueryVector, VectorSpace, mismatch, vector_kind
from cuetrail.store.write import Batch, Written
from cuetrail.text.simhash import simhash

log = logging.getLogger("cuetrail")
K = TypeVar("K")
T = TypeVar("T")

# The number of queries, and of short texts, whose vectors are cached.
MOST_CACHED = 4_096


def space_of(embedder: Embedder) -> VectorSpace:
    """Returns the vector space of an embedder. May load the model; raises EmbedderError if that fails."""
    return VectorSpace(embedder.model, embedder.dim)


def vectors_of(embedder: Embedder, records: Sequence[Node | Edge | Note]) -> list[bytes]:
    """Returns the vector of each record's text, as the bytes that are stored."""
    texts = [embedded_text(record) if isinstance(record, Node) else record.text for record in records]
    return to_blob(embedder.embed(texts))


def unit_blobs(vectors: Sequence[Sequence[float]]) -> list[bytes]:
    """Returns vectors of any length as unit vectors, as the bytes that are stored."""
    return to_blob(unit_rows(np.asarray(vectors, dtype=np.float32)))


def shortened(node: Node, text: str) -> Node:
    """Returns the node with this shorter text, and with the SimHash of that if it had one."""
    return replace(node, text=text, simhash=None if node.simhash is None else simhash(text))


def _records(batch: Batch) -> Iterable[Node | Edge | Note]:
    return (*batch.nodes, *batch.edges, *batch.notes)


def _drop_vectors(batch: Batch) -> None:
    batch.vectors, batch.edge_vectors, batch.note_vectors, batch.space = {}, {}, {}, None


def _with_room(cache: dict[K, T]) -> dict[K, T]:
    """Returns the cache; if it has MOST_CACHED entries, empties it first."""
    if len(cache) >= MOST_CACHED:
        cache.clear()
    return cache


class Vectors:
    """Makes and stores the vectors of an opened memory with one embedder. Raises EmbedderMismatch if the memory holds
    the vectors of another model.

    `notice` is a text for the user if vectors are missing because the embedder failed, else "".
    """

    def __init__(self, store: Store, embedder: Embedder | None) -> None:
        self.store = store
        self.embedder = embedder
        self.notice = ""
        self._queries: dict[str, QueryVector] = {}
        self._texts: dict[tuple[VectorSpace, str], bytes] = {}
        # The dimension may need the model to be loaded, so only the names are compared here.
        held = store.vector_spaces().held
        if embedder is not None and held not in (None, NO_VECTORS):
            coming = store.vector_spaces().next
            if embedder.model not in (held.model, coming.model if coming else None):
                raise mismatch(held, repr(embedder.model))

    def write(self, scope: Scope, batch: Batch) -> Written:
        """Embeds the texts of a batch and writes it. If the embedder fails, the batch is written without vectors."""
        written = self.written([batch], lambda: self.store.write(scope, batch))
        if written.cut and self.embedder is not None:
            # Texts that lost a forgotten sentence were written without vectors; embed what is left of them.
            self.write(scope, Batch(nodes=list(self.store.get(scope, written.cut).values())))
        return written

    def written(self, batches: Collection[Batch], write: Callable[[], T]) -> T:
        """Adds vectors to batches, calls `write`, which writes them in one transaction, and returns its result.

        If the memory changed to another model meanwhile, embeds and calls `write` again. If the embedder fails, the
        batches are written without vectors and `notice` says so. Raises EmbedderMismatch if the memory uses another
        model.
        """
        while True:
            for batch in batches:
                self._add_to(batch)
            try:
                return write()
            except EmbedderMismatch:
                # The memory changed to another model between embedding and writing: embed again.
                for batch in batches:
                    _drop_vectors(batch)

    def _add_to(self, batch: Batch) -> None:
        if self.embedder is None:
            return
        to_embed = [(*kind, one) for one in _records(batch) if (kind := vector_kind(one)) is not None]
        if not to_embed:
            return
        try:
            space = self._usable_space(self.embedder)
            if space is None:
                return
            if batch.space != space:
                _drop_vectors(batch)
            missing = [one for one in to_embed if one[1] not in batch.vectors_of(one[0])]
            made = vectors_of(self.embedder, [record for _, _, record in missing])
            for (what, id_, _), vector in zip(missing, made, strict=True):
                batch.vectors_of(what)[id_] = vector
            batch.space = space
        except EmbedderError as error:
            self.notice = f"some memories are found by their words alone until `cuetrail reembed`: {error}"
            log.warning("stored without vectors; %s", self.notice)

    def _usable_space(self, embedder: Embedder) -> VectorSpace | None:
        """Returns the embedder's vector space if the memory uses it or is changing over to it; an empty memory starts
        with it. None if the memory is set to store no vectors. Raises EmbedderMismatch if the memory uses another
        model.
        """
        held = self.store.vector_spaces().held
        if held == NO_VECTORS:
            return None
        own = space_of(embedder)
        if held is None:
            held = self.store.vector_spaces().start(own)
        if own not in (held, self.store.vector_spaces().next if own != held else None):
            raise mismatch(held, str(own))
        return own

    def of_query(self, text: str) -> QueryVector | None:
        """Returns the vector of a query; None without an embedder, or if the memory is searched by words alone.

        Raises EmbedderError if the embedder fails, or if `reembed` has not yet made all vectors of its model, and
        EmbedderMismatch if the memory holds vectors of another model.
        """
        held = self.store.vector_spaces().held
        if self.embedder is None or held == NO_VECTORS:
            return None
        own = space_of(self.embedder)
        if held not in (None, own):
            if own == self.store.vector_spaces().next:
                raise EmbedderError(f"the change-over to {own} is not finished; `cuetrail reembed` goes on with it")
            raise mismatch(held, str(own))
        try:
            made = self.embedder.embed_query(text)
        except EmbedderError:
            raise
        except Exception as error:
            # An embedder of the caller's may raise anything; the recall goes on with words alone.
            raise EmbedderError(f"{own.model} failed: {type(error).__name__}: {error}") from error
        # An embedder of the caller's need not say it.
        contextual = bool(getattr(self.embedder, "contextual", False))
        return QueryVector(to_blob(made[None, :])[0], own, contextual)

    def of_repeated(self, text: str) -> QueryVector | None:
        """Returns the same as `of_query`, from a cache if the query was embedded before. Raises EmbedderError."""
        known = self._queries.get(text)
        if known is not None and known.space == self.store.vector_spaces().held:
            return known
        made = self.of_query(text)
        if made is not None:
            _with_room(self._queries)[text] = made
        return made

    def of_texts(self, texts: Sequence[str]) -> list[bytes] | None:
        """Returns the vectors of short texts, cached; None if the memory has no vectors. Raises EmbedderError."""
        held = self.store.vector_spaces().held
        if self.embedder is None or held in (None, NO_VECTORS):
            return None
        space = space_of(self.embedder)
        new = [text for text in dict.fromkeys(texts) if (space, text) not in self._texts]
        made = dict(zip(new, to_blob(self.embedder.embed(new)) if new else [], strict=True))
        found = [made.get(text) or self._texts[space, text] for text in texts]
        _with_room(self._texts).update(((space, text), vector) for text, vector in made.items())
        return found

    def space(self) -> VectorSpace | None:
        """Returns the vector space of the memory, or the one it will have once it has vectors."""
        space = self.store.vector_spaces().held
        if space is None and self.embedder is not None:
            with contextlib.suppress(EmbedderError):
                space = space_of(self.embedder)
        return space

    def own_space(self) -> VectorSpace:
        """Returns the vector space that a caller's own vectors must belong to. Raises InputError if the memory has no
        vectors.
        """
        space = self.space()
        if space in (None, NO_VECTORS):
            raise InputError("this memory has no vectors to compare this one with: open it with an embedder")
        return space
