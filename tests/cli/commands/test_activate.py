"""The command `activate`."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import Result

Run = Callable[..., Result]
Ask = Callable[..., Any]


@pytest.fixture
def sky(run: Run) -> None:
    """A kite that leads to a string and from there to a hand, and to a cloud; a stone leads nowhere."""
    for id_, text in (("kite", "The kite flies"), ("string", "A string holds"), ("hand", "A hand"), ("cloud", "Grey")):
        run("add", text, "--id", id_)
    run("add", "A stone", "--id", "stone")
    run("link", "kite", "string", "--weight", "0.9", "--tag", "hold")
    run("link", "hand", "string", "--weight", "0.8", "--tag", "hold", "--tag", "grip")
    run("link", "kite", "cloud", "--weight", "0.5")


def test_paths_are_told_as_lines(run: Run, sky: None) -> None:
    assert run("activate", "kite", "--query-tag", "hold").stdout == (
        "[kite] The kite flies -relates 0.178-> [string] A string holds <-relates 0.058- [hand] A hand\n"
        "[kite] -relates 0.015-> [cloud] Grey\n"
    )


def test_the_tree_of_paths_is_drawn_with_energies(run: Run, sky: None) -> None:
    drawn = run("activate", "--seed", "kite=0.9", "--query-tag", "hold", "--explain").stdout
    assert drawn == (
        "kite  The kite flies  0.900  about #hold\n"
        "├─ 0.573 → string  A string holds  relates 0.9 #hold\n"
        "│  └─ 0.186 ← hand  A hand  relates 0.8 #hold #grip\n"
        "└─ 0.048 → cloud  Grey  relates 0.5\n"
    )


def test_json_has_every_hop_and_what_it_comes_to(ask: Ask, sky: None) -> None:
    found = ask("activate", "--seed", "kite=0.9", "--seed", "stone", "--depth", "1")
    assert [(one["seed"], one["reason"], one["depth"]) for one in found["activations"]] == [
        ("stone", "complete", 0),
        ("kite", "complete", 1),
    ]
    hop = found["activations"][1]["paths"][0][0]
    assert (hop["src"], hop["dst"], hop["weight"], hop["tags"], hop["outgoing"]) == (
        "kite",
        "string",
        0.9,
        ["hold"],
        True,
    )
    assert [(one["id"], one["from"]) for one in found["merged"]] == [
        ("stone", ["stone"]), ("kite", ["kite"]), ("string", ["kite"]), ("cloud", ["kite"]),
    ]  # fmt: skip


def test_a_graph_to_draw_has_nodes_and_edges_as_they_run(run: Run, sky: None) -> None:
    graph = json.loads(run("activate", "--seed", "string", "--as", "graph").stdout)
    first = graph["nodes"][0]
    assert (first["id"], first["label"], first["seed"]) == ("string", "A string holds", True)
    ends = {(edge["source"], edge["target"]) for edge in graph["edges"]}
    assert ends == {("kite", "string"), ("hand", "string"), ("kite", "cloud")}


def test_a_statement_for_neo4j_browser_finds_what_is_there_and_writes_nothing(run: Run, sky: None) -> None:
    run("add", "He left", "--id", 'it\'s "x"')
    run("link", "stone", 'it\'s "x"', "--weight", "0.5", "--kind", "asks about")
    told = run("activate", "--seed", "stone", "--as", "cypher")
    lines = told.stdout.splitlines()
    assert lines[0] == 'MATCH (p:CuePlace) WHERE p.tenant = "default" AND (p.owner = "me" OR p.team IN [])'
    assert lines[3].startswith('  ["stone", ')
    assert lines[3].endswith(', "it\'s \\"x\\"", 0.5]')
    assert lines[-1] == "RETURN a, e, b, hop[3] AS energy ORDER BY energy DESC"
    assert not {"CREATE", "MERGE", "SET", "DELETE"} & set(told.stdout.split())
    assert "`cuetrail copy` it there" in told.stderr


def test_where_energy_comes_nowhere_the_person_is_told(run: Run, sky: None) -> None:
    assert "no link passed on energy" in run("activate", "stone").stderr
    assert "nowhere to start" in run("activate", "unheard").stderr
    assert run("activate", "--seed", "kite", "--depth", "0").stdout == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give a CUE, or --seed ID"),
        (["kite", "--seed", "kite"], "give a CUE or --seed, not both"),
        (["kite", "--explain", "--as", "graph"], "--explain or --as, not both"),
        (["--seed", "nobody"], "there is no node"),
        (["--seed", "kite=2"], "must be above 0 and at most 1"),
        (["kite", "--depth", "-1"], "--depth"),
        (["kite", "--tag-floor", "1.5"], "--tag-floor"),
    ],
)
def test_wrong_use_says_what_to_do(run: Run, sky: None, arguments: list[str], message: str) -> None:
    assert message in run("activate", *arguments, code=2).stderr


def test_a_recall_by_energy_explains_its_paths(run: Run, sky: None) -> None:
    lines = run("recall", "kite", "--recipe", "energy", "--explain").stdout
    assert "└─ words → The kite flies\n       └─ is related to → A string holds" in lines
    assert "found by a link from another result" in lines


def test_of_no_seeds_nothing_comes(run: Run, ask: Ask, sky: None) -> None:
    assert ask("activate", "kite", "--limit", "0")["activations"] == []
    assert "nowhere to start" in run("activate", "kite", "--limit", "0").stderr
