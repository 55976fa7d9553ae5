"""A fake embedder, a model of what a memory must hold, and real processes that write until they are killed."""

from __future__ import annotations

import contextlib
import json
import os
import random
import select
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from cuetrail.memory import Memory
from cuetrail.model import Edge, Node, TextQuery, Where
from cuetrail.store.sqlite import SqliteStore

ROOT = Path(__file__).parents[3]
DIM = 8
Op = dict[str, Any]


class Pebbles:
    """Eight numbers from a hash of the model's name and the text: the same in every process, and nothing to load."""

    dim = DIM

    def __init__(self, model: str = "pebbles-8") -> None:
        self.model = model

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([self.embed_query(text) for text in texts]) if texts else np.zeros((0, DIM), np.float32)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        made = blake2b(text.encode(), digest_size=DIM, key=self.model.encode()).digest()
        raw = np.frombuffer(made, np.uint8).astype(np.float32) - 127.5
        unit: NDArray[np.float32] = (raw / np.linalg.norm(raw)).astype(np.float32)
        return unit


def open_memory(directory: Path) -> Memory:
    """The memory under test, with the fake embedder."""
    return Memory(directory, embedder=Pebbles())


def engine(memory: Memory) -> SqliteStore:
    """The engine behind a memory, for looking at its files and indexes."""
    assert isinstance(memory.store, SqliteStore)
    return memory.store


def search(memory: Memory, words: str, limit: int = 10) -> list[str]:
    """Ids that the text index finds."""
    return [f.id for f in memory.store.text(memory.scope, TextQuery(words), limit, Where())]


# --- what must be there


@dataclass
class Truth:
    """What a memory holds after a list of operations."""

    texts: dict[str, str] = field(default_factory=dict)
    edges: dict[str, tuple[str, str, float]] = field(default_factory=dict)

    def after(self, op: Op) -> Truth:
        """The state that one operation leads to."""
        texts, edges = dict(self.texts), dict(self.edges)
        for id_ in op.get("gone", ()):
            texts.pop(id_, None)
            edges = {e: ends for e, ends in edges.items() if id_ not in ends[:2]}
        texts.update(op.get("texts", {}))
        edges.update({e: (src, dst, weight) for e, src, dst, weight in op.get("edges", ())})
        return Truth(texts, edges)


def held(memory: Memory, prefix: str = "") -> Truth:
    """What the memory really holds of the ids that start with `prefix`, read in one view."""
    found = Truth()
    for _, record in memory.store.scan(memory.scope):
        if isinstance(record, Node) and record.id.startswith(prefix):
            found.texts[record.id] = record.text
        elif isinstance(record, Edge) and record.id.startswith(prefix):
            assert record.weight is not None
            found.edges[record.id] = (record.src, record.dst, record.weight)
    return found


class Plan:
    """Draws operations that make sense one after the other. Ids, texts and words are never used twice."""

    def __init__(self, rng: random.Random, prefix: str) -> None:
        self.rng = rng
        self.prefix = prefix
        self.used = 0

    def draw(self, start: Truth, count: int) -> list[Op]:
        ops: list[Op] = []
        for _ in range(count):
            op = self._one(start)
            start = start.after(op)
            ops.append(op)
        return ops

    def _one(self, now: Truth) -> Op:
        living = sorted(id_ for id_ in now.texts if "." not in id_)
        kinds = ["add", "many", "many", "batch"] + (["link", "replace", "forget", "batch"] if len(living) > 6 else [])
        kind = self.rng.choice(kinds)
        if kind == "add":
            return {"do": "add", "texts": dict([self._new()])}
        if kind == "many":
            return {"do": "many", "texts": dict(self._new(f".{n}") for n in range(self.rng.randint(2, 25)))}
        if kind == "replace":
            return {"do": "add", "texts": {self.rng.choice(living): self._new()[1]}}
        if kind == "forget":
            return {"do": "forget", "gone": [self.rng.choice(living)]}
        if kind == "link":
            return {"do": "link", "edges": [self._edge(*self.rng.sample(living, 2))]}
        return self._batch(now)

    def _batch(self, now: Truth) -> Op:
        """One transaction that removes a whole group and adds nodes with edges among them."""
        groups = sorted({id_.partition(".")[0] for id_ in now.texts if "." in id_})
        doomed = self.rng.choice(groups) + "." if len(groups) > 8 else "no such group"
        texts = dict(self._new() for _ in range(self.rng.randint(2, 6)))
        ids = list(texts)
        edges = [self._edge(a, b) for a, b in pairwise(ids)]
        gone = [id_ for id_ in now.texts if id_.startswith(doomed)]
        return {"do": "batch", "texts": texts, "edges": edges, "gone": gone}

    def _new(self, member: str = "") -> tuple[str, str]:
        """An id and a text with a word no other text has. Members of a group share the number before the dot."""
        if member in ("", ".0"):
            self.used += 1
        id_ = f"{self.prefix}{self.used}{member}"
        return id_, f"the word is {word_of(id_, self.rng.getrandbits(32))} and nothing else"

    def _edge(self, src: str, dst: str) -> tuple[str, str, str, float]:
        return (f"{self.prefix}-{src}-{dst}", src, dst, self.rng.randint(25, 100) / 100)


