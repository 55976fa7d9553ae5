"""The commands `fact` and `narrate`."""

from __future__ import annotations

from typing import Any

from tests.cli.conftest import Run

Ask = Any


def test_three_words_state_a_fact_as_add_does(run: Run, ask: Ask) -> None:
    assert ask("fact", "Ines", "repairs", "ship radios") == ask("fact", "add", "Ines", "repairs", "ship radios")
    assert [f["value"] for f in ask("fact", "list", "Ines")] == ["ship radios"]
    assert "repairs: ship radios  (0.90, confirmed, user_edit" in run("fact", "list", "ines").stdout


def test_a_new_value_makes_the_old_one_history(run: Run, ask: Ask) -> None:
    run("fact", "Ines", "lives_in", "Bergen", "--from", "2024-01-01")
    run("fact", "Ines", "lives_in", "Oslo", "--from", "2025-01-01")
    assert [f["value"] for f in ask("fact", "list", "Ines")] == ["Oslo"]
    assert [f["value"] for f in ask("fact", "list", "Ines", "--as-of", "2024-06-01")] == ["Bergen"]
    assert [f["status"] for f in ask("fact", "history", "Ines", "lives_in")] == ["superseded", "confirmed"]
    assert "until 2025-01-01" in run("fact", "history", "Ines").stdout
    told = run("fact", "Ines", "lives_in", "Rome", "--confidence", ".5", "--source", "conversation")
    assert "kept as history" in told.stderr


def test_a_fact_is_confirmed_and_retracted_by_its_first_digits(run: Run, ask: Ask) -> None:
    id_ = ask("fact", "Ines", "likes", "tea", "--source", "conversation")["id"]
    assert ask("fact", "confirm", id_[:8])["status"] == "confirmed"
    assert run("fact", "retract", id_[:8]).stdout == f"retracted {id_}: likes\n"
    assert ask("fact", "list", "Ines") == []
    assert "nothing of this holds; `cuetrail fact history Ines`" in run("fact", "list", "Ines").stderr
    assert "state it again" in run("fact", "confirm", id_, code=2).stderr
    assert "there is no fact 'abcdef12'" in run("fact", "retract", "abcdef12", code=2).stderr


def test_of_what_nothing_is_called_nothing_is_believed_and_that_is_no_error(run: Run, ask: Ask) -> None:
    run("add", "--name", "Ines Okafor", "--kind", "person")
    for verb in ("list", "history"):
        assert ask("fact", verb, "Marek Dvorak") == []
        told = run("fact", verb, "Ines")
        assert told.stdout == ""
        assert "nothing is stated of 'Ines', and nothing is called so; did you mean" in told.stderr
        assert "nothing is stated of 'Ines Okafor'\n" in run("fact", verb, "Ines Okafor").stderr


def test_what_was_superseded_holds_again_when_the_new_value_is_taken_back(run: Run, ask: Ask) -> None:
    run("fact", "Ines", "lives_in", "Oslo", "--from", "2024-01-01")
    rome = ask("fact", "Ines", "lives_in", "Rome", "--from", "2025-01-01")["id"]
    run("fact", "Ines", "lives_in", "Bonn", "--from", "2025-03-01", "--until", "2025-04-01")
    at = ("2024-06-01", "2025-02-01", "2025-03-15", "2025-05-01")
    assert [ask("fact", "list", "Ines", "--as-of", day)[0]["value"] for day in at] == ["Oslo", "Rome", "Bonn", "Rome"]
    run("fact", "retract", rome)
    assert [f["value"] for f in ask("fact", "list", "Ines")] == ["Oslo"]


def test_a_predicate_is_declared_to_have_one_value(run: Run, ask: Ask) -> None:
    assert ask("fact", "add", "Ines", "works at", "Mast & Co")["predicate"] == "works_at"
    assert ask("fact", "declare", "works at") == {"predicate": "works_at", "single": True}
    run("fact", "Ines", "works at", "Skarholm")
    assert [f["value"] for f in ask("fact", "list", "Ines")] == ["Skarholm"]
    assert run("fact", "declare", "works_at", "--many").stdout == "works_at has any number of values\n"


def test_narrate_tells_what_is_believed_and_explains_it(run: Run, ask: Ask) -> None:
    run("fact", "Ines Okafor", "repairs", "ship radios")
    assert (
        run("narrate", "what", "does", "Ines", "do", "--no-touch").stdout
        == "### 💡 CONTEXT: Ines Okafor\n- repairs: ship radios\n"
    )
    assert "2.1600 = 0.9 confidence * 2 source" in run("narrate", "ines", "--explain", "--no-touch").stdout
    none = ask("narrate", "ines", "--max-facts", "0")
    assert (none["text"], none["answerable"], none["degraded"]) == ("", False, True)
    empty = run("narrate", "the", "weather")
    assert (empty.stdout, "there are no current facts about this" in empty.stderr) == ("", True)


def test_narrate_stays_within_a_budget(run: Run) -> None:
    run("fact", "Ines", "repairs", "ship radios")
    small = run("narrate", "ines", "--budget-chars", "10")
    assert (small.stdout, "no current facts" in small.stderr) == ("", False)
    assert "the budget is too small: 1 fact is believed, and to tell one takes at least 42 characters" in small.stderr
    assert run("narrate", "ines", "--budget-chars", "42").stdout.count("\n") == 2
    assert "x>=1" in run("narrate", "ines", "--hops", "0", code=2).stderr
    run("narrate", "ines", "--budget-chars", "10", "--budget-tokens", "3", code=2)


def test_a_subject_may_be_given_without_its_accents_and_an_unclear_one_is_asked_back(run: Run, ask: Ask) -> None:
    assert "which is new" in run("fact", "Café Málaga", "serves", "tea").stdout
    assert "which is new" not in run("fact", "Cafe Malaga", "serves", "milk").stdout
    assert [f["value"] for f in ask("fact", "list", "cafe malaga")] == ["milk", "tea"]
    assert len(ask("fact", "history", "CAFE MALAGA")) == 2
    for kind in ("planet", "person"):
        run("add", "--name", "Mercury", "--kind", kind)
    assert "give the id, or the kind" in run("fact", "Mercury", "sings", "opera", code=2).stderr
    run("fact", "Mercury", "sings", "opera", "--kind", "person")
    assert "give the id, or the kind" in run("fact", "list", "Mercury", code=2).stderr
    assert "--until" in run("fact", "Ines", "visited", "Rome", "--until", "2020-01-01", code=2).stderr
