"""A memory whose files an earlier version stored as paragraphs and headings is carried over by the next ingest.

`memory_of_paragraphs.jsonl` is an export of such a memory. In it a person labelled two headings and three paragraphs,
stated a fact, a note and a link of one, and forgot "The spare key is under the third stone."
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from cuetrail import Memory
from cuetrail.model import Node
from tests.ingest.tools import DAY, NOW, lines

EXPORT = Path(__file__).parent / "memory_of_paragraphs.jsonl"
STATION = """---
aliases: [the mast]
---
# Station

The station stands on the island since 1998.

## Receiver

The receiver on the north mast went silent in the night.

The spare key is under the third stone.

Ask Ines Okafor before climbing. #safety

The cable runs from the hut along the wall to the foot of the mast, and from there inside the mast to the box with the
two fuses. Both fuses are of ten amperes. The left one is for the lamp, the right one is for the receiver. In
frost the connector of the receiver shrinks, and then it has to be warmed by hand before it is turned.

Take along:

- rope
- lamp

## Status

done
"""


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """The files of the earlier memory, unchanged."""
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "station.md").write_text(STATION)
    (vault / "log.md").write_text("Rain all day, and the [[station]] was quiet.\n")
    for file in vault.iterdir():
        os.utime(file, ns=(NOW * 10**6, NOW * 10**6))
    return vault


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "memory", embedder="none") as opened:
        opened.import_(EXPORT)
        yield opened


def passages(memory: Memory, source: str = "vault/station.md") -> list[Node]:
    records = (record for _, record in memory.store.scan(memory.scope) if isinstance(record, Node))
    return sorted((n for n in records if n.source == source and n.kind == "atom"), key=lambda node: node.seq)


def test_files_that_did_not_change_are_read_again_once(memory: Memory, vault: Path) -> None:
    assert len(passages(memory)) == 10
    report = memory.ingest(vault, now=NOW + DAY)
    assert (report.files, report.unchanged_files) == (2, 0)
    intro, receiver, status = passages(memory)
    assert intro.text == "The station stands on the island since 1998."
    assert (receiver.props["title"], receiver.props["heading"]) == ("Station", "Receiver")
    assert status.text == "Status:\ndone"
    assert not any(node.props.get("level") for node in (intro, receiver, status))
    assert memory.ingest(vault, now=NOW + DAY).unchanged_files == 2
    assert memory.doctor() == []


def test_what_a_person_put_on_a_paragraph_goes_to_the_passage_that_contains_it(
    memory: Memory, vault: Path, tmp_path: Path
) -> None:
    memory.ingest(vault, now=NOW + DAY)
    _, receiver, status = passages(memory)
    assert {"urgent", "packing", "safety"} <= set(receiver.tags)
    assert (receiver.props["colour"], receiver.created) == ("red", NOW)
    assert "closed" in status.tags
    assert [(fact.predicate, fact.value) for fact in memory.facts(receiver.id)] == [("severity", "high")]
    assert "seen_by" in {step.kind for step in memory.neighbours(receiver.id).neighbours}
    notes = {note["text"]: note["target"] for note in lines(memory, tmp_path) if note["type"] == "note"}
    assert notes["Ask her about this."] == receiver.id


def test_what_a_person_put_on_a_heading_goes_to_the_passage_below_it_or_to_the_note(
    memory: Memory, vault: Path, tmp_path: Path
) -> None:
    memory.ingest(vault, now=NOW + DAY)
    _, receiver, _ = passages(memory)
    note = memory.get("Station")
    assert note is not None
    assert ("radio" in receiver.tags, "home" in note.tags) == (True, True)
    notes = {one["text"]: one["target"] for one in lines(memory, tmp_path) if one["type"] == "note"}
    assert notes["About the whole section."] == receiver.id


def test_a_forgotten_paragraph_stays_out_of_the_passage_around_it(memory: Memory, vault: Path, tmp_path: Path) -> None:
    report = memory.ingest(vault, now=NOW + DAY)
    assert (report.cut, report.left_out) == (1, ("vault/station.md",))
    assert "spare key" not in str(lines(memory, tmp_path))
    (vault / "station.md").write_text(STATION.replace("Take along:", "Always take along:"))
    memory.ingest(vault, now=NOW + 2 * DAY)
    assert "spare key" not in str(lines(memory, tmp_path))


def test_links_from_other_notes_still_lead_to_the_note(memory: Memory, vault: Path) -> None:
    memory.ingest(vault, now=NOW + DAY)
    [log] = passages(memory, "vault/log.md")
    note = memory.get("Station")
    assert note is not None
    linked = [step.id for step in memory.neighbours(log.id).neighbours if step.kind == "links" and step.outgoing]
    assert linked == [note.id]


def test_a_file_that_was_renamed_since_passes_on_what_people_put_there(memory: Memory, vault: Path) -> None:
    (vault / "station.md").rename(vault / "mast.md")
    memory.ingest(vault, now=NOW + DAY)
    _, receiver, _ = passages(memory, "vault/mast.md")
    assert {"urgent", "packing", "radio"} <= set(receiver.tags)
    assert [(fact.predicate, fact.value) for fact in memory.facts(receiver.id)] == [("severity", "high")]
