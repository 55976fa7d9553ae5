"""The command `mirror`."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run
from tests.mirror.tools import pages, shown


@pytest.fixture
def brain(tmp_path: Path) -> Path:
    return tmp_path / "brain"


@pytest.fixture
def filled(run: Run, vault: Path) -> None:
    run("ingest", vault)


def test_it_says_what_it_did_and_that_it_goes_on(run: Run, filled: None, brain: Path) -> None:
    result = run("mirror", brain)
    assert result.stdout.startswith(f"{brain}: 2 atoms in ")
    assert f"{brain} is kept up to date by ingest, dream and forget from now on" in result.stderr
    again = run("mirror", brain)
    assert "wrote 0 files (0 bytes)" in again.stdout
    assert "from now on" not in again.stderr
    assert run("mirror", brain, "--quiet").output == ""


def test_it_reports_in_json(ask: Any, filled: None, brain: Path) -> None:
    report = ask("mirror", brain, "--placement", "all")
    sizes = sum(len(page) for page in pages(brain).values())
    assert report.pop("seconds") > 0
    assert report == {
        "directory": str(brain), "placement": "all", "atoms": 2, "files": len(pages(brain)),
        "written": len(pages(brain)),
        "unchanged": 0, "removed": 0, "bytes": sizes, "dry_run": False,
    }  # fmt: skip
    (again,) = ask("mirror")
    assert (again["written"], again["unchanged"]) == (0, report["files"])


def test_a_mirror_to_standard_output_is_refused_and_makes_no_folder(
    run: Run, filled: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "name one instead of -" in run("mirror", "-", code=2).stderr
    assert not (tmp_path / "-").exists()


def test_a_dry_run_only_tells(run: Run, filled: None, brain: Path) -> None:
    assert "would write" in run("mirror", brain, "--dry-run").stdout
    assert not brain.exists()
    run("mirror", code=2)


def test_without_a_folder_it_needs_a_mirror_it_knows(run: Run, filled: None, brain: Path) -> None:
    assert "this memory has no mirror yet" in run("mirror", code=2).stderr
    run("mirror", brain, "--once")
    run("mirror", code=2)
    run("mirror", brain)
    assert run("mirror").stdout.startswith(str(brain))


def test_what_was_forgotten_on_the_command_line_is_gone_from_the_mirror(run: Run, filled: None, brain: Path) -> None:
    run("mirror", brain)
    assert any(b"shrinks" in page for page in pages(brain).values())
    run("forget", "--source", "vault/Connector.md", "--yes")
    assert pages(brain)
    assert not any(b"shrinks" in page for page in pages(brain).values())


def test_what_is_ingested_is_in_the_mirror_and_a_deleted_mirror_is_a_remark(
    run: Run, vault: Path, filled: None, brain: Path
) -> None:
    run("mirror", brain)
    (vault / "New.md").write_text("Something new. #news\n")
    run("ingest", vault)
    assert any(path.startswith("@general/#news/new_md_") for path in shown(brain))
    shutil.rmtree(brain)
    assert f"the mirror in {brain} was deleted and is no longer kept up to date" in run("ingest", vault).stderr
    assert not brain.exists()


def test_a_mirror_that_is_away_is_named_and_can_be_ended(run: Run, filled: None, brain: Path, vault: Path) -> None:
    run("mirror", brain / "here")
    run("mirror", brain / "disk" / "there")
    (brain / "disk").rename(brain / "unmounted")
    result = run("mirror")
    assert result.stdout.startswith(str(brain / "here"))
    assert f"the mirror in {brain / 'disk' / 'there'} is not there" in result.stderr
    assert not (brain / "disk").exists()
    assert "may still show it" in run("forget", "--source", "vault/Connector.md", "--yes", code=1).stderr
    assert "is no longer kept up to date" in run("mirror", brain / "disk" / "there", "--end").stdout
    assert run("mirror").stderr == ""
    run("mirror", "--end", code=2)


def test_a_folder_of_ones_own_is_refused(run: Run, vault: Path, filled: None) -> None:
    before = sorted(vault.iterdir())
    assert "not empty and not a mirror" in run("mirror", vault, code=2).stderr
    assert sorted(vault.iterdir()) == before


def test_no_memory_is_made_to_mirror(run: Run, memory: Path, brain: Path) -> None:
    run("mirror", brain, code=2)
    assert not memory.exists()
    assert not brain.exists()
