"""A text that leaves out the accents of a name mentions it, until the name is forgotten or another node has exactly
that spelling.
"""

from __future__ import annotations

from pathlib import Path

from cuetrail import Memory
from tests.dream.tools import MONDAY, edges


def test_a_text_names_whom_it_writes_without_marks(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory", embedder=None) as memory:

        def named() -> set[tuple[str, str]]:
            memory.dream(only=("mentions",), now=MONDAY)
            return set(edges(memory, "mentions"))

        memory.add("Jose Garcia's sister lives in Lima.", id="plain", at=MONDAY)
        memory.add("José García sang.", id="marked", at=MONDAY)
        memory.add(name="José García", id="jose", kind="person")
        assert named() == {("plain", "jose"), ("marked", "jose")}
        memory.add(name="Jose Garcia", id="other", kind="person")
        assert named() == {("plain", "other"), ("marked", "jose")}
        memory.forget("other")
        assert named() == {("plain", "jose"), ("marked", "jose")}
        memory.forget("jose")
        assert named() == set()
