"""Exports of apps, on both engines: links to single blocks, and nothing that was forgotten."""

from __future__ import annotations

from pathlib import Path

from cuetrail import Memory
from tests.traces import traces
from tests.transfer import samples
from tests.transfer.samples import write_folder, write_zip


def test_blocks_are_linked_and_lose_their_names_with_their_marks(address: str, tmp_path: Path) -> None:
    files = {
        "a.md": "The spare one is in the hut. ^spare\n",
        "b.md": "See [[a#^spare]].\n",
        "c.md": "Or [[a#^spare]].\n",
    }
    folder = write_folder(tmp_path / "vault", files)
    with Memory(address, embedder=None) as memory:
        memory.ingest(folder)
        block = memory.get("a#^spare")
        assert block is not None
        assert block.text == "The spare one is in the hut."
        assert sum(step.kind == "links" for step in memory.neighbours(block.id).neighbours) == 2
        (folder / "a.md").write_text("The spare one is in the hut now.\n")
        memory.ingest(folder)
        # A name of a block that is gone becomes no entity, though two texts share it.
        assert memory.get("a#^spare") is None
        assert memory.doctor() == []


def test_an_archive_brings_nothing_that_was_forgotten(address: str, tmp_path: Path) -> None:
    file = write_zip(tmp_path / "claude.zip", samples.CLAUDE_FILES)
    with Memory(address, embedder=None) as memory:
        secret = "The antenna at Skarholm bends in storms above force nine."
        memory.forget(memory.add(secret).id)
        dry, report = memory.import_(file, dry_run=True), memory.import_(file)
        assert (dry.added, dry.forgotten, dry.cut) == (report.added, report.forgotten, report.cut)
        assert report.forgotten + report.cut == 1
        assert traces(memory, ("bends in storms",)) == []
        assert memory.import_(file).added == 0
