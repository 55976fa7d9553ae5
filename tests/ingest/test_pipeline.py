"""Following files: what ingest keeps, changes and removes, in whatever order things happen."""

from __future__ import annotations

import json
import os
import queue
import shutil
import sqlite3
import threading
import tracemalloc
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cuetrail import CuetrailError, Memory
from cuetrail.model import IngestReport, Node

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


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    (tmp_path / "vault").mkdir()
    return Vault(tmp_path / "vault")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "memory", embedder="none") as opened:
        yield opened


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


# --- nothing changed


def test_a_second_ingest_changes_nothing(vault: Vault, memory: Memory, tmp_path: Path) -> None:
    vault.write("a.md", "# Alpha\n\nFirst with [[b]].\n\nSecond about Ada Lovelace. #tag")
    vault.write("sub/b.md", f"{LONG}\n\nWe met Ada Lovelace again.")
    memory.ingest(vault.root, now=NOW)
    before, log = exported(memory, tmp_path / "1"), changes(memory)
    report = memory.ingest(vault.root, now=NOW + DAY)
    assert (report.files, report.unchanged_files) == (2, 2)
    assert (report.added, report.removed, report.edges, report.removed_files) == (0, 0, 0, 0)
    assert exported(memory, tmp_path / "2") == before
    assert changes(memory) == log


def test_files_that_were_only_touched_change_nothing(vault: Vault, memory: Memory, tmp_path: Path) -> None:
    vault.write("a.md", "One.\n\nTwo.")
    vault.write("b.md", "Three.")
    memory.ingest(vault.root, now=NOW)
    before, log = exported(memory, tmp_path / "1"), changes(memory)
    vault.touch("a.md")
    vault.touch("b.md")
    assert memory.ingest(vault.root, now=NOW + DAY).unchanged_files == 2
    assert exported(memory, tmp_path / "2") == before
    assert changes(memory) == log


# --- edits


def test_editing_one_paragraph_changes_exactly_one_atom(vault: Vault, memory: Memory, tmp_path: Path) -> None:
    vault.write("a.md", "First stays.\n\nSecond goes.\n\nThird stays.")
    memory.ingest(vault.root, now=NOW)
    memory.recall("first", now=NOW + 5)
    before, log = atoms(memory, tmp_path), changes(memory)
    vault.write("a.md", "First stays.\n\nSecond came.\n\nThird stays.")
    report = memory.ingest(vault.root, now=NOW + DAY)
    after = atoms(memory, tmp_path)
    assert (report.added, report.removed, report.kept) == (1, 1, 2)
    assert after["First stays."] == before["First stays."]
    assert after["First stays."]["life"]["accesses"] == 1
    assert after["Third stays."] == before["Third stays."]
    assert "Second goes." not in after
    # The old atom and the new one; nothing else is indexed anew.
    assert len(changed_keys(memory, log)) == 2


def test_inserting_a_paragraph_keeps_the_ids_of_the_others(vault: Vault, memory: Memory, tmp_path: Path) -> None:
    vault.write("a.md", "First.\n\nThird.")
    memory.ingest(vault.root, now=NOW)
    before = atoms(memory, tmp_path)
    vault.write("a.md", "First.\n\nSecond.\n\nThird.")
    report = memory.ingest(vault.root, now=NOW + DAY)
    after = atoms(memory, tmp_path)
    assert (report.added, report.removed, report.kept) == (1, 0, 2)
    assert {t: after[t]["id"] for t in before} == {t: before[t]["id"] for t in before}
    assert after["Third."]["created"] == NOW
    assert [after[t]["seq"] for t in ("Second.", "Third.")] == [1, 2]


def test_deleting_a_paragraph_removes_one_atom(vault: Vault, memory: Memory, tmp_path: Path) -> None:
    vault.write("a.md", "First.\n\nSecond.\n\nThird.")
    memory.ingest(vault.root)
    vault.write("a.md", "First.\n\nThird.")
    report = memory.ingest(vault.root)
    assert (report.added, report.removed, report.kept) == (0, 1, 2)
    assert set(atoms(memory, tmp_path)) == {"First.", "Third."}


