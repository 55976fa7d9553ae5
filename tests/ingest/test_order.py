"""The result of ingest depends on the files alone, not on the order of edits or on interruptions."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cuetrail import Memory
from tests.ingest.tools import LONG, Vault, atoms, state

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

texts = st.builds(
    lambda front, parts: front + "\n\n".join(parts),
    st.sampled_from(FRONTS),
    st.lists(st.sampled_from(PARAGRAPHS), max_size=5),
)
_paths = st.sampled_from(PATHS)
_steps = st.lists(
    st.one_of(
        st.tuples(st.just("write"), _paths, texts),
        st.tuples(st.just("write"), _paths, texts),
        st.tuples(st.just("move"), _paths, _paths),
        st.tuples(st.just("copy"), _paths, _paths),
        st.tuples(st.just("delete"), _paths, st.just("")),
        st.tuples(st.just("ingest"), st.just(""), st.just("")),
    ),
    min_size=3,
    max_size=14,
)


def do(vault: Vault, memory: Memory, step: tuple[str, str, str]) -> None:
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


@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow])
@given(steps=_steps)
def test_following_every_step_ends_in_the_same_memory_as_taking_in_the_final_state(
    steps: list[tuple[str, str, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = tmp_path_factory.mktemp("order")
    vault = Vault(place / "vault")
    vault.root.mkdir()
    with Memory(place / "followed", embedder="none") as followed, Memory(place / "fresh", embedder="none") as fresh:
        for step in steps:
            do(vault, followed, step)
        followed.ingest(vault.root)
        fresh.ingest(vault.root)
        assert state(followed, place) == state(fresh, place)
    shutil.rmtree(place)


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
