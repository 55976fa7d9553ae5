"""Every error cuetrail raises. Each message says what happened and what to do next.

CuetrailError
├── InputError            the caller's argument is not usable
│   ├── NotFound          an id or name that is not there (or not visible in this scope)
│   └── Forgotten         the memory was forgotten; allow_again=True lifts it
├── MemoryError_          the memory cannot be used
│   ├── CorruptMemory     memory.db is damaged; restore a backup
│   ├── WrongVersion      written by a newer cuetrail
│   ├── Busy              another process held the write lock for too long
│   └── Unreachable       the server that keeps the memory does not answer
├── ModelError            a model could not be fetched or loaded
│   ├── EmbedderError     an embedder could not be loaded or failed
│   │   └── EmbedderMismatch  the memory holds another model's vectors; reembed
│   └── RerankerError     a reranker could not be loaded or failed
├── MirrorError           a mirror could not be written; it is as it was
├── TaggerError           a tagger failed; the rest of the dream goes on
├── ReadError             a file could not be read as its format
└── GhostWrite            what was read back is not what was written
"""

from __future__ import annotations

# A message may quote what a caller gave, which may be megabytes; the advice is at the end.
_LONGEST, _ADVICE = 4_000, 1_000


class CuetrailError(Exception):
    """Root of all errors raised on purpose by cuetrail. A very long message is shortened in its middle."""

    def __str__(self) -> str:
        said = super().__str__()
        return said if len(said) <= _LONGEST else f"{said[: _LONGEST - _ADVICE]} … {said[-_ADVICE:]}"


class InputError(CuetrailError, ValueError):
    """The caller's argument is not usable."""


class NotFound(InputError):
    """An id or name that is not in the memory, or not visible in this scope."""


class Forgotten(InputError):
    """The text or name was forgotten, and a tombstone (its hash) keeps it from being added again."""


class MemoryError_(CuetrailError):
    """The memory cannot be used."""


class CorruptMemory(MemoryError_):
    """`memory.db` is damaged."""


class WrongVersion(MemoryError_):
    """The memory was written by a newer cuetrail."""


class Busy(MemoryError_):
    """Another process held a lock for too long."""


class Unreachable(MemoryError_):
    """The server that keeps the memory does not answer."""


class ModelError(CuetrailError):
    """A model could not be fetched or loaded."""


class EmbedderError(ModelError):
    """An embedder could not be loaded or failed."""


class EmbedderMismatch(EmbedderError):
    """The memory holds vectors of another model."""


class RerankerError(ModelError):
    """A reranker could not be loaded or failed."""


class MirrorError(CuetrailError):
    """A mirror could not be written."""


class TaggerError(CuetrailError):
    """A tagger raised an error, or returned something other than lists of tags."""


class ReadError(CuetrailError):
    """A file could not be read as its format."""


class GhostWrite(CuetrailError):
    """The store returned something else than what was just written to it."""