def test_the_same_paragraph_twice_is_two_atoms_and_losing_one_leaves_one(vault: Vault, memory: Memory) -> None:
    vault.write("a.md", "Again.\n\nAgain.")
    assert memory.ingest(vault.root).added == 2
    vault.write("a.md", "Again.")
    report = memory.ingest(vault.root)
    assert (report.removed, memory.stats().kinds["atom"]) == (1, 1)


def test_a_date_only_the_file_time_told_does_not_move_when_the_file_is_edited(
    vault: Vault, memory: Memory, tmp_path: Path
) -> None:
    vault.write("a.md", "First.\n\nOn 2024-03-01 it rained.")
    memory.ingest(vault.root)
    before = atoms(memory, tmp_path)
    vault.write("a.md", "First.\n\nOn 2024-03-01 it rained.\n\nThird.")
    memory.ingest(vault.root)
    after = atoms(memory, tmp_path)
    assert after["First."]["at"] == before["First."]["at"]
    assert after["Third."]["at"] > after["First."]["at"]
    assert after["On 2024-03-01 it rained."]["at"] == 1_709_251_200_000


def test_a_name_that_only_the_edited_paragraph_explained_is_no_longer_linked(vault: Vault, memory: Memory) -> None:
    """Whether a word at the start of a sentence is a name is judged over the whole file."""
    vault.write("a.md", "We asked Lovelace about it.\n\nLovelace agreed at once.")
    memory.ingest(vault.root)
    assert memory.get("Lovelace") is not None
    vault.write("a.md", "We asked somebody about it.\n\nLovelace agreed at once.")
    memory.ingest(vault.root)
    assert memory.get("Lovelace") is None


# --- files that go and come


def test_a_deleted_file_takes_its_atoms_and_its_source_along_and_its_links_wait(vault: Vault, memory: Memory) -> None:
    vault.write("a.md", "See [[b]] for more.")
    vault.write("b.md", "# Beta\n\nThe rest.")
    memory.ingest(vault.root)
    beta = memory.get("b")
    assert beta is not None
    assert beta.kind == "source"
    linked = memory.neighbours(beta.id)
    assert [step.kind for step in linked.neighbours if not step.outgoing].count("links") == 1
    (vault.root / "b.md").unlink()
    report = memory.ingest(vault.root)
    assert (report.removed_files, report.removed) == (1, 2)
    assert memory.get("b") is None
    vault.write("b.md", "# Beta\n\nThe rest.")
    memory.ingest(vault.root)
    again = memory.neighbours(beta.id)
    assert [step.kind for step in again.neighbours if not step.outgoing].count("links") == 1


def test_a_renamed_subfolder_keeps_birth_and_use_of_its_atoms(vault: Vault, memory: Memory, tmp_path: Path) -> None:
    vault.write("old/a.md", "Alpha text.\n\nAlpha text.\n\nMore.")
    memory.ingest(vault.root, now=NOW)
    memory.recall("more", now=NOW + 5)
    before = atoms(memory, tmp_path)["More."]
    (vault.root / "old").rename(vault.root / "new")
    memory.ingest(vault.root, now=NOW + DAY)
    after = atoms(memory, tmp_path)["More."]
    assert after["source"] == "vault/new/a.md"
    assert (after["created"], after["life"], after["at"]) == (before["created"], before["life"], before["at"])


def test_a_renamed_root_folder_keeps_every_id(vault: Vault, memory: Memory, tmp_path: Path) -> None:
    vault.write("a.md", "Alpha.")
    vault.write("sub/b.md", "Beta.")
    memory.ingest(vault.root)
    before = exported(memory, tmp_path / "1")
    moved = vault.root.rename(tmp_path / "elsewhere")
    report = memory.ingest(moved)
    assert report.unchanged_files == 2
    assert exported(memory, tmp_path / "2") == before


