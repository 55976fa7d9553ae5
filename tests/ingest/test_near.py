"""Near duplicates: who shares tags and buckets with whom."""

from __future__ import annotations

from pathlib import Path

from cuetrail import Memory
from tests.ingest.tools import LONG, Vault, atoms


def test_near_duplicates_share_tags_and_buckets_until_one_goes(vault: Vault, memory: Memory, tmp_path: Path) -> None:
    vault.write("one/a.md", f"---\ntags: [red]\n---\n{LONG}.")
    vault.write("two/b.md", f"---\ntags: [blue]\n---\n{LONG}!")
    vault.write(
        "three/c.md", "---\ntags: [green]\n---\nSomething else that has nothing to do with foxes or dogs at all."
    )
    memory.ingest(vault.root)
    for mark in (".", "!"):
        atom = atoms(memory, tmp_path)[LONG + mark]
        assert {"red", "blue"} <= {tag[0] for tag in atom["tag_details"]}
        assert set(atom["buckets"]) == {"one", "two"}
    first = atoms(memory, tmp_path)[LONG + "."]
    assert first["buckets"][0] == "one"
    assert "green" not in {tag[0] for tag in first["tag_details"]}
    (vault.root / "two" / "b.md").unlink()
    memory.ingest(vault.root)
    alone = atoms(memory, tmp_path)[LONG + "."]
    assert "blue" not in {tag[0] for tag in alone["tag_details"]}
    assert alone["buckets"] == ["one"]


def test_a_text_in_very_many_places_is_boilerplate_and_shares_nothing(
    vault: Vault, memory: Memory, tmp_path: Path
) -> None:
    for number in range(20):
        vault.write(f"n{number}.md", f"---\ntags: [t{number}]\n---\n{LONG} {'.' * number}")
    memory.ingest(vault.root)
    assert max(len(a["tag_details"]) for a in atoms(memory, tmp_path).values()) == 3
    for number in range(3, 20):
        (vault.root / f"n{number}.md").unlink()
    memory.ingest(vault.root)
    assert {len(a["tag_details"]) for a in atoms(memory, tmp_path).values()} == {5}
