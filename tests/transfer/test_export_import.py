"""Export and import keep everything, and report what could not be imported."""

from __future__ import annotations

import base64
import contextlib
import gzip
import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cuetrail import Memory, Scope
from cuetrail.errors import CuetrailError, InputError, ReadError
from cuetrail.transfer import export_file
from cuetrail.transfer.formats import detect_format

NOW = 1_700_000_000_000
TEAM = Scope(user="me", teams=("crew",), share="crew")
MINE = Scope(user="me", teams=("crew",))


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "memory", scope=MINE) as opened:
        yield opened


def exported(memory: Memory, path: Path) -> bytes:
    memory.export(path)
    return path.read_bytes()


def write_export(path: Path, *lines: dict[str, Any] | str) -> Path:
    """An export file made by hand, with its header."""
    raw = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("\n".join(['{"cuetrail": 1}', *raw]) + "\n")
    return path


def fill(memory: Memory, folder: Path) -> None:
    """Everything a memory can hold, with deletions and corrections before, so that no index is as new."""
    vault = folder / "vault"
    (vault / "sub").mkdir(parents=True)
    for number in range(30):
        (vault / f"n{number}.md").write_text(
            f"# Note {number}\n\nAda Lovelace wrote part {number}, see [[n{number + 1}]]."
        )
    (vault / "sub" / "x.md").write_text(
        "---\ntags: [red, Blue]\naliases: [the x]\n---\nOn 2024-03-01 we met Ada Lovelace."
    )
    memory.ingest(vault, now=NOW)
    for number in range(20, 30):
        (vault / f"n{number}.md").unlink()
    memory.ingest(vault, now=NOW + 1)
    memory.add_many(
        [{"text": f"Fleeting thought {n} about tea", "id": f"t{n}", "tags": ["tea"]} for n in range(40)], now=NOW
    )
    memory.add("A corrected thought about coffee", id="t1", tags=["coffee"], buckets=["kitchen", "work"], now=NOW + 2)
    memory.add("A thought corrected twice", id="t1", props={"k": [1, {"x": None}]}, now=NOW + 3)
    memory.forget(*[f"t{n}" for n in range(5, 25)], now=NOW + 4)
    memory.add(name="Grace", kind="person", aliases=["Amazing Grace"], now=NOW)
    memory.link(
        "Grace", "t1", weight=0.7, tags=["knows"], text="told it", type="node", attitude=4, proximity=2, now=NOW
    )
    memory.fact("Grace", "lives_in", "Turin", now=NOW)
    memory.fact("Grace", "knows", "t1", confidence=0.5, source="conversation", tags=["old"], valid_from=1, now=NOW)
    memory.note("Grace", "Call her back", expires=NOW + 9, now=NOW)
    memory.recall("thought about coffee", now=NOW + 5)
    with Memory(memory.address, scope=TEAM) as shared:
        shared.add("A plan the crew shares", id="plan", now=NOW)
        shared.link("plan", "t1", kind="part_of", now=NOW)
    memory.link("t1", "plan", kind="leads_to", now=NOW)
    mention = {"type": "mention", "source": "t1", "node": "plan", "at": 7}
    life = {"salience": 1.0, "state": "core", "retention": "keep_forever"}
    node = {
        "type": "node",
        "id": "core",
        "text": "Core belief",
        "life": life,
        "valid_from": 5,
        "provenance": "external",
    }
    edge_note = {
        "type": "note",
        "id": "en",
        "target": memory.link("Grace", "plan").id,
        "text": "On an edge",
        "on": "edge",
    }
    memory.import_(write_export(folder / "extra.jsonl", node, mention, edge_note))


CUES = (
    "Ada Lovelace", "part 3", "tea", "coffee", "thought corrected", "what did Ada write?", "#tea", "#coffee thought",
    "@kitchen", "plan of the crew", "Grace", "amazing grace", "note 7", "2024-03-01", "core belief", "\"wrote part\"",
    "fleeting", "lovelace red", "nothing of the kind", "",
)  # fmt: skip


def answers(memory: Memory) -> list[tuple[str, list[tuple[str, float]], str]]:
    found = [memory.recall(cue, limit=20, record_access=False, now=NOW + 99) for cue in CUES]
    return [(r.cue, [(hit.node.id, hit.score) for hit in r.hits], r.text) for r in found]


