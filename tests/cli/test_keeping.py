"""Keeping a memory: export, import, backup, restore, reembed, doctor, completion."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from cuetrail import transfer
from cuetrail.cli import keeping

Run = Callable[..., Result]
Ask = Callable[..., Any]

OTHER = "openai:http://127.0.0.1:1/v1#other"
"""An embedder that is not the memory's; nobody answers there, and nobody is asked."""


def test_an_export_comes_back_in_another_memory(run: Run, ask: Ask, vault: Path, tmp_path: Path) -> None:
    run("ingest", vault)
    file, other = tmp_path / "all.jsonl", tmp_path / "other"
    assert str(file) in run("export", file).stdout
    assert " taken in: " in run("import", file, "--memory", other).stdout
    assert ask("stats", "--memory", other)["kinds"] == ask("stats")["kinds"]


def test_standard_output_gets_the_bytes_of_the_file(run: Run, vault: Path, tmp_path: Path) -> None:
    run("ingest", vault)
    run("add", "Grüße 日本")
    run("export", tmp_path / "all.jsonl")
    assert run("export", "-").stdout_bytes == (tmp_path / "all.jsonl").read_bytes()


@pytest.mark.parametrize("format", transfer.FORMATS)
def test_every_format_is_written_and_read_again(run: Run, ask: Ask, tmp_path: Path, format: str) -> None:
    run("add", "She repairs radios", "--name", "Ines", "--kind", "person")
    place, other = tmp_path / f"out-{format}", tmp_path / "other"
    assert ask("export", place, "--format", format)["format"] == format
    assert ask("import", place, "--format", format, "--memory", other)["errors"] == []
    assert "radios" in run("recall", "radios", "--memory", other).stdout


def test_the_command_line_offers_the_formats_of_the_library() -> None:
    assert set(keeping.FORMATS) == set(transfer.FORMATS)
    assert set(keeping.IMPORTS) == {*transfer.FORMATS, *transfer.INGESTED}


@pytest.mark.parametrize(
    "wrong", [["-", "--json"], ["-", "--format", "basic-memory"], ["x", "--vectors", "--format", "mem0"]]
)
def test_exports_that_cannot_be_are_wrong_use(run: Run, wrong: list[str]) -> None:
    run("add", "one")
    run("export", *wrong, code=2)


def test_import_names_records_it_cannot_take(run: Run, tmp_path: Path) -> None:
    run("add", "one")
    file = tmp_path / "all.jsonl"
    run("export", file)
    file.write_text(file.read_text() + "not a record\n")
    done = run("import", file, "--memory", tmp_path / "other", code=1)
    assert "1 failed" in done.stdout
    assert "line " in done.stderr


def test_import_of_something_unknown_is_wrong_use(run: Run, tmp_path: Path) -> None:
    (tmp_path / "strange.bin").write_bytes(b"\x00\x01")
    assert "--format" in run("import", tmp_path / "strange.bin", code=2).stderr
    assert "does not exist" in run("import", tmp_path / "nowhere", code=2).stderr


def test_a_backup_is_restored_over_a_memory_only_by_force(run: Run, tmp_path: Path) -> None:
    run("add", "before", "--id", "A")
    assert "backed up" in run("backup", tmp_path / "b.tar").stdout
    run("add", "after", "--id", "A")
    assert "--force" in run("restore", tmp_path / "b.tar", code=2).stderr
    assert "restored" in run("restore", tmp_path / "b.tar", "--force").stdout
    assert "before" in run("get", "A").stdout


def test_restore_keeps_a_damaged_memory_beside(run: Run, ask: Ask, memory: Path, tmp_path: Path) -> None:
    run("add", "before", "--id", "A")
    run("backup", tmp_path / "b.tar")
    (memory / "memory.db").write_bytes(b"garbage" * 1000)
    kept = ask("restore", tmp_path / "b.tar")["kept"]
    assert Path(kept).read_bytes() == b"garbage" * 1000
    assert "before" in run("get", "A").stdout


def test_a_backup_that_is_none_changes_nothing(run: Run, tmp_path: Path) -> None:
    run("add", "before", "--id", "A")
    (tmp_path / "b.tar").write_text("not a backup")
    assert "not a whole cuetrail backup" in run("restore", tmp_path / "b.tar", "--force", code=2).stderr
    assert "before" in run("get", "A").stdout


def test_reembed_makes_the_missing_vectors(run: Run, ask: Ask) -> None:
    run("add", "A kitten sleeps on the sofa")
    assert ask("stats")["vectors"] == 0
    assert ask("reembed", "--embedder", "static")["vectors"] == 1
    assert ask("reembed", "--embedder", "static")["vectors"] == 0
    assert "wordllama" in run("stats").stdout
    assert "--embedder static" in run("reembed", "--embedder", "none", code=2).stderr


def test_another_embedder_is_refused_where_vectors_matter_and_only_there(run: Run) -> None:
    run("add", "one", "--id", "A", "--embedder", "static")
    assert "cuetrail reembed" in run("recall", "one", "--embedder", OTHER, code=1).stderr
    for verb in (["stats"], ["get", "A"], ["doctor"], ["link", "A", "A"]):
        run(*verb, "--embedder", OTHER)


def test_doctor_finds_and_mends(run: Run, ask: Ask, memory: Path) -> None:
    run("add", "one", "--id", "A")
    run("add", "two", "--id", "B")
    run("link", "A", "B")
    assert run("doctor").stdout == "nothing is wrong\n"
    with closing(sqlite3.connect(memory / "memory.db")) as db, db:
        db.execute("DELETE FROM degrees")
    assert "cuetrail doctor --repair" in run("doctor", code=1).stdout
    mended = ask("doctor", "--repair")
    assert (mended["healthy"], [f["fix"] for f in mended["findings"]]) == (True, ["mended"])
    assert ask("doctor") == {"healthy": True, "findings": []}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script(run: Run, shell: str) -> None:
    assert "_CUETRAIL_COMPLETE" in run("completion", shell).stdout


def test_the_shell_completes_verbs(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_CUETRAIL_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "cuetrail re")
    monkeypatch.setenv("COMP_CWORD", "1")
    offered = {line.split(",")[1] for line in run().stdout.splitlines()}
    assert offered == {"recall", "restore", "reembed"}
