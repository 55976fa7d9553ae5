"""A damaged `memory.db` is reported, left unchanged, and repaired by `restore`."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from cuetrail.errors import CorruptMemory, CuetrailError, MemoryError_, WrongVersion
from cuetrail.memory import Memory, restore
from cuetrail.model import Node, Scope
from cuetrail.store.sqlite.connection import explained
from tests.store.sqlite.tools import held, nest, open_memory, search

HEAD = 100
PAGE = 4096


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory of a few hundred pages with a backup beside it; copied, never changed."""
    place = tmp_path_factory.mktemp("sound")
    with open_memory(place / "m") as memory:
        memory.add_many(
            {
                "id": f"n{n}",
                "text": f"the word is unique{n} in a line of some length {'so it goes ' * 8}",
                "name": f"Name {n}",
                "tags": [f"tag{n % 7}"],
            }
            for n in range(300)
        )
        for n in range(120):
            memory.link(f"n{n}", f"n{n + 1}", weight=0.5, tags=["chain"])
        memory.fact("n1", "knows", "n2")
        memory.refresh()
        memory.backup(place / "backup.tar")
    return place


def copied(sound: Path, place: Path) -> Path:
    shutil.copytree(sound / "m", place / "m")
    return place / "m" / "memory.db"


def everything(directory: Path) -> list[object]:
    """All that can be read, in every way there is."""
    with open_memory(directory) as memory:
        records: list[object] = list(memory.store.scan(memory.scope))
        ids = [f"n{n}" for n in range(300)]
        records.append(memory.store.get(memory.scope, ids))
        records.append(memory.store.neighbours(memory.scope, ids, 10))
        records.append(memory.store.named(memory.scope, [f"name {n}" for n in range(300)]))
        records += [[hit.node for hit in memory.recall(f"unique{n}", record_access=False).hits] for n in (0, 150, 299)]
        records.append(memory.stats())
    return records


