"""A forgotten memory does not come back by any road, and no byte of it stays."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from cuetrail import CuetrailError, Memory, Scope
from cuetrail.embed.embedder import FloatArray, to_blob
from cuetrail.errors import Forgotten, NotFound
from cuetrail.store.sqlite import SqliteStore

NOW = 1_700_000_000_000
SECRET = "Zanzibarquux keeps the vermilionish ledger under floorboardium seventeen"
WORDS = ("zanzibarquux", "vermilionish", "floorboardium")
FILE = f"# Plans\n\nHarmless opening.\n\n---\n\n{SECRET}\n\n---\n\nHarmless end."


class Letters:
    """A small embedder: how often each of 32 letters and signs occurs."""

    model = "letters"
    dim = 32

    def embed(self, texts: Sequence[str]) -> FloatArray:
        rows = np.zeros((len(texts), self.dim), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for char in text.lower():
                row[ord(char) % self.dim] += 1
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1)  # type: ignore[no-any-return]

    def embed_query(self, text: str) -> FloatArray:
        return self.embed([text])[0]  # type: ignore[no-any-return]


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    (tmp_path / "vault").mkdir()
    return tmp_path / "vault"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "memory", embedder=Letters()) as opened:
        yield opened


def texts(memory: Memory, tmp_path: Path) -> set[str]:
    """Every text and name the memory holds."""
    memory.export(tmp_path / "all.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "all.jsonl").read_text("utf-8").splitlines()[1:]]
    return {line[key] for line in lines for key in ("text", "name") if line.get(key)}


def is_back(memory: Memory, tmp_path: Path) -> bool:
    """Whether anything of the secret can be seen, by search or in an export."""
    seen = " ".join(texts(memory, tmp_path)).lower()
    found = memory.recall(SECRET, limit=50, record_access=False)
    return any(word in seen for word in WORDS) or any(w in hit.node.text.lower() for hit in found.hits for w in WORDS)


def secret_id(memory: Memory) -> str:
    return next(hit.node.id for hit in memory.recall(SECRET).hits if hit.node.text == SECRET)


def traces(directory: Path, needles: Sequence[bytes]) -> list[tuple[str, bytes]]:
    """(file, needle) of each needle in the bytes of any file of the memory."""
    found = []
    for file in sorted(directory.rglob("*")):
        if file.is_file():
            data = file.read_bytes()
            found += [(str(file.relative_to(directory)), needle) for needle in needles if needle in data]
    return found


def forms(*words: str) -> list[bytes]:
    """Words as they could lie in a file: as they are, in lower case, in UTF-8 and UTF-16."""
    return [spelt.encode(code) for word in words for spelt in {word, word.lower()} for code in ("utf-8", "utf-16-le")]


# --- the roads back


@dataclass(frozen=True)
class Stage:
    """What a road back may use: the memory, the vault, and what was saved before the forgetting."""

    memory: Memory
    vault: Path
    place: Path
    id: str


def _ingested_again(stage: Stage) -> None:
    assert stage.memory.ingest(stage.vault).unchanged_files == 1


def _touched(stage: Stage) -> None:
    os.utime(stage.vault / "a.md", (NOW, NOW))
    stage.memory.ingest(stage.vault)


def _edited(stage: Stage) -> None:
    (stage.vault / "a.md").write_text(FILE.replace("Harmless end.", "Another end."))
    stage.memory.ingest(stage.vault)


def _varied(stage: Stage) -> None:
    (stage.vault / "b.md").write_text(SECRET.upper().replace(" ", "  "))
    (stage.vault / "c.txt").write_text("\ufeff" + SECRET.replace(" ", "\n") + "\r\n")
    stage.memory.ingest(stage.vault)


def _copied(stage: Stage) -> None:
    shutil.copytree(stage.vault, stage.place / "copy")
    stage.memory.ingest(stage.place / "copy")
    stage.memory.ingest_text(FILE, source="clipboard")


def _added(stage: Stage) -> None:
    for item in ({"text": SECRET}, {"text": SECRET.lower() + "  "}, {"text": "Other words.", "id": stage.id}):
        with pytest.raises(Forgotten, match="allow_again"):
            stage.memory.add(**item)  # type: ignore[arg-type]


def _added_as_a_name(stage: Stage) -> None:
    with pytest.raises(Forgotten):
        stage.memory.add(name=SECRET, kind="concept")
    with pytest.raises(Forgotten):
        stage.memory.fact(SECRET, "is", "gone")


def _added_many(stage: Stage) -> None:
    written = stage.memory.add_many([SECRET, {"text": "Innocent."}, {"text": SECRET, "source": "x.md"}])
    assert (written.added, len(written.forgotten)) == (1, 2)


def _imported(stage: Stage) -> None:
    report = stage.memory.import_(stage.place / "before.jsonl")
    assert report.forgotten == 1


def _imported_from_others(stage: Stage) -> None:
    mcp = stage.place / "memory.jsonl"
    mcp.write_text(json.dumps({"type": "entity", "name": "Plan", "entityType": "project", "observations": [SECRET]}))
    stage.memory.import_(mcp)
    mem0 = stage.place / "mem0.json"
    mem0.write_text(json.dumps({"results": [{"id": "m1", "memory": SECRET}]}))
    stage.memory.import_(mem0)


def _reembedded(stage: Stage) -> None:
    stage.memory.reembed("static")


def _repaired(stage: Stage) -> None:
    stage.memory.doctor(repair=True)


def _index_deleted(stage: Stage) -> None:
    shutil.rmtree(Path(stage.memory.address) / "index")
    stage.memory.refresh()


def _said_in_a_chat(stage: Stage) -> None:
    for role, text in (("user", SECRET), ("assistant", f"{SECRET.lower()}."), ("Ann", SECRET)):
        turns = [{"role": role, "content": text}, {"role": "user", "content": f"Innocent of {role}."}]
        (stage.vault / f"{role}.json").write_text(json.dumps(turns))
    assert stage.memory.ingest(stage.vault).forgotten == 3


def _merged_into_a_paragraph(stage: Stage) -> None:
    merged = [f"Before it. {SECRET}. After it.", f"One line\n- {SECRET}\nlast line", f"Text.\n> {SECRET}!\n> more"]
    (stage.vault / "merged.md").write_text("\n\n---\n\n".join(merged))
    assert stage.memory.ingest(stage.vault).cut == 3
    for text in merged:
        with pytest.raises(Forgotten):
            stage.memory.add(text)
    stage.memory.add_many(merged)


def _linked(stage: Stage) -> None:
    other = stage.memory.add("Innocent.")
    for call in (
        lambda: stage.memory.link(other.id, stage.id),
        lambda: stage.memory.note(stage.id, "remark"),
        lambda: stage.memory.link(SECRET, other.id),
    ):
        with pytest.raises(NotFound):
            call()


def _named_by_links(stage: Stage) -> None:
    """A link that many share would become an entity of that name."""
    for number in range(3):
        (stage.vault / f"n{number}.md").write_text(f"Number {number} sees [[{SECRET}]].")
    stage.memory.ingest(stage.vault)
    assert stage.memory.get(SECRET) is None
    for number in range(3):
        (stage.vault / f"n{number}.md").unlink()
    stage.memory.ingest(stage.vault)


ROADS: tuple[Callable[[Stage], None], ...] = (
    _ingested_again,
    _touched,
    _edited,
    _varied,
    _copied,
    _added,
    _added_as_a_name,
    _added_many,
    _imported,
    _imported_from_others,
    _reembedded,
    _repaired,
    _index_deleted,
    _said_in_a_chat,
    _merged_into_a_paragraph,
    _linked,
    _named_by_links,
)


@pytest.mark.parametrize("road", ROADS, ids=lambda road: road.__name__.strip("_<>"))
def test_a_forgotten_memory_does_not_come_back(
    road: Callable[[Stage], None], memory: Memory, vault: Path, tmp_path: Path
) -> None:
    (vault / "a.md").write_text(FILE)
    memory.ingest(vault)
    memory.export(tmp_path / "before.jsonl", vectors=True)
    stage = Stage(memory, vault, tmp_path, secret_id(memory))
    assert memory.forget(stage.id) == [stage.id]
    assert not is_back(memory, tmp_path)
    road(stage)
    assert not is_back(memory, tmp_path)
    with Memory(memory.address, embedder="none") as again:
        assert not is_back(again, tmp_path)
    assert memory.get(stage.id) is None
    assert "Harmless opening." in texts(memory, tmp_path)


def test_an_import_into_an_empty_memory_brings_the_tombstones_along(memory: Memory, tmp_path: Path) -> None:
    memory.add("Innocent.")
    memory.forget(memory.add(SECRET).id)
    memory.export(tmp_path / "after.jsonl")
    with Memory(tmp_path / "other", embedder="none") as other:
        other.import_(tmp_path / "after.jsonl")
        with pytest.raises(Forgotten):
            other.add(SECRET)


def test_a_backup_from_before_brings_it_back_because_that_is_what_a_backup_is(memory: Memory, tmp_path: Path) -> None:
    from cuetrail.memory import restore

    kept = memory.add(SECRET)
    memory.backup(tmp_path / "b.tar")
    memory.forget(kept.id)
    restore(tmp_path / "b.tar", tmp_path / "restored")
    with Memory(tmp_path / "restored", embedder=Letters()) as restored:
        assert restored.get(kept.id) is not None


# --- no byte stays


def _fill(memory: Memory, vault: Path) -> str:
    """A memory in which the secret has everything a memory can have; its id."""
    (vault / "a.md").write_text(FILE)
    memory.ingest(vault)
    memory.add_many([f"Innocent number {number}." for number in range(300)])
    id_ = memory.add(
        "An earlier wording with grobianesque in it.", id="s", tags=["hushhushtag"], buckets=["cellarbucket"]
    ).id
    memory.add(
        SECRET, id=id_, name="Codename Obsidianfalcon", aliases=["Aliasorama"], tags=["hushhushtag"],
        buckets=["cellarbucket"], props={"where": "propsyvalue"},
    )  # fmt: skip
    memory.fact(id_, "opened_by", "skeletonkeyish")
    memory.fact(id_, "opened_by", "crowbaresque")
    memory.note(id_, "Remarkoid on it.")
    innocent = memory.add("Innocent neighbour.")
    memory.link(innocent.id, id_, text="Linkytext between.", tags=["edgytag"])
    memory.recall(SECRET)
    return id_


def _needles() -> list[bytes]:
    words = (
        SECRET, *WORDS, "grobianesque", "hushhushtag", "cellarbucket", "Obsidianfalcon", "Aliasorama", "propsyvalue",
        "skeletonkeyish", "crowbaresque", "Remarkoid", "Linkytext", "edgytag",
    )  # fmt: skip
    vectors = to_blob(Letters().embed([f"Codename Obsidianfalcon\n{SECRET}", SECRET]))
    return [*forms(*words), *vectors]


def test_nothing_of_a_forgotten_memory_is_left_in_any_file(memory: Memory, vault: Path) -> None:
    id_ = _fill(memory, vault)
    place = Path(memory.address)
    before = {needle for _, needle in traces(place, _needles())}
    assert len(before) > 15, "the needles can be found while the memory is there"
    memory.forget(*[hit.node.id for hit in memory.recall(SECRET, limit=50).hits if SECRET in hit.node.text], "s")
    assert traces(place, _needles()) == []
    assert memory.history(id_) == []
    memory.close()
    assert traces(place, _needles()) == []


def test_a_name_only_the_forgotten_shared_is_forgotten_with_them(memory: Memory, vault: Path) -> None:
    (vault / "a.md").write_text("We met Quillonia Zweistein.")
    (vault / "b.md").write_text("They met Quillonia Zweistein too.")
    memory.ingest(vault)
    assert memory.get("Quillonia Zweistein") is not None
    memory.forget(source="vault/a.md")
    memory.forget(source="vault/b.md")
    assert memory.get("Quillonia Zweistein") is None
    assert traces(Path(memory.address), forms("quillonia", "zweistein")) == []


def test_tags_lent_to_a_near_duplicate_go_with_the_one_that_is_forgotten(memory: Memory) -> None:
    text = "The quick brown fox jumps over the lazy dog while seven wizards quietly boil their evening tea"
    memory.ingest_text(f"---\ntags: [hushhushtag]\n---\n{text}.", source="a.md")
    near = text.replace("dog while", "dogs while")
    memory.ingest_text(f"---\ntags: [open]\n---\n{near}.", source="b.md")
    kept = next(hit.node for hit in memory.recall(text).hits if hit.node.source == "b.md")
    assert "hushhushtag" in kept.tags
    memory.forget(source="a.md")
    after = memory.get(kept.id)
    assert after is not None
    assert after.tags == ("open", "doc")
    assert traces(Path(memory.address), forms("hushhushtag")) == []


@pytest.fixture
def large(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> Memory:
    """A memory that counts as large: its text index is not rewritten at every opportunity."""
    monkeypatch.setattr("cuetrail.store.sqlite.index.text_index.PURGE_AT_ONCE", 100)
    monkeypatch.setattr("cuetrail.store.sqlite.index.text_index.REWRITE_BELOW", 100)
    memory.add_many([f"Innocent number {number}." for number in range(300)])
    return memory


def indexed(memory: Memory, word: str) -> list[str]:
    """The words in the text index that begin so, those of deleted documents among them."""
    assert isinstance(memory.store, SqliteStore)
    return [term for term, _ in memory.store.text_index.view().searcher.terms_with_prefix("body", word)]


def known(memory: Memory, text: str) -> str:
    """The id of a new memory that is in every index."""
    id_ = memory.add(text).id
    memory.refresh()
    return id_


def test_the_words_of_the_forgotten_leave_a_large_text_index_when_it_is_rewritten(large: Memory) -> None:
    large.forget(known(large, SECRET))
    assert large.has_traces()
    assert indexed(large, "zanzibar") == ["zanzibarquux"]
    assert not any(SECRET in hit.node.text for hit in large.recall("zanzibarquux").hits)
    assert traces(Path(large.address), _needles()) == []
    assert [finding.check for finding in large.doctor()] == ["text index"]
    large.add("The next write.")
    assert large.has_traces()
    large.refresh()
    assert not large.has_traces()
    assert indexed(large, "zanzibar") == []
    assert large.doctor() == []


@pytest.mark.parametrize("way", ["purge", "repair", "ingest"])
def test_a_large_text_index_can_be_rewritten_at_once(large: Memory, way: str) -> None:
    large.forget(known(large, SECRET), purge=way == "purge")
    if way == "repair":
        assert [finding.fix for finding in large.doctor(repair=True)] == ["mended"]
    elif way == "ingest":
        large.ingest_text("Something new.", source="new.md")
    assert not large.has_traces()
    assert indexed(large, "zanzibar") == []
    assert large.recall("innocent number").hits
    large.add("The next write.")
    assert not large.has_traces()


def test_what_was_forgotten_before_is_purged_with_what_is_forgotten_now(large: Memory) -> None:
    first, second = known(large, SECRET), known(large, "Another vexillologist")
    large.forget(first)
    assert large.has_traces()
    large.forget(second, purge=True)
    assert (indexed(large, "zanzibar"), indexed(large, "vexillo")) == ([], [])


READER = """
import sys
from cuetrail import Memory
with Memory(sys.argv[1], embedder="none") as memory:
    for line in sys.stdin:
        if line.strip() == "read":
            print(len(memory.recall("zanzibarquux ledger", record_access=False).hits), flush=True)
        else:
            scan = memory.store.scan(memory.scope)
            next(scan)
            print("holding", flush=True)
            sys.stdin.readline()
            del scan
            print("released", flush=True)
