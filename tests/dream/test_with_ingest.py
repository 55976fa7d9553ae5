"""Dreams and ingest work on the same atoms without disturbing each other."""

from __future__ import annotations

from cuetrail import Memory
from tests.dream.tools import DAY, MONDAY, edges, exported, idle, mentions, of_origin, origins

FIRST = "# Receiver\n\nAsk Grace Hopper about the relay panel. #radio\n\n---\n\nGrace Hopper opened the relay panel."


def atom(memory: Memory, text: str) -> str:
    """The id of the atom with this text."""
    hits = memory.recall(text, record_access=False).passages
    found = [hit.node.id for hit in hits if hit.node.text.startswith(text)]
    return found[0]


def test_what_dreams_gave_outlives_taking_the_file_in_again(memory: Memory) -> None:
    memory.ingest_text(FIRST, source="a.md", now=MONDAY)
    memory.dream()
    kept = atom(memory, "Ask Grace")
    before = origins(memory, kept)
    assert (before["relay_panel"], before["2026"]) == ("auto", "temporal")
    memory.ingest_text(FIRST + "\n\n---\n\nOne more paragraph.", source="a.md", now=MONDAY + DAY)
    assert origins(memory, kept) == before
    memory.dream()
    assert origins(memory, kept) == before


def test_the_tags_of_a_path_are_not_taken_for_dreams(memory: Memory) -> None:
    memory.ingest_text(FIRST, source="vault/a.md", now=MONDAY)
    memory.dream()
    found = origins(memory, atom(memory, "Ask Grace"))
    assert (found["doc"], found["project:vault"], found["radio"]) == ("auto", "auto", "user")


def test_a_name_that_ingest_made_an_edge_of_gets_no_second_one(memory: Memory) -> None:
    memory.add(name="Grace Hopper", kind="person", id="grace", at=MONDAY)
    memory.ingest_text("Ask Grace Hopper.\n\n---\n\nThe grace hopper in small letters.", source="a.md", now=MONDAY)
    asked, small = atom(memory, "Ask Grace"), atom(memory, "The grace")
    by_ingest = edges(memory, "mentions")
    assert by_ingest.keys() == {(asked, "grace")}
    memory.dream()
    assert edges(memory, "mentions").keys() == {(asked, "grace"), (small, "grace")}
    assert edges(memory, "mentions")[asked, "grace"] == by_ingest[asked, "grace"]


def test_a_wikilink_gets_no_second_edge(memory: Memory) -> None:
    memory.ingest_text("# Connector\n\nIt shrinks.", source="Connector.md", now=MONDAY)
    memory.ingest_text("See [[Connector]] first.", source="a.md", now=MONDAY)
    memory.dream()
    assert edges(memory, "mentions") == {}
    assert len(edges(memory, "links")) == 1
    # But the file names the other one.
    assert len(mentions(memory)) == 1


def test_paragraphs_are_not_joined_to_the_note_they_are_of(memory: Memory) -> None:
    memory.ingest_text("# Connector\n\nThe connector shrinks.", source="Connector.md", now=MONDAY)
    memory.dream()
    assert edges(memory, "mentions") == {}
    assert mentions(memory) == {}


def test_what_a_near_duplicate_lent_is_not_taken_for_dreams(memory: Memory) -> None:
    words = "The quick brown fox jumps over the lazy dog while seven wizards quietly boil their evening tea"
    memory.ingest_text(f"---\ntags: [zebra]\n---\n{words} today.", source="a.md", now=MONDAY)
    memory.ingest_text(f"{words} today.", source="b.md", now=MONDAY)
    found = {hit.node.source: hit.node.id for hit in memory.recall(words, record_access=False).hits}
    borrower = found["b.md"]
    assert "zebra" in of_origin(memory, borrower, "infected")
    memory.dream()
    assert "zebra" in of_origin(memory, borrower, "infected")
    assert idle(memory.dream())


def test_a_deleted_paragraph_takes_its_mention_along(memory: Memory) -> None:
    memory.add(name="Ada", kind="person", id="ada", at=MONDAY)
    memory.ingest_text("Ask ada.\n\n---\n\nSomething else.", source="a.md", now=MONDAY)
    memory.dream()
    assert len(mentions(memory)) == 1
    memory.ingest_text("Something else.", source="a.md", now=MONDAY)
    memory.dream()
    assert mentions(memory) == {}


def test_a_memory_that_was_exported_and_imported_dreams_the_same(memory: Memory, tmp_path: object) -> None:
    from pathlib import Path

    place = Path(str(tmp_path))
    memory.add(name="Grace Hopper", kind="person", id="grace", at=MONDAY)
    memory.ingest_text(FIRST, source="a.md", now=MONDAY)
    memory.dream(now=MONDAY)
    memory.export(place / "export.jsonl")
    with Memory(place / "copy", embedder="none") as copy:
        copy.import_(place / "export.jsonl", now=MONDAY)
        copy.dream(now=MONDAY + DAY)
        assert exported(copy) == exported(memory)
