"""Tag-Walker, the mirror. One test per claim."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from cuetrail import Memory, Scope
from cuetrail.errors import InputError
from cuetrail.mirror.atomic_publish import exchange
from cuetrail.mirror.marker_and_manifest import Placement
from cuetrail.model import Life, Node, Tag
from cuetrail.store.write import Batch
from tests.mirror.tools import RULE, ids, looks, opened, pages, shown, tree


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with opened(tmp_path / "memory") as memory:
        yield memory


@pytest.fixture
def brain(tmp_path: Path) -> Path:
    return tmp_path / "brain"


def test_a_bundle_lies_under_bucket_and_tag_and_is_called_after_its_source(memory: Memory, brain: Path) -> None:
    memory.add("one", id="a", source="docs/architecture.md", tags=["design"], buckets=["work"])
    memory.mirror(brain)
    assert shown(brain) == {"@work/#design/architecture_md_934e0568.md": ["a"]}


@pytest.mark.parametrize(
    ("buckets", "folder"), [(["field", "work"], "@field"), ([], "@general"), (["Big Plans"], "@big_plans")]
)
def test_the_bucket_is_the_primary_one_or_general(memory: Memory, brain: Path, buckets: list[str], folder: str) -> None:
    memory.add("one", tags=["radio"], buckets=buckets)
    memory.mirror(brain)
    assert list(pages(brain)) == [f"{folder}/#radio/unsourced_d41d8cd9.md"]


@pytest.mark.parametrize(
    ("tags", "folder"),
    [
        (["inbox", "work", "radio", "frost"], "#radio"),
        (["radio", "work"], "#radio"),
        (["work", "inbox"], "#_untagged"),
        ([], "#_untagged"),
        (["field"], "#field"),
    ],
)
def test_the_tag_is_the_first_that_is_neither_the_bucket_nor_inbox(
    memory: Memory, brain: Path, tags: list[str], folder: str
) -> None:
    memory.add("one", tags=tags, buckets=["work", "field"])
    memory.mirror(brain)
    assert list(pages(brain)) == [f"@work/{folder}/unsourced_d41d8cd9.md"]


@pytest.mark.parametrize("placement", ["first", "all"])
def test_only_tags_that_people_gave_make_folders(memory: Memory, brain: Path, placement: Placement) -> None:
    given = (Tag("2026", "2026", "temporal"), Tag("radio", "radio", "user"))
    memory.add_many([Node("a", text="one", tag_details=given), Node("b", text="two", tag_details=given[:1])])
    memory.mirror(brain, placement=placement)
    assert shown(brain) == {
        "@general/#radio/unsourced_d41d8cd9.md": ["a"],
        "@general/#_untagged/unsourced_d41d8cd9.md": ["b"],
    }


def test_with_placement_all_an_atom_stands_under_each_of_its_tags(memory: Memory, brain: Path) -> None:
    memory.add("one", id="a", tags=["radio", "inbox", "work", "frost"], buckets=["work"])
    memory.add("two", id="b", tags=["inbox"], buckets=["work"])
    report = memory.mirror(brain, placement="all")
    assert shown(brain) == {
        "@work/#_untagged/unsourced_d41d8cd9.md": ["b"],
        "@work/#frost/unsourced_d41d8cd9.md": ["a"],
        "@work/#radio/unsourced_d41d8cd9.md": ["a"],
    }
    assert (report.atoms, report.files, report.placement) == (2, 3, "all")


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("docs/architecture.md", "architecture_md_934e0568.md"),
        ("docs/Architecture.md", "architecture_md_ca9b7cf3.md"),
        ("a/Große Pläne (v2).txt", "gro_e_pl_ne__v2__txt_d0e3c395.md"),
        ("x/kebab-case_name", "kebab-case_name_3b81c052.md"),
        ("y/" + "long" * 40 + ".md", "long" * 16 + "_62653e8f.md"),
    ],
)
def test_a_name_is_lowercased_cleaned_cut_at_64_and_ends_in_the_hash_of_the_path(
    memory: Memory, brain: Path, source: str, name: str
) -> None:
    memory.add("one", source=source)
    memory.mirror(brain)
    assert list(pages(brain)) == [f"@general/#_untagged/{name}"]


def test_atoms_stand_by_sequence_then_time(memory: Memory, brain: Path) -> None:
    places = [("a", 2, 5), ("b", 1, 9), ("c", 1, 3), ("d", 0, 7), ("f", 2, 5), ("e", 2, 5)]
    random.Random(1).shuffle(places)
    memory.add_many([Node(id_, text=id_, source="x.md", seq=seq, at=at) for id_, seq, at in places])
    memory.mirror(brain)
    assert list(shown(brain).values()) == [["d", "c", "b", "a", "e", "f"]]


def test_each_atom_has_a_heading_with_its_id_and_a_snippet_and_rules_stand_between(memory: Memory, brain: Path) -> None:
    long = "The antenna stands on the lee side of the house, because the wind took the first one away. " * 3
    memory.add_many([Node("a", text=long, source="x.md"), Node("b", text="# Mast\nheight", source="x.md", seq=1)])
    memory.mirror(brain)
    (page,) = pages(brain).values()
    assert page.decode() == (
        "# x.md\n\n"
        "## [a] The antenna stands on the lee side of the house, because the wind took the…\n\n"
        f"{long}"
        f"{RULE}"
        "## [b] Mast height\n\n"
        "# Mast\nheight\n"
    )


@pytest.mark.parametrize(("count", "sizes"), [(1, [1]), (100, [100]), (101, [100, 1]), (250, [100, 100, 50])], ids=str)
def test_a_bundle_is_cut_at_100_atoms_and_only_then_has_parts(
    memory: Memory, brain: Path, count: int, sizes: list[int]
) -> None:
    atoms = [Node(f"a{n:03}", text=f"text {n}", source="big.md", seq=n, buckets=("b",)) for n in range(count)]
    memory.add_many(atoms)
    memory.mirror(brain)
    found = shown(brain)
    stem = "@b/#_untagged/big_md_b166ee93"
    names = [f"{stem}_part{n}.md" for n in range(1, len(sizes) + 1)] if len(sizes) > 1 else [f"{stem}.md"]
    assert {path: len(there) for path, there in found.items()} == dict(zip(names, sizes, strict=True))
    assert [id_ for name in names for id_ in found[name]] == [atom.id for atom in atoms]


def test_a_folder_without_our_marker_is_never_wiped(memory: Memory, brain: Path) -> None:
    memory.add("one")
    (brain / "@general").mkdir(parents=True)
    (brain / "@general" / "mine.md").write_text("years of work")
    before = tree(brain.parent)
    with pytest.raises(InputError, match="not empty and not a mirror: nothing was touched"):
        memory.mirror(brain)
    assert tree(brain.parent).keys() - before.keys() <= {"memory/mirror.lock"}
    assert tree(brain) == {"@general/mine.md": b"years of work"}


def test_what_does_not_come_from_the_memory_is_wiped_from_a_mirror(memory: Memory, brain: Path) -> None:
    memory.add("one", id="a")
    memory.mirror(brain)
    (brain / "@general" / "stray.md").write_text("stray")
    (brain / "other").mkdir()
    (brain / "other" / "deep.txt").write_text("stray")
    assert memory.mirror(brain).removed == 2
    assert shown(brain) == {"@general/#_untagged/unsourced_d41d8cd9.md": ["a"]}
    assert not (brain / "other").exists()


def test_unchanged_files_keep_their_time_and_stay_the_same_files(memory: Memory, brain: Path) -> None:
    for source in ("a.md", "a2.md", "a3.md", "b.md", "c.md"):
        memory.add(f"text of {source}", id=source, source=source, tags=[source[0]], buckets=[source[0]])
    memory.mirror(brain)
    before = looks(brain)
    memory.add("another text", id="b.md", source="b.md", tags=["b"], buckets=["b"])
    memory.add("new", id="d.md", source="d.md", tags=["d"])
    report = memory.mirror(brain)
    changed = {path for path, look in looks(brain).items() if before.get(path) != look}
    assert {Path(path).name[0] for path in changed} == {"b", "d"}
    assert (report.written, report.unchanged, report.removed) == (2, 4, 0)


def test_the_new_takes_the_place_of_the_old_in_one_step_and_no_more_of_it_than_changed(
    memory: Memory, brain: Path, tmp_path: Path
) -> None:
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
    if not exchange(tmp_path / "one", tmp_path / "other"):
        pytest.skip("this file system cannot exchange two folders")

    def replaced(said: str, *buckets: str) -> set[str]:
        for bucket in buckets:
            for file in ("0.md", "1.md"):
                memory.add(said, id=f"{bucket} {file}", source=file, buckets=[bucket])
        before = {path: path.stat().st_ino for path in (brain, *brain.rglob("*")) if path.is_dir()}
        memory.mirror(brain)
        return {path.relative_to(brain).as_posix() for path, inode in before.items() if path.stat().st_ino != inode}

    assert replaced("first", "a", "b") == set()
    assert replaced("second", "a", "b") == {".", "@a", "@a/#_untagged", "@b", "@b/#_untagged"}
    assert replaced("third", "a") == {"@a/#_untagged"}


def test_a_second_sync_of_an_unchanged_memory_writes_nothing(memory: Memory, brain: Path) -> None:
    memory.add_many({"text": f"text {n}", "source": f"{n % 7}.md", "tags": [f"t{n % 3}"]} for n in range(50))
    memory.mirror(brain)
    every = {p: p.stat().st_mtime_ns for p in (brain.parent, brain, *brain.rglob("*"))}
    report = memory.mirror(brain)
    assert (report.written, report.removed, report.bytes, report.unchanged) == (0, 0, 0, report.files)
    assert {p: p.stat().st_mtime_ns for p in (brain.parent, brain, *brain.rglob("*"))} == every


def test_it_follows_every_ingest(memory: Memory, brain: Path, tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "one.md").write_text("The first paragraph. #radio\n")
    memory.mirror(brain)
    assert pages(brain) == {}
    memory.ingest(vault)
    (page,) = pages(brain)
    assert page.startswith("@general/#radio/one_md_")
    (vault / "one.md").write_text("The first paragraph. #radio\n\n---\n\nAnd a second. #radio\n")
    memory.ingest(vault)
    assert [len(found) for found in shown(brain).values()] == [2]
    (vault / "one.md").unlink()
    memory.ingest(vault)
    assert pages(brain) == {}
    memory.ingest_text("From a pipe", source="pipe")
    assert [Path(path).name[:5] for path in pages(brain)] == ["pipe_"]


def test_it_follows_every_dream_which_moves_no_atom(memory: Memory, brain: Path) -> None:
    memory.mirror(brain)
    monday = 1768780800000
    memory.add("Without a tag.", id="a", at=monday)
    memory.add("With a tag.", id="b", at=monday, tags=["radio"])
    assert pages(brain) == {}
    passes = {report.name: report for report in memory.dream(now=monday).passes}
    assert passes["mirror"].wrote == 2
    node = memory.get("a")
    assert node is not None
    assert node.tags
    assert shown(brain) == {
        "@general/#_untagged/unsourced_d41d8cd9.md": ["a"],
        "@general/#radio/unsourced_d41d8cd9.md": ["b"],
    }


def test_a_mirror_is_never_ingested(memory: Memory, tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "one.md").write_text("Only this.\n")
    memory.ingest(vault)
    memory.mirror(vault / "brain")
    report = memory.ingest(vault)
    assert (report.files, report.added) == (1, 0)
    with pytest.raises(InputError, match="in a mirror that cuetrail wrote"):
        memory.ingest(vault / "brain")
    with pytest.raises(InputError, match="in a mirror that cuetrail wrote"):
        memory.ingest(next((vault / "brain").rglob("*.md")))


def test_forgetting_reaches_the_mirror_at_once(memory: Memory, brain: Path) -> None:
    memory.add("the secret place", id="a", source="x.md")
    memory.add("harmless", id="b", source="x.md")
    memory.add("the secret  PLACE", id="c", source="y.md", tags=["hidden_tag"])
    memory.mirror(brain)
    with opened(Path(memory.address)) as another:
        assert another.forget("a") == ["a", "c"]
    assert list(shown(brain).values()) == [["b"]]
    left = b"".join(tree(brain).values())
    assert b"secret" not in left
    assert b"hidden_tag" not in left


def test_quarantined_and_archived_atoms_are_not_shown(memory: Memory, brain: Path) -> None:
    memory.add("one", id="a", provenance="quarantine")
    memory.add_many([Node("b", text="two", life=Life(state="archived")), Node("c", text="three")])
    memory.add(name="Ada", id="d", kind="person")
    assert memory.mirror(brain).atoms == 1
    assert list(shown(brain).values()) == [["c"]]
    node = memory.get("c")
    assert node is not None
    memory.add_many([replace(node, life=Life(state="archived"))])
    memory.mirror(brain)
    assert pages(brain) == {}


def test_a_mirror_belongs_to_one_scope_of_one_memory(memory: Memory, brain: Path, tmp_path: Path) -> None:
    memory.add("one", id="a")
    memory.mirror(brain)
    before = tree(brain)
    with (
        opened(tmp_path / "memory", Scope(user="ann")) as other,
        pytest.raises(InputError, match=r"mirrors the memory .* as me of default sees it, not .* as ann of default"),
    ):
        other.mirror(brain)
    with opened(tmp_path / "second") as other, pytest.raises(InputError, match="Choose another folder or delete it"):
        other.mirror(brain)
    assert tree(brain) == before
    assert ids(next(brain.rglob("*.md"))) == ["a"]


def test_a_line_that_looks_like_a_heading_or_a_rule_is_no_atom(memory: Memory, brain: Path) -> None:
    memory.add(f"before{RULE}## [fake] of another\n\nbehind", id="a")
    memory.mirror(brain)
    (page,) = pages(brain).values()
    assert ids(page) == ["a"]
    assert RULE.encode() not in page
    assert b"\\## [fake] of another" in page


@pytest.mark.parametrize(
    ("tag", "folder"), [("project:jacq", "#project%3ajacq"), ("a/b", "#a%2fb"), ("..", "#.%2e"), ("c++", "#c%2b%2b")]
)
def test_what_could_mislead_a_file_system_is_escaped(memory: Memory, brain: Path, tag: str, folder: str) -> None:
    memory.add_many([Node("a", text="one", tag_details=(Tag(tag, tag, "user"),))])
    memory.mirror(brain)
    assert list(pages(brain)) == [f"@general/{folder}/unsourced_d41d8cd9.md"]


def test_names_that_differ_in_case_alone_have_folders_of_their_own_everywhere(memory: Memory, brain: Path) -> None:
    tags = ("radio", "Radio", "RADIO")
    # As an earlier version stored them: now tags are normalised.
    nodes = [Node(tag, text=tag, tag_details=(Tag(tag, tag, "user"),)) for tag in tags]
    memory.store.write(memory.scope, Batch(nodes=nodes))
    memory.mirror(brain)
    assert len({path.casefold() for path in pages(brain)}) == len(memory.mirrors()) + 2 == 3


def test_hidden_folders_of_other_programs_stay_the_same_folders(memory: Memory, brain: Path) -> None:
    for bucket in "ab":
        memory.add(f"first {bucket}", id=bucket, buckets=[bucket])
    memory.mirror(brain)
    (brain / ".git").mkdir()
    (brain / ".git" / "config").write_text("mine")
    was = (brain / ".git").stat().st_ino, brain.stat().st_ino
    for bucket in "ab":
        memory.add(f"second {bucket}", id=bucket, buckets=[bucket])
    assert memory.mirror(brain).written == 2
    assert ((brain / ".git").stat().st_ino, brain.stat().st_ino) == was
    assert (brain / ".git" / "config").read_text() == "mine"
