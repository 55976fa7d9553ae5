"""Helpers: a vault with a fixed clock, views of a memory, and everything a person can put on a node."""

from __future__ import annotations

import json
import os
import sqlite3
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cuetrail import Memory
from cuetrail.model import Node, Tag

DAY = 86_400_000
NOW = 1_700_000_000_000
LONG = "The quick brown fox jumps over the lazy dog while seven wizards quietly boil their evening tea"
FIRST = "The receiver on the north mast went silent in the night."
EDITED = "The receiver on the north mast went silent in the cold night of Tuesday."
OTHER = "Quite another matter: who brings cake?"
# What `state_all` states, as `stated` shows it.
EVERYTHING = sorted(
    [
        "Ask her about this.",
        "doubts 0.9",
        "relates 0.5 camp saw it first",
        "reported_by Ada",
        "severity high",
        "wrote it",
    ]
)


@dataclass
class Vault:
    """A folder of files whose modification times are told, never waited for."""

    root: Path
    clock: int = field(default=NOW)

    def write(self, name: str, text: str | bytes) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return self.touch(name)

    def touch(self, name: str) -> Path:
        self.clock += 1000
        os.utime(self.root / name, ns=(self.clock * 1_000_000, self.clock * 1_000_000))
        return self.root / name


def exported(memory: Memory, path: Path) -> bytes:
    memory.export(path)
    return path.read_bytes()


def lines(memory: Memory, folder: Path) -> list[dict[str, Any]]:
    raw = exported(memory, folder / "export.jsonl").decode()
    return [json.loads(line) for line in raw.splitlines()[1:]]


def atoms(memory: Memory, folder: Path) -> dict[str, dict[str, Any]]:
    """Atoms by their text; only for files that say nothing twice."""
    return {line["text"]: line for line in lines(memory, folder) if line["type"] == "node" and "text" in line}


_TIMES = {"at", "created", "updated", "life", "mtime_ns", "ingested"}


def state(memory: Memory, folder: Path) -> list[str]:
    """What the memory holds, without times and without the rows of links that ended."""
    kept = (line for line in lines(memory, folder) if not (line["type"] == "link" and not line["display"]))
    plain = ({name: value for name, value in line.items() if name not in _TIMES} for line in kept)
    return sorted(json.dumps(line, sort_keys=True) for line in plain if line["type"] != "version")


def changes(memory: Memory) -> int:
    with sqlite3.connect(Path(memory.address) / "memory.db") as db:
        return int(db.execute("SELECT coalesce(max(seq), 0) FROM changes").fetchone()[0])


def changed_keys(memory: Memory, since: int) -> set[int]:
    with sqlite3.connect(Path(memory.address) / "memory.db") as db:
        runs = db.execute("SELECT low, high FROM changes WHERE seq > ?", (since,)).fetchall()
    return {key for low, high in runs for key in range(low, high + 1)}


def atom(memory: Memory, folder: Path, text: str) -> Node:
    node = memory.get(atoms(memory, folder)[text]["id"])
    assert node is not None
    return node


def label(memory: Memory, node: Node, tag: str = "mine", bucket: str = "shelf", **props: Any) -> None:
    """Put a tag, a bucket and properties on a node, leaving all else as it is."""
    labelled = replace(
        node,
        tag_details=(*node.tag_details, Tag(tag, tag)),
        buckets=(*node.buckets, bucket),
        props={**node.props, **props},
    )
    memory.add_many([labelled])


def state_all(memory: Memory, id_: str) -> None:
    """State something of a node in every way there is."""
    memory.add(name="Ada", kind="person", now=NOW)
    memory.fact(id_, "reported_by", "Ada", now=NOW)
    memory.fact(id_, "severity", "high", now=NOW)
    memory.fact("Ada", "wrote", id_, now=NOW)
    memory.note(id_, "Ask her about this.", now=NOW)
    memory.link(id_, "Ada", weight=0.5, tags=["camp"], text="saw it first", now=NOW)
    memory.link("Ada", id_, kind="doubts", weight=0.9, now=NOW)


def stated(memory: Memory, folder: Path, id_: str) -> list[str]:
    """What is stated of a node by hand."""
    ada = memory.get("Ada")
    assert ada is not None
    found = [f"{fact.predicate} {fact.value or fact.object}" for fact in memory.facts(id_)]
    found += [f"{fact.predicate} it" for fact in memory.facts("Ada") if fact.object == id_]
    found += [line["text"] for line in lines(memory, folder) if line["type"] == "note" and line["target"] == id_]
    for step in memory.neighbours(id_, limit=100).neighbours:
        edge = memory.edge(step.edge)
        if edge is not None and edge.via is None:
            assert {edge.src, edge.dst} == {id_, ada.id}
            found.append(f"{edge.kind} {edge.weight} {','.join(edge.tags)} {edge.text}".strip())
    return sorted(text.replace(ada.id, "Ada") for text in found)
