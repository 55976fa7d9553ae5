"""A backup shows one moment and is complete or absent; restore does everything or nothing."""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import sqlite3
import tarfile
from collections import Counter
from hashlib import sha256
from pathlib import Path

import pytest

from cuetrail.errors import Busy, InputError, MemoryError_, WrongVersion
from cuetrail.memory import Memory, restore
from cuetrail.store.read import forgotten_ids
from tests.store.sqlite.tools import Op, Plan, Truth, held, nest, open_memory, search


def states(ops: list[Op]) -> list[Truth]:
    """The states a writer passes through."""
    found = [Truth()]
    for op in ops:
        found.append(found[-1].after(op))
    return found


@pytest.mark.parametrize("name", ["moment.tar", "moment.tar.gz"])
def test_a_backup_made_while_two_processes_write_is_one_moment_of_both(tmp_path: Path, name: str) -> None:
    rng = random.Random(21)
    plans = {prefix: Plan(rng, prefix).draw(Truth(), 40) for prefix in ("a", "b")}
    moments: Counter[int] = Counter()
    with open_memory(tmp_path / "m") as memory, nest(tmp_path / "nest") as nursery:
        writers = {prefix: nursery.hatch("script", tmp_path / "m", ops=ops) for prefix, ops in plans.items()}
        for number in range(4):
            heard = 2 * (number + 1)
            for child in writers.values():
                assert [child.hear(), child.hear()] == ["ok", "ok"]
            memory.backup(tmp_path / f"{number}-{name}")
            restore(tmp_path / f"{number}-{name}", tmp_path / f"copy{number}")
            with open_memory(tmp_path / f"copy{number}") as copy:
                assert copy.doctor() == []
                for prefix, ops in plans.items():
                    passed = states(ops)[heard:]
                    assert held(copy, prefix) in passed
                    moments[passed.index(held(copy, prefix))] += 1
        for child in writers.values():
            child.kill()
    assert moments