def test_two_vaults_of_one_name_do_not_mix(memory: Memory, tmp_path: Path) -> None:
    one, two = Vault(tmp_path / "1" / "notes"), Vault(tmp_path / "2" / "notes")
    one.write("a.md", "In the first.")
    two.write("b.md", "In the second.")
    memory.ingest(one.root)
    memory.ingest(two.root)
    assert memory.ingest(one.root).removed == 0
    assert set(atoms(memory, tmp_path)) == {"In the first.", "In the second."}
    assert {a["source"] for a in atoms(memory, tmp_path).values()} == {"notes/a.md", "notes-2/b.md"}


def test_a_vault_whose_drive_is_away_is_not_taken_for_another_of_its_name(memory: Memory, tmp_path: Path) -> None:
    one, two = Vault(tmp_path / "1" / "notes"), Vault(tmp_path / "2" / "notes")
    one.write("a.md", "In the first.")
    two.write("b.md", "In the second.")
    memory.ingest(one.root)
    away = (tmp_path / "1").rename(tmp_path / "away")
    memory.ingest(two.root)
    assert set(atoms(memory, tmp_path)) == {"In the first.", "In the second."}
    with pytest.raises(CuetrailError, match="not there"):
        memory.ingest(one.root / "a.md")
    away.rename(tmp_path / "1")
    assert memory.ingest(one.root).unchanged_files == 1


def test_a_subfolder_and_later_its_parent_hold_everything_once(vault: Vault, memory: Memory, tmp_path: Path) -> None:
    vault.write("sub/a.md", "Alpha.")
    vault.write("b.md", "Beta.")
    memory.ingest(vault.root / "sub", now=NOW)
    memory.ingest(vault.root, now=NOW + DAY)
    found = atoms(memory, tmp_path)
    assert {a["source"] for a in found.values()} == {"vault/sub/a.md", "vault/b.md"}
    assert found["Alpha."]["created"] == NOW
    assert memory.ingest(vault.root / "sub").unchanged_files == 1
    with Memory(tmp_path / "fresh", embedder="none") as fresh:
        fresh.ingest(vault.root)
        assert state(memory, tmp_path) == state(fresh, tmp_path)


def test_a_single_file_is_followed_and_its_neighbours_are_left_alone(vault: Vault, memory: Memory) -> None:
    vault.write("a.md", "Alpha.")
    vault.write("b.md", "Beta.")
    assert memory.ingest(vault.root / "a.md").added == 1
    assert memory.ingest(vault.root / "a.md").unchanged_files == 1
    (vault.root / "a.md").unlink()
    report = memory.ingest(vault.root / "a.md")
    assert (report.files, report.removed_files, report.removed) == (0, 1, 1)
    assert memory.stats().kinds.get("atom", 0) == 0


def test_a_path_that_never_was_is_an_error(memory: Memory, tmp_path: Path) -> None:
    with pytest.raises(CuetrailError, match="there is no file or folder"):
        memory.ingest(tmp_path / "nowhere")


def test_a_bucket_given_to_ingest_is_the_bucket_of_everything_and_a_new_one_replaces_it(
    vault: Vault, memory: Memory, tmp_path: Path
) -> None:
    vault.write("sub/a.md", "---\nbucket: own\n---\nAlpha.")
    memory.ingest(vault.root)
    assert atoms(memory, tmp_path)["Alpha."]["buckets"] == ["own"]
    memory.ingest(vault.root, bucket="Work Stuff")
    assert atoms(memory, tmp_path)["Alpha."]["buckets"] == ["work_stuff"]
    assert memory.ingest(vault.root, bucket="Work Stuff").unchanged_files == 1


def test_the_first_folder_below_the_vault_is_the_bucket(vault: Vault, memory: Memory, tmp_path: Path) -> None:
    vault.write("Projects/deep/a.md", "Alpha.")
    vault.write("b.md", "Beta.")
    memory.ingest(vault.root)
    found = atoms(memory, tmp_path)
    assert found["Alpha."]["buckets"] == ["projects"]
    assert "buckets" not in found["Beta."]


