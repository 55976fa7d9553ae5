"""Fixtures: an empty memory, and one in which every pass has work."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cuetrail import Memory
from tests.dream.tools import fill


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "memory", embedder="none") as opened:
        yield opened


@pytest.fixture
def filled(memory: Memory) -> Memory:
    fill(memory)
    return memory
