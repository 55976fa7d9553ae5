"""The mirror refuses foreign folders, leaves unchanged files alone, restores edited ones, and is kept up to date."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from filelock import FileLock, Timeout

from cuetrail import Memory, Scope
from cuetrail.errors import InputError, MirrorError
from cuetrail.ingest.scan import is_own_output
from cuetrail.model import Node
from tests.mirror.tools import ids, looks, opened, pages, shown, tree

PAGE = "@general/#_untagged/unsourced_d41d8cd9.md"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with opened(tmp_path / "memory") as memory:
        memory.add("one", id="a")
        yield memory


@pytest.fixture
def brain(tmp_path: Path) -> Path:
    return tmp_path / "brain"


def several(memory: Memory, text: str) -> None:
    """Five bundles in as many folders, so that a change of all of them is a change of the whole mirror."""
    memory.add_many({"text": f"{text} {n}", "id": f"s{n}", "buckets": [f"b{n}"], "tags": [f"t{n}"]} for n in range(5))


# --- where a mirror may be


def own_folder(place: Path) -> Path:
    (place / "mine").mkdir()
    (place / "mine" / "diary.md").write_text("my own")
    return place / "mine"


def link_to_own_folder(place: Path) -> Path:
    (place / "link").symlink_to(own_folder(place))
    return place / "link"


def link_to_empty_folder(place: Path) -> Path:
    (place / "empty").mkdir()
    (place / "link").symlink_to(place / "empty")
    return place / "link"


def dangling_link(place: Path) -> Path:
    (place / "link").symlink_to(place / "nowhere")
    return place / "link"


def link_in_a_circle(place: Path) -> Path:
    (place / "link").symlink_to(place / "link")
    return place / "link"


def file(place: Path) -> Path:
    (place / "file").write_text("text")
    return place / "file"


def below_a_file(place: Path) -> Path:
    return file(place) / "brain"


def inside_another_mirror(place: Path) -> Path:
    with opened(place / "memory") as memory:
        memory.mirror(place / "brain")
    return place / "brain" / "@general" / "brain"


def broken_marker(place: Path) -> Path:
    (own_folder(place) / ".cuetrail-mirror").write_text("not ours")
    return place / "mine"


PLACES: list[tuple[Callable[[Path], Path], str]] = [
    (own_folder, "not empty and not a mirror"),
    (link_to_own_folder, "is a link to .*mine, which is no mirror"),
    (link_to_empty_folder, "is a link to"),
    (dangling_link, "is a link to"),
    (link_in_a_circle, "cannot be used|links that lead to each other"),
    (file, "is a file: name a folder"),
    (below_a_file, "file"),
    (lambda _: Path("/"), "no place for a mirror"),
    (lambda _: Path("~"), "no place for a mirror"),
    (lambda _: Path("~/.."), "no place for a mirror"),
    (lambda place: place / "memory", "choose a folder outside the memory"),
    (lambda place: place / "memory" / "brain", "choose a folder outside the memory"),
    (lambda place: place / "x" / ".." / "memory" / "brain", "choose a folder outside the memory"),
    (lambda place: place, "choose a folder outside the memory"),
    (lambda place: place / ("n" * 300), "choose another folder"),
    (inside_another_mirror, "lies in the mirror"),
    (broken_marker, "is not a marker of this cuetrail"),
]


@pytest.mark.parametrize("dry_run", [False, True], ids=["", "dry run"])
@pytest.mark.parametrize(("make", "message"), PLACES, ids=[make.__name__ + message[:20] for make, message in PLACES])
def test_a_place_that_is_not_for_a_mirror_is_refused_and_left_as_it_is(
    memory: Memory, tmp_path: Path, make: Callable[[Path], Path], message: str, dry_run: bool
) -> None:
    place = make(tmp_path)
    before = tree(tmp_path)
    with pytest.raises(InputError, match=message):
        memory.mirror(place, dry_run=dry_run)
    assert tree(tmp_path) == before
    assert str(place) not in memory.mirrors()


def test_an_empty_folder_will_do_and_so_will_one_that_is_not_there_yet(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for place in (tmp_path / "empty", tmp_path / "far" / "away"):
        memory.mirror(place)
        assert shown(place) == {PAGE: ["a"]}
        assert not [p for p in place.parent.iterdir() if p.name.startswith(".")]


def test_a_link_to_a_mirror_leads_to_it(memory: Memory, brain: Path, tmp_path: Path) -> None:
    memory.mirror(brain)
    (tmp_path / "link").symlink_to(brain)
    several(memory, "text")
    assert memory.mirror(tmp_path / "link").directory == str(brain)
    assert (tmp_path / "link").is_symlink()
    assert len(pages(brain)) == 6


# --- what is in it


def test_pages_that_were_edited_deleted_or_replaced_are_put_right(memory: Memory, brain: Path) -> None:
    several(memory, "text")
    memory.mirror(brain)
    good, before = pages(brain), looks(brain)
    edited, deleted, replaced, touched, *rest = sorted(good)
    (brain / edited).write_text("scribbles")
    (brain / deleted).unlink()
    (brain / replaced).unlink()
    (brain / replaced).mkdir()
    os.utime(brain / touched, ns=(1, 1))
    report = memory.mirror(brain)
    assert pages(brain) == good
    assert report.written == 3
    assert {path: looks(brain)[path] for path in rest} == {path: before[path] for path in rest}
    assert memory.mirror(brain).written == 0


def test_a_page_that_was_edited_without_a_change_of_its_size_is_put_right(memory: Memory, brain: Path) -> None:
    several(memory, "text")
    memory.mirror(brain)
    good = pages(brain)
    edited = brain / min(good)
    edited.write_bytes(edited.read_bytes().replace(b"text", b"test"))
    os.utime(edited, ns=(1, 1))
    assert pages(brain) != good
    assert memory.mirror(brain).written == 1
    assert pages(brain) == good


def test_a_lost_list_of_pages_costs_a_look_at_the_files_and_nothing_else(memory: Memory, brain: Path) -> None:
    several(memory, "text")
    memory.mirror(brain)
    before = looks(brain)
    for damage in (b"", b"\xff\n", b"[1]\n"):
        (brain / ".cuetrail-mirror.pages").write_bytes(damage)
        assert memory.mirror(brain).written == 0
    assert looks(brain) == before


def test_hidden_things_of_other_programs_stay_and_so_does_what_they_have_open(memory: Memory, brain: Path) -> None:
    several(memory, "old")
    memory.mirror(brain)
    (brain / ".obsidian").mkdir()
    (brain / ".obsidian" / "app.json").write_text("{}")
    folder = brain.stat().st_ino
    several(memory, "new")
    assert memory.mirror(brain).written == 5
    assert (brain / ".obsidian" / "app.json").read_text() == "{}"
    assert brain.stat().st_ino == folder
    assert all(b"old" not in page for page in pages(brain).values())


@pytest.mark.parametrize("hidden", [False, True], ids=["exchanged", "one by one"])
def test_nothing_is_ever_written_or_removed_outside(memory: Memory, brain: Path, tmp_path: Path, hidden: bool) -> None:
    outside = own_folder(tmp_path)
    several(memory, "old")
    memory.mirror(brain)
    good = set(pages(brain))
    if hidden:
        (brain / ".git").mkdir()
    shutil.rmtree(brain / "@b1")
    (brain / "@b1").symlink_to(outside)
    (brain / "@b2" / "link.md").symlink_to(outside / "diary.md")
    (brain / "@b3" / "away").symlink_to(outside)
    shutil.rmtree(brain / "@b4")
    (brain / "@b4").write_text("in the way")
    several(memory, "new")
    memory.mirror(brain)
    assert tree(outside) == {"diary.md": b"my own"}
    assert set(pages(brain)) == good
    assert not any(p.is_symlink() for p in brain.rglob("*"))


def test_a_text_cannot_pass_for_another_atom(memory: Memory, brain: Path) -> None:
    memory.add("say\n\n---\n\n## [fake] not an atom\n\n---", id="a")
    memory.add("line\n---\nmore", id="b\n## [fake] x")
    memory.mirror(brain)
    (page,) = pages(brain).values()
    assert ids(page) == ["a", "b ## [fake"]
    assert page.decode().split("\n").count("---") == 1


def test_an_atom_with_a_name_alone_has_a_heading_alone(memory: Memory, brain: Path) -> None:
    memory.add_many([Node("n", name="Mast", source="x"), Node("t", name="Rope", text="is long", source="x", seq=1)])
    memory.mirror(brain)
    page = next(data for path, data in pages(brain).items() if "/x_" in path)
    assert page.decode() == "# x\n\n## [n] Mast\n\nMast\n\n---\n\n## [t] is long\n\nRope\n\nis long\n"


def test_two_sources_of_one_name_and_hash_share_a_bundle(memory: Memory, brain: Path) -> None:
    # Their md5 sums begin with the same eight digits.
    one, other = "collide/41518/note.md", "collide/46273/note.md"
    memory.add_many(
        [Node("x", text="1", source=one), Node("y", text="2", source=other), Node("z", text="3", source=one)]
    )
    memory.mirror(brain)
    found = {path: there for path, there in shown(brain).items() if path != PAGE}
    assert list(found.values()) == [["x", "z", "y"]]
    memory.forget("x")
    assert [there for path, there in shown(brain).items() if path != PAGE] == [["z", "y"]]


def test_a_folder_that_one_stands_in_is_not_pulled_away(
    memory: Memory, brain: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    several(memory, "old")
    memory.mirror(brain)
    monkeypatch.chdir(brain / "@b1")
    several(memory, "new")
    assert memory.mirror("..").directory == str(brain)
    (page,) = pages(Path.cwd()).values()
    assert b"new 1" in page


def test_a_disk_without_hard_links_will_do(memory: Memory, brain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    for words in ("old", "new"):
        several(memory, words)
        memory.mirror(brain)
        assert len(pages(brain)) == 6
        assert sum(words.encode() in page for page in pages(brain).values()) == 5
        assert sorted(p.name for p in brain.glob(".*")) == [".cuetrail-mirror", ".cuetrail-mirror.pages"]


def test_what_a_watch_sees_of_a_mirror_or_of_one_in_the_making_is_its_own(memory: Memory, tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    memory.mirror(vault / "brain")
    own = (tmp_path / "memory",)
    for path in ("vault/brain/@general/x.md", "vault/.cuetrail-mirror-0123/new/@b/x.md", "memory/memory.db", "memory"):
        assert is_own_output(tmp_path / path, own)
    for path in ("vault/note.md", "vault/brainstorm.md", "memory2/x.md", "memory.md"):
        assert not is_own_output(tmp_path / path, own)


# --- placement, dry runs, interruptions


def test_a_mirror_keeps_its_placement_until_told_otherwise(memory: Memory, brain: Path) -> None:
    memory.add("two", id="b", tags=["x", "y"])
    assert memory.mirror(brain, placement="all").files == 3
    assert memory.mirror(brain).placement == "all"
    memory.ingest_text("three", source="s")
    assert len(pages(brain)) == 4
    report = memory.mirror(brain, placement="first")
    assert (report.files, report.removed) == (3, 1)


def test_a_dry_run_tells_what_would_be_done_and_does_nothing(memory: Memory, brain: Path, tmp_path: Path) -> None:
    several(memory, "old")
    would = memory.mirror(brain, dry_run=True)
    assert not brain.exists()
    assert memory.mirrors() == []
    done = memory.mirror(brain)
    assert (would.written, would.bytes, would.atoms) == (done.written, done.bytes, done.atoms) == (6, would.bytes, 6)
    several(memory, "brand new")
    memory.store.forget(memory.scope, ["a"], 1)
    before = tree(tmp_path)
    would = memory.mirror(brain, dry_run=True)
    assert (would.written, would.unchanged, would.removed, would.dry_run) == (5, 0, 1, True)
    assert tree(tmp_path) == before
    done = memory.mirror(brain)
    assert (done.written, done.removed, done.bytes) == (5, 1, would.bytes)


def test_stopped_in_the_middle_the_old_mirror_is_whole_and_nothing_is_left(memory: Memory, brain: Path) -> None:
    several(memory, "old")
    memory.mirror(brain)
    before = tree(brain)
    several(memory, "new")

    def stop(what: str, done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        memory.mirror(brain, progress=stop)
    assert tree(brain) == before
    assert sorted(p.name for p in brain.parent.iterdir()) == ["brain", "memory"]


def test_one_sync_at_a_time(memory: Memory, brain: Path) -> None:
    seen: list[bool] = []

    def look(what: str, done: int, total: int) -> None:
        try:
            FileLock(Path(memory.address) / "mirror.lock", timeout=0).acquire().lock.release()
            seen.append(False)
        except Timeout:
            seen.append(True)

    memory.mirror(brain, progress=look)
    assert seen == [True]


# --- whom it follows


def test_a_mirror_is_kept_in_step_until_told_otherwise(memory: Memory, brain: Path) -> None:
    memory.mirror(brain)
    assert memory.mirrors() == [str(brain)]
    memory.mirror(brain, follow=False)
    assert memory.mirrors() == []
    memory.ingest_text("two", source="s")
    assert shown(brain) == {PAGE: ["a"]}
    memory.mirror(brain)
    memory.ingest_text("three", source="t")
    assert len(pages(brain)) == 3


def test_a_deleted_mirror_is_not_made_again(memory: Memory, brain: Path) -> None:
    memory.mirror(brain)
    shutil.rmtree(brain)
    assert memory.ingest_text("two", source="s").notices == (
        f"the mirror in {brain} was deleted and is no longer kept up to date",
    )
    assert not brain.exists()
    assert memory.ingest_text("three", source="s").notices == ()


def test_an_import_reaches_the_mirror(memory: Memory, brain: Path, tmp_path: Path) -> None:
    with opened(tmp_path / "other") as other:
        other.add("from elsewhere", id="z")
        other.export(tmp_path / "z.jsonl")
    memory.mirror(brain)
    memory.import_(tmp_path / "z.jsonl")
    assert set(shown(brain)[PAGE]) == {"a", "z"}


def test_trouble_with_a_mirror_is_a_notice_to_ingest_and_an_error_to_forget(memory: Memory, brain: Path) -> None:
    memory.mirror(brain)
    marker = brain / ".cuetrail-mirror"
    good = marker.read_bytes()
    marker.write_text("scribbles")
    for _ in range(2):
        (notice,) = memory.ingest_text("two", source="s").notices
        assert "is not a marker of this cuetrail" in notice
        assert notice.endswith(f"It is tried again; `cuetrail mirror {brain} --end` ends that")
    with pytest.raises(MirrorError, match="it is forgotten, but a mirror may still show it"):
        memory.forget("a")
    assert memory.get("a") is None
    marker.write_bytes(good)
    memory.ingest_text("three", source="t")
    assert "a" not in [id_ for there in shown(brain).values() for id_ in there]


@pytest.mark.parametrize("folder", ["disk/brain", "disk"])
def test_a_mirror_that_is_away_is_followed_again_when_it_is_back(memory: Memory, tmp_path: Path, folder: str) -> None:
    disk = tmp_path / "disk"
    memory.mirror(tmp_path / folder)
    disk.rename(tmp_path / "unmounted")
    if folder == "disk":
        disk.mkdir()
    (notice,) = memory.ingest_text("two", source="s").notices
    assert f"there is no mirror in {tmp_path / folder} any more; it may be away for a while" in notice
    with pytest.raises(MirrorError, match="a mirror may still show it"):
        memory.forget("a")
    if folder == "disk":
        disk.rmdir()
    (tmp_path / "unmounted").rename(disk)
    assert memory.ingest_text("three", source="t").notices == ()
    assert b"one" not in b"".join(pages(tmp_path / folder).values())
    assert len(pages(tmp_path / folder)) == 2


def test_a_mirror_that_only_seemed_deleted_is_followed_again_when_it_is_back(memory: Memory, brain: Path) -> None:
    memory.mirror(brain)
    brain.rename(brain.with_name("elsewhere"))
    assert memory.ingest_text("two", source="s").notices != ()
    assert memory.forget("a") == ["a"]
    brain.with_name("elsewhere").rename(brain)
    assert memory.ingest_text("three", source="t").notices == ()
    assert len(pages(brain)) == 2
    assert memory.mirrors() == [str(brain)]


def test_a_folder_that_another_memory_took_over_is_no_longer_ours(memory: Memory, brain: Path, tmp_path: Path) -> None:
    memory.mirror(brain)
    shutil.rmtree(brain)
    memory.ingest_text("two", source="s")
    with opened(tmp_path / "other") as other:
        other.add("of another", id="z")
        other.mirror(brain)
    assert memory.ingest_text("three", source="s").notices == ()
    assert shown(brain) == {PAGE: ["z"]}


def test_an_ended_mirror_stays_as_it_is(memory: Memory, brain: Path) -> None:
    memory.mirror(brain)
    assert memory.end_mirror(brain) == str(brain)
    memory.ingest_text("two", source="s")
    assert shown(brain) == {PAGE: ["a"]}
    with pytest.raises(InputError, match="is not kept up to date"):
        memory.end_mirror(brain)


def test_no_trouble_with_a_mirror_is_raised_by_what_stores(memory: Memory, brain: Path, tmp_path: Path) -> None:
    memory.mirror(brain)
    said = memory.store.settings.beginning_with("mirror:")
    # The system refuses to look at a name of this length, as it does at a folder that is closed to us.
    memory.store.settings[f"mirror:{tmp_path / ('x' * 300) / 'brain'}"] = next(iter(said.values()))
    (notice,) = memory.ingest_text("two", source="s").notices
    assert "File name too long" in notice
    assert memory.dream().notices == (notice,)
    with pytest.raises(MirrorError, match="it is forgotten, but a mirror may still show it"):
        memory.forget("a")


@pytest.mark.usefixtures("bound")
@pytest.mark.parametrize("closed", ["disk", "disk/brain/.cuetrail-mirror"])
def test_a_mirror_that_is_closed_for_a_while_is_followed_again(memory: Memory, tmp_path: Path, closed: str) -> None:
    brain = tmp_path / "disk" / "brain"
    memory.mirror(brain)
    (tmp_path / closed).chmod(0)
    try:
        (notice,) = memory.ingest_text("two", source="s").notices
        assert "cannot be read" in notice
        with pytest.raises(MirrorError, match="a mirror may still show it"):
            memory.forget("a")
    finally:
        (tmp_path / closed).chmod(0o700)
    assert memory.ingest_text("three", source="t").notices == ()
    assert len(pages(brain)) == 2


def test_a_moved_memory_keeps_its_mirror_and_a_copy_has_none(brain: Path, tmp_path: Path) -> None:
    with opened(tmp_path / "memory") as memory:
        memory.add("one", id="a")
        memory.mirror(brain)
    shutil.copytree(tmp_path / "memory", tmp_path / "copy")
    before = tree(brain)
    with opened(tmp_path / "copy") as copy:
        assert copy.mirrors() == []
        copy.ingest_text("two", source="s")
        with pytest.raises(InputError, match=r"mirrors the memory .*/memory as me"):
            copy.mirror(brain)
    assert tree(brain) == before
    (tmp_path / "memory").rename(tmp_path / "moved")
    with opened(tmp_path / "moved") as moved:
        moved.add("three", id="c")
        moved.mirror(brain)
        assert set(shown(brain)[PAGE]) == {"a", "c"}
        moved.forget("a")
        assert shown(brain) == {PAGE: ["c"]}


def test_a_moved_memory_says_of_a_mirror_that_it_stays_as_it_is_until_it_is_kept_again(
    brain: Path, tmp_path: Path
) -> None:
    with opened(tmp_path / "memory") as memory:
        memory.add("one", id="a")
        memory.mirror(brain)
    shutil.copytree(tmp_path / "memory", tmp_path / "copy")
    (tmp_path / "memory").rename(tmp_path / "moved")
    with opened(tmp_path / "moved") as moved:
        assert "which is gone" in moved.ingest_text("two", source="s").notices[0]
        with pytest.raises(MirrorError, match="it is forgotten, but a mirror may still show it"):
            moved.forget("a")
        moved.mirror(brain)
        assert moved.ingest_text("three", source="s").notices == ()
    with opened(tmp_path / "copy") as copy:
        assert copy.ingest_text("two", source="s").notices == ()


def test_a_restored_memory_takes_its_mirror_along(memory: Memory, brain: Path, tmp_path: Path) -> None:
    from cuetrail.memory import restore

    memory.mirror(brain)
    memory.backup(tmp_path / "b.tar")
    memory.add("two", id="b")
    memory.mirror(brain)
    memory.close()
    restore(tmp_path / "b.tar", tmp_path / "memory", force=True)
    with opened(tmp_path / "memory") as back:
        back.ingest_text("three", source="s")
        assert shown(brain)[PAGE] == ["a"]


# --- teams


def scopes() -> tuple[Scope, Scope]:
    return Scope(user="ann", teams=("ops",), share="ops"), Scope(user="bob", teams=("ops",))


def test_what_a_teammate_forgets_leaves_my_mirror_at_once(tmp_path: Path) -> None:
    ann, bob = scopes()
    with opened(tmp_path / "m", ann) as hers, opened(tmp_path / "m", bob) as his:
        hers.add("the secret of the team", id="a")
        his.add("my own", id="b")
        his.mirror(tmp_path / "his")
        assert {id_ for there in shown(tmp_path / "his").values() for id_ in there} == {"a", "b"}
        hers.forget("a")
        assert shown(tmp_path / "his") == {PAGE: ["b"]}


def test_ids_that_two_teammates_both_use_are_told_apart(tmp_path: Path) -> None:
    ann, bob = scopes()
    with opened(tmp_path / "m", ann) as hers, opened(tmp_path / "m", bob) as his:
        hers.add("hers", id="a", source="x.md", at=1)
        his.mirror(tmp_path / "his")
        assert list(shown(tmp_path / "his").values()) == [["a"]]
        # Her atom is as it was, but it has another name in his scope now.
        his.add("his", id="a", source="y.md", at=2)
        his.mirror(tmp_path / "his")
        his.mirror(tmp_path / "again")
        assert pages(tmp_path / "his") == pages(tmp_path / "again")
        named = sorted(id_ for there in shown(tmp_path / "his").values() for id_ in there)
        assert named[0] == "a"
        assert [node.text for id_ in named if (node := his.get(id_))] == ["his", "hers"]
