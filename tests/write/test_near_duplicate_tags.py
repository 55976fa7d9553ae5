"""Near duplicates share tags and buckets depending on the stored texts alone."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Collection
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cuetrail import Memory
from cuetrail.formulas import bands
from cuetrail.text.simhash import MOST_WORDS, simhash, simhashes
from cuetrail.write import near_duplicate_tags
from tests.ingest.tools import LONG, Vault, atoms

HARBOUR = (
    "The harbour master wrote down every ship that came in that winter and every crew that stayed on the island until"
    " the ice broke because nobody else would remember their names once spring had carried them north again past the"
    " lighthouse and the long grey cliffs where gulls nest"
)
# Each is near some of the others and far from the rest; the first, oak and kelp are a chain whose ends are far apart.
ENDS = ("", "heath", "iris", "kelp", "larch", "moss", "newt", "oak", "amber ember", "amber heath", "amber kelp")
HASHES = [simhash(f"{HARBOUR} {end}") or 0 for end in ENDS]

Shared = dict[int, tuple[set[str], set[str]]]


def write(vault: Vault, number: int) -> None:
    vault.write(f"f{number}/a.md", f"---\ntags: [t{number}]\n---\n{HARBOUR} {ENDS[number]}".rstrip())


def shared(memory: Memory, folder: Path) -> Shared:
    """The tags and buckets of the atoms, by number."""
    found: Shared = {}
    for text, atom in atoms(memory, folder).items():
        tags = {tag[0] for tag in atom["tag_details"]} - {"doc", "project:vault"}
        found[ENDS.index(text.removeprefix(HARBOUR).strip())] = (tags, set(atom["buckets"]))
    return found


def partners(present: Collection[int]) -> dict[int, set[int]]:
    """The rule, in the plainest form: all pairs are compared."""
    carried = Counter((band, value) for n in present for band, value in enumerate(bands(HASHES[n])))

    def is_near(a: int, b: int) -> bool:
        common = set(enumerate(bands(HASHES[a]))) & set(enumerate(bands(HASHES[b])))
        return (HASHES[a] ^ HASHES[b]).bit_count() <= 2 and any(
            carried[band] <= near_duplicate_tags.CROWD for band in common
        )

    close = {a: {b for b in present if b != a and is_near(a, b)} for a in present}
    rare = {a for a in present if len(close[a]) < near_duplicate_tags.MOST_SHARING}
    return {a: close[a] & rare if a in rare else set() for a in present}


def expected(present: Collection[int]) -> Shared:
    return {
        a: ({f"t{n}" for n in (a, *others)}, {f"f{n}" for n in (a, *others)}) for a, others in partners(present).items()
    }


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


@pytest.mark.parametrize("order", ["0 7 3", "0 3 7", "3 0 7", "7 0 3", "7 3 0", "3 7 0", "037", "7 03"])
def test_the_ends_of_a_chain_share_with_its_middle_and_not_with_each_other_whoever_came_first(
    vault: Vault, memory: Memory, tmp_path: Path, order: str
) -> None:
    for numbers in order.split():
        for number in numbers:
            write(vault, int(number))
        memory.ingest(vault.root)
    tags = {number: tags for number, (tags, _) in shared(memory, tmp_path).items()}
    assert tags == {0: {"t0", "t7"}, 7: {"t0", "t3", "t7"}, 3: {"t3", "t7"}}


_numbers = st.integers(0, len(ENDS) - 1)
_rounds = st.lists(st.sets(_numbers, min_size=1, max_size=4), min_size=1, max_size=5)


@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow])
@given(rounds=_rounds, most=st.sampled_from([3, 16]), crowd=st.sampled_from([3, 200]))
def test_who_shares_with_whom_is_told_by_the_texts_that_are_there_however_they_came_and_went(
    rounds: list[set[int]], most: int, crowd: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Each round adds the files that are not there and deletes those that are."""
    place = tmp_path_factory.mktemp("near")
    vault, present = Vault(place / "vault"), set[int]()
    with pytest.MonkeyPatch.context() as patch, Memory(place / "memory", embedder="none") as memory:
        patch.setattr(near_duplicate_tags, "MOST_SHARING", most)
        patch.setattr(near_duplicate_tags, "CROWD", crowd)
        vault.root.mkdir()
        for numbers in rounds:
            for number in numbers - present:
                write(vault, number)
            for number in numbers & present:
                (vault.root / f"f{number}" / "a.md").unlink()
            present ^= numbers
            memory.ingest(vault.root)
            assert shared(memory, place) == expected(present)
    shutil.rmtree(place)


def test_many_texts_hashed_together_have_the_hashes_they_have_alone() -> None:
    texts = [" ".join(f"w{n}x{m}" for m in range(n * 37 % 900)) for n in range(120)] + ["", "few words"]
    assert sum(len(set(text.split())) for text in texts) > 2 * MOST_WORDS
    assert simhashes(texts) == [simhash(text) for text in texts]
