"""Ids and content hashes of records. All are stored, so the same arguments must always give the same id."""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache

import xxhash

from cuetrail.text.normalise import norm_name

_TWO64 = 1 << 64


def digest(*parts: str) -> str:
    """Returns 32 hex digits made of the parts. Each part is prefixed with its length, so that no two lists collide."""
    packed = "".join([f"{len(part)}:{part}" for part in parts]).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(packed, digest_size=16, person=b"cuetrail.id").hexdigest()


def fingerprint(text: str) -> str:
    """Returns a hash of a text that ignores case and spacing, 32 hex digits. Tombstones store it instead of text."""
    return hashlib.blake2b(norm_name(text).encode(), digest_size=16, person=b"cuetrail.text").hexdigest()


def source_id(path: str) -> str:
    """Returns the id of the node that represents a file."""
    return digest("source", path)


def atom_id(source: str, text: str, copies_before: int = 0) -> str:
    """Returns the id of a text. `copies_before` counts earlier atoms of the same source with the same text."""
    return digest(source, text, str(copies_before))


def named_node_id(kind: str, norm: str) -> str:
    """Returns the id of a node that is identified by its kind and its normalised name."""
    return digest(kind, norm)


def entity_id(norm: str) -> str:
    """Returns the id of the entity that is created for a name shared by several atoms."""
    return digest("name", norm)


def stated_edge_id(src: str, dst: str, kind: str) -> str:
    """Returns the id of an edge that a caller adds: the same ends and kind are the same edge."""
    return digest("edge", src, dst, kind)


def derived_edge_id(*parts: str) -> str:
    """Returns the id of an edge that a rule creates. The hash is a fast one, because there are many such edges."""
    return xxhash.xxh3_128_hexdigest(" ".join(parts).encode())


def relationship_id(src: str, dst: str, kind: str, *parts: str) -> str:
    """Returns the id of one period of a relationship. The parts distinguish the periods."""
    return digest("relationship", src, dst, kind, *parts)


def fact_id(subject: str, predicate: str, object_: str | None, value: str | None) -> str:
    """Returns the id of a fact. Case and spacing of the value make no difference."""
    return digest("fact", subject, predicate, object_ if object_ is not None else f"={norm_name(value or '')}")


def past_fact_id(fact: str, part: str) -> str:
    """Returns a separate id for an ended period of a fact, so that the fact's own id is free for the current period.

    `part` distinguishes the periods.
    """
    return digest("past fact", fact, part)


def note_id(target: str, text: str, created: int) -> str:
    """Returns the id of a note on a node or an edge."""
    return digest("note", target, text, str(created))


# Dreams hash the same names and tags again and again.
@lru_cache(maxsize=65_536)
def ledger_hash(text: str) -> int:
    """Returns a signed 64-bit hash of a text. The ledger, a dream pass's record of what it made, stores no text."""
    return _signed(xxhash.xxh3_64_intdigest(text.encode("utf-8", "surrogatepass")))


def dream_id(kind: str, number: int) -> str:
    """Returns the id of a node that a dream created, from its number in the pass's ledger.

    >>> dream_id("episode", -1), dream_number("episode", "episode-ffffffffffffffff")
    ('episode-ffffffffffffffff', -1)
    """
    return f"{kind}-{number % _TWO64:016x}"


def dream_number(kind: str, id_: str) -> int | None:
    """Returns the ledger number in an id made by `dream_id`; None for any other id.

    >>> dream_number("episode", "my holiday") is None
    True
    """
    found = re.fullmatch(re.escape(kind) + "-([0-9a-f]{16})", id_)
    return _signed(int(found[1], 16)) if found else None


def _signed(number: int) -> int:
    return number - _TWO64 if number >= _TWO64 >> 1 else number
