"""Recognising the format of a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuetrail.errors import CuetrailError, InputError, ReadError
from cuetrail.transfer.formats import detect_format
from cuetrail.transfer.formats.detect_format import detect, recognise

ENTITY = {"type": "entity", "name": "Ada", "entityType": "person", "observations": ['writes "mapping": {}']}
MEMORY = {"id": "1", "memory": "Likes tea", "metadata": None}
CHAT = {"title": "Tea", "create_time": 1.0, "mapping": {"a": {"message": None}}, "current_node": "a"}
CLAUDE = {"uuid": "u", "name": "Tea", "chat_messages": [{"sender": "human", "text": "hi"}]}
BASIC = "---\ntitle: A\ntype: note\npermalink: a\n---\n\n- [idea] b\n"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ([ENTITY], "mcp-memory"),
        ([{"type": "relation", "from": "a", "to": "b", "relationType": "c"}], "mcp-memory"),
        (["broken", ENTITY], "mcp-memory"),
        ([{"entities": [ENTITY], "relations": []}], "mcp-memory"),
        ([{"results": [MEMORY], "relations": []}], "mem0"),
        ([{"results": []}], "mem0"),
        ([[MEMORY]], "mem0"),
        ([MEMORY, MEMORY], "mem0"),
        ([{"memories": [{"id": "1", "content": "x"}]}], "mem0"),
        ([[CHAT]], "chatgpt"),
        ([[CLAUDE]], "claude"),
        ([{"cuetrail": 1}, MEMORY], "cuetrail"),
        ([{"type": "FeatureCollection"}], None),
        (["just text"], None),
        ([], None),
    ],
)
def test_a_file_is_known_by_its_content(tmp_path: Path, content: list[Any], expected: str | None) -> None:
    lines = [line if isinstance(line, str) else json.dumps(line) for line in content]
    (tmp_path / "file").write_text("\n".join(lines))
    assert detect(tmp_path / "file") == expected


def test_a_pretty_printed_and_long_file_is_known_by_its_start(tmp_path: Path) -> None:
    (tmp_path / "m.json").write_text(json.dumps({"results": [MEMORY] * 5000}, indent=2))
    (tmp_path / "c.json").write_text(json.dumps([CHAT] * 5000, indent=2))
    assert detect(tmp_path / "m.json") == "mem0"
    assert detect(tmp_path / "c.json") == "chatgpt"


def test_folders_are_known_by_the_notes_and_exports_in_them(tmp_path: Path) -> None:
    for name in ("basic", "vault/.obsidian", "plain", "export", "empty", "mixed"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "basic/a.md").write_text(BASIC)
    (tmp_path / "basic/b.md").write_text("- [idea] b\n- uses [[A]]\n")
    (tmp_path / "plain/a.md").write_text("# A plain note")
    (tmp_path / "export/conversations.json").write_text(json.dumps([CLAUDE]))
    (tmp_path / "mixed/a.md").write_text("# Read me")
    (tmp_path / "mixed/a.py").write_text("")
    (tmp_path / "mixed/b.py").write_text("")
    found = {name: detect(tmp_path / name) for name in ("basic", "vault", "plain", "export", "empty", "mixed")}
    assert found == {
        "basic": "basic-memory",
        "vault": "obsidian",
        "plain": "obsidian",
        "export": "claude",
        "empty": None,
        "mixed": None,
    }


def test_an_obsidian_vault_kept_by_basic_memory_is_basic_memory(tmp_path: Path) -> None:
    (tmp_path / ".obsidian").mkdir()
    (tmp_path / "a.md").write_text(BASIC)
    assert detect(tmp_path) == "basic-memory"
    assert detect(tmp_path / "a.md") == "basic-memory"


def test_a_path_that_is_not_there_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Check the path"):
        detect(tmp_path / "nothing")


@pytest.mark.parametrize("format", detect_format.FORMATS)
def test_load_and_dump_reach_every_format(tmp_path: Path, format: str) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text(json.dumps(ENTITY))
    detect_format.dump(detect_format.load(source, "mcp-memory"), tmp_path / "out", format)
    assert detect(tmp_path / "out") == format
    assert list(detect_format.load(tmp_path / "out", format))


@pytest.mark.parametrize(
    ("format", "road"), [("obsidian", "ingest"), ("chatgpt", "ingest"), ("claude", "ingest"), ("cuetrail", "import")]
)
def test_formats_read_elsewhere_name_the_road(tmp_path: Path, format: str, road: str) -> None:
    with pytest.raises(InputError, match=f"cuetrail {road}"):
        detect_format.load(tmp_path, format)


def test_an_unknown_format_names_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="mcp-memory, mem0, basic-memory"):
        detect_format.load(tmp_path, "zep")
    with pytest.raises(InputError, match="mcp-memory, mem0, basic-memory"):
        detect_format.dump([], tmp_path, "obsidian")


def test_a_place_that_cannot_be_written_is_an_input_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="Choose another path"):
        detect_format.dump([], tmp_path / "file" / "memory.jsonl", "mcp-memory")


@given(st.binary(max_size=300))
def test_no_bytes_make_detection_fail(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    folder = tmp_path_factory.mktemp("detect")
    for name in ("a.json", "a.md"):
        (folder / name).write_bytes(data)
        detect(folder / name)


# --- a format that is named


GARBAGE: dict[str, str | bytes] = {
    "text.txt": "just some words\nin two lines\n",
    "data.json": '{"type": "FeatureCollection", "features": []}',
    "list.json": "[1, 2, 3]",
    "noise.bin": bytes(range(256)),
    "code.py": "print('hello')\n",
}


@pytest.fixture
def garbage(tmp_path: Path) -> Path:
    """A folder with files of no known format, and a folder of nothing."""
    (tmp_path / "nothing").mkdir()
    for name, content in GARBAGE.items():
        (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return tmp_path


def take(path: Path, format: str) -> None:
    """Go as far as an import does before it writes."""
    told = recognise(path, format)
    if told in detect_format.FORMATS:
        list(detect_format.load(path, told))


@pytest.mark.parametrize("name", [*GARBAGE, "nothing", "."])
@pytest.mark.parametrize("format", [name for name in detect_format.ALL if name != "cuetrail"])
def test_what_is_not_in_the_format_that_was_named_is_refused(garbage: Path, format: str, name: str) -> None:
    with pytest.raises(CuetrailError, match=r"is not in the format|is a folder|neither JSON nor JSONL"):
        take(garbage / name, format)


@pytest.mark.parametrize(
    ("content", "format", "seen"),
    [({"cuetrail": 1}, "mem0", "cuetrail"), ([CHAT], "claude", "chatgpt"), (ENTITY, "mem0", "mcp-memory")],
)
def test_a_file_in_another_format_says_in_which(tmp_path: Path, content: Any, format: str, seen: str) -> None:
    (tmp_path / "file").write_text(json.dumps(content))
    with pytest.raises(ReadError, match=f"not in the format {format}: it looks like {seen}; leave --format out"):
        recognise(tmp_path / "file", format)


def test_what_cannot_be_told_names_every_format(garbage: Path) -> None:
    with pytest.raises(InputError) as refused:
        recognise(garbage / "text.txt")
    assert all(name in str(refused.value) for name in detect_format.ALL)
    assert "cuetrail ingest" in str(refused.value)


def test_one_sign_is_enough_for_notes_whose_format_is_named(tmp_path: Path) -> None:
    for name, text in (("a", "# Plain"), ("b", "Plain too"), ("c", "- [idea] one observation")):
        (tmp_path / f"{name}.md").write_text(text)
    assert recognise(tmp_path) == recognise(tmp_path, "obsidian") == "obsidian"
    assert recognise(tmp_path, "basic-memory") == "basic-memory"
    (tmp_path / "c.md").unlink()
    with pytest.raises(ReadError, match="cuetrail ingest"):
        recognise(tmp_path, "basic-memory")


@pytest.mark.parametrize("content", ["", "[]", '{"results": []}'])
def test_an_empty_export_of_mem0_is_one(tmp_path: Path, content: str) -> None:
    (tmp_path / "mem0.json").write_text(content)
    take(tmp_path / "mem0.json", "mem0")
