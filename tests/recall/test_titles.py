"""A cue that is the title or an alias of a note, or the name of a memory, finds that one first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cuetrail import Memory

# The other notes have the words of the titles more often than the notes with these titles.
NOTES = {
    "vim.md": "---\naliases: [vi improved]\n---\n# Vim\n\n## Moving\n\nUse the keys of the home row to move.\n",
    "week.md": "# Week 12\n\nVim, Vim and again Vim: a week of Vim plugins.\n\nVim macros are fun.\n",
    "storm.md": "# The storm of May\n\nThe mast fell.\n",
    "may.md": "# May\n\nA month of storms, storm after storm.\n",
    "about.md": "# About\n\nWritten by one person.\n",
}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    for name, text in NOTES.items():
        (tmp_path / "notes").mkdir(exist_ok=True)
        (tmp_path / "notes" / name).write_text(text, "utf-8")
    with Memory(tmp_path / "memory", embedder=None) as opened:
        opened.ingest(tmp_path / "notes")
        yield opened


@pytest.mark.parametrize(
    ("cue", "note", "text"),
    [
        ("Vim", "vim.md", "Use the keys of the home row to move."),
        ("vim?", "vim.md", "Use the keys of the home row to move."),
        ("vi improved", "vim.md", "Use the keys of the home row to move."),
        ("what did I write about Vim?", "vim.md", "Use the keys of the home row to move."),
        ("tell me what my notes say about vim", "vim.md", "Use the keys of the home row to move."),
        ("The storm of May", "storm.md", "The mast fell."),
        ("what about the storm of may", "storm.md", "The mast fell."),
        ("About", "about.md", "Written by one person."),
    ],
)
def test_the_best_passage_of_the_note_with_that_title_is_first(
    memory: Memory, cue: str, note: str, text: str
) -> None:  # fmt: skip
    first = memory.recall(cue).hits[0]
    assert (first.node.source, first.node.text) == (f"notes/{note}", text)
    titled = memory.get(first.why["topic"])
    assert titled is not None
    assert titled.source == first.node.source


@pytest.mark.parametrize(
    ("cue", "note"),
    [
        ("the cold connector thing, what was wrong?", "cold.md"),
        ("any trouble with a Cold Connector lately?", "cold.md"),
        ("which winter plug failed?", "cold.md"),
        ("what was wrong at Skarholm?", "skarholm.md"),
    ],
)
def test_a_cue_that_contains_a_telling_title_finds_that_note_first(memory: Memory, cue: str, note: str) -> None:
    memory.ingest_text("---\naliases: [winter plug]\n---\n# Cold connector\n\nIt shrinks.\n", source="notes/cold.md")
    memory.ingest_text("# Skarholm\n\nA rock.\n", source="notes/skarholm.md")
    for number in range(3):
        memory.add(f"{number}: trouble with a connector; wrong, cold and failed. Skarholm is a wrong plug in winter.")
    assert memory.recall(cue).hits[0].node.source == f"notes/{note}"


@pytest.mark.parametrize("cue", ["how do I get from home to the harbour?", "who had ideas for the harbour?"])
def test_an_everyday_word_that_is_a_title_does_not_win_by_being_contained(memory: Memory, cue: str) -> None:
    for title in ("Home", "Ideas"):
        memory.ingest_text(f"# {title}\n\nNothing here yet.\n", source=f"notes/{title}.md")
    memory.add("From home to the harbour take the ferry; Ann had ideas for the harbour.", id="harbour")
    hits = memory.recall(cue).hits
    assert hits[0].node.id == "harbour"
    assert not any("topic" in hit.why for hit in hits)


def test_a_cue_that_says_more_than_a_title_is_ranked_as_before(memory: Memory) -> None:
    hits = memory.recall("Vim plugins of the week").hits
    assert hits[0].node.source == "notes/week.md"
    assert not any("topic" in hit.why for hit in hits)


def test_a_memory_with_that_name_is_first_and_no_score_is_above_one(memory: Memory) -> None:
    memory.add("It listens at 868 MHz.", name="Receiver", id="receiver")
    memory.add("The receiver, the receiver, the receiver fell silent.", id="other")
    found = memory.recall("the receiver?")
    assert found.hits[0].node.id == "receiver"
    scores = [hit.score for hit in found.hits]
    assert scores == sorted(scores, reverse=True)
    assert 0.5 <= scores[0] <= 1
    assert all(score <= 0.5 for score in scores[1:])


def test_a_text_that_was_added_with_that_title_is_first(memory: Memory) -> None:
    memory.add("It shrinks.", id="titled", props={"title": "Cold connector", "aliases": ["winter plug"]})
    memory.add("A cold connector, a connector in the cold, a winter plug.", id="other")
    for cue in ("cold connector", "What about the winter plug?"):
        first = memory.recall(cue).hits[0]
        assert (first.node.id, first.why["topic"]) == ("titled", "titled")


def test_several_notes_with_one_title_come_before_all_others(memory: Memory) -> None:
    memory.ingest_text("# Vim\n\nA second page on the editor.\n", source="second/vim.md")
    sources = [hit.node.source for hit in memory.recall("Vim").hits]
    assert set(sources[:2]) == {"notes/vim.md", "second/vim.md"}


def test_a_filter_also_holds_for_titles(memory: Memory) -> None:
    memory.add("An editor.", name="Emacs", id="emacs", tags=["editor"])
    assert [hit.node.id for hit in memory.recall("Emacs", tags=["editor"]).hits] == ["emacs"]
    assert not memory.recall("Vim", tags=["editor"]).hits
