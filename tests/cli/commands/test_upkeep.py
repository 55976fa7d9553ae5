"""The commands export, import, backup, restore, reembed, doctor and completion."""

from __future__ import annotations

import gzip
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from cuetrail import config
from cuetrail.cli.commands import transfer
from cuetrail.errors import InputError
from cuetrail.transfer import export_file
from cuetrail.transfer.formats import detect_format
from tests.transfer import samples
from tests.transfer.samples import write_zip

Run = Callable[..., Result]
Ask = Callable[..., Any]

OTHER = "openai:http://127.0.0.1:1/v1#other"
"""An embedder that is not the memory's; nobody answers there, and nobody is asked."""


def test_an_export_comes_back_in_another_memory(run: Run, ask: Ask, vault: Path, tmp_path: Path) -> None:
    run("ingest", vault)
    file, other = tmp_path / "all.jsonl", tmp_path / "other"
    assert str(file) in run("export", file).stdout
    assert run("import", file, "--memory", other).stdout == "4 nodes, 3 edges, 0 facts read: 7 new\n"
    assert run("import", file, "--memory", other).stdout == "4 nodes, 3 edges, 0 facts read: 7 here already\n"
    assert ask("stats", "--memory", other)["kinds"] == ask("stats")["kinds"]


def test_standard_output_gets_the_bytes_of_the_file(run: Run, vault: Path, tmp_path: Path) -> None:
    run("ingest", vault)
    run("add", "Grüße 日本")
    run("export", tmp_path / "all.jsonl")
    for more in ([], ["--json"]):
        assert run("export", "-", *more).stdout_bytes == (tmp_path / "all.jsonl").read_bytes()


@pytest.mark.parametrize("format", export_file.FORMATS)
def test_every_format_is_written_and_read_again(run: Run, ask: Ask, tmp_path: Path, format: str) -> None:
    run("add", "She repairs radios", "--name", "Ines", "--kind", "person")
    place, other = tmp_path / f"out-{format}", tmp_path / "other"
    assert ask("export", place, "--format", format)["format"] == format
    assert ask("import", place, "--format", format, "--memory", other)["errors"] == []
    assert "radios" in run("recall", "radios", "--memory", other).stdout


def test_the_command_line_offers_the_formats_of_the_library() -> None:
    assert set(transfer.FORMATS) == set(export_file.FORMATS)
    assert set(transfer.IMPORTS) == set(detect_format.ALL)


@pytest.mark.parametrize("wrong", [["-", "--format", "basic-memory"], ["x", "--vectors", "--format", "mem0"]])
def test_exports_that_cannot_be_are_wrong_use(run: Run, wrong: list[str]) -> None:
    run("add", "one")
    run("export", *wrong, code=2)


