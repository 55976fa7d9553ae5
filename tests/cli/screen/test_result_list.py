"""What a person sees of a recall in a pseudo-terminal."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from urllib.parse import unquote

import pytest

from cuetrail import Memory
from cuetrail.cli.screen.terminal import WIDEST
from tests.cli.pseudo_terminal import Screen, in_terminal

VAULT = Path(__file__).parents[3] / "examples" / "vault"
SILENT = "who should I ask about the silent receiver?"
MARCH = 1_772_409_600_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory of the example vault, of some facts, and of a text that tries to control the terminal."""
    folder = tmp_path_factory.mktemp("screen")
    shutil.copytree(VAULT, folder / "vault")
    with Memory(folder / "memory") as memory:
        memory.ingest(folder / "vault")
        memory.fact("Ann", "lives_in", "Berlin", now=MARCH - 1)
        memory.fact("Ann", "lives_in", "Lisbon", now=MARCH)
        memory.add("Ann lives in Berlin, near the canal.", source="letters/Ann.md")
        memory.add("The zeppelin \x1b[2J\x1b]0;gone\x07 lands \x1b[31mred\x1b[0m")
    return folder


def shown(folder: Path, *words: str, columns: int = 80, **env: str) -> Screen:
    screen = in_terminal(*words, columns=columns, env={"CUETRAIL_MEMORY": str(folder / "memory"), **env})
    assert screen.code == 0, screen.text
    return screen


def test_a_terminal_shows_titles_excerpts_reasons_and_files_that_open(folder: Path) -> None:
    screen = shown(folder, "recall", SILENT, "--no-touch")
    first, *others = screen.text.strip("\n").split("\n\n")
    rank, *lines = first.splitlines()
    assert re.fullmatch(r" 1  Receiver +2 Apr 2025", rank)
    assert "it falls silent for an hour or two" in " ".join(lines)
    assert lines[2].strip() == "has “silent” and “receiver”"
    assert len(lines) == 4
    assert len(others) == 9
    assert "mentions “Receiver”, which you named" in screen.text
    assert [Path(unquote(link.removeprefix("file://"))).is_file() for link in screen.links] == [True] * 10
    assert screen.links[0] == (folder / "vault" / "notes" / "Receiver.md").as_uri()
    assert "\x1b[1;4msilent\x1b[0m" in screen.raw
    assert "> " not in screen.text


@pytest.mark.parametrize("columns", [80, 120])
def test_no_line_but_a_path_is_wider_than_the_terminal(folder: Path, columns: int) -> None:
    lines = shown(folder, "recall", SILENT, "--explain", "--no-touch", columns=columns).text.splitlines()
    assert max(len(line) for line in lines if "/vault/" not in line) == min(columns, WIDEST)


@pytest.mark.parametrize("columns", [60, 80])
def test_an_excerpt_that_goes_on_ends_behind_a_whole_word(folder: Path, columns: int) -> None:
    text = shown(folder, "recall", SILENT, "--no-touch", columns=columns).text
    cut = [line.removesuffix(" …").split()[-1] for line in text.splitlines() if line.endswith(" …")]
    words = {word for path in (folder / "vault").rglob("*.md") for word in re.findall(r"[\w'-]+", path.read_text())}
    assert len(cut) > 3
    assert [word for word in cut if re.sub(r"\W+$|^\W+", "", word) not in {*words, ""}] == []


@pytest.mark.parametrize(("env", "styles"), [({"NO_COLOR": "1"}, r"\[[01234;]*m"), ({"TERM": "dumb"}, r"never")])
def test_colour_can_be_switched_off_and_a_dumb_terminal_gets_letters_alone(
    folder: Path, env: dict[str, str], styles: str
) -> None:
    raw = shown(folder, "recall", "where does Ann live now?", "--no-touch", columns=80, **env).raw
    sequences = re.findall(r"\x1b(\[[^m]*m|.)", raw)
    assert all(re.fullmatch(rf"{styles}|\]|\\", one) for one in sequences)
    assert ("\x1b" in raw) == (env.get("TERM") != "dumb")


def test_facts_come_first_with_date_and_source_and_old_texts_are_marked(folder: Path) -> None:
    text = shown(folder, "where does Ann live now?", "--no-touch").text
    assert text.startswith("Facts\n  • Ann lives in Lisbon\n    since 2 Mar 2026 · stated by a person\n\n 1  Ann ")
    assert "\n    superseded 2026-03-02: lives in Lisbon\n    Ann lives in Berlin, near the canal.\n" in text


def test_when_nothing_answers_the_nearest_is_shown_as_no_more_than_that(folder: Path) -> None:
    text = shown(folder, "recall", "quantum chess in Paris").text
    assert text.startswith("Nothing in this memory answers that.\nLooked for: quantum, chess, Paris\n--fuzzy forgives")
    near = shown(folder, "recall", "why?").text
    assert near.startswith("Nothing in this memory answers that.\nLooked for: why\n\nThe nearest, which may be about")
    assert "Site visit checklist" in near
    assert shown(folder, "recall", "quantum chess", "--quiet").text == ""


def test_a_memory_cannot_control_the_terminal(folder: Path) -> None:
    raw = shown(folder, "recall", "zeppelin", "--no-touch", "-v").raw
    assert "lands red" in raw
    assert not any(one in raw for one in ("\x1b[2J", "\x1b]0", "\x07", "\x1b[31m"))


def test_text_is_what_a_pipe_gets(folder: Path) -> None:
    with Memory(folder / "memory") as memory:
        found = memory.recall(SILENT, record_access=False)
    assert shown(folder, "recall", SILENT, "--text", "--no-touch").text == f"{found.text}\n"


def test_what_the_list_shows_counts_as_used_and_no_more(folder: Path) -> None:
    def uses() -> dict[str, int]:
        with Memory(folder / "memory") as memory:
            return {node.id: node.life.accesses for node in memory.timeline(limit=100).nodes}

    before = uses()
    shown(folder, "recall", "crimped connectors", "--limit", "2")
    after = uses()
    assert sorted(after[id_] - before[id_] for id_ in after)[-3:] == [0, 1, 1]


def test_other_passages_of_a_note_are_folded(tmp_path: Path) -> None:
    sections = [
        f"## Part {number}\n\nThe kettle number {number} sings. {'Steam rises slowly. ' * 40}" for number in "123"
    ]
    (tmp_path / "Tea.md").write_text("# Tea\n\n" + "\n\n".join(sections))
    with Memory(tmp_path / "memory") as memory:
        memory.ingest(tmp_path / "Tea.md")
    text = shown(tmp_path, "which kettle sings?").text
    assert re.match(r" 1  Tea › Part \d +\d", text)
    assert "Tea.md · +2 more passages\n" in text
    assert "\n 2  " not in text