def word_of(id_: str, salt: int) -> str:
    """A word for one version of one text."""
    return f"q{id_.replace('.', 'o')}z{salt}q"


def assert_search_equals_scan(memory: Memory, truth: Truth) -> None:
    """Every text is found by its own word and nothing else is, and both indexes hold what the truth holds."""
    for id_, text in truth.texts.items():
        assert search(memory, text.split()[3]) == [id_]
    store = engine(memory)
    with store.db.reading() as db:
        nodes = {row[0] for row in db.execute("SELECT key FROM nodes")}
        vectors = {row[0] for row in db.execute("SELECT key FROM vectors")}
    assert store.text_index.keys() == nodes
    assert len(nodes) == len(truth.texts)
    assert store.vector_index.keys() == vectors == nodes
    for id_, text in list(truth.texts.items())[:5]:
        near = memory.store.vector(memory.scope, Pebbles().embed_query(text).astype("<f2").tobytes(), 3, Where())
        assert near[0].id == id_


# --- processes


class Child:
    """A process that works on a memory. It is told lines and heard line by line."""

    def __init__(self, pid: int, ears: TextIO, mouth: TextIO) -> None:
        self.pid = pid
        self._from = ears
        self._to = mouth

    def tell(self, line: str) -> None:
        self._to.write(line + "\n")
        self._to.flush()

    def hear(self) -> str | None:
        """The next line; None when the process has ended. An error in it fails the test."""
        line = self._from.readline()
        assert not line.startswith("error"), json.loads(line[6:])
        return line.rstrip("\n") or None

    def hear_all(self) -> list[str]:
        """What it still says, until it has ended."""
        said = []
        while (line := self.hear()) is not None:
            said.append(line)
        self.close()
        return said

    def kill(self) -> list[str]:
        """kill -9; the lines it had said before come back."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        return self.hear_all()

    def close(self) -> None:
        self._from.close()
        with contextlib.suppress(BrokenPipeError):
            self._to.close()


class Nest:
    """Forks workers from one process that has imported everything, so that a start takes milliseconds."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._hatched = 0
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "tests.store.sqlite.worker"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, text=True, cwd=ROOT, env=environment)

    def hatch(self, role: str, directory: Path, **more: Any) -> Child:
        """A new process that plays `role` (a function of the worker) on a memory."""
        self._hatched += 1
        says, hears = (self._place / f"{self._hatched}-{name}" for name in ("says", "hears"))
        os.mkfifo(says)
        os.mkfifo(hears)
        request = {"role": role, "directory": str(directory), "says": str(says), "hears": str(hears), **more}
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        ears = says.open(encoding="utf-8")
        mouth = hears.open("w", encoding="utf-8")
        return Child(int(ears.readline()), ears, mouth)

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


@contextlib.contextmanager
def nest(place: Path) -> Iterator[Nest]:
    """A nest that is gone afterwards."""
    place.mkdir()
    opened = Nest(place)
    try:
        yield opened
    finally:
        opened.close()


def a_moment(rng: random.Random, longest: float) -> None:
    """Let up to `longest` seconds pass, so that a kill comes at any point of what the process is doing."""
    select.select([], [], [], rng.random() * longest)