def test_a_memory_with_everything_in_it_survives_export_and_import(memory: Memory, tmp_path: Path) -> None:
    fill(memory, tmp_path)
    before = exported(memory, tmp_path / "1.jsonl")
    kinds = {json.loads(line)["type"] for line in before.decode().splitlines()[1:]}
    assert kinds == {"source", "tombstone", "node", "version", "edge", "fact", "note", "mention", "link"}
    with Memory(tmp_path / "other", scope=MINE) as other:
        report = other.import_(tmp_path / "1.jsonl")
        assert report.errors == ()
        assert report.records == len(before.splitlines()) - 1
        assert other.stats() == memory.stats()
        assert answers(other) == answers(memory)
        assert exported(other, tmp_path / "2.jsonl") == before
        assert other.doctor() == []


def test_importing_twice_changes_nothing(memory: Memory, tmp_path: Path) -> None:
    fill(memory, tmp_path)
    before = exported(memory, tmp_path / "1.jsonl")
    answered = answers(memory)
    memory.import_(tmp_path / "1.jsonl")
    assert exported(memory, tmp_path / "2.jsonl") == before
    assert answers(memory) == answered


def test_an_imported_vault_is_known_and_is_not_taken_in_anew(memory: Memory, tmp_path: Path) -> None:
    fill(memory, tmp_path)
    memory.export(tmp_path / "1.jsonl")
    with Memory(tmp_path / "other", scope=MINE) as other:
        other.import_(tmp_path / "1.jsonl")
        report = other.ingest(tmp_path / "vault")
        assert report.unchanged_files == report.files == 21


def test_a_copy_that_lives_on_beside_a_forgotten_one_is_imported(memory: Memory, tmp_path: Path) -> None:
    memory.add("Said twice.", id="a")
    memory.add("Said twice.", id="b")
    # The façade would take the copy along; an engine forgets what it is told to.
    memory.store.forget(memory.scope, ["a"], 1)
    before = exported(memory, tmp_path / "1.jsonl")
    with Memory(tmp_path / "other", scope=MINE) as other:
        other.import_(tmp_path / "1.jsonl")
        assert other.get("b") is not None
        assert exported(other, tmp_path / "2.jsonl") == before


def test_vectors_travel_only_between_memories_of_one_model(memory: Memory, tmp_path: Path) -> None:
    memory.add("The cat sat on the mat.")
    memory.export(tmp_path / "1.jsonl", vectors=True)
    assert '"vector"' in (tmp_path / "1.jsonl").read_text()
    with Memory(tmp_path / "same") as same:
        assert same.import_(tmp_path / "1.jsonl").notices == ()
        same.export(tmp_path / "2.jsonl", vectors=True)
        assert (tmp_path / "1.jsonl").read_bytes() == (tmp_path / "2.jsonl").read_bytes()
    with Memory(tmp_path / "none", embedder="none") as none:
        report = none.import_(tmp_path / "1.jsonl")
        assert "left out" in report.notices[0]
        assert (report.nodes, none.stats().vectors) == (1, 0)


@pytest.mark.parametrize(
    ("dim", "vector"),
    [
        (256, "AAAA"),
        (256, "not base64"),
        (256, 5),
        (256, base64.b64encode(b"\xff\xff" * 256).decode()),
        ("many", "AAAA"),
        (None, "AAAA"),
    ],
)
def test_a_broken_vector_costs_nothing_but_itself(memory: Memory, tmp_path: Path, dim: Any, vector: Any) -> None:
    memory.add("The cat sat on the mat.")
    path = write_export(tmp_path / "x.jsonl", node("a", vector=vector))
    head = {"cuetrail": 1, "vectors": {"model": memory.stats().embedder, "dim": dim}}
    path.write_text(path.read_text().replace('{"cuetrail": 1}', json.dumps(head)))
    assert memory.import_(path).errors == ()
    assert (memory.stats().nodes, memory.stats().vectors) == (2, 2)
    assert memory.recall("Text of a").hits[0].node.id == "a"


# --- where it is written


