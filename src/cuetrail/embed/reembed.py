"""Makes the vectors of stored records: those that are missing, or all of them anew with another model.

A change to another model runs while the memory is in use. Searches use the old vectors until every record has one of
the new model; then the store switches in one transaction. After an interruption, the change continues where it stopped.
"""

from __future__ import annotations

from cuetrail.embed.embedder import Embedder
from cuetrail.embed.vectors import Vectors, space_of, vectors_of
from cuetrail.errors import InputError
from cuetrail.store.vector_space import NO_VECTORS, Unembedded
from cuetrail.store.write import Progress

# Texts embedded between two writes when the embedder is changed; an interruption loses at most these.
BATCH = 1_000


def reembed(vectors: Vectors, embedder: Embedder | None, keep: bool, progress: Progress | None) -> int:
    """With `keep`, makes the missing vectors; else makes all vectors anew with `embedder`, or drops them if it is None.

    Returns how many vectors were made. Brings the indexes up to date afterwards.
    """
    made = _complete(vectors, progress) if keep else _change_over(vectors, embedder, progress)
    vectors.store.refresh(progress)
    return made


def _complete(vectors: Vectors, progress: Progress | None) -> int:
    """Makes the missing vectors with the memory's embedder, or continues a change-over to it; returns how many were
    made. Raises InputError without an embedder.
    """
    embedder = vectors.embedder
    if embedder is None or vectors.store.vector_spaces().held == NO_VECTORS:
        raise InputError("name an embedder to make vectors with, such as --embedder static")
    if vectors.store.vector_spaces().start(space_of(embedder)) != space_of(embedder):
        return _change_over(vectors, embedder, progress)
    return _make_missing(vectors, embedder, progress)


def _change_over(vectors: Vectors, embedder: Embedder | None, progress: Progress | None) -> int:
    """Makes all vectors of all users anew with this embedder, or drops them (None); returns how many were made.

    Searches use the old ones until all are made. Raises EmbedderMismatch if another change takes its place.
    """
    space = NO_VECTORS if embedder is None else space_of(embedder)
    vectors.store.vector_spaces().start(space, change_over=True)
    made = _make_missing(vectors, embedder, progress)
    while not vectors.store.vector_spaces().finish(space):
        made += _make_missing(vectors, embedder, progress)
    vectors.embedder = embedder
    # Records written with the old model's vectors during the switch still lack theirs.
    return made + _make_missing(vectors, embedder, progress)


def _make_missing(vectors: Vectors, embedder: Embedder | None, progress: Progress | None) -> int:
    """Makes the vectors that are missing; returns how many."""
    if embedder is None:
        return 0
    space, made = space_of(embedder), 0
    after: Unembedded | None = None
    while some := vectors.store.vector_spaces().missing(space, BATCH, after):
        blobs = vectors_of(embedder, [one.record for one in some])
        made += vectors.store.vector_spaces().put(space, list(zip(some, blobs, strict=True)))
        after = some[-1]
        if progress:
            progress("embedding", made, 0)
    vectors.notice = ""
    return made