def overwrite(path: Path, at: int, data: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        file.write(data)


WRECKS: dict[str, Callable[[Path], object]] = {
    "cut in the middle": lambda path: os.truncate(path, path.stat().st_size // 2),
    "cut by a byte": lambda path: os.truncate(path, path.stat().st_size - 1),
    "cut to one page": lambda path: os.truncate(path, PAGE),
    "cut to a piece of its head": lambda path: os.truncate(path, 50),
    "emptied": lambda path: os.truncate(path, 0),
    "an overwritten head": lambda path: overwrite(path, 0, b"\xff" * HEAD),
    "zeros for a first page": lambda path: overwrite(path, 0, bytes(PAGE)),
    "a text file": lambda path: path.write_text("Dear diary, today I edited the database.\n" * 100),
    "zeros behind the head": lambda path: overwrite(path, PAGE, bytes(path.stat().st_size - PAGE)),
}


@pytest.mark.parametrize("wreck", WRECKS)
@pytest.mark.parametrize("with_index", [True, False], ids=["with its index", "alone"])
def test_a_wrecked_memory_is_named_left_alone_and_restored(
    sound: Path, tmp_path: Path, wreck: str, with_index: bool
) -> None:
    path = copied(sound, tmp_path)
    if not with_index:
        shutil.rmtree(path.parent / "index")
    WRECKS[wreck](path)
    before = path.read_bytes()
    with pytest.raises(CorruptMemory, match=r"damaged .* `cuetrail restore BACKUP"):
        everything(path.parent)
    assert path.read_bytes() == before
    kept = restore(sound / "backup.tar", path.parent)
    assert kept is not None
    assert kept.read_bytes() == before
    assert everything(path.parent) == everything(sound / "m")
    with open_memory(path.parent) as memory:
        assert memory.doctor() == []


@pytest.fixture(scope="module")
def killed(sound: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The memory as a killed process leaves it: the last writes are in the log only."""
    place = tmp_path_factory.mktemp("killed")
    path = copied(sound, place)
    with nest(place / "nest") as nursery:
        child = nursery.hatch("at_command", path.parent)
        assert child.hear() == "ready"
        for n in range(3):
            child.tell(f"add late{n} the word is late{n}")
            assert child.hear() == "added"
        child.kill()
    assert path.with_name("memory.db-wal").stat().st_size > 0
    return place


@pytest.mark.parametrize("wreck", WRECKS)
def test_a_log_left_by_a_killed_process_is_not_written_into_a_wrecked_memory(
    sound: Path, killed: Path, tmp_path: Path, wreck: str
) -> None:
    path = copied(killed, tmp_path)
    WRECKS[wreck](path)
    log = path.with_name("memory.db-wal")
    before = path.read_bytes(), log.read_bytes()
    with pytest.raises(CorruptMemory, match="restore"):
        everything(path.parent)
    assert (path.read_bytes(), log.read_bytes()) == before
    kept = restore(sound / "backup.tar", path.parent)
    assert kept is not None
    assert (kept.read_bytes(), Path(f"{kept}-wal").read_bytes()) == before
    assert everything(path.parent) == everything(sound / "m")


def test_a_memory_of_which_only_the_log_is_left_is_not_taken_for_a_new_one(
    sound: Path, killed: Path, tmp_path: Path
) -> None:
    path = copied(killed, tmp_path)
    path.unlink()
    with pytest.raises(CorruptMemory, match=r"missing.*restore"):
        open_memory(path.parent)
    assert not path.exists()
    restore(sound / "backup.tar", path.parent)
    assert everything(path.parent) == everything(sound / "m")


def reading(directory: Path) -> list[object] | None:
    """Everything, or None when the damage was named. Any other error fails the test."""
    try:
        return everything(directory)
    except CorruptMemory as error:
        if "restore" not in str(error):
            raise
    except WrongVersion:
        # A flipped version number cannot be told from a newer one.
        pass
    return None


def texts_of(records: list[object]) -> dict[str, str]:
    nodes = (record[1] for record in records if isinstance(record, tuple))
    return {node.id: node.text for node in nodes if isinstance(node, Node)}


def test_flipped_bytes_anywhere_give_the_right_texts_or_a_clear_error_and_change_nothing(
    sound: Path, tmp_path: Path
) -> None:
    rng = random.Random(11)
    path = copied(sound, tmp_path)
    original = path.read_bytes()
    truth = texts_of(everything(sound / "m"))
    named = 0
    for number in range(60):
        damaged = bytearray(original)
        for _ in range(1 if number % 2 else 40):
            damaged[rng.randrange(HEAD if number < 10 else len(damaged))] ^= 1 << rng.randrange(8)
        path.write_bytes(damaged)
        path.with_name("memory.db-wal").unlink(missing_ok=True)
        path.with_name("memory.db-shm").unlink(missing_ok=True)
        found = reading(path.parent)
        named += found is None
        if found is not None:
            assert texts_of(found) == {id_: text for id_, text in truth.items() if id_ in texts_of(found)}
        assert path.read_bytes() == damaged
    assert named > 20


def test_doctor_names_damage_that_opening_did_not_meet(sound: Path, tmp_path: Path) -> None:
    path = copied(sound, tmp_path)
    text = b"unique7 in a line"
    raw = path.read_bytes()
    path.write_bytes(raw.replace(text, b"Unique7 in a line", 1))
    with open_memory(path.parent) as memory:
        found = memory.doctor(repair=True)
        assert [(f.check, "restore" in f.fix) for f in found] == [("truth", True)]
        with pytest.raises(CorruptMemory, match="restore"):
            memory.get("n7")
    assert path.read_bytes() == raw.replace(text, b"Unique7 in a line", 1)


def test_a_page_of_garbage_is_named_when_the_memory_is_opened(sound: Path, tmp_path: Path) -> None:
    rng = random.Random(12)
    path = copied(sound, tmp_path)
    original = path.read_bytes()
    for _ in range(12):
        page = rng.randrange(5, len(original) // PAGE)
        path.write_bytes(original)
        overwrite(path, page * PAGE, rng.randbytes(PAGE))
        with pytest.raises(CorruptMemory, match="restore"):
            open_memory(path.parent)


def test_a_flipped_bit_in_the_head_of_a_page_hides_no_row(sound: Path, tmp_path: Path) -> None:
    """The head of a page has its kind, its number of rows and where they begin."""
    rng = random.Random(13)
    path = copied(sound, tmp_path)
    original = path.read_bytes()
    truth = texts_of(everything(sound / "m"))
    named = 0
    for page in range(1, len(original) // PAGE, 5):
        damaged = bytearray(original)
        damaged[page * PAGE + rng.randrange(12)] ^= 1 << rng.randrange(8)
        path.write_bytes(damaged)
        found = reading(path.parent)
        assert found is None or texts_of(found) == truth, page
        named += found is None
    assert named > 10


def test_a_sound_memory_is_checked_once_and_again_after_a_day(sound: Path, tmp_path: Path) -> None:
    path = copied(sound, tmp_path)
    note = path.parent / "index" / "checked"
    open_memory(path.parent).close()
    first = json.loads(note.read_bytes())
    with open_memory(path.parent) as memory:
        memory.add("a write by cuetrail itself", id="own")
    attributes, checked = json.loads(note.read_bytes())
    assert checked == first[1], "a write of its own is no reason to check again"
    assert attributes != first[0]
    note.write_text(json.dumps([attributes, checked - 90_000]))
    open_memory(path.parent).close()
    assert json.loads(note.read_bytes())[1] > checked
    note.write_text("nonsense")
    open_memory(path.parent).close()
    assert json.loads(note.read_bytes())[0] == attributes


def test_doctor_mends_tables_that_can_be_derived(sound: Path, tmp_path: Path) -> None:
    path = copied(sound, tmp_path)
    before = everything(path.parent)
    for table in ("adjacency", "adjacency_tags", "degrees", "node_labels", "names"):
        with sqlite3.connect(path) as db:
            db.execute(f"DELETE FROM {table}")
        db.close()
        with open_memory(path.parent) as memory:
            assert [f.fix for f in memory.doctor()] == ["run `cuetrail doctor --repair`"]
            assert [f.fix for f in memory.doctor(repair=True)] == ["mended"]
            assert memory.doctor() == []
    assert everything(path.parent) == before


def test_a_memory_of_a_newer_cuetrail_is_refused_and_not_touched(sound: Path, tmp_path: Path) -> None:
    path = copied(sound, tmp_path)
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 99")
    db.close()
    before = path.read_bytes()
    with pytest.raises(WrongVersion, match=r"schema 99.*upgrade"):
        open_memory(path.parent)
    assert path.read_bytes() == before


def test_some_other_database_is_not_taken_for_a_memory(tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    path = tmp_path / "m" / "memory.db"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE recipes (name TEXT)")
    db.close()
    before = path.read_bytes()
    with pytest.raises(CorruptMemory):
        open_memory(tmp_path / "m")
    assert path.read_bytes() == before


def test_a_memory_deleted_moved_or_replaced_while_open_is_told_clearly(sound: Path, tmp_path: Path) -> None:
    path = copied(sound, tmp_path)
    with open_memory(path.parent) as memory:
        shutil.move(path.parent, tmp_path / "elsewhere")
        for use in (lambda: memory.get("n1"), lambda: memory.recall("unique1"), lambda: memory.add("new", id="new")):
            with pytest.raises(MemoryError_, match="deleted, moved or replaced"):
                use()
        assert not path.parent.exists()
        shutil.copytree(sound / "m", path.parent)
        with pytest.raises(MemoryError_, match="open it again"):
            memory.add("into the void", id="new")
    with open_memory(tmp_path / "elsewhere") as moved:
        assert len(held(moved).texts) == 300


def test_every_error_is_one_of_ours_when_the_directory_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a directory")
    with pytest.raises((CuetrailError, OSError)):
        open_memory(tmp_path / "file")


def test_damage_in_one_scope_does_not_hide_another(tmp_path: Path) -> None:
    place = tmp_path / "m"
    with Memory(place, embedder=None, scope=Scope(user="ann")) as memory:
        memory.add("a line of ann", id="a")
    with Memory(place, embedder=None, scope=Scope(user="bob")) as memory:
        memory.add("a line of bob", id="b")
    raw = (place / "memory.db").read_bytes()
    (place / "memory.db").write_bytes(raw.replace(b"a line of ann", b"a LINE of ann"))
    with Memory(place, embedder=None, scope=Scope(user="bob")) as memory:
        node = memory.get("b")
        assert node is not None
        assert node.text == "a line of bob"


def test_search_after_restore_finds_what_the_backup_holds(sound: Path, tmp_path: Path) -> None:
    path = copied(sound, tmp_path)
    with open_memory(path.parent) as memory:
        memory.add("the word is ocelot here", id="late")
        memory.refresh()
    restore(sound / "backup.tar", path.parent, force=True)
    with open_memory(path.parent) as memory:
        assert search(memory, "ocelot") == []
        assert search(memory, "unique5") == ["n5"]
        assert memory.doctor() == []


def test_a_truth_that_is_gone_while_its_index_stays_is_not_taken_for_a_new_memory(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory", embedder="none") as memory:
        memory.add("the heron nests in the reeds")
        assert memory.recall("heron").hits
        memory.backup(tmp_path / "backup.tar")
    (tmp_path / "memory" / "memory.db").unlink()
    with pytest.raises(CorruptMemory, match="restore"):
        Memory(tmp_path / "memory", embedder="none")
    assert not (tmp_path / "memory" / "memory.db").exists()
    restore(tmp_path / "backup.tar", tmp_path / "memory")
    with Memory(tmp_path / "memory", embedder="none") as memory:
        assert memory.recall("heron").hits


@pytest.mark.parametrize("gone", ["deleted", "replaced", "deleted with its folder"])
def test_a_memory_that_is_deleted_or_replaced_while_it_is_open_says_so_and_what_to_do(
    tmp_path: Path, gone: str
) -> None:
    place = tmp_path / "memory"
    with Memory(place, embedder=None) as memory:
        memory.add("the heron nests in the reeds", id="a")
        assert memory.recall("heron").hits
        if gone == "replaced":
            Memory(tmp_path / "other", embedder=None).close()
            (tmp_path / "other" / "memory.db").rename(place / "memory.db")
        elif gone == "deleted":
            (place / "memory.db").unlink()
        else:
            shutil.rmtree(place)
        for use in (lambda: memory.get("a"), lambda: memory.recall("heron"), lambda: memory.add("a grebe")):
            with pytest.raises(
                MemoryError_, match="was deleted, moved or replaced while it was open: close this memory"
            ):
                use()


def test_an_error_amid_a_read_is_told_as_damage_only_if_the_file_is_still_there(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    for there, message in ((True, "memory.db is damaged"), (False, "was deleted, moved or replaced")):
        path.touch() if there else path.unlink()
        with pytest.raises(MemoryError_, match=message), explained(path):
            sqlite3.connect(":memory:").execute("SELECT * FROM node")


@pytest.mark.parametrize("make", [os.mkfifo, Path.mkdir], ids=["a pipe", "a folder"])
def test_something_else_in_the_place_of_the_database_is_named(tmp_path: Path, make: Callable[[Path], object]) -> None:
    (tmp_path / "m").mkdir()
    make(tmp_path / "m" / "memory.db")
    with pytest.raises(MemoryError_, match="not a file but a folder, pipe"):
        open_memory(tmp_path / "m")
