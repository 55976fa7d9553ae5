"""Forgetting removes every copy of a memory, and nothing that other memories say."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from cuetrail import Memory
from cuetrail.errors import Forgotten

SECRET = "I secretly dislike turnips and other roots"
THANKS = "Thanks everyone for coming."
DIARY = f"# Diary\n\n## Action items\n\n{SECRET}.\n\n---\n\n{THANKS}\n"


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """Three notes of meetings and a diary that have a heading and a phrase in common."""
    vault = tmp_path / "vault"
    vault.mkdir()
    for number in range(3):
        body = f"# Meeting {number}\n\n## Action items\n\nBob does thing number {number} today.\n\n---\n\n{THANKS}\n"
        (vault / f"m{number}.md").write_text(body)
    (vault / "diary.md").write_text(DIARY)
    return vault


@pytest.fixture
def memory(tmp_path: Path, vault: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "memory", embedder=None) as opened:
        opened.ingest(vault)
        yield opened


def texts(memory: Memory, source: str | None = None) -> list[str]:
    """What the memory holds of a file, or all it holds: texts, and names where there are none."""
    found = [record for _, record in memory.store.scan(memory.scope)]
    nodes = [node for node in found if type(node).__name__ == "Node"]
    return sorted(n.text or n.name or "" for n in nodes if source is None or n.source == source)  # type: ignore[union-attr]


def sources(memory: Memory) -> set[str]:
    with closing(sqlite3.connect(Path(memory.address) / "memory.db")) as db:
        return {path for (path,) in db.execute("SELECT path FROM sources")}


def test_headings_and_boilerplate_of_a_forgotten_file_stay_in_other_files(memory: Memory) -> None:
    before = [texts(memory, f"vault/m{number}.md") for number in range(3)]
    doomed = memory.doomed(source="vault/diary.md")
    assert ([node.text for node in doomed.common], doomed.copies) == ([THANKS], ())
    assert len(memory.forget(source="vault/diary.md")) == 3
    assert [texts(memory, f"vault/m{number}.md") for number in range(3)] == before
    assert not any("turnips" in text for text in texts(memory))


def test_a_heading_or_phrase_of_a_forgotten_file_keeps_nothing_new_out(memory: Memory, vault: Path) -> None:
    memory.forget(source="vault/diary.md")
    (vault / "m4.md").write_text("# Diary\n\nAction items:\n- Bob buys a new pump\n- Eve calls the supplier\n")
    (vault / "m5.txt").write_text(f"{THANKS} The launch date is 4 May.\n")
    report = memory.ingest(vault)
    assert texts(memory, "vault/m4.md") == [
        "Action items:\n- Bob buys a new pump\n- Eve calls the supplier",
        "Diary",
    ]
    assert texts(memory, "vault/m5.txt")[0] == f"{THANKS} The launch date is 4 May."
    assert report.left_out == ("vault/diary.md",)


def test_copies_of_what_a_forgotten_file_tells_go_with_it(memory: Memory, vault: Path) -> None:
    (vault / "other.md").write_text(f"Something else entirely.\n\n---\n\n- {SECRET}!\n")
    memory.ingest(vault)
    memory.add(SECRET.upper(), id="by hand")
    doomed = memory.doomed(source="vault/diary.md")
    assert {node.source for node in doomed.copies} == {"vault/other.md", None}
    assert set(memory.forget(source="vault/diary.md")) == set(doomed.ids)
    assert texts(memory, "vault/other.md") == ["Something else entirely.", "other"]
    assert memory.get("by hand") is None


def test_many_copies_of_a_file_are_no_boilerplate(memory: Memory, vault: Path) -> None:
    for number in range(5):
        (vault / f"backup{number}.md").write_text(DIARY)
    memory.ingest(vault)
    memory.forget(source="vault/diary.md")
    assert not any("turnips" in text for text in texts(memory))
    assert texts(memory).count(THANKS) == 8, "what the meetings say stays, in the backups too"


def test_boilerplate_that_is_named_is_forgotten_everywhere(memory: Memory) -> None:
    named = next(hit.node.id for hit in memory.recall(THANKS).hits if hit.node.text == THANKS)
    assert len(memory.forget(named)) == 4
    assert THANKS not in texts(memory)
    with pytest.raises(Forgotten):
        memory.add(THANKS)


def test_a_copy_of_a_forgotten_file_does_not_bring_its_headings_back(memory: Memory, vault: Path) -> None:
    (vault / "diary.md").write_text(f"# A telling title\n\n## A telling heading\n\n{SECRET}.\n")
    memory.ingest(vault)
    memory.forget(source="vault/diary.md")
    (vault / "copy.md").write_text((vault / "diary.md").read_text())
    report = memory.ingest(vault)
    assert report.left_out == ("vault/copy.md", "vault/diary.md")
    assert not any("telling" in text.lower() for text in texts(memory))


def test_of_a_text_that_says_more_only_the_forgotten_sentence_stays_out(memory: Memory, vault: Path) -> None:
    memory.forget(source="vault/diary.md")
    (vault / "more.md").write_text(
        f"The boat leaves on Friday with [[Ann]]. {SECRET}, says #hush. The dinner is at seven.\n\n---\n\n"
        f"The boat leaves on Friday with [[Ann]]. {SECRET}! #hush The dinner is at seven.\n"
    )
    report = memory.ingest(vault)
    assert (report.cut, report.forgotten, report.left_out) == (1, 2, ("vault/diary.md", "vault/more.md"))
    said = "The boat leaves on Friday with [[Ann]]. #hush The dinner is at seven."
    assert said in texts(memory, "vault/more.md")
    assert memory.ingest(vault).cut == 0, "the file is as known"
    (vault / "more.md").write_text((vault / "more.md").read_text() + "\n---\n\nAnother paragraph of it.\n")
    assert memory.ingest(vault).cut == 1
    node = next(hit.node for hit in memory.recall("boat dinner hush").hits if hit.node.text == said)
    assert memory.history(node.id) == []
    assert memory.doctor() == []


def test_links_and_tags_of_a_forgotten_sentence_stay_out_with_it(memory: Memory, vault: Path) -> None:
    secret = "The money is with [[Zanzibar]] under #cellar since May"
    memory.forget(memory.add(secret).id)
    (vault / "more.md").write_text(f"The boat leaves with [[Ann]]. {secret}. The #dinner is at seven.\n")
    memory.ingest(vault)
    node = next(hit.node for hit in memory.recall("boat dinner").hits if hit.node.source == "vault/more.md")
    assert node.text == "The boat leaves with [[Ann]]. The #dinner is at seven."
    assert ("dinner" in node.tags, "cellar" in node.tags) == (True, False)
    links = memory.store.links(memory.scope, [node.id])[node.id]
    assert [link.norm for link in links if link.kind == "wikilink"] == ["ann"]


def test_many_things_come_in_without_their_forgotten_sentences_and_one_thing_is_refused(memory: Memory) -> None:
    memory.forget(source="vault/diary.md")
    text = f"The boat leaves on Friday. {SECRET}. The dinner is at seven."
    with pytest.raises(Forgotten, match="a part of this"):
        memory.add(text)
    written = memory.add_many([{"text": text, "id": "a"}, {"text": SECRET, "id": "b"}])
    assert (written.added, written.cut, written.forgotten) == (1, ("a",), ("b",))
    node = memory.get("a")
    assert node is not None
    assert node.text == "The boat leaves on Friday. The dinner is at seven."


def test_the_vector_of_a_shortened_text_is_of_what_is_left(tmp_path: Path) -> None:
    text = f"The boat leaves on Friday. {SECRET}. The dinner is at seven."
    with Memory(tmp_path / "vectors") as memory:
        memory.forget(memory.add(SECRET).id)
        memory.add_many([{"text": text, "id": "a"}])
        node = memory.add("The boat leaves on Friday. The dinner is at seven.", id="b")
        vectors = memory.store.vectors(memory.scope, ["a", "b"])
        assert vectors["a"] == vectors["b"]
        assert (node.updated, memory.history("a"), memory.doctor()) == (node.created, [], [])


def test_the_path_of_a_forgotten_file_is_not_kept_and_not_learnt_again(memory: Memory, vault: Path) -> None:
    memory.forget(source="vault/diary.md")
    assert "vault/diary.md" not in sources(memory)
    memory.ingest(vault)
    assert "vault/diary.md" not in sources(memory)
    (vault / "diary.md").write_text(f"{DIARY}\n---\n\nSomething new in it.\n")
    memory.ingest(vault)
    assert texts(memory, "vault/diary.md") == ["Something new in it."]


def test_a_path_that_a_correction_took_away_goes_with_the_forgotten(memory: Memory) -> None:
    memory.add("One body", id="s", source="a/secret/path")
    memory.add("Two body", id="s")
    memory.forget("s")
    assert "a/secret/path" not in sources(memory)


def test_the_node_of_a_file_is_forgotten_with_its_file(memory: Memory) -> None:
    assert len(memory.forget("Diary")) == 3
    assert texts(memory, "vault/diary.md") == []
