"""Tag-Walker, ingest: how files become atoms. One test per claim, with the specified numbers."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from cuetrail import Memory
from cuetrail.model import Node
from cuetrail.text.simhash import simhash
from tests.ingest.tools import NOW, Vault

WORDS = ["harbour", "winter", "island", "gull", "cliff", "lantern", "rope", "anchor", "tide", "crew", "spring", "north"]
WORDS += ["ledger", "storm", "keel", "mast"]
FEBRUARY, MARCH, APRIL = 1_707_523_200_000, 1_710_028_800_000, 1_712_707_200_000  # the tenth of each, 2024


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    return Vault(tmp_path / "vault")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "memory", embedder="none") as opened:
        yield opened


def taken_in(memory: Memory, vault: Vault) -> list[Node]:
    """The atoms of all files after an ingest, in the order in which they stand."""
    memory.ingest(vault.root, now=NOW)
    files = sorted({node.source for node in everything(memory) if node.source is not None})
    atoms = [node for node in everything(memory) if node.kind == "atom"]
    return sorted(atoms, key=lambda node: (files.index(node.source or ""), node.seq))


def everything(memory: Memory) -> list[Node]:
    return [record for _, record in memory.store.scan(memory.scope) if isinstance(record, Node)]


def sentences(count: int) -> str:
    chance = random.Random(5)
    return " ".join(f"{' '.join(chance.sample(WORDS, 8)).capitalize()}." for _ in range(count))


def test_prose_is_joined_to_about_800_characters_and_split_at_sentences(memory: Memory, vault: Vault) -> None:
    long = sentences(40)
    vault.write("a.md", f"One short paragraph.\n\n{long}\n\nAnother one.")
    pieces = [node.text for node in taken_in(memory, vault)]
    assert " ".join(" ".join(pieces).split()) == f"One short paragraph. {long} Another one."
    assert all(piece.endswith(".") and 500 <= len(piece) <= 1400 for piece in pieces)


def test_nothing_is_joined_across_a_heading(memory: Memory, vault: Vault) -> None:
    parts = [sentences(8), sentences(9)]
    vault.write("a.md", f"# One\n\n{parts[0]}\n\n## Two\n\n{parts[1]}")
    assert [(node.text, node.props.get("heading")) for node in taken_in(memory, vault)] == [
        (parts[0], None),
        (parts[1], "Two"),
    ]


def test_code_splits_at_column_0_and_hard_at_2000_characters(memory: Memory, vault: Vault) -> None:
    small = [f"def small{n}():\n    return {n}" for n in range(3)]
    body = "\n".join(f"    value{n} = value{n} + {n}" for n in range(200))
    vault.write("a.py", "\n\n\n".join([*small, f"def large():\n{body}"]) + "\n")
    pieces = [node.text for node in taken_in(memory, vault)]
    assert pieces[0] == "\n\n".join(small)
    assert pieces[1].startswith("def large():")
    assert [len(piece) <= 2000 for piece in pieces[1:]] == [True] * 3
    assert all(len(piece) > 1900 for piece in pieces[1:-1])
    assert "\n".join(pieces[1:]) == f"def large():\n{body}"


def test_a_line_of_code_that_nothing_else_can_cut_is_cut_at_2000_characters(memory: Memory, vault: Vault) -> None:
    vault.write("a.py", "x" * 4_500 + "\n")
    assert [len(node.text) for node in taken_in(memory, vault)] == [2000, 2000, 500]


def test_what_has_neither_paragraphs_nor_sentences_is_cut_at_1500_characters(memory: Memory, vault: Vault) -> None:
    vault.write("a.txt", "x" * 4_000)
    assert [len(node.text) for node in taken_in(memory, vault)] == [1500, 1500, 1000]


def test_marks_of_byte_order_and_nuls_are_stripped_and_line_ends_are_one_character(
    memory: Memory, vault: Vault
) -> None:
    vault.write("a.md", b"\xef\xbb\xbfFirst\x00 line.\r\nSecond line.\r\n\r\nAnother para\x00graph.\r\n")
    assert [node.text for node in taken_in(memory, vault)] == ["First line.\nSecond line.\n\nAnother paragraph."]


def test_an_id_is_told_by_source_content_and_repeat(memory: Memory, vault: Vault, tmp_path: Path) -> None:
    vault.write("a.md", "Tea.\n\n---\n\nCoffee.\n\n---\n\nTea.")
    vault.write("b.md", "Tea.")
    before = {node.id: (node.source, node.text) for node in taken_in(memory, vault)}
    assert len(before) == 4
    with Memory(tmp_path / "another", embedder="none") as another:
        assert {node.id for node in taken_in(another, vault)} == before.keys()
    # Another order of the same is no other content, nor another repeat of it.
    vault.write("a.md", "Tea.\n\n---\n\nTea.\n\n---\n\nCoffee.")
    assert {node.id: (node.source, node.text) for node in taken_in(memory, vault)} == before


def test_a_second_ingest_does_nothing_an_edit_touches_what_changed_and_what_goes_is_removed(
    memory: Memory, vault: Vault
) -> None:
    vault.write("a.md", "One.\n\n---\n\nTwo.\n\n---\n\nThree.")
    first = memory.ingest(vault.root, now=NOW)
    assert (first.added, first.kept, first.removed) == (3, 0, 0)
    second = memory.ingest(vault.root, now=NOW)
    assert (second.unchanged_files, second.added, second.removed) == (1, 0, 0)
    vault.write("a.md", "One.\n\n---\n\nTwo, corrected.\n\n---\n\nThree.")
    third = memory.ingest(vault.root, now=NOW)
    assert (third.added, third.kept, third.removed) == (1, 2, 1)
    vault.write("a.md", "One.\n\n---\n\nThree.")
    assert [node.text for node in taken_in(memory, vault)] == ["One.", "Three."]


@pytest.mark.parametrize(
    ("name", "text", "at"),
    [
        ("a.md", "---\ndate: 2024-03-10\n---\nOn 2024-02-10 the ice broke.", FEBRUARY),
        ("a.md", "---\ndate: 2024-03-10\n---\nThe ice broke.", MARCH),
        ("a.md", "The ice broke.", APRIL),
    ],
    ids=["content before frontmatter", "frontmatter before the file's time", "the file's time"],
)
def test_the_date_is_that_of_the_content_the_frontmatter_or_the_file(
    memory: Memory, vault: Vault, name: str, text: str, at: int
) -> None:
    vault.clock = APRIL - 1_000
    vault.write(name, text)
    (atom,) = taken_in(memory, vault)
    assert atom.at == at


def test_what_has_no_date_at_all_has_that_of_its_ingest(memory: Memory) -> None:
    memory.ingest_text("The ice broke.", source="typed", now=NOW)
    (atom,) = [node for node in everything(memory) if node.kind == "atom"]
    assert atom.at == NOW


def test_the_first_folder_is_the_bucket_and_the_path_gives_tags(memory: Memory, vault: Vault) -> None:
    vault.write("work/deep/a.md", "A note.")
    vault.write("work/b.py", "x = 1")
    atoms = {node.text: node for node in taken_in(memory, vault)}
    assert [atoms[text].buckets for text in ("A note.", "x = 1")] == [("work",), ("work",)]
    assert set(atoms["A note."].tags) == {"project:vault", "doc"}
    assert set(atoms["x = 1"].tags) == {"project:vault", "code"}


def test_texts_whose_hashes_differ_in_fewer_than_3_bits_share_tags_and_buckets(memory: Memory, vault: Vault) -> None:
    text = " ".join(f"{a} {b}" for a in WORDS for b in ("ship", a[::-1]))
    variants = [f"{text} {word}" for word in ("", *(f"end{n}" for n in range(400)))]
    hashes = [simhash(one) or 0 for one in variants]
    apart = {(value ^ hashes[0]).bit_count(): n for n, value in reversed(list(enumerate(hashes)))}
    for name, number in (("a", 0), ("b", apart[2]), ("c", apart[3])):
        vault.write(f"{name}/{name}.md", f"---\ntags: [{name}]\n---\n{variants[number].strip()}")
    atoms = taken_in(memory, vault)
    tags = {node.source: set(node.tags) & {"a", "b", "c"} for node in atoms}
    near = (hashes[apart[2]] ^ hashes[apart[3]]).bit_count() < 3
    assert tags["vault/a/a.md"] == {"a", "b"}
    assert tags["vault/b/b.md"] == {"a", "b"} | ({"c"} if near else set())
    assert tags["vault/c/c.md"] == {"c"} | ({"b"} if near else set())
    # Each file is tagged as its folder is called, so the buckets are the same; its own stays the first.
    assert {node.source: set(node.buckets) for node in atoms} == tags
    assert [node.buckets[0] for node in atoms] == ["a", "b", "c"]


def test_an_atom_has_content_source_sequence_time_tags_buckets_provenance_and_hash(
    memory: Memory, vault: Vault
) -> None:
    vault.write("work/a.md", f"---\ntags: [Ships]\nbuckets: [field]\n---\nShort.\n\n---\n\n{' '.join(WORDS)}.")
    short, long = taken_in(memory, vault)
    assert (short.text, short.source, short.seq, long.seq) == ("Short.", "vault/work/a.md", 0, 1)
    assert short.provenance == "internal"
    assert short.buckets[0] == "field"
    assert "ships" in short.tags
    assert short.at == vault.clock
    # Too short a text has no hash, and none is near to it.
    assert short.simhash is None
    assert long.simhash == simhash(long.text)
    assert 0 <= (long.simhash or 0) < 1 << 64
