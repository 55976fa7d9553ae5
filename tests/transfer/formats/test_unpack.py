"""Zip archives of an import: bounded, never outside their folder, and never half read."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path, PurePosixPath

import pytest

from cuetrail import Memory
from cuetrail.errors import ReadError
from cuetrail.ingest.readers.file_format import supported
from cuetrail.transfer.formats import unpack
from cuetrail.transfer.formats.unpack import unzipped
from tests.transfer.samples import write_zip


def files_in(path: Path) -> list[str]:
    with unzipped(path, lambda name: supported(PurePosixPath(name))) as (folder, _):
        return sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file())


def test_paths_that_lead_out_links_and_hidden_copies_are_left_behind(tmp_path: Path) -> None:
    path = tmp_path / "evil.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("../out.md", "/abs/in.md", "a/../../b.md", "C:\\win\\c.md", "__MACOSX/._n.md", "n.md"):
            archive.writestr(name, "x")
        link = zipfile.ZipInfo("link.md")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    assert files_in(path) == ["abs/in.md", "n.md"]
    assert not (tmp_path / "out.md").exists()


@pytest.mark.parametrize("nested", [False, True], ids=["plain", "nested"])
def test_an_archive_that_unpacks_to_far_too_much_is_refused(tmp_path: Path, nested: bool) -> None:
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("big.md", "w") as file:
        for _ in range(140):
            file.write(bytes(1_000_000))
    path = tmp_path / "bomb.zip"
    path.write_bytes(bomb.getvalue())
    if nested:
        path = write_zip(tmp_path / "outer.zip", {"inner.zip": bomb.getvalue()})
    with pytest.raises(ReadError, match="unpacks to more than 100 times its size"):
        files_in(path)


def test_archives_nested_deeper_than_three_are_counted_and_not_opened(tmp_path: Path) -> None:
    data = write_zip(tmp_path / "0.zip", {"deep.md": "x"}).read_bytes()
    for level in range(1, 4):
        data = write_zip(tmp_path / f"{level}.zip", {f"level{level}.md": "x", "more.zip": data}).read_bytes()
    with unzipped(tmp_path / "3.zip", lambda name: name.endswith(".md")) as (folder, others):
        assert sorted(file.name for file in folder.rglob("*.md")) == ["level1.md", "level2.md", "level3.md"]
        assert others == {"archives inside archives": 1}


def test_too_many_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpack, "MOST_MEMBERS", 3)
    path = write_zip(tmp_path / "many.zip", {f"{number}.md": "x" for number in range(4)})
    with pytest.raises(ReadError, match="more than 3 files"):
        files_in(path)


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_damaged_file_is_never_half_read_however_it_is_packed(tmp_path: Path, method: int) -> None:
    path = tmp_path / "notes.zip"
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("note.md", "".join(f"line {number * number}\n" for number in range(2_000)))
    data = bytearray(path.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 20] = bytes(20)
    path.write_bytes(data)
    with pytest.raises(ReadError, match=r"damaged|cannot be unpacked"):
        files_in(path)


def test_a_file_whose_time_is_none_is_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "notes.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(zipfile.ZipInfo("note.md", date_time=(1980, 0, 0, 0, 0, 0)), "x")
    assert files_in(path) == ["note.md"]


def test_a_damaged_or_encrypted_archive_says_what_to_do(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "a.zip", {"conversations.json": "[]" * 4000})
    whole = path.read_bytes()
    (tmp_path / "cut.zip").write_bytes(whole[: len(whole) // 2])
    locked = bytearray(whole)
    # The flag of encryption, in the local header and in the directory.
    locked[6] |= 1
    locked[locked.index(b"PK\x01\x02") + 8] |= 1
    (tmp_path / "locked.zip").write_bytes(locked)
    with Memory(tmp_path / "memory", embedder=None) as memory:
        with pytest.raises(ReadError, match=r"cut\.zip is a zip archive and damaged"):
            memory.import_(tmp_path / "cut.zip")
        with pytest.raises(ReadError, match=r"locked\.zip is encrypted"):
            memory.import_(tmp_path / "locked.zip")


def test_a_member_that_cannot_be_written_whole_is_no_file_cut_off(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "a.zip", {"a.md": "# A", "a.md/b.md": "# B"})
    with pytest.raises(ReadError, match="cannot be unpacked"):
        files_in(path)
    long = write_zip(tmp_path / "long.zip", {"/".join(["a" * 200] * 50) + "/b.md": "# B"})
    with pytest.raises(ReadError, match="cannot be unpacked") as caught:
        files_in(long)
    assert len(str(caught.value)) < 500


def test_more_entries_than_fit_into_memory_are_refused_before_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_zip(tmp_path / "many.zip", {f"{number}.md": "x" for number in range(10)})
    # The number of files that the archive states is a lie; its list of files ends in the middle of an entry.
    path.write_bytes(path.read_bytes()[:-30])
    monkeypatch.setattr(unpack, "MOST_MEMBERS", 4)
    with pytest.raises(ReadError, match="more than 4 files"):
        files_in(path)


@pytest.mark.parametrize("ending", [".docx", ".EPUB", ".whl"])
def test_a_document_or_program_packed_as_zip_is_no_archive(tmp_path: Path, ending: str) -> None:
    path = write_zip(tmp_path / f"some{ending}", {"content.md": "x"})
    assert not unpack.is_zip(path)
    with (
        Memory(tmp_path / "memory", embedder=None) as memory,
        pytest.raises(ReadError, match=f"is a {ending.lower()} file, not an"),
    ):
        memory.import_(path)
