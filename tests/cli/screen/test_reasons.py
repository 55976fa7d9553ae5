"""Why a result was found, in plain words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cuetrail import Memory
from cuetrail.cli.screen.reasons import Reasons, path_ids
from cuetrail.cli.screen.source_paths import file_of, shown_path, source_of

VAULT = Path(__file__).parents[3] / "examples" / "vault"
Lines = Callable[[str], dict[str, str]]


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with Memory(tmp_path_factory.mktemp("reasons") / "memory") as memory:
        memory.ingest(VAULT)
        yield memory


@pytest.fixture
def lines(memory: Memory) -> Lines:
    """Gives the line of each result of a cue by its title."""

    def lines(cue: str) -> dict[str, str]:
        found = memory.recall(cue, record_access=False)
        reasons = Reasons(found, memory.nodes(*path_ids(found)))
        return {reasons.title(hit.node.id): reasons.line(hit) for hit in found.hits}

    return lines


@pytest.mark.parametrize(
    ("cue", "title", "line"),
    [
        ("Cold connector", "Cold connector", "its title is what you asked for; has all your words"),
        ("silent receiver", "Spring trial review", "has all your words; mentions “Receiver”, which you named"),
        ("#decision", "Limit the tag weight", "has #decision"),
        ("the conn*", "Cold connector", "has “conn*”"),
        ("what happened in March 2025?", "Spring trial review", "is from the time you asked about"),
    ],
)
def test_a_line_says_why_in_plain_words(lines: Lines, cue: str, title: str, line: str) -> None:
    assert lines(cue)[title] == line


def test_a_result_without_a_word_of_the_question_names_what_led_to_it(lines: Lines) -> None:
    found = lines("who decides how heavy a tag may be?")
    assert any(line.startswith(("mentioned in “", "mentions “", "shares ")) for line in found.values())
    assert any("found by a follow-up search from “" in line for line in found.values())


def test_a_trail_inside_one_note_is_none(memory: Memory) -> None:
    found = memory.recall("who should I ask about the silent receiver?", record_access=False)
    reasons = Reasons(found, memory.nodes(*path_ids(found)))
    receiver = next(hit for hit in found.hits if reasons.title(hit.node.id) == "Receiver")
    assert receiver.why["path"]
    assert reasons.steps(receiver) == []


def test_a_source_leads_to_its_file_while_it_is_there(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "Tea#2.md").write_text("x")
    (tmp_path / "one.json").write_text("[]")
    roots = {"a": str(tmp_path / "a"), "x/one.json": str(tmp_path / "one.json")}
    assert file_of("a/Tea#2.md", roots) == tmp_path / "a" / "Tea#2.md"
    assert file_of("x/one.json#chat", roots) == tmp_path / "one.json"
    for source in ("a/gone.md", "b/Tea.md", "a\0b", "", None):
        assert file_of(source, roots) is None
    assert shown_path(Path("/")) == "/"


def test_a_file_is_known_by_its_path_on_this_machine_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    roots = {"a": str(tmp_path / "a"), "x/one.json": str(tmp_path / "one.json")}
    monkeypatch.chdir(tmp_path)
    assert source_of(str(tmp_path / "a" / "Tea.md"), roots) == "a/Tea.md"
    assert source_of("one.json", roots) == "x/one.json"
    for source in ("a/Tea.md", "a", "b/Tea.md", "talk-42", "a\0b", "~nobody-at-all/x"):
        assert source_of(source, roots) == source
