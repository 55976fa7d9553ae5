"""The everyday benchmark: which titles are asked for, and how a ranked list is scored."""

from __future__ import annotations

from pathlib import Path

from bench.everyday.baselines import Found, baselines
from bench.everyday.measure import by_recipe, passages_of, score
from bench.everyday.questions import Asked, own_titles, title_of
from cuetrail import Memory

NOTES = {
    "v/heron.md": "---\ntitle: Grey heron\n---\nIt stands in the reeds at dawn.\n",
    "v/owl.md": "# Barn owl\n\nIt hunts voles over the meadow.\n",
    "v/a/index.md": "# Index\n\nBirds.\n",
    "v/b/index.md": "# Index\n\nTrees.\n",
}


def test_a_title_is_in_the_front_matter_or_the_first_heading_or_the_file_name() -> None:
    assert title_of("v/heron.md", NOTES["v/heron.md"]) == "Grey heron"
    assert title_of("v/owl.md", NOTES["v/owl.md"]) == "Barn owl"
    assert title_of("v/plain.md", "no heading") == "plain"


def test_only_titles_of_one_note_are_typed() -> None:
    assert [asked.cue for asked in own_titles(NOTES)] == ["Grey heron", "Barn owl"]


def test_notes_count_once_and_passages_by_their_text() -> None:
    found = [Found("b", "other"), Found("b", "more"), Found("a", "the  answer\nstands here")]
    result = score(lambda _: found, [Asked("?", "a", "answer stands"), Asked("?", "b", "other")])
    assert (result.note, result.passage) == ({1: 1, 5: 2, 10: 2}, {1: 1, 5: 2, 10: 2})
    assert result.misses == ["title: ?"]


def test_every_row_finds_a_plain_question_in_a_vault(tmp_path: Path) -> None:
    for path, text in NOTES.items():
        file = tmp_path / "notes" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    asked = [Asked("what hunts voles over the meadow?", "v/owl.md", "hunts voles")]
    with Memory(tmp_path / "memory") as memory:
        memory.ingest(tmp_path / "notes")
        rows = {"recall": by_recipe(memory, "notes"), **baselines(NOTES, passages_of(memory, "notes", tmp_path))}
        assert {name: score(row, asked).passage[1] for name, row in rows.items()} == dict.fromkeys(rows, 1)