# --- near duplicates


def test_near_duplicates_share_tags_and_buckets_until_one_goes(vault: Vault, memory: Memory, tmp_path: Path) -> None:
    vault.write("one/a.md", f"---\ntags: [red]\n---\n{LONG}.")
    vault.write("two/b.md", f"---\ntags: [blue]\n---\n{LONG}!")
    vault.write(
        "three/c.md", "---\ntags: [green]\n---\nSomething else that has nothing to do with foxes or dogs at all."
    )
    memory.ingest(vault.root)
    for mark in (".", "!"):
        atom = atoms(memory, tmp_path)[LONG + mark]
        assert {"red", "blue"} <= {tag[0] for tag in atom["tag_details"]}
        assert set(atom["buckets"]) == {"one", "two"}
    first = atoms(memory, tmp_path)[LONG + "."]
    assert first["buckets"][0] == "one"
    assert "green" not in {tag[0] for tag in first["tag_details"]}
    (vault.root / "two" / "b.md").unlink()
    memory.ingest(vault.root)
    alone = atoms(memory, tmp_path)[LONG + "."]
    assert "blue" not in {tag[0] for tag in alone["tag_details"]}
    assert alone["buckets"] == ["one"]


def test_a_text_in_very_many_places_is_boilerplate_and_shares_nothing(
    vault: Vault, memory: Memory, tmp_path: Path
) -> None:
    for number in range(20):
        vault.write(f"n{number}.md", f"---\ntags: [t{number}]\n---\n{LONG} {'.' * number}")
    memory.ingest(vault.root)
    assert max(len(a["tag_details"]) for a in atoms(memory, tmp_path).values()) == 3
    for number in range(3, 20):
        (vault.root / f"n{number}.md").unlink()
    memory.ingest(vault.root)
    assert {len(a["tag_details"]) for a in atoms(memory, tmp_path).values()} == {5}


# --- trouble in single files


def test_each_broken_file_is_reported_and_the_others_are_taken(vault: Vault, memory: Memory, tmp_path: Path) -> None:
    vault.write("broken.pdf", b"%PDF-1.4\nthis is not a pdf at all")
    vault.write("garbage.txt", bytes(range(256)) * 64)
    vault.write("empty.json", "[]")
    vault.write("latin.txt", "Caf\xe9 au lait".encode("latin-1"))
    vault.write("half.json", '{"messages": [{"role": "user", "content": "cut o')
    huge = vault.write("huge.md", "x")
    os.truncate(huge, 2 * 2**30)
    vault.write("good.md", "Good one.")
    report = memory.ingest(vault.root)
    assert {error.path for error in report.errors} == {
        f"vault/{name}" for name in ("broken.pdf", "garbage.txt", "empty.json", "huge.md")
    }
    assert all(error.path in error.error or "PDF" in error.error for error in report.errors)
    assert {"Good one.", "Café au lait"} <= set(atoms(memory, tmp_path))
    assert [e.path for e in memory.ingest(vault.root).errors] == [e.path for e in report.errors]


def test_a_huge_file_is_refused_by_its_size_without_being_read(vault: Vault, memory: Memory) -> None:
    os.truncate(vault.write("huge.txt", "x"), 2 * 2**30)
    tracemalloc.start()
    try:
        report = memory.ingest(vault.root)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert "larger than" in report.errors[0].error
    assert peak < 8 * 2**20
    vault.write("small.txt", "More than ten bytes.")
    assert len(memory.ingest(vault.root, max_bytes=10).errors) == 2


