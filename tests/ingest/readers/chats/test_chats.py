"""Chats as JSON and JSONL, and the exports of ChatGPT and Claude."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cuetrail.errors import ReadError
from cuetrail.ingest.document import Document
from tests.ingest.readers.tools import DAY, one, read_file, write

ROLE_LIST = [
    {"role": "user", "content": "Hi, I'm Ada"},
    {"role": "assistant", "content": [{"type": "text", "text": "Hello"}]},
]
CHATGPT = [
    {
        "id": "c1",
        "title": "Birds",
        "create_time": DAY / 1000,
        "current_node": "d",
        "mapping": {
            "a": {"message": None, "parent": None, "children": ["b"]},
            "b": {
                "message": {
                    "author": {"role": "user"},
                    "create_time": DAY / 1000 + 1,
                    "content": {"content_type": "multimodal_text", "parts": [{"asset_pointer": "x"}, "What bird?"]},
                },
                "parent": "a",
                "children": ["x", "d"],
            },
            "x": {
                "message": {"author": {"role": "assistant"}, "content": {"parts": ["Old branch"]}},
                "parent": "b",
                "children": [],
            },
            "d": {
                "message": {"author": {"role": "assistant"}, "content": {"parts": ["A warbler"]}},
                "parent": "b",
                "children": [],
            },
        },
    }
]
CLAUDE = [
    {
        "uuid": "u1",
        "name": "Radio",
        "created_at": "2024-03-12T00:00:00Z",
        "chat_messages": [
            {"sender": "human", "text": "Why?", "created_at": "2024-03-12T00:00:01Z"},
            {
                "sender": "assistant",
                "text": "",
                "content": [{"type": "thinking", "thinking": "x"}, {"type": "text", "text": "Cold."}],
            },
        ],
    },
    {"uuid": "u1", "name": "", "chat_messages": [{"sender": "human", "text": "Again"}]},
]


def turns(document: Document) -> list[str]:
    return [piece.text for piece in document.pieces]


def test_a_list_of_roles_is_one_chat(tmp_path: Path) -> None:
    chat = one(tmp_path, "c.json", json.dumps(ROLE_LIST))
    assert (chat.path, chat.kind, chat.title) == ("c.json#1", "chat", "c")
    assert turns(chat) == ["user: Hi, I'm Ada", "assistant: Hello"]
    assert [piece.speaker for piece in chat.pieces] == ["user", "assistant"]


def test_json_lines_and_messages_objects_are_chats(tmp_path: Path) -> None:
    lines = "\n".join(json.dumps(turn) for turn in ROLE_LIST)
    assert turns(one(tmp_path, "c.jsonl", lines)) == ["user: Hi, I'm Ada", "assistant: Hello"]
    assert turns(one(tmp_path, "c.json", json.dumps({"messages": ROLE_LIST, "title": "T"})))[1] == "assistant: Hello"
    many = "\n".join(json.dumps({"messages": ROLE_LIST}) for _ in range(3))
    paths = [document.path for document in read_file(write(tmp_path, "m.ndjson", many), "m.ndjson")]
    assert paths == ["m.ndjson#1", "m.ndjson#2", "m.ndjson#3"]


def test_a_log_that_ends_in_half_a_line_is_read_up_to_it(tmp_path: Path) -> None:
    chat = one(tmp_path, "c.jsonl", json.dumps(ROLE_LIST[0]) + '\n{"role": "assis')
    assert (turns(chat), chat.props["skipped_lines"]) == (["user: Hi, I'm Ada"], 1)


def test_a_chatgpt_export_follows_the_branch_that_was_kept(tmp_path: Path) -> None:
    chat = one(tmp_path, "conversations.json", json.dumps(CHATGPT))
    assert (chat.path, chat.title, chat.at) == ("conversations.json#c1", "Birds", DAY)
    assert turns(chat) == ["user: What bird?\nassistant: A warbler"]
    assert [(piece.at, piece.speaker) for piece in chat.pieces] == [(DAY + 1000, "assistant")]


def test_a_claude_export_gives_a_document_for_each_conversation(tmp_path: Path) -> None:
    first, second = read_file(write(tmp_path, "conversations.json", json.dumps(CLAUDE)), "conversations.json")
    assert (first.title, first.at, turns(first)) == ("Radio", DAY, ["human: Why?\nassistant: Cold."])
    assert first.pieces[0].at == DAY + 1000
    assert (second.path, second.title) == ("conversations.json#u1-2", "conversations 2")


def test_a_long_turn_is_split_and_every_piece_keeps_its_speaker_and_time(tmp_path: Path) -> None:
    text = "\n\n".join("This is one sentence of several. " * 20 for _ in range(5))
    chat = one(tmp_path, "c.json", json.dumps([{"role": "user", "content": text, "timestamp": "2024-03-12"}]))
    assert len(chat.pieces) >= 3
    for piece in chat.pieces:
        assert (piece.speaker, piece.at, piece.text[:6]) == ("user", DAY, "user: ")
        assert len(piece.text) <= 1400


def test_a_turn_without_words_is_left_out(tmp_path: Path) -> None:
    silent: list[Any] = [{"role": "assistant", "content": None, "tool_calls": []}, *ROLE_LIST]
    assert len(one(tmp_path, "c.json", json.dumps(silent)).pieces) == 2


@pytest.mark.parametrize(
    "content", ['{"a": [1, 2]}', "[1, 2]", '"text"', "{broken", "[" * 100_000, '// note\n{"a": 1}', "3"]
)
def test_json_of_any_other_shape_is_read_as_text(tmp_path: Path, content: str) -> None:
    document = one(tmp_path, "x.json", content)
    assert document.kind == "text"
    assert "".join(piece.text for piece in document.pieces) == content


@pytest.mark.parametrize("content", ["", "  \n", "[]", "{}"])
def test_empty_json_says_so(tmp_path: Path, content: str) -> None:
    with pytest.raises(ReadError, match="empty JSON"):
        read_file(write(tmp_path, "x.json", content), "x.json")
