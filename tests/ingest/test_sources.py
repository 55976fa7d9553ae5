"""Ingest of texts, chats and watched folders."""

from __future__ import annotations

import json
import queue
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from cuetrail import Memory
from cuetrail.model import IngestReport
from tests.ingest.tools import Vault, atoms


def test_a_text_replaces_what_its_source_held(memory: Memory, tmp_path: Path) -> None:
    assert memory.ingest_text("One.\n\n---\n\nTwo.", source="clip", format="md").added == 2
    report = memory.ingest_text("Two.\n\n---\n\nThree.", source="clip", format="md", bucket="inbox")
    assert (report.added, report.kept, report.removed) == (1, 1, 1)
    found = atoms(memory, tmp_path)
    assert {t: a["buckets"] for t, a in found.items()} == {"Two.": ["inbox"], "Three.": ["inbox"]}
    memory.ingest_text("Other.", source="other")
    assert len(atoms(memory, tmp_path)) == 3


def test_a_chat_keeps_its_turns_in_order_with_their_speakers(vault: Vault, memory: Memory, tmp_path: Path) -> None:
    turns = [{"role": "user", "content": "Open a port."}, {"role": "assistant", "content": "Port 8080."}]
    vault.write("chat.json", json.dumps({"title": "Ports", "messages": turns}))
    memory.ingest(vault.root)
    found = sorted(atoms(memory, tmp_path).values(), key=lambda atom: atom.get("seq", 0))
    assert [(a["text"], a["props"]["speaker"]) for a in found] == [
        ("user: Open a port.", "user"),
        ("assistant: Port 8080.", "assistant"),
    ]
    followed = memory.neighbours(found[0]["id"]).neighbours
    assert [step.id for step in followed if step.kind == "next" and step.outgoing] == [found[1]["id"]]
    turns.append({"role": "user", "content": "Thanks."})
    vault.write("chat.json", json.dumps({"title": "Ports", "messages": turns}))
    report = memory.ingest(vault.root)
    assert (report.added, report.kept, report.removed) == (1, 2, 0)
    vault.write("chat.json", json.dumps([{"id": "x", "messages": turns}, {"id": "y", "messages": turns}]))
    assert memory.ingest(vault.root).added == 6
    (vault.root / "chat.json").unlink()
    assert memory.ingest(vault.root).removed == 6


# --- watching


@contextmanager
def watched(
    vault: Vault,
    memory: Memory,
    on_report: Callable[[IngestReport], None] = lambda _: None,
    path: str = "",
    follow_links: bool = False,
) -> Iterator[queue.Queue[IngestReport]]:
    """The reports of a thread that watches the vault, or a path in it; it must end when it is told to. It waits for
    `on_report`.
    """
    reports: queue.Queue[IngestReport] = queue.Queue()
    stop = threading.Event()

    def tell(report: IngestReport) -> None:
        on_report(report)
        reports.put(report)

    thread = threading.Thread(
        target=memory.ingest,
        args=(vault.root / path,),
        kwargs={"watch": True, "on_report": tell, "stop": stop, "follow_links": follow_links},
    )
    thread.start()
    try:
        yield reports
    finally:
        stop.set()
        thread.join(timeout=30)
    assert not thread.is_alive()


def test_watching_follows_changes_until_it_is_stopped(vault: Vault, memory: Memory) -> None:
    vault.write("a.md", "Alpha.")
    with watched(vault, memory) as reports:
        assert reports.get(timeout=30).added == 1
        vault.write("b.md", "Beta.")
        assert _first(reports, lambda report: report.added > 0).added == 1
        (vault.root / "a.md").unlink()
        assert _first(reports, lambda report: report.removed > 0).removed_files == 1


def test_watching_goes_on_when_the_folder_is_deleted_and_made_anew(vault: Vault, memory: Memory) -> None:
    vault.write("a.md", "Alpha.")
    with watched(vault, memory) as reports:
        assert reports.get(timeout=30).added == 1
        shutil.rmtree(vault.root)
        lost = _first(reports, lambda report: report.errors)
        assert (lost.files, lost.removed_files) == (1, 0)
        vault.root.mkdir()
        vault.write("z.md", "Omega.")
        assert _first(reports, lambda report: report.added > 0).added == 1
        vault.write("y.md", "Psi.")
        assert _first(reports, lambda report: report.added > 0).added == 1


