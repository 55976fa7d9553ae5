"""No field of any record of an import brings forgotten words back, on both engines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cuetrail import Memory
from tests.traces import traces

SECRET = "Zanzibarquux keeps the vermilionish ledger under floorboardium seventeen"
TAG = "zanzibarquux_keeps_the_vermilionish_ledger_under_floorboardium_seventeen"
WORDS = ("zanzibarquux", "vermilionish", "floorboardium")
NODE = {"type": "node", "id": "x", "text": "A text of its own", "at": 1}
EDGE = {"type": "edge", "id": "e", "src": "a", "dst": "b"}
FACT = {"type": "fact", "id": "f", "subject": "a", "predicate": "uses", "value": "SQLite"}
NOTE = {"type": "note", "id": "n", "target": "a", "text": "A remark"}
LINK = {"type": "link", "src": "a", "norm": "pia", "display": "Pia", "kind": "wikilink"}
VERSION = {"type": "version", "id": "a", "at": 1, "name": None, "text": "An earlier text"}
FILE = {"type": "source", "path": "a.md", "size": 1, "mtime_ns": 1, "hash": "0", "ingested": 1}
LINES: tuple[dict[str, Any], ...] = (
    {**NODE, "id": SECRET}, {**NODE, "text": f"One. {SECRET}. Two."}, {**NODE, "name": SECRET},
    {**NODE, "kind": SECRET},
    {**NODE, "aliases": [SECRET, "other"]}, {**NODE, "tag_details": [[TAG, SECRET, "user"]]},
    {**NODE, "tag_details": [[TAG, "red", "user"]]}, {**NODE, "tag_details": [["red", SECRET, "user"]]},
    {**NODE, "buckets": [SECRET]}, {**NODE, "props": {"a": {SECRET: [SECRET, {"b": SECRET}]}}},
    {**NODE, "props": {"about": [SECRET], "title": SECRET}},
    {**NODE, "props": {"summary": SECRET, "keywords": list(WORDS)}, "kind": "source", "name": "File"},
    {**NODE, "props": {"near": {"tags": [TAG], "buckets": [TAG]}}}, {**NODE, "text": "", "name": SECRET},
    {**EDGE, "id": SECRET}, {**EDGE, "kind": SECRET}, {**EDGE, "text": SECRET}, {**EDGE, "relation": SECRET},
    {**EDGE, "tags": [SECRET]}, {**EDGE, "tags": [TAG]}, {**EDGE, "props": {"a": [SECRET]}}, {**EDGE, "via": SECRET},
    {**EDGE, "via": f"name:{SECRET.lower()}"},
    {**FACT, "id": SECRET}, {**FACT, "predicate": SECRET}, {**FACT, "predicate": TAG}, {**FACT, "value": SECRET},
    {**FACT, "tags": [SECRET]}, {**FACT, "source_ref": SECRET}, {**FACT, "superseded_by": SECRET},
    {**FACT, "source": SECRET},
    {**NOTE, "id": SECRET}, {**NOTE, "text": SECRET}, {**NOTE, "text": f"Kept. {SECRET}!"},
    {**LINK, "display": SECRET}, {**LINK, "norm": SECRET.lower()}, {**LINK, "kind": SECRET},
    {**VERSION, "text": SECRET}, {**VERSION, "name": SECRET}, {**VERSION, "id": SECRET},
    {**FILE, "hash": SECRET},
    {"type": "mention", "source": "a", "node": SECRET, "at": 1}, {"type": "tombstone", "hash": SECRET, "at": 1},
    {**NODE, "team": SECRET}, {**NODE, "provenance": SECRET}, {**NODE, "life": {"state": SECRET}},
    {**NODE, "life": {"retention": SECRET}},
)  # fmt: skip


@pytest.fixture
def memory(address: str) -> Iterator[Memory]:
    """A memory in which the secret was forgotten."""
    with Memory(address, embedder=None) as opened:
        opened.add("The first node", id="a")
        opened.add("The second node", id="b")
        opened.forget(opened.add(SECRET).id)
        yield opened


def test_a_forgotten_file_comes_back_by_no_line_of_an_earlier_export(address: str, tmp_path: Path) -> None:
    with Memory(address) as memory:
        memory.ingest_text("Something that stays here.", source="other.md")
        fields = "---\ntags: [hushtagged]\naliases: [Obsidianfalcon]\n---\n"
        text = f"{fields}# Telltale\n\n{SECRET}.\n\nSeen by Quillonia Zwei."
        memory.ingest_text(text, source="cellar/telltale.md")
        memory.edit(memory.recall(SECRET).hits[0].node.id, text=f"{SECRET} now.")
        memory.dream()
        memory.export(tmp_path / "before.jsonl", vectors=True)
        memory.forget(source="cellar/telltale.md")
        words = (*WORDS, "hushtagged", "obsidianfalcon", "telltale", "quillonia")
        assert traces(memory, words) == []
        memory.import_(tmp_path / "before.jsonl")
        assert traces(memory, words) == []
        memory.dream()
        assert traces(memory, words) == []


def test_no_field_of_a_line_brings_it_back(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    for line in LINES:
        path.write_text(f'{{"cuetrail": 1}}\n{json.dumps(line)}\n')
        memory.import_(path)
        assert (line, traces(memory, WORDS)) == (line, [])
    path.write_text("\n".join(['{"cuetrail": 1}', *map(json.dumps, LINES)]))
    memory.import_(path)
    assert traces(memory, WORDS) == []
    assert memory.doctor() == []
