"""Facts read by rules: precision and recall on labelled sentences."""

from __future__ import annotations

from pathlib import Path

import pytest

from cuetrail.extract.facts_by_rules import MOST, find, from_fields

_NAMES = ("", "_unseen", "_second", "_last", "_fresh")
SAMPLE, UNSEEN, SECOND, LAST, FRESH = (Path(__file__).parent / f"fact_sample{name}.txt" for name in _NAMES)
# Right of what was read, and read of what is there: the least that may be. docs/facts.md has the figures.
FLOORS = [(SAMPLE, 0.98, 0.85), (UNSEEN, 0.98, 0.85), (SECOND, 0.98, 0.85), (LAST, 0.9, 0.8), (FRESH, 0.9, 0.75)]

Said = tuple[str, str, str]


def labelled(sample: Path = SAMPLE) -> list[tuple[str, set[Said]]]:
    found = []
    for line in sample.read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            sentence, _, facts = line.partition("=>")
            parts = [tuple(part.strip() for part in fact.split("|")) for fact in facts.split(";") if fact.strip()]
            found.append((sentence.strip(), {(s, p, v) for s, p, v in parts}))
    return found


def read(sentence: str) -> set[Said]:
    return {(t.subject, t.predicate, t.value) for t in find(sentence, title="Plan")}


def figures(sample: Path = SAMPLE) -> tuple[int, int, int]:
    """How many facts are right, were read, and are there."""
    pairs = [(read(sentence), facts) for sentence, facts in labelled(sample)]
    right = sum(len(got & wanted) for got, wanted in pairs)
    return right, sum(len(got) for got, _ in pairs), sum(len(wanted) for _, wanted in pairs)


@pytest.mark.parametrize(("sample", "precision", "recall"), FLOORS)
def test_most_of_what_is_read_is_right_and_most_of_what_is_there_is_read(
    sample: Path, precision: float, recall: float
) -> None:
    right, got, wanted = figures(sample)
    assert right / got >= precision
    assert right / wanted >= recall


def test_the_figures_in_the_documentation_are_those_of_the_samples() -> None:
    page = (Path(__file__).parents[2] / "docs" / "facts.md").read_text("utf-8")
    for sample in (SAMPLE, UNSEEN, SECOND, LAST, FRESH):
        right, got, wanted = figures(sample)
        shares = (f"{right / of:.3f} ({right} of {of})" for of in (got, wanted))
        assert f"{len(labelled(sample))} | {' | '.join(shares)}" in page


def test_frontmatter_states_what_its_note_is_about_and_not_what_the_file_is() -> None:
    fields = {
        "status": "draft",
        "Uses": ["DuckDB", "[[Next.js]]"],
        "tags": ["x"],
        "date": "2025-01-01",
        "n": 3,
        "e": "",
    }
    found = [(t.subject, t.predicate, t.value) for t in from_fields(fields, "JACQ")]
    assert found == [("JACQ", "status", "draft"), ("JACQ", "uses", "DuckDB"), ("JACQ", "uses", "Next.js")]


def test_who_speaks_is_who_i_means() -> None:
    assert [t.subject for t in find("I live in Oslo.", speaker="Ines")] == ["Ines"]


def test_where_nobody_knows_who_speaks_i_states_nothing() -> None:
    text = "I live in Oslo. I use Vim. My name is Eve. 2025-03-04: I decided to go. JACQ uses Vim."
    assert [t.subject for t in find(text, speaker="")] == ["JACQ"]


def test_a_place_ends_where_its_name_does_and_where_one_works_is_told_apart() -> None:
    def said(text: str) -> list[tuple[str, str]]:
        return [(t.predicate, t.value) for t in find(text)]

    assert said("I live in Frankfurt am Main, Germany with my cat.") == [("lives_in", "Frankfurt am Main, Germany")]
    assert said("I work on radios at Skarholm Radio.") == [("works_at", "Skarholm Radio"), ("works_on", "radios")]
    assert said("I was born in 1988.") == []


def test_a_sentence_of_two_halves_states_both_and_neither_with_words_of_the_other() -> None:
    def said(text: str) -> list[Said]:
        return [(t.subject, t.predicate, t.value) for t in find(text)]

    assert said("I work on Wingbeat and live in Bodø.") == [
        ("user", "works_on", "Wingbeat"),
        ("user", "lives_in", "Bodø"),
    ]
    assert said("Ida Holm uses Vim but works for Barco.") == [
        ("Ida Holm", "uses", "Vim"),
        ("Ida Holm", "works_at", "Barco"),
    ]
    assert said("Ida and Tom work on the relay and live in Bodø.") == [
        ("Ida", "works_on", "relay"),
        ("Tom", "works_on", "relay"),
    ]


@pytest.mark.parametrize("home", ["a small flat", "the attic above the bakery", "fear", "my own world"])
def test_who_lives_in_what_has_no_name_may_live_anywhere(home: str) -> None:
    assert find(f"I live in {home}.") == []
    assert [t.value for t in find("I live in the Netherlands.")] == ["Netherlands"]


def test_a_name_the_document_has_elsewhere_is_one_at_the_start_too() -> None:
    assert find("Marek is a welder.") == []
    assert [t.subject for t in find("Marek is a welder.", known=["Marek"])] == ["Marek"]
    assert [t.subject for t in find("We asked Marek. Marek is a welder.")] == ["Marek"]


def test_a_decision_has_the_time_it_states() -> None:
    (decision,) = find("2025-03-04: We decided to use DuckDB.", title="Plan")
    assert decision.at == 1_741_046_400_000


def test_code_links_and_quotes_state_nothing() -> None:
    assert find("```\nJACQ uses DuckDB\n```\n`I live in Oslo`") == []
    assert [t.value for t in find("- [ ] JACQ uses [[DuckDB]]")] == ["DuckDB"]


@pytest.mark.parametrize(
    "text", ["", " ", "a" * 5000, "I like " * 3000, "[" * 3000, "A:: " * 2000, "Ab " * 4000 + "uses x"]
)
def test_no_text_takes_long_or_gives_too_much(text: str) -> None:
    assert len(find(text, title="T")) <= MOST


@pytest.mark.parametrize(
    ("text", "confidence"),
    [
        ("status:: draft", 0.95),
        ("2025-03-04: We decided to keep the relay.", 0.9),
        ("I prefer tea.", 0.9),
        ("JACQ Server uses DuckDB.", 0.75),
    ],
)
def test_how_sure_a_rule_is(text: str, confidence: float) -> None:
    assert [triple.confidence for triple in find(text, title="Plan")] == [confidence]


def test_the_fields_of_a_note_are_as_sure_as_those_in_a_text() -> None:
    assert [triple.confidence for triple in from_fields({"status": "draft"}, "Plan")] == [0.95]
