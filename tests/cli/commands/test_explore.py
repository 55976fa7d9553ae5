"""The commands of exploring."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Run


@pytest.fixture
def people(run: Run) -> Run:
    for name in ("Ada", "Charles", "Mary"):
        run("add", "--name", name, "--id", name, "--kind", "person")
    run("link", "Ada", "Charles", "--weight", "0.9")
    run("link", "Charles", "Mary", "--weight", "0.5")
    return run


def test_traverse_prints_what_is_near(people: Run) -> None:
    lines = people("traverse", "Ada", "--hops", "2").stdout.splitlines()
    assert [line.split()[:2] for line in lines] == [["1", "Charles"], ["2", "Mary"]]


def test_traverse_by_rank_as_json(people: Run) -> None:
    found = json.loads(people("traverse", "Ada", "--rank", "--json").stdout)
    assert {one["node"]["id"] for one in found["arrivals"]} == {"Ada", "Charles", "Mary"}
    assert sum(one["score"] for one in found["arrivals"]) == pytest.approx(1)


def test_traverse_keeps_to_tags_buckets_and_what_is_trusted(run: Run) -> None:
    for name, more in (
        ("a", ()),
        ("b", ("--tag", "t")),
        ("c", ("--bucket", "x")),
        ("d", ("--provenance", "quarantine")),
    ):
        run("add", "--name", name, "--id", name, *more)
        if name != "a":
            run("link", "a", name)

    def near(*options: str) -> list[str]:
        return sorted(line.split()[1] for line in run("traverse", "a", *options).stdout.splitlines())

    assert near() == ["b", "c"]
    assert near("--tag", "t") == ["b"]
    assert near("--bucket", "x") == ["c"]
    assert near("--quarantined") == ["b", "c", "d"]


def test_a_start_that_is_not_there_is_told(people: Run) -> None:
    done = people("traverse", "Nobody", code=2)
    assert "there is no node with the id or name 'Nobody'" in done.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--rank", "--hops", "2"), "--hops counts links: leave out --rank, or say --depth"),
        (("--rank", "--limit", "2"), "--limit is of hops: leave out --rank, or say --top"),
        (("--depth", "5"), "--depth is of a random walk: say --rank with it"),
        (("--hops", "2", "--top", "3"), "--top is of a random walk: say --rank with it"),
    ],
)
def test_what_would_change_nothing_is_refused(people: Run, options: tuple[str, ...], said: str) -> None:
    assert said in people("traverse", "Ada", *options, code=2).stderr


def test_that_nothing_was_found_says_whether_anything_is_there(people: Run) -> None:
    people("add", "--name", "Lonely", "--kind", "person")
    assert "no link leads on from there" in people("traverse", "Lonely", "--hops", "2").stderr
    assert "no link leads from there to what you ask for" in people("traverse", "Ada", "--kind", "foo").stderr


def test_explore_prints_people_and_relationships(people: Run) -> None:
    people("add", "--name", "Lonely", "--kind", "person")
    told = people("explore", "--match", "Ada", "--explain").stdout
    assert "people" in told
    assert "Ada" in told
    assert "semantic 1.000" in told
    assert "Ada - relates - Charles" in told
    assert "Lonely" not in told


def test_a_relationship_is_found_by_what_was_said_or_noted_in_other_words(run: Run) -> None:
    for name in ("Ada", "Charles", "Mary"):
        run("add", "--name", name, "--id", name, "--kind", "person", "--embedder", "static")
    run("relate", "Ada", "Charles", "partner", "--text", "played the violin", "--embedder", "static")
    edge = run("relate", "Charles", "Mary", "--quiet", "--embedder", "static").stdout.strip()
    run("note", edge, "quarrelled over the price of petrol", "--embedder", "static")
    run("link", "Ada", "Mary", "--text", "share a flat by the sea", "--embedder", "static")

    def told(query: str) -> str:
        return run("explore", query, "--threshold", "0.25", "--embedder", "static").stdout.partition("relationships")[2]

    assert "Ada - partner - Charles  played the violin" in told("musical instruments")
    noted = told("argument about fuel costs").splitlines()
    assert "Charles - has_relationship_with - Mary" in noted[1]
    assert noted[2].strip() == "note: quarrelled over the price of petrol"
    assert "Ada - relates - Mary  share a flat by the sea" in told("an apartment on the coast")


def test_explore_as_json_has_every_part(people: Run) -> None:
    found = json.loads(people("explore", "--match", "Ada", "--json").stdout)
    assert found.keys() == {"meta", "semantic", "episodic", "artifacts"}
    assert [one["id"] for one in found["semantic"]["people"]] == ["Ada"]


def test_bounds_that_nothing_can_be_within_are_an_error(people: Run) -> None:
    for verb in ("traverse", "explore"):
        levels = people(verb, "Ada", "--min-attitude", "4", "--max-attitude", "2", code=2).stderr
        assert "min_attitude 4 (--min-attitude) is more than max_attitude 2 (--max-attitude)" in levels
        close = people(verb, "Ada", "--min-proximity", "4", "--max-proximity", "2", "--json", code=2)
        assert "min_proximity 4" in close.stderr + close.stdout
        times = people(verb, "Ada", "--since", "2025-03-05", "--until", "2025-03-04", code=2).stderr
        assert "since (--since) is later than until (--until). Swap them, or leave one out" in times
        people(
            verb, "Ada", "--since", "2025-03-05", "--until", "2025-03-05", "--min-attitude", "1", "--max-attitude", "1"
        )


def test_explore_says_what_is_missing(people: Run) -> None:
    assert "say what to explore" in people("explore", code=2).stderr
    assert "the weight of time must be a number" in people("explore", "tea", "--weight", "time=x", code=2).stderr
    assert "nothing is remembered on this" in people("explore", "xylophone").stderr


def test_explore_leaves_out_what_is_in_quarantine_unless_asked(people: Run) -> None:
    people("quarantine", "Ada")
    assert "nothing is remembered" in people("explore", "--match", "Ada").stderr
    assert "Ada" in people("explore", "--match", "Ada", "--quarantined").stdout


def test_a_relationship_may_be_over(people: Run) -> None:
    over = ("--from", "2001-01-01", "--until", "2001-12-31")
    made = json.loads(people("relate", "Ada", "Mary", "rival", *over, "--json").stdout)
    assert (made["valid_from"], made["valid_until"]) == (978_307_200_000, 1_009_843_199_999)
    told = people("explore", "--match", "Ada").stdout
    assert "Charles" in told
    assert "rival" not in told


def test_relate_note_and_brief(people: Run) -> None:
    people("add", "builds radios", "--name", "me", "--kind", "person")
    edge = json.loads(people("relate", "me", "Ada", "colleague", "--attitude", "4", "--json").stdout)
    assert (edge["kind"], edge["type"], edge["attitude"]) == ("has_relationship_with", "colleague", 4)
    assert json.loads(people("note", edge["id"], "met in Oslo", "--json").stdout)["on"] == "edge"
    assert "noted on Ada" in people("note", "Ada", "on leave", "--expires", "week").stdout
    told = people("brief").stdout
    assert told.startswith("# me: builds radios")
    assert "Ada (colleague), attitude 4" in told
    assert json.loads(people("brief", "--json").stdout)["relationships"]