@pytest.mark.parametrize("when", ["added", "removed"])
def test_a_folder_that_leaves_between_two_looks_is_told_of_once_and_followed_when_it_is_back(
    vault: Vault, memory: Memory, when: str
) -> None:
    here = [vault.root]

    def leave(report: IngestReport) -> None:
        if getattr(report, when) and here:
            shutil.rmtree(here.pop())

    file = vault.write("a.md", "Alpha.")
    with watched(vault, memory, leave) as reports:
        assert reports.get(timeout=30).added == 1
        if when == "removed":
            file.unlink()
            assert reports.get(timeout=30).removed_files == 1
        assert [error.path for error in reports.get(timeout=30).errors] == [str(vault.root)]
        vault.root.mkdir()
        vault.write("z.md", "Omega.")
        assert reports.get(timeout=30).added == 1


@pytest.mark.usefixtures("bound")
def test_watching_goes_on_around_a_folder_that_is_closed(vault: Vault, memory: Memory) -> None:
    closed = vault.write("closed/a.md", "Alpha.").parent
    closed.chmod(0)
    try:
        with watched(vault, memory) as reports:
            assert [error.path for error in reports.get(timeout=30).errors] == ["vault/closed"]
            vault.write("b.md", "Beta.")
            assert _first(reports, lambda report: report.added > 0).added == 1
    finally:
        closed.chmod(0o700)


def test_a_folder_made_anew_at_once_is_followed_each_time(vault: Vault, memory: Memory) -> None:
    vault.write("a.md", "Alpha.")
    with watched(vault, memory) as reports:
        assert reports.get(timeout=30).added == 1
        for time in range(2):
            shutil.rmtree(vault.root)
            vault.root.mkdir()
            vault.write(f"{time}.md", f"Time {time}.")
            assert _first(reports, lambda report: report.added > 0).added == 1


def test_links_out_of_the_folder_are_read_only_when_that_is_asked_for(
    vault: Vault, memory: Memory, tmp_path: Path
) -> None:
    (tmp_path / "passwords.txt").write_text("The password is walrus.")
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "secret.md").write_text("The safe is behind the stove.")
    vault.write("inside.md", "Alpha.")
    (vault.root / "out.txt").symlink_to(tmp_path / "passwords.txt")
    (vault.root / "folder").symlink_to(tmp_path / "more")
    (vault.root / "again.md").symlink_to(vault.root / "inside.md")
    report = memory.ingest(vault.root)
    (error,) = report.errors
    assert error.path.endswith("/out.txt")
    assert "leads out of the folder. With --follow-links it is read" in error.error
    assert not memory.recall("walrus").hits
    assert not memory.recall("stove").hits
    assert memory.recall("alpha").hits
    assert memory.ingest(vault.root, follow_links=True).errors == ()
    assert memory.recall("walrus").hits
    # What was read before stays, because it was not deleted.
    assert memory.ingest(vault.root).removed == 0
    assert memory.recall("walrus").hits


@pytest.mark.parametrize("path", ["", "link.md"])
def test_watching_follows_what_links_lead_to(vault: Vault, memory: Memory, tmp_path: Path, path: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "a.md").write_text("Alpha.")
    (vault.root / "link.md").symlink_to(elsewhere / "a.md")
    with watched(vault, memory, path=path, follow_links=True) as reports:
        assert reports.get(timeout=30).added == 1
        for number in range(2):
            (elsewhere / "a.md").write_text(f"Alpha and number {number}.")
            assert _first(reports, lambda report: report.added > 0).removed == 1


def _first(reports: queue.Queue[IngestReport], wanted: Any) -> IngestReport:
    while True:
        report = reports.get(timeout=30)
        if wanted(report):
            return report
