"""On both engines no field of any verb and no ordinary disguise brings forgotten words back."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from cuetrail import Memory
from cuetrail.errors import Forgotten
from tests.traces import traces
from tests.write.test_forget_fields import ADDITIONS, DISGUISES, FIELDS, SECRET

WORDS = ("zanzibarquux", "vermilionish", "floorboardium")


@pytest.fixture
def memory(address: str) -> Iterator[Memory]:
    """A memory in which the secret was forgotten."""
    with Memory(address, embedder=None) as opened:
        opened.add("A walk with Pia", id="walk")
        opened.add(name="Pia", kind="person", id="pia")
        opened.add(name="Tom", kind="person", id="tom")
        opened.forget(opened.add(SECRET).id)
        yield opened


def test_every_field_of_every_verb_refuses_forgotten_words(memory: Memory) -> None:
    for field, write in FIELDS.items():
        with pytest.raises(Forgotten):
            write(memory)
        assert (field, traces(memory, WORDS)) == (field, [])
    assert memory.doctor() == []


def test_a_disguised_text_is_refused_and_left_out_of_files_and_imports(memory: Memory, tmp_path: Path) -> None:
    disguised = (*DISGUISES, *ADDITIONS)
    taken = []
    for text in disguised:
        try:
            taken.append(memory.add(text).text)
        except Forgotten:
            continue
    assert taken == []
    vault = tmp_path / "vault"
    vault.mkdir()
    for number, text in enumerate(disguised):
        (vault / f"{number}.md").write_text(f"A paragraph of its own before number {number}.\n\n{text}\n", "utf-8")
    unread = memory.ingest(vault).errors
    assert all("is binary, not text" in error.error for error in unread)
    lines = [{"type": "node", "id": f"i{number}", "text": text} for number, text in enumerate(disguised)]
    path = tmp_path / "in.jsonl"
    path.write_text("\n".join(['{"cuetrail": 1}', *map(json.dumps, lines)]))
    memory.import_(path)
    assert traces(memory, WORDS) == []
    texts = [node.text for node in memory.timeline(limit=1000).nodes]
    assert sum("of its own before number" in text for text in texts) == len(disguised) - len(unread)
    # Also where other characters stand between its letters.
    letters = [re.sub("[^a-z]", "", text.lower()) for text in texts]
    assert [text for text in letters if WORDS[0] in text] == []
    memory.dream()
    assert traces(memory, WORDS) == []
    assert memory.doctor() == []


def test_a_disguised_text_said_in_a_chat_is_left_out(memory: Memory) -> None:
    disguised = [{"role": "user", "content": text} for text in (*DISGUISES, *ADDITIONS)]
    report = memory.chat([*disguised, {"role": "user", "content": "Something else was said."}], source="talk")
    assert report.ids[-1] is not None
    assert traces(memory, WORDS) == []
    # And as it comes from a product: the speaker stands in front.
    memory.ingest_text(json.dumps(disguised), source="talk.json")
    assert traces(memory, WORDS) == []


def test_a_bucket_or_tag_that_is_a_disguised_text_is_refused(memory: Memory) -> None:
    for text in (SECRET, f"Ann: {SECRET}", f"Fwd: {SECRET}", f"[12:03] Ann: {SECRET}", f"TODO {SECRET}"):
        for field in ("buckets", "tags"):
            with pytest.raises(Forgotten):
                memory.add("A walk by the sea", **{field: [text]})  # type: ignore[arg-type]  # a list for each of them
    assert traces(memory, WORDS) == []
