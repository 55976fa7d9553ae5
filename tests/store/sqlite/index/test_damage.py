"""After any damage to `index/`, the next search gives the right answer without an error."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cuetrail.memory import Memory, restore
from cuetrail.model import Node
from cuetrail.store.write import Batch
from tests.store.sqlite.tools import (
    Plan,
    Truth,
    assert_search_equals_scan,
    engine,
    held,
    nest,
    open_memory,
    search,
)
from tests.store.sqlite.worker import carry_out

Damage = Callable[[Path, random.Random], None]


def fill(directory: Path, seed: int = 5, prefix: str = "n", count: int = 8) -> Truth:
    """A memory with some history, indexed and closed; what it holds."""
    truth = Truth()
    with open_memory(directory) as memory:
        for op in Plan(random.Random(seed), prefix).draw(truth, count):
            carry_out(memory, op)
            truth = truth.after(op)
            memory.refresh()
        assert_search_equals_scan(memory, truth)
    return truth


def swap(path: Path, data: bytes) -> None:
    """Another content under the same name. Cutting a mapped file in place would be the end of whoever reads it."""
    new = path.with_name("swap")
    new.write_bytes(data)
    new.replace(path)


def flip_a_bit(path: Path, rng: random.Random) -> None:
    data = bytearray(path.read_bytes()) or bytearray(b"\0")
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    # In place: whoever has mapped the file sees it change.
    with path.open("r+b") as file:
        file.write(data)


def cut(path: Path, rng: random.Random) -> None:
    data = path.read_bytes()
    swap(path, data[: rng.randrange(len(data)) if data else 0])


def delete(path: Path, rng: random.Random) -> None:
    path.unlink()


def replace_by_garbage(path: Path, rng: random.Random) -> None:
    swap(path, rng.randbytes(max(path.stat().st_size, 100)))


def replace_by_nothing(path: Path, rng: random.Random) -> None:
    swap(path, b"")


def index_files(directory: Path) -> list[Path]:
    """Every file of both indexes, also one that says a process died at work."""
    (directory / "index" / "text" / "dirty").touch()
    return sorted(p for p in (directory / "index").rglob("*") if p.is_file())


def one_by_one(directory: Path, damage: Damage, seed: int) -> Iterator[Path]:
    """Damage one file at a time; the others are whole. A rebuild changes the names, so they are listed anew."""
    rng = random.Random(seed)
    for number in range(len(index_files(directory))):
        files = index_files(directory)
        if number < len(files):
            damage(files[number], rng)
            yield files[number]


DAMAGES = [flip_a_bit, cut, delete, replace_by_garbage, replace_by_nothing]


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_any_damaged_index_file_is_healed_when_the_memory_is_opened(tmp_path: Path, damage: Damage) -> None:
    truth = fill(tmp_path / "m")
    for path in one_by_one(tmp_path / "m", damage, 6):
        with open_memory(tmp_path / "m") as memory:
            assert_search_equals_scan(memory, truth)
            assert memory.doctor() == [], path


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_any_damaged_index_file_is_healed_under_an_open_memory(tmp_path: Path, damage: Damage) -> None:
    truth = fill(tmp_path / "m")
    with open_memory(tmp_path / "m") as memory:
        assert_search_equals_scan(memory, truth)
        for path in one_by_one(tmp_path / "m", damage, 7):
            assert_search_equals_scan(memory, truth)
            assert memory.doctor() == [], path


@pytest.mark.parametrize("what", ["index", "index/text", "index/vectors"])
def test_a_deleted_index_folder_is_made_anew_by_open_and_by_new_processes(tmp_path: Path, what: str) -> None:
    truth = fill(tmp_path / "m")
    with nest(tmp_path / "nest") as nursery, open_memory(tmp_path / "m") as memory:
        other = nursery.hatch("at_command", tmp_path / "m")
        assert other.hear() == "ready"
        shutil.rmtree(tmp_path / "m" / what)
        assert_search_equals_scan(memory, truth)
        shutil.rmtree(tmp_path / "m" / what)
        id_, text = next(iter(truth.texts.items()))
        other.tell(f"find {text.split()[3]}")
        assert other.hear() == id_
        other.kill()
        assert memory.doctor() == []


def test_a_file_or_a_folder_in_the_place_of_the_other_is_replaced(tmp_path: Path) -> None:
    truth = fill(tmp_path / "m")
    index = tmp_path / "m" / "index"
    shutil.rmtree(index)
    index.write_text("this is not a folder")
    with open_memory(tmp_path / "m") as memory:
        assert_search_equals_scan(memory, truth)
        (index / "text" / "state.json").unlink()
        (index / "text" / "state.json").mkdir()
        assert_search_equals_scan(memory, truth)
        assert memory.doctor() == []


def test_the_index_of_another_memory_is_not_believed(tmp_path: Path) -> None:
    truth = fill(tmp_path / "m")
    fill(tmp_path / "other", seed=8, prefix="other", count=15)
    with open_memory(tmp_path / "m") as memory:
        assert_search_equals_scan(memory, truth)
        for _ in range(2):
            shutil.rmtree(tmp_path / "m" / "index")
            shutil.copytree(tmp_path / "other" / "index", tmp_path / "m" / "index")
            assert_search_equals_scan(memory, truth)
    assert_whole(tmp_path / "m", truth)


def assert_whole(directory: Path, truth: Truth) -> None:
    with open_memory(directory) as memory:
        assert held(memory) == truth
        assert_search_equals_scan(memory, truth)
        assert memory.doctor() == []


def test_the_index_of_an_earlier_or_later_time_of_the_same_memory_is_brought_up_to_date(tmp_path: Path) -> None:
    place = tmp_path / "m"
    fill(place)
    shutil.copytree(place / "index", tmp_path / "old index")
    with open_memory(place) as memory:
        memory.backup(tmp_path / "early.tar")
        before = held(memory)
        memory.add("a word like ocelot", id="late")
        memory.refresh()
    shutil.copytree(place / "index", tmp_path / "new index")
    for index in ("old index", "new index"):
        restore(tmp_path / "early.tar", place, force=True)
        shutil.rmtree(place / "index", ignore_errors=True)
        shutil.copytree(tmp_path / index, place / "index")
        assert_whole(place, before)


def test_an_index_is_not_believed_when_an_older_copy_of_the_file_was_put_back_and_grew(tmp_path: Path) -> None:
    place = tmp_path / "m"
    fill(place, count=4)
    shutil.copyfile(place / "memory.db", tmp_path / "copy.db")
    with open_memory(place) as memory:
        for n in range(5):
            memory.add(f"lost word lostword{n}", id=f"lost{n}")
        memory.refresh()
    shutil.copyfile(tmp_path / "copy.db", place / "memory.db")
    with open_memory(place) as memory:
        for n in range(9):
            memory.add(f"the word is keptword{n} here", id=f"kept{n}")
        truth = held(memory)
        assert_search_equals_scan(memory, truth)
        assert search(memory, "lostword0") == []
    assert_whole(place, truth)


def test_a_shortened_change_log_makes_an_older_index_start_anew(tmp_path: Path) -> None:
    place = tmp_path / "m"
    fill(place)
    shutil.copytree(place / "index", tmp_path / "old index")
    with open_memory(place) as memory:
        memory.add("the word is ocelot here", id="late")
        memory.refresh()
        with engine(memory).db.writing() as db:
            db.execute("DELETE FROM changes")
        truth = held(memory)
        shutil.rmtree(place / "index")
        shutil.copytree(tmp_path / "old index", place / "index")
        assert_search_equals_scan(memory, truth)
    assert_whole(place, truth)


@pytest.mark.usefixtures("bound")
def test_a_read_only_index_folder_is_told_clearly(tmp_path: Path) -> None:
    from cuetrail.errors import MemoryError_

    fill(tmp_path / "m")
    index = tmp_path / "m" / "index" / "text"
    with open_memory(tmp_path / "m") as memory:
        memory.add("one more", id="more")
        index.chmod(0o500)
        try:
            with pytest.raises(MemoryError_, match="cannot be written"):
                search(memory, "more")
        finally:
            index.chmod(0o700)
        assert search(memory, "more") == ["more"]


def test_what_a_dead_rebuild_left_is_swept_away(tmp_path: Path) -> None:
    truth = fill(tmp_path / "m")
    text = tmp_path / "m" / "index" / "text"
    (text / "99").mkdir()
    (text / "99" / "half.idx").write_bytes(b"half")
    (text / "state.json.1.2.tmp").write_bytes(b"half")
    with open_memory(tmp_path / "m") as memory:
        memory.add("the word is ocelot here", id="late")
        assert_search_equals_scan(memory, held(memory))
        assert not (text / "99").exists()
        assert not list(text.glob("*.tmp"))
        assert len(held(memory).texts) == len(truth.texts) + 1


def test_forgotten_words_are_in_no_index_file(tmp_path: Path) -> None:
    with Memory(tmp_path / "m", embedder=None) as memory:
        props = {"title": "Ptarmigan", "aliases": ["quokka"], "heading": "Axolotl"}
        memory.add("the secret is xylophonist", id="secret", props=props)
        memory.add("nothing to hide", id="open")
        memory.refresh()
        memory.forget("secret")
        words = (b"xylophonist", b"ptarmigan", b"quokka", b"axolotl")
        files = [(p, p.read_bytes().lower()) for p in (tmp_path / "m").rglob("*") if p.is_file()]
    assert [(p, word) for p, said in files for word in words if word in said] == []


def test_files_that_a_killed_writer_left_unlisted_do_not_cost_a_rebuild(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m") as memory:
        memory.add_many(f"common word{n}" for n in range(1500))
        search(memory, "common")
        index = engine(memory).text_index.dir
        state = index.load()
        assert state is not None
        folder = index.path / state.folder
        segments = {place.stem for place in folder.glob("*.idx")}
        # A writer died while it noted deletions; the next one gives its notes the same names.
        left = [folder / f"{segment}.{number}.del" for segment in segments for number in range(1000, 3100)]
        for place in left:
            place.touch()
        engine(memory).write(memory.scope, Batch(remove_nodes=search(memory, "word7", 1)))
        index.mark_dirty()
        assert len(search(memory, "common", 2000)) == 1499
        assert memory.doctor() == []
        after = index.load()
        assert after is not None
        assert after.extra["built"] == state.extra["built"]
        assert sum(place.exists() for place in left) <= 1


def test_a_node_that_was_removed_before_its_indexing_was_made_visible_is_not_found(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m") as memory, open_memory(tmp_path / "m") as other:
        store, scope = engine(memory), memory.scope
        store.write(scope, Batch(nodes=[Node("a", text="first")]))
        search(memory, "first")
        store.write(scope, Batch(nodes=[Node("b", text="second")]))
        store.text_index.follow_writes()
        engine(other).write(scope, Batch(remove_nodes=["b"]))
        store.text_index.settle()
        assert search(memory, "second") == []
        assert memory.doctor() == []
