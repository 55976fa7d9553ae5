"""Helpers that read the contents of a memory, for tests of dreams."""

from __future__ import annotations

import contextlib
import sqlite3
import tempfile
from collections.abc import Mapping
from pathlib import Path

from cuetrail import Edge, Memory, Scope
from cuetrail.model import DreamReport, Mention

MINUTE = 60_000
DAY = 86_400_000
# Monday, 19 January 2026, 14:00 UTC.
MONDAY = 1_768_831_200_000


def fill(memory: Memory, people: int = 6, atoms: int = 120) -> None:
    """People, and atoms that name them, share phrases, and come in sittings."""
    names = [f"Person{chr(ord('a') + n)} Example" for n in range(people)]
    memory.add_many(
        {"name": name, "kind": "person", "id": f"p{n}", "at": MONDAY, "aliases": [name.split()[0]]}
        for n, name in enumerate(names)
    )
    things = ("brass wheels", "punched cards", "silent relay")
    memory.add_many(
        {
            "text": f"{names[n % people]} showed {things[n % 3]} to {names[(n * n) % people].split()[0]}. Number {n}",
            "id": f"a{n}",
            "tags": ["workshop"] if n % 10 == 0 else [],
            "at": MONDAY + n * 4 * MINUTE + n // 7 * 60 * MINUTE,
        }
        for n in range(atoms)
    )


def origins(memory: Memory, id_: str) -> dict[str, str]:
    """The tags of a node, each with who put it there."""
    node = memory.get(id_)
    assert node is not None, id_
    return {tag.name: tag.origin for tag in node.tag_details}


def of_origin(memory: Memory, id_: str, origin: str) -> set[str]:
    return {name for name, one in origins(memory, id_).items() if one == origin}


def edges(memory: Memory, kind: str, scope: Scope | None = None) -> dict[tuple[str, str], Edge]:
    """The edges of a kind, by their ends."""
    found = (record for _, record in memory.store.scan(scope or memory.scope))
    return {(edge.src, edge.dst): edge for edge in found if isinstance(edge, Edge) and edge.kind == kind}


def mentions(memory: Memory) -> dict[tuple[str, str], int]:
    """The mentions with their times, by source and node."""
    found = (record for _, record in memory.store.scan(memory.scope))
    return {(one.source, one.node): one.at for one in found if isinstance(one, Mention)}


def episodes(memory: Memory) -> dict[str, set[str]]:
    """The atoms of each episode."""
    found: dict[str, set[str]] = {}
    for atom, episode in edges(memory, "during"):
        found.setdefault(episode, set()).add(atom)
    return found


def exported(memory: Memory) -> bytes:
    """Everything the user owns, in bytes."""
    with tempfile.TemporaryDirectory() as place:
        memory.export(Path(place) / "export.jsonl")
        return (Path(place) / "export.jsonl").read_bytes()


def dumped(memory: Memory) -> list[str]:
    """The whole truth of a local memory, with what dreaming knows."""
    with contextlib.closing(sqlite3.connect(Path(memory.address) / "memory.db")) as db:
        return list(db.iterdump())


def counts(report: DreamReport) -> Mapping[str, tuple[int, int, int]]:
    """What each pass read, wrote and removed."""
    return {one.name: (one.read, one.wrote, one.removed) for one in report.passes}


def idle(report: DreamReport) -> bool:
    """Whether a dream found nothing to read and nothing to do."""
    return all(count == (0, 0, 0) for count in counts(report).values())