def test_an_export_to_a_link_is_written_to_what_it_leads_to(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "real.jsonl")
    for _ in range(2):
        memory.export(tmp_path / "link")
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "real.jsonl").read_bytes().startswith(b'{"cuetrail"')


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("write", [Memory.export, Memory.backup], ids=["export", "backup"])
def test_what_is_no_plain_file_is_written_to_and_not_replaced(
    memory: Memory, tmp_path: Path, write: Callable[[Memory, Path], object]
) -> None:
    memory.add("One.", id="a")
    os.mkfifo(tmp_path / "pipe")
    read: list[bytes] = []
    # A daemon: where nothing is written it would wait for ever.
    reader = Thread(target=lambda: read.append((tmp_path / "pipe").read_bytes()), daemon=True)
    reader.start()
    write(memory, tmp_path / "pipe")
    reader.join(timeout=60)
    assert len(read[0]) > 100
    assert (tmp_path / "pipe").is_fifo()
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


# --- random memories

_words = st.text(alphabet="abc \n#é'\"\\🙂", min_size=1, max_size=12).filter(str.strip)
_ids = st.sampled_from(["n1", "n2", "n3", "n4"])
_operations = st.lists(
    st.one_of(
        st.tuples(st.just("add"), _ids, _words),
        st.tuples(st.just("share"), _ids, _words),
        st.tuples(st.just("name"), _ids, _words),
        st.tuples(st.just("link"), _ids, _ids),
        st.tuples(st.just("fact"), _ids, _words),
        st.tuples(st.just("note"), _ids, _words),
        st.tuples(st.just("forget"), _ids, _words),
        st.tuples(st.just("text"), _ids, _words),
        st.tuples(st.just("recall"), _ids, _words),
    ),
    max_size=12,
)


def perform(memory: Memory, shared: Memory, operation: tuple[str, str, str], moment: int) -> None:
    what, id_, word = operation
    actions: dict[str, Callable[[], object]] = {
        "add": lambda: memory.add(word, id=id_, tags=[word], now=moment),
        "share": lambda: shared.add(word, id=id_ + "s", buckets=[word], now=moment),
        "name": lambda: memory.add(name=word, id=id_, aliases=[word + "x"], now=moment),
        "link": lambda: memory.link(id_, word, weight=0.5, type=id_, text=id_, now=moment),
        "fact": lambda: memory.fact(id_, "says", word, now=moment),
        "note": lambda: memory.note(id_, word, now=moment),
        "forget": lambda: memory.forget(id_, now=moment),
        "text": lambda: memory.ingest_text(f"Ada Byron {word}\n\n[[{word}]] by Ada Byron", source=id_, now=moment),
        "recall": lambda: memory.recall(word, now=moment),
    }
    # Not there, or forgotten: what a random user runs into.
    with contextlib.suppress(InputError):
        actions[what]()


