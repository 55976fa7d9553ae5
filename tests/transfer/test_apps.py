"""Exports of other apps, as they are downloaded: what comes in, what is left out, and that it is counted."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from cuetrail import Memory, files
from cuetrail.errors import InputError, ReadError
from cuetrail.model import Node
from tests.traces import traces
from tests.transfer import samples
from tests.transfer.samples import write_folder, write_zip


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "memory", embedder=None) as opened:
        yield opened


def atoms(memory: Memory) -> dict[str, Node]:
    """The atoms of a memory by the first line of their text."""
    found = memory.timeline(limit=1000, kinds=["atom"]).nodes
    return {node.text.split("\n", 1)[0]: node for node in found}


def all_text(memory: Memory) -> str:
    return "\n".join(f"{node.name} {node.text}" for node in memory.timeline(limit=1000, kinds=["atom", "source"]).nodes)


def linked(memory: Memory, id_: str) -> set[str]:
    """The names, or beginnings, of the nodes that a node links to or is linked from."""
    steps = memory.neighbours(id_, limit=100).neighbours
    nodes = memory.nodes(*[step.id for step in steps if step.kind == "links"])
    return {node.name or node.text.split("\n", 1)[0] for node in nodes.values()}


def test_a_zip_of_chatgpt_gives_its_messages_and_counts_the_rest(memory: Memory, tmp_path: Path) -> None:
    file = write_zip(tmp_path / "3f-2025-11-19.zip", samples.CHATGPT_FILES)
    report = memory.import_(file)
    assert (report.format, report.errors) == ("chatgpt", ())
    assert report.read == {"conversations": 1, "messages": 2}
    assert report.skipped == {
        "messages of the system": 1, "thoughts and settings of the model": 1, "tool calls": 1, "tool outputs": 1,
        "marks of citations": 2, "attachments without text": 1, "pages with the same chats": 1,
        "files with account data": 1, "files of the export without chats": 2, ".png files": 1,
    }  # fmt: skip
    assert set(atoms(memory)) == {
        "user: Open a port for the receiver.", "assistant: Port 8080 is free on the mast computer."
    }  # fmt: skip
    assert "example.org" not in all_text(memory)


def test_a_later_zip_brings_what_is_new_and_removes_nothing_else(memory: Memory, tmp_path: Path) -> None:
    memory.import_(write_zip(tmp_path / "first.zip", samples.CHATGPT_FILES))
    more = json.loads(json.dumps(samples.chatgpt()))
    more[0] |= {"id": "7777-bb", "conversation_id": "7777-bb"}
    more[0]["mapping"]["a"]["message"]["content"]["parts"] = ["Port 9090 is better."]
    report = memory.import_(
        write_zip(tmp_path / "second.zip", {"conversations.json": [*samples.chatgpt(), *more], "chat.html": "x"})
    )
    assert (report.added, report.unchanged) == (2, 2)


@pytest.mark.parametrize("write", [write_folder, write_zip], ids=["folder", "zip"])
def test_claude_gives_chats_attachments_projects_and_memories(
    memory: Memory, tmp_path: Path, write: Callable[[Path, Mapping[str, Any]], Path]
) -> None:
    report = memory.import_(write(tmp_path / ("claude.zip" if write is write_zip else "claude"), samples.CLAUDE_FILES))
    assert (report.format, report.errors) == ("claude", ())
    assert report.read == {
        "conversations": 1, "messages": 2, "projects": 1, "documents of projects": 1, "memories": 2
    }  # fmt: skip
    assert (
        report.skipped["tool outputs"] == report.skipped["tool calls"] == report.skipped["files with account data"] == 1
    )
    found = atoms(memory)
    attachment = found["report.txt:"]
    assert "bends in storms" in attachment.text
    assert attachment.props["attachment"] == "report.txt"
    assert "speaker" not in attachment.props
    assert "Mast rebuild" in linked(memory, "bolts.md")
    assert {"TOOLTEXT", "not supported", "example.org"}.isdisjoint(all_text(memory).split())


def test_a_notion_zip_inside_a_zip_gives_pages_rows_and_links(memory: Memory, tmp_path: Path) -> None:
    inner = write_zip(tmp_path / "Part-1.zip", samples.NOTION_FILES).read_bytes()
    report = memory.import_(write_zip(tmp_path / "Export.zip", {"Export-Part-1.zip": inner}))
    assert (report.format, report.errors) == ("notion", ())
    assert report.read == {"pages": 2, "databases": 1, "rows": 2}
    assert report.skipped == {
        "databases that another file has with all rows": 1, "rows that have a page of their own": 1
    }  # fmt: skip
    found = atoms(memory)
    assert found["The Antenna Book"].own_tags == ("radio", "handbook")
    assert found["Author: Jane Austen"].buckets == ("reading_list",)
    notes = memory.get("Field notes")
    assert notes is not None
    assert (notes.own_tags, notes.at) == (("radio", "winter"), 1_710_201_600_000)
    assert linked(memory, found["Tags: radio, winter"].id) == {"Reading list", "Emma"}


def test_a_logseq_graph_keeps_blocks_properties_references_and_journals(memory: Memory, tmp_path: Path) -> None:
    report = memory.import_(write_folder(tmp_path / "graph", samples.LOGSEQ_FILES))
    assert (report.format, report.errors) == ("logseq", ())
    assert report.read == {"pages": 3, "blocks": 7}
    assert report.skipped == {"backups and settings of Logseq": 1, "references to unknown blocks": 1}
    ada, engine, day = (memory.get(name) for name in ("Countess", "projects/engine", "Mar 12th, 2024"))
    assert ada is not None
    assert engine is not None
    assert day is not None
    assert (ada.name, ada.own_tags) == ("Ada", ("people", "maths"))
    assert (day.name, day.at) == ("2024-03-12", 1_710_201_600_000)
    found = atoms(memory)
    assert "LOGBOOK" not in all_text(memory)
    quoting = found["The engine of [[Ada]] needs brass. #hardware"]
    assert "As she said: Wrote the first program for the engine." in quoting.text
    assert "Wrote the first program for the engine." in linked(memory, quoting.id)
    met = next(node for text, node in found.items() if text.startswith("Met"))
    assert linked(memory, met.id) >= {"Ada", "projects/engine"}
    assert met.own_tags == ("steam_power",)


def test_org_files_keep_headings_tags_properties_times_and_links(memory: Memory, tmp_path: Path) -> None:
    report = memory.import_(
        write_folder(tmp_path / "org", {"mast.org": samples.ORG, "bolts.org": "* Bolts\nTwelve.\n"})
    )
    assert (report.format, report.errors) == ("org", ())
    assert report.skipped == {"comments": 1, "drawers": 1}
    mast = memory.get("Tower")
    assert mast is not None
    assert (mast.name, mast.own_tags) == ("Mast at Skarholm", ("radio", "field"))
    task = atoms(memory)["TODO: Grease the bolts"]
    assert set(task.own_tags) == {"work", "winter", "radio", "field"}
    assert task.at == 1_710_237_600_000
    assert 'print("torque", 40)' in task.text
    assert "effort: 2h" in task.text
    assert "CLOCK" not in all_text(memory)
    intro = next(node for text, node in atoms(memory).items() if text.startswith("It stands since 2019-05-04"))
    assert {"bolts", "TODO: Grease the bolts"} <= linked(memory, intro.id)


def test_a_roam_graph_gives_pages_with_their_outline(memory: Memory, tmp_path: Path) -> None:
    report = memory.import_(write_zip(tmp_path / "Roam-Export.zip", {"graph.json": samples.ROAM}))
    assert (report.format, report.read) == ("roam", {"pages": 2, "blocks": 4})
    assert report.skipped == {"pages without text": 1, "references to unknown blocks": 1}
    quoting = next(node for node in atoms(memory).values() if node.text.startswith("As noted"))
    assert "Wrote the first program" in quoting.text
    assert quoting.at == 1_710_201_600_000
    assert "Born: 1815" in all_text(memory)


def test_a_vault_leaves_out_drawings_templates_comments_and_settings(memory: Memory, tmp_path: Path) -> None:
    report = memory.import_(write_folder(tmp_path / "vault", samples.VAULT_FILES))
    assert (report.format, report.errors) == ("obsidian", ())
    assert report.skipped == {
        "drawings": 1, "templates": 2, "comments": 2, ".png files": 1, "cards that are not read": 1,
        "arrows without ends": 1
    }  # fmt: skip
    text = all_text(memory)
    assert [
        word for word in ("secret buyer", "kanban-plugin", "base64", "Who was there", "learn?") if word in text
    ] == []
    assert "how templates are written" in text


def test_cards_of_a_canvas_and_marked_blocks_are_linked(memory: Memory, tmp_path: Path) -> None:
    memory.import_(write_folder(tmp_path / "vault", samples.VAULT_FILES))
    found = atoms(memory)
    card = found["Winter work:"]
    assert card.text == "Winter work:\nCrimp every connector of the receiver."
    assert linked(memory, card.id) >= {"Order copper grease.", "Receiver"}
    assert "needs" in next(text for text in found if "→" in text)
    trip = next(node for text, node in found.items() if text.startswith("Take what"))
    assert linked(memory, trip.id) == {"Receiver", "It falls silent in frost.", "Board", "To do:"}


def test_a_mark_that_is_taken_from_a_note_is_gone_after_the_next_ingest(memory: Memory, tmp_path: Path) -> None:
    folder = write_folder(
        tmp_path / "vault", {"a.md": "The spare one is in the hut. ^spare\n", "b.md": "See [[a#^spare]].\n"}
    )
    memory.ingest(folder)
    assert linked(memory, atoms(memory)["See [[a#^spare]]."].id) == {"a", "The spare one is in the hut."}
    (folder / "a.md").write_text("The spare one is in the hut now.\n")
    memory.ingest(folder)
    assert linked(memory, atoms(memory)["See [[a#^spare]]."].id) == {"a"}


def test_atoms_of_cozodb_come_with_tags_edges_sources_positions_and_times(memory: Memory, tmp_path: Path) -> None:
    file = tmp_path / "export.json"
    file.write_text(json.dumps(samples.COZO))
    report = memory.import_(file)
    assert (report.format, report.nodes, report.edges, len(report.errors)) == ("cozodb", 2, 1, 4)
    assert report.skipped["indexes"] == 1
    first, second = memory.get("cozodb:atom_1"), memory.get("cozodb:atom_2")
    assert first is not None
    assert second is not None
    assert (first.own_tags, first.buckets, first.source, first.seq) == (
        ("radio", "winter", "mast"), ("field",), "field/log.md", 0
    )  # fmt: skip
    assert (second.seq, second.at, second.provenance) == (1, 1_710_000_000_001, "external")
    assert {error.error.split(":")[0] for error in report.errors} == {
        "relation 'memory', row 3", "relation 'memory', row 4", "relation 'atom_tags', row 2", "relation 'edges', row 2"
    }  # fmt: skip
    assert memory.import_(file).unchanged == 3


EXPORTS: Mapping[str, Mapping[str, Any]] = {
    "chatgpt.zip": samples.CHATGPT_FILES, "claude.zip": samples.CLAUDE_FILES, "notion.zip": samples.NOTION_FILES,
    "logseq.zip": samples.LOGSEQ_FILES, "org.zip": {"mast.org": samples.ORG}, "roam.zip": {"graph.json": samples.ROAM},
    "vault.zip": samples.VAULT_FILES, "cozo.zip": {"cozo.json": samples.COZO},
}  # fmt: skip


@pytest.mark.parametrize("name", EXPORTS)
def test_a_dry_run_counts_what_an_import_brings_and_writes_nothing(memory: Memory, tmp_path: Path, name: str) -> None:
    file = write_zip(tmp_path / name, EXPORTS[name])
    before = memory.import_(file, dry_run=True)
    assert memory.stats().nodes == 0
    after = memory.import_(file)
    assert before.dry_run
    for field in ("format", "nodes", "added", "read", "skipped", "errors"):
        assert getattr(before, field) == getattr(after, field), field


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("chatgpt.zip", "Port 8080 is free on the mast computer."),
        ("claude.zip", "The antenna at Skarholm bends in storms above force nine."),
        ("claude.zip", "The mast stands on twelve bolts of steel."),
        ("notion.zip", "Emma Woodhouse plans the weddings of others."),
        ("logseq.zip", "Wrote the first program for the engine."),
        ("org.zip", "Twelve bolts need copper grease before the frost."),
        ("roam.zip", "Wrote the first program for the [[engine]]."),
        ("vault.zip", "Crimp every connector of the receiver."),
        ("cozo.zip", "Crimped connectors hold below minus five."),
    ],
)
def test_what_was_forgotten_comes_back_by_no_export(memory: Memory, tmp_path: Path, name: str, words: str) -> None:
    memory.forget(memory.add(words).id)
    memory.import_(write_zip(tmp_path / name, EXPORTS[name]))
    telling = max(words.strip(".").replace("[", "").replace("]", "").split(), key=len)
    kept = [trace for trace in traces(memory, (telling,)) if words in str(trace)]
    assert kept == []
    assert words not in all_text(memory)


def test_values_of_cozodb_that_no_memory_can_hold_are_refused_row_by_row(memory: Memory, tmp_path: Path) -> None:
    file = tmp_path / "cozo.json"
    rows = [
        ["a", "Sheep are shorn in May.", "[" * 50_000, 1],
        ["b", "The barn is red.", [], 10**400],
        ["c", "A gate.", [], 2],
    ]
    relations = {
        "memory": {"headers": ["id", "content", "tags", "seq"], "rows": rows},
        "edges": {"headers": ["from", "to", "weight"], "rows": [["a", "c", 10**400], ["c", "a", -(10**400)]]},
    }
    file.write_text(json.dumps(relations))
    report = memory.import_(file)
    assert (report.nodes, report.edges, len(report.errors)) == (2, 2, 1)


def test_json_that_only_fills_the_memory_is_refused_by_every_reader(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "JSON_BYTES", 10_000_000)
    lists = "[" + "[]," * 300_000 + "1]"
    for name, text in (
        ("conversations.json", f'[{{"title": "t", "create_time": 1, "mapping": {{}}, "x": {lists}}}]'),
        ("cozo.json", f'{{"memory": {{"headers": ["id", "content"], "rows": {lists}}}}}'),
        ("own.jsonl", f'{{"cuetrail": 1}}\n{{"type": "node", "id": "a", "props": {{"x": {lists}}}}}\n'),
    ):
        (tmp_path / name).write_text(text)
        try:
            (error,) = memory.import_(tmp_path / name).errors
            told = error.error
        except ReadError as refused:
            told = str(refused)
        assert "of memory" in told, name
    assert memory.stats().nodes == 0


@pytest.mark.parametrize(
    ("name", "content", "hint"),
    [
        ("keep.json", {"textContent": "x", "userEditedTimestampUsec": 1}, "Google Keep"),
        ("Journal.json", {"metadata": {"version": "1.0"}, "entries": [{"text": "x"}]}, "Day One"),
        ("mem.json", [{"memory": "Likes tea", "user_id": "ada"}], "cuetrail import"),
        ("cozo.json", {"memory": {"headers": [], "rows": []}}, "cuetrail import"),
    ],
)
def test_the_export_of_a_known_product_is_refused_with_a_hint(
    memory: Memory, tmp_path: Path, name: str, content: Any, hint: str
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / name).write_text(json.dumps(content))
    [error] = memory.ingest(tmp_path / "in").errors
    assert hint in error.error
    assert memory.stats().nodes == 0


def test_a_database_is_refused_with_a_hint_by_every_road(memory: Memory, tmp_path: Path) -> None:
    file = tmp_path / "notes.sqlite"
    file.write_bytes(b"SQLite format 3\x00" + bytes(200))
    assert "database of SQLite" in memory.ingest(file).errors[0].error
    with pytest.raises(ReadError, match="database of SQLite"):
        memory.import_(file)


def test_an_archive_of_nothing_known_says_what_to_do(memory: Memory, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"stuff\.zip is: name its format"):
        memory.import_(write_zip(tmp_path / "stuff.zip", {"a.bin": "x", "b.bin": "y"}))
