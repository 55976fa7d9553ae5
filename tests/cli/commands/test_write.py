"""The commands add, ingest, link, fact and forget."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

Run = Callable[..., Result]
Ask = Callable[..., Any]


def test_an_added_text_is_recalled(run: Run) -> None:
    assert run("add", "The antenna stands on the lee side").stdout.startswith("remembered ")
    assert "lee side" in run("recall", "where", "is", "the", "antenna").stdout


def test_add_keeps_everything_it_is_given(ask: Ask) -> None:
    node = ask(
        "add", "She repairs radios", "--id", "I", "--kind", "person", "--name", "Ines Okafor", "--alias", "Ines",
        "--tag", "#Radio", "--tag", "team", "--bucket", "work", "--source", "people.md", "--at", "2025-02-20",
        "--prop", "role=hardware", "--prop", "formula=a=b",
    )  # fmt: skip
    assert (node["id"], node["kind"], node["name"], node["aliases"]) == ("I", "person", "Ines Okafor", ["Ines"])
    assert (node["tags"], node["buckets"], node["source"]) == (["radio", "team"], ["work"], "people.md")
    assert (node["at"], node["props"]) == (1740009600000, {"role": "hardware", "formula": "a=b"})


def test_add_reads_standard_input(ask: Ask) -> None:
    assert ask("add", "-", input="Grüße aus Tromsø\r\n")["text"] == "Grüße aus Tromsø\n"


def test_quiet_add_prints_the_id_and_nothing_else(run: Run) -> None:
    done = run("add", "a text", "--id", "A", "--quiet")
    assert (done.stdout, done.stderr) == ("A\n", "")


def test_the_first_thing_added_says_that_a_memory_was_made(run: Run, memory: Path) -> None:
    assert run("add", "one").stderr == f"cuetrail: made a new memory in {memory}\n"
    assert run("add", "two").stderr == ""


def test_nothing_to_add_is_wrong_use(run: Run) -> None:
    assert "give a text or a name" in run("add", code=2).stderr


def test_a_chat_is_added_from_a_file_and_from_standard_input(run: Run, ask: Ask, tmp_path: Path) -> None:
    messages = [{"role": "user", "content": "I live in Oslo."}, {"role": "system", "content": "Be kind."}]
    file = tmp_path / "talk.json"
    file.write_text(json.dumps(messages))
    done = run("chat", file, "--source", "talk", "--at", "yesterday")
    assert done.stdout == "1 message added, 0 known, 1 fact read\n"
    assert "message 2 (system)" in done.stderr
    lines = "\n".join(json.dumps({"role": "user", "content": text}) for text in ("I live in Oslo.", "It rains there."))
    report = ask("chat", "-", "--source", "talk", input=lines)
    assert (report["added"], report["known"]) == (1, 1)
    assert ask("chat", "-", "--source", "talk", input=json.dumps({"messages": messages}))["added"] == 0
    for wrong in ("", "hello", "{}", '[{"messages": []}]'):
        assert "is no list of messages" in run("chat", "-", "--source", "talk", input=wrong, code=2).stderr
    assert "does not exist" in run("chat", tmp_path / "none.json", "--source", "talk", code=1).stderr


def test_a_dry_run_of_forgetting_shows_what_would_go(run: Run, ask: Ask) -> None:
    run("add", "The mast is made of ash.", "--id", "a")
    run("add", "The mast is made of ash.", "--id", "b", "--source", "log.md")
    assert set(ask("forget", "a", "--dry-run")["would_forget"]) == {"a", "b"}
    assert "would forget 2 memories:" in run("forget", "--everything", "--dry-run").stdout
    assert "--everything" in run("forget", code=2).stderr
    assert "one or the other" in run("forget", "a", "--everything", "--yes", code=2).stderr
    assert set(ask("forget", "--everything", "--yes")["forgotten"]) == {"a", "b"}


def test_memories_are_filtered_by_their_properties(run: Run, ask: Ask) -> None:
    for project in "xy":
        run("add", f"The mast of {project} is made of ash.", "--id", project, "--prop", f"project={project}")
    assert [hit["node"]["id"] for hit in ask("recall", "mast", "--prop", "project=x")["hits"]] == ["x"]
    assert ask("edit", "x", "--kind", "decision")["kind"] == "decision"


@pytest.mark.parametrize(
    ("option", "value", "hint"),
    [("--at", "someday", "2025-03-04"), ("--at", "2025-02-30", "2025-03-04"), ("--prop", "role", "name=text")],
)
def test_a_value_that_cannot_be_read_is_wrong_use_and_says_what_to_write(
    run: Run, option: str, value: str, hint: str
) -> None:
    assert hint in run("add", "a text", option, value, code=2).stderr


@pytest.mark.parametrize("at", ["2025-03-04T01:30+01:30", "2025-03-04 00:00", "1741046400000"])
def test_a_time_is_an_iso_time_or_milliseconds(ask: Ask, at: str) -> None:
    assert ask("add", "a text", "--at", at)["at"] == 1741046400000


# --- ingest


def test_ingest_takes_a_folder_and_skips_what_is_unchanged(run: Run, ask: Ask, vault: Path) -> None:
    assert run("ingest", vault).stdout.startswith("2 files read: ")
    assert ask("ingest", vault)["unchanged_files"] == 2
    assert "shrinks" in run("recall", "connector").stdout


def test_ingest_sums_up_several_paths(ask: Ask, vault: Path, tmp_path: Path) -> None:
    other = tmp_path / "elsewhere" / "note.txt"
    other.parent.mkdir()
    other.write_text("A note from elsewhere.")
    report = ask("ingest", vault, other)
    assert (report["files"], report["errors"]) == (3, [])


def test_ingest_reads_standard_input_in_a_given_format(ask: Ask) -> None:
    page = "<html><body><p>Birds fly south.</p></body></html>"
    assert ask("ingest", "-", "--format", "html", "--source", "birds.html", input=page)["added"] == 1
    (hit,) = ask("recall", "birds", "--kind", "atom")["hits"]
    assert (hit["node"]["text"], hit["node"]["source"]) == ("Birds fly south.", "birds.html")


def test_ingest_puts_things_into_a_bucket_and_marks_where_they_come_from(ask: Ask, vault: Path) -> None:
    ask("ingest", vault, "--bucket", "birds", "--provenance", "external")
    node = ask("get", "Connector")["node"]
    assert (node["buckets"], node["provenance"]) == (["birds"], "external")


def test_a_file_that_cannot_be_read_is_named_and_the_others_are_taken(run: Run, vault: Path) -> None:
    (vault / "broken.txt").write_bytes(bytes(range(32)) * 9)
    done = run("ingest", vault, code=1)
    assert "2 files read, 1 file failed" in done.stdout
    assert "cuetrail: vault/broken.txt" in done.stderr


def test_the_first_twenty_failures_are_listed_and_json_lists_all(run: Run, vault: Path) -> None:
    for number in range(23):
        (vault / f"broken{number:02}.txt").write_bytes(bytes(range(32)) * 9)
    lines = run("ingest", vault, "--quiet", code=1).stderr.splitlines()
    assert len(lines) == 21
    assert "and 3 more" in lines[-1]
    assert len(json.loads(run("ingest", vault, "--json", code=1).stdout)["errors"]) == 23


def test_a_path_that_is_not_there_is_wrong_use_but_does_not_stop_the_others(run: Run, vault: Path) -> None:
    assert run("ingest", "nowhere", code=2).stderr.splitlines()[-1].startswith("cuetrail: there is no file")
    done = run("ingest", "nowhere", vault, code=1)
    assert "2 files read, 1 file failed" in done.stdout
    assert "nowhere" in done.stderr


def test_files_above_the_size_limit_are_left_out(run: Run, vault: Path) -> None:
    (vault / "big.txt").write_text("word " * 1000)
    assert "--max-size" in run("ingest", vault, "--max-size", "1.5kB", code=1).stderr
    run("ingest", vault, "--max-size", "1 MB")
    assert "200MB" in run("ingest", vault, "--max-size", "large", code=2).stderr
    assert "--max-size" in run("ingest", "-", "--max-size", "3", input="four", code=2).stderr
    run("ingest", "-", vault, "--max-size", "100TB", input="four")


@pytest.mark.skipif(sys.platform != "linux", reason="needs a file system that takes any name")
def test_a_file_whose_name_is_no_text_is_named_and_the_others_are_taken(run: Run, vault: Path) -> None:
    (vault / os.fsdecode(b"caf\xe9.md")).write_text("About coffee.")
    done = run("ingest", vault, code=1)
    assert "2 files read, 1 file failed" in done.stdout
    assert "not UTF-8. Rename it" in done.stderr
    assert "rename it" in run("ingest", vault / os.fsdecode(b"caf\xe9.md"), code=2).stderr


def test_a_typed_text_that_is_not_utf8_keeps_its_letters(ask: Ask) -> None:
    assert ask("add", os.fsdecode("café".encode("latin-1")))["text"] == "café"


def test_binary_standard_input_is_refused(run: Run) -> None:
    assert "binary" in run("ingest", "-", input=bytes(range(32)) * 100, code=1).stderr


@pytest.mark.parametrize("wrong", [["a", "b", "--watch"], ["-", "--watch"], ["a", "--source", "x"], []])
def test_options_of_ingest_that_do_not_go_together_are_wrong_use(run: Run, wrong: list[str], memory: Path) -> None:
    run("ingest", *wrong, code=2)
    assert not memory.exists()


# --- link and fact


def test_link_joins_two_nodes_by_name(run: Run, ask: Ask) -> None:
    run("add", "--name", "Ines", "--kind", "person")
    run("add", "--name", "Cold connector")
    edge = ask(
        "link", "ines", "cold connector", "--weight", ".9", "--tag", "Radio", "--kind", "found", "--text", "she did",
        "--type", "work", "--attitude", "4", "--proximity", "2",
    )  # fmt: skip
    assert (edge["weight"], edge["tags"], edge["kind"], edge["text"]) == (0.9, ["radio"], "found", "she did")
    assert (edge["type"], edge["attitude"], edge["proximity"]) == ("work", 4, 2)
    assert "0.900 found" in run("get", "Ines").stdout


def test_unlink_takes_a_link_away_and_leaves_its_nodes(run: Run, ask: Ask) -> None:
    for id_ in ("a", "b"):
        run("add", f"text {id_}", "--id", id_)
    edge = ask("link", "a", "b")["id"]
    assert ask("get", "a")["neighbours"][0]["edge"] == edge
    assert ask("unlink", edge) == {"unlinked": [edge]}
    assert ask("get", "a")["neighbours"] == []
    assert "there is no edge" in run("unlink", edge, code=2).stderr


@pytest.mark.parametrize("wrong", [["a", "nobody"], ["a", "a", "--weight", "2"], ["a", "a", "--attitude", "6"]])
def test_a_link_that_cannot_be_is_wrong_use(run: Run, wrong: list[str]) -> None:
    run("add", "a text", "--id", "a")
    assert run("link", *wrong, code=2).stderr.startswith("cuetrail: ")


def test_fact_states_something_of_a_new_subject(run: Run, ask: Ask) -> None:
    fact = ask("fact", "Ines", "repairs", "ship radios", "--confidence", ".8", "--source", "chat")
    assert (fact["predicate"], fact["value"], fact["confidence"], fact["source"]) == (
        "repairs",
        "ship radios",
        0.8,
        "chat",
    )
    assert "repairs ship radios  (0.80, staged)" in run("get", "Ines").stdout


# --- forget


def test_forgetting_needs_a_yes_where_nobody_can_be_asked(run: Run) -> None:
    run("add", "a secret", "--id", "A")
    assert "add --yes" in run("forget", "A", code=2).stderr
    assert run("forget", "A", "--yes").stdout == "forgot 1 memory\n"
    assert "there is no node" in run("get", "A", code=2).stderr


def test_what_was_forgotten_comes_back_only_when_allowed(run: Run) -> None:
    run("add", "a secret", "--id", "A")
    run("forget", "A", "--yes")
    assert "--allow-again" in run("add", "a secret", "--id", "A", code=2).stderr
    run("add", "a secret", "--id", "A", "--allow-again")
    assert "a secret" in run("get", "A").stdout


def test_a_whole_file_can_be_forgotten(ask: Ask, run: Run, vault: Path) -> None:
    run("ingest", vault)
    assert len(ask("forget", "--source", "vault/Receiver.md", "--yes")["forgotten"]) >= 1
    assert not ask("recall", "frost")["answerable"]
    assert "nothing in this scope" in run("forget", "--source", "other.md", "--yes", code=2).stderr


def test_forgetting_nothing_is_wrong_use(run: Run) -> None:
    assert "--source" in run("forget", "--yes", code=2).stderr


def test_copies_of_the_forgotten_and_what_stays_elsewhere_are_told(ask: Ask, run: Run, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    for number in range(3):
        (notes / f"{number}.md").write_text(f"Thing number {number} was discussed.\n\n---\n\nThanks for coming.")
    (notes / "diary.md").write_text("# Diary\n\nTurnips are bad.\n\n---\n\nThanks for coming.")
    (notes / "copy.md").write_text("Turnips are bad!\n\n---\n\nAnother paragraph.")
    run("ingest", notes)
    told = run("forget", "Diary", "--yes")
    assert told.stdout == "forgot 4 memories\n"
    assert "1 copy of it elsewhere: notes/copy.md" in told.stderr
    assert 'keep it: "Thanks for coming."' in told.stderr
    (notes / "new.md").write_text("Turnips are bad. Carrots are good.")
    told = run("ingest", notes)
    assert "1 without forgotten sentences" in told.stdout
    assert "left out what was forgotten: notes/diary.md, notes/new.md" in told.stderr
    assert ask("ingest", notes)["left_out"] == ["notes/diary.md"]


def test_a_name_that_is_shared_once_its_note_is_forgotten_has_a_vector(ask: Ask, run: Run, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "Beta.md").write_text("The body of it.")
    (notes / "note.md").write_text("First [[Beta]] then.\n\n---\n\nThen [[Beta]] again.")
    run("ingest", notes, "--embedder", "static")
    run("forget", "--source", "notes/Beta.md", "--yes", "--embedder", "static")
    stats = ask("stats")
    assert ask("get", "Beta")["node"]["kind"] == "entity"
    assert stats["nodes"] == stats["vectors"]


def test_an_embedder_that_cannot_be_loaded_keeps_nobody_from_forgetting(run: Run) -> None:
    run("add", "a secret", "--id", "A", "--embedder", "static")
    told = run("forget", "A", "--yes", "--embedder", "onnx:nowhere")
    assert (told.stdout, "reembed" in told.stderr) == ("forgot 1 memory\n", True)


def test_an_add_of_nothing_makes_no_memory(run: Run, memory: Path) -> None:
    assert "nothing to remember" in run("add", code=2).stderr
    assert not memory.exists()


# --- scope


def test_private_memories_are_seen_by_their_user_and_shared_ones_by_the_team(run: Run) -> None:
    run("add", "private", "--id", "P", "--user", "anna")
    run("add", "shared", "--id", "S", "--user", "anna", "--team", "birds", "--share", "birds")
    run("get", "P", "--user", "ben", code=2)
    assert "shared" in run("get", "S", "--user", "ben", "--team", "cats", "--team", "birds").stdout
    run("get", "S", "--user", "ben", "--team", "birds", "--tenant", "other", code=2)


def test_sharing_with_a_team_one_is_not_in_is_wrong_use(run: Run) -> None:
    assert "--team birds, CUETRAIL_TEAMS" in run("add", "a text", "--share", "birds", code=2).stderr


def test_what_to_forget_may_be_given_by_the_path_of_its_file(run: Run, tmp_path: Path) -> None:
    note = tmp_path / "notes" / "house" / "Kite.md"
    note.parent.mkdir(parents=True)
    note.write_text("The kite flies over the lighthouse every evening.")
    run("ingest", tmp_path / "notes")
    assert "did you mean 'notes/house/Kite.md'?" in run("forget", "--source", "house/Kite.md", "--yes", code=2).stderr
    assert "would forget" in run("forget", "--source", note, "--dry-run").stdout
    run("forget", "--source", note, "--yes")
    assert run("recall", "kite").stdout == ""
