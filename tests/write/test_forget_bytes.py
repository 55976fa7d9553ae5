"""No byte of a forgotten memory is left in the memory's directory, wherever SQLite had moved its rows before."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from cuetrail import Memory

# Around a quarter of a page, a page, and more: rows inside a page, in overflow pages, and in several of them.
SIZES = (0, 30, 100, 300, 700, 1_200, 4_000, 9_000)


def _left(directory: Path, marks: list[str]) -> list[tuple[str, str]]:
    files = {file.name: file.read_bytes() for file in sorted(directory.rglob("*")) if file.is_file()}
    return [(name, mark) for name, data in files.items() for mark in marks if mark.encode() in data]


class _Writer:
    """Writes memories that say their own marks everywhere, edits some, and forgets some."""

    def __init__(self, memory: Memory, seed: int) -> None:
        self.memory = memory
        self.random = random.Random(seed)
        self.marks: dict[str, list[str]] = {}

    def _text(self, size: int) -> tuple[str, str]:
        mark = f"zq{self.random.randrange(10**15):015d}mk"
        return mark, f"{mark} {' '.join(f'w{self.random.randrange(99_999)}' for _ in range(size // 6))}. {mark}"

    def add(self, count: int) -> None:
        items = []
        for _ in range(count):
            mark, text = self._text(self.random.choice(SIZES))
            id_ = f"i{self.random.randrange(10**12)}"
            self.marks[id_] = [mark]
            props = {"said": mark * self.random.choice((1, 9))}
            items.append(
                {"id": id_, "text": text, "name": f"N {mark}", "aliases": [f"A {mark}"], "tags": [mark], "props": props}
            )
        self.memory.add_many(items)

    def edit(self, count: int) -> None:
        for id_ in self.random.sample(list(self.marks), count):
            mark, text = self._text(self.random.choice((0, 200, 2_000)))
            self.memory.edit(id_, text=text)
            self.marks[id_].append(mark)

    def forget(self, count: int) -> list[str]:
        ids = self.random.sample(list(self.marks), count)
        self.memory.forget(*ids)
        return [mark for id_ in ids for mark in self.marks.pop(id_)]


@pytest.mark.parametrize("seed", [3, 17, 35])
def test_no_byte_of_forgotten_memories_is_left_after_many_writes(tmp_path: Path, seed: int) -> None:
    with Memory(tmp_path) as memory:
        writer, gone = _Writer(memory, seed), []
        for _ in range(2):
            writer.add(100)
            writer.edit(25)
            gone += writer.forget(20)
            assert _left(tmp_path, gone) == []
        # Later writes do not bring back a page from a cache.
        writer.add(20)
        assert memory.get(next(iter(writer.marks))) is not None
        assert _left(tmp_path, gone) == []
    assert _left(tmp_path, gone) == []


def test_another_open_memory_does_not_write_old_pages_back(tmp_path: Path) -> None:
    with Memory(tmp_path) as one, Memory(tmp_path) as other:
        writer = _Writer(one, 4)
        writer.add(150)
        writer.edit(10)
        for id_ in writer.marks:
            assert other.get(id_) is not None
        gone = writer.forget(40)
        other.add_many([{"text": f"Plain words number {number}"} for number in range(40)])
        assert _left(tmp_path, gone) == []
        assert other.doctor() == []
    assert _left(tmp_path, gone) == []