@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow])
@given(operations=_operations)
def test_any_memory_survives_export_and_import(
    operations: list[tuple[str, str, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = tmp_path_factory.mktemp("transfer")
    with (
        Memory(place / "a", scope=MINE, embedder="none") as memory,
        Memory(place / "a", scope=TEAM, embedder="none") as shared,
        Memory(place / "b", scope=MINE, embedder="none") as other,
    ):
        for moment, operation in enumerate(operations):
            perform(memory, shared, operation, NOW + moment)
        before = exported(memory, place / "1.jsonl")
        report = other.import_(place / "1.jsonl")
        assert report.errors == ()
        assert exported(other, place / "2.jsonl") == before
        assert other.stats() == memory.stats()
        other.import_(place / "1.jsonl")
        assert exported(other, place / "3.jsonl") == before
    shutil.rmtree(place)


# --- files with faults


def node(id_: str, **more: Any) -> dict[str, Any]:
    return {"type": "node", "id": id_, "text": f"Text of {id_}", **more}


BROKEN = (
    "not json at all",
    '{"type": "node"}',
    '{"type": "stranger", "id": "x"}',
    '{"type": "node", "id": "x", "text": 5}',
    '{"type": "node", "id": "x", "text": "x", "at": "yesterday"}',
    '{"type": "node", "id": "x", "text": "x", "at": 99999999999999999999}',
    '{"type": "node", "id": "x", "text": "x", "life": {"salience": "high"}}',
    '{"type": "node", "id": "x", "text": "x", "tag_details": [["a"]]}',
    '{"type": "node", "id": "x", "text": "x", "provenance": "unheard of"}',
    '{"type": "node", "id": "x", "text": "\\ud800"}',
    '{"type": "edge", "id": "x", "src": "a", "dst": "b", "weight": NaN}',
    '{"type": "node", "id": "x", "text": "x", "team": 7}',
    '["a", "list"]',
    "17",
    "[" * 100_000,
)


@pytest.mark.parametrize("broken", BROKEN, ids=lambda line: line[:40])
def test_a_broken_line_is_reported_by_number_and_the_rest_is_taken(memory: Memory, tmp_path: Path, broken: str) -> None:
    report = memory.import_(write_export(tmp_path / "x.jsonl", node("a"), broken, node("b"), broken, node("c")))
    assert [error.error.split(" is not")[0] for error in report.errors] == ["line 3", "line 5"]
    assert {error.path for error in report.errors} == {str(tmp_path / "x.jsonl")}
    assert (report.nodes, report.records) == (3, 3)
    assert all(memory.get(id_) is not None for id_ in "abc")
    assert memory.get("x") is None


def test_bytes_that_are_no_text_cost_their_line_only(memory: Memory, tmp_path: Path) -> None:
    path = write_export(tmp_path / "x.jsonl", node("a"), node("b"))
    path.write_bytes(path.read_bytes().replace(b"Text of a", b"Text \xff\xfe of a"))
    report = memory.import_(path)
    assert len(report.errors) == 1
    assert memory.get("b") is not None


def test_a_file_cut_off_in_the_middle_gives_what_it_has(memory: Memory, tmp_path: Path) -> None:
    path = write_export(tmp_path / "x.jsonl", node("a"), node("b"))
    path.write_bytes(path.read_bytes()[:-20])
    report = memory.import_(path)
    assert "cut off" in report.errors[0].error
    assert (memory.get("a") is not None, memory.get("b") is not None) == (True, False)


@pytest.mark.parametrize(
    ("head", "message"),
    [("", "not a cuetrail export"), ('{"other": 1}', "not a cuetrail export"), ('{"cuetrail": 2}', "upgrade")],
)
def test_a_wrong_first_line_is_an_error_and_nothing_is_taken(
    memory: Memory, tmp_path: Path, head: str, message: str
) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(head + "\n" + json.dumps(node("a")) + "\n")
    with pytest.raises(ReadError, match=message):
        memory.import_(path, format="cuetrail")
    assert memory.stats().nodes == 0


def test_records_whose_ends_are_missing_are_reported_and_the_others_are_taken(memory: Memory, tmp_path: Path) -> None:
    lines: list[dict[str, Any]] = [node("a"), node("b")]
    lines += [{"type": "edge", "id": f"e{n}", "src": "a", "dst": "b" if n % 5 else "ghost"} for n in range(20)]
    lines += [{"type": "fact", "id": "f", "subject": "ghost", "predicate": "p", "value": "v"}]
    lines += [{"type": "fact", "id": "g", "subject": "a", "predicate": "p"}]
    lines += [{"type": "note", "id": "n", "target": "ghost", "text": "x"}]
    lines += [{"type": "mention", "source": "a", "node": "ghost", "at": 1}]
    lines += [{"type": "link", "src": "ghost", "norm": "x", "display": "X", "kind": "name"}]
    report = memory.import_(write_export(tmp_path / "x.jsonl", *lines))
    assert [int(error.error.split(":")[0].removeprefix("line ")) for error in report.errors] == [
        4, 9, 14, 19, 24, 25, 26, 27, 28,
    ]  # fmt: skip
    assert (memory.stats().edges, report.records) == (16, 18)


def test_a_pipe_or_device_is_refused_and_left_out_of_a_folder(memory: Memory, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    (folder / ".obsidian").mkdir(parents=True)
    (folder / "mast.md").write_text("The mast hums.\n")
    os.mkfifo(folder / "pipe.md")
    (folder / "endless.md").symlink_to("/dev/zero")
    for path in (folder / "pipe.md", folder / "endless.md", "/dev/zero"):
        with pytest.raises(InputError, match="but a pipe or device"):
            memory.import_(path)
    assert memory.import_(folder).added == 1
    assert [hit.node.text for hit in memory.recall("mast").hits] == ["The mast hums."]


def test_an_unknown_file_asks_for_its_format(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "x.bin").write_bytes(b"\x00\x01\x02")
    with pytest.raises(InputError, match="--format"):
        memory.import_(tmp_path / "x.bin")
    with pytest.raises(InputError, match="no"):
        memory.import_(tmp_path / "nowhere")
    with pytest.raises(InputError, match="unknown format"):
        memory.export(tmp_path / "y", format="papyrus")


@pytest.mark.parametrize("format_", detect_format.ALL)
def test_what_is_not_in_the_format_that_was_named_is_refused_and_nothing_is_taken(
    memory: Memory, tmp_path: Path, format_: str
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.py").write_text("print('hello')")
    (tmp_path / "text.txt").write_text("just some words")
    for path in (folder, tmp_path / "text.txt"):
        with pytest.raises(CuetrailError):
            memory.import_(path, format=format_)
    assert (memory.stats().nodes, memory.store.ingested(memory.scope).roots) == (0, {})


# --- what changed


def test_a_report_says_what_is_new_what_changed_and_what_was_here(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    path.write_text("\n".join(map(json.dumps, MCP)))
    first = memory.import_(path, now=NOW)
    assert (first.added, first.changed, first.unchanged) == (first.nodes + first.edges, 0, 0) == (7, 0, 0)
    again = memory.import_(path, now=NOW + 1)
    assert (again.added, again.changed, again.unchanged) == (0, 0, 7)
    path.write_text("\n".join(map(json.dumps, [{**MCP[0], "entityType": "cat", "observations": ["Purrs"]}, *MCP[1:]])))
    third = memory.import_(path, now=NOW + 2)
    # The entity became another; its new observation and that one's tie are new; the other entity and the relation stay.
    assert (third.added, third.changed, third.unchanged) == (2, 1, 2)


def test_a_report_counts_what_was_forgotten_apart(memory: Memory, tmp_path: Path) -> None:
    for name in ("a", "b"):
        memory.add(f"About {name}.", id=name, now=NOW)
    memory.link("a", "b", weight=0.5, now=NOW)
    memory.fact("a", "is", "small", now=NOW)
    memory.export(tmp_path / "1.jsonl")
    memory.forget("b", now=NOW + 1)
    report = memory.import_(tmp_path / "1.jsonl")
    assert (report.added, report.changed, report.unchanged, report.forgotten) == (0, 0, 2, 1)
    assert (report.nodes, report.edges, report.facts) == (1, 0, 1)


def test_what_could_not_be_written_counts_as_nothing_else(memory: Memory, tmp_path: Path) -> None:
    edge = {"type": "edge", "id": "e", "src": "a", "dst": "ghost"}
    report = memory.import_(write_export(tmp_path / "x.jsonl", node("a"), edge))
    assert (report.records, report.nodes, report.edges, report.added, len(report.errors)) == (1, 1, 0, 1, 1)


def test_a_second_import_of_chats_says_that_nothing_changed(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "chats").mkdir()
    (tmp_path / "chats" / "conversations.json").write_text(json.dumps(CLAUDE))
    (tmp_path / "chats" / "users.json").write_text('[{"email": "ada@example.org"}]')
    assert memory.import_(tmp_path / "chats").added == 2
    again = memory.import_(tmp_path / "chats")
    assert (again.added, again.notices) == (0, ("2 of 2 files have not changed since they were last read",))
    assert not memory.recall("ada@example.org").answerable


# --- other systems

MCP: list[dict[str, Any]] = [
    {"type": "entity", "name": "Ada", "entityType": "person", "observations": ["Lives in Turin", "Likes tea"]},
    {"type": "entity", "name": "JACQ", "entityType": "project", "observations": []},
    {"type": "relation", "from": "Ada", "to": "JACQ", "relationType": "works_on"},
]
MEM0 = {"results": [{"id": "m1", "memory": "Likes tea", "user_id": "ada", "created_at": "2024-07-26T10:29:36Z"}]}
TURNS = [
    {"uuid": "1", "sender": "human", "text": "Open a port.", "created_at": "2024-01-01T00:00:00Z"},
    {"uuid": "2", "sender": "assistant", "text": "Port 8080.", "created_at": "2024-01-01T00:00:01Z"},
]
CLAUDE = [{"uuid": "c", "name": "Ports", "created_at": "2024-01-01T00:00:00Z", "chat_messages": TURNS}]


def _chatgpt() -> list[dict[str, Any]]:
    def message(id_: str, role: str, text: str, parent: str | None, children: list[str]) -> dict[str, Any]:
        content = {"content_type": "text", "parts": [text]}
        body = {"id": id_, "author": {"role": role}, "content": content, "create_time": 1.7e9}
        return {"id": id_, "message": body, "parent": parent, "children": children}

    mapping = {
        "a": message("a", "user", "Open a port.", None, ["b"]),
        "b": message("b", "assistant", "Port 8080.", "a", []),
    }
    return [{"id": "x", "title": "Ports", "create_time": 1.7e9, "mapping": mapping, "current_node": "b"}]


def test_a_memory_file_of_the_mcp_server_is_told_by_its_content(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    path.write_text("\n".join(map(json.dumps, MCP)))
    report = memory.import_(path, now=NOW)
    assert (report.nodes, report.edges, report.errors) == (4, 3, ())
    ada = memory.get("Ada")
    assert ada is not None
    assert (ada.kind, ada.at, ada.created) == ("person", NOW, NOW)
    before = exported(memory, tmp_path / "1")
    memory.import_(path, now=NOW + 5)
    assert exported(memory, tmp_path / "2") == before


def test_an_entity_that_is_imported_answers_the_links_that_waited_for_it(memory: Memory, tmp_path: Path) -> None:
    memory.ingest_text("See [[JACQ]].", source="a.md")
    (tmp_path / "memory.jsonl").write_text("\n".join(map(json.dumps, MCP)))
    memory.import_(tmp_path / "memory.jsonl")
    assert "links" in {step.kind for step in memory.neighbours("JACQ").neighbours}


def test_mem0_keeps_its_own_times_and_gets_the_others_once(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "mem0.json"
    path.write_text(json.dumps(MEM0))
    memory.import_(path, now=NOW)
    found = memory.recall("tea", record_access=False).hits[0].node
    assert found.at == 1_721_989_776_000
    before = exported(memory, tmp_path / "1")
    memory.import_(path, now=NOW + 5)
    assert exported(memory, tmp_path / "2") == before


@pytest.mark.parametrize("chats", [CLAUDE, _chatgpt()], ids=["claude", "chatgpt"])
def test_an_export_of_chats_is_told_by_its_content(memory: Memory, tmp_path: Path, chats: Any) -> None:
    (tmp_path / "chats").mkdir()
    (tmp_path / "chats" / "conversations.json").write_text(json.dumps(chats))
    report = memory.import_(tmp_path / "chats")
    assert (report.nodes, report.errors) == (2, ())
    assert "Port 8080." in memory.recall("port").text


def test_a_basic_memory_folder_and_an_obsidian_vault_are_told_apart(memory: Memory, tmp_path: Path) -> None:
    basic, vault = tmp_path / "basic", tmp_path / "obsidian"
    basic.mkdir()
    (basic / "tea.md").write_text(
        "---\ntitle: Tea\npermalink: tea\n---\n- [method] Pour at 80 degrees\n- grows_in [[Darjeeling]]\n"
    )
    assert memory.import_(basic).edges > 0
    (vault / ".obsidian").mkdir(parents=True)
    (vault / "n.md").write_text("About [[Tea]].")
    assert memory.import_(vault).nodes == 1
    assert "links" in {step.kind for step in memory.neighbours("Tea").neighbours}


@pytest.mark.parametrize("format_", ["mcp-memory", "mem0", "basic-memory"])
def test_what_goes_out_to_another_system_comes_back(memory: Memory, tmp_path: Path, format_: str) -> None:
    (tmp_path / "memory.jsonl").write_text("\n".join(map(json.dumps, MCP)))
    memory.import_(tmp_path / "memory.jsonl", now=NOW)
    memory.add("A thought of its own.", now=NOW)
    out = tmp_path / "out"
    assert memory.export(out, format=format_) > 0
    with Memory(tmp_path / "other") as other:
        report = other.import_(out)
        assert report.errors == ()
        for cue, text in (("Turin", "Lives in Turin"), ("tea", "Likes tea"), ("thought", "A thought of its own.")):
            assert text in other.recall(cue).text


@pytest.mark.parametrize("format_", export_file.FORMATS)
def test_the_library_prints_no_export_and_makes_no_file_named_minus(
    memory: Memory, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, format_: str
) -> None:
    monkeypatch.chdir(tmp_path)
    memory.add("Greetings from Turin", now=NOW)
    with pytest.raises(InputError, match="name one"):
        memory.export("-", format=format_)
    assert capsys.readouterr().out == ""
    assert not (tmp_path / "-").exists()


def test_a_file_that_names_what_is_not_in_it_counts_the_same_when_it_comes_again(
    memory: Memory, tmp_path: Path
) -> None:
    file = tmp_path / "memory.jsonl"
    entity = {"type": "entity", "name": "Ann", "entityType": "person", "observations": ["Ann sails."]}
    relation = {"type": "relation", "from": "Ann", "to": "Bob", "relationType": "knows"}
    file.write_text(f"{json.dumps(entity)}\n{json.dumps(relation)}\n")
    first, again = memory.import_(file), memory.import_(file)
    assert (again.nodes, again.edges, again.records) == (first.nodes, first.edges, first.records)
    assert (again.added, again.unchanged) == (0, first.added)


def test_an_export_comes_in_without_the_sentences_that_were_forgotten_here(memory: Memory, tmp_path: Path) -> None:
    secret = "The key is under the mat by the door"
    with Memory(tmp_path / "other", scope=MINE) as other:
        other.add(f"The boat leaves on Friday. {secret}. Dinner is at seven.", id="a")
        other.export(tmp_path / "other.jsonl", vectors=True)
    memory.forget(memory.add(secret).id)
    first, again = memory.import_(tmp_path / "other.jsonl"), memory.import_(tmp_path / "other.jsonl")
    assert [(report.cut, report.added, report.unchanged) for report in (first, again)] == [(1, 1, 0), (1, 0, 1)]
    node = memory.get("a")
    assert node is not None
    assert node.text == "The boat leaves on Friday. Dinner is at seven."
    assert memory.stats().vectors == 1


# --- hostile files


def test_a_packed_file_that_unpacks_to_a_thousand_times_its_size_is_refused(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "bomb.jsonl.gz"
    with gzip.open(path, "wb", 1) as file:
        file.write(b'{"cuetrail": 1}\n{"type": "node", "id": "bomb", "text": "')
        for _ in range(140):
            file.write(b"x" * 1_000_000)
        file.write(b'"}\n')
    with pytest.raises(ReadError, match="unpacks to more than 100 times its size"):
        memory.import_(path)
    assert memory.get("bomb") is None


def test_a_line_that_is_too_long_is_left_out_and_the_others_are_taken(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cuetrail.transfer.jsonl.MOST_LINE_BYTES", 1_000)
    monkeypatch.setattr("cuetrail.transfer.jsonl.CHUNK_BYTES", 100)
    lines = ['{"cuetrail": 1}', '{"type": "node", "id": "first", "text": "one"}']
    lines += [json.dumps({"type": "node", "id": "long", "text": "x" * 5_000})]
    lines += ['{"type": "node", "id": "last", "text": "two"}']
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    report = memory.import_(tmp_path / "a.jsonl")
    assert [error.error for error in report.errors] == ["line 3 has more than 1000 bytes: it was left out"]
    assert [memory.get(id_) is not None for id_ in ("first", "long", "last")] == [True, False, True]


def test_a_file_of_another_system_that_is_too_large_is_refused(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cuetrail.transfer.formats.text_files.MOST_BYTES", 1_000)
    (tmp_path / "mem0.json").write_text(json.dumps({"results": [{"id": "a", "memory": "x" * 2_000}]}))
    with pytest.raises(ReadError, match="more than 1000 bytes unpacked"):
        memory.import_(tmp_path / "mem0.json", format="mem0")


def test_of_very_many_errors_the_first_are_listed_and_the_others_counted(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"cuetrail": 1}\n' + '{"type": "none"}\n' * 10_005)
    errors = memory.import_(tmp_path / "a.jsonl").errors
    assert (len(errors), errors[-1].error) == (10_001, "5 more parts were left out")