def test_a_known_file_that_becomes_unreadable_keeps_its_atoms(vault: Vault, memory: Memory, tmp_path: Path) -> None:
    vault.write("a.txt", "Alpha.")
    memory.ingest(vault.root)
    vault.write("a.txt", bytes(range(256)) * 64)
    report = memory.ingest(vault.root)
    assert [error.path for error in report.errors] == ["vault/a.txt"]
    assert (report.removed, set(atoms(memory, tmp_path))) == (0, {"Alpha."})


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_or_folder_without_permission_is_reported_and_keeps_its_atoms(vault: Vault, memory: Memory) -> None:
    vault.write("sub/a.md", "Alpha.")
    file = vault.write("b.md", "Beta.")
    memory.ingest(vault.root)
    vault.write("b.md", "Gamma.")
    file.chmod(0)
    (vault.root / "sub").chmod(0)
    try:
        report = memory.ingest(vault.root)
    finally:
        file.chmod(0o600)
        (vault.root / "sub").chmod(0o700)
    assert {error.path for error in report.errors} == {"vault/sub", "vault/b.md"}
    assert (report.removed, memory.stats().kinds["atom"]) == (0, 2)


def test_a_file_that_is_a_dangling_link_is_passed_over(vault: Vault, memory: Memory) -> None:
    vault.write("a.md", "Alpha.")
    (vault.root / "b.md").symlink_to(vault.root / "nowhere.md")
    report = memory.ingest(vault.root)
    assert (report.files, report.errors) == (1, ())


# --- interruption


