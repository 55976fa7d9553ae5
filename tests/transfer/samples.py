"""Small exports of other apps in their real shape, written as the apps write them."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

# --- chats


def _message(id_: str, role: str, content: Mapping[str, Any], parent: str | None, **more: Any) -> dict[str, Any]:
    body = {
        "id": id_,
        "author": {"role": role, "name": None, "metadata": {}},
        "create_time": 1_710_000_000.0,
        "update_time": None,
        "content": content,
        "status": "finished_successfully",
        "end_turn": True,
        "weight": 1.0,
        "metadata": {},
        "recipient": "all",
        **more,
    }
    return {"id": id_, "message": body, "parent": parent, "children": []}


def _text(*parts: Any) -> dict[str, Any]:
    return {"content_type": "text", "parts": list(parts)}


CITED = "Port 8080 is free\ue200cite\ue202turn0search1\ue202turn0news3\ue201 on the mast computer【12†source】."


def chatgpt() -> list[dict[str, Any]]:
    """One chat with a hidden system message, a tool call, its output, thoughts, citations and an image."""
    image = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://file-1", "size_bytes": 9}
    nodes = [
        {"id": "root", "message": None, "parent": None, "children": []},
        _message("s", "system", _text(""), "root", metadata={"is_visually_hidden_from_conversation": True}),
        _message(
            "u",
            "user",
            {"content_type": "multimodal_text", "parts": [image, "Open a port for the receiver."]},
            "s",
            metadata={"attachments": [{"id": "file-1", "name": "mast.png", "size": 9}]},
        ),
        _message("t", "assistant", {"content_type": "thoughts", "thoughts": [{"summary": "Ports"}]}, "u"),
        _message(
            "c",
            "assistant",
            {"content_type": "code", "language": "unknown", "text": "search('free ports')"},
            "t",
            recipient="web",
        ),
        _message("o", "tool", _text("Ports 1 to 70000 are listed here by the tool."), "c"),
        _message("a", "assistant", _text(CITED), "o"),
    ]
    for before, after in pairwise(nodes):
        before["children"] = [after["id"]]
    return [
        {
            "title": "Ports on the mast",
            "create_time": 1_710_000_000.1,
            "update_time": 1_710_000_100.0,
            "mapping": {node["id"]: node for node in nodes},
            "moderation_results": [],
            "current_node": "a",
            "conversation_id": "6650-aa",
            "id": "6650-aa",
            "default_model_slug": "gpt-4o",
            "is_archived": False,
        }
    ]


CHATGPT_FILES: Mapping[str, Any] = {
    "conversations.json": chatgpt(),
    "user.json": {"id": "user-1", "email": "ada@example.org", "chatgpt_plus_user": True, "phone_number": "+4712345"},
    "message_feedback.json": [],
    "shared_conversations.json": [{"id": "x", "conversation_id": "6650-aa", "title": "Ports on the mast"}],
    "chat.html": "<html><body>Ports 1 to 70000 are listed here by the tool.</body></html>",
    "file-1-mast.png": "\x89PNG",
}

CLAUDE_FILES: Mapping[str, Any] = {
    "conversations.json": [
        {
            "uuid": "c-1",
            "name": "Antenna",
            "summary": "",
            "created_at": "2025-03-01T10:00:00.000000Z",
            "updated_at": "2025-03-01T10:05:00.000000Z",
            "account": {"uuid": "acc"},
            "chat_messages": [
                {
                    "uuid": "m-1",
                    "text": "Read this, please.",
                    "sender": "human",
                    "content": [{"type": "text", "text": "Read this, please.", "citations": []}],
                    "created_at": "2025-03-01T10:00:01.000000Z",
                    "updated_at": "2025-03-01T10:00:01.000000Z",
                    "attachments": [
                        {
                            "file_name": "report.txt",
                            "file_size": 99,
                            "file_type": "txt",
                            "extracted_content": "The antenna at Skarholm bends in storms above force nine.",
                        }
                    ],
                    "files": [{"file_name": "photo.jpg"}],
                },
                {
                    "uuid": "m-2",
                    "text": "```\nThis block is not supported on your current device yet.\n```",
                    "sender": "assistant",
                    "content": [
                        {"type": "thinking", "thinking": "The user shares a report."},
                        {"type": "tool_use", "name": "web_search", "input": {"query": "antenna"}},
                        {
                            "type": "tool_result",
                            "name": "web_search",
                            "content": [{"type": "text", "text": "TOOLTEXT"}],
                        },
                        {"type": "text", "text": "Crimped connectors hold it below minus five.", "citations": []},
                    ],
                    "created_at": "2025-03-01T10:00:09.000000Z",
                    "updated_at": "2025-03-01T10:00:09.000000Z",
                    "attachments": [],
                    "files": [],
                },
            ],
        }
    ],
    "projects.json": [
        {
            "uuid": "p-1",
            "name": "Mast rebuild",
            "description": "All about the new mast.",
            "is_private": True,
            "is_starter_project": False,
            "prompt_template": "Answer in metres.",
            "created_at": "2025-02-01T00:00:00.000000+00:00",
            "updated_at": "2025-02-01T00:00:00.000000+00:00",
            "creator": {"uuid": "acc", "full_name": "Ada"},
            "docs": [
                {
                    "uuid": "d-1",
                    "filename": "bolts.md",
                    "created_at": "2025-02-02T00:00:00Z",
                    "content": "# Bolts\n\nThe mast stands on twelve bolts of steel.",
                }
            ],
        }
    ],
    "memories.json": [
        {
            "conversations_memory": "**Work**\n\nAda repairs radio masts in Norway.",
            "project_memories": {"p-1": "Uses metres."},
            "account_uuid": "acc",
        }
    ],
    "users.json": [
        {"uuid": "acc", "full_name": "Ada", "email_address": "ada@example.org", "verified_phone_number": None}
    ],
}

# --- notes

ID_A, ID_B, ID_C = (
    "0f3ad1c80f3a41c8b0f3ad1c80f3ad1c",
    "1f3ad1c80f3a41c8b0f3ad1c80f3ad1c",
    "2f3ad1c80f3a41c8b0f3ad1c80f3ad1c",
)

_FIELD_NOTES = f"""# Field notes

