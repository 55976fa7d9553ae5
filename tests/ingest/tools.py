"""A vault whose clock is told, and looks into what a memory holds."""

from __future__ import annotations

import json
import os
import sqlite3
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cuetrail import Memory

DAY = 86_400_000
NOW = 1_700_000_000_000
LONG = "The quick brown fox jumps over the lazy dog while seven wizards quietly boil their evening tea"


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
