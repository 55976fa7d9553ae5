"""A list for people shows no bare heading, no comment, no list of links, and nothing twice."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from cuetrail import Memory
from cuetrail.cli.screen.result_list import result_list, shown_ids
from cuetrail.cli.screen.shown_hits import shown_hits
from cuetrail.text.plain_text import plain_text

VAULT = Path(__file__).parents[3] / "examples" / "vault"
NOW = 1_741_046_400_000
LINKS = "# Radio links\n\n- [[Cold connector]]\n- [[Receiver]]: silent\n- [Antenna handbook](https://antenna.example/frost)\n"
QUESTIONS = [
    "who decides how heavy a tag may be?", "who traced the outages to the cold connector?", "silent receiver",
    "why does the receiver fall silent in frost?", "what does Ines keep in her van?", "crimped connectors",
    "where does the antenna stand at Skarholm?", "what is Wingbeat?", "who holds the ringing permit?",
    "how long does the battery of a tag last?", "which pulse interval was chosen?", "why plain files for detections?",
    "who looks after Skarholm lighthouse?", "what drops false detections?", "what to bring on a site visit",
    "the field server", "tag firmware", "what was decided in the planning meeting?", "spring trial review",
    "who writes the tag firmware?", "reading list", "what weighs three percent of the bird?", "radio links",
    "who took over the site visit checklist?", "detection pipeline", "antenna handbook", "frost", "Marek",
    "who orders the cells for two seasons?", "Priya Raman",
]  # fmt: skip


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """The example vault with a note of links, one that is a heading and a comment, and a digest of other notes."""
    vault = Path(shutil.copytree(VAULT, tmp_path_factory.mktemp("shown") / "vault"))
    (vault / "notes" / "Radio links.md").write_text(LINKS)
    (vault / "notes" / "Frost.md").write_text("# Frost\n\n## The silent receiver in frost\n\n<!-- who traced it? -->\n")
    cold = (vault / "notes" / "Cold connector.md").read_text().partition("---\n")[2].partition("---\n")[2]
    told = cold.replace("in place of", "instead of")
    (vault / "notes" / "Digest.md").write_text(f"# Digest\n\nNews of the week.\n\n{told}")
    with Memory(vault.parent / "memory") as memory:
        memory.ingest(vault, now=NOW)
        yield memory


@pytest.mark.parametrize("question", QUESTIONS)
def test_no_hit_is_a_heading_a_comment_a_list_of_links_or_a_repetition(memory: Memory, question: str) -> None:
    found = memory.recall(question, record_access=False, now=NOW)
    seen: list[set[str]] = []
    for rank, one in enumerate(shown_hits(found.anchors, found.walkers)):
        text = one.hit.node.text
        lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
        assert lines or rank == 0, f"a bare heading: {text}"
        assert "<!--" not in plain_text(text)
        assert rank == 0 or not text.startswith("- [[Cold connector]]"), f"a list of links: {text}"
        sentences = {one for one in re.split(r"(?<=[.?!])\s+", " ".join(plain_text(text).split())) if len(one) > 30}
        assert not sentences or not any(sentences <= other or other <= sentences for other in seen if other), text
        seen.append(sentences)


def test_a_note_that_repeats_another_is_named_under_it(memory: Memory) -> None:
    found = memory.recall("why does the antenna connector shrink below minus five?", record_access=False, now=NOW)
    (first,) = (one for one in shown_hits(found.anchors, found.walkers) if one.repeats)
    places = {first.hit.node.source, first.repeats[0].node.source}
    assert places == {"vault/notes/Cold connector.md", "vault/notes/Digest.md"}
    drawn = result_list(memory, found).drawn()
    assert f"also in {first.repeats[0].node.source}" in drawn
    assert first.repeats[0].node.id not in shown_ids(found)