def test_a_backup_to_standard_output_is_refused_and_makes_no_file(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("add", "one")
    monkeypatch.chdir(tmp_path)
    assert "memory.tar" in run("backup", "-", code=2).stderr
    assert not (tmp_path / "-").exists()


def test_an_export_comes_back_through_a_pipe_and_from_gzip(run: Run, ask: Ask, tmp_path: Path, vault: Path) -> None:
    run("ingest", vault)
    whole = run("export", "-").stdout_bytes
    piped = ask("import", "-", "--memory", tmp_path / "piped", input=whole)
    packed = tmp_path / "memory.jsonl.gz"
    packed.write_bytes(gzip.compress(whole))
    unpacked = ask("import", packed, "--memory", tmp_path / "unpacked")
    assert (piped["added"], piped["errors"]) == (unpacked["added"], unpacked["errors"]) == (7, [])
    assert run("export", "-", "--memory", tmp_path / "unpacked").stdout_bytes == whole
    packed.write_bytes(gzip.compress(whole + b"no record\n"))
    assert f"{packed}: line" in run("import", packed, "--memory", tmp_path / "unpacked", code=1).stderr


def test_what_cannot_be_imported_as_it_is_says_what_to_do_and_makes_no_memory(
    run: Run, tmp_path: Path, memory: Path
) -> None:
    (tmp_path / "cut.jsonl.gz").write_bytes(gzip.compress(b'{"cuetrail": 1}\n' * 9_000)[:40])
    assert "damaged" in run("import", tmp_path / "cut.jsonl.gz", code=1).stderr
    (tmp_path / "export.zip").write_bytes(b"PK\x03\x04 and more")
    assert "damaged" in run("import", tmp_path / "export.zip", code=1).stderr
    chats = '[{"mapping": {}, "create_time": 1, "title": "t"}]'
    assert "give their path" in run("import", "-", input=chats, code=2).stderr
    assert not memory.exists()


def test_a_dry_run_of_an_archive_counts_and_makes_no_memory(run: Run, tmp_path: Path, memory: Path) -> None:
    file = write_zip(tmp_path / "chatgpt.zip", samples.CHATGPT_FILES)
    said = run("import", file, "--dry-run").stdout
    assert "dry run, nothing was written: 2 nodes" in said
    assert "messages (2), conversations (1)" in said
    assert "tool outputs (1)" in said
    assert not memory.exists()
    assert json.loads(run("import", file, "--json").stdout)["read"] == {"conversations": 1, "messages": 2}


def test_import_reports_each_line_to_a_file_or_to_standard_output(run: Run, tmp_path: Path) -> None:
    run("add", "one", "--id", "a")
    run("export", tmp_path / "all.jsonl")
    run("import", tmp_path / "all.jsonl", "--report", tmp_path / "report.jsonl", "--memory", tmp_path / "other")
    [line] = map(json.loads, (tmp_path / "report.jsonl").read_text().splitlines())
    assert (line["line"], line["id"], line["result"]) == (2, "a", "added")
    again = run("import", tmp_path / "all.jsonl", "--report", "-", "--quiet", "--memory", tmp_path / "other").stdout
    assert json.loads(again)["result"] == "unchanged"


def test_import_names_records_it_cannot_take(run: Run, tmp_path: Path) -> None:
    run("add", "one")
    file = tmp_path / "all.jsonl"
    run("export", file)
    file.write_text(file.read_text() + "not a record\n")
    done = run("import", file, "--memory", tmp_path / "other", code=1)
    assert "1 failed" in done.stdout
    assert "line " in done.stderr


def test_import_of_something_unknown_is_an_error_and_makes_no_memory(
    run: Run, tmp_path: Path, vault: Path, memory: Path
) -> None:
    (tmp_path / "strange.bin").write_bytes(b"\x00\x01")
    problem = run("import", tmp_path / "strange.bin", code=2).stderr
    assert all(name in problem for name in transfer.IMPORTS)
    assert "does not exist" in run("import", tmp_path / "nowhere", code=2).stderr
    assert "is not in the format chatgpt" in run("import", vault, "--format", "chatgpt", code=1).stderr
    assert not memory.exists()


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


def test_reembed_with_none_keeps_a_memory_without_vectors(run: Run, ask: Ask) -> None:
    run("add", "A kitten sleeps on the sofa", "--embedder", "static")
    assert "dropped all vectors" in run("reembed", "--embedder", "none").stdout
    run("add", "A cat sleeps on the mat", "--embedder", "static")
    assert (ask("stats")["vectors"], ask("stats")["embedder"]) == (0, "none")
    assert "--embedder static" in run("reembed", code=2).stderr
    assert ask("reembed", "--embedder", "static")["vectors"] == 2


def test_another_embedder_is_refused_where_vectors_matter_and_only_there(run: Run) -> None:
    run("add", "one", "--id", "A", "--embedder", "static")
    assert "cuetrail reembed" in run("recall", "one", "--embedder", OTHER, code=1).stderr
    for verb in (["stats"], ["get", "A"], ["doctor"], ["link", "A", "A"]):
        run(*verb, "--embedder", OTHER)


# --- the embedder of a memory


def test_a_memory_remembers_the_embedder_it_was_made_with(
    run: Run, ask: Ask, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CUETRAIL_EMBEDDER")
    assert "later commands use the embedder none" in run("add", "one", "--embedder", "none").stderr
    assert (memory / "cuetrail.toml").read_text() == 'embedder = "none"\n'
    run("add", "two")
    assert ask("stats")["vectors"] == 0


def test_a_change_over_keeps_the_other_settings(
    run: Run, ask: Ask, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CUETRAIL_EMBEDDER")
    memory.mkdir()
    settings = memory / "cuetrail.toml"
    settings.write_text('# mine\nuser = "ann"\nembedder = "none" # for now\n')
    run("add", "one")
    assert ask("reembed", "--embedder", "static")["vectors"] == 1
    assert settings.read_text() == '# mine\nuser = "ann"\nembedder = "static"\n'
    assert ask("recall", "one")["hits"][0]["why"]["found_by"] == ["text", "vector"]
    before = settings.stat().st_mtime_ns
    run("reembed", "--embedder", "static")
    assert settings.stat().st_mtime_ns == before


def test_the_default_embedder_needs_no_settings(run: Run, memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUETRAIL_EMBEDDER")
    run("add", "one", "--embedder", "static")
    assert not (memory / "cuetrail.toml").exists()


def test_settings_nobody_can_change_say_what_to_write(memory: Path) -> None:
    memory.mkdir()
    (memory / "cuetrail.toml").write_text('user = """\nembedder = "a"\n"""\n')
    with pytest.raises(InputError, match='write embedder = "fastembed" into it'):
        config.keep_embedder(str(memory), "fastembed")
    assert config.load_settings(str(memory)).embedder == "static"


def test_a_model_folder_means_the_same_from_anywhere(memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.mkdir()
    monkeypatch.chdir(memory)
    config.keep_embedder(str(memory), "onnx:models/small")
    assert config.load_settings(str(memory)).embedder == f"onnx:{memory}/models/small"


def test_another_embedder_is_refused_with_every_place_where_it_is_named(run: Run) -> None:
    run("add", "one", "--id", "A", "--embedder", "static")
    problem = run("recall", "one", "--embedder", OTHER, code=1).stderr
    assert all(place in problem for place in ("--embedder", "CUETRAIL_EMBEDDER", "cuetrail.toml", "cuetrail reembed"))


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
def test_completion_prints_a_script(run: Run, ask: Ask, shell: str) -> None:
    script = run("completion", shell).stdout
    assert "_CUETRAIL_COMPLETE" in script
    assert ask("completion", shell) == {"shell": shell, "script": script.removesuffix("\n")}


def test_the_shell_completes_verbs(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_CUETRAIL_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "cuetrail re")
    monkeypatch.setenv("COMP_CWORD", "1")
    offered = {line.split(",")[1] for line in run().stdout.splitlines()}
    assert offered == {"recall", "restore", "reembed", "relate"}
