"""The commands recall, get and stats, and behaviour that all commands share."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

import cuetrail
from cuetrail.memory import Memory

Run = Callable[..., Result]
Ask = Callable[..., Any]


NOTHING = "nothing is remembered on this; looked for"


def test_recall_says_what_it_looked_for_when_nothing_is_there(run: Run, ask: Ask) -> None:
    run("add", "The antenna stands on the lee side")
    done = run("recall", "quantum", "chess")
    assert (done.stdout, done.stderr) == ("", f"cuetrail: {NOTHING}: quantum, chess (--fuzzy forgives typos)\n")
    assert run("recall", "quantum", "--fuzzy").stderr == f"cuetrail: {NOTHING}: quantum\n"
    assert run("recall", "quantum", "--quiet").output == ""
    answer = ask("recall", "quantum", "chess")
    assert (answer["answerable"], answer["looked_for"], answer["hits"]) == (False, ["quantum", "chess"], [])


@pytest.mark.parametrize(("now", "first"), [("2023-11-14", "autumn"), ("2023-05-18", "spring")])
def test_a_cue_may_be_asked_at_another_time(run: Run, ask: Ask, now: str, first: str) -> None:
    run("add", "We met the band", "--id", "spring", "--at", "2023-05-10")
    run("add", "We met the band again", "--id", "autumn", "--at", "2023-11-08")
    hits = ask("recall", "When did we meet the band last week?", "--now", now)["hits"]
    assert hits[0]["node"]["id"] == first


@pytest.mark.parametrize("cue", ["antena", "recever antennna"])
def test_fuzzy_forgives_typos(run: Run, ask: Ask, cue: str) -> None:
    run("add", "The antenna stands on the lee side", "--id", "A")
    assert not ask("recall", cue)["answerable"]
    assert [hit["node"]["id"] for hit in ask("recall", cue, "--fuzzy")["hits"]] == ["A"]


def test_a_star_stands_for_the_rest_of_the_last_word(run: Run, ask: Ask) -> None:
    run("add", "The antenna stands on the lee side", "--id", "A")
    run("add", "Ants walk along the wall", "--id", "B")
    found = [
        {hit["node"]["id"] for hit in ask("recall", *cue)["hits"]} for cue in (["ant*"], ["the", "anten*"], ["anten"])
    ]
    assert found == [{"A", "B"}, {"A"}, set()]


def test_recall_keeps_to_its_budget(run: Run, ask: Ask) -> None:
    for number in range(20):
        run("add", f"Antenna number {number} hears the birds that fly along the coast")
    assert len(ask("recall", "antenna", "--budget-chars", "150")["text"]) <= 150
    assert len(ask("recall", "antenna", "--budget-tokens", "30")["text"]) <= 120
    assert len(ask("recall", "antenna", "--limit", "3")["hits"]) == 3
    small = run("recall", "antenna", "--budget-chars", "5")
    assert (small.stdout, "budget is too small" in small.stderr) == ("", True)
    assert "not both" in run("recall", "x", "--budget-chars", "5", "--budget-tokens", "5", code=2).stderr


def test_recall_narrows_down_by_tag_bucket_kind_and_time(run: Run, ask: Ask) -> None:
    run("add", "antenna one", "--id", "1", "--tag", "radio", "--bucket", "work", "--at", "2025-03-04T23:30")
    run("add", "antenna two", "--id", "2", "--kind", "idea", "--at", "2025-03-05")

    def found(*options: str) -> set[str]:
        return {hit["node"]["id"] for hit in ask("recall", "antenna", *options)["hits"]}

    assert found() == {"1", "2"}
    assert found("--tag", "Radio") == found("--bucket", "work") == found("--kind", "atom") == {"1"}
    assert found("--until", "2025-03-04") == {"1"}
    assert found("--since", "2025-03-05") == found("--kind", "idea") == {"2"}


def test_explain_draws_why_each_hit_is_there(run: Run) -> None:
    run("add", "The receiver falls silent in frost", "--tag", "fault", "--source", "notes/Receiver.md")
    drawn = run("recall", "receiver", "fault", "frost", "--explain").stdout
    assert drawn.startswith(" 1  Receiver  ")
    for part in ("“receiver fault frost”\n    └─ words → Receiver\n", "    notes/Receiver.md · id "):
        assert part in drawn
    assert "bm25" not in drawn
    assert "words, BM25 (bm25)" in run("recall", "receiver", "fault", "frost", "-v").stdout
    shown = drawn.split("· id ")[1].split()[0]
    assert "falls silent" in run("get", shown).stdout


def test_explain_says_which_hit_another_repeats(run: Run) -> None:
    run("add", "The long mast fell in the storm", "--id", "first", "--at", "2026-05-01")
    run("add", "In the storm the long mast fell", "--id", "second", "--at", "2026-05-01")
    drawn = run("recall", "the", "long", "mast", "--explain").stdout
    assert re.search(r"repeats “(The|In) [^”]+”, so it ranks below the others", drawn)


def test_explain_shows_words_and_meaning_with_an_embedder(run: Run) -> None:
    run("add", "A kitten sleeps on the sofa", "--embedder", "static")
    drawn = run("recall", "the kitten", "--verbose", "--embedder", "static").stdout
    assert "└─ words and meaning → A kitten sleeps" in drawn
    assert re.search(r"0\.\d+  meaning, cosine \(cosine\)", drawn)


def test_a_recall_counts_as_a_use_unless_told_otherwise(run: Run, memory: Path) -> None:
    def uses() -> int:
        with Memory(memory, embedder=None) as opened:
            node = opened.get("A")
            assert node is not None
            return node.life.accesses

    run("add", "antenna", "--id", "A")
    run("recall", "antenna", "--no-touch")
    assert uses() == 0
    run("recall", "antenna")
    assert uses() == 1


def test_get_shows_links_facts_and_history(run: Run, ask: Ask) -> None:
    run("add", "It stands on the roof", "--id", "A", "--name", "Antenna", "--tag", "radio")
    run("add", "It stands on the mast", "--id", "A", "--name", "Antenna", "--tag", "radio")
    run("add", "--name", "Mast", "--id", "M")
    run("link", "A", "M", "--weight", ".5", "--type", "support", "--text", "bolted on", "--proximity", "5")
    run("fact", "A", "stands on", "Mast")
    text = run("get", "antenna", "--history").stdout
    for part in ("#radio", "It stands on the mast", "→ 0.500 relates    Mast\n", "stands_on Mast", "on the roof"):
        assert part in text
    assert "(support) bolted on proximity 5\n" in text
    data = ask("get", "A", "--history")
    assert (data["neighbours"][0]["type"], data["neighbours"][0]["text"]) == ("support", "bolted on")
    assert (data["node"]["text"], data["degree"]) == ("It stands on the mast", 1)
    assert (data["neighbours"][0]["name"], data["facts"][0]["object"]) == ("Mast", "M")
    assert [version["text"] for version in data["history"]] == ["It stands on the roof"]
    assert "history" not in ask("get", "A")


def test_get_shows_plain_properties_and_leaves_the_others_to_json(run: Run, ask: Ask, memory: Path) -> None:
    with Memory(memory, embedder=None) as opened:
        opened.add("x", id="A", props={"role": "mast", "height": 12, "kept": {"by": ["others"]}})
    text = run("get", "A").stdout
    assert ("  role     mast" in text, "  height   12" in text, "kept" in text) == (True, True, False)
    assert ask("get", "A")["node"]["props"]["kept"] == {"by": ["others"]}


# --- which node is meant


def test_a_node_is_named_by_the_first_digits_of_its_id(run: Run, ask: Ask) -> None:
    id_ = ask("add", "The antenna stands on the lee side")["id"]
    other = ask("add", "Ants walk along the wall")["id"]
    for word in (id_[:6], id_[:12].upper(), id_[:-1]):
        assert ask("get", word)["node"]["id"] == id_
    edge = ask("link", id_[:6], other[:7])
    assert (edge["src"], edge["dst"]) == (id_, other)
    assert ask("fact", id_[:8], "holds", "still")["subject"] == id_
    assert ask("forget", id_[:6], "--yes")["forgotten"] == [id_]
    run("get", id_[:6], code=2)


def test_fewer_digits_or_the_beginning_of_a_chosen_id_name_nothing(run: Run, ask: Ask) -> None:
    id_ = ask("add", "The antenna stands on the lee side")["id"]
    run("add", "one", "--id", "decade-report")
    run("add", "two", "--id", "facade01")
    for word in (id_[:5], "decade", "decade-rep", "facade", ""):
        run("get", word, code=2)


def test_digits_that_begin_several_ids_list_them(run: Run) -> None:
    for last in "ab":
        run("add", f"text {last}", "--id", "0123456789abcdef0123456789abcde" + last)
    problem = run("forget", "012345", "--yes", code=2).stderr
    assert "begins several ids" in problem
    assert "text a" in problem
    assert "text b" in problem
    assert "text b" in run("get", "0123456789abcdef0123456789abcdeb").stdout


def test_an_exact_id_or_name_comes_before_the_beginning_of_another(run: Run, ask: Ask) -> None:
    id_ = ask("add", "The antenna stands on the lee side")["id"]
    run("add", "chosen", "--id", id_[:7])
    run("add", "named", "--name", id_[:8], "--id", "N")
    assert ask("get", id_[:7])["node"]["text"] == "chosen"
    assert ask("get", id_[:8])["node"]["text"] == "named"


@pytest.mark.parametrize("verb", [["get"], ["forget", "--yes"], ["link", "Receiver"]])
def test_a_mistyped_name_shows_what_comes_near_or_how_to_find_ids(run: Run, verb: list[str]) -> None:
    run("add", "--name", "Receiver", "--id", "R")
    assert "did you mean R (Receiver)?" in run(*verb, "Recever", code=2).stderr
    assert "`cuetrail recall WORDS --explain` shows the ids" in run(*verb, "zebra", code=2).stderr


def test_stats_counts(run: Run, ask: Ask, memory: Path) -> None:
    run("add", "one", "--bucket", "work")
    run("add", "--name", "Two", "--kind", "person")
    found = ask("stats")
    assert (found["nodes"], found["kinds"], found["memory"]) == (2, {"atom": 1, "person": 1}, str(memory))
    assert "nodes      2  (" in run("stats").stdout


# --- options everywhere


def test_shared_options_stand_before_and_after_the_verb(run: Run, tmp_path: Path) -> None:
    place = str(tmp_path / "other")
    run("--memory", place, "--json", "add", "one", "--id", "A")
    run("add", "two", "--id", "B", "--memory", place)
    assert json.loads(run("--json", "--memory", place, "stats").stdout)["nodes"] == 2
    assert json.loads(run("stats", "--memory", place, "--json").stdout)["nodes"] == 2


def test_the_verb_wins_where_an_option_is_given_twice(ask: Ask, run: Run) -> None:
    run("--user", "anna", "add", "one", "--user", "ben")
    assert (ask("stats", "--user", "anna")["nodes"], ask("stats", "--user", "ben")["nodes"]) == (0, 1)


@pytest.mark.parametrize("option", ["--memory", "--embedder", "--user", "--tenant", "--team", "--share"])
def test_an_option_that_is_empty_is_refused_and_not_passed_over(run: Run, option: str) -> None:
    run("add", "one")
    for arguments in ([option, "", "stats"], ["stats", option, ""]):
        assert "it is empty" in run(*arguments, code=2).stderr


@pytest.mark.parametrize("arguments", [["--version"], ["recall", "--version"]])
def test_version_is_told_anywhere(run: Run, arguments: list[str]) -> None:
    assert run(*arguments).stdout == f"cuetrail {cuetrail.__version__}\n"


def test_a_note_cannot_drive_the_terminal(run: Run, ask: Ask) -> None:
    run("add", "antenna \x1b]0;owned\x07 \x1b[2J end", "--id", "A")
    assert "\x1b" not in run("get", "A").stdout
    assert "\x07" not in run("recall", "antenna").stdout
    assert "\x1b[2J" in ask("get", "A")["node"]["text"]


# --- errors


def test_an_unknown_verb_is_wrong_use(run: Run) -> None:
    assert "No such command 'recal'. Did you mean 'recall'?" in run("recal", "x", code=2).stderr
    assert "Did you mean" not in run("zebra", code=2).stderr


def test_an_unknown_id_is_one_line_and_json_for_programs(run: Run) -> None:
    run("add", "one")
    lines = run("get", "nope", code=2).stderr.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("cuetrail: there is no node with the id or name 'nope'")
    for arguments in (["--json", "get", "nope"], ["get", "nope", "--json"]):
        done = run(*arguments, code=2)
        assert done.stdout == ""
        assert json.loads(done.stderr)["kind"] == "NotFound"


def test_wrong_use_is_json_for_programs_too(run: Run) -> None:
    problem = json.loads(run("recall", "x", "--limit", "many", "--json", code=2).stderr)
    assert "--limit" in problem["error"]


def test_debug_shows_where_an_error_comes_from(run: Run) -> None:
    run("add", "one")
    assert "Traceback" in run("get", "nope", "--debug", code=2).stderr
    assert "Traceback" not in run("get", "nope", code=2).stderr


def test_an_unknown_embedder_is_named_with_those_there_are(run: Run) -> None:
    run("add", "one")
    assert "static, auto, none, onnx:" in run("recall", "x", "--embedder", "gpt", code=1).stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["recall", "x"], ["stats"], ["get", "x"], ["link", "a", "b"], ["forget", "x", "--yes"], ["doctor"], ["reembed"],
        ["backup", "b.tar"], ["export", "-"],
    ],
)  # fmt: skip
def test_verbs_that_need_a_memory_say_that_there_is_none_and_make_none(
    run: Run, memory: Path, arguments: list[str]
) -> None:
    none = f"cuetrail: there is no memory at {memory}: make one with `cuetrail"
    assert run(*arguments, code=2).stderr == f"{none} add ...`\n"
    assert run(*arguments, "--memory", memory, code=2).stderr == f"{none} --memory {memory} add ...`\n"
    assert list(memory.parent.iterdir()) == []


def test_a_mistyped_memory_names_the_one_that_comes_near(run: Run, memory: Path) -> None:
    run("add", "one")
    typo = memory.with_name("memroy")
    assert f"Did you mean {memory}?" in run("stats", "--memory", typo, code=2).stderr
    assert "Did you mean" not in run("stats", "--memory", memory.with_name("other"), code=2).stderr
    assert not typo.exists()


def test_a_memory_in_the_home_of_an_unknown_user_is_wrong_use(run: Run) -> None:
    told = run("stats", "--memory", "~no-such-user/m", code=2).stderr
    assert "this machine has no such user; a folder of that name is ./~no-such-user/m" in told


def test_a_memory_that_lost_its_truth_is_damaged_and_not_missing(run: Run, memory: Path) -> None:
    run("add", "one")
    run("recall", "one")
    (memory / "memory.db").unlink()
    assert "damaged" in run("stats", code=3).stderr


def test_a_file_in_place_of_the_memory_is_a_clear_line(run: Run, memory: Path) -> None:
    memory.write_text("not a folder")
    (line,) = run("stats", code=3).stderr.splitlines()
    assert line.startswith(f"cuetrail: {memory} cannot be used")


def test_a_damaged_memory_is_exit_code_3_and_names_restore(run: Run, memory: Path) -> None:
    run("add", "one")
    (memory / "memory.db").write_bytes(b"garbage" * 1000)
    assert "cuetrail restore" in run("stats", code=3).stderr


def test_settings_that_cannot_be_read_are_wrong_use(run: Run, memory: Path) -> None:
    memory.mkdir()
    (memory / "cuetrail.toml").write_text("embedder = [")
    assert "cuetrail.toml" in run("stats", code=2).stderr


def test_the_present_home_leads_and_the_old_one_is_marked(run: Run, ask: Ask) -> None:
    run("add", "Ann lives in Berlin", "--id", "old")
    run("fact", "Ann", "lives_in", "Berlin")
    run("fact", "Ann", "lives_in", "Lisbon")
    shown = run("recall", "where", "does", "Ann", "live", "now?").stdout
    assert shown.startswith("Ann lives in Lisbon (since ")
    assert re.search(r"^\[superseded [\d-]+: lives in Lisbon\]\n> Ann lives in Berlin \[old\]$", shown, re.MULTILINE)
    found = ask("recall", "where does Ann live now?")
    assert [one["object"] for one in found["facts"]] == ["Lisbon"]
    assert found["hits"][0]["mark"].endswith("lives in Lisbon")
    explained = run("recall", "where does Ann live now?", "--explain").stdout
    assert explained.startswith("Facts\n  • Ann lives in Lisbon\n    since ")
    assert "fits “live”" in explained
    assert re.search(r"^    superseded [\d-]+: lives in Lisbon$", explained, re.MULTILINE)


def test_facts_without_any_text_are_shown(run: Run) -> None:
    run("fact", "Ann", "lives_in", "Lisbon")
    assert run("recall", "where does Ann live?").stdout.startswith("Ann lives in Lisbon (since ")
