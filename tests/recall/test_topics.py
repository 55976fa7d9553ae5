"""Texts without names are tied by what they are about: a cue that names it finds them, as do texts that mention it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cuetrail import Memory

TEXTS = {
    "film": "Ed Wood (film)\nEd Wood is a 1994 American film about a director, made by Tim Burton.",
    "burton": "Tim Burton is an American artist who was born in Burbank.",
    "burbank": "Burbank (California)\nA town with many studios lies there.",
    "rain": "It rained for a week, and the harvest was lost.",
}


@pytest.fixture(params=[True, False])
def memory(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Memory]:
    with Memory(tmp_path / "memory", embedder="static" if request.param else None) as opened:
        opened.add_many([{"id": id_, "text": text} for id_, text in TEXTS.items()])
        yield opened


def test_a_cue_that_is_a_title_or_a_subject_finds_its_text_first(memory: Memory) -> None:
    for cue, id_ in (
        ("Ed Wood (film)", "film"),
        ("tim burton", "burton"),
        ("what do I know about Burbank?", "burbank"),
    ):
        assert memory.recall(cue).hits[0].node.id == id_


def test_a_text_leads_to_what_it_mentions_and_on_from_there(memory: Memory) -> None:
    found = {hit.node.id: hit for hit in memory.recall("where was the maker of Ed Wood born?").hits}
    assert list(found)[:2] in (["film", "burton"], ["burton", "film"])
    assert "burbank" in found
    assert [hop["kind"] for hop in found["burton"].why["path"]] == ["name"]


def test_a_name_that_many_texts_share_leads_to_none_of_them(memory: Memory) -> None:
    memory.add("The ferry sails to Bodø at noon.", id="ferry")
    memory.add_many([{"id": f"b{n}", "text": f"Bodø is a town of kind {n}."} for n in range(30)])
    found = memory.recall("when does the ferry sail?", limit=50).hits
    assert found[0].node.id == "ferry"
    assert not [hit.node.id for hit in found[1:] if {"named", "walk"} & set(hit.why["found_by"])]