"""


@pytest.fixture
def reader(memory: Memory) -> Iterator[Callable[[str], str]]:
    """Another process that has the memory open; it answers to commands."""
    with subprocess.Popen(
        [sys.executable, "-c", READER, memory.address], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        stdin, stdout = process.stdin, process.stdout

        def ask(command: str) -> str:
            stdin.write(command + "\n")
            stdin.flush()
            return stdout.readline().strip()

        yield ask
        stdin.close()


def test_nothing_is_left_while_another_process_has_the_memory_open(
    memory: Memory, vault: Path, reader: Callable[[str], str]
) -> None:
    _fill(memory, vault)
    assert int(reader("read")) > 0
    memory.forget(*[hit.node.id for hit in memory.recall(SECRET, limit=50).hits if SECRET in hit.node.text], "s")
    assert traces(Path(memory.address), _needles()) == []
    assert reader("read") == "0"
    assert traces(Path(memory.address), _needles()) == []


def test_what_a_reader_elsewhere_held_on_to_is_erased_once_it_lets_go(
    memory: Memory, vault: Path, reader: Callable[[str], str]
) -> None:
    _fill(memory, vault)
    assert reader("hold") == "holding"
    memory.forget(*[hit.node.id for hit in memory.recall(SECRET, limit=50).hits if SECRET in hit.node.text], "s")
    assert not any(SECRET in hit.node.text for hit in memory.recall(SECRET).hits)
    assert reader("release") == "released"
    memory.add("The next write.")
    assert traces(Path(memory.address), _needles()) == []


# --- rules


def test_forgetting_is_all_or_nothing(memory: Memory) -> None:
    kept = memory.add("Kept.")
    with pytest.raises(NotFound, match="nobody"):
        memory.forget(kept.id, "nobody")
    with pytest.raises(NotFound, match="no such file"):
        memory.forget(kept.id, source="no such file")
    assert memory.get(kept.id) is not None
    assert memory.stats().tombstones == 0


def test_allow_again_brings_it_back_as_new(memory: Memory, vault: Path, tmp_path: Path) -> None:
    first = memory.add(SECRET, tags=["x"], now=NOW)
    memory.recall(SECRET)
    memory.forget(first.id)
    again = memory.add(SECRET, allow_again=True, now=NOW + 1)
    assert (again.id, again.created, again.life.accesses, again.tags) == (first.id, NOW + 1, 0, ())
    assert [hit.node.id for hit in memory.recall("vermilionish").hits] == [first.id]
    memory.add("Corrected.", id=first.id)
    assert [version.text for version in memory.history(first.id)] == [SECRET]
    (vault / "a.md").write_text(FILE)
    assert memory.ingest(vault).forgotten == 0
    assert memory.doctor() == []


def test_what_belongs_to_others_cannot_be_forgotten(tmp_path: Path) -> None:
    place = tmp_path / "memory"
    with Memory(place, scope=Scope(user="ada", teams=("t",), share="t"), embedder="none") as ada:
        theirs = ada.add(SECRET)
    with Memory(place, scope=Scope(user="bob", teams=("t",)), embedder="none") as bob:
        assert bob.get(theirs.id) is not None
        with pytest.raises(NotFound, match="belongs to 'ada'"):
            bob.forget(theirs.id)
    with Memory(place, scope=Scope(user="eve"), embedder="none") as eve:
        with pytest.raises(NotFound):
            eve.forget(theirs.id)
        eve.forget(eve.add(SECRET).id)
    with Memory(place, scope=Scope(user="ada", teams=("t",), share="t"), embedder="none") as ada:
        assert ada.get(theirs.id) is not None
        assert ada.add(SECRET + ".").text == SECRET + "."


def test_forgetting_a_file_forgets_all_that_came_from_it(memory: Memory, vault: Path, tmp_path: Path) -> None:
    (vault / "a.md").write_text(FILE)
    (vault / "b.md").write_text("Another file.")
    memory.ingest(vault)
    assert len(memory.forget(source="vault/a.md")) == 4
    memory.ingest(vault)
    os.utime(vault / "a.md", (NOW, NOW))
    report = memory.ingest(vault)
    assert report.added == 0
    assert texts(memory, tmp_path) == {"Another file.", "b"}


def test_an_error_of_forget_is_a_cuetrail_error(memory: Memory) -> None:
    with pytest.raises(CuetrailError):
        memory.forget("nothing")


def test_copies_go_with_what_is_forgotten(memory: Memory, vault: Path, tmp_path: Path) -> None:
    (vault / "a.md").write_text(FILE)
    memory.ingest(vault)
    memory.add(f"  {SECRET.upper()} ", id="copy")
    memory.add("Something else entirely", id="other")
    assert "copy" in memory.forget(secret_id(memory))
    assert not is_back(memory, tmp_path)
    assert memory.get("other") is not None


def test_what_a_memory_said_before_it_was_corrected_does_not_come_back_either(memory: Memory, tmp_path: Path) -> None:
    memory.add(SECRET, id="plan")
    memory.export(tmp_path / "before.jsonl")
    memory.add("A corrected and harmless plan", id="plan")
    memory.forget("plan")
    with pytest.raises(Forgotten):
        memory.add(SECRET)
    memory.import_(tmp_path / "before.jsonl")
    assert not is_back(memory, tmp_path)