Tags: radio, winter
Created: March 12, 2024 10:00 AM

The receiver is in [Reading list](Field%20notes%20{ID_A}/Reading%20list%20{ID_B}.csv) and in
[Emma](Reading%20list%20{ID_B}/Emma%20{ID_C}.md).
"""
_LIST = "\ufeffName,Author,Tags,Status\nEmma,Jane Austen,novel,Done\n"
_EMMA = "# Emma\n\nAuthor: Jane Austen\nStatus: Done\n\nEmma Woodhouse plans the weddings of others.\n"
NOTION_FILES: Mapping[str, str] = {
    f"Field notes {ID_A}.md": _FIELD_NOTES,
    f"Reading list {ID_B}.csv": _LIST,
    f"Reading list {ID_B}_all.csv": f'{_LIST}The Antenna Book,"ARRL, editors","radio, handbook",Reading\n',
    f"Reading list {ID_B}/Emma {ID_C}.md": _EMMA,
}

BLOCK = "65f0a1b2-1111-4222-8333-444455556666"
_ADA = f"""alias:: Ada Lovelace, Countess
tags:: [[people]], maths
type:: person

- Wrote the first program for the engine.
  id:: {BLOCK}
  collapsed:: true
\t- It computed Bernoulli numbers.
\t- DONE check the dates
\t  :LOGBOOK:
\t  CLOCK: [2024-03-12 Tue]
\t  :END:
"""
_ENGINE = f"""- mood:: bright
  The engine of [[Ada]] needs brass. #hardware
- As she said: (({BLOCK}))
- Nothing is known of ((00000000-1111-4222-8333-444455556666)) yet.
"""
LOGSEQ_FILES: Mapping[str, str] = {
    "logseq/config.edn": "{:meta/version 1}\n",
    "logseq/bak/pages/Old.md": "- A backup that nobody needs.\n",
    "pages/Ada.md": _ADA,
    "pages/projects___engine.md": _ENGINE,
    "journals/2024_03_12.md": "- Met [[Ada Lovelace]] about [[projects/engine]] #[[steam power]]\n",
}

ORG = """:PROPERTIES:
:ID:       11112222-3333-4444-5555-666677778888
:ROAM_ALIASES: "The mast" Tower
:END:
#+TITLE: Mast at Skarholm
#+FILETAGS: :radio:field:
# a comment for me alone

It stands since <2019-05-04 Sat>. See [[id:99992222-3333-4444-5555-666677778888][the storm]]
and [[file:bolts.org][the bolts]].