def test_an_interrupted_ingest_is_completed_by_the_next_to_the_same_state(
    vault: Vault, memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cuetrail.ingest.pipeline.NODES_PER_WRITE", 5)
    for number in range(12):
        near = LONG if number % 3 else "A short one."
        vault.write(
            f"f{number % 4}/n{number}.md", f"# Note {number}\n\n{near}\n\nAsk Ada Lovelace, see [[n{11 - number}]]."
        )

    def interrupt(what: str, done: int, total: int) -> None:
        if (what, done) == ("reading", 7):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        memory.ingest(vault.root, progress=interrupt)
    assert 0 < memory.stats().kinds["source"] < 12
    report = memory.ingest(vault.root)
    assert 0 < report.unchanged_files < 12
    with Memory(tmp_path / "fresh", embedder="none") as fresh:
        fresh.ingest(vault.root)
        assert state(memory, tmp_path) == state(fresh, tmp_path)


def test_an_interrupted_first_ingest_has_claimed_its_folder_name(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cuetrail.ingest.pipeline.NODES_PER_WRITE", 1)
    one, two = Vault(tmp_path / "1" / "notes"), Vault(tmp_path / "2" / "notes")
    for number in range(3):
        one.write(f"a{number}.md", f"First {number}.")
    two.write("a0.md", "Second.")

    def interrupt(what: str, done: int, total: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        memory.ingest(one.root, progress=interrupt)
    memory.ingest(two.root)
    memory.ingest(one.root)
    assert set(atoms(memory, tmp_path)) == {"First 0.", "First 1.", "First 2.", "Second."}


# --- what is never taken in


def test_the_memory_itself_other_memories_and_mirrors_are_never_taken_in(vault: Vault, tmp_path: Path) -> None:
    vault.write("a.md", "Alpha.")
    vault.write(".hidden/b.md", "Hidden.")
    vault.write("brain/.cuetrail-mirror", "")
    vault.write("brain/@x/c.md", "Echo.")
    with Memory(vault.root / "memory", embedder="none") as memory, Memory(vault.root / "other", embedder="none"):
        vault.write("memory/note.md", "Inside the memory.")
        vault.write("other/note.md", "Inside another memory.")
        memory.ingest(vault.root)
        assert set(atoms(memory, tmp_path)) == {"Alpha."}
        with pytest.raises(CuetrailError, match="mirror"):
            memory.ingest(vault.root / "brain")
        with pytest.raises(CuetrailError, match="mirror"):
            memory.ingest(vault.root / "brain" / "@x" / "c.md")
        with pytest.raises(CuetrailError, match="is a memory"):
            memory.ingest(vault.root / "memory")


# --- text and chats


def test_a_text_replaces_what_its_source_held(memory: Memory, tmp_path: Path) -> None:
    assert memory.ingest_text("One.\n\nTwo.", source="clip").added == 2
    report = memory.ingest_text("Two.\n\nThree.", source="clip", bucket="inbox")
    assert (report.added, report.kept, report.removed) == (1, 1, 1)
    found = atoms(memory, tmp_path)
    assert {t: a["buckets"] for t, a in found.items()} == {"Two.": ["inbox"], "Three.": ["inbox"]}
    memory.ingest_text("Other.", source="other")
    assert len(atoms(memory, tmp_path)) == 3


def test_a_chat_keeps_its_turns_in_order_with_their_speakers(vault: Vault, memory: Memory, tmp_path: Path) -> None:
    turns = [{"role": "user", "content": "Which port?"}, {"role": "assistant", "content": "Port 8080."}]
    vault.write("chat.json", json.dumps({"title": "Ports", "messages": turns}))
    memory.ingest(vault.root)
    found = sorted(atoms(memory, tmp_path).values(), key=lambda atom: atom.get("seq", 0))
    assert [(a["text"], a["props"]["speaker"]) for a in found] == [
        ("user: Which port?", "user"),
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


def test_watching_follows_changes_until_it_is_stopped(vault: Vault, memory: Memory) -> None:
    vault.write("a.md", "Alpha.")
    reports: queue.Queue[IngestReport] = queue.Queue()
    stop = threading.Event()
    thread = threading.Thread(
        target=memory.ingest, args=(vault.root,), kwargs={"watch": True, "on_report": reports.put, "stop": stop}
    )
    thread.start()
    try:
        assert reports.get(timeout=30).added == 1
        vault.write("b.md", "Beta.")
        assert _first(reports, lambda report: report.added > 0).added == 1
        (vault.root / "a.md").unlink()
        assert _first(reports, lambda report: report.removed > 0).removed_files == 1
    finally:
        stop.set()
        thread.join(timeout=30)
    assert not thread.is_alive()


def _first(reports: queue.Queue[IngestReport], wanted: Any) -> IngestReport:
    while True:
        report = reports.get(timeout=30)
        if wanted(report):
            return report


# --- the heart: only what is there counts, not how it came about

PARAGRAPHS = (
    "Short one.",
    "Short two. #later",
    "# Alpha Note",
    "## Part",
    "We asked Lovelace and Ada Byron about it.",
    "Lovelace agreed. We told ada byron.",
    "See [[b]] and [[Alpha Note|the first]].",
    "See [[B]] again, or [[nowhere]].",
    "Nobody else links [[nowhere]] or [[Beta]].",
    f"{LONG}.",
    f"{LONG}! #fox",
    f"{LONG} tonight",
    "---",
    "```python\nprint('hello')\n```",
)
FRONTS = ("", "---\ntitle: Alpha Note\ntags: [red]\n---\n", "---\naliases: [Beta, nowhere]\nbucket: own\n---\n")
PATHS = ("a.md", "b.md", "one/b.md", "one/c.md", "two/a.md")

_texts = st.builds(
    lambda front, parts: front + "\n\n".join(parts),
    st.sampled_from(FRONTS),
    st.lists(st.sampled_from(PARAGRAPHS), max_size=5),
)
_paths = st.sampled_from(PATHS)
_steps = st.lists(
    st.one_of(
        st.tuples(st.just("write"), _paths, _texts),
        st.tuples(st.just("write"), _paths, _texts),
        st.tuples(st.just("move"), _paths, _paths),
        st.tuples(st.just("copy"), _paths, _paths),
        st.tuples(st.just("delete"), _paths, st.just("")),
        st.tuples(st.just("ingest"), st.just(""), st.just("")),
    ),
    min_size=3,
    max_size=14,
)


def _do(vault: Vault, memory: Memory, step: tuple[str, str, str]) -> None:
    what, path, other = step
    file = vault.root / path
    if what == "ingest":
        memory.ingest(vault.root)
    elif what == "write":
        vault.write(path, other)
    elif file.is_file():
        (vault.root / other).parent.mkdir(parents=True, exist_ok=True)
        if what == "copy" and path != other:
            shutil.copy(file, vault.root / other)
            vault.touch(other)
        elif what == "move":
            file.rename(vault.root / other)
        elif what == "delete":
            file.unlink()


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(steps=_steps)
def test_following_every_step_ends_in_the_same_memory_as_taking_in_the_final_state(
    steps: list[tuple[str, str, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = tmp_path_factory.mktemp("order")
    vault = Vault(place / "vault")
    vault.root.mkdir()
    with Memory(place / "followed", embedder="none") as followed, Memory(place / "fresh", embedder="none") as fresh:
        for step in steps:
            _do(vault, followed, step)
        followed.ingest(vault.root)
        fresh.ingest(vault.root)
        assert state(followed, place) == state(fresh, place)
    shutil.rmtree(place)


def test_a_node_of_a_file_is_what_get_gives_back(vault: Vault, memory: Memory) -> None:
    vault.write("Projects/a.md", "---\ntitle: The Plan\naliases: [plan b]\ntags: [red]\n---\nAlpha. #Blue")
    memory.ingest(vault.root, now=NOW)
    node = memory.get("plan B")
    assert isinstance(node, Node)
    assert (node.kind, node.name, node.source, node.buckets) == (
        "source",
        "The Plan",
        "vault/Projects/a.md",
        ("projects",),
    )
    assert node.tags == ("red", "project:vault", "doc")


def test_a_single_file_does_not_give_names_to_the_folders_beside_it(memory: Memory, tmp_path: Path) -> None:
    outer, inner = tmp_path / "outer", Vault(tmp_path / "outer" / "notes")
    inner.write("a.md", "An aardvark digs.")
    (outer / "README.md").write_text("A file beside the folder.")
    memory.ingest(inner.root, now=NOW)
    memory.ingest(outer / "README.md", now=NOW)
    assert memory.ingest(inner.root, now=NOW).unchanged_files == 1
    assert set(atoms(memory, tmp_path)) == {"An aardvark digs.", "A file beside the folder."}
    inner.write("b.md", "A badger sleeps.")
    memory.ingest(outer, now=NOW)
    found = atoms(memory, tmp_path)
    assert set(found) == {"An aardvark digs.", "A file beside the folder.", "A badger sleeps."}
    assert {line["source"] for line in found.values()} == {"outer/notes/a.md", "outer/README.md", "outer/notes/b.md"}
    assert len([line for line in lines(memory, tmp_path) if line.get("text") == "An aardvark digs."]) == 1


def test_a_mistyped_folder_below_a_known_one_is_an_error_and_removes_nothing(
    vault: Vault, memory: Memory, tmp_path: Path
) -> None:
    vault.write("a.md", "An aardvark digs.")
    memory.ingest(vault.root, now=NOW)
    with pytest.raises(CuetrailError, match="there is no file or folder"):
        memory.ingest(vault.root / "typo", now=NOW)
    assert set(atoms(memory, tmp_path)) == {"An aardvark digs."}


def test_a_known_folder_that_is_not_there_removes_nothing_even_after_a_single_file_beside_it(
    vault: Vault, memory: Memory, tmp_path: Path
) -> None:
    vault.write("a.md", "An aardvark digs.")
    (tmp_path / "top.md").write_text("A file beside the folder.")
    memory.ingest(tmp_path / "top.md", now=NOW)
    memory.ingest(vault.root, now=NOW)
    vault.root.rename(tmp_path / "elsewhere")
    with pytest.raises(CuetrailError, match="is its drive connected"):
        memory.ingest(vault.root, now=NOW)
    assert "An aardvark digs." in atoms(memory, tmp_path)
    (tmp_path / "top.md").unlink()
    memory.ingest(tmp_path / "top.md", now=NOW)
    assert set(atoms(memory, tmp_path)) == {"An aardvark digs."}