def test_a_backup_holds_everything_but_the_indexes(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m") as memory:
        memory.add("the word is ocelot here", id="a", tags=["cat"])
        memory.add("the word is walrus here", id="b")
        memory.link("a", "b", weight=0.5)
        memory.add("forget me", id="c")
        memory.forget("c")
        before = list(memory.store.scan(memory.scope))
        memory.backup(tmp_path / "deep" / "er" / "backup.tar")
    assert restore(tmp_path / "deep" / "er" / "backup.tar", tmp_path / "copy") is None
    with open_memory(tmp_path / "copy") as copy:
        assert list(copy.store.scan(copy.scope)) == before
        assert search(copy, "ocelot") == ["a"]
        assert forgotten_ids(copy.store, copy.scope, []) == set()
    assert sorted(p.name for p in (tmp_path / "deep" / "er").iterdir()) == ["backup.tar"]


def test_a_backup_says_nothing_of_the_account_it_was_made_under(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m") as memory:
        memory.add("text", id="a")
        memory.backup(tmp_path / "b.tar")
    with tarfile.open(tmp_path / "b.tar") as tar:
        assert {(m.uid, m.gid, m.uname, m.gname) for m in tar} == {(0, 0, "", "")}


def made(place: Path, word: str) -> Path:
    """A memory of one line, and a backup of it."""
    with open_memory(place) as memory:
        memory.add(f"the word is {word} here", id=word)
        memory.backup(place.with_suffix(".tar"))
    return place.with_suffix(".tar")


def snapshot(directory: Path) -> dict[str, bytes]:
    return {str(p.relative_to(directory)): p.read_bytes() for p in sorted(directory.rglob("*")) if p.is_file()}


def test_restore_refuses_a_healthy_memory_unless_forced(tmp_path: Path) -> None:
    backup = made(tmp_path / "old", "ocelot")
    made(tmp_path / "m", "walrus")
    before = snapshot(tmp_path / "m")
    with pytest.raises(InputError, match=r"already holds a memory: add --force"):
        restore(backup, tmp_path / "m")
    assert (tmp_path / "m" / "memory.db").read_bytes() == before["memory.db"]
    assert restore(backup, tmp_path / "m", force=True) is None
    with open_memory(tmp_path / "m") as memory:
        assert (search(memory, "ocelot"), search(memory, "walrus")) == (["ocelot"], [])


def test_restore_refuses_a_memory_that_a_process_has_open(tmp_path: Path) -> None:
    backup = made(tmp_path / "old", "ocelot")
    made(tmp_path / "m", "walrus")
    with nest(tmp_path / "nest") as nursery:
        child = nursery.hatch("at_command", tmp_path / "m")
        assert child.hear() == "ready"
        with pytest.raises(Busy, match="open: close it first"):
            restore(backup, tmp_path / "m", force=True)
        child.tell("find walrus")
        assert child.hear() == "walrus"
        child.kill()
    restore(backup, tmp_path / "m", force=True)
    with open_memory(tmp_path / "m") as memory:
        assert search(memory, "ocelot") == ["ocelot"]


def packed(path: Path, files: dict[str, bytes], links: dict[str, str] | None = None) -> Path:
    with tarfile.open(path, "w") as tar:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
        for name, target in (links or {}).items():
            link = tarfile.TarInfo(name)
            link.type, link.linkname = tarfile.SYMTYPE, target
            tar.addfile(link)
    return path


def about(truth: bytes, **more: object) -> bytes:
    return json.dumps({"cuetrail-backup": 1, "schema": 1, "sha256": sha256(truth).hexdigest(), **more}).encode()


TRIGGER = "CREATE TRIGGER evil AFTER UPDATE ON meta BEGIN DELETE FROM nodes; END"


def armed(truth: bytes, place: Path, statement: str) -> dict[str, bytes]:
    """The files of a backup whose database was changed by a statement."""
    place.write_bytes(truth)
    with contextlib.closing(sqlite3.connect(place, isolation_level=None)) as db:
        db.execute(statement)
        db.execute("PRAGMA journal_mode = DELETE").fetchall()
    return {"backup.json": about(place.read_bytes()), "memory.db": place.read_bytes()}


def bad_backups(good: Path, place: Path) -> dict[str, Path]:
    raw = good.read_bytes()
    with tarfile.open(good) as tar:
        member = tar.extractfile("memory.db")
        assert member is not None
        truth = member.read()
    cut, flipped, text, empty, pipe = (place / name for name in ("cut", "flipped", "text", "empty", "pipe"))
    os.mkfifo(pipe)
    cut.write_bytes(raw[: len(raw) // 2])
    flipped.write_bytes(raw.replace(b"ocelot", b"OCELOT"))
    text.write_text("this is no tar file")
    empty.write_bytes(b"")
    torn = place / "torn.tar.gz"
    with tarfile.open(torn, "w:gz") as tar:
        tar.add(good, "memory.db")
    torn.write_bytes(torn.read_bytes()[:-200])
    return {
        "no file": place / "nothing.tar",
        "a folder": place,
        "a pipe": pipe,
        "a device": Path("/dev/zero"),
        "cut": cut,
        "a flipped byte": flipped,
        "a text": text,
        "empty": empty,
        "torn gzip": torn,
        "another tar": packed(place / "other", {"readme.txt": b"hello"}),
        "no description": packed(place / "bare", {"memory.db": truth}),
        "a list as description": packed(place / "list", {"backup.json": b"[1]", "memory.db": truth}),
        "a deep description": packed(place / "deep", {"backup.json": b"[" * 60_000, "memory.db": truth}),
        "an endless schema": packed(place / "inf", {"backup.json": about(truth, schema=1e999), "memory.db": truth}),
        "a huge description": packed(place / "huge", {"backup.json": about(truth, x="y" * 2**20), "memory.db": truth}),
        **{
            statement: packed(place / f"armed{number}", armed(truth, place / f"armed{number}.db", statement))
            for number, statement in enumerate(
                (
                    TRIGGER,
                    "CREATE VIEW evil AS SELECT 1",
                    "CREATE VIRTUAL TABLE evil USING fts5(x)",
                    "DROP TABLE nodes",
                    "DROP TABLE meta",
                    "PRAGMA user_version = 9999",
                    "PRAGMA user_version = 0",
                )
            )
        },
        "a link as description": packed(place / "linked", {"memory.db": truth}, {"backup.json": "memory.db"}),
        "no json": packed(place / "json", {"backup.json": b"{", "memory.db": truth}),
        "a link": packed(place / "link", {"backup.json": about(b"")}, {"memory.db": "/dev/null"}),
        "not a database": packed(place / "fake", {"backup.json": about(b"hello"), "memory.db": b"hello"}),
    }


def test_a_bad_backup_is_refused_and_nothing_changes(tmp_path: Path) -> None:
    good = made(tmp_path / "old", "ocelot")
    made(tmp_path / "m", "walrus")
    (tmp_path / "bad").mkdir()
    before = snapshot(tmp_path / "m")
    for what, backup in bad_backups(good, tmp_path / "bad").items():
        with pytest.raises(InputError):
            restore(backup, tmp_path / "m", force=True)
        assert snapshot(tmp_path / "m") == before, what
        with pytest.raises(InputError):
            restore(backup, tmp_path / "new")
        assert not (tmp_path / "new").exists(), what


def test_a_backup_of_a_newer_cuetrail_is_refused(tmp_path: Path) -> None:
    good = made(tmp_path / "old", "ocelot")
    with tarfile.open(good) as tar:
        member = tar.extractfile("memory.db")
        assert member is not None
        truth = member.read()
    newer = packed(tmp_path / "newer.tar", {"backup.json": about(truth, schema=99), "memory.db": truth})
    with pytest.raises(WrongVersion, match="upgrade"):
        restore(newer, tmp_path / "m")
    assert not (tmp_path / "m").exists()


def test_paths_that_lead_out_of_a_backup_are_harmless(tmp_path: Path) -> None:
    good = made(tmp_path / "old", "ocelot")
    with tarfile.open(good) as tar:
        member = tar.extractfile("memory.db")
        assert member is not None
        truth = member.read()
    evil = packed(
        tmp_path / "evil.tar",
        {"backup.json": about(truth), "memory.db": truth, "../evil": b"x", str(tmp_path / "evil2"): b"x"},
        {"index": str(tmp_path)},
    )
    restore(evil, tmp_path / "deep" / "m")
    assert not list(tmp_path.rglob("evil")) + list(tmp_path.rglob("evil2"))
    with open_memory(tmp_path / "deep" / "m") as memory:
        assert search(memory, "ocelot") == ["ocelot"]


def test_a_backup_that_cannot_be_written_is_told_clearly(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with Memory(tmp_path / "m", embedder=None) as memory:
        memory.add("text", id="a")
        with pytest.raises(InputError, match="name a file"):
            memory.backup(tmp_path)
        with pytest.raises(MemoryError_, match="cannot be written"):
            memory.backup(tmp_path / "file" / "x.tar")
    assert (tmp_path / "file").read_text() == "in the way"
