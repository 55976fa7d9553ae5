"""The questions of README.md and of the demo have their answers first."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from cuetrail import Memory

ROOT = Path(__file__).resolve().parents[1]
NOW = 1_760_000_000_000
# The answer to each question, as the examples state it.
ANSWERS = {
    "who decides how heavy a tag may be?": "It decided [[Limit the tag weight]]",
    "what did we decide about connectors in frost?": "The screwed ones fail in frost, as [[Cold connector]]",
    "who traced the outages to the cold connector?": "Found by [[Ines Okafor|Ines]]",
    "what depends on the pulse interval?": "The second rule depends on [[Choose the pulse interval]]",
}
ABSENT = "when does my passport expire?"


def questions(file: str) -> set[str]:
    """Returns the quoted cues with a question mark that a file asks of the examples."""
    return set(re.findall(r'cuetrail recall "([^"]+\?)"', (ROOT / file).read_text(encoding="utf-8")))


@pytest.fixture(scope="module", params=["vault", "vault and chat"])
def memory(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """A memory of the examples: of the vault alone, as README.md fills it, or after the chat, as the demo does."""
    with Memory(tmp_path_factory.mktemp("examples") / "memory") as memory:
        if request.param != "vault":
            memory.ingest(ROOT / "examples" / "chat.json", now=NOW)
        memory.ingest(ROOT / "examples" / "vault", now=NOW)
        yield memory


def test_every_question_of_the_readme_and_the_demo_has_a_known_answer() -> None:
    assert questions("README.md") | questions("scripts/demo.sh") == {*ANSWERS, ABSENT}


def test_what_no_note_says_is_refused(memory: Memory) -> None:
    assert not memory.recall(ABSENT, now=NOW).answerable


@pytest.mark.parametrize("cue", ANSWERS)
def test_the_first_hit_answers_the_question(memory: Memory, cue: str) -> None:
    found = memory.recall(cue, now=NOW)
    assert found.answerable
    assert ANSWERS[cue] in " ".join(found.hits[0].node.text.split())
    assert ANSWERS[cue].split("[[")[1][:12] in found.text


def test_titles_and_names_of_the_examples_find_their_note_first(memory: Memory) -> None:
    for note in sorted((ROOT / "examples" / "vault").rglob("*.md")):
        title = note.read_text(encoding="utf-8").split("# ", 1)[1].splitlines()[0]
        assert memory.recall(title, now=NOW).hits[0].node.source == f"vault/{note.relative_to(ROOT / 'examples/vault')}"


def test_the_question_of_the_readme_to_the_library_has_its_answer_first(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory") as memory:
        memory.add("We chose DuckDB for JACQ because it needs no server", tags=["decision"], buckets=["work"])
        memory.add("JACQ ships in May", id="plan", tags=["plan"])
        memory.fact("JACQ", "uses", "DuckDB")
        memory.link("plan", "JACQ", weight=0.6, text="the plan is about JACQ")
        found = memory.recall("why does JACQ use DuckDB?", limit=3)
    assert found.answerable
    assert found.hits[0].node.text.startswith("We chose DuckDB")
    assert found.text.startswith("JACQ uses DuckDB (since ")