* TODO [#A] Grease the bolts :work:winter:
SCHEDULED: <2024-03-12 Tue 10:00>
:PROPERTIES:
:ID:       99992222-3333-4444-5555-666677778888
:EFFORT:   2h
:END:
:LOGBOOK:
CLOCK: [2024-03-01 Fri 10:00]--[2024-03-01 Fri 11:00] =>  1:00
:END:
Twelve bolts need copper grease before the frost.

** Tools
#+BEGIN_SRC python :results output
print("torque", 40)
#+END_SRC
"""

ROAM: list[dict[str, Any]] = [
    {
        "title": "Ada",
        "uid": "pAda00001",
        "create-time": 1_710_000_000_000,
        "edit-time": 1_710_000_000_000,
        "children": [
            {
                "string": "Wrote the first program for the [[engine]].",
                "uid": "bBlock001",
                "create-time": 1_710_000_000_000,
                "children": [{"string": "{{[[TODO]]}} read her letters #[[steam power]]", "uid": "bBlock002"}],
            },
            {"string": "Born:: 1815", "uid": "bBlock003"},
        ],
    },
    {
        "title": "March 12th, 2024",
        "uid": "03-12-2024",
        "edit-time": 1_710_201_600_000,
        "children": [{"string": "As noted: ((bBlock001)) and ((missing99))", "uid": "bBlock004"}],
    },
    {"title": "Empty page", "uid": "pEmpty001", "edit-time": 1_710_000_000_000},
]

CANVAS = {
    "nodes": [
        {"id": "g1", "type": "group", "x": -20, "y": -20, "width": 500, "height": 300, "label": "Winter work"},
        {
            "id": "t1",
            "type": "text",
            "text": "Crimp every connector of the receiver.",
            "x": 0,
            "y": 0,
            "width": 200,
            "height": 60,
        },
        {"id": "t2", "type": "text", "text": "Order copper grease.", "x": 900, "y": 0, "width": 200, "height": 60},
        {"id": "f1", "type": "file", "file": "notes/Receiver.md", "x": 900, "y": 300, "width": 200, "height": 60},
        {"id": "x1", "type": "plugin-card", "x": 0, "y": 900, "width": 1, "height": 1},
    ],
    "edges": [
        {"id": "e1", "fromNode": "t1", "fromSide": "right", "toNode": "t2", "toSide": "left", "label": "needs"},
        {"id": "e2", "fromNode": "f1", "toNode": "t1"},
        {"id": "e3", "fromNode": "gone", "toNode": "t1"},
    ],
}

KANBAN = """---

kanban-plugin: board

---

## To do

- [ ] Repair the silent receiver at Skarholm ^a1b2c3

***

## Archive

- [x] Climb the mast

%% kanban:settings
```
{"kanban-plugin":"board","list-collapse":[false]}
```
%%
"""

VAULT_FILES: Mapping[str, str] = {
    ".obsidian/templates.json": '{"folder": "meta/patterns"}',
    ".obsidian/app.json": "{}",
    "meta/patterns/Meeting.md": "# {{title}}\n\nWho was there on {{date}}?\n",
    "Templates/Daily.md": "# <% tp.date.now() %>\n\nWhat did I learn?\n",
    "Templates/On templates.md": "A note about how templates are written well.\n",
    "Board.md": KANBAN,
    "Mast.excalidraw.md": "---\nexcalidraw-plugin: parsed\n---\n# Excalidraw Data\n## Text Elements\nbase64base64 ^x\n",
    "Plan.canvas": json.dumps(CANVAS),
    "notes/Receiver.md": "# Receiver\n\nIt falls silent in frost. %% ask Jon about the secret buyer %%\n\n"
    "The spare one is in the hut. ^spare\n",
    "notes/Trip.md": "Take what [[Receiver#^spare]] says, and see ![[Board#^a1b2c3]].\n",
    "notes/mast.png": "png",
}

# --- CozoDB

_COLUMNS = [
    "id",
    "content",
    "source_path",
    "sequence",
    "timestamp",
    "tags",
    "buckets",
    "provenance",
    "simhash",
    "embedding",
]
_LOG, _AT = "field/log.md", 1_710_000_000_000
_SILENT, _CRIMPED = "The receiver at Skarholm falls silent in frost.", "Crimped connectors hold below minus five."
COZO = {
    "ok": True,
    "data": {
        "memory": {
            "headers": _COLUMNS,
            "rows": [
                ["atom_1", _SILENT, _LOG, 0, _AT, ["radio", "winter"], ["field"], "internal", "0", None],
                ["atom_2", _CRIMPED, _LOG, 1, _AT + 1, '["radio"]', "field,parts", "external", "0", None],
                ["atom_3", "", _LOG, 2, _AT, [], [], "internal", "0", None],
                ["atom_4", "short row"],
            ],
        },
        "memory:content_fts": {"headers": ["word", "id"], "rows": [["receiver", "atom_1"]]},
        "atom_tags": {"headers": ["atom_id", "tag"], "rows": [["atom_1", "Mast"], ["atom_9", "lost"]]},
        "edges": {
            "headers": ["from", "to", "type", "weight"],
            "rows": [["atom_1", "atom_2", "explained_by", 0.8], ["atom_1", "atom_9", "x", 1]],
        },
        "source": {"headers": ["path", "hash"], "rows": [["field/log.md", "abc"]]},
    },
}


def write_folder(folder: Path, files: Mapping[str, Any]) -> Path:
    """Writes the files; those that are not texts as JSON."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return folder


def write_zip(path: Path, files: Mapping[str, Any]) -> Path:
    """Writes the files into a zip archive; bytes as they are."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            data = content if isinstance(content, (str, bytes)) else json.dumps(content)
            archive.writestr(name, data)
    return path
